package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine/internal/quorum"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fork is the progress of a parallel node of a walk. Its branches are visits, and its join is
// decided as soon as the result is certain.
type fork struct {
	Branches    []branch    `json:"branches"`       // in declared order
	Next        int         `json:"next"`           // first branch that has not begun
	Live        int         `json:"live,omitempty"` // number of branches that have begun and not ended
	maxParallel int         // limit of Live
	Succeeded   int         `json:"succeeded,omitempty"` // number of counted branches that succeeded
	Failed      int         `json:"failed,omitempty"`    // number of counted branches that failed
	Counted     int         `json:"counted,omitempty"`
	Decided     bool        `json:"decided,omitempty"`
	givingUp    bool        // giveUpBranches is running
	Expired     bool        `json:"expired,omitempty"` // by its timeout
	Status      core.Status `json:"status,omitempty"`
	Reason      string      `json:"reason,omitempty"`
}

// branch is the progress and result of a branch.
type branch struct {
	Status core.Status `json:"status,omitempty"` // StatusNone if it has not ended
	Writes writes      `json:"writes,omitempty"`
	Score  anyJSON     `json:"score"`  // Missing if there is none
	Output anyJSON     `json:"output"` // Missing if there is none
	Note   string      `json:"note,omitempty"`
}

// finalStatus returns the status of a branch of a decided join: skipped if it has not ended.
func (b *branch) finalStatus() core.Status {
	if b.Status == core.StatusNone {
		return core.Skipped
	}
	return b.Status
}

func (t *walk) parallel(v *visit) *plan.Parallel { return t.w.Nodes[v.Node].Parallel }

// startFork begins a parallel node.
func (t *walk) startFork(v *visit) {
	p := t.parallel(v)
	v.Fork = &fork{Branches: make([]branch, len(p.Branches)), maxParallel: p.MaxParallel}
	for i := range v.Fork.Branches {
		v.Fork.Branches[i] = branch{Score: anyJSON{value.Missing}, Output: anyJSON{value.Missing}}
	}
	if n := &t.f.p.Nodes[v.Node]; n.Timeout > 0 {
		v.Due = t.f.m.timeAfter(n.Timeout)
		t.watchFork(v)
	}
	t.checkFork(v)
}

// watchFork issues the command for the timeout of a parallel node.
func (t *walk) watchFork(v *visit) {
	t.f.m.command(Command{Op: OpDeadline, ID: v.id(), Plan: t.f.p, Node: v.def(), Call: t.f.empty, Delay: t.f.m.until(v.Due)})
}

// mayBegin reports whether another branch may begin.
func (k *fork) mayBegin() bool {
	return !k.Decided && k.Next < len(k.Branches) && k.Live < k.maxParallel
}

// beginBranch begins the next branch.
func (t *walk) beginBranch(v *visit) {
	k := v.Fork
	place := k.Next
	k.Next++
	k.Live++
	p := t.parallel(v)
	t.enter(p.Branches[place], v, place, p.Edges[place])
}

// branchEnded handles the end of a branch.
func (t *walk) branchEnded(b *visit, o *Outcome) {
	k := b.parent.Fork
	k.Live--
	r := &k.Branches[b.Place]
	r.Status = statusOf(o)
	if !b.GivenUp && !k.Decided {
		k.Counted++
		r.Output.v, r.Note = o.outputOrText(), noteOrError(o)
		switch r.Status {
		case core.Success:
			k.Succeeded++
		case core.Fail:
			k.Failed++
		}
		for _, w := range o.Writes {
			if w.Field != t.w.Context {
				r.Writes = append(r.Writes, w)
				continue
			}
			if score, ok := w.Value.(*value.Object).Get("score"); ok {
				r.Score.v = score
			}
		}
	}
	t.checkFork(b.parent)
}

// branchWithdrawn handles the withdrawal of a branch that has made no attempt.
func (t *walk) branchWithdrawn(b *visit) {
	b.parent.Fork.Live--
	t.checkFork(b.parent)
}

// checkFork decides a parallel node if its result is certain, and ends it when its last branch
// has ended.
func (t *walk) checkFork(v *visit) {
	k := v.Fork
	if !k.Decided && !t.f.Stopped {
		if status, reason, ok := t.forkResult(v); ok {
			t.decideFork(v, status, reason)
		}
	}
	if (k.Decided || t.f.Stopped) && k.Live == 0 && !k.givingUp {
		t.endFork(v)
	}
}

// forkResult returns the result of a parallel node and whether it is certain.
func (t *walk) forkResult(v *visit) (status core.Status, reason string, certain bool) {
	p, k := t.parallel(v), v.Fork
	n := len(k.Branches)
	tally := quorum.Tally{Branches: n, Need: p.Need, Ended: k.Counted, Succeeded: k.Succeeded}
	if n == 0 {
		return core.Fail, p.Join + ": there are no branches", true
	}
	early := p.FailFast && k.Failed > 0
	bad := k.Failed
	if p.Ignore {
		bad = 0
	}
	succeeded := fmt.Sprintf("%s: %d of %d branches succeeded", p.Join, k.Succeeded, n)
	switch {
	case p.WaitAll && !tally.Complete() && !early:
		return 0, "", false
	case p.WaitAll && bad > 0:
		return core.PartialSuccess, fmt.Sprintf("%s: %d of %d branches failed", p.Join, k.Failed, n), true
	case p.WaitAll:
		return core.Success, succeeded, true
	case tally.Early() == quorum.Won:
		return core.Success, succeeded, true
	case early || tally.Early() == quorum.Lost:
		return core.Fail, fmt.Sprintf("%s, %d failed", succeeded, k.Failed), true
	}
	return 0, "", false
}

// decideFork sets the result of a parallel node and cancels the branches that have not ended.
func (t *walk) decideFork(v *visit, status core.Status, reason string) {
	k := v.Fork
	k.Decided, k.Status, k.Reason = true, status, reason
	t.f.emitJoinDecided(t, v)
	t.giveUpBranches(v)
}

func (t *walk) giveUpBranches(v *visit) {
	k := v.Fork
	k.givingUp = true
	for _, b := range slices.Clone(t.Live) {
		if b.parent == v && !b.GivenUp {
			t.giveUp(b)
		}
	}
	k.givingUp = false
}

// giveUp ends a branch that is no longer needed. Handlers in flight are cancelled and awaited.
func (t *walk) giveUp(b *visit) {
	b.GivenUp = true
	switch n := &t.f.p.Nodes[b.Node]; {
	case b.Fork != nil && b.Phase != pausing:
		b.Fork.Decided, b.Fork.Reason = true, b.parent.Fork.Reason
		t.giveUpBranches(b)
		t.checkFork(b)
	case b.inFlight(n):
		t.f.giveUp(b.id())
	default:
		halt(b)
	}
}

// expireFork ends a parallel node whose timeout has passed.
func (t *walk) expireFork(v *visit) {
	if v.Fork.Decided {
		return
	}
	v.Fork.Expired = true
	t.decideFork(v, core.Fail, timedOut(&t.f.p.Nodes[v.Node]).Message)
	t.checkFork(v)
}

// endFork ends a parallel node whose branches have ended.
func (t *walk) endFork(v *visit) {
	k, n := v.Fork, &t.f.p.Nodes[v.Node]
	if n.Timeout > 0 && !k.Expired {
		t.f.m.command(Command{Op: OpMet, ID: v.id(), Plan: t.f.p, Node: n})
	}
	o := Outcome{Status: k.Status, Writes: t.forkWrites(v)}
	switch {
	case k.Expired:
		o.Failure = timedOut(n)
	case k.Status == core.Fail:
		o.Failure = &core.Failure{Class: core.ClassError, Message: k.Reason, Permanent: true}
	}
	attemptEnded(v, &o, t.f.m.now)
}

// forkWrites returns the writes of a parallel node: the writes of its branches to declared
// fields, in order of the branches, and the list of their results.
func (t *walk) forkWrites(v *visit) []plan.Write {
	k := v.Fork
	var writes []plan.Write
	results := make([]any, len(k.Branches))
	for i := range k.Branches {
		b := &k.Branches[i]
		writes = append(writes, b.Writes...)
		r := value.ObjectOf("id", t.id(t.parallel(v).Branches[i]), "status", b.finalStatus().String())
		if !value.IsMissing(b.Score.v) {
			r.Set("score", b.Score.v)
		}
		if !value.IsMissing(b.Output.v) {
			r.Set("output", b.Output.v)
		}
		results[i] = r
	}
	patch := value.ObjectOf(core.ContextParallelResults, results, core.ContextParallelCount, int64(len(results)))
	return append(writes, plan.Write{Field: t.w.Context, Value: patch})
}

// skipBranches marks the branches that never began as skipped and emits their events.
func (t *walk) skipBranches(v *visit) {
	k, nodes := v.Fork, t.parallel(v).Branches
	for i, node := range nodes {
		if slices.Contains(nodes[:i], node) || k.began(nodes, node) {
			continue
		}
		r := &t.Nodes[node]
		r.Status, r.Last, r.Failure, r.Why, r.Started, r.Ended = core.Skipped, core.Skipped, nil, k.Reason, 0, 0
		if t.f.Outputs != nil {
			t.f.setOutput(node, value.Missing)
		}
		delete(t.f.Notes, node)
		t.f.emitBranchSkipped(t, v, node)
	}
}

// began reports whether the node of a branch was visited. Two edges to the same node are two
// branches.
func (k *fork) began(nodes []int32, node int32) bool {
	for i := range k.Branches {
		if nodes[i] == node && k.Branches[i].Status != core.StatusNone {
			return true
		}
	}
	return false
}

// winners returns the IDs of the branches that succeeded, in order.
func (t *walk) winners(v *visit) []string {
	var ids []string
	for i, b := range v.Fork.Branches {
		if b.Status == core.Success {
			ids = append(ids, t.id(t.parallel(v).Branches[i]))
		}
	}
	return ids
}

// givenUpText names the branches that a decision has cancelled. It returns "" if there are
// none.
func (t *walk) givenUpText(v *visit) string {
	var ids []string
	for _, b := range t.Live {
		if b.parent == v {
			ids = append(ids, t.id(b.Node))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "; given up: " + strings.Join(ids, ", ")
}

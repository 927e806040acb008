package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/quorum"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file is parallel nodes of a walk: their branches are visits of their own, and the
// join decides as soon as its result is certain.

// fork is a parallel node under way.
type fork struct {
	branches []branch // by place
	next     int      // first branch not begun
	live     int      // branches begun and not over
	most     int      // how many may be
	ok, bad  int      // branches that counted and ended success, or fail
	counted  int
	decided  bool
	closing  bool // its branches are being given up
	expired  bool // by its timeout
	status   core.Status
	reason   string
}

// branch is what became of one branch.
type branch struct {
	status core.Status // StatusNone: it has not ended
	writes []plan.Write
	score  any // Missing for none
	output any // what it put out, Missing for nothing
	note   string
}

// end is how a branch ended that will not be waited for any more.
func (b *branch) end() core.Status {
	if b.status == core.StatusNone {
		return core.Skipped
	}
	return b.status
}

func (t *walk) parallel(v *visit) *plan.Parallel { return t.w.Nodes[v.node].Parallel }

// startFork begins a parallel node.
func (t *walk) startFork(v *visit) {
	p := t.parallel(v)
	v.fork = &fork{branches: make([]branch, len(p.Branches)), most: p.MaxParallel}
	for i := range v.fork.branches {
		v.fork.branches[i] = branch{score: core.Missing, output: core.Missing}
	}
	if n := &t.f.p.Nodes[v.node]; n.Timeout > 0 {
		v.Due = t.f.m.in(n.Timeout)
		t.watchFork(v)
	}
	t.settleFork(v)
}

// watchFork sets the timer for the timeout of a parallel node.
func (t *walk) watchFork(v *visit) {
	t.f.m.command(Command{Op: OpDeadline, ID: v.id(), Plan: t.f.p, Node: v.def(), Delay: t.f.m.until(v.Due)})
}

// mayBegin reports whether another branch may begin.
func (k *fork) mayBegin() bool { return !k.decided && k.next < len(k.branches) && k.live < k.most }

// beginBranch begins the next branch.
func (t *walk) beginBranch(v *visit) {
	k := v.fork
	place := k.next
	k.next++
	k.live++
	p := t.parallel(v)
	t.enter(p.Branches[place], v, place, p.Edges[place])
}

// branchOver takes in the outcome of a branch.
func (t *walk) branchOver(b *visit, o *Outcome) {
	k := b.parent.fork
	k.live--
	r := &k.branches[b.place]
	r.status = statusOf(o)
	if !b.lost && !k.decided {
		k.counted++
		r.output, r.note = o.output(), noteOf(o)
		switch r.status {
		case core.Success:
			k.ok++
		case core.Fail:
			k.bad++
		}
		for _, w := range o.Writes {
			if w.Field != t.w.Context {
				r.writes = append(r.writes, w)
				continue
			}
			if score, ok := w.Value.(*core.Object).Get("score"); ok {
				r.score = score
			}
		}
	}
	t.settleFork(b.parent)
}

// neverBegun takes back a branch of which no attempt has begun.
func (t *walk) neverBegun(b *visit) {
	b.parent.fork.live--
	t.settleFork(b.parent)
}

// settleFork decides a parallel node if its result is certain, and ends it when its last
// branch is over.
func (t *walk) settleFork(v *visit) {
	k := v.fork
	if !k.decided && !t.f.stopped && !v.lost {
		if status, reason, ok := t.verdictOfFork(v); ok {
			t.decideFork(v, status, reason)
		}
	}
	if (k.decided || t.f.stopped) && k.live == 0 && !k.closing {
		t.forkOver(v)
	}
}

// verdictOfFork returns what a parallel node comes to, if that is certain.
func (t *walk) verdictOfFork(v *visit) (status core.Status, reason string, certain bool) {
	p, k := t.parallel(v), v.fork
	n := len(k.branches)
	tally := quorum.Tally{Branches: n, Need: p.Need, Ended: k.counted, Succeeded: k.ok}
	if n == 0 {
		return core.Fail, p.Join + ": there are no branches", true
	}
	early := p.FailFast && k.bad > 0
	bad := k.bad
	if p.Ignore {
		bad = 0
	}
	succeeded := fmt.Sprintf("%s: %d of %d branches succeeded", p.Join, k.ok, n)
	switch {
	case p.WaitAll && !tally.Complete() && !early:
		return 0, "", false
	case p.WaitAll && bad > 0:
		return core.PartialSuccess, fmt.Sprintf("%s: %d of %d branches failed", p.Join, k.bad, n), true
	case p.WaitAll:
		return core.Success, succeeded, true
	case tally.Early() == quorum.Won:
		return core.Success, succeeded, true
	case early || tally.Early() == quorum.Lost:
		return core.Fail, fmt.Sprintf("%s, %d failed", succeeded, k.bad), true
	}
	return 0, "", false
}

// decideFork fixes the result of a parallel node and gives the branches up that are not
// over.
func (t *walk) decideFork(v *visit, status core.Status, reason string) {
	k := v.fork
	k.decided, k.status, k.reason = true, status, reason
	t.f.emitJoinDecided(t, v)
	t.giveUpBranches(v)
}

func (t *walk) giveUpBranches(v *visit) {
	k := v.fork
	k.closing = true
	for _, b := range slices.Clone(t.live) {
		if b.parent == v && !b.lost {
			t.giveUp(b)
		}
	}
	k.closing = false
}

// giveUp ends a branch that is not needed any more: what runs is cancelled and awaited.
func (t *walk) giveUp(b *visit) {
	b.lost = true
	switch n := &t.f.p.Nodes[b.node]; {
	case b.fork != nil:
		b.fork.decided, b.fork.reason = true, b.parent.fork.reason
		t.giveUpBranches(b)
		t.settleFork(b)
	case b.inFlight(n):
		t.f.m.command(Command{Op: OpGiveUp, ID: b.id(), Plan: t.f.p, Node: n})
	default:
		halt(b)
	}
}

// expireFork ends a parallel node whose time is up.
func (t *walk) expireFork(v *visit) {
	if v.fork.decided {
		return
	}
	v.fork.expired = true
	t.decideFork(v, core.Fail, timedOut(&t.f.p.Nodes[v.node]).Message)
	t.settleFork(v)
}

// forkOver ends a parallel node: its branches are over.
func (t *walk) forkOver(v *visit) {
	k, n := v.fork, &t.f.p.Nodes[v.node]
	if n.Timeout > 0 && !k.expired {
		t.f.m.command(Command{Op: OpMet, ID: v.id()})
	}
	o := Outcome{Status: k.status, Writes: t.forkWrites(v)}
	switch {
	case k.expired:
		o.Failure = timedOut(n)
	case k.status == core.Fail:
		o.Failure = &core.Failure{Class: core.ClassError, Message: k.reason, Permanent: true}
	}
	tried(v, &o, t.f.m.now)
}

// forkWrites is what a parallel node writes: what its branches wrote to declared fields,
// in their order, and the results of them all.
func (t *walk) forkWrites(v *visit) []plan.Write {
	k := v.fork
	var writes []plan.Write
	results := make([]any, len(k.branches))
	for i := range k.branches {
		b := &k.branches[i]
		writes = append(writes, b.writes...)
		r := core.ObjectOf("id", t.id(t.parallel(v).Branches[i]), "status", b.end().String())
		if !core.IsMissing(b.score) {
			r.Set("score", b.score)
		}
		if !core.IsMissing(b.output) {
			r.Set("output", b.output)
		}
		results[i] = r
	}
	patch := core.ObjectOf(core.ContextParallelResults, results, core.ContextParallelCount, int64(len(results)))
	return append(writes, plan.Write{Field: t.w.Context, Value: patch})
}

// skipBranches notes and tells that the branches which never began were skipped.
func (t *walk) skipBranches(v *visit) {
	k, nodes := v.fork, t.parallel(v).Branches
	for i, node := range nodes {
		if slices.Contains(nodes[:i], node) || k.began(nodes, node) {
			continue
		}
		r := &t.nodes[node]
		r.Status, r.Last, r.Failure, r.Why, r.Started, r.Ended = core.Skipped, core.Skipped, nil, k.reason, 0, 0
		if t.f.outputs != nil {
			t.f.setOutput(node, core.Missing)
		}
		delete(t.f.notes, node)
		t.f.emitBranchSkipped(t, v, node)
	}
}

// began reports whether the node of a branch was visited: two edges to one node are two
// branches.
func (k *fork) began(nodes []int32, node int32) bool {
	for i := range k.branches {
		if nodes[i] == node && k.branches[i].status != core.StatusNone {
			return true
		}
	}
	return false
}

// winners lists the branches that succeeded, in order.
func (t *walk) winners(v *visit) []string {
	var ids []string
	for i, b := range v.fork.branches {
		if b.status == core.Success {
			ids = append(ids, t.id(t.parallel(v).Branches[i]))
		}
	}
	return ids
}

// others words which branches a decision gave up, "" for none.
func (t *walk) others(v *visit) string {
	var ids []string
	for _, b := range t.live {
		if b.parent == v {
			ids = append(ids, t.id(b.node))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "; given up: " + strings.Join(ids, ", ")
}

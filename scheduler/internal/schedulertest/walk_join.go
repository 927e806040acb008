package schedulertest

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// branch is a branch of a parallel node in progress.
type branch struct {
	id    string
	via   *core.Edge
	end   ended
	begun bool
	over  bool
	at    time.Duration // when it ends
}

// fork visits the branches of a parallel node.
func (o *walkOracle) fork(id string, context map[string]any, state values) ended {
	n := o.nodes[id]
	var branches []*branch
	for _, e := range o.w.Edges {
		if e.From.Value == id && e.When == nil {
			branches = append(branches, &branch{id: e.To.Value, via: e})
		}
	}
	begin := func(b *branch, now time.Duration) {
		b.begun = true
		o.arrive(b.id)
		b.end = o.visit(b.id, context, state, b.via)
		b.at = now + b.end.took
	}
	next := o.inTime(n, branches, begin)
	if o.ends != nil {
		next = o.asTold(id, branches, begin)
	}
	failFast := n.Parallel != nil && n.Parallel.ErrorPolicy.Value == "fail_fast"
	status, failed, took := undecided(n, branches), false, time.Duration(0)
	for status == core.StatusNone {
		b := next()
		if b == nil {
			break
		}
		b.over, took = true, b.at
		failed = failed || b.end.status == core.Fail
		if status = undecided(n, branches); status == core.StatusNone && failFast && failed {
			status = joined(n, branches)
		}
	}
	e := o.join(id, branches, status)
	e.took = took
	return e
}

// inTime starts branches in edge order, as far as max_parallel allows, and ends each at its
// time.
func (o *walkOracle) inTime(n *core.Node, branches []*branch, begin func(*branch, time.Duration)) func() *branch {
	limit := core.DefaultMaxParallel
	if n.Parallel != nil && n.Parallel.MaxParallel != nil {
		limit = n.Parallel.MaxParallel.Value
	}
	var now time.Duration
	return func() *branch {
		var active []*branch
		for _, b := range branches {
			if !b.over && (b.begun || len(active) < limit) {
				if !b.begun {
					if begin(b, now); o.role(b.id) == core.RoleConditional {
						return b // it ends before another one begins
					}
				}
				active = append(active, b)
			}
		}
		if len(active) == 0 {
			return nil
		}
		first := slices.MinFunc(active, func(a, b *branch) int { return int(a.at - b.at) })
		o.out.Tied = o.out.Tied || len(slices.DeleteFunc(active, func(b *branch) bool { return b.at != first.at })) > 1
		now = first.at
		return first
	}
}

// asTold starts and ends branches in the order of another run.
func (o *walkOracle) asTold(id string, branches []*branch, begin func(*branch, time.Duration)) func() *branch {
	begun, ended := o.ends(id, o.out.Nodes[id].Visits)
	for _, b := range branches {
		if slices.Contains(begun, b.id) {
			begin(b, 0)
		}
	}
	return func() *branch {
		for len(ended) > 0 {
			i := slices.IndexFunc(branches, func(b *branch) bool { return b.id == ended[0] })
			if ended = ended[1:]; i >= 0 && branches[i].begun {
				return branches[i]
			}
		}
		return nil
	}
}

// tally counts branches.
func tally(branches []*branch) (ok, bad, open int) {
	for _, b := range branches {
		switch {
		case !b.over:
			open++
		case b.end.status == core.Success:
			ok++
		case b.end.status == core.Fail:
			bad++
		}
	}
	return ok, bad, open
}

// undecided returns StatusNone as long as the branches that have not ended could change the
// status of a parallel node, and then its status.
func undecided(n *core.Node, branches []*branch) core.Status {
	ok, _, open := tally(branches)
	switch need := need(n.Join, len(branches)); {
	case len(branches) == 0:
		return core.Fail
	case n.Join == nil || n.Join.Word() == core.JoinWaitAll:
		if open > 0 {
			return core.StatusNone
		}
	case ok < need && ok+open >= need:
		return core.StatusNone
	}
	return joined(n, branches)
}

// joined returns the status that follows from the branches that have ended.
func joined(n *core.Node, branches []*branch) core.Status {
	ok, bad, _ := tally(branches)
	ignore := n.Parallel != nil && n.Parallel.ErrorPolicy.Value == "ignore"
	switch {
	case len(branches) == 0:
		return core.Fail
	case n.Join == nil || n.Join.Word() == core.JoinWaitAll:
		if bad > 0 && !ignore {
			return core.PartialSuccess
		}
		return core.Success
	case ok >= need(n.Join, len(branches)):
		return core.Success
	}
	return core.Fail
}

// join cancels the branches that have not ended and returns the outcome of the node.
func (o *walkOracle) join(id string, branches []*branch, status core.Status) ended {
	f := ForkOutcome{Fork: id, Status: status}
	results := make([]any, 0, len(branches))
	var deltas []delta
	var stages []core.FinishedStage
	for _, b := range branches {
		r := BranchOutcome{ID: b.id, Status: b.end.status}
		result := value.ObjectOf("id", b.id)
		switch {
		case b.over:
			o.count(b.id, b.end)
			if r.Status == core.Success {
				f.Succeeded = append(f.Succeeded, b.id)
			}
			deltas = append(deltas, b.end.deltas...)
		case b.begun:
			r.Status, r.Loser, f.Early = core.Fail, true, true
			o.dropBranch(b.id, b.end)
		default:
			r.Status, r.Loser, f.Early = core.Skipped, true, true
			if !slices.ContainsFunc(branches, func(c *branch) bool { return c.begun && c.id == b.id }) {
				o.count(b.id, ended{status: core.Skipped})
			}
		}
		result.Set("status", r.Status.String())
		s := core.FinishedStage{Node: b.id, Status: r.Status}
		if b.over {
			s = finished(b.id, &b.end)
		}
		stages = append(stages, s)
		if score, ok := b.end.context["score"]; ok && b.over {
			result.Set("score", score)
		}
		if b.over && b.end.output != nil {
			result.Set("output", b.end.output)
		}
		results = append(results, result)
		f.Branches = append(f.Branches, r)
	}
	o.out.Forks = append(o.out.Forks, f)
	e := ended{status: status, deltas: deltas, branches: stages, context: map[string]any{core.ContextParallelResults: results, core.ContextParallelCount: int64(len(branches))}}
	if status == core.Fail {
		e.class, e.category, e.message = core.ClassError, core.Deterministic, "the branches failed"
		return e
	}
	e.join = o.joinOf(branches)
	return e
}

// dropBranch drops the effects of a branch that is not waited for.
func (o *walkOracle) dropBranch(id string, e ended) {
	for attempt := range e.attempts {
		o.out.Losers[Execution{Node: id, Item: -1, Visit: o.out.Nodes[id].Visits, Attempt: attempt + 1}] = true
	}
	o.count(id, ended{status: core.Fail, class: core.ClassCanceled})
}

// joinOf returns the lexically first node that directly follows every branch.
func (o *walkOracle) joinOf(branches []*branch) string {
	after := map[string]int{}
	for _, b := range branches {
		to := map[string]bool{}
		for _, e := range o.w.Edges {
			if e.From.Value == b.id {
				to[e.To.Value] = true
			}
		}
		for id := range to {
			after[id]++
		}
	}
	for _, id := range sortedKeys(after) {
		if after[id] == len(branches) {
			return id
		}
	}
	return ""
}

package verify

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fork is an attempt of a parallel node.
type fork struct {
	begun             []int32 // branches, in the order in which they began
	skipped           []int32 // branches with an event that they never began
	live              int
	succeeded, failed int
	ended             int
	good              []int32 // branches that succeeded
	decided           bool
	status            core.Status // the reported decision
}

// abandoned reports whether a visit belongs to a branch whose result is no longer
// needed.
func abandoned(v *visit) bool {
	return v.parent != nil && (v.parent.fork == nil || v.parent.fork.decided || abandoned(v.parent))
}

// occurrences returns how often a node is in a list. Two edges to the same node are two
// branches.
func occurrences(list []int32, node int32) int {
	n := 0
	for _, x := range list {
		if x == node {
			n++
		}
	}
	return n
}

// branchBegins handles the start of a branch.
func (t *walk) branchBegins(v *visit, n *plan.Node) {
	c := t.f.c
	i := slices.IndexFunc(t.live, func(u *visit) bool { return u.fork != nil && t.f.name(t.id(u.node)) == c.e.Unit })
	if i < 0 {
		c.breaks(Lifecycle, "begins as a branch of %s, which is not in progress", c.e.Unit)
		return
	}
	v.parent = t.live[i]
	k, p := v.parent.fork, t.w.Nodes[v.parent.node].Parallel
	switch {
	case !slices.Contains(p.Branches, n.Index):
		c.breaks(Routes, "is not a branch of %s", c.e.Unit)
	case occurrences(k.begun, n.Index) == occurrences(p.Branches, n.Index):
		c.breaks(Parts, "begins again as a branch of %s", c.e.Unit)
	case k.decided || abandoned(v.parent):
		c.breaks(Routes, "begins after the join of %s was decided", c.e.Unit)
	}
	t.overdue(v.parent)
	k.begun = append(k.begun, n.Index)
	if k.live++; k.live > p.MaxParallel {
		c.breaks(Limits, "%d branches of %s are in progress, max_parallel is %d", k.live, c.e.Unit, p.MaxParallel)
	}
}

// branchSkipped handles the event that a branch never began.
func (t *walk) branchSkipped(n *plan.Node) {
	c := t.f.c
	i := slices.IndexFunc(t.live, func(u *visit) bool { return u.fork != nil && t.f.name(t.id(u.node)) == c.e.Unit })
	if i < 0 {
		c.breaks(Lifecycle, "is skipped as a branch of %q, which is not in progress", c.e.Unit)
		return
	}
	v := t.live[i]
	k := v.fork
	switch {
	case !slices.Contains(t.w.Nodes[v.node].Parallel.Branches, n.Index):
		c.breaks(Routes, "is not a branch of %s", c.e.Unit)
	case slices.Contains(k.begun, n.Index), slices.Contains(k.skipped, n.Index):
		c.breaks(Parts, "is skipped, and it has begun or was skipped before")
	case !k.decided && !abandoned(v):
		c.breaks(Routes, "is skipped before the join of %s is decided", c.e.Unit)
	}
	k.skipped = append(k.skipped, n.Index)
}

// branchEnds handles the end of a branch.
func (t *walk) branchEnds(v *visit) {
	c := t.f.c
	k := v.parent.fork
	if k == nil {
		return
	}
	k.live--
	if abandoned(v) || t.cancelled {
		if v.status != core.Fail || c.e.Error == nil || c.e.Error.Class != core.ClassCanceled {
			c.breaks(Routes, "ends %s, and was given up when the join of %s was decided", v.status, t.id(v.parent.node))
		}
		return
	}
	t.overdue(v.parent)
	k.ended++
	switch v.status {
	case core.Success:
		k.succeeded++
		k.good = append(k.good, v.node)
	case core.Fail:
		k.failed++
	}
}

// overdue reports a join that should already have been decided.
func (t *walk) overdue(v *visit) {
	if _, certain := t.verdict(v); certain && !v.fork.decided && !t.cancelled && !abandoned(v) {
		t.f.c.breaks(Routes, "the join of %s was certain before that and is not decided", t.id(v.node))
	}
}

// verdict returns the result of a join and whether it is certain.
func (t *walk) verdict(v *visit) (s core.Status, certain bool) {
	p, k := t.w.Nodes[v.node].Parallel, v.fork
	n := len(p.Branches)
	early := p.FailFast && k.failed > 0
	switch {
	case n == 0:
		return core.Fail, true
	case p.WaitAll && k.ended < n && !early:
		return 0, false
	case p.WaitAll && k.failed > 0 && !p.Ignore:
		return core.PartialSuccess, true
	case p.WaitAll || k.succeeded >= p.Need:
		return core.Success, true
	}
	return core.Fail, early || k.succeeded+n-k.ended < p.Need
}

// decided handles the decision of a join.
func (t *walk) decided(v *visit) {
	c := t.f.c
	k := v.fork
	if k == nil || k.decided {
		c.breaks(Routes, "a join is decided, and there is none to decide")
		return
	}
	k.decided = true
	if err := k.status.UnmarshalText([]byte(c.e.Status)); err != nil {
		c.breaks(Statuses, "a join with the status %q", c.e.Status)
	}
	timed := k.status == core.Fail && t.f.p.Nodes[v.node].Timeout > 0 // its timeout may have expired
	switch want, certain := t.verdict(v); {
	case timed:
	case !certain:
		c.breaks(Routes, "the join is decided after %d of %d branches, which do not determine its result",
			k.ended, len(t.w.Nodes[v.node].Parallel.Branches))
	case k.status != want:
		c.breaks(Routes, "the join is decided as %s, want %s: %d of its branches succeeded, %d failed", c.e.Status, want, k.succeeded, k.failed)
	}
	var good []string
	left := slices.Clone(k.good)
	for _, b := range t.w.Nodes[v.node].Parallel.Branches {
		if i := slices.Index(left, b); i >= 0 {
			good, left = append(good, t.id(b)), slices.Delete(left, i, i+1)
		}
	}
	if !slices.Equal(good, c.e.Nodes) {
		c.breaks(Routes, "the join took %v, and %v succeeded", c.e.Nodes, good)
	}
}

// forkEnds compares the end of a parallel node with the decision of its join.
func (t *walk) forkEnds(v *visit, n *plan.Node) {
	c := t.f.c
	k := v.fork
	if k.live > 0 {
		c.breaks(Lifecycle, "ends before %d of its branches", k.live)
	}
	if !abandoned(v) && !t.cancelled {
		for _, b := range t.w.Nodes[v.node].Parallel.Branches {
			if !slices.Contains(k.begun, b) && !slices.Contains(k.skipped, b) {
				c.breaks(Parts, "ends, and its branch %s has neither begun nor was it skipped", t.id(b))
			}
		}
	}
	want := k.status
	if n.AutoStatus {
		want = core.Success
	}
	switch {
	case abandoned(v), t.cancelled:
	case !k.decided:
		c.breaks(Routes, "ends before its join is decided")
	case c.e.Error != nil && c.e.Error.Class == core.ClassMerge: // the state rejected its writes
	case v.status != want:
		c.breaks(Statuses, "ends %s, and its join was decided as %s", v.status, k.status)
	}
}

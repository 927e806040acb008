package verify

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// joined handles the event that a join is decided.
func (f *frame) joined(i int32) {
	v, e := &f.v[i], f.c.e
	pv := &f.p.Vertices[i]
	switch {
	case pv.Join < 0:
		f.c.breaks(Skips, "%s, and it waits for all of its predecessors", e.Type)
		return
	case v.joinDecided:
		f.c.breaks(Skips, "the join is decided twice")
		return
	case v.phase != undecided:
		f.c.breaks(Lifecycle, "the join is decided %s", f.after(v))
		return
	}
	v.joinDecided = true
	j := &f.p.Joins[pv.Join]
	live := 0
	for a := j.From; a < j.To && live < j.Need; a++ {
		if j.Race && !f.branchContains(a, e.Nodes) {
			continue
		}
		if f.takeBranch(v, a) {
			live++
		} else if j.Race {
			f.c.breaks(Skips, "the join took %s, which did not succeed", f.p.Vertices[f.p.JoinBranches[a].Source].ID)
		}
	}
	slices.Sort(v.took)
	if want := f.takenNames(j, v.took); live < j.Need {
		f.c.breaks(Skips, "the join is decided, and %d of %d predecessors succeeded, it takes %d", live, j.Count(), j.Need)
	} else if !slices.Equal(want, e.Nodes) {
		f.c.breaks(Skips, "the join took %s, should be %s", listOf(e.Nodes), listOf(want))
	}
	for _, l := range j.Losers {
		if f.v[l].phase != resolved {
			f.v[l].lostRace = true
		}
	}
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

// branchContains reports whether a branch of a join contains one of the nodes.
func (f *frame) branchContains(a int32, nodes []string) bool {
	return slices.ContainsFunc(f.p.JoinBranches[a].Edges, func(e int32) bool { return slices.Contains(nodes, f.p.Nodes[f.p.Edges[e].FromNode].ID) })
}

// takeBranch records the live edges of a branch of a join and reports whether there are
// any.
func (f *frame) takeBranch(v *vertex, a int32) bool {
	branch := &f.p.JoinBranches[a]
	if f.v[branch.Source].phase != resolved {
		f.c.breaks(Order, "the join is decided before its predecessor %s is resolved", f.p.Vertices[branch.Source].ID)
		return false
	}
	found := false
	for _, e := range branch.Edges {
		switch f.effectOf(e) {
		case live:
			v.took = append(v.took, e)
			found = true
		case unevaluated:
			f.conditionMissing(f.p.Edges[e].To, e)
		}
	}
	return found
}

// takenNames returns the sources of the edges in canonical order.
func (f *frame) takenNames(j *plan.Join, took []int32) []string {
	names := []string{}
	for a := j.From; a < j.To; a++ {
		for _, e := range f.p.JoinBranches[a].Edges {
			if id := f.p.Nodes[f.p.Edges[e].FromNode].ID; slices.Contains(took, e) && !slices.Contains(names, id) {
				names = append(names, id)
			}
		}
	}
	return names
}

// decideJoin recomputes the decision of a join without a decision event: too few of its
// predecessors succeeded.
func (f *frame) decideJoin(i int32) decision {
	d := decision{edge: -1, cause: -1}
	v := &f.v[i]
	if v.joinDecided {
		for _, e := range v.took {
			if f.p.Edges[e].Handles {
				d.handled = append(d.handled, e)
			}
		}
		return d
	}
	j := &f.p.Joins[f.p.Vertices[i].Join]
	succeeded, anyBranch := 0, false
	for a := j.From; a < j.To; a++ {
		counts := false
		for _, e := range f.p.JoinBranches[a].Edges {
			switch f.effectOf(e) {
			case noEffect:
				continue
			case live:
				counts = true
			case blocks:
				if d.edge < 0 || e < d.edge {
					d.edge = e
				}
			case unevaluated:
				f.conditionMissing(i, e)
				d.kind = notDecided
			}
			anyBranch = true
		}
		if counts {
			succeeded++
		}
	}
	switch {
	case d.kind == notDecided:
		d.edge = -1
	case succeeded >= j.Need:
		d.edge = -1
		f.c.breaks(Skips, "no event says which predecessors the join takes, and %d of %d succeeded", succeeded, j.Count())
	case d.edge >= 0:
		d.kind, d.cause = byFailure, f.began(d.edge)
	case !anyBranch && j.Count() > 0:
		d.kind, d.cause = byAllGone, f.began(f.p.InEdges(i)[0])
	default:
		d.kind = byJoin
	}
	return d
}

// cancelledByRace handles the end of a vertex that lost a race. The vertex may have
// begun.
func (f *frame) cancelledByRace(i int32) {
	v, e := &f.v[i], f.c.e
	switch {
	case v.phase == resolved && (v.status != core.Skipped || v.skips >= f.members(i)):
		f.c.breaks(Lifecycle, "is skipped %s", f.after(v))
		return
	case e.Status != core.Skipped.String():
		f.c.breaks(Statuses, "is skipped with the status %q", e.Status)
	}
	if v.skips++; v.skips > 1 {
		return
	}
	if to := f.winner(i, e.Cause); to < 0 {
		f.c.breaks(Skips, "lost a race because of %s, and that is not a join that gives it up", e.Cause)
	}
	if fan := v.fan; fan != nil && fan.begun > fan.ended {
		f.c.breaks(Parts, "is given up, and of its items %d began and have no end", fan.begun-fan.ended)
	}
	f.endInner(v, &core.Failure{Class: core.ClassCanceled})
	for _, s := range f.p.Vertices[i].Writes {
		f.writes[s.Field].discard(v, s)
	}
	v.decided, v.skip, v.unit = true, byRace, nil
	f.resolve(i, core.Skipped)
}

// winner returns the join with the given name that cancels a vertex, or -1 if there is
// none.
func (f *frame) winner(i int32, cause string) int32 {
	for j := range f.p.Joins {
		join := &f.p.Joins[j]
		if f.name(f.p.Vertices[join.Vertex].ID) == cause && f.v[join.Vertex].joinDecided && slices.Contains(join.Losers, i) {
			return join.Vertex
		}
	}
	return -1
}

// discard records that the writes of a vertex do not count. Rounds, rows and items of
// streams report their writes before the whole unit ends.
func (w *writes) discard(v *vertex, s plan.Slot) {
	if w.count > 0 && w.first <= s.Slot && s.Slot <= w.last && (v.unit != nil || v.fan != nil) {
		w.discarded, w.setBy = true, ""
	}
}

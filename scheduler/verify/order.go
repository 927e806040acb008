package verify

import (
	"slices"

	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// decideOnce checks, once for each vertex, that everything its decision depends on is
// resolved, and returns the decision.
func (f *frame) decideOnce(i int32, what string) (d decision, first bool) {
	v := &f.v[i]
	if v.decided {
		return d, false
	}
	v.decided = true
	if f.failRun {
		f.c.breaks(Statuses, "%s after a failure with the policy fail_run has stopped the run", what)
	}
	late := f.predecessors(i, what)
	pv := &f.p.Vertices[i]
	for _, e := range f.p.InEdges(i) {
		if edge := &f.p.Edges[e]; pv.Join < 0 && edge.When != nil && !edge.InElseGroup {
			f.condition(edge.When, edge, pv.Level, what)
		}
	}
	f.references(i, what)
	if late { // without the predecessors, the decision would be a guess
		return d, false
	}
	return f.decide(i), true
}

// predecessors reports the predecessors of a vertex that are not resolved; late is true
// if there are any.
func (f *frame) predecessors(i int32, what string) (late bool) {
	pv := &f.p.Vertices[i]
	for _, e := range f.p.InEdges(i) {
		if f.v[i].joinDecided {
			break // the join waits only for the predecessors it takes, which were checked before
		}
		if from := f.p.Edges[e].From; f.v[from].phase != resolved {
			late = true
			f.c.breaks(Order, "%s before its predecessor %s is resolved", what, f.p.Nodes[f.p.Edges[e].FromNode].ID)
		}
	}
	if (pv.Last || f.barrier) && f.level < pv.Level {
		why := "the schedule is barrier"
		if pv.Last {
			why = "a unit without edges comes after everything else"
		}
		f.c.breaks(Order, "%s before %s of a lower level is resolved, and %s", what, f.p.Vertices[f.unresolved()].ID, why)
	}
	return late
}

// unresolved returns the first unresolved vertex of the current level, which must
// exist.
func (f *frame) unresolved() int32 {
	i := f.p.Levels[f.level]
	for f.v[i].phase == resolved {
		i++
	}
	return i
}

// condition checks that everything a condition depends on is resolved. The condition is
// evaluated on the state of the given level.
func (f *frame) condition(when *expressions.Program, edge *plan.Edge, level int32, what string) {
	for _, field := range when.FieldSlots() {
		if k, ok := f.missing(int32(field), f.p.Threshold(int32(field), level)); !ok {
			f.c.breaks(Order, "%s before %s is resolved, which may write %s, and the condition on %s -> %s reads that", what, k,
				f.p.Schema.Fields[field].Name, f.p.Nodes[edge.FromNode].ID, f.p.Nodes[edge.ToNode].ID)
		}
	}
	for _, n := range when.Nodes() {
		f.reference(int32(n), level, what)
	}
}

// missing returns the first unresolved writer of a field below a threshold. ok is true
// if there is none.
func (f *frame) missing(field, threshold int32) (string, bool) {
	if f.cursor[field] >= threshold {
		return "", true
	}
	return f.p.Vertices[f.p.WriterVertex[field][f.cursor[field]]].ID, false
}

// references checks the nodes that a vertex refers to with $nodes.
func (f *frame) references(i int32, what string) {
	pv := &f.p.Vertices[i]
	if pv.Unit == nil {
		for _, ref := range f.p.Nodes[pv.Node].NodeRefs() {
			f.reference(ref, pv.Level, what)
		}
		return
	}
	for _, m := range pv.Unit.Members {
		for _, ref := range f.p.Nodes[m].NodeRefs() {
			f.reference(ref, pv.Level, what)
		}
	}
	var nodes []int
	if pv.Unit.Items != nil {
		_, nodes = pv.Unit.Items.Reads()
	}
	if pv.Unit.Until != nil {
		nodes = append(nodes, pv.Unit.Until.Nodes()...)
	}
	for _, n := range nodes {
		f.reference(int32(n), pv.Level, what)
	}
}

// reference checks a node that is referred to. A node that is not on a lower level has
// no status there, and the vertex does not wait for it.
func (f *frame) reference(node, level int32, what string) {
	v := f.p.Nodes[node].Vertex
	if f.p.Vertices[v].Level < level && f.v[v].phase != resolved {
		f.c.breaks(Order, "%s before %s is resolved, to which it refers as $nodes.%s", what, f.p.Vertices[v].ID, f.p.Nodes[node].ID)
	}
}

// startable checks that all writers of what a vertex reads are resolved.
func (f *frame) startable(i int32, what string) {
	pv := &f.p.Vertices[i]
	reads := []plan.Read(nil)
	if pv.Unit != nil {
		reads = pv.Unit.Reads
	} else {
		reads = f.p.Nodes[pv.Node].Reads
	}
	for _, r := range reads {
		if k, ok := f.missing(r.Field, r.Threshold); !ok {
			f.c.breaks(Order, "%s before %s is resolved, which may write %s, and it reads that", what, k, f.p.Schema.Fields[r.Field].Name)
		}
	}
	if pv.Unit == nil {
		return
	}
	for _, s := range pv.Writes { // a unit needs earlier writes to detect rejected ones
		if k, ok := f.missing(s.Field, s.Slot); !ok && f.p.Schema.Fields[s.Field].MayReject {
			f.c.breaks(Order, "%s before %s is resolved, whose write of %s comes first", what, k, f.p.Schema.Fields[s.Field].Name)
		}
	}
}

// canonical checks that with a limit of 1, work begins in canonical order. This applies
// only if nothing waits without its slot.
func (f *frame) canonical(i int32) {
	if !f.ordered || f.c.limits == nil || f.c.limits.Concurrency != 1 {
		return
	}
	if i < f.lastPlan {
		f.c.breaks(Order, "begins after %s, and comes before it in canonical order; the limit is 1", f.p.Vertices[f.lastPlan].ID)
	}
	f.lastPlan = max(f.lastPlan, i)
}

// inOrder reports whether all nodes of a plan begin in canonical order under a limit of
// 1.
func inOrder(p *plan.Plan) bool {
	return p.Rank == nil && !slices.ContainsFunc(p.Nodes, func(n plan.Node) bool {
		return n.Retry.Attempts > 1 || n.Wait != nil || n.Frame != nil || n.Asks || n.Pause != plan.NoPause
	})
}

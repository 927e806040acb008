package verify

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// skipped handles a skip. Each member of a unit has its own event.
func (f *frame) skipped(n *plan.Node) {
	i := n.Vertex
	v, e := &f.v[i], f.c.e
	if v.lostRace {
		f.cancelledByRace(i)
		return
	}
	if v.phase != undecided && (v.phase != resolved || v.status != core.Skipped) || v.skips >= max(1, f.members(i)) {
		f.c.breaks(Lifecycle, "is skipped %s", f.after(v))
		return
	}
	d, first := f.decideOnce(i, "is skipped")
	v.skips++
	if first {
		v.skip, v.cause = d.kind, d.cause
		f.compareSkip(i, d)
	}
	if e.Status != core.Skipped.String() {
		f.c.breaks(Statuses, "is skipped with the status %q", e.Status)
	}
	if v.skips == max(1, f.members(i)) {
		if v.skip == runs || v.skip == notDecided { // a violation has been reported; continue with what the log says
			v.skip = byFalse
		}
		f.resolve(i, core.Skipped)
	}
}

// compareSkip compares a skip with the recomputed decision.
func (f *frame) compareSkip(i int32, d decision) {
	e := f.c.e
	got := decision{kind: byAllGone, edge: -1}
	switch {
	case e.From == "" && e.Cause == "":
		got.kind = byJoin
	case e.From != "" && e.Cause != "":
		got.kind = byFailure
	case e.From != "":
		got.kind = byFalse
	}
	switch {
	case d.kind == notDecided, d.kind == runs && e.Reason == core.AssumedReason(e.Status):
		return
	case d.kind == runs:
		f.c.breaks(Skips, "is skipped (%s), and should run: %s", e.Reason, f.whyRuns(i))
	case d.kind != got.kind || e.From != f.from(d) || e.Cause != f.causeOf(d) || !sameText(e.When, f.when(d)):
		f.c.breaks(Skips, "is skipped because %s, should be because %s", f.explain(e.From, e.Cause, e.When), f.explain(f.from(d), f.causeOf(d), f.when(d)))
	}
}

func (f *frame) whyRuns(i int32) string {
	for _, e := range f.p.InEdges(i) {
		if f.effectOf(e) == live {
			return "the edge " + f.p.Nodes[f.p.Edges[e].FromNode].ID + " -> " + f.p.Nodes[f.p.Edges[e].ToNode].ID + " is live"
		}
	}
	return "nothing is against it"
}

// explain describes the reason for a skip.
func (f *frame) explain(from, cause, when string) string {
	switch {
	case from == "" && cause == "":
		return "too few of its predecessors succeeded"
	case from == "":
		return "every predecessor was skipped, from " + cause + " on"
	case cause != "":
		return cause + " failed, over " + from
	case when == "":
		return "the edge from " + from + " is false"
	}
	return "the edge from " + from + " is false: " + when
}

func (f *frame) from(d decision) string {
	if d.edge < 0 {
		return ""
	}
	return f.p.Nodes[f.p.Edges[d.edge].FromNode].ID
}

func (f *frame) when(d decision) string {
	if d.edge < 0 {
		return ""
	}
	return whenText(&f.p.Edges[d.edge])
}

// causeOf returns the node where a skip began. For a unit it is the member that failed
// first.
func (f *frame) causeOf(d decision) string {
	if d.cause < 0 {
		return ""
	}
	if u := f.v[d.cause].unit; u != nil && u.failures > 0 {
		return f.name(f.p.Nodes[f.p.Vertices[d.cause].Unit.Members[u.failedAt[1]]].ID)
	}
	return f.name(f.p.Vertices[d.cause].ID)
}

// chosen checks that a vertex that runs should do so according to the recomputed
// decision.
func (f *frame) chosen(i int32) {
	d, first := f.decideOnce(i, "is ready")
	if !first {
		return
	}
	if d.kind != runs && d.kind != notDecided {
		f.c.breaks(Skips, "runs, and should be skipped because %s", f.explain(f.from(d), f.causeOf(d), f.when(d)))
	}
	for _, e := range d.handled {
		if !f.taken[e] {
			f.c.breaks(Skips, "runs over the edge %s -> %s (on: fail), but no event says that this handles the failure",
				f.p.Nodes[f.p.Edges[e].FromNode].ID, f.p.Nodes[f.p.Edges[e].ToNode].ID)
			f.v[f.p.Edges[e].From].handled = true
		}
	}
}

// handledBy handles the event that a failure does not fail the run.
func (f *frame) handledBy(i int32) {
	v, e := &f.v[i], f.c.e
	if v.status != core.Fail {
		f.c.breaks(Statuses, "its failure is handled, and it did not fail")
		return
	}
	if e.From == "" {
		v.tolerationReported = true
		if !f.tolerates(i) && !f.streams(i) {
			f.c.breaks(Statuses, "its failure is tolerated, and its policy does not say so")
		}
		return
	}
	v.handled = true
	for _, k := range f.p.InEdges(f.target(e.To)) {
		edge := &f.p.Edges[k]
		if edge.Handles && edge.From == i && f.p.Nodes[edge.ToNode].ID == e.To && f.effectOf(k) == live && !f.taken[k] {
			if f.taken == nil {
				f.taken = map[int32]bool{}
			}
			f.taken[k] = true
			return
		}
	}
	f.c.breaks(Skips, "its failure is handled by %s -> %s, which is not a live edge with on: fail and handles: true, or was reported before", e.From, e.To)
}

// target returns the vertex of a node, or a vertex without incoming edges if there is
// no such node.
func (f *frame) target(id string) int32 {
	if n, ok := f.p.Node(id); ok {
		return n.Vertex
	}
	return 0
}

// streams reports whether a vertex reads its rows from a stream. The log does not show
// whether reading failed.
func (f *frame) streams(i int32) bool {
	u := f.p.Vertices[i].Unit
	return u != nil && u.Puller != nil
}

package verify

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// skipKind is the reason why a vertex was skipped.
type skipKind uint8

const (
	runs       skipKind = iota
	byFailure           // a failure upstream
	byFalse             // an incoming edge is false
	byAllGone           // every predecessor was skipped
	byJoin              // too few predecessors succeeded for its join
	byRace              // it lost a race
	notDecided          // the log lacks the result of a condition
)

// decision describes whether a vertex runs, recomputed from its predecessors and
// conditions.
type decision struct {
	kind    skipKind
	edge    int32   // the edge that decided a skip, or -1 if there is none
	cause   int32   // the vertex where the skip began, -1 for this vertex
	handled []int32 // the on: fail edges that handle a failure
}

// decide recomputes whether a vertex runs. A blocking failure takes precedence over a
// false edge; otherwise the vertex runs if any edge is live.
func (f *frame) decide(i int32) decision {
	d := decision{edge: -1, cause: -1}
	in := f.p.InEdges(i)
	if f.p.Vertices[i].Join >= 0 {
		return f.decideJoin(i)
	}
	if len(in) == 0 {
		return d
	}
	if f.p.Vertices[i].AllDone {
		for _, e := range in {
			if f.p.Edges[e].Handles && f.v[f.p.Edges[e].From].status == core.Fail && f.effectOf(e) == live {
				d.handled = append(d.handled, e)
			}
		}
		return d
	}
	blocked, untrue, anyLive, open := int32(-1), int32(-1), false, false
	for _, e := range in {
		switch f.effectOf(e) {
		case blocks:
			if blocked < 0 {
				blocked = e
			}
		case falseEdge:
			if untrue < 0 {
				untrue = e
			}
		case live:
			anyLive = true
			if f.p.Edges[e].Handles {
				d.handled = append(d.handled, e)
			}
		case unevaluated:
			f.conditionMissing(i, e)
			open = true
		}
	}
	switch {
	case blocked >= 0:
		d.kind, d.edge, d.cause = byFailure, blocked, f.began(blocked)
	case open:
		d.kind = notDecided
	case untrue >= 0:
		d.kind, d.edge = byFalse, untrue
	case !anyLive:
		d.kind, d.cause = byAllGone, f.began(in[0])
	}
	if d.kind != runs {
		d.handled = nil
	}
	return d
}

func (f *frame) conditionMissing(i, e int32) {
	edge := &f.p.Edges[e]
	f.faultOf(f.name(f.subject(i)), Skips, "the condition on %s -> %s was never evaluated: %s",
		f.p.Nodes[edge.FromNode].ID, f.p.Nodes[edge.ToNode].ID, whenText(edge))
}

// subject returns the id of a vertex.
func (f *frame) subject(i int32) string { return f.p.Vertices[i].ID }

// began returns the vertex where the failure or skip at the source of an edge began.
func (f *frame) began(e int32) int32 {
	from := f.p.Edges[e].From
	if c := f.v[from].cause; c >= 0 {
		return c
	}
	return from
}

// effect is the effect of an edge on its target, once the source of the edge is
// resolved.
type effect uint8

const (
	noEffect effect = iota // the source was skipped
	live
	falseEdge
	blocks      // the source failed, or was skipped because of a failure
	unevaluated // the log lacks the result of the edge's condition
)

func (f *frame) effectOf(e int32) effect {
	edge := &f.p.Edges[e]
	src := &f.v[edge.From]
	failed, gone := src.status == core.Fail, src.status == core.Skipped
	switch {
	case edge.On == plan.OnSuccess && (failed || src.skip == byFailure):
		return blocks
	case edge.On == plan.OnFail && !failed:
		return falseEdge
	}
	if edge.When != nil || edge.Else {
		switch f.verdicts[e] {
		case notEvaluated:
			return unevaluated
		case isFalse:
			return falseEdge
		}
	}
	switch {
	case edge.When != nil:
		return live // even if the source was skipped
	case gone && (edge.Else || edge.On == plan.OnSuccess):
		return noEffect
	}
	return live
}

package machine

import (
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// began returns the node of a visit as it was when the visit began.
func (t *walk) began(v *visit) *plan.Node {
	if t.visited != nil {
		return &t.visited.Nodes[v.Node]
	}
	return v.def()
}

func (f *frame) visitEvent(e core.EventType, t *walk, v *visit) core.Event {
	n := t.began(v)
	ev := core.Event{Type: e, Node: f.name(n.ID), Kind: n.Kind, Phase: n.Phase, Visit: v.Count}
	if v.parent != nil {
		ev.Unit = f.name(t.id(v.parent.Node))
	}
	return ev
}

// visitNote is visitEvent for an event that needs no more than an Emission.
func (f *frame) visitNote(what eventSet, t *walk, v *visit) Emission {
	e := f.nodeNote(what, t.began(v))
	e.visit = int32(v.Count)
	if v.parent != nil {
		e.unit = t.id(v.parent.Node)
	}
	return e
}

func (f *frame) emitVisitStarted(t *walk, v *visit) {
	if f.m.opts.Events {
		e := f.visitNote(nodeStarted, t, v)
		e.attempt = v.Number
		f.m.note(e)
	}
}

func (f *frame) emitVisitEnded(t *walk, v *visit, o *Outcome) {
	if !f.m.opts.Events {
		return
	}
	took := max(0, f.m.now-v.Started)
	if o.Failure == nil && o.Why == "" {
		e := f.visitNote(nodeFinished, t, v)
		e.status, e.took = statusOf(o), took
		f.m.note(e)
		return
	}
	e := f.visitEvent(core.NodeFinished, t, v)
	e.Status, e.Reason, e.Duration = statusOf(o).String(), o.Why, time.Duration(took)
	if o.Failure != nil {
		e.Type, e.Error, e.Reason = core.NodeFailed, o.Failure, o.Failure.Message
	}
	f.m.emit(e)
}

func (f *frame) emitVisitWrites(t *walk, v *visit, writes []plan.Write) {
	if f.m.opts.Events {
		f.emitWrites(f.visitNote(0, t, v), writes)
	}
}

// emitChosen emits the edge that the walk follows after a visit.
func (f *frame) emitChosen(t *walk, v *visit, r route) {
	if !f.m.opts.Events {
		return
	}
	e := f.routeEvent(t, v, r.step)
	e.To, e.Reason = t.id(r.to), r.reason
	if r.edge >= 0 {
		edge := &f.p.Edges[r.edge]
		e.Label = t.w.Edges[r.edge].Label
		if edge.When != nil {
			e.When, e.Values = edge.When.Source(), f.explain(edge.When, walkEnv{t, v.Count})
		}
		if t.w.Edges[r.edge].LoopRestart {
			e.Reason += "; the walk starts again there"
		}
	}
	f.m.emit(e)
}

// routeEvent returns the event of a decision after a visit.
func (f *frame) routeEvent(t *walk, v *visit, step string) core.Event {
	e := f.visitEvent(core.EdgeChosen, t, v)
	e.Kind, e.Phase = "", ""
	e.From, e.Step, e.Status = t.id(v.Node), step, t.Nodes[v.Node].Last.String()
	return e
}

func (f *frame) emitJoinDecided(t *walk, v *visit) {
	if f.m.opts.Events {
		e := f.visitEvent(core.JoinDecided, t, v)
		e.Status, e.Reason, e.Nodes = v.Fork.Status.String(), v.Fork.Reason+t.givenUpText(v), t.winners(v)
		f.m.emit(e)
	}
}

// emitBranchSkipped emits that a branch of a parallel node never began.
func (f *frame) emitBranchSkipped(t *walk, v *visit, node int32) {
	if f.m.opts.Events {
		e := f.nodeEvent(core.NodeSkipped, &f.p.Nodes[node])
		e.Unit, e.Status, e.Reason = f.name(t.id(v.Node)), core.Skipped.String(), v.Fork.Reason
		e.Cause = e.Unit
		f.m.emit(e)
	}
}

// locate adds the visit to an event.
func (t *walk) locate(e *core.Event, id ID) {
	if v := t.visit(id); v != nil {
		e.Visit = v.Count
		if v.parent != nil {
			e.Unit = t.f.name(t.id(v.parent.Node))
		}
	}
}

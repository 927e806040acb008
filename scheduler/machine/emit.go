package machine

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (f *frame) nodeEvent(t core.EventType, n *plan.Node) core.Event {
	e := core.Event{Type: t, Node: f.name(n.ID), Kind: n.Kind, Phase: n.Phase}
	if !f.p.Mode.Visits {
		e.Level = core.Nth(int(f.p.Vertices[n.Vertex].Level))
	}
	return e
}

// vertexEvent returns an event about the node or unit of a vertex.
func (f *frame) vertexEvent(t core.EventType, v int32) core.Event {
	pv := &f.p.Vertices[v]
	if pv.Node >= 0 {
		return f.nodeEvent(t, &f.p.Nodes[pv.Node])
	}
	return core.Event{Type: t, Unit: f.name(pv.ID), Phase: pv.Unit.Phase, Level: core.Nth(int(pv.Level))}
}

// emitSources emits the external sources that the nodes of a document use, such as prompts in
// files. For a walk that a model routes the event is emitted even if there are none.
func (m *Machine) emitSources(p *plan.Plan) {
	if _, routed := p.Router(); !m.opts.Events || len(p.Workflow.Sources) == 0 && !routed {
		return
	}
	list := make([]any, len(p.Workflow.Sources))
	for i, s := range p.Workflow.Sources {
		o := value.ObjectOf("field", s.Field, "kind", s.Kind)
		if s.Name != "" {
			o.Set("name", s.Name)
		}
		if s.Hash != "" {
			o.Set("hash", s.Hash)
		}
		list[i] = o
	}
	m.emit(core.Event{Type: core.SourcesResolved, Values: value.ObjectOf("sources", list)})
}

func (f *frame) emitReady(v int32) {
	if !f.m.opts.Events {
		return
	}
	if n := f.p.Vertices[v].Node; n >= 0 {
		f.m.note(f.nodeNote(nodeReady, &f.p.Nodes[n]))
	} else {
		f.m.emit(f.vertexEvent(core.NodeReady, v))
	}
}

func (f *frame) emitAttempt(n *plan.Node, id ID) {
	if f.m.opts.Events {
		e := f.nodeNote(nodeStarted, n)
		e.attempt = id.Attempt
		f.m.note(e)
	}
}

func (f *frame) emitUnitStarted(id string, n *plan.Node, unit string, total int) {
	if !f.m.opts.Events {
		return
	}
	e := core.Event{Type: core.NodeStarted, Unit: f.name(unit), Attempt: 1}
	if n != nil {
		e = f.nodeEvent(core.NodeStarted, n)
		e.Attempt = 1
	}
	if total >= 0 {
		e.Total = core.Nth(total)
	}
	f.m.emit(e)
}

func (f *frame) emitItemStarted(n *plan.Node, id ID) {
	if f.m.opts.Events {
		e := f.nodeNote(itemStarted, n)
		e.item, e.attempt = core.Nth(int(id.From)), id.Attempt
		f.m.note(e)
	}
}

func (f *frame) emitItemEnded(n *plan.Node, i int, attempt int32, o *Outcome) {
	if !f.m.opts.Events {
		return
	}
	if plainSuccess(o) {
		e := f.nodeNote(itemFinished, n)
		e.item, e.attempt, e.status = core.Nth(i), attempt, core.Success
		f.m.note(e)
		return
	}
	e := f.nodeEvent(core.ItemFinished, n)
	e.Item, e.Attempt = core.Nth(i), int(attempt)
	f.m.emit(itemEndEvent(e, o))
}

// plainSuccess reports whether the event of the end of an item needs no more than its status, which
// is Success.
func plainSuccess(o *Outcome) bool {
	return o.Failure == nil && o.Status <= core.Success && o.Why == ""
}

// itemEndEvent completes the event of an item that has ended.
func itemEndEvent(e core.Event, o *Outcome) core.Event {
	e.Status = core.Success.String()
	switch {
	case o.Failure != nil:
		e.Type, e.Status, e.Error = core.ItemFailed, core.Fail.String(), o.Failure
	case o.Status == core.PartialSuccess:
		e.Status = o.Status.String()
	}
	e.Reason = o.Why
	return e
}

func (f *frame) memberNote(what eventSet, u *plan.Unit, n *plan.Node, id ID) Emission {
	e := f.nodeNote(what, n)
	e.unit, e.attempt = u.ID, id.Attempt
	if u.IsLoop {
		e.round = core.Nth(int(id.From))
	} else {
		e.item = core.Nth(int(id.From))
	}
	return e
}

func (f *frame) memberEvent(u *plan.Unit, n *plan.Node, id ID) core.Event {
	e := f.nodeEvent(core.ItemStarted, n)
	e.Unit, e.Attempt = f.name(u.ID), int(id.Attempt)
	if u.IsLoop {
		e.Round = core.Nth(int(id.From))
	} else {
		e.Item = core.Nth(int(id.From))
	}
	return e
}

func (f *frame) emitMemberStarted(u *plan.Unit, n *plan.Node, id ID) {
	if f.m.opts.Events {
		f.m.note(f.memberNote(itemStarted, u, n, id))
	}
}

func (f *frame) emitMemberEnded(u *plan.Unit, n *plan.Node, id ID, o *Outcome) {
	if !f.m.opts.Events {
		return
	}
	if plainSuccess(o) {
		e := f.memberNote(itemFinished, u, n, id)
		e.status = core.Success
		f.m.note(e)
		return
	}
	e := f.memberEvent(u, n, id)
	e.Type = core.ItemFinished
	f.m.emit(itemEndEvent(e, o))
}

func (f *frame) emitRetrying(n *plan.Node, id ID, o *Outcome, delay time.Duration) {
	if !f.m.opts.Events {
		return
	}
	e := f.nodeEvent(core.NodeRetrying, n)
	e.Attempt, e.Error, e.Delay = int(id.Attempt), o.Failure, delay
	f.mode.locate(&e, id)
	e.Reason = fmt.Sprintf("attempt %d of %d failed", id.Attempt, n.Retry.Attempts)
	if o.Failure == nil {
		e.Reason = fmt.Sprintf("attempt %d of %d asked to be run again", id.Attempt, n.Retry.Attempts)
		if o.Note != "" {
			e.Reason += ": " + o.Note
		}
	}
	f.m.emit(e)
}

// emitEnd emits the events of the end of a plain node that did not fail.
func (f *frame) emitEnd(n *plan.Node, s core.Status, writes []plan.Write) {
	if f.m.opts.Events {
		f.emitWrites(f.nodeNote(0, n), writes)
		f.wrote(f.plainID(n.Vertex), writes)
		f.emitFinished(n.Vertex, s)
	}
}

func (f *frame) emitFinished(v int32, s core.Status) {
	if !f.m.opts.Events {
		return
	}
	n := f.p.Vertices[v].Node
	if reason := f.Changes[n]; n < 0 || reason != "" {
		e := f.vertexEvent(core.NodeFinished, v)
		e.Status, e.Duration, e.Total = s.String(), f.duration(v), f.pulled(v)
		e.Reason = reason
		f.m.emit(e)
		return
	}
	e := f.nodeNote(nodeFinished, &f.p.Nodes[n])
	e.status, e.took, e.total = s, int64(f.duration(v)), f.pulled(v)
	f.m.note(e)
}

// pulled returns the number of items of a fan-out over a stream, which is known only at its end.
func (f *frame) pulled(v int32) core.Ordinal {
	if t, ok := f.task(v).(*fanOut); ok && t.n.Puller != nil {
		return core.Nth(t.countedItems())
	}
	return 0
}

func (f *frame) emitFailed(v int32, fail *core.Failure) {
	if f.m.opts.Events {
		e := f.vertexEvent(core.NodeFailed, v)
		e.Status, e.Duration, e.Error, e.Reason, e.Total = core.Fail.String(), f.duration(v), fail, fail.Message, f.pulled(v)
		f.m.emit(e)
	}
}

// emitHandled emits that a failure does not fail the run because of an edge, or because of the
// policy if edge is -1.
func (f *frame) emitHandled(v, edge int32) {
	if !f.m.opts.Events {
		return
	}
	e := f.vertexEvent(core.NodeHandled, v)
	e.Reason = "tolerated by its policy (on_error)"
	if edge >= 0 {
		e.From, e.To = f.p.Nodes[f.p.Edges[edge].FromNode].ID, f.p.Nodes[f.p.Edges[edge].ToNode].ID
		e.Reason = fmt.Sprintf("handled by the edge %s -> %s (on: fail)", e.From, e.To)
	}
	f.m.emit(e)
}

func (f *frame) emitUnitFinished(v int32, s core.Status, reason string, passes int, fail *core.Failure) {
	if f.m.opts.Events {
		e := f.vertexEvent(core.UnitFinished, v)
		e.Status, e.Duration, e.Reason, e.Error, e.Total = s.String(), f.duration(v), reason, fail, core.Nth(passes)
		f.m.emit(e)
	}
}

func (f *frame) duration(v int32) time.Duration {
	return time.Duration(max(0, f.v[v].Ended-f.v[v].Started))
}

func (f *frame) emitSkipped(v int32) {
	if !f.m.opts.Events {
		return
	}
	nodes := []int32{f.p.Vertices[v].Node}
	if u := f.p.Vertices[v].Unit; u != nil {
		nodes = u.Members
	}
	for _, n := range nodes {
		e := f.nodeEvent(core.NodeSkipped, &f.p.Nodes[n])
		if u := f.p.Vertices[v].Unit; u != nil {
			e.Unit = f.name(u.ID)
		}
		e.Status = core.Skipped.String()
		e.Reason, e.Cause = f.skipText(v)
		if at, ok := f.endReason(v).Edge.Get(); ok {
			edge := &f.p.Edges[at]
			e.From, e.To = f.p.Nodes[edge.FromNode].ID, f.p.Nodes[edge.ToNode].ID
			e.When = whenText(edge)
		}
		f.m.emit(e)
	}
}

// skipText explains a skip. cause is the node where the failure or skip behind it began, "" if it
// is the vertex's own condition.
func (f *frame) skipText(v int32) (reason, cause string) {
	why := f.endReason(v)
	root := int32(why.Cause) - 1 // -1 if there is none
	switch f.v[v].Skip {
	case skipJoin:
		return f.joinText(v), ""
	case skipAssumed:
		return (&Assumption{Status: core.Skipped}).reason(), ""
	case skipRace:
		return f.raceText(root), f.name(f.p.Vertices[root].ID)
	}
	if e, ok := why.Edge.Get(); ok {
		edge := &f.p.Edges[e]
		from := f.p.Nodes[edge.FromNode].ID
		if f.v[v].Skip == skipFailure {
			cause = f.failureOrigin(root)
			if reason = f.joinText(v); reason != "" {
				reason += ": "
			}
			if root == edge.From {
				return fmt.Sprintf("%s%s failed", reason, cause), f.name(cause)
			}
			return fmt.Sprintf("%s%s was skipped because %s failed", reason, from, cause), f.name(cause)
		}
		if edge.On == plan.OnFail && f.v[edge.From].Status != core.Fail {
			return fmt.Sprintf("%s did not fail (on: fail)", from), ""
		}
		return fmt.Sprintf("the condition on %s -> %s is false: %s", from, f.p.Nodes[edge.ToNode].ID, whenText(edge)), ""
	}
	return "every predecessor was skipped", f.name(f.failureOrigin(root))
}

// failureOrigin returns the node where the failure of a vertex began. For a unit that is the
// member that failed first, unless the unit itself failed.
func (f *frame) failureOrigin(v int32) string {
	if t, ok := f.task(v).(*unit); ok && t.Failed > 0 {
		return f.p.Nodes[t.u.Members[t.FailAt[1]]].ID
	}
	return f.p.Vertices[v].ID
}

func whenText(e *plan.Edge) string {
	switch {
	case e.Else:
		return "else"
	case e.When != nil:
		return e.When.Source()
	}
	return ""
}

func (f *frame) emitEvaluated(e int32, ok bool, env expressions.Env) {
	if !f.m.opts.Events {
		return
	}
	edge := &f.p.Edges[e]
	ev := core.Event{Type: core.EdgeJudged, Node: f.name(f.p.Nodes[edge.ToNode].ID), From: f.p.Nodes[edge.FromNode].ID,
		To: f.p.Nodes[edge.ToNode].ID, When: whenText(edge), Result: &ok}
	if edge.When != nil {
		ev.Values = f.explain(edge.When, env)
	}
	f.m.emit(ev)
}

// unitName is name for a unit, or "" if there is none.
func (f *frame) unitName(id string) string {
	if id == "" {
		return ""
	}
	return f.name(id)
}

// emitWrites emits the events of writes. e is the emission without them: the node, item, round or
// visit that wrote, and for an item possibly the event of its end.
func (f *frame) emitWrites(e Emission, writes []plan.Write) {
	if !f.m.opts.Events {
		return
	}
	for {
		rest := e.take(writes)
		if e.wrote != 0 {
			e.what |= stateWritten
		}
		if e.what != 0 {
			f.m.note(e)
		}
		if len(rest) > 0 && len(rest) == len(writes) { // not one of the declared writes, or one of too many
			w := &rest[0]
			rest = rest[1:]
			f.m.emit(core.Event{Type: core.StateWritten, Node: f.name(e.node.ID), Kind: e.node.Kind, Phase: e.node.Phase, Level: e.level,
				Unit: f.unitName(e.unit), Item: e.item, Round: e.round, Visit: int(e.visit), Field: f.p.Schema.Fields[w.Field].Name, Null: w.Value == nil})
		}
		if writes = rest; len(writes) == 0 {
			return
		}
		e.what, e.wrote, e.null = 0, 0, 0
	}
}

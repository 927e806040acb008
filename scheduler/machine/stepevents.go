package machine

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// emitStep emits where a walk continues after a visit, with all that has decided it, so that the
// decision can be made again from the event.
func (t *bySteps) emitStep(v *visit, r route) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.f.routeEvent(t.walk, v, r.step)
	e.Reason = r.reason
	switch {
	case r.unknown:
		e.To = r.name
	case r.to < 0:
		e.To = core.End
	default:
		e.To = t.id(r.to)
	}
	if r.edge >= 0 {
		e.Label, e.When = t.w.Edges[r.edge].Label, t.f.p.CondText(r.edge)
	}
	e.Values = t.visitValues(v)
	t.judged = nil
	t.f.m.emit(e)
}

// visitValues returns what decided where the walk continues, nil if there is nothing but the edges.
func (t *bySteps) visitValues(v *visit) *value.Object {
	o, e := value.NewObject(4), &t.Finished
	set := func(key string, is bool, value any) {
		if is {
			o.Set(key, value)
		}
	}
	set("jump", e.Jump != "", e.Jump)
	set("tool_calls", len(e.Result.ToolCalls) > 0, anys(e.Result.ToolCalls))
	set("tool_loop", e.Result.ToolLoop, true)
	set("next", e.Result.Next != "", e.Result.Next)
	set("guards_failed", len(e.Result.GuardsFailed) > 0, anys(e.Result.GuardsFailed))
	out := t.f.p.Deciding(v.Node, e.output())
	set("output", out.Len() > 0, out)
	set("conditions", len(t.judged) > 0, t.judged)
	if o.Len() == 0 {
		return nil
	}
	return o
}

// noteJudged keeps a condition that step 4 has looked at for the event, and emits an event if it
// panicked.
func (t *bySteps) noteJudged(edge int32, holds, panicked bool) {
	if !t.f.m.opts.Events {
		return
	}
	to, text := t.f.p.TargetID(edge), t.f.p.CondText(edge)
	judged := value.ObjectOf("to", to, "when", text, "holds", holds)
	if when := t.f.p.Edges[edge].When; when != nil {
		judged.Set("values", t.f.explain(when, t.env()))
	}
	if panicked {
		judged.Set("panicked", true)
	}
	t.judged = append(t.judged, judged)
	if panicked {
		from, no := t.id(t.Last.Node), false
		t.f.m.emit(core.Event{Type: core.EdgeJudged, Node: t.f.name(from), Visit: t.Nodes[t.Last.Node].Visits, From: from, To: to, When: text, Result: &no,
			Reason: "the condition panicked or did not return, so it does not hold"})
	}
}

// reason describes a choice.
func (t *bySteps) reason(v *visit, c *steps.Choice) string {
	if !t.f.m.opts.Events && c.Step != steps.Jump {
		return ""
	}
	id := t.id(v.Node)
	switch c.Step {
	case steps.Jump:
		return id + " asks for it"
	case steps.ToolLoop:
		return fmt.Sprintf("%s wants to see the results of %s", id, strings.Join(t.Finished.Result.ToolCalls, ", "))
	case steps.Route:
		return fmt.Sprintf("%s of the output names it", c.Key)
	case steps.NextNode:
		return "the code of " + id + " names it"
	case steps.Edges:
		if text := t.f.p.CondText(c.Edge); text != "" {
			return text + " holds"
		}
		return "the edge has no condition"
	case steps.Transitions:
		return fmt.Sprintf("%s of the output is set", c.Key)
	case steps.DefaultNext:
		return "it is the default of " + id
	}
	return "nothing leads on from " + id
}

// emitMutation emits that a change of the graph, or a jump, was accepted, or rejected if err is not nil.
func (t *bySteps) emitMutation(v *visit, m *core.Mutation, update any, err error) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.f.visitEvent(core.GraphChanged, t.walk, v)
	e.Kind, e.Phase = "", ""
	e.Step, e.From, e.To = m.Action, m.From, m.To
	if err != nil {
		e.Type, e.Reason = core.GraphRejected, err.Error()
	}
	switch {
	case m.Config != nil:
		e.Values = value.ObjectOf("config", m.Config)
	case m.Node != "":
		e.Values = value.ObjectOf("node", m.Node)
	case update != nil:
		e.Values = value.ObjectOf("update", update)
	}
	t.f.m.emit(e)
}

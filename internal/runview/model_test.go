package runview

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/rehearse/rehearsetest"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// An item whose write is rejected used to be shown as successful: whether a set_once write
// succeeds is decided after all items have ended.
func TestRefusedItemsAreFailures(t *testing.T) {
	p, rec := rehearsetest.Run(t, `
name: once
state:
  schema:
    rows: {type: array, default: [1, 2, 3]}
    first: {merge: set_once}
graph:
  nodes: [{id: pick, kind: tool, impl: a, writes: [first], for_each: {source: $.rows}}]
`, `
nodes:
  pick: [{sleep: 1s, delta: {first: 1}}]
`)
	events := rec.Events
	m := New(p.Describe())
	for i := range events {
		m.Apply(&events[i])
		if r := m.nodes["pick"]; r.Done > 0 && r.Failed < r.Done-1 {
			t.Errorf("after %s %v: %d items are done, %d of them failed", events[i].Type, events[i].Item, r.Done, r.Failed)
		}
	}
	if r := m.nodes["pick"]; r.Done != 3 || r.Failed != 2 || r.State != Failed {
		t.Errorf("%d items are done, %d of them failed, state %d", r.Done, r.Failed, r.State)
	}
}

// TestFlowRows shows what the log of a flow says in the rows of its nodes: answers stay after the end, and an
// approval that is asked later has a row before it begins.
func TestFlowRows(t *testing.T) {
	d := &plan.Description{Name: "f", Mode: plan.ModeDescription{Visits: true}}
	for _, id := range []string{"write", "check", "ask", "later"} {
		d.Levels = append(d.Levels, []plan.VertexDescription{{ID: id, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: id}}}})
	}
	m := New(d)
	for _, e := range []core.Event{
		{Type: core.NodeStarted, Node: "write", Visit: 1},
		{Type: core.FlowLogged, Node: "write", Visit: 1, Step: core.LogStepStart, Log: "Agent agent node"},
		{Type: core.FlowLogged, Node: "write", Visit: 1, Step: core.LogLLMResponse, Log: "a letter"},
		{Type: core.NodeFinished, Node: "write", Visit: 1, Status: core.Success.String()},
		{Type: core.EdgeChosen, Node: "write", From: "write", To: "check", Visit: 1, Step: core.StepToken},
		{Type: core.NodeStarted, Node: "check", Visit: 1},
		{Type: core.NodeFinished, Node: "check", Visit: 1, Status: core.Success.String()},
		{Type: core.EdgeChosen, Node: "check", From: "check", To: "ask", Visit: 1, Step: core.StepToken, Reason: "no condition holds"},
		{Type: core.NodeStarted, Node: "ask", Visit: 1},
		{Type: core.NodeAsked, Node: "ask", Visit: 1, Reason: "Send it?"},
		{Type: core.FlowLogged, Node: "later", Visit: 1, Step: core.LogStepStart, Log: "approval node"},
	} {
		m.Apply(&e)
	}
	want := map[string]string{"write": "llm_response: a letter", "check": "then ask: no condition holds", "ask": "asks: Send it?", "later": "asked later"}
	for _, r := range m.Rows {
		if r.Text != want[r.ID] {
			t.Errorf("%s: %q, want %q", r.ID, r.Text, want[r.ID])
		}
	}
	if len(m.Rows) != 4 || m.Rows[3].State != Waiting || m.Rows[2].State != Running {
		t.Errorf("%d rows", len(m.Rows))
	}
	m.Apply(&core.Event{Type: core.NodeAnswered, Node: "ask", Visit: 1, Label: "approve"})
	if got := m.Rows[2].Text; got != "answered: approve" {
		t.Errorf("an approval that is answered: %q", got)
	}
	m.Apply(&core.Event{Type: core.NodeStarted, Node: "later", Visit: 1})
	if len(m.Rows) != 4 || m.Rows[3].State != Running || m.Visits != 4 {
		t.Errorf("an approval that is asked has %d rows, %d visits", len(m.Rows), m.Visits)
	}
}

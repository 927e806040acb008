package machine

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// writer is a ValueHandler for the field x. The test answers for it.
type writer struct{ core.HandlerFunc }

func (writer) ValueField() string { return "x" }
func (writer) HandleValue(context.Context, core.Input) (any, bool, error) {
	return nil, false, nil
}

// TestReuse: a call that was given back is issued again without its old values, and only calls of
// nodes with a plan.Node.Value are.
func TestReuse(t *testing.T) {
	text := func(names ...string) (list []source.Text) {
		for _, s := range names {
			list = append(list, source.Text{Value: s})
		}
		return list
	}
	node := func(id string, h core.Handler, reads ...string) *core.Node {
		return &core.Node{ID: text(id)[0], Reads: text(reads...), Writes: text("x"), HasWrites: true, Handler: h}
	}
	w := &core.Workflow{Name: text("w")[0], Nodes: []*core.Node{
		node("a", writer{}, "x", "f1", "f2", "f3", "f4"), node("b", writer{}, "x"), node("c", core.HandlerFunc(nil), "x"), node("d", core.HandlerFunc(nil), "x"), node("e", writer{}),
	}}
	for i, n := range w.Nodes[1:] {
		w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[i].ID, To: n.ID})
	}
	for _, name := range []string{"x", "f1", "f2", "f3", "f4"} {
		w.Fields = append(w.Fields, core.FieldDecl{Name: text(name)[0], Default: name})
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	m, err := New(p, value.ObjectOf("x", "given"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]*Call{}
	for i, want := range []string{"[given f1 f2 f3 f4]", "[0]", "[1]", "[2]", "[]"} {
		c := m.Next()[0]
		if got := fmt.Sprint(c.Call.Values); got != want {
			t.Fatalf("%s gets %s, want %s", c.Node.ID, got, want)
		}
		if view, ok := c.Call.View(); !ok || (view == nil) != (want == "[]") || c.Call.Inputs.Len() != 1 {
			t.Errorf("%s gets the view %v and the inputs %v", c.Node.ID, view, c.Call.Inputs)
		}
		for k, v := range c.Call.view.All() {
			if c.Node.View[0] != "x" || k == "x" && v != c.Call.Values[0] {
				t.Errorf("%s sees %s = %v", c.Node.ID, k, v)
			}
		}
		calls[c.Node.ID] = c.Call
		m.Reuse(c.Call)
		m.Apply(&Event{Kind: Finished, ID: c.ID, Outcome: Outcome{Writes: []plan.Write{{Field: c.Node.WriteFields[0], Value: fmt.Sprint(i)}}}})
	}
	if calls["a"] != calls["b"] {
		t.Error("the call of a was not used again")
	}
	if calls["c"] == calls["b"] || calls["d"] == calls["c"] || fmt.Sprint(calls["c"].Values) != "[1]" {
		t.Errorf("a call was used again whose handler may keep its input: %v", calls["c"].Values)
	}
	for _, v := range calls["a"].Values[:cap(calls["a"].Values)] {
		if v != nil {
			t.Errorf("a call that was given back keeps %v", v)
		}
	}
}

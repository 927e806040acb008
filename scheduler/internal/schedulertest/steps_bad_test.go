package schedulertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// compile returns the plan of a case.
func (c *stepsCase) compile(t *testing.T) *plan.Plan {
	t.Helper()
	w, reg := c.workflow()
	p, ds := plan.Compile(w, reg, plan.Options{AddedKinds: []string{"note"}})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// TestStepsMutationStorm lets one visit ask for 100 changes: 10 are made, the others are rejected with a
// reason, and the walk goes on by the graph that it then has.
func TestStepsMutationStorm(t *testing.T) {
	var storm []core.Mutation
	for range 100 {
		storm = append(storm, core.Mutation{Action: core.MutationAddEdge, From: "a", To: "b"})
	}
	c := stepsCase{nodes: "a b", results: map[string][]core.Result{"a": results(saying(sends(), core.Routing{Mutations: storm}))}}
	p := c.compile(t)
	var events []core.Event
	changed, rejected := 0, 0
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
		events = append(events, e)
		switch e.Type {
		case core.GraphChanged:
			changed++
		case core.GraphRejected:
			if rejected++; !strings.Contains(e.Reason, "as many changes of its graph as it may") {
				t.Errorf("rejected: %s", e.Reason)
			}
		}
	}})
	if err != nil || changed != 10 || rejected != 90 || strings.Join(r.Path, " ") != "a b" {
		t.Errorf("%d changes, %d rejected, path %v, %v", changed, rejected, r.Path, err)
	}
	if v := violations(p, events); v != nil {
		t.Error(v)
	}
	if len(p.Changes()) > 0 || len(p.Edges) > 0 {
		t.Errorf("the graph of the caller has changed: %v, %d edges", p.Changes(), len(p.Edges))
	}
}

// TestStepsOfAnotherGraph gives the snapshot and the journal of a walk to walks with another graph: none of
// them goes on.
func TestStepsOfAnotherGraph(t *testing.T) {
	base := func(change func(*core.Workflow)) *plan.Plan {
		c := stepsCase{nodes: "a b c", edges: []string{"a b 1 $visits == 1", "a c", "b c"}, change: change,
			results: map[string][]core.Result{"a": results(saying(sends("ok", true), core.Routing{Mutations: []core.Mutation{add("b", "a")}}))}}
		return c.compile(t)
	}
	p := base(nil)
	j := &Journal{}
	if _, _, err := (Hostile{Journal: j}).Run(p, nil, machine.Options{Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	m, err := machine.New(p, nil, machine.Options{Concurrency: 1, AddedKinds: p.AddedKinds()})
	if err != nil {
		t.Fatal(err)
	}
	m.Next()
	snapshot, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Restore(base(nil), snapshot); err != nil {
		t.Errorf("the snapshot of the same graph: %v", err)
	}
	if _, err := j.replay(len(j.records), nil); err != nil {
		t.Errorf("the journal of the same graph: %v", err)
	}
	for name, tt := range map[string]struct {
		change func(*core.Workflow)
		path   bool // the walk takes another path
	}{
		"an edge less":      {func(w *core.Workflow) { w.Edges = w.Edges[1:] }, true},
		"another priority":  {func(w *core.Workflow) { w.Edges[1].Priority.Value = 2 }, true},
		"another target":    {func(w *core.Workflow) { w.Edges[0].To = text("c") }, true},
		"another condition": {func(w *core.Workflow) { w.Edges[0].When = &source.Text{Value: "$visits == 2"} }, true},
		"no changes":        {func(w *core.Workflow) { w.Walk.MaxMutations = &source.Int{Value: 0} }, false},
		"a transition":      {transitions("c", "ok a"), false},
		"a default":         {defaultNext("c", "b"), true},
		"a loop":            {loop("c", "a", "$visits == 9", 2), true},
		"a limit":           {mostVisits("a", 2), false},
		"a critical node":   {func(w *core.Workflow) { stepNode(w, "b").Critical = true }, false},
	} {
		q := base(tt.change)
		if _, err := machine.Restore(q, snapshot); !errors.Is(err, machine.ErrOtherWorkflow) {
			t.Errorf("%s: the snapshot is restored: %v", name, err)
		}
		if !tt.path {
			continue
		}
		other := *j
		other.codec.Plan = q
		_, err := other.replay(len(j.records), nil)
		if _, diverged := errors.AsType[*journal.DivergedError](err); !diverged {
			t.Errorf("%s: the journal is replayed: %v", name, err)
		}
	}
}

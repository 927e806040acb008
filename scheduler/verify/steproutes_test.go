package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// stepsLog returns the plan of a random walk by steps, and the log of a run of it.
func stepsLog(t *testing.T, seed uint64) (*plan.Plan, log) {
	t.Helper()
	g := schedulertest.GenerateSteps(seed)
	w, reg := g.Workflow()
	p, ds := plan.Compile(w, reg, plan.Options{AddedKinds: g.Kinds})
	if p == nil {
		t.Fatal(ds)
	}
	var l log
	_, _ = scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { l = append(l, e) }})
	return p, l
}

// falsify returns the ways in which an event of a walk by steps is made false, each of which
// must be noticed.
func falsify(e core.Event) map[string]core.Event {
	out := map[string]core.Event{}
	switch e.Type {
	case core.EdgeChosen:
		to := e
		if to.To = core.End; e.To == core.End {
			to.To = e.From
		}
		out["another target"] = to
		step := e
		if step.Step = core.StepNextNode; e.Step == core.StepNextNode {
			step.Step = core.StepDefault
		}
		out["another step"] = step
		list, _ := e.Values.Get("conditions")
		conditions, _ := list.([]any)
		if len(conditions) == 0 {
			break
		}
		flipped := e
		last := conditions[len(conditions)-1].(*value.Object).Copy(0)
		holds, _ := last.Get("holds")
		last.Set("holds", holds == false)
		flipped.Values = e.Values.Copy(0)
		flipped.Values.Set("conditions", append(slices.Clone(conditions[:len(conditions)-1]), last))
		if e.Step == core.StepEdge { // after another step the edge could also be one to the same node
			out["a condition is false"] = flipped
		}
		less := e
		less.Values = e.Values.Copy(0)
		less.Values.Set("conditions", conditions[:len(conditions)-1])
		out["a condition is missing"] = less
	case core.GraphChanged:
		rejected := e
		rejected.Type, rejected.Reason = core.GraphRejected, "no"
		out["rejected"] = rejected
	case core.GraphRejected:
		changed := e
		changed.Type = core.GraphChanged
		out["accepted"] = changed
	}
	return out
}

// TestPropertyStepsMistakes falsifies the log of walks by steps, one event at a time, and
// leaves out the choices: each mistake is a violation.
func TestPropertyStepsMistakes(t *testing.T) {
	tried := map[string]int{}
	for seed := range uint64(150) {
		p, whole := stepsLog(t, seed+1)
		if r := checked(t, p, whole); len(r.Violations) > 0 {
			t.Fatalf("seed %d: %s", seed+1, words(r))
		}
		for i, e := range whole {
			if e.Type == core.EdgeChosen {
				tried["left out"]++
				if r, err := verify.Events(p, slices.Clone(whole).drop(i).numbered()); err == nil && len(r.Violations) == 0 {
					t.Errorf("seed %d: nobody misses event %d", seed+1, i+1)
				}
			}
			for what, false := range falsify(e) {
				if e.Step == core.MutationRetryWith && what == "accepted" { // the state rejects it, and the log has no state
					continue
				}
				tried[what]++
				l := slices.Clone(whole)
				l[i] = false
				if r, err := verify.Events(p, l); err == nil && len(r.Violations) == 0 { // an error is notice enough
					t.Errorf("seed %d: nobody notices at event %d of %v: %s\n%s", seed+1, i+1, e.Node, what, value.JSON(e.Values))
				}
			}
		}
		if t.Failed() {
			t.Fatal(schedulertest.GenerateSteps(seed + 1))
		}
	}
	for _, what := range []string{"left out", "another target", "another step", "a condition is false", "a condition is missing", "rejected", "accepted"} {
		if tried[what] < 20 {
			t.Errorf("%s: tried %d times", what, tried[what])
		}
	}
}

// TestStepsBudgets checks that a visit beyond the limits is noticed.
func TestStepsBudgets(t *testing.T) {
	for seed := range uint64(200) {
		p, whole := stepsLog(t, seed+1)
		if len(whole) == 0 || !strings.Contains(whole[len(whole)-1].Reason, "visits, as many as it may") || whole[0].Limits.MaxVisits < 2 {
			continue
		}
		limits := *whole[0].Limits
		limits.MaxVisits--
		whole[0].Limits = &limits
		if r := checked(t, p, whole); len(r.Violations) == 0 {
			t.Errorf("seed %d: nobody notices the visit beyond the limit %v", seed+1, limits)
		}
		return
	}
	t.Error("no walk made as many visits as it may")
}

// TestStepsNodeReplacesItself checks that a visit that replaces its own node writes what the node declared
// when the visit began, and nothing else.
func TestStepsNodeReplacesItself(t *testing.T) {
	name := func(s string) source.Text { return source.Text{Value: s} }
	handler := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		config := value.ObjectOf("name", "n", "default_next", core.EndNode)
		return core.Result{Delta: map[string]any{"sum": 2}, Routing: &core.Routing{Mutations: []core.Mutation{
			{Action: core.MutationRemoveNode, Node: "n"}, {Action: core.MutationAddNode, Config: config}}}}, nil
	})
	reg := core.NewRegistry()
	if err := reg.AddTool("note", handler); err != nil {
		t.Fatal(err)
	}
	integer := &value.Type{Kind: value.IntegerType}
	w := &core.Workflow{Name: name("w"), Mode: core.ModeWalk, Walk: &core.Walk{Router: name(core.RouterSteps), Entry: name("n")},
		Fields: []core.FieldDecl{{Name: name("sum"), Type: integer, Default: value.Missing}, {Name: name("other"), Type: integer, Default: value.Missing}},
		Nodes:  []*core.Node{{ID: name("n"), Handler: handler, Writes: []source.Text{name("sum")}, HasWrites: true}}}
	p, ds := plan.Compile(w, reg, plan.Options{AddedKinds: []string{"note"}})
	if p == nil {
		t.Fatal(ds)
	}
	var l log
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { l = append(l, e) }})
	if sum, _ := r.State.Get("sum"); err != nil || sum != int64(2) {
		t.Fatalf("sum = %v, %v", sum, err)
	}
	if v := checked(t, p, l).Violations; len(v) > 0 {
		t.Errorf("the log is correct: %v", v)
	}
	for _, e := range l {
		if e.Node == "n" && e.Kind == "note" {
			t.Errorf("%s of a visit has the kind of the node that the visit has added", e.Type)
		}
	}
	i := slices.IndexFunc(l, func(e core.Event) bool { return e.Type == core.StateWritten })
	l[i].Field = "other"
	if v := checked(t, p, l).Violations; len(v) == 0 || v[0].Rule != verify.Writes {
		t.Errorf("a write that is not declared: %v", v)
	}
}

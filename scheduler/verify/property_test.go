package verify_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// TestPropertyNothingCanBeLeftOut checks that the log of a random graph has no
// violations, and that removing any event causes one. The exceptions are writes,
// because a log may have any number of them, conditions that another edge made
// irrelevant, and items that may be given up at any time. The properties of
// schedulertest check the logs of many more graphs.
func TestPropertyNothingCanBeLeftOut(t *testing.T) {
	dropped := map[core.EventType]int{}
	for seed := range uint64(100) {
		g := schedulertest.Generate(seed+1, schedulertest.Shape{})
		run, err := schedulertest.HostileRun(t, g, schedulertest.OracleRun(g), schedulertest.Hostile{Seed: seed}, machine.Options{Concurrency: 3, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := log(run.Events)
		if r := checked(t, run.Plan, whole); len(r.Violations) > 0 {
			t.Fatalf("seed %d\n%s%s", seed+1, g, words(r))
		}
		for i, e := range whole {
			item, _ := e.Item.Get()
			void := run.Outcome.Void(schedulertest.Execution{Node: e.Node, Item: item})
			if e.Type == core.StateWritten || e.Type == core.EdgeJudged || void {
				continue
			}
			dropped[e.Type]++
			if r := checked(t, run.Plan, slices.Clone(whole).drop(i).numbered()); len(r.Violations) == 0 {
				t.Errorf("seed %d: nobody misses event %d, %s of %s%s item %v round %v", seed+1, i+1, e.Type, e.Node, e.Unit, e.Item, e.Round)
			}
		}
	}
	if len(dropped) < 13 {
		t.Errorf("only %v", dropped)
	}
}

// TestPropertyNothingCanBeLeftOutOfWalks does the same for walks. If a walk ended
// early, its last chosen edge may be removed, because the walk could have ended before
// it.
func TestPropertyNothingCanBeLeftOutOfWalks(t *testing.T) {
	dropped := map[core.EventType]int{}
	for seed := range uint64(100) {
		g := schedulertest.GenerateWalk(seed)
		run, err := schedulertest.HostileRun(t, g, nil, schedulertest.Hostile{Seed: seed}, machine.Options{Concurrency: 3, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := log(run.Events)
		if r := checked(t, run.Plan, whole); len(r.Violations) > 0 {
			t.Fatalf("seed %d\n%s%s", seed, g, words(r))
		}
		// Events of a branch after its first attempt may also be removed if the branch
		// was given up.
		type visit struct {
			node string
			n    int
		}
		last, lost := -1, map[visit]bool{}
		for i, e := range whole {
			if e.Error != nil && e.Error.Class == core.ClassCanceled {
				lost[visit{e.Node, e.Visit}] = true
			}
			if e.Type == core.EdgeChosen && run.Walk.Status == core.RunFailed {
				last = i
			}
		}
		for i, e := range whole {
			again := e.Type == core.NodeRetrying || e.Type == core.NodeStarted && e.Attempt > 1
			if e.Type == core.StateWritten || i == last || again && lost[visit{e.Node, e.Visit}] {
				continue
			}
			dropped[e.Type]++
			if r := checked(t, run.Plan, slices.Clone(whole).drop(i).numbered()); len(r.Violations) == 0 {
				t.Errorf("seed %d: nobody misses event %d, %s of %s%s visit %d", seed, i+1, e.Type, e.Node, e.Unit, e.Visit)
			}
		}
	}
	if len(dropped) != 9 {
		t.Errorf("only %v", dropped)
	}
}

// TestPropertyNothingCanBeLeftOutOfRoutedWalks does the same for walks routed by a
// model, and also redirects edges. If a failure ended the walk at once, its last chosen
// edge may be removed.
func TestPropertyNothingCanBeLeftOutOfRoutedWalks(t *testing.T) {
	dropped, bent := map[core.EventType]int{}, 0
	for seed := range uint64(100) {
		g := schedulertest.GenerateRouted(seed)
		p, ds := plan.Compile(g.Workflow(), core.NewRegistry(), plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		report, events, err := schedulertest.Hostile{Seed: seed, Router: g}.Run(p, g.Inputs(), machine.Options{Concurrency: 3, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := log(events)
		if r := checked(t, p, whole); len(r.Violations) > 0 {
			t.Fatalf("seed %d\n%s%s", seed, g, words(r))
		}
		last := -1
		for i, e := range whole {
			if e.Type == core.EdgeChosen && report.Status == core.RunFailed {
				last = i
			}
		}
		for i, e := range whole {
			if e.Type == core.StateWritten || e.Type == core.SourcesResolved || i == last {
				continue
			}
			// A walk ends by the rules if no model can be asked or no edge can be
			// followed. The end event may be removed only if no edge could be followed.
			dropped[e.Type]++
			if r := checked(t, p, slices.Clone(whole).drop(i).numbered()); len(r.Violations) == 0 {
				t.Errorf("seed %d: nobody misses event %d, %s of %s visit %d\n%s", seed, i+1, e.Type, e.Node, e.Visit, g)
			}
			if e.Type != core.EdgeChosen || e.To == core.End {
				continue
			}
			bent++
			other := slices.Clone(whole)
			other[i].To = g.Nodes[0].ID
			if other[i].To == e.To {
				other[i].To = core.End
			}
			if r := checked(t, p, other); len(r.Violations) == 0 {
				t.Errorf("seed %d: nobody sees that event %d leads to %s, not to %s\n%s", seed, i+1, other[i].To, e.To, g)
			}
		}
	}
	if len(dropped) != 7 || bent < 100 {
		t.Errorf("only %v, %d bent", dropped, bent)
	}
}

// TestFailuresThatEndTheRun checks that the log of a run has no violations if a failure
// ended the run regardless of the policies.
func TestFailuresThatEndTheRun(t *testing.T) {
	fatal := func(_ context.Context, in core.Input) (core.Result, error) {
		if item, ok := in.Item(); ok && item != int64(3) {
			return core.Result{}, nil
		}
		return core.Result{}, core.FailRun(errors.New("boom"))
	}
	for name, change := range map[string]func(w *core.Workflow){
		"plain": func(*core.Workflow) {},
		"skip":  func(w *core.Workflow) { w.Nodes[1].OnError = &core.OnError{Policy: source.Text{Value: "skip"}} },
		"handled": func(w *core.Workflow) {
			w.Edges[1].On, w.Edges[1].Handles = source.Text{Value: "fail"}, &source.Located[bool]{Value: true}
		},
		"retried": func(w *core.Workflow) {
			w.Nodes[1].OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: &source.Int{Value: 3}}
		},
		"items": func(w *core.Workflow) {
			w.Nodes[1].ForEach = &core.ForEach{Source: source.Text{Value: "$.list"}, Concurrency: &source.Int{Value: 2}}
		},
		"pipeline": func(w *core.Workflow) {
			w.Edges = nil
			w.Pipelines = []*core.Pipeline{{ID: source.Text{Value: "p"}, Items: source.Text{Value: "$.list"}, Stages: []source.Text{{Value: "b"}, {Value: "c"}}}}
		},
		"loop": func(w *core.Workflow) {
			w.Edges = nil
			w.Loops = []*core.Loop{{ID: source.Text{Value: "l"}, Body: []source.Text{{Value: "b"}}, MaxIters: &source.Int{Value: 3}, OnError: &core.OnError{Policy: source.Text{Value: "skip"}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &core.Workflow{Name: source.Text{Value: "w"}}
			w.Fields = []core.FieldDecl{{Name: source.Text{Value: "list"}, Default: []any{int64(1), int64(2), int64(3), int64(4), int64(5)}}}
			for _, id := range []string{"a", "b", "c", "beside"} {
				n := &core.Node{ID: source.Text{Value: id}, Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })}
				if id == "b" {
					n.Handler = core.HandlerFunc(fatal)
				}
				w.Nodes = append(w.Nodes, n)
			}
			w.Edges = []*core.Edge{{From: w.Nodes[0].ID, To: w.Nodes[1].ID}, {From: w.Nodes[1].ID, To: w.Nodes[2].ID}}
			change(w)
			p, ds := plan.Compile(w, core.NewRegistry(), plan.Options{})
			if p == nil {
				t.Fatal(ds)
			}
			for _, h := range []schedulertest.Hostile{{Seed: 1}, {Seed: 2, JSON: true, Reload: true, Double: true, Split: true}} {
				report, events, err := h.Run(p, nil, machine.Options{Concurrency: 3, Events: true})
				if err != nil {
					t.Fatal(err)
				}
				if report.Status != core.RunFailed || !strings.Contains(report.Err.Error(), "boom") {
					t.Errorf("the run ended %s: %v", report.Status, report.Err)
				}
				if b, _ := report.Node("b"); b.Attempts > 5 {
					t.Errorf("%d attempts", b.Attempts)
				}
				if r := checked(t, p, log(events)); len(r.Violations) > 0 {
					t.Error(words(r))
				}
			}
		})
	}
}

// TestPropertyNonsense checks that the checker handles arbitrary events in any order.
func TestPropertyNonsense(t *testing.T) {
	types := []core.EventType{core.NodeReady, core.NodeStarted, core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.NodeHandled, core.NodeSkipped,
		core.ItemStarted, core.ItemFinished, core.ItemFailed, core.EdgeJudged, core.StateWritten, core.UnitFinished, core.RunFinished,
		core.EdgeChosen, core.JoinDecided, core.NodeAsked}
	graphs := []string{everything, walked}
	plans, logs := make([]*plan.Plan, len(graphs)), make([]log, len(graphs))
	for i, text := range graphs {
		plans[i] = compiled(t, text)
		logs[i] = logged(t, plans[i], scheduler.Options{})
	}
	for seed := range uint64(800) {
		p, whole := plans[seed%2], logs[seed%2]
		rng := rand.New(rand.NewPCG(seed, 1))
		l := slices.Clone(whole)
		for range 1 + rng.IntN(40) {
			i, j := rng.IntN(len(l)), rng.IntN(len(l))
			switch rng.IntN(7) {
			case 0:
				l = l.move(i, min(j, len(l)-1))
			case 1:
				l = l.duplicate(i)
			case 2:
				l = l.drop(i)
			case 3:
				l[i].Type = types[rng.IntN(len(types))]
			case 4:
				l[i].Node, l[i].Unit, l[i].Kind, l[i].Level = l[j].Node, l[j].Unit, "", 0
			case 5:
				l[i].Item, l[i].Round, l[i].Total = core.Ordinal(rng.IntN(5)), core.Ordinal(rng.IntN(5)), core.Ordinal(rng.IntN(5))
			case 6:
				l[i].Attempt, l[i].Status, l[i].Error = rng.IntN(500)-1, "", nil
				l[i].Visit, l[i].Unit, l[i].To, l[i].Step = rng.IntN(4), l[j].Unit, l[j].To, l[j].Step
			}
		}
		c := verify.New(p)
		for i := range l {
			if c.Add(i+1, &l[i]) != nil {
				break // a mismatch ends the check
			}
		}
		c.Finish()
	}
}

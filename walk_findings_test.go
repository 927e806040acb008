package wavefold_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

func idle(context.Context) error { return nil }

// Findings about a walk have the line of the call that they are about.
func TestFindingsOfWalks(t *testing.T) {
	type walk = wavefold.Walk
	base := func(parts ...wavefold.Part) *walk {
		return wavefold.NewWalk("w", append(parts, wavefold.Do("a", idle, wavefold.Entry()), wavefold.Do("b", idle))...)
	}
	for name, tt := range map[string]struct {
		w    *walk
		at   int
		code source.Code
		want string
	}{
		"no entry": {wavefold.NewWalk("w", wavefold.Do("a", idle)),
			line() - 1, source.CodeNoEntry, "the walk has no entry"},
		"two entries": {wavefold.NewWalk("w", wavefold.Do("a", idle, wavefold.Entry()), wavefold.Do("b", idle, wavefold.Entry())).Always("a", "b"),
			line() - 1, source.CodeDuplicate, "node b: node a is the entry, too"},
		"unknown source": {base().Always("a", "b").
			Always("c", "b"),
			line() - 1, source.CodeUnknownSource, `edge c -> b: there is no node "c"`},
		"from the end": {base().Always("a", "b").
			Always(wavefold.End, "b"),
			line() - 1, source.CodeUnknownSource, "edge __end__ -> b: nothing leaves the end of the walk"},
		"unknown target": {base().Always("a", "b").
			OnError("a", "repair"),
			line() - 1, source.CodeUnknownTarget, `edge a -> repair: there is no node "repair"`},
		"unknown transition": {base(wavefold.Do("c", idle,
			wavefold.Transition("ok", "publish"))).Sequential("a", "b", "c"),
			line() - 1, source.CodeUnknownTarget, `node c: transitions.ok: there is no node "publish"`},
		"unknown default": {base(wavefold.Do("c", idle,
			wavefold.DefaultNext("publish"))).Sequential("a", "b", "c"),
			line() - 1, source.CodeUnknownTarget, `node c: default_next: there is no node "publish"`},
		"duplicate node": {base(wavefold.Do("b", idle)).
			Always("a", "b"), 0, source.CodeDuplicateNode, `node "b" is defined twice`},
		"reserved name": {base(
			wavefold.Do("__end__", idle)).Always("a", "b"),
			line() - 1, source.CodeReservedName, "node __end__: the name stands for the end of the walk"},
		"bad loop budget": {base().
			LoopUntil("a", "b", wavefold.CondExpr("true"), 0),
			line() - 1, source.CodeBadLoopBudget, "loop_until a: max_iterations: want at least 1, got 0"},
		"unknown loop exit": {base().Always("a", "b").
			LoopUntil("a", "c", wavefold.CondExpr("$visits > 1"), 2),
			line() - 1, source.CodeUnknownTarget, `there is no node "c"`},
		"unreachable": {base(
			wavefold.Do("c", idle)).Always("a", "b"),
			line() - 1, source.CodeUnreachable, "node c: no edge or transition leads to it from the entry a"},
		"shadowed": {base().Always("a", "b", wavefold.Priority(1)).
			OnError("a", "a"),
			line() - 1, source.CodeShadowedEdge, "edge a -> a: is never followed"},
		"duplicate condition": {base().OnError("a", "b").
			OnToolCall("a", "b"),
			line() - 1, source.CodeDuplicateCondition, "edge a -> b: another edge between the two nodes has a condition and the same priority"},
		"expression": {base().When("a", "b",
			wavefold.CondExpr("$output.ok = true")),
			line() - 1, source.CodeExprSyntax, "edge a -> b: when:"},
		"no condition": {base().
			When("a", "b", wavefold.Condition{}),
			line() - 1, source.CodeMissingKey, "edge a -> b: When has no condition"},
		"nil function": {base().When("a", "b",
			wavefold.CondFunc(nil)),
			line() - 1, source.CodeBadValue, "edge a -> b: CondFunc: the function is nil"},
		"nil typed function": {base().When("a", "b",
			wavefold.CondOutput[int](nil)),
			line() - 1, source.CodeBadValue, "edge a -> b: CondOutput: the function is nil"},
		"output without JSON form": {base().
			OnOutput("a", "b", "c", make(chan int)),
			line() - 1, source.CodeBadValue, "edge a -> b: output: "},
		"no such condition": {base().When("a", "b",
			wavefold.CondNamed("godo")),
			line() - 1, source.CodeUnknownImpl, `edge a -> b: ref: no condition "godo" is registered`},
		"name of an expression": {base().When("a", "b",
			wavefold.CondExpr("true").Named("x")),
			line() - 1, source.CodeBadValue, "edge a -> b: CondExpr: only CondFunc and CondOutput can be given a name"},
		"condition of another router": {base().When("a", "b",
			wavefold.CondText("it is good")),
			line() - 1, source.CodeBadValue, "edge a -> b: a condition CondText means nothing in a walk by steps"},
		"edge option of another router": {base().Always("a", "b",
			wavefold.Weight(3)),
			line() - 1, source.CodeUnknownKey, "edge a -> b: option Weight means nothing in a walk by steps (it is for a walk by outcomes)"},
		"node option of another router": {base(wavefold.Do("c", idle,
			wavefold.GoalGate())).Sequential("a", "b", "c"),
			line() - 1, source.CodeUnknownKey, "node c: option GoalGate means nothing in a walk by steps (it is for a walk by outcomes)"},
		"order of a dag": {base(wavefold.Do("c", idle,
			wavefold.After("a"))).Sequential("a", "b", "c"),
			line() - 1, source.CodeUnknownKey, "node c: option After means nothing in a walk by steps (the methods of Walk add the edges)"},
		"setting of another router": {base(
			wavefold.MaxJumps(3)).Always("a", "b"),
			line() - 1, source.CodeUnknownKey, "MaxJumps means nothing in a walk by steps (it is for a walk by outcomes)"},
		"two functions of one name": {base().When("a", "b", wavefold.CondFunc(func(*core.VisitResult) bool { return true }).Named("n")).When("b", "a",
			wavefold.CondFunc(func(*core.VisitResult) bool { return true }).Named("n")),
			line() - 1, source.CodeDuplicateID, `edge b -> a: another condition has the name "n", too`},
		"loop by outcomes": {wavefold.NewWalk("w", wavefold.ByOutcomes, wavefold.Start("s"), wavefold.Exit("e")).Always("s", "e").
			LoopUntil("s", "e", wavefold.CondExpr("outcome=success"), 3),
			line() - 1, source.CodeUnknownKey, "LoopUntil means nothing in a walk by outcomes (it is for a walk by steps)"},
		"condition by outcomes": {wavefold.NewWalk("w", wavefold.ByOutcomes, wavefold.Start("s"), wavefold.Exit("e")).
			When("s", "e", wavefold.CondExpr("outcome = = fail")),
			line() - 1, source.CodeConditionSyntax, "edge s -> e: condition: "},
		"two routers": {wavefold.NewWalk("w", wavefold.ByOutcomes, wavefold.BySteps, wavefold.Do("a", idle, wavefold.Entry())),
			line() - 1, source.CodeDuplicate, "the walk has two routers"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, d := range tt.w.Graph().Findings() {
				if d.Code != tt.code || !strings.Contains(d.Error(), tt.want) {
					continue
				}
				if tt.at != 0 && (int(d.Pos.Line) != tt.at || filepath.Base(d.Pos.File) != "walk_findings_test.go") {
					t.Errorf("%s is at %s, want line %d", d.Message, d.Pos, tt.at)
				}
				return
			}
			t.Errorf("got %v, want %s: %s", tt.w.Graph().Findings(), tt.code, tt.want)
		})
	}
}

// A sound walk has no findings, and everything that is wrong is reported at once.
func TestAllFindingsOfAWalk(t *testing.T) {
	sound := wavefold.NewWalk("w", wavefold.Do("a", idle, wavefold.Entry()), wavefold.Do("b", idle)).Sequential("a", "b").OnError("a", "a").Always("b", wavefold.End)
	if ds := sound.Graph().Findings(); len(ds) != 0 {
		t.Errorf("got %v", ds)
	}
	wrong := wavefold.NewWalk("", wavefold.Do("a", idle), nil).Always("a", "b").OnOutput("a", "a", "", 1, nil).Sequential().Sequential("a")
	ds := wrong.Graph().Compile().(source.Diagnostics)
	for _, want := range []string{"the graph has no name", "the walk has no entry", `there is no node "b"`, "on: output has no key"} {
		if !strings.Contains(fmt.Sprint(ds), want) {
			t.Errorf("got %v, want %s", ds, want)
		}
	}
	if err := new(wavefold.Walk).Graph().Compile(); err == nil {
		t.Error("the zero Walk compiles")
	}
}

// Parts that exist in dags only are errors in every walk, and settings of walks in a dag.
func TestPartsOfOtherModes(t *testing.T) {
	list, sum, rows := wavefold.NewField[[]int]("list"), wavefold.NewField[[]int]("sum", wavefold.Append), wavefold.NewStream[int]("rows")
	double := func(_ context.Context, n int) (int, error) { return 2 * n, nil }
	for name, part := range map[string]wavefold.Part{
		"Each":     wavefold.Each("x", list, sum, double),
		"ForEach":  wavefold.ForEach("x", list, func(context.Context, int) error { return nil }),
		"Items":    wavefold.Func("x", nil, nil, func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }, wavefold.Items("$.list")),
		"Loop":     wavefold.Loop("l", wavefold.Body{wavefold.Do("x", idle)}, wavefold.MaxIters(2)),
		"Pipeline": wavefold.Pipeline("p", list, wavefold.Stage("x", double)),
		"Stream":   wavefold.StreamSource("x", rows, func(context.Context, func([]int) error) error { return nil }),
		"Fold":     wavefold.StreamFold("x", rows, wavefold.NewField[int]("n"), func(_ context.Context, n int, _ []int) (int, error) { return n, nil }),
	} {
		for _, router := range []wavefold.WalkRouter{wavefold.BySteps, wavefold.ByOutcomes, wavefold.ByModel} {
			w := wavefold.NewWalk("w", router, wavefold.Declare(list), wavefold.Do("a", idle), part)
			if router == wavefold.ByOutcomes {
				w.Add(wavefold.Start("s"), wavefold.Exit("e")).Sequential("s", "a", "x", "e")
			} else {
				w = wavefold.NewWalk("w", router, wavefold.Declare(list), wavefold.Do("a", idle, wavefold.Entry()), part).Sequential("a", "x")
			}
			if got := fmt.Sprint(w.Graph().Findings()); !strings.Contains(got, "exist in dags only") && !strings.Contains(got, "exists in dags only") {
				t.Errorf("%s in %s: %s", name, router, got)
			}
		}
	}
	g := wavefold.New("dag", wavefold.BySteps, wavefold.MaxJumps(2), wavefold.RetryTarget("a"), wavefold.Do("a", idle, wavefold.Critical()), wavefold.Start("b"))
	got := fmt.Sprint(g.Findings())
	for _, want := range []string{"the router means nothing to New (it is for NewWalk)", "MaxJumps means nothing to New", "RetryTarget means nothing to New",
		"option Critical means nothing to Do here (it is for a walk by steps)", "kind start exists in walks only"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

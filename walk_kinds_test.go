package wavefold_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/human"
)

// Each constructor of nodes works in a walk of each router.
func TestPartsInWalks(t *testing.T) {
	in, out, log := wavefold.NewField[int]("in", wavefold.Default(2)), wavefold.NewField[int]("out"), wavefold.NewField[[]string]("log", wavefold.Append)
	inner := wavefold.NewField[int]("inner")
	double := func(_ context.Context, n int) (int, error) { return 2 * n, nil }
	list, sum := wavefold.NewField[[]int]("list", wavefold.Default([]int{1, 2, 3})), wavefold.NewField[[]int]("sum", wavefold.Append)
	dag := wavefold.New("dag", wavefold.Each("each", list, sum, double, wavefold.Limit(2)), wavefold.Map("n", inner, inner, double))
	walked := wavefold.NewWalk("walked", wavefold.Map("a", inner, inner, double, wavefold.Entry())).LoopUntil("a", wavefold.End, wavefold.CondExpr("$visits == 2"), 3).Graph()
	e := wavefold.NewEngine()
	if err := e.AddTool("count", func(in struct{ Of []int }) int { return len(in.Of) }); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]struct {
		part wavefold.Part
		want int
	}{
		"Source": {wavefold.Source("x", out, func(context.Context) (int, error) { return 7, nil }), 7},
		"Map":    {wavefold.Map("x", in, out, double), 4},
		"Map2":   {wavefold.Map2("x", in, in, out, func(_ context.Context, a, b int) (int, error) { return a + b, nil }), 4},
		"Map3":   {wavefold.Map3("x", in, in, in, out, func(_ context.Context, a, b, c int) (int, error) { return a + b + c, nil }), 6},
		"Step":   {wavefold.Step("x", in, out, func(_ context.Context, n int, v *wavefold.Visit) (int, error) { return n + v.Number, nil }), 3},
		"Func": {wavefold.Func("x", wavefold.Fields(in), wavefold.Fields(out), func(_ context.Context, i core.Input) (core.Result, error) {
			n, _ := i.Get("in")
			return core.Write("out", n), nil
		}), 2},
		"Sink": {wavefold.Sink("x", in, func(context.Context, int) error { return nil }), 0},
		"Do":   {wavefold.Do("x", func(context.Context) error { return nil }), 0},
		"Node": {wavefold.Node("x", "tool", map[string]any{"impl": "count"}, wavefold.Args(map[string]any{"of": "$.list"}),
			wavefold.Reads(list), wavefold.Writes(out)), 3},
		"Sub of a dag":  {wavefold.Sub("x", dag, wavefold.In(inner, in), wavefold.Out(inner, out)), 4},
		"Sub of a walk": {wavefold.Sub("x", walked, wavefold.In(inner, in), wavefold.Out(inner, out)), 8},
		"retried":       {wavefold.Map("x", in, out, failingOnce(double), wavefold.Retry(2, wavefold.Backoff{Base: time.Microsecond})), 4},
	} {
		for _, router := range []wavefold.WalkRouter{wavefold.BySteps, wavefold.ByOutcomes, wavefold.ByModel} {
			t.Run(name+" "+string(router), func(t *testing.T) {
				note := wavefold.Source("note", log, func(context.Context) ([]string, error) { return []string{"end"}, nil })
				w := wavefold.NewWalk("w", router, wavefold.Using(e), part.part, note, wavefold.Declare(in, list, out))
				want := "begin x note"
				if router == wavefold.ByOutcomes {
					w.Add(wavefold.Start("begin"), wavefold.Exit("e")).Sequential("begin", "x", "note", "e")
					want += " e"
				} else {
					w.Add(wavefold.Do("begin", idle, wavefold.Entry())).Sequential("begin", "x", "note")
				}
				got, r := path(t, w.Graph())
				if got != want || out.Get(r) != part.want || !slices.Equal(log.Get(r), []string{"end"}) {
					t.Errorf("walked %s to %d, want %s to %d; log %v", got, out.Get(r), want, part.want, log.Get(r))
				}
			})
		}
	}
}

// failingOnce returns a function that fails in every other call.
func failingOnce(fn func(context.Context, int) (int, error)) func(context.Context, int) (int, error) {
	calls := 0
	return func(ctx context.Context, n int) (int, error) {
		if calls++; calls%2 == 1 {
			return 0, core.Retryable(errors.New("busy"))
		}
		return fn(ctx, n)
	}
}

// Kinds of documents have their roles in a walk by outcomes that is built in Go.
func TestWalkByOutcomesInGo(t *testing.T) {
	tests := wavefold.NewField[int]("tests", wavefold.Default(0))
	step := func(id string, options ...wavefold.Option) wavefold.Part {
		return wavefold.Do(id, idle, options...)
	}
	build := func(answer string) *wavefold.Graph {
		e := wavefold.NewEngine(human.Kind)
		return wavefold.NewWalk("release", wavefold.ByOutcomes, wavefold.Using(e), wavefold.MaxNodeVisits(6),
			wavefold.Start("start"), wavefold.Exit("exit"),
			wavefold.Parallel("checks", wavefold.KOfN(2), wavefold.Limit(2), wavefold.BranchErrors(wavefold.IgnoreFailures)),
			step("lint"), step("unit"), wavefold.Do("flaky", func(context.Context) error { return errors.New("down") }),
			wavefold.Map("test", tests, tests, func(_ context.Context, n int) (int, error) {
				if n < 2 {
					return 0, errors.New("red")
				}
				return n, nil
			}, wavefold.GoalGate(), wavefold.RetryTarget("fix")),
			wavefold.Map("fix", tests, tests, func(_ context.Context, n int) (int, error) { return n + 1, nil }),
			wavefold.Branch("decide"),
			wavefold.Node("gate", "human", map[string]any{"text": "Release?"}, wavefold.Label("Release?")),
			step("ship"),
		).
			Sequential("start", "checks").
			Always("checks", "lint").Always("checks", "unit").Always("checks", "flaky").
			Always("lint", "decide").Always("unit", "decide").Always("flaky", "decide").
			Always("decide", "test").
			When("test", "gate", wavefold.CondExpr("outcome=success")).
			When("test", "fix", wavefold.CondExpr("outcome=fail"), wavefold.Weight(2)).
			Always("fix", "test").
			Always("gate", "ship", wavefold.Label("[S] Ship")).
			Always("gate", "exit", wavefold.Label("[H] Hold")).
			Always("ship", "exit").Graph()
	}
	for answer, want := range map[string]string{
		"S": "start checks decide test fix test fix test gate ship exit",
		"H": "start checks decide test fix test fix test gate exit",
	} {
		got, r := path(t, build(answer), wavefold.WithInterviewer(human.Queue(answer)))
		if got != want || tests.Get(r) != 2 {
			t.Errorf("%s: walked %s, want %s", answer, got, want)
		}
	}
}

// A model chooses among conditions in plain language.
func TestWalkByModelInGo(t *testing.T) {
	d := wavefold.NewField[draft]("draft", wavefold.Default(draft{"a", 1}))
	m := llmtest.Script(t, llmtest.Route("write", "write").At(1), llmtest.Route("write", "publish").At(2))
	e := wavefold.NewEngine()
	e.UseModel(m)
	w := wavefold.NewWalk("draft", wavefold.ByModel, wavefold.Using(e),
		wavefold.Map("write", d, d, func(_ context.Context, d draft) (draft, error) { return draft{d.Text + "b", d.Score + 1}, nil }, wavefold.Entry()),
		wavefold.Do("publish", idle)).
		When("write", "write", wavefold.CondText("the text is too short"), wavefold.MaxFollows(4)).
		When("write", "publish", wavefold.CondText("the text can be published"))
	got, r := path(t, w.Graph())
	if got != "write write publish" || d.Get(r).Text != "abb" {
		t.Errorf("walked %s to %+v", got, d.Get(r))
	}
	for _, q := range m.Requests() {
		if text := q.Messages[len(q.Messages)-1].Text; !strings.Contains(text, "the text is too short") {
			t.Errorf("the model was asked %s", text)
		}
	}
}

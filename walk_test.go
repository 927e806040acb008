package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

type draft struct {
	Text  string `json:"text"`
	Score int    `json:"score"`
}

// path runs a graph and returns the nodes that it visited, with how the run ended if that is
// not a success.
func path(t *testing.T, g *wavefold.Graph, inputs ...wavefold.RunOption) (string, *wavefold.Result) {
	t.Helper()
	if err := g.Compile(); err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(t.Context(), inputs...)
	text := strings.Join(r.Path, " ")
	if err != nil {
		text += ": " + err.Error()
	}
	return text, r
}

func refine(done wavefold.Condition) (*wavefold.Walk, wavefold.Field[draft]) {
	topic, d, out := wavefold.NewField[string]("topic"), wavefold.NewField[draft]("draft"), wavefold.NewField[string]("out")
	w := wavefold.NewWalk("refine",
		wavefold.Map("write", topic, d, func(_ context.Context, topic string) (draft, error) { return draft{topic, 1}, nil }, wavefold.Entry()),
		wavefold.Map("refine", d, d, func(_ context.Context, d draft) (draft, error) { return draft{d.Text + "!", d.Score + 2}, nil }),
		wavefold.Map("deliver", d, out, func(_ context.Context, d draft) (string, error) { return d.Text, nil }),
		wavefold.Declare(topic),
	)
	return w.Sequential("write", "refine").LoopUntil("refine", "deliver", done, 5), d
}

// The forms of a condition mean the same.
func TestConditionsOfWalks(t *testing.T) {
	good := func(r *core.VisitResult) bool {
		d, err := wavefold.OutputAs[draft](r)
		return err == nil && d.Score >= 5
	}
	for name, c := range map[string]wavefold.Condition{
		"expression": wavefold.CondExpr("$output.score >= 5"),
		"state":      wavefold.CondExpr("$.draft.score >= 5"),
		"function":   wavefold.CondFunc(good),
		"typed":      wavefold.CondOutput(func(d draft) bool { return d.Score >= 5 }),
		"named":      wavefold.CondOutput(func(d draft) bool { return d.Score >= 5 }).Named("good"),
		"registered": wavefold.CondNamed("registered"),
	} {
		t.Run(name, func(t *testing.T) {
			e := wavefold.NewEngine()
			if err := e.AddCondition("registered", good); err != nil {
				t.Fatal(err)
			}
			w, d := refine(c)
			got, r := path(t, w.Add(wavefold.Using(e)).Graph(), wavefold.Set("topic", "go"))
			if got != "write refine refine deliver" || d.Get(r) != (draft{"go!!", 5}) {
				t.Errorf("walked %s to %+v", got, d.Get(r))
			}
		})
	}
}

// A condition that is never true ends with the budget of the loop.
func TestLoopUntilBudget(t *testing.T) {
	w, _ := refine(wavefold.CondExpr("$output.score > 1000"))
	if got, _ := path(t, w.Graph(), wavefold.Set("topic", "go")); got != "write refine refine refine refine refine deliver" {
		t.Errorf("walked %s", got)
	}
}

// toolLoop is a walk whose node agent calls a tool in its first visits and then answers.
func toolLoop(fail error, loop *bool) (*wavefold.Walk, wavefold.Field[string]) {
	question, answer := wavefold.NewField[string]("question"), wavefold.NewField[string]("answer")
	return wavefold.NewWalk("tools",
		wavefold.Step("agent", question, answer, func(_ context.Context, q string, v *wavefold.Visit) (string, error) {
			if v.Number < 3 {
				v.ToolCalls, v.ToolLoop = []string{"search"}, loop
				v.Messages = []any{fmt.Sprint("call ", v.Number)}
				return "", nil
			}
			return fmt.Sprint(q, len(v.Conversation)), fail
		}, wavefold.Entry()),
		wavefold.Do("search", func(context.Context) error { return nil }),
		wavefold.Do("repair", func(context.Context) error { return nil }),
	), answer
}

func TestToolLoopInGo(t *testing.T) {
	no := false
	w, answer := toolLoop(nil, nil)
	got, r := path(t, w.OnNoToolCall("agent", wavefold.End).Graph(), wavefold.Set("question", "q"))
	if got != "agent agent agent" || answer.Get(r) != "q2" {
		t.Errorf("walked %s to %s", got, answer.Get(r))
	}
	w, answer = toolLoop(nil, &no)
	w.OnToolCall("agent", "search").OnNoToolCall("agent", wavefold.End).Always("search", "agent")
	got, r = path(t, w.Graph(), wavefold.Set("question", "q"))
	if got != "agent search agent search agent" || answer.Get(r) != "q0" {
		t.Errorf("walked %s to %s", got, answer.Get(r))
	}
	w, _ = toolLoop(errors.New("no network"), nil)
	got, _ = path(t, w.OnError("agent", "repair").Graph(), wavefold.Set("question", "q"))
	if got != "agent agent agent repair" {
		t.Errorf("walked %s", got)
	}
}

// Each helper has an expression that means the same.
func TestHelpersAndTheirExpressions(t *testing.T) {
	out := wavefold.NewField[map[string]any]("out")
	results := []struct {
		out   map[string]any
		err   error
		visit core.Routing
	}{
		{out: map[string]any{"ok": true, "confidence": 0.7}},
		{out: map[string]any{"ok": false, "confidence": 0.69}},
		{out: map[string]any{"ok": "true", "confidence": "1"}},
		{err: errors.New("broken")},
		{visit: core.Routing{ToolCalls: []string{"a"}, ToolLoop: new(false)}},
		{visit: core.Routing{GuardsFailed: []string{"short"}}},
	}
	for name, edge := range map[string]struct {
		helper func(w *wavefold.Walk)
		twin   string
		want   string // of each result: whether the edge is followed
	}{
		"OnToolCall":   {func(w *wavefold.Walk) { w.OnToolCall("a", "hit") }, "length($tool_calls) > 0", "000010"},
		"OnNoToolCall": {func(w *wavefold.Walk) { w.OnNoToolCall("a", "hit") }, "length($tool_calls) == 0", "111101"},
		"OnOutput":     {func(w *wavefold.Walk) { w.OnOutput("a", "hit", "ok", true) }, "$output.ok == true", "100000"},
		"OnError":      {func(w *wavefold.Walk) { w.OnError("a", "hit") }, `$error != ""`, "000100"},
		"OnConfidence": {func(w *wavefold.Walk) { w.OnConfidence("a", "hit", 0.7) }, "$output.confidence >= 0.7", "100000"},
		"OnGuardFail":  {func(w *wavefold.Walk) { w.OnGuardFail("a", "hit") }, "length($guards_failed) > 0", "000001"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, add := range []func(w *wavefold.Walk){edge.helper, func(w *wavefold.Walk) { w.When("a", "hit", wavefold.CondExpr(edge.twin)) }} {
				got := ""
				for _, result := range results {
					w := wavefold.NewWalk("w",
						wavefold.Step("a", wavefold.NewField[int]("n", wavefold.Default(1)), out, func(_ context.Context, _ int, v *wavefold.Visit) (map[string]any, error) {
							v.Routing = result.visit
							return result.out, result.err
						}, wavefold.Entry()),
						wavefold.Do("hit", func(context.Context) error { return nil }))
					add(w)
					r, _ := w.Graph().Run(t.Context())
					got += map[bool]string{true: "1", false: "0"}[slices.Contains(r.Path, "hit")]
				}
				if got != edge.want {
					t.Errorf("form %d: followed %s, want %s", i, got, edge.want)
				}
			}
		})
	}
}

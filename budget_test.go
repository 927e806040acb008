package wavefold_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/llm"
)

// modelWithoutUsage returns a model that answers with 40 characters and reports no
// usage, like many local servers.
func modelWithoutUsage(calls *int) llm.Model {
	return llm.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		*calls++
		text := strings.Repeat("x", 40)
		if r.Purpose == llm.PurposeRoute {
			text = `{"choice": 1, "reason": "so"}`
		}
		return &llm.Response{Text: text, Model: r.Model, Finish: llm.FinishStop}, nil
	})
}

const askTwice = `name: ask
state: {schema: {a: {type: string}, b: {type: string}}}
graph:
  nodes:
    - {id: first, kind: prompt, model: cheap-1, prompt: say it, writes: [a]}
    - {id: second, kind: agent, model: dear, prompt: say it, writes: [b], eval: [{name: fine, kind: judge, rubric: is it, model: strict}]}
  edges: [{from: first, to: second}]
`

// A cost budget did not limit models without a price, whose calls counted as free.
func TestCostBudgetNeedsPrices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ask.yaml":    askTwice,
		"outer.yaml":  "name: outer\ngraph: {nodes: [{id: sub, kind: workflow, file: ask.yaml}]}\n",
		"island.dot":  "digraph g { start [shape=Mdiamond] exit [shape=Msquare] work [shape=parallelogram, script=true] island [prompt=x, model=dear] start -> work -> exit island -> exit }",
		"retried.dot": "digraph g { start [shape=Mdiamond] exit [shape=Msquare] work [shape=parallelogram, script=true, retry_target=island] island [prompt=x, model=dear] start -> work -> exit island -> exit }",
		"route.yml": "id: route\nname: Route\nentry: a\nnodes:\n  a: {name: A, instruction: Look.}\n  b: {name: B, instruction: Do.}\n  c: {name: C, instruction: Do.}\n" +
			"edges:\n  - {from: a, to: b, when: it is so}\n  - {from: a, to: c, when: it is not}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, file string
		prices     llm.Prices
		want       string // models named in the error, "" if the run is not rejected
	}{
		{"no prices", "ask.yaml", nil, `"cheap-1" "dear" "strict"`},
		{"some prices", "ask.yaml", llm.Prices{"cheap": {Input: 1}, "strict": {Input: 1}}, `"dear"`},
		{"all prices", "ask.yaml", llm.Prices{"cheap": {Input: 1}, "strict": {Input: 1}, "dear": {Output: 2}}, ""},
		{"unknown ones are free", "ask.yaml", llm.Prices{"": {}}, ""},
		{"nested", "outer.yaml", llm.Prices{"cheap": {Input: 1}}, `"dear" "strict"`},
		{"no way leads to the node", "island.dot", nil, ""},
		{"a retry target leads to the node", "retried.dot", nil, `"dear"`},
		{"a model picks the way", "route.yml", nil, `default model of the server`},
		{"a model with a price picks the way", "route.yml", llm.Prices{"": {Input: 1}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			e := wavefold.NewEngine()
			e.UseModel(llm.WithTimeout(llm.WithPrices(modelWithoutUsage(&calls), c.prices), 0))
			g, err := e.Load(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.Run(t.Context(), wavefold.WithBudget(core.Budget{Cost: 1}))
			ds, _ := source.AsDiagnostics(err)
			if got := ds.Has(source.CodeNoPrice); got != (c.want != "") || got && calls > 0 {
				t.Fatalf("refused %t: %v, %d calls", got, err, calls)
			}
			for _, name := range strings.Fields(strings.ReplaceAll(c.want, "default model of the server", "default")) {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s is missing in %v", name, err)
				}
			}
			if c.want == "" && calls == 0 && c.file != "island.dot" {
				t.Errorf("no calls: %v", err)
			}
		})
	}
}

// User code may call its own model, which is not part of the plan.
func TestCostBudgetInUserCode(t *testing.T) {
	calls := 0
	custom := modelWithoutUsage(&calls)
	ctx := core.WithMeter(t.Context(), &core.Meter{Priced: true})
	if _, err := llm.Complete(ctx, custom, &llm.Request{Model: "mine"}); err == nil || !core.FailureOf(err).FailsRun || calls > 0 {
		t.Errorf("%v, %d calls", err, calls)
	}
	if _, err := llm.Complete(ctx, llm.WithPrices(custom, llm.Prices{"m": {Input: 1}}), &llm.Request{Model: "mine"}); err != nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// A token budget did not limit servers that report no usage.
func TestBudgetWithoutUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ask.yaml")
	if err := os.WriteFile(path, []byte(askTwice), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	e := wavefold.NewEngine()
	e.UseModel(llm.WithPrices(modelWithoutUsage(&calls), llm.Prices{"": {Input: 1e6, Output: 1e6}}))
	g, err := e.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		budget    core.Budget
		calls     int
		estimated int64
	}{
		{"no budget", core.Budget{}, 3, 0},
		{"calls", core.Budget{Calls: 9}, 3, 0},
		{"tokens", core.Budget{Tokens: 11}, 1, 1},
		{"enough tokens", core.Budget{Tokens: 1e6}, 3, 3},
		{"money", core.Budget{Cost: 11}, 1, 1},
	} {
		calls = 0
		var estimated int64
		r, err := g.Run(t.Context(), wavefold.WithBudget(c.budget), wavefold.WithListener(func(e core.Event) {
			if e.Type == core.ModelAnswered && e.Usage != nil {
				estimated += e.Usage.Estimated
			}
		}))
		first, _ := r.Node("first")
		if calls < c.calls || c.calls == 1 && calls != 1 || (r.Usage.Estimated > 0) != (c.estimated > 0) || estimated != r.Usage.Estimated || c.calls == 1 && err == nil {
			t.Errorf("%s: %d calls, %+v, %d told, %v", c.name, calls, r.Usage, estimated, err)
		}
		if c.estimated > 0 && (first.Usage.Output != 10 || first.Usage.Input == 0 || first.Usage.Cost != float64(first.Usage.Tokens())) {
			t.Errorf("%s: %+v", c.name, first.Usage)
		}
	}
}

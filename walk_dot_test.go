package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/openai"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/nodes/walk"
)

const scored = `digraph Scored {
  goal = "find good rows"
  start [shape=Mdiamond]
  score [type=score_rows, threshold=0.5, label="Score", color=blue]
  exit [shape=Msquare]

  start -> score
  score -> exit [condition="context.kept >= 2"]
  score -> score [condition="context.kept < 2"]
}
`

// TestGraphInDOT runs a graph in DOT whose work is a Go function, saves it and runs the
// saved document.
func TestGraphInDOT(t *testing.T) {
	e := wavefold.NewEngine()
	err := e.AddTool("score_rows", func(_ context.Context, in core.Input) (core.Result, error) {
		threshold := in.Args()["threshold"]
		kept := int64(0)
		for _, row := range []float64{0.2, 0.6, 0.9} {
			if row >= threshold.(float64) {
				kept++
			}
		}
		return core.Result{Routing: &core.Routing{Context: map[string]any{"kept": kept}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, text []byte) (*wavefold.Graph, string) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := e.Load(file)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := g.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := r.State.Get(core.ContextField)
		return g, value.JSON(kept)
	}
	g, first := run("scored.dot", []byte(scored))
	saved, err := g.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, second := run("saved.fabro", saved)
	if first != second {
		t.Errorf("the context is %s, and of what was saved %s", first, second)
	}
	if kept, _ := value.ParseJSON([]byte(first)); kept == nil {
		t.Errorf("got context %s", first)
	} else if n, _ := kept.(*value.Object).Get("kept"); n != int64(2) {
		t.Errorf("got context %s, want kept 2", first)
	}
	if twice, err := again.Save(); err != nil || string(twice) != string(saved) {
		t.Errorf("saved again: %v\n%s\nwant\n%s", err, twice, saved)
	}
}

// A gate cannot be passed if its kind is not registered.
func TestGateWithoutItsKind(t *testing.T) {
	for name, kinds := range map[string][]core.Kind{"without": nil, "with": {human.Kind}} {
		t.Run(name, func(t *testing.T) {
			e := wavefold.EngineOf(core.NewRegistry(append(kinds, walk.Kinds()...)...))
			r := runDOT(t, e, `digraph Release {
				start [shape=Mdiamond] exit [shape=Msquare] ship [shape=diamond]
				gate [shape=hexagon, type="wait.human"]
				start -> gate
				gate -> ship [label="[S] Ship"]
				ship -> exit
			}`)
			if f, ok := errors.AsType[*core.Failure](r.Err); !ok || f.Class != core.ClassNoRoute || !slices.Equal(r.Path, []string{"start", "gate"}) {
				t.Errorf("walked %s: %v", r.Path, r.Err)
			}
		})
	}
}

// The arguments of a function that is used as a node type are checked before anything
// runs.
func TestTypedFunctionInDOT(t *testing.T) {
	type in struct{ Threshold float64 }
	var got in
	e := wavefold.NewEngine()
	if err := e.AddTool("score", func(v in) { got = v }); err != nil {
		t.Fatal(err)
	}
	const graph = `digraph Scored {
  start [shape=Mdiamond] exit [shape=Msquare]
  score [type=score, %s=0.5, color=blue]
  start -> score -> exit
}`
	if r := runDOT(t, e, fmt.Sprintf(graph, "threshold")); r.Err != nil || got.Threshold != 0.5 {
		t.Errorf("got %+v, %v", got, r.Err)
	}
	w, _ := e.Parse("scored.dot", fmt.Appendf(nil, graph, "treshold"))
	_, ds := e.Compile(w, false)
	if want := `scored.dot:3:22: error: node score: args: unknown key "treshold" (did you mean "Threshold"?`; !strings.Contains(fmt.Sprint(ds), want) {
		t.Errorf("got %v, want %s", ds, want)
	}
}

// Nodes that can never run say why.
func TestNodesThatCannotRunInDOT(t *testing.T) {
	r := runDOT(t, wavefold.NewEngine(), `digraph Lacking {
		start [shape=Mdiamond] exit [shape=Msquare]
		a [shape=house]
		b [shape=house, stack.child_workflow="gone.dot"]
		d [import="other.dot"]
		e [type=unheard]
		f [shape=insulator]
		g [shape=parallelogram]
		start -> a -> b -> d -> e -> f -> g -> exit
	}`)
	for id, want := range map[string]string{
		"a": "there is no workflow to run: it names no workflow",
		"b": `there is no workflow to run: there is no file "gone.dot"`,
		"d": "a graph cannot be put in place of a node",
		"f": "there is no duration",
		"g": "there is no script",
		"e": `no handler is registered for type "unheard": register a Go function of that name, or a kind`,
	} {
		if n, _ := r.Node(id); n.Failure == nil || n.Failure.Message != want {
			t.Errorf("%s: got %v, want %s", id, n.Failure, want)
		}
	}
}

// A graph in an attribute runs as a sub-workflow, and its findings have positions in
// the outer document.
func TestGraphInAttribute(t *testing.T) {
	r := runDOT(t, wavefold.NewEngine(), `digraph Outer {
		start [shape=Mdiamond] exit [shape=Msquare]
		inner [shape=house, stack.child_dot_source="digraph Inner {
			start [shape=Mdiamond]; exit [shape=Msquare]
			a [shape=parallelogram, script=\"exit 3\"]
			start -> a -> exit [condition=\"outcome=success\"]
		}"]
		start -> inner
		inner -> exit
	}`)
	n, _ := r.Node("inner")
	if strings.Join(r.Path, " ") != "start inner exit" || n.Failure == nil || !strings.Contains(n.Failure.Message, "inner[1]/a") {
		t.Errorf("walked %v: %v", r.Path, n.Failure)
	}
	_, ds := wavefold.NewEngine().Parse("g.dot", []byte("digraph G {\n  a [shape=house, stack.child_dot_source=\"digraph I {\n start -> exit [wieght=\\\"x\\\", weight=y]\n }\"]\n}"))
	if want := "g.dot:3:38: "; !strings.Contains(fmt.Sprint(ds), want) {
		t.Errorf("got %v, want %s", ds, want)
	}
}

// A sub-workflow without its own goal uses the goal of the outer graph.
func TestGoalOfSubWorkflows(t *testing.T) {
	for name, tt := range map[string]struct{ outer, inner, want string }{
		"inherited":     {`goal="Ship it"`, ``, "Ship it"},
		"its own":       {`goal="Ship it"`, `goal=\"Test it\"`, "Test it"},
		"nobody's":      {``, ``, ""},
		"nobody else's": {``, `goal=\"Test it\"`, "Test it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runDOT(t, wavefold.NewEngine(), fmt.Sprintf(`digraph Outer {
				%s
				start [shape=Mdiamond] exit [shape=Msquare]
				inner [shape=house, stack.child_dot_source="digraph Inner {
					%s
					start [shape=Mdiamond]; exit [shape=Msquare]
					a [shape=parallelogram, script=\"test '%s' = \\\"$WAVEFOLD_GOAL\\\"\"]
					start -> a -> exit [condition=\"outcome=success\"]
				}"]
				start -> inner -> exit
			}`, tt.outer, tt.inner, tt.want))
			if n, _ := r.Node("inner"); n.Failure != nil {
				t.Error(n.Failure)
			}
		})
	}
	// So does a sub-workflow in another format, including its nested workflows.
	dir := t.TempDir()
	for name, text := range map[string]string{
		"outer.dot": `digraph Outer { goal="Ship it"; start -> steps -> exit; steps [shape=house, stack.child_workflow="steps.yaml"] }`,
		"steps.yaml": `{name: steps, inputs: {goal: {type: string, required: true}}, graph: {nodes: [
			{id: rows, kind: workflow, file: inner.dot, args: {goal: $.goal}}]}}`,
		"inner.dot": `digraph Inner { start -> a -> exit [condition="outcome=success"]; a [shape=parallelogram, script="test 'Ship it' = \"$WAVEFOLD_GOAL\""] }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g, err := wavefold.NewEngine().Load(filepath.Join(dir, "outer.dot"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := g.Run(t.Context()); err != nil {
		t.Error(err)
	} else if n, _ := r.Node("steps"); n.Failure != nil {
		t.Error(n.Failure)
	}
	// A sub-workflow that refers to the goal does not run without one.
	e := wavefold.NewEngine()
	if err := e.AddTool("agent", core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })); err != nil {
		t.Fatal(err)
	}
	r := runDOT(t, e, `digraph Outer { start -> inner -> exit; inner [shape=house, stack.child_dot_source="digraph Inner { start -> a -> exit; a [prompt=\"$goal\"] }"] }`)
	if n, _ := r.Node("inner"); n.Failure == nil || !strings.Contains(n.Failure.Message, `input "goal" is missing`) {
		t.Errorf("got %v", n.Failure)
	}
}

// runDOT runs a graph of an empty folder.
func runDOT(t *testing.T, e *wavefold.Engine, graph string) *wavefold.Result {
	t.Helper()
	file := filepath.Join(t.TempDir(), "graph.dot")
	if err := os.WriteFile(file, []byte(graph), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := e.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := g.Run(t.Context())
	return r
}

// A failure by exit code is final. A timeout may be retried.
func TestAttemptsOfScriptsInDOT(t *testing.T) {
	r := runDOT(t, wavefold.NewEngine(), `digraph Scripts {
		start [shape=Mdiamond] exit [shape=Msquare]
		node [shape=parallelogram]
		code [script="exit 3", max_retries=3]
		slow [script="sleep 60", max_retries=1, timeout="50ms"]
		start -> code -> slow -> exit
	}`)
	for id, want := range map[string]int{"code": 1, "slow": 2} {
		if n, _ := r.Node(id); n.Status != core.Fail || n.Attempts != want {
			t.Errorf("%s: %s after %d attempts, want fail after %d", id, n.Status, n.Attempts, want)
		}
	}
}

// A provider in a document was accepted and never sent. One warning names all nodes
// whose model client cannot select the provider.
func TestProviderOfModelNodes(t *testing.T) {
	const doc = `digraph g {
  model_stylesheet="* { model: small; provider: other; }"
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="name three colours"]
  b [shape=tab, prompt="pick one", provider=third]
  start -> a -> b -> exit
}`
	var sent []string
	chooses := llm.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		sent = append(sent, r.Provider+"/"+r.Model)
		return &llm.Response{Text: "ok", Finish: llm.FinishStop}, nil
	})
	one := openai.New(openai.Options{BaseURL: "http://user:pass@localhost:1/v1", Model: "m"})
	for _, tt := range []struct {
		model llm.Model
		want  string
	}{
		{llm.WithRetry(one, llm.Retry{}), `g.dot:2:49: warning: nodes a, b: provider has no effect: all models are asked at http://localhost:1/v1, so no provider can be chosen (a proxy can choose the provider by the name of the model; in Go, a client of your own can read Request.Provider) [IGNORED]`},
		{chooses, ""},
		{nil, ""},
	} {
		e := wavefold.NewEngine(std.Kinds()...)
		e.UseModel(tt.model)
		w, _ := e.Parse("g.dot", []byte(doc))
		p, ds := e.Compile(w, false)
		if p == nil || ds.Error() != tt.want {
			t.Errorf("%T: got\n%v\nwant\n%s", tt.model, ds, tt.want)
		}
	}
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(chooses)
	path := filepath.Join(t.TempDir(), "g.dot")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := e.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(sent, " "); got != "other/small third/small" {
		t.Errorf("sent %q", got)
	}
}

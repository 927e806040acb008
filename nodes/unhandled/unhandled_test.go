package unhandled_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/unhandled"
)

func env() core.Env {
	return core.Env{Files: fstest.MapFS{"prompts/echo.md": {Data: []byte("Say {{name}}.")}, "answer.json": {Data: []byte("{}")}}}
}

// valid has a node of each kind with all keys of the kind.
var valid = map[string]string{
	"cli-agent": `{"provider": "codex", "prompt": "look at {{file}} and notes.md", "model": "m", "workdir": ".", "output_format": "json",
		"schema": "answer.json", "timeout_ms": 1000, "extra_args": ["-x"]}`,
	"skill": `{"impl": "triage", "inputs": {"text": "$.text"}, "model": "m", "schema": {"type": "object"}}`,
}

func TestConformance(t *testing.T) {
	for _, k := range unhandled.Kinds() {
		t.Run(k.Name(), func(t *testing.T) {
			nodestest.Run(t, k, nodestest.Case{Name: "all keys", Node: valid[k.Name()], Env: env()})
			made, _ := k.Compile(nodestest.Node(t, valid[k.Name()]), env())
			want := `kind "` + k.Name() + `" has no handler in this build: register a Go function of that name with AddTool, or a kind with AddKind`
			if made.NoHandler != want {
				t.Errorf("got %q, want %q", made.NoHandler, want)
			}
			if n := nodestest.Node(t, valid[k.Name()]); len(n.Config.Keys) != len(k.Keys()) {
				t.Errorf("the valid node has %d of %d keys: %q", len(n.Config.Keys), len(k.Keys()), k.Keys())
			}
		})
	}
}

func TestReplaced(t *testing.T) {
	r := core.NewRegistry(unhandled.Kinds()...)
	if got := strings.Join(r.KindNames(), " "); got != "cli-agent skill" {
		t.Errorf("got %q", got)
	}
	r.AddKind(mine{unhandled.CLIAgent()})
	k, _ := r.Kind("cli-agent")
	made, ds := k.Compile(nodestest.Node(t, valid["cli-agent"]), env())
	if made.Handler == nil || made.NoHandler != "" {
		t.Errorf("a registered kind does not replace the missing one: %v, %v", made, ds)
	}
}

// mine is a kind of a user that reuses the checks of the kind that it replaces.
type mine struct{ core.Kind }

func (m mine) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	_, ds := m.Kind.Compile(n, env)
	return core.Compiled{Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Result{}, nil
	})}, ds
}

// TestRegistered tests that a function registered under the name of the kind gets the keys of the
// node as arguments, with rendered prompts.
func TestRegistered(t *testing.T) {
	var got []string
	env := env()
	env.Schema = nodestest.Schema(t, `{"city": {"type": "string"}}`)
	env.Tool = func(name string) (core.Handler, bool) {
		return core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			got = append(got, value.JSON(in.Shared().Args)+" "+in.Node()+" "+in.Run())
			result, _ := core.ParseDirective(`{"outcome": "partial_success"}`)
			return result, nil
		}), name == "cli-agent"
	}
	shared := core.Shared{Args: value.ObjectOf("name", "Ada", "prompt", "mine"), Extra: core.NewView([]string{"city"}, []any{"Bergen"})}
	for _, node := range []string{
		`{"kind": "cli-agent", "provider": "x", "model": "m", "prompt": "Go to {{$.city}}, {{name}}.", "timeout_ms": 5000}`,
		`{"kind": "cli-agent", "provider": "x", "prompt": "prompts/echo.md"}`,
		`{"kind": "cli-agent", "provider": "x", "prompt": "plain", "extra_args": ["{{city}}"]}`,
	} {
		n := nodestest.Node(t, node)
		k, _ := core.NewRegistry(unhandled.Kinds()...).Kind(n.Kind.Value)
		made, ds := k.Compile(n, env)
		if len(ds) > 0 || made.NoHandler != "" {
			t.Fatalf("%s: %v %s", node, ds, made.NoHandler)
		}
		if reads := source.Strings(made.Reads); strings.Contains(node, "$.city") != (len(reads) == 1) {
			t.Errorf("%s: reads %q", node, reads)
		}
		r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, shared))
		if err != nil || r.Status != core.PartialSuccess {
			t.Errorf("%s: %+v, %v", node, r, err)
		}
	}
	want := []string{
		`{"prompt":"Go to Bergen, Ada.","provider":"x","model":"m","timeout_ms":5000,"name":"Ada"} n run`,
		`{"prompt":"Say Ada.","provider":"x","name":"Ada"} n run`,
		`{"prompt":"plain","provider":"x","extra_args":["{{city}}"],"name":"Ada"} n run`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	made, _ := unhandled.CLIAgent().Compile(nodestest.Node(t, `{"provider": "x", "prompt": "{{nobody}}"}`), env)
	if _, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, shared)); err == nil || !core.FailureOf(err).Permanent {
		t.Errorf("a value that is not there: %v", err)
	}
	if _, ds := unhandled.CLIAgent().Compile(nodestest.Node(t, `{"provider": "x", "prompt": "{{$.ctiy}}"}`), env); !strings.Contains(ds.Error(), `did you mean "city"?`) {
		t.Errorf("a field that is not there: %v", ds)
	}
}

// bound is a function that implements core.Binder.
type bound struct{ core.HandlerFunc }

func (bound) Bind(n *core.Node, _ core.Env) (core.Handler, source.Diagnostics) {
	var ds source.Diagnostics
	ds.Warnf(source.CodeUnused, n.Pos, "bound to %s", n.ID.Value)
	return bound{func(context.Context, core.Input) (core.Result, error) { return core.Send("bound"), nil }}, ds
}

func TestRegisteredBinder(t *testing.T) {
	env := core.Env{Tool: func(string) (core.Handler, bool) { return bound{}, true }}
	made, ds := unhandled.CLIAgent().Compile(nodestest.Node(t, `{"provider": "x", "prompt": "x"}`), env)
	if !strings.Contains(ds.Error(), "bound to n") {
		t.Fatal(ds)
	}
	if r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil || r.EdgeOutput != "bound" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFindings(t *testing.T) {
	kinds := core.NewRegistry(unhandled.Kinds()...)
	tests := []struct {
		kind string
		node string
		want string
	}{
		{"cli-agent", `{"prompt": " ", "provider": "x"}`, `1:12: error: node n: key "prompt" is empty [MISSING_KEY]`},
		{"cli-agent", `{"prompt": "prompts/ecko.md", "provider": "x"}`, `1:12: error: node n: prompt: there is no file "prompts/ecko.md" (did you mean "prompts/echo.md"?) [MISSING_FILE]`},
		{"cli-agent", `{"prompt": "../echo.txt", "provider": "x"}`, `1:12: error: node n: prompt: "../echo.txt" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"cli-agent", `{"prompt": "summarise notes.md", "provider": "x"}`, ``},
		{"cli-agent", `{"prompt": "read this:\nnotes.md", "provider": "x"}`, ``},
		{"cli-agent", `{"prompt": "hi", "schema": 3, "provider": "x"}`, `1:28: error: node n: schema: want a mapping or the name of a file, found number 3 [WRONG_TYPE]`},
		{"cli-agent", `{"prompt": "hi", "schema": "anwser.json", "provider": "x"}`, `1:28: error: node n: schema: there is no file "anwser.json" (did you mean "answer.json"?) [MISSING_FILE]`},
		{"cli-agent", `{"prompt": "hi"}`, `1:1: error: node n: key "provider" is missing [MISSING_KEY]`},
		{"cli-agent", `{"prompt": "hi", "provider": "codex", "timeout_ms": 10}`, `1:53: error: node n: timeout_ms: want a duration of at least 1s, found number 10 [BAD_VALUE]`},
		{"skill", `{"model": "m"}`, `1:1: error: node n: key "impl" is missing [MISSING_KEY]`},
	}
	for _, tt := range tests {
		k, _ := kinds.Kind(tt.kind)
		_, ds := k.Compile(nodestest.Node(t, tt.node), env())
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", tt.kind, tt.node, got, tt.want)
		}
	}
}

func TestDocs(t *testing.T) {
	for _, k := range unhandled.Kinds() {
		nodestest.CheckDocs(t, k)
	}
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, unhandled.CLIAgent(), nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "mend")})
}

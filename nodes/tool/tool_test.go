package tool_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/tool"
)

// env returns an environment with the folder testdata and one Go function.
func env() core.Env {
	return core.Env{
		Dir: "testdata", Files: os.DirFS("testdata"), LookPath: exec.LookPath, Tools: []string{"score", "tools/replaced"},
		Tool: func(name string) (core.Handler, bool) {
			return core.HandlerFunc(score), name == "score" || name == "tools/replaced"
		},
	}
}

func score(_ context.Context, in core.Input) (core.Result, error) {
	n, _ := in.Arg("n")
	return core.Write("score", n), nil
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// input returns the input of an attempt of the third item of a fan-out.
func input(log *slog.Logger) core.Input {
	return core.NewInput("run1", "n", 2, core.Shared{
		Args: value.ObjectOf("name", "Ada", "n", int64(7)), Log: log,
		View:  core.NewView([]string{"amounts", "unset"}, []any{[]any{int64(1), int64(2), 3.5}, value.Missing}),
		Edges: value.ObjectOf("load", false),
		Item:  value.ObjectOf("key", "k"), Index: core.Nth(2),
	})
}

func TestHandle(t *testing.T) {
	tests := []struct {
		impl    string
		program string
		want    string // delta and edge output as JSON
		err     string
		log     string
	}{
		{impl: "score", want: `{"score":7}`},
		{impl: "tools/replaced", want: `{"score":7}`},
		{impl: "tools/greet", program: "node", want: `{"greeting":"hello Ada"}`},
		{impl: "./tools/greet.mjs", program: "node", want: `{"greeting":"hello Ada"}`},
		{impl: "tools/sum", program: "node", want: `{} -> {"total":6.5,"from":["load"],"item":{"key":"k"},"index":2}`, log: "adding up 3 amounts\nand a raw line\n"},
		{impl: "tools/old", program: "node", want: `{} -> ["name","n","_state","_edge_inputs","$item","$index"]`},
		{impl: "tools/none", program: "node", want: `{}`},
		{impl: "tools/open", program: "node", want: `{} -> "` + strings.Repeat("x", 300000) + `"`},
		{impl: "tools/throws", program: "node", err: "TypeError: Cannot read properties of undefined (reading 'here')"},
		{impl: "tools/quits", program: "node", err: "tools/quits: exit code 1: the tool ended without a result"},
		{impl: "tools/named", program: "node", err: "named.mjs has no default export that is a function"},
		{impl: "tools/big", program: "node", err: "BigInt"},
		{impl: "tools/never", program: "node", err: "waits for a promise that nothing settles"},
		{impl: "tools/upper", program: "python3", want: `{"greeting":"ADA"}`, log: "working on Ada\nmetrics {\"rows\":1}\n"},
		{impl: "tools/chatty", program: "python3", err: `tools/chatty: the result is not JSON: unexpected 's' at byte 1, want a value (standard output is for the result alone, log on standard error); printed: "starting up\n{\"edge_output\": 1}"`},
		{impl: "tools/fails", program: "python3", err: "ValueError: no such customer"},
		{impl: "tools/pass", want: `{} -> {"name":"Ada","n":7,"_state":{"amounts":[1,2,3.5]},"_edge_inputs":{"load":false},"$item":{"key":"k"},"$index":2}`},
		{impl: "tools/env", want: `{} -> ["run1","n","2","run1/n[2]","testdata"]`},
		{impl: "tools/strict", program: "bash", err: "tools/strict: exit code 1"},
		{impl: "tools/wrong", err: `tools/wrong: the result has an unknown key "state_detla", known are state_delta, edge_output, metrics (did you mean "state_delta"?); printed: "{\"state_detla\": {\"a\": 1}}"`},
		{impl: "tools/list", err: `tools/list: the result must be a JSON object, got array; printed: "[1, 2]"`},
		{impl: "tools/program", want: `{"greeting":"from a program"}`},
	}
	for _, tt := range tests {
		t.Run(tt.impl, func(t *testing.T) {
			t.Parallel()
			if tt.program != "" {
				needs(t, tt.program)
			}
			made, ds := tool.Kind.Compile(nodestest.Node(t, `{"impl": "`+tt.impl+`"}`), env())
			if len(ds) > 0 {
				t.Fatalf("compile: %v", ds)
			}
			if file := strings.Contains(tt.impl, "/") && tt.impl != "tools/replaced"; made.Effects != file {
				t.Errorf("effects %v, want %v: a file may do anything, a function says so itself", made.Effects, file)
			}
			log := &nodestest.Log{}
			r, err := made.Handler.Handle(t.Context(), input(slog.New(log)))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want %q in it", err, tt.err)
				}
				return
			}
			if got := nodestest.Text(r); err != nil || got != tt.want {
				t.Errorf("got %.300s, %v, want %.300s", got, err, tt.want)
			}
			if log.Text() != tt.log {
				t.Errorf("got log %q, want %q", log.Text(), tt.log)
			}
		})
	}
}

func TestLoop(t *testing.T) {
	made, _ := tool.Kind.Compile(nodestest.Node(t, `{"impl": "tools/pass"}`), env())
	in := core.NewInput("run1", "n", 1, core.Shared{Args: value.ObjectOf("$item", "mine", "_state", "mine"), Loop: "refine", Round: 4})
	r, err := made.Handler.Handle(t.Context(), in)
	want := `{} -> {"_state":{},"_edge_inputs":{},"$iter":4,"$loop":"refine"}`
	if got := nodestest.Text(r); err != nil || got != want {
		t.Errorf("got %s, %v, want %s: reserved names are the engine's", got, err, want)
	}
}

func TestCompileFindings(t *testing.T) {
	bare := env()
	bare.LookPath = func(name string) (string, error) { return "", errors.New("not in PATH") }
	nowhere := core.Env{Tools: []string{"score"}}
	tests := []struct {
		name string
		node string
		env  core.Env
		want string
	}{
		{"missing file", `{"impl": "tools/gret.mjs"}`, env(), `1:10: error: node n: impl: there is no file "tools/gret.mjs" (did you mean "tools/greet.mjs"?) [MISSING_FILE]`},
		{"missing without ending", `{"impl": "tools/uper"}`, env(), `1:10: error: node n: impl: there is no file "tools/uper" (did you mean "tools/upper.py"?) [MISSING_FILE]`},
		{"missing folder", `{"impl": "tolls/greet"}`, env(), `1:10: error: node n: impl: there is no file "tolls/greet" (did you mean "tools"?) [MISSING_FILE]`},
		{"folder without index", `{"impl": "tools/empty"}`, env(), `1:10: error: node n: impl: there is no file "tools/empty" [MISSING_FILE]`},
		{"misspelt function", `{"impl": "scroe"}`, env(), `1:10: error: node n: impl: no function "scroe" is registered (did you mean "score"?) [UNKNOWN_IMPL]`},
		{"unknown function", `{"impl": "frobnicate"}`, env(), `1:10: error: node n: impl: no function "frobnicate" is registered (register it with Registry.AddTool, or name a file such as tools/frobnicate.mjs) [UNKNOWN_IMPL]`},
		{"no folder, function", `{"impl": "scroe"}`, nowhere, `1:10: error: node n: impl: no function "scroe" is registered (did you mean "score"?) [UNKNOWN_IMPL]`},
		{"no folder, file", `{"impl": "tools/a.py"}`, nowhere, `1:10: error: node n: impl: there is no folder to look for "tools/a.py" in (the workflow was not loaded from a folder; give it one) [MISSING_FILE]`},
		{"leaves the folder", `{"impl": "../tool.go"}`, env(), `1:10: error: node n: impl: "../tool.go" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"absolute", `{"impl": "/bin/sh"}`, env(), `1:10: error: node n: impl: "/bin/sh" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"not executable", `{"impl": "tools/notexec"}`, env(), `1:10: error: node n: impl: "tools/notexec" is not executable (run chmod +x on it, or use an ending that names an interpreter: .mjs .js .py .sh) [BAD_VALUE]`},
		{"no interpreter", `{"impl": "tools/upper.py"}`, bare, `1:10: error: node n: impl: program "python3" is not there: not in PATH (install it, or add its folder to PATH) [MISSING_FILE]`},
		{"no node", `{"impl": "tools/greet"}`, bare, `1:10: error: node n: impl: program "node" is not there: not in PATH (install it, or add its folder to PATH) [MISSING_FILE]`},
		{"reserved argument", `{"impl": "tools/pass", "args": {"_state": 1}}`, env(), `1:33: warning: node n: args: the name "_state" is reserved, the argument is not passed on [IGNORED]`},
		{"bad limit", `{"impl": "tools/pass", "max_output": "lots"}`, env(), `1:38: error: node n: max_output: want a number of bytes such as 4096 or "10MB", from 1 to 2GB, found string "lots" [BAD_VALUE]`},
		{"no impl", `{}`, env(), `1:1: error: node n: key "impl" is missing [MISSING_KEY]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := tool.Kind.Compile(nodestest.Node(t, tt.node), tt.env)
			if got := strings.TrimSuffix(nodestest.Findings(ds), "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestMaxOutput(t *testing.T) {
	made, _ := tool.Kind.Compile(nodestest.Node(t, `{"impl": "tools/pass", "max_output": 10}`), env())
	_, err := made.Handler.Handle(t.Context(), input(nil))
	if err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("got %v, want an error about the limit", err)
	}
}

// TestLostName tests that there are no findings about a name that could not be read, also without
// a folder.
func TestLostName(t *testing.T) {
	n := nodestest.Node(t, `{}`)
	n.Lost = source.Lost{"impl"}
	if _, ds := tool.Kind.Compile(n, core.Env{}); len(ds) > 0 {
		t.Errorf("got %v", ds)
	}
}

func TestConformance(t *testing.T) {
	in := core.Shared{Args: value.ObjectOf("name", "Ada"), View: core.NewView([]string{"amounts"}, []any{[]any{int64(1)}})}
	nodestest.Run(t, tool.Kind,
		nodestest.Case{Name: "script", Env: env(), Input: in,
			Node: `{"impl": "tools/pass", "max_output": "1MB"}`,
			Want: `{} -> {"name":"Ada","_state":{"amounts":[1]},"_edge_inputs":{}}`},
		nodestest.Case{Name: "hanging script", Env: env(), Input: in, Hangs: true,
			Node: `{"impl": "tools/hang"}`},
		nodestest.Case{Name: "function", Env: env(), Input: core.Shared{Args: value.ObjectOf("n", int64(1))}, Ignores: true,
			Node: `{"impl": "score", "writes": ["score"]}`, Want: `{"score":1}`},
	)
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, tool.Kind)
	needs(t, "node")
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, tool.Kind, nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "greet"), Env: env(), Input: core.Shared{Args: value.ObjectOf("name", "Ada")}, Want: `{"greeting":"hello Ada"}`})
}

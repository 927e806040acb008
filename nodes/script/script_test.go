//go:build unix

package script_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/script"
)

// inDag and inWalk return environments of nodes in a dag and in a walk.
func inDag() core.Env {
	return core.Env{Dir: ".", Files: os.DirFS("."), LookPath: exec.LookPath}
}

func inWalk() core.Env {
	env := inDag()
	env.Conventions = core.Conventions{Context: true, Late: true}
	return env
}

// handle runs a node once.
func handle(t *testing.T, ctx context.Context, node string, env core.Env, log *nodestest.Log) (core.Result, error) {
	t.Helper()
	made, ds := script.Kind.Compile(nodestest.Node(t, node), env)
	if len(ds) > 0 || !made.Effects {
		t.Fatalf("%s: findings %v, effects %t", node, ds, made.Effects)
	}
	in := core.Shared{
		Inputs: value.ObjectOf("goal", `ship "it"; $(touch pwned)`),
		Args:   value.ObjectOf("n", int64(2)),
		View:   core.NewView([]string{core.ContextField}, []any{value.ObjectOf("plan", "a b")}),
		Log:    slog.New(log),
	}
	return made.Handler.Handle(ctx, core.NewInput("run of "+t.Name(), "n", 1, in))
}

// contextOf returns the context entries that a result sets in a walk.
func contextOf(r core.Result) string {
	if r.Routing == nil || r.Routing.Context == nil {
		return ""
	}
	c := r.Routing.Context
	return value.JSON(value.ObjectOf(script.ContextOutput, c[script.ContextOutput], script.ContextStderr, c[script.ContextStderr]))
}

func TestHandle(t *testing.T) {
	here, _ := filepath.Abs(".")
	for _, tt := range []struct {
		name    string
		node    string
		walk    bool
		want    string
		context string
		err     string
	}{
		{name: "text to the edges of a dag", node: `{"script": "echo a; echo b"}`, want: `{} -> "a\nb"`},
		{name: "text into a field", node: `{"script": "echo a", "writes": ["out"]}`, want: `{"out":"a"}`},
		{name: "a form", node: `{"script": "echo '[1, 2]'", "output": "json", "writes": ["b"], "into": "b"}`, want: `{"b":[1,2]}`},
		{name: "result of a tool", node: `{"script": "echo '{\"state_delta\": {\"a\": 1}}'", "output": "result", "writes": ["a"]}`, want: `{"a":1}`},
		{name: "nothing", node: `{"script": "echo a", "output": "none"}`, want: `{}`},
		{name: "python", node: `{"script": "import sys\nprint('ä', len(sys.argv))", "language": "python"}`, want: `{} -> "ä 1"`},
		{name: "lines and signs as they are", node: `{"script": "x=1\nif [ $x = 1 ]; then\n  echo '{{goal}}' \"$x\"\nfi"}`, want: `{} -> "{{goal}} 1"`},
		{name: "goal", node: `{"script": "printf %s \"$WAVEFOLD_GOAL\""}`, want: `{} -> "ship \"it\"; $(touch pwned)"`},
		{name: "folder", node: `{"script": "pwd"}`, want: `{} -> "` + here + `"`},
		{name: "no stdin", node: `{"script": "cat"}`, want: `{} -> ""`},
		{name: "stdin", node: `{"script": "cat", "stdin": "json", "output": "json"}`, want: `{} -> {"n":2,"_state":{"context":{"plan":"a b"}},"_edge_inputs":{}}`},
		{name: "exit code in a dag", node: `{"script": "echo why >&2; exit 3"}`, err: "sh: exit code 3: why"},
		{name: "signal in a dag", node: `{"script": "kill -9 $$"}`, err: "sh: killed by signal (killed)"},
		{name: "signal in a walk", node: `{"script": "kill -9 $$"}`, walk: true, want: `{} fail (sh: killed by signal (killed))`, context: `{"command.output":"","command.stderr":""}`},
		{name: "context of a walk", node: `{"script": "printf 'a\\n\\n\\n'; echo b >&2"}`, walk: true, want: `{}`, context: `{"command.output":"a","command.stderr":"b"}`},
		{name: "failure in a walk", node: `{"script": "echo a; echo b >&2; exit 1", "writes": ["out"]}`, walk: true, want: "{} fail (sh: exit code 1, last lines of standard error:\n  b\nlast lines of standard output:\n  a)",
			context: `{"command.output":"a","command.stderr":"b"}`},
		{name: "field and context", node: `{"script": "echo 7", "output": "json", "writes": ["out"]}`, walk: true, want: `{"out":7}`, context: `{"command.output":"7","command.stderr":""}`},
		{name: "form that goes nowhere", node: `{"script": "echo oops", "output": "json"}`, walk: true, want: `{}`, context: `{"command.output":"oops","command.stderr":""}`},
		{name: "bytes that are no text", node: `{"script": "printf 'a\\377b'"}`, walk: true, want: `{}`, context: "{\"command.output\":\"a\uFFFDb\",\"command.stderr\":\"\"}"},
		{name: "bad form", node: `{"script": "echo oops", "output": "json", "writes": ["out"]}`, err: "sh: the output is not JSON"},
		{name: "too much", node: `{"script": "yes", "max_output": "64KB"}`, err: "sh: too much output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := inDag()
			if tt.walk {
				env = inWalk()
			}
			r, err := handle(t, t.Context(), tt.node, env, &nodestest.Log{})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || r.Status != core.StatusNone {
					t.Errorf("got %s, error %v, want %q in it", nodestest.Text(r), err, tt.err)
				}
				return
			}
			if got := nodestest.Text(r); err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
			if got := contextOf(r); got != tt.context {
				t.Errorf("got context %s, want %s", got, tt.context)
			}
		})
	}
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("a value was run as a command")
	}
}

// TestLongOutputs tests that the context gets the end of a long output.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	r, err := handle(t, t.Context(), `{"script": "for i in 1 2 3; do printf 'ää%050000d' $i; done; printf '%0300000dx\n' 7 >&2"}`, inWalk(), &nodestest.Log{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct {
		left string
		end  string
	}{
		script.ContextOutput: {"[the first 84476 bytes are left out]\n0000", "0003"},
		script.ContextStderr: {"[the first 234466 bytes are left out]\n0000", "0007x"},
	} {
		text := r.Routing.Context[key].(string)
		if !strings.HasPrefix(text, want.left) || !strings.HasSuffix(text, want.end) || len(text) > 65<<10 {
			t.Errorf("%s has %d bytes: %.60q … %q", key, len(text), text, text[max(0, len(text)-20):])
		}
	}
}

// TestTimeoutIsAnError tests that a timeout may be retried, unlike an exit code in a walk.
func TestTimeoutIsAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("timed out")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	r, err := handle(t, ctx, `{"script": "sleep 60"}`, inWalk(), &nodestest.Log{})
	if !errors.Is(err, cause) || r.Status != core.StatusNone || r.Routing != nil {
		t.Errorf("got %s, %v", nodestest.Text(r), err)
	}
}

func TestFindings(t *testing.T) {
	bare := inDag()
	bare.LookPath = func(string) (string, error) { return "", errors.New("not in PATH") }
	for _, tt := range []struct {
		name string
		node string
		env  core.Env
		want string
	}{
		{"no script", `{}`, inDag(), `1:1: error: node n: key "script" is missing [MISSING_KEY]`},
		{"empty script", `{"script": " \n"}`, inDag(), `1:12: error: node n: key "script" is empty [MISSING_KEY]`},
		{"no shell", `{"script": "ls"}`, bare, `1:12: error: node n: language: program "sh" is not there: not in PATH (install it, or add its folder to PATH) [MISSING_FILE]`},
		{"no python", `{"script": "1", "language": "python"}`, bare, `1:29: error: node n: language: program "python3" is not there: not in PATH (install it, or add its folder to PATH) [MISSING_FILE]`},
		{"bad language", `{"script": "1", "language": "pyhton"}`, inDag(), `1:29: error: node n: language: "pyhton" is none of shell, python (did you mean "python"?) [BAD_VALUE]`},
		{"NUL", `{"script": "echo \u0000"}`, inDag(), `1:17: error: node n: script: it contains a NUL byte [BAD_VALUE]`},
		{"long", `{"script": "` + strings.Repeat("#", 102401) + `"}`, inDag(), `1:12: error: node n: script: it has 102401 bytes, more than the limit of 102400 (put it into a file and run that) [LIMIT]`},
		{"into", `{"script": "1", "output": "none", "into": "x", "writes": ["x"]}`, inDag(), `1:43: error: node n: into: output: none has nothing to put into a field [BAD_VALUE]`},
		{"stdin", `{"script": "1", "stdin": "json", "args": {"_state": 1}}`, inDag(), `1:43: warning: node n: args: the name "_state" is reserved, the argument is not passed on [IGNORED]`},
		{"several writes", `{"script": "1", "writes": ["a", "b"]}`, inDag(), `1:28: warning: node n: several writes are declared, so the result goes along the edges only (name the field with into: a) [MISSING_KEY]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := script.Kind.Compile(nodestest.Node(t, tt.node), tt.env)
			if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestNoScriptInAWalk tests that a node without a script compiles and fails when it is visited.
func TestNoScriptInAWalk(t *testing.T) {
	made, ds := script.Kind.Compile(nodestest.Node(t, `{"language": "shell"}`), inWalk())
	if made.Lacks != "there is no script" || len(ds) > 0 {
		t.Errorf("got %+v, %v", made, ds)
	}
}

func TestConformance(t *testing.T) {
	shared := core.Shared{Args: value.ObjectOf("x", "y")}
	nodestest.Run(t, script.Kind,
		nodestest.Case{Name: "all keys", Env: inDag(), Input: shared, Want: `{"out":"y"}`,
			Node: `{"script": "import json, sys\nprint(json.dumps(json.load(sys.stdin)['x']))", "language": "python", "stdin": "json", "output": "json",
				"into": "out", "max_output": "1KB", "writes": ["out", "other"]}`},
		nodestest.Case{Name: "hangs", Env: inWalk(), Hangs: true, Node: `{"script": "echo ready >&2; sleep 60"}`},
	)
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, script.Kind)
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, script.Kind, nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "count"), Env: inDag(), Want: `{"words":6}`})
}

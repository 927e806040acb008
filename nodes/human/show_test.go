package human_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/scheduler"
)

// asks compiles a gate in a folder and returns its question.
func asks(t *testing.T, dir, node string, in core.Shared) core.Question {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	env := core.Env{Edges: edges("Go -> on"), Dir: dir, Files: root.FS(), Schema: nodestest.Schema(t, `{"plan": "string", "context": "object"}`)}
	made, ds := human.Kind.Compile(nodestest.Node(t, node), env)
	if ds.Failed(true) {
		t.Fatal(ds)
	}
	var asked core.Question
	in.Ask = func(_ context.Context, q core.Question) (core.Answer, error) {
		asked = q
		return core.Answer{Text: "g"}, nil
	}
	if _, err := made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, in)); err != nil {
		t.Fatal(err)
	}
	return asked
}

func TestShow(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.md")
	for name, text := range map[string]string{filepath.Join(dir, "plan.md"): "# Plan\n", filepath.Join(dir, "long.md"): strings.Repeat("ä", 10_000), outside: "no"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.md")); err != nil {
		t.Skip(err)
	}
	in := core.Shared{
		Inputs: value.ObjectOf("goal", "ship"),
		Extra:  core.NewView([]string{"plan", core.ContextField}, []any{"a plan", value.ObjectOf("response.plan", "1. build {{x}}", "list", []any{int64(1)}, "long", strings.Repeat("x", 20_000))}),
	}
	for _, tt := range []struct{ node, want string }{
		{`{"text": "Ship {{$.plan}} for {{$input.goal}}?"}`, "Ship a plan for ship?"},
		{`{"text": "Ship {{$.context['nothing']}}?"}`, "Ship {{$.context['nothing']}}?"},
		{`{"text": "Go?", "show": ["plan", "context.response.plan", "$.context['list'][0]", "$input.goal"]}`,
			"Go?; plan=a plan; context.response.plan=1. build {{x}}; $.context['list'][0]=1; $input.goal=ship"},
		{`{"text": "Go?", "show": "plan , coalesce.md,$.context['a, b']"}`, "Go?; plan=a plan; coalesce.md!open coalesce.md: no such file or directory; $.context['a, b']!there is no value"},
		{`{"text": "Go?", "show": ["plan.md", "@plan.md", "link.md", "context.gone"]}`,
			`Go?; plan.md=# Plan
; @plan.md=# Plan
; link.md!"link.md" leaves the workflow's folder ` + dir + ` through a symbolic link; context.gone!there is no value`},
	} {
		q := asks(t, dir, tt.node, in)
		got := q.Text
		for _, s := range q.Show {
			if s.Missing != "" {
				got += "; " + s.Name + "!" + s.Missing
			} else {
				got += "; " + s.Name + "=" + s.Text
			}
		}
		if strings.ReplaceAll(got, "("+dir+")", dir) != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.node, got, tt.want)
		}
	}
	q := asks(t, dir, `{"text": "{{$.context['long']}}", "show": ["context.long", "long.md"]}`, in)
	if len(q.Text) > 5_000 || !strings.HasSuffix(q.Text, "… (15904 more bytes)") {
		t.Errorf("a long question: %d bytes, %q", len(q.Text), q.Text[len(q.Text)-30:])
	}
	for i, want := range []int{20_000, 20_000} {
		if s := q.Show[i]; len(s.Text)+s.Left != want || len(s.Text) > 16<<10 || !strings.HasSuffix(s.Text, "x") && !strings.HasSuffix(s.Text, "ä") {
			t.Errorf("%s: %d bytes and %d left, want %d in all", s.Name, len(s.Text), s.Left, want)
		}
	}
}

// opened is a file system with files whose opening blocks. It records that one was opened.
type opened struct {
	fs.StatFS
	what []string
}

func (o *opened) Open(name string) (fs.File, error) {
	o.what = append(o.what, name)
	return o.StatFS.Open(name)
}

// TestShowPipe tests that a pipe created after the workflow was loaded is not opened.
func TestShowPipe(t *testing.T) {
	files := fstest.MapFS{}
	watched := &opened{StatFS: files}
	env := core.Env{Edges: edges("Go -> on"), Files: watched}
	made, ds := human.Kind.Compile(nodestest.Node(t, `{"show": ["pipe.md"]}`), env)
	if ds.Failed(true) {
		t.Fatal(ds)
	}
	files["pipe.md"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	var asked core.Question
	in := core.Shared{Ask: func(_ context.Context, q core.Question) (core.Answer, error) {
		asked = q
		return core.Answer{Text: "g"}, nil
	}}
	if _, err := made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, in)); err != nil {
		t.Fatal(err)
	}
	if len(asked.Show) != 1 || asked.Show[0].Missing != "read pipe.md: it is not a regular file" || len(watched.what) > 0 {
		t.Errorf("shown %+v, opened %v", asked.Show, watched.what)
	}
}

func TestShowFindings(t *testing.T) {
	notFiles := fstest.MapFS{"docs/a.md": {}, "pipe.md": {Mode: fs.ModeNamedPipe}}
	for node, want := range map[string]string{
		`{"text": "{{$.pln}}"}`:        `1:14: error: node n: text: unknown field "pln" (did you mean "plan"?) [EXPR_NAME]`,
		`{"show": ["../plan.md"]}`:     `1:11: error: node n: show: the file "../plan.md" does not lie below the workflow's folder [BAD_VALUE]`,
		`{"show": "plan,/etc/passwd"}`: `1:15: error: node n: show: the file "/etc/passwd" does not lie below the workflow's folder [BAD_VALUE]`,
		`{"show": ["pln"]}`:            `1:11: warning: node n: show: "pln" is taken for a file (a value of the context is context.pln, an expression begins with $) [MISSING_FILE]`,
		`{"show": ["$.a +"]}`:          `[EXPR_SYNTAX]`,
		`{"show": [" "]}`:              `1:11: error: node n: show: an entry is empty [BAD_VALUE]`,
		`{"show": ""}`:                 `1:10: error: node n: show: an entry is empty [BAD_VALUE]`,
		`{"show": ",, "}`:              `1:10: error: node n: show: an entry is empty [BAD_VALUE]`,
		`{"show": "context."}`:         `error: node n: show: "context." names no key of the context [BAD_VALUE]`,
		`{"show": ["."]}`:              `1:11: error: node n: show: "." is a folder, not a file [BAD_VALUE]`,
		`{"show": ["docs"]}`:           `1:11: error: node n: show: "docs" is not a regular file [BAD_VALUE]`,
		`{"show": ["pipe.md"]}`:        `1:11: error: node n: show: "pipe.md" is not a regular file [BAD_VALUE]`,
		`{"show": [5]}`:                `[WRONG_TYPE]`,
	} {
		_, ds := human.Kind.Compile(nodestest.Node(t, node), core.Env{Edges: edges("A -> a"), Files: notFiles, Schema: nodestest.Schema(t, `{"plan": "string"}`)})
		if got := nodestest.Findings(ds); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", node, got, want)
		}
	}
}

func TestConsoleShows(t *testing.T) {
	var out bytes.Buffer
	q := core.Question{Node: "gate", Text: "Ship it?", Choices: []core.Choice{{Key: "Y", Label: "Yes", Target: "y"}}, Show: []core.Shown{
		{Name: "plan", Text: "1. build\n2. \x1b[2Jship\n", Left: 7}, {Name: "notes.md", Missing: "it is not there"}}}
	who := human.Console(strings.NewReader("x\ny\n"), &out)
	if _, err := who.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	q.Again = `"x" is none of the choices`
	if _, err := who.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	want := "plan:\n  | 1. build\n  | 2. \ufffd[2Jship\n  … 7 more bytes\nnotes.md: it is not there\ngate: Ship it?\n  [Y] Yes\n> " +
		"\"x\" is none of the choices\ngate: Ship it?\n  [Y] Yes\n> "
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestShownInEvents tests that the event of a question has the shown values.
func TestShownInEvents(t *testing.T) {
	e := wavefold.NewEngine()
	w, ds := e.Parse("walk.dot", []byte(`digraph g { start [shape=Mdiamond]; exit [shape=Msquare]
		gate [shape=hexagon, text="Reach {{$input.goal}}?", show="$input.goal,context.none"]
		start -> gate; gate -> exit [label="Yes"]; graph [goal="the end"] }`))
	p, found := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds, found)
	}
	var got string
	_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Interviewer: human.AutoApprove(), Listener: func(e core.Event) {
		if e.Type == core.NodeAsked {
			shown, _ := e.Values.Get("show")
			got = fmt.Sprint(e.Reason, " ", value.JSON(shown))
		}
	}})
	if want := `Reach the end? [{"name":"$input.goal","text":"the end"},{"name":"context.none","missing":"there is no value"}]`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

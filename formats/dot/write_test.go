package dot

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// testOptions define a kind, and a key for another one.
var testOptions = Options{Files: folder, Kinds: func(kind string) ([]string, bool) {
	switch kind {
	case "agent":
		return []string{"prompt", "model", "provider", "reasoning_effort", "max_tokens", "temperature"}, true
	case "http":
		return []string{"url", "method", "retries"}, true
	}
	return nil, false
}}

// roundTrip writes a document's workflow and parses the result. It does so twice, and
// the workflow must stay the same.
func roundTrip(t testing.TB, data []byte, opts Options) {
	t.Helper()
	w, ds := Parse("in.dot", data, opts)
	if ds.Failed(false) {
		return
	}
	out, err := Write(w)
	if err != nil {
		t.Fatalf("%s\n%v", data, err)
	}
	back, ds := Parse("in.dot", out, opts)
	if ds.Failed(false) {
		t.Fatalf("%s\nwritten:\n%s\n%v", data, out, ds)
	}
	if d := difference(w, back); d != "" {
		t.Fatalf("%s\n%s\nwritten:\n%s", d, data, out)
	}
	again, err := Write(back)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("written:\n%s\nand again: %v\n%s", out, err, again)
	}
}

func TestRoundTrip(t *testing.T) {
	archives, _ := filepath.Glob("testdata/findings/*.txtar")
	for _, path := range archives {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, files := formatstest.Split(string(text))
		for _, f := range files {
			if filepath.Ext(f.Name) == ".dot" {
				t.Run(f.Name, func(t *testing.T) { roundTrip(t, []byte(f.Data), testOptions) })
			}
		}
	}
	graphs, _ := filepath.Glob("testdata/graphs/*")
	for _, path := range graphs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { roundTrip(t, data, testOptions) })
	}
}

const unusual = `digraph unusual {
  goal = "make \"it\" \\ work"
  graph [label="a\tb", rankdir=LR, size="7,5", nodesep=.5, max_node_visits=9, stall_timeout=90]
  default_max_retries = 2
  language = 0.50
  node [color="#ff0000", fontsize=12]
  start [shape=circle]
  a [prompt="say $$goal, $goal and {{ inputs.day }}, {% raw %} {{ upper( }}
second \line with ünïcode, $language for $5, \$literal and $unknown.md", class="big, red big", llm_prompt="x", temperature=0.5, weight=1.0]
  b [type=my_func, threshold=0.25, name="x y", deep=true, n=3, label="B"]
  c [type=http, url="http://localhost/x", retries=3, color=blue, other=1]
  d [shape=house, stack.child_workflow="child.dot"]
  e [shape=house, stack.child_workflow="gone.dot"]
  f [retry_policy=standard, max_retries=4, prompt=x]
  g [retry_policy=often, max_retries=4, prompt=x, selection=rendom]
  h [shape=component, join_policy="quorum(0.5)", max_parallel=2, error_policy=ignore]
  i [shape=parallelogram, tool_command="ls", script=" "]
  j [import="x.dot"]
  k [shape=insulator, duration=90]
  l [llm_model="m", llm_prompt="p $goal", timeout="1m0.5s"]
  m [llm_model="m", model=n, max_tokens="9", llm_prompt=p, prompt="@{{ goal }}"]
  o [script="ls"]
  p [script="ls", shape=box]
  q [script="ls", shape=box, label="Do it", tool_command=x]
  r [tool_command="ls", prompt="Do it"]
  s [shape=hexagon, label="Ship $language to $place?"]
  t [shape=hexagon, text="Ship {{ goal }}?", label="[Y] $language $$language"]
  u [shape=parallelogram, script=" $setup ", language=python]
  v [system="Speak $language", prompt=x, context="true", temperature="0.5"]
  exit [shape=Msquare]
  start -> a -> b [label="[A] yes", weight="2", condition="outcome=success && context.x contains \"a b\"", style=dashed]
  b -> exit [loop_restart=true, freeform="true", max_visits=3]
  "node" -> exit
}`

func TestRoundTripUnusual(t *testing.T) {
	if _, ds := Parse("in.dot", []byte(unusual), testOptions); ds.Failed(false) {
		t.Fatal(ds)
	}
	roundTrip(t, []byte(unusual), testOptions)
	roundTrip(t, []byte(unusual), Options{})
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, ds := Parse("in.dot", data, testOptions)
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, d := range ds {
			outside := int(d.Pos.Line) > lines && filepath.Base(d.Pos.File) == "in.dot"
			if !d.Pos.IsValid() || d.Pos.Column < 1 || outside || d.Message == "" || d.Code == "" {
				t.Errorf("finding %v of %q", d, data)
			}
		}
		if w == nil && len(ds) == 0 {
			t.Errorf("neither a workflow nor a finding for %q", data)
		}
		lost := func(n *core.Node) bool { return n.Child != nil && n.Child.Lost != nil }
		if w != nil && w.Lost == nil && !slices.ContainsFunc(w.Nodes, lost) && ds.Has(source.CodeParse) {
			t.Errorf("nothing is lost for %q although %v", data, ds)
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data, testOptions) })
}

func seeds(f *testing.F) {
	formatstest.AddDocuments(f, "testdata/findings/*.txtar")
	f.Add([]byte(unusual))
	graphs, _ := filepath.Glob("testdata/graphs/*")
	for _, path := range graphs {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// TestAnyTextSurvives checks that any string in a label, prompt, script or unknown
// attribute survives writing and parsing.
func TestAnyTextSurvives(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "\n", "\\", `"`, "\t", "\r\n", "{{", "}}", "$goal", "$$", "$", "$x", "5", "{{coalesce($input.x, $.context.x, '$x')}}", "{{ goal }}", "{{ inputs.x }}",
		"{{'{{'}}", "{{$.context}}", "é", "//", "/*", "#", "->", "@", "1", ".", "true", "it's", "\x00"})
	texts := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") })
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(texts, 6, 6).Draw(rt, "texts")
		doc := "digraph g {\ngoal=" + inQuotes(values[0]) + "\na [prompt=" + inQuotes(values[1]) + ", label=" + inQuotes(values[2]) +
			", other=" + inQuotes(values[3]) + "]\nb [shape=parallelogram, script=" + inQuotes(values[4]) + "]\na -> b [label=" + inQuotes(values[5]) + "]\n}"
		w, ds := Parse("in.dot", []byte(doc), Options{})
		if ds.Failed(false) {
			return // a prompt in a file that does not exist
		}
		if got := w.Inputs[0].Default; got != values[0] {
			rt.Errorf("goal %q is read as %q", values[0], got)
		}
		if got, _ := w.Nodes[0].Attributes.Get("other"); got != values[3] {
			rt.Errorf("text %q is read as %q", values[3], got)
		}
		want := labelNames.ReplaceAllStringFunc(values[2], func(written string) string {
			switch {
			case written == `\$` || written == "$$":
				return "$"
			case written == "$goal" && strings.TrimSpace(values[0]) != "":
				return values[0]
			}
			return written
		})
		if got := w.Nodes[0].Label.Value; got != want && strings.TrimSpace(values[2]) != "" {
			rt.Errorf("label %q is read as %q, want %q", values[2], got, want)
		}
		roundTrip(t, []byte(doc), Options{})
	})
}

var labelNames = regexp.MustCompile(`\\\$|\$\$|\$[A-Za-z_]\w*`)

// A goal that begins with braces once became an escaped template in a label with a
// brace before the name. Labels are not templates and must be shown unchanged.
func TestBracesInLabels(t *testing.T) {
	w, ds := Parse("in.dot", []byte(`digraph g { goal="{{ x"; a [label="{{$goal"]; start -> a -> exit }`), Options{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	for _, n := range w.Nodes {
		if n.ID.Value == "a" && n.Label.Value != "{{{{ x" {
			t.Errorf("the label is %q, want %q", n.Label.Value, "{{{{ x")
		}
	}
}

func TestWriteErrors(t *testing.T) {
	base := func() *core.Workflow {
		w, ds := Parse("in.dot", []byte("digraph g { start -> a -> exit [condition=\"outcome=success\"]; a [prompt=x] }"), Options{})
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		return w
	}
	text := func(s string) source.Text { return source.At(s, source.Position{}) }
	tests := []struct {
		name string
		edit func(w *core.Workflow)
		want string
	}{
		{"mode", func(w *core.Workflow) { w.Mode = "" }, "workflow g: only walks can be written in DOT"},
		{"name", func(w *core.Workflow) { w.Name.Value = "" }, "workflow : a graph without a name cannot be written in DOT"},
		{"fields", func(w *core.Workflow) { w.Fields = []core.FieldDecl{{Name: text("x")}} }, "workflow g: fields of the state cannot be written in DOT"},
		{"input", func(w *core.Workflow) { w.Inputs = append(w.Inputs, core.InputDecl{Name: text("x")}) }, "input x: cannot be written in DOT"},
		{"handler", func(w *core.Workflow) { w.Nodes[1].Handler = core.HandlerFunc(nil) }, "node a: a Go function without a name cannot"},
		{"fan-out", func(w *core.Workflow) { w.Nodes[1].ForEach = &core.ForEach{} }, "node a: a fan-out cannot"},
		{"writes", func(w *core.Workflow) { w.Nodes[1].HasWrites = true }, "node a: what it reads and writes cannot"},
		{"join", func(w *core.Workflow) { w.Nodes[1].Join = core.JoinOf(text(core.JoinWaitAll)) }, "node a: a join of a node that is not parallel cannot"},
		{"retry", func(w *core.Workflow) { w.Nodes[1].OnError = &core.OnError{Policy: text("skip")} }, "node a: on_error: only presets"},
		{"attempts", func(w *core.Workflow) {
			w.Nodes[1].OnError = &core.OnError{Policy: text("retry"), Preset: text("linear"), Attempts: &source.Int{Value: 2}}
		}, "node a: on_error: 2 attempts of preset linear cannot"},
		{"kind", func(w *core.Workflow) { w.Nodes[1].Kind = text("tool") }, "node a: kind tool cannot be written in DOT: it would be read as node a of kind script"},
		{"list", func(w *core.Workflow) {
			w.Nodes[1].Config.Set(text("schema"), source.Tree([]any{"a"}, source.Position{}))
		}, "node a: schema: a value of type array cannot be written in DOT"},
		{"twice", func(w *core.Workflow) { w.Nodes[1].Attributes = value.ObjectOf("prompt", "y") }, `node a: attribute "prompt" would appear twice`},
		{"expression", func(w *core.Workflow) { w.Edges[1].Parsed = nil }, "edge a -> exit: a condition that is an expression cannot"},
		{"no node", func(w *core.Workflow) { w.Edges[1].To = text("gone") }, "workflow g cannot be written in DOT: it has 3 nodes and 2 edges, and would have 4 and 2"},
		{"utf8", func(w *core.Workflow) { w.Nodes[1].Label = text("a\xff") }, `node a: string "a\xff" is not valid UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := base()
			tt.edit(w)
			out, err := Write(w)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %q, %v, want error %q", out, err, tt.want)
			}
		})
	}
}

func TestWriteBuilt(t *testing.T) {
	text := func(s string) source.Text { return source.At(s, source.Position{}) }
	w := &core.Workflow{Name: text("built"), Mode: core.ModeWalk, Walk: &core.Walk{MaxVisits: &source.Int{Value: 7}}, HasInputs: true, Document: true,
		Inputs: []core.InputDecl{{Name: text("goal"), Type: &value.Type{Kind: value.StringType}, Default: "ship"}},
		Nodes: []*core.Node{
			{ID: text("begin"), Kind: text("start")},
			{ID: text("make"), Kind: text("script"), GoalGate: true, Timeout: &source.Located[time.Duration]{Value: 90 * time.Second},
				Config: source.Tree(value.ObjectOf("script", "make all", "language", "shell"), source.Position{})},
			{ID: text("pause"), Kind: text("wait"), Config: source.Tree(value.ObjectOf("duration", "1m30s"), source.Position{})},
			{ID: text("done"), Kind: text("exit")},
		},
		Edges: []*core.Edge{{From: text("begin"), To: text("make")}, {From: text("make"), To: text("pause"), Label: text("[Y] yes")}, {From: text("pause"), To: text("done"), Weight: source.Int{Value: 2}}},
	}
	out, err := Write(w)
	const want = `digraph built {
  goal=ship
  max_node_visits=7

  begin [shape=Mdiamond]
  make [shape=parallelogram, script="make all", language=shell, goal_gate=true, timeout=90s]
  pause [shape=insulator, duration=90s]
  done [shape=Msquare]

  begin -> make
  make -> pause [label="[Y] yes"]
  pause -> done [weight=2]
}
`
	if err != nil || string(out) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out, want)
	}
}

// A value from a stylesheet survives being written as an attribute of the node.
func TestRoundTripStyles(t *testing.T) {
	roundTrip(t, []byte(`digraph A { model_stylesheet="*{model:0}" A [max_tokens=0] }`), testOptions)
}

package sweny

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// folder is the folder of the documents in the archives.
var folder = fstest.MapFS{
	"prompt.md":      {Data: []byte("\nDo {{this}}.\n")},
	"rules/style.md": {Data: []byte("Short words.\n")},
	"empty.md":       {Data: []byte(" \n")},
	"binary.md":      {Data: []byte{0xff, 0xfe}},
}

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data, Options{Files: folder})
		return ds
	})
}

// counting counts how often each file is opened.
type counting struct {
	fs.FS
	opened map[string]int
}

func (c counting) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.FS.Open(name)
}

// TestEachFileOnce checks rule A6: each path is read once, however often it is named.
func TestEachFileOnce(t *testing.T) {
	files := counting{folder, map[string]int{}}
	_, ds := Parse("a.yml", []byte(`{id: a, name: A, entry: a, edges: [], rules: [./prompt.md, ./rules/../prompt.md],
nodes: {a: {name: A, instruction: ./prompt.md}, b: {name: B, instruction: {file: prompt.md}, context: [./prompt.md, ./no.md, ./no.md]}}}`), Options{Files: files})
	if len(ds) != 2 {
		t.Errorf("got %v, want two findings about a file that is not there", ds)
	}
	// Checking whether it is a file also opens it if the file system has no Stat
	// method.
	if n := files.opened["prompt.md"]; n > 2 {
		t.Errorf("prompt.md was opened %d times", n)
	}
}

func TestSources(t *testing.T) {
	w := parse(t, `{id: a, name: A, entry: a, edges: [], rules: ["https://x.test", ./rules/style.md], nodes: {a: {name: A, instruction: "Do {{this}}.", context: [./prompt.md]}}}`)
	var got []string
	for _, s := range w.Sources {
		got = append(got, strings.Join([]string{s.Field, s.Kind, s.Name, s.Hash}, " "))
	}
	want := []string{
		"rules[0] url https://x.test ",
		"rules[1] file ./rules/style.md b7c6c8db5128c477",
		"nodes.a.instruction inline  6915ad74976c829b",
		"nodes.a.context[0] file ./prompt.md 6915ad74976c829b",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// parse parses a document that has no errors.
func parse(t testing.TB, doc string) *core.Workflow {
	t.Helper()
	w, ds := Parse("a.yml", []byte(doc), Options{Files: folder})
	if ds.Failed(false) {
		t.Fatalf("%s\n%v", doc, ds)
	}
	return w
}

// TestConfig checks the configuration that is passed to the kind.
func TestConfig(t *testing.T) {
	const head = "{id: a, name: A, entry: a, edges: [], model: large, judge_model: small, "
	tests := []struct {
		name, doc, want string
	}{
		{"an instruction is not a template", head + `nodes: {a: {name: A, instruction: "Do {{this}}. "}}}`,
			`{"instruction":"Do {{this}}.","preamble":[{"title":"## Rules: you must follow these","input":"rules"},{"title":"## Background","input":"context"}],"context":true,"lenient":true,"model":"large","judge_model":"small"}`},
		{"rules of the run, the workflow, the node", head + `rules: [One., ./rules/style.md], context: [C.], nodes: {a: {name: A, instruction: I., rules: [Two.]}}}`,
			`{"instruction":"I.","preamble":[{"title":"## Rules: you must follow these","input":"rules","text":"One.\n\nShort words.\n\nTwo."},{"title":"## Background","input":"context","text":"C."}],"context":true,"lenient":true,"model":"large","judge_model":"small"}`},
		{"only its own rules", head + `rules: [One.], context: [C.], nodes: {a: {name: A, instruction: I., rules: {only: true, sources: [Two.]}, context: {only: true, sources: []}}}}`,
			`{"instruction":"I.","preamble":[{"title":"## Rules: you must follow these","text":"Two."}],"context":true,"lenient":true,"model":"large","judge_model":"small"}`},
		{"only false adds", head + `rules: [One.], nodes: {a: {name: A, instruction: I., context: {only: true, sources: []}, rules: {sources: [Two.]}}}}`,
			`{"instruction":"I.","preamble":[{"title":"## Rules: you must follow these","input":"rules","text":"One.\n\nTwo."}],"context":true,"lenient":true,"model":"large","judge_model":"small"}`},
		{"everything else", head + `skills: {own: {description: D., instruction: Be kind.}},
  nodes: {a: {name: A, instruction: I., context: {only: true, sources: []}, rules: {only: true, sources: []},
    model: tiny, judge_model: judge, output: {type: object, properties: {n: {type: number}}, required: [n]}, max_turns: 5,
    skills: [own, github], tools: {allow: [a], deny: [b]}, fail_soft: true, disallowed_tools: [Bash],
    requires: {output_required: [input.day], on_fail: skip}, eval: [{name: e, kind: function, rule: {no_tool_called: [x]}}],
    retry: {max: 2, instruction: {reflect: "Why?"}}}}}`,
			`{"instruction":"I.","context":true,"lenient":true,"model":"tiny","schema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]},"max_turns":5,` +
				`"skills":[{"name":"own","description":"D.","instruction":"Be kind."},{"name":"github"}],"tool_filter":{"allow":["a"],"deny":["b"]},"fail_soft":true,` +
				`"requires":{"output_required":["input.day"],"on_fail":"skip"},"eval":[{"name":"e","kind":"function","rule":{"no_tool_called":["x"]}}],"judge_model":"judge","retry_instruction":{"reflect":"Why?"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, tt.doc).Nodes[0]
			if got := value.JSON(n.Config.Plain()); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
			if n.Kind.Value != "agent" || n.Label.Value != "A" {
				t.Errorf("kind %q, label %q", n.Kind.Value, n.Label.Value)
			}
		})
	}
}

func TestWorkflow(t *testing.T) {
	w := parse(t, `
id: triage
name: Alert triage
description: Look into alerts.
author: me
model: large
entry: gather
inputs:
  day: {type: string, required: true}
  tags: {type: "string[]", enum: [[a], [b]], default: [a]}
  limit: {type: number}
nodes:
  gather: {name: Gather, instruction: Gather., output: {type: object, properties: {n: {}, m: {}}}, retry: {max: 2}}
  fix-it: {name: Fix, instruction: Fix., output: {type: object, properties: {}}}
edges:
  - {from: gather, to: fix-it, when: "n > 5", max_iterations: 2}
  - {from: gather, to: fix-it}
`)
	if w.Name.Value != "triage" || w.Description.Value != "Look into alerts." || w.Mode != core.ModeWalk || !w.OpenInputs || !w.HasInputs || !w.Document {
		t.Errorf("got %+v", w)
	}
	walk := w.Walk
	if walk.Router.Value != core.RouterModel || walk.Entry.Value != "gather" || walk.Model.Value != "large" || value.JSON(walk.Attributes) != `{"name":"Alert triage","author":"me"}` {
		t.Errorf("got %+v with %s", walk, value.JSON(walk.Attributes))
	}
	if in := w.Inputs[1]; in.Name.Value != "tags" || in.Type.Kind != value.ArrayType || in.Type.Items.Kind != value.StringType || value.JSON(in.Default) != `["a"]` {
		t.Errorf("got input %+v", in)
	}
	if !w.Inputs[0].Required || !value.IsMissing(w.Inputs[0].Default) || w.Inputs[2].Type.Kind != value.NumberType {
		t.Errorf("got inputs %+v", w.Inputs)
	}
	gather, fix := w.Nodes[0], w.Nodes[1]
	if got := strings.Join(source.Strings(gather.ViewMembers), " "); got != "n m" || fix.ViewMembers != nil {
		t.Errorf("shown: got %q and %v", got, fix.ViewMembers)
	}
	if r := gather.OnError; r == nil || r.Policy.Value != "retry" || r.Attempts.Value != 3 || r.Base.Value != 0 || r.RetryOn.Value != "transient" || fix.OnError != nil {
		t.Errorf("retry: got %+v", r)
	}
	a, b := w.Edges[0], w.Edges[1]
	if a.When.Value != "n > 5" || a.MaxIterations.Value != 2 || b.When != nil || b.MaxIterations != nil || a.Parsed != nil {
		t.Errorf("edges: got %+v, %+v", a, b)
	}
	if a.When.Pos.Line != 16 || gather.ID.Pos.Column != 3 {
		t.Errorf("positions: got %v and %v", a.When.Pos, gather.ID.Pos)
	}
}

// TestSharedLongText checks that a long text shared by many nodes does not exhaust the memory.
func TestSharedLongText(t *testing.T) {
	var shares, adds strings.Builder
	for i := range 300 {
		fmt.Fprintf(&shares, "  n%d: {name: N, instruction: I.}\n", i)
		fmt.Fprintf(&adds, "  n%d: {name: N, instruction: I., rules: [x]}\n", i)
	}
	long := "id: a\nname: A\nentry: n0\nedges: []\nrules: [" + strings.Repeat("word", 250_000) + "]\nnodes:\n"
	if _, ds := Parse("a.yml", []byte(long+shares.String()), Options{}); len(ds) != 0 {
		t.Errorf("one text for all: %v", ds)
	}
	if _, ds := Parse("a.yml", []byte(long+adds.String()), Options{}); len(ds) != 1 || ds[0].Code != source.CodeLimit {
		t.Errorf("a text for each: %v", ds)
	}
}

// TestBlankCondition checks that a blank condition is not a condition.
func TestBlankCondition(t *testing.T) {
	w := parse(t, `{id: a, name: A, entry: a, nodes: {a: {name: A, instruction: I.}}, edges: [{from: a, to: a, when: " ", max_iterations: 1}]}`)
	if e := w.Edges[0]; e.When != nil || len(w.Findings) != 1 {
		t.Errorf("got condition %v and %v", e.When, w.Findings)
	}
}

func TestIs(t *testing.T) {
	for doc, want := range map[string]bool{
		"{id: a, entry: a, nodes: {}}":                   true,
		"{nodes: {a: {name: A}}}":                        true,
		"{entry: a, nodes: [a]}":                         true,
		"{id: a, name: A}":                               true,
		"{name: A}":                                      false,
		"{name: A, graph: {nodes: []}, id: a, entry: b}": false,
		"{name: A, nodes: [{id: a}]}":                    false,
		"{mode: walk, entry: a, nodes: [{id: a}]}":       false,
		"[a]": false,
		"":    false,
	} {
		if got := Is(tree(t, doc)); got != want {
			t.Errorf("%s: got %v", doc, got)
		}
	}
	if Is(nil) || !Looks([]byte("id: a\nentry: x\nnodes:\n  a: {")) || !Looks([]byte("{\n\"entry\": \"a\",\n \"nodes\": {")) || Looks([]byte("entry: {")) {
		t.Error("a text that cannot be read is taken for another")
	}
}

func FuzzParse(f *testing.F) {
	formatstest.AddDocuments(f, "testdata/*.txtar")
	f.Fuzz(func(t *testing.T, data []byte) {
		w, ds := Parse("a.yml", data, Options{Files: folder})
		if w == nil && !ds.Failed(false) {
			t.Error("there is neither a workflow nor an error")
		}
		for _, d := range ds {
			if d.Pos.Line < 1 || d.Message == "" {
				t.Errorf("a finding without a place or a text: %+v", d)
			}
			switch d.Code {
			case source.CodeUnknownKey, source.CodeMissingKey, source.CodeWrongType, source.CodeBadValue, source.CodeSyntax:
				t.Errorf("a code of other formats: %v", d)
			}
		}
	})
}

func tree(t *testing.T, doc string) *source.Value {
	t.Helper()
	v, _ := document.Parse("a.yml", []byte(doc))
	return v
}

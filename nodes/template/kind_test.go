package template_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/template"
)

func env() core.Env {
	return core.Env{Files: fstest.MapFS{
		"letters/dear.md": {Data: []byte("Dear {{$.name}},\n{{body}}\n")},
		"letters/bad.md":  {Data: []byte("Dear\n  {{$.name ==}},\n")},
		"letters/huge.md": {Data: []byte(strings.Repeat("x", 1<<20+1))},
	}}
}

func shared() core.Shared {
	return core.Shared{
		Args:  value.ObjectOf("body", "all is well"),
		View:  core.NewView([]string{"orders"}, []any{[]any{value.ObjectOf("title", "Notes")}}),
		Extra: core.NewView([]string{"name"}, []any{"Ada"}),
	}
}

func TestRender(t *testing.T) {
	tests := []struct{ node, want string }{
		{`{"text": "plain"}`, `{} -> "plain"`},
		{`{"text": ""}`, `{} -> ""`},
		{`{"text": "{{$.name}}: {{$.orders[0]}}", "writes": ["letter"]}`, `{"letter":"Ada: {\"title\":\"Notes\"}"}`},
		{`{"file": "letters/dear.md", "writes": ["letter"]}`, `{"letter":"Dear Ada,\nall is well\n"}`},
		{`{"text": "x", "writes": ["b"], "into": "b"}`, `{"b":"x"}`},
	}
	for _, tt := range tests {
		made, ds := template.Kind.Compile(nodestest.Node(t, tt.node), env())
		if len(ds) > 0 {
			t.Errorf("%s: findings %v", tt.node, ds)
			continue
		}
		r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, shared()))
		if got := nodestest.Text(r); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.node, got, err, tt.want)
		}
		if made.Effects {
			t.Errorf("%s: a template has no effects", tt.node)
		}
	}
}

func TestReads(t *testing.T) {
	made, _ := template.Kind.Compile(nodestest.Node(t, `{"text": "{{$.name}} {{$.a.b}} {{$nodes.load.status}} {{$.name}}"}`), env())
	if got := strings.Join(source.Strings(made.Reads), " ") + ", " + strings.Join(source.Strings(made.Nodes), " "); got != "name a, load" {
		t.Errorf("got %s, want name a, load", got)
	}
}

func TestFindings(t *testing.T) {
	tests := []struct{ node, want string }{
		{`{"into": "x", "writes": ["x"]}`, `1:1: error: node n: key "text" or "file" is missing [MISSING_KEY]`},
		{`{"text": "a", "file": "letters/dear.md"}`, `1:23: error: node n: text and file exclude each other [BAD_VALUE]`},
		{`{"file": "letters/deer.md"}`, `1:10: error: node n: file: there is no file "letters/deer.md" (did you mean "letters/dear.md"?) [MISSING_FILE]`},
		{`{"file": "letters/huge.md"}`, `1:10: error: node n: file: "letters/huge.md" has 1048577 bytes, more than the limit of 1048576 [LIMIT]`},
		{`{"file": "../letters/dear.md"}`, `1:10: error: node n: file: "../letters/dear.md" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{`{"text": "a", "into": "x"}`, `1:23: error: node n: into: field "x" is not among the node's writes (add it: writes: [x]) [UNKNOWN_FIELD]`},
		{`{"text": "a {{"}`, `node n: text: "{{" is never closed`},
	}
	for _, tt := range tests {
		_, ds := template.Kind.Compile(nodestest.Node(t, tt.node), env())
		if got := nodestest.Findings(ds); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.node, got, tt.want)
		}
	}
	// A mistake in a file is reported at its position in the file.
	_, ds := template.Kind.Compile(nodestest.Node(t, `{"file": "letters/bad.md"}`), env())
	if len(ds) != 1 || ds[0].Pos.File != "letters/bad.md" || ds[0].Pos.Line != 2 {
		t.Errorf("got %v, want one finding in line 2 of letters/bad.md", ds)
	}
}

func TestMissingValue(t *testing.T) {
	made, _ := template.Kind.Compile(nodestest.Node(t, `{"text": "{{nothing}}"}`), env())
	_, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, shared()))
	if err == nil || !strings.Contains(err.Error(), "{{nothing}} has no value") {
		t.Errorf("got %v", err)
	}
}

func TestConformance(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, template.Kind,
		nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "write"), Env: env(), Input: shared(),
			Want: `{"letter":"Dear Ada, Notes is on its way."}`},
		nodestest.Case{Name: "file", Env: env(), Input: shared(),
			Node: `{"file": "letters/dear.md", "into": "b", "writes": ["a", "b"]}`},
	)
	nodestest.CheckDocs(t, template.Kind)
}

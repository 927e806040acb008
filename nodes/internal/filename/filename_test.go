package filename

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestName(t *testing.T) {
	in := core.Shared{
		View:  core.NewView([]string{"file"}, []any{"f.csv"}),
		Extra: core.NewView([]string{"up", "n", "uri"}, []any{"../x", int64(3), "file:in.csv?x=1"}),
		Item:  value.ObjectOf("id", int64(7)), Index: core.Nth(2),
	}
	for _, c := range []struct{ name, want, err string }{
		{"$.file", "f.csv", ""},
		{"$item.id", "", "$item.id is not a file name: 7"},
		{"$.none", "", "$.none is not a file name: null"},
		{"{{file}}", "f.csv", ""},
		{"out/{{$item.id}}/{{$index}}.csv", "out/7/2.csv", ""},
		{"./{{$.n}}.csv", "./3.csv", ""},
		{"a/b/{{$.up}}.csv", "", `"a/b/../x.csv" leaves the folder a/b/`},
		{"a/{{$.up}}/b.csv", "", `"a/../x/b.csv" leaves the folder a/`},
		{"/{{$.n}}", "/3", ""},
		{"{{$.none}}.csv", "", "1:1: {{$.none}} has no value"},
		{"$.uri", "", `"file:in.csv?x=1" is a URI, and files are named by their paths: write in.csv`},
		{"{{$.uri}}", "", `"file:in.csv?x=1" is a URI, and files are named by their paths: write in.csv`},
		{"./{{$.uri}}", "./file:in.csv?x=1", ""},
	} {
		s := table.NewScope(nodestest.Node(t, `{"reads": ["file"]}`), core.Env{Items: true})
		n := Output(s, source.At(c.name, source.Position{Line: 1, Column: 1}), "to")
		if n == nil {
			t.Fatalf("%s: %v", c.name, s.Found)
		}
		got, err := n.Text(in)
		if got != c.want || c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s: %q, %v, want %q, %s", c.name, got, err, c.want, c.err)
		}
	}
}

func TestFixedName(t *testing.T) {
	s := table.NewScope(nodestest.Node(t, `{}`), core.Env{})
	at := source.At("out.csv", source.Position{Line: 1, Column: 1})
	read, write := Input(s, at, "source"), Output(s, at, "to")
	for _, n := range []*Name{read, write} {
		if got, err := n.Text(core.Shared{}); got != "out.csv" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := s.Outputs(); len(got) != 1 || got[0] != at {
		t.Errorf("outputs %v, want the name that is written", got)
	}
	if Input(s, source.At(" ", at.Pos), "source") != nil || !s.Found.Has(source.CodeMissingKey) {
		t.Errorf("an empty name: %v", s.Found)
	}
	for _, name := range []string{"file:in.csv", "file:///tmp/in.csv", "file:{{$.day}}.csv"} {
		s := table.NewScope(nodestest.Node(t, `{}`), core.Env{})
		if Input(s, source.At(name, at.Pos), "source") != nil || !s.Found.Has(source.CodeBadValue) {
			t.Errorf("%s: %v", name, s.Found)
		}
	}
	if Input(s, source.At("{{x", at.Pos), "source") != nil || !s.Found.Has(source.CodeSyntax) {
		t.Errorf("an open template: %v", s.Found)
	}
}

// TestRootsOfTheNode: using $item in a node without an item was found only when the
// file was opened.
func TestRootsOfTheNode(t *testing.T) {
	at := source.Position{Line: 1, Column: 1}
	for _, text := range []string{"$item.file", "$index", "out/{{$item}}.csv"} {
		for _, items := range []bool{true, false} {
			s := table.NewScope(nodestest.Node(t, `{}`), core.Env{Items: items})
			s.Row(source.At("$item.x + $index", at), source.Columns{}, "row") // row expressions always have a row
			Input(s, source.At(text, at), "source")
			Output(s, source.At(text, at), "to")
			if got := s.Found.Has(source.CodeExprName); got == items {
				t.Errorf("%s with items %v: %v", text, items, s.Found)
			}
		}
	}
}

package table

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestName(t *testing.T) {
	in := core.Shared{
		View:  core.NewView([]string{"file"}, []any{"f.csv"}),
		Extra: core.NewView([]string{"up", "n"}, []any{"../x", int64(3)}),
		Item:  value.ObjectOf("id", int64(7)), Index: core.Nth(2),
	}
	for _, c := range []struct{ name, want, err string }{
		{"$.file", "f.csv", ""},
		{"$item.id", "", "$item.id is no file name: 7"},
		{"$.none", "", "$.none is no file name: null"},
		{"{{file}}", "f.csv", ""},
		{"out/{{$item.id}}/{{$index}}.csv", "out/7/2.csv", ""},
		{"./{{$.n}}.csv", "./3.csv", ""},
		{"a/b/{{$.up}}.csv", "", `"a/b/../x.csv" leaves the folder a/b/`},
		{"a/{{$.up}}/b.csv", "", `"a/../x/b.csv" leaves the folder a/`},
		{"/{{$.n}}", "/3", ""},
		{"{{$.none}}.csv", "", "1:1: {{$.none}} has no value"},
	} {
		s := NewScope(nodestest.Node(t, `{"reads": ["file"]}`), core.Env{Items: true})
		n := s.Output(source.At(c.name, source.Position{Line: 1, Column: 1}), "to")
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
	s := NewScope(nodestest.Node(t, `{}`), core.Env{})
	at := source.At("out.csv", source.Position{Line: 1, Column: 1})
	read, write := s.Input(at, "source"), s.Output(at, "to")
	for _, n := range []*Name{read, write} {
		if got, err := n.Text(core.Shared{}); got != "out.csv" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got := s.Outputs(); len(got) != 1 || got[0] != at {
		t.Errorf("outputs %v, want the name that is written", got)
	}
	if s.Input(source.At(" ", at.Pos), "source") != nil || !s.Found.Has(source.CodeMissingKey) {
		t.Errorf("an empty name: %v", s.Found)
	}
	if s.Input(source.At("{{x", at.Pos), "source") != nil || !s.Found.Has(source.CodeSyntax) {
		t.Errorf("an open template: %v", s.Found)
	}
}

func TestReadsAndSlots(t *testing.T) {
	schema := nodestest.Schema(t, `{"a": {}, "b": {"type": "integer"}, "c": {}, "d": {}}`)
	s := NewScope(nodestest.Node(t, `{"reads": ["b"]}`), core.Env{Schema: schema})
	pos := source.Position{Line: 1, Column: 1}
	p := s.Row(source.At("$.c + $.b + $item.x + $index + $input.y", pos), source.Columns{}, "k")
	s.Field(source.At("d", pos), "with")
	s.Field(source.At("nope", pos), "with")
	if got := source.Strings(s.Reads()); len(got) != 2 || got[0] != "c" || got[1] != "d" {
		t.Errorf("reads %v, want what is not among the declared ones", got)
	}
	if len(s.Found) != 1 || s.Found[0].Code != source.CodeUnknownField {
		t.Errorf("found %v", s.Found)
	}
	env := s.Slots().Row(core.Shared{
		View:   core.NewView([]string{"b"}, []any{int64(10)}),
		Extra:  core.NewView([]string{"c"}, []any{int64(100)}),
		Inputs: value.ObjectOf("y", int64(1000)),
	})
	if got := p.Value(env.At(value.ObjectOf("x", int64(1)), 2)); got != int64(1113) {
		t.Errorf("value %v, want 1113", got)
	}
}

// TestRootsOfTheNode: using $item in a node without an item was found only when the
// file was opened.
func TestRootsOfTheNode(t *testing.T) {
	at := source.Position{Line: 1, Column: 1}
	for _, text := range []string{"$item.file", "$index", "out/{{$item}}.csv"} {
		for _, items := range []bool{true, false} {
			s := NewScope(nodestest.Node(t, `{}`), core.Env{Items: items})
			s.Row(source.At("$item.x + $index", at), source.Columns{}, "row") // row expressions always have a row
			s.Input(source.At(text, at), "source")
			s.Output(source.At(text, at), "to")
			if got := s.Found.Has(source.CodeExprName); got == items {
				t.Errorf("%s with items %v: %v", text, items, s.Found)
			}
		}
	}
}

package templates

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// schema has the fields name (text) and orders (anything).
type schema struct{}

func (schema) FieldNames() []string { return []string{"name", "orders"} }
func (schema) FieldType(name string) (*value.Type, bool) {
	switch name {
	case "name":
		return &value.Type{Kind: value.StringType}, true
	case "orders":
		return nil, true
	}
	return nil, false
}

func resolved(id string) (core.Status, any, bool) {
	return core.Success, value.ObjectOf("rows", int64(3)), id == "load"
}

// node has args with a constant and a path.
var node = &core.Node{ID: source.At("n", source.Position{}), Args: source.Tree(value.ObjectOf("greeting", "hello", "orders", "$.name"), source.Position{})}

// TestArgsInPlaceOfReads tests that a plain name with a constant in the args is not read from the
// state.
func TestArgsInPlaceOfReads(t *testing.T) {
	for src, want := range map[string]string{"{{name}}": "", "{{name}} {{$.name}}": "name", "{{orders}}": "orders"} {
		n := &core.Node{ID: source.At("n", source.Position{}), Args: source.Tree(value.ObjectOf("name", "World", "orders", "$.other"), source.Position{})}
		s := NewSet(n, core.Env{Schema: schema{}})
		s.Template(source.At(src, source.Position{}), "text")
		if got := strings.Join(source.Strings(s.Reads), " "); got != want || len(s.Found) > 0 {
			t.Errorf("%s: reads %q, want %q (%v)", src, got, want, s.Found)
		}
	}
}

func TestRender(t *testing.T) {
	in := core.NewInput("run", "n", 1, core.Shared{
		Args: value.ObjectOf("greeting", "hello", "both", "arg"), Edges: value.ObjectOf("load", int64(9), "both", "edge"),
		View:  core.NewView([]string{"orders"}, []any{[]any{value.ObjectOf("id", int64(7))}}),
		Extra: core.NewView([]string{"name"}, []any{"Ada {{greeting}}"}),
		Item:  value.ObjectOf("k", "v"), Index: core.Nth(4), Inputs: value.ObjectOf("day", "monday"), Nodes: resolved,
		Loop: "refine", Round: 2,
	})
	tests := []struct {
		text  string
		want  string
		reads string
		nodes string
		err   string
	}{
		{"plain", "plain", "", "", ""},
		{"{{greeting}} {{$.name}}", "hello Ada {{greeting}}", "name", "", ""},
		{"{{name}}", "Ada {{greeting}}", "name", "", ""},
		{"{{both}} {{load}}", "arg 9", "", "", ""},
		{"{{$.orders[0].id}} of {{length($.orders)}} in {{$.orders}}", `7 of 1 in [{"id":7}]`, "orders", "", ""},
		{"{{$item.k}}{{$index}} {{$input.day}}", "v4 monday", "", "", ""},
		{"{{$loop}} {{$iter}}", "refine 2", "", "", ""},
		{"{{$nodes.load.output.rows}} {{$nodes.load.status}}", "3 success", "", "load", ""},
		{"$nodes.text {{$nodes.load.status}} {{'$nodes.quoted'}}", "$nodes.text success $nodes.quoted", "", "load", ""},
		{"{{nothing}}", "", "", "", "5:7: {{nothing}} has no value"},
		{"{{$nodes.other.output}}", "", "", "other", "has no value"},
	}
	for _, tt := range tests {
		s := NewSet(node, core.Env{Schema: schema{}, Items: true, Rounds: true})
		tmpl := s.Template(source.At(tt.text, source.Position{Line: 5, Column: 7}), "text")
		if len(s.Found) > 0 {
			t.Errorf("%s: findings %v", tt.text, s.Found)
			continue
		}
		if got := strings.Join(source.Strings(s.Reads), " "); got != tt.reads {
			t.Errorf("%s: reads %q, want %q", tt.text, got, tt.reads)
		}
		if got := strings.Join(source.Strings(s.Nodes), " "); got != tt.nodes {
			t.Errorf("%s: nodes %q, want %q", tt.text, got, tt.nodes)
		}
		got, err := tmpl.Render(in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || !core.FailureOf(err).Permanent {
				t.Errorf("%s: got error %v, want a permanent one with %q in it", tt.text, err, tt.err)
			}
			continue
		}
		if got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestFindings(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a {{$.nmae}}", `1:7: error: node n: text: unknown field "nmae" (did you mean "name"?) [EXPR_NAME]`},
		{"a {{", `1:3: error: node n: text: "{{" is never closed (close it with }}, or write {{'{{'}} for the two signs themselves) [SYNTAX]`},
		{"{{$.name > 3}}", `[EXPR_TYPE]`},
		{"{{$.a b}}", `[EXPR_SYNTAX]`},
		{"{{$output}}", `[EXPR_NAME]`},
	}
	for _, tt := range tests {
		s := NewSet(node, core.Env{Schema: schema{}})
		tmpl := s.Template(source.At(tt.text, source.Position{Line: 1, Column: 1}), "text")
		if got := nodestest.Findings(s.Found); tmpl != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestNodePlaces tests that node references have positions, at which unknown nodes are reported.
func TestNodePlaces(t *testing.T) {
	s := NewSet(node, core.Env{})
	s.Template(source.At("a {{$nodes.x.status}} {{$nodes.y.status}} {{$nodes.x.output}}", source.Position{Line: 3, Column: 1}), "text")
	if len(s.Nodes) != 2 || s.Nodes[0].Pos.Column != 12 || s.Nodes[1].Pos.Column != 32 {
		t.Errorf("got %v, findings %v", s.Nodes, s.Found)
	}
}

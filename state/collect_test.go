package state

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// TestCollectable checks rule 22: which fields can collect results, and which elements
// they accept.
func TestCollectable(t *testing.T) {
	array := &value.Type{Kind: value.ArrayType, Items: &value.Type{Kind: value.IntegerType}}
	for _, tt := range []struct {
		decl core.FieldDecl
		want string
	}{
		{core.FieldDecl{}, ""},
		{core.FieldDecl{Type: array}, ""},
		{core.FieldDecl{Type: array, Merge: source.At("array_append", source.Position{})}, ""},
		{core.FieldDecl{Type: array, Merge: source.At("union", source.Position{})}, ""},
		{core.FieldDecl{Merge: source.At("set_once", source.Position{})}, ""},
		{core.FieldDecl{Go: value.GoTypeFor[[]int]()}, ""},
		{core.FieldDecl{Go: value.GoTypeFor[int]()}, `field "f" has the Go type int, want a slice`},
		{core.FieldDecl{Type: &value.Type{Kind: value.StringType}}, `field "f" is of type string, want array`},
		{core.FieldDecl{Merge: source.At("max", source.Position{})}, `field "f" merges max, which does not take a list of results`},
		{core.FieldDecl{Reduce: func(_, v any) (any, error) { return v, nil }}, `field "f" merges custom, which does not take a list of results`},
	} {
		tt.decl.Name, tt.decl.Default = source.At("f", source.Position{}), value.Missing
		f := &schemaOf(t, tt.decl).Fields[0]
		got := ""
		if err := f.Collectable(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.decl, got, tt.want)
		}
	}
}

func TestCollect(t *testing.T) {
	type point struct{ X int }
	for _, tt := range []struct {
		decl  core.FieldDecl
		items []any
		want  string
	}{
		{core.FieldDecl{}, []any{1, "x", nil, []int{2}}, `[]interface {}{1, "x", interface {}(nil), []interface {}{2}}`},
		{core.FieldDecl{}, nil, `[]interface {}{}`},
		{core.FieldDecl{Go: value.GoTypeFor[[]point]()}, []any{point{1}, value.ObjectOf("X", 2), nil}, `[]state.point{state.point{X:1}, state.point{X:2}, state.point{X:0}}`},
		{core.FieldDecl{Go: value.GoTypeFor[[]point]()}, nil, `[]state.point{}`},
		{core.FieldDecl{Go: value.GoTypeFor[[]string]()}, []any{1}, `want string, got integer 1`},
	} {
		tt.decl.Name, tt.decl.Default = source.At("f", source.Position{}), value.Missing
		f := &schemaOf(t, tt.decl).Fields[0]
		var lists []any
		got := ""
		for _, v := range tt.items {
			list, err := f.AcceptElement(v)
			if err != nil {
				got = err.Error()
				break
			}
			lists = append(lists, list)
		}
		if got == "" {
			got = fmt.Sprintf("%#v", f.Collect(lists))
		}
		if got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.items, got, tt.want)
		}
	}
}

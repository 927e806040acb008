package state

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// Rule 22: which fields can collect results, and what the elements may be.
func TestCollectable(t *testing.T) {
	array := &core.Type{Kind: core.ArrayType, Items: &core.Type{Kind: core.IntegerType}}
	for _, tt := range []struct {
		decl core.FieldDecl
		want string
	}{
		{core.FieldDecl{}, ""},
		{core.FieldDecl{Type: array}, ""},
		{core.FieldDecl{Type: array, Merge: core.At("array_append", core.Position{})}, ""},
		{core.FieldDecl{Type: array, Merge: core.At("union", core.Position{})}, ""},
		{core.FieldDecl{Merge: core.At("set_once", core.Position{})}, ""},
		{core.FieldDecl{Go: core.GoTypeFor[[]int]()}, ""},
		{core.FieldDecl{Go: core.GoTypeFor[int]()}, `field "f" has the Go type int, want a slice`},
		{core.FieldDecl{Type: &core.Type{Kind: core.StringType}}, `field "f" is of type string, want array`},
		{core.FieldDecl{Merge: core.At("max", core.Position{})}, `field "f" merges max, which does not take a list of results`},
		{core.FieldDecl{Reduce: func(_, v any) (any, error) { return v, nil }}, `field "f" merges custom, which does not take a list of results`},
	} {
		tt.decl.Name, tt.decl.Default = core.At("f", core.Position{}), core.Missing
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
		{core.FieldDecl{Go: core.GoTypeFor[[]point]()}, []any{point{1}, core.ObjectOf("X", 2), nil}, `[]state.point{state.point{X:1}, state.point{X:2}, state.point{X:0}}`},
		{core.FieldDecl{Go: core.GoTypeFor[[]point]()}, nil, `[]state.point{}`},
		{core.FieldDecl{Go: core.GoTypeFor[[]string]()}, []any{1}, `want string, got integer 1`},
	} {
		tt.decl.Name, tt.decl.Default = core.At("f", core.Position{}), core.Missing
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

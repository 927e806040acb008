package table

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

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

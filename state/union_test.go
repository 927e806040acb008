package state

import (
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// TestUnionByValue checks that union compares elements by content. Previously,
// equal elements were kept twice if nested numbers had different types or keys a
// different order.
func TestUnionByValue(t *testing.T) {
	s := schemaOf(t, field("x", "union"))
	l := NewLedger(s, []int{1}, []any{value.Missing}, nil)
	l.Column(0).Resolve(0, nil, []any{
		[]any{value.ObjectOf("a", int64(1)), []any{value.ObjectOf("a", int64(1), "b", int64(2))}},
		[]any{value.ObjectOf("a", 1.0), []any{value.ObjectOf("b", 2.0, "a", int64(1))}, "1"},
	})
	if got, want := value.JSON(l.Final(0)), `[{"a":1},[{"a":1,"b":2}],"1"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package core_test

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// TestLooseDecision reads answers as lenient visual builders do: anything that does not say reject approves.
func TestLooseDecision(t *testing.T) {
	for _, c := range []struct {
		answer     any
		word, note string
	}{
		{nil, "approve", ""},
		{"", "approve", ""},
		{"looks fine", "approve", ""},
		{"Rejected, sorry", "reject", ""},
		{"do not reject", "reject", ""},
		{value.ObjectOf("decision", "REJECT", "note", "too dear"), "reject", "too dear"},
		{value.ObjectOf("decision", "rejected"), "approve", ""},
		{value.ObjectOf("decision", "approve", "note", int64(3)), "approve", ""},
		{value.ObjectOf("note", "reject"), "approve", "reject"},
		{value.ObjectOf(), "approve", ""},
		{int64(0), "approve", ""},
		{[]any{"reject"}, "approve", ""},
	} {
		if word, note := core.LooseDecision(c.answer); word != c.word || note != c.note {
			t.Errorf("%v is %s %q, want %s %q", c.answer, word, note, c.word, c.note)
		}
	}
}

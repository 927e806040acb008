package core_test

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// TestFlowPrompt puts the text of the token in place of every placeholder, and changes nothing else in it.
func TestFlowPrompt(t *testing.T) {
	for _, c := range []struct {
		template string
		previous any
		want     string
	}{
		{"", "text", "text"},
		{" \t\n ", "text", "text"},
		{"Do {{PREVIOUS_OUTPUT}}, and {{PREVIOUS_OUTPUT}}.", "it", "Do it, and it."},
		{"Say {{PREVIOUS_OUTPUT}}", "pay $$5 or $& now", "Say pay $$5 or $& now"},
		{"Say {{PREVIOUS_OUTPUT}}", "{{PREVIOUS_OUTPUT}}", "Say {{PREVIOUS_OUTPUT}}"},
		{"{{previous_output}} {{ PREVIOUS_OUTPUT }}", "x", "{{previous_output}} {{ PREVIOUS_OUTPUT }}"},
		{"{{PREVIOUS_OUTPUT}}", value.ObjectOf("b", "<i>&", "a", []any{int64(1), nil, true}), `{"b":"<i>&","a":[1,null,true]}`},
		{"{{PREVIOUS_OUTPUT}}", nil, ""},
		{"{{PREVIOUS_OUTPUT}}", int64(7), "7"},
		{"{{PREVIOUS_OUTPUT}}", "", ""},
	} {
		if got := core.FlowPrompt(c.template, c.previous); got != c.want {
			t.Errorf("%q with %v is %q, want %q", c.template, c.previous, got, c.want)
		}
	}
}

// TestFlowCondition compares in lower case, with the expected value trimmed. Nothing equals or contains an empty
// value.
func TestFlowCondition(t *testing.T) {
	equal, contains := func(v string) core.FlowCondition { return core.FlowCondition{Value: v} }, func(v string) core.FlowCondition { return core.FlowCondition{Contains: true, Value: v} }
	for _, c := range []struct {
		condition core.FlowCondition
		value     any
		want      bool
	}{
		{equal(" Yes "), "YES", true},
		{equal("yes"), "yes ", false}, // only the expected value is trimmed
		{contains(" YES "), "oh, yes!", true},
		{contains("no"), "yes", false},
		{equal(""), "", false},
		{contains(""), "anything", false},
		{contains("  "), "  ", false},
		{equal(`{"kind":"bug"}`), value.ObjectOf("Kind", "Bug"), true},
		{contains(`"kind"`), value.ObjectOf("Kind", "Bug"), true},
		{equal("true"), true, true},
		{equal("3"), int64(3), true},
		{equal("ÄRGER"), "ärger", true},
	} {
		if got := c.condition.Holds(core.FlowText(c.value)); got != c.want {
			t.Errorf("%s of %v is %t", c.condition, c.value, got)
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
)

func asks(city string) []llm.ToolCall {
	return []llm.ToolCall{{ID: "1", Name: "forecast", Arguments: `{"city": "` + city + `"}`}}
}

func TestAnswer(t *testing.T) {
	m := llmtest.Script(t,
		llmtest.Answer{Visit: 1, Calls: asks("Hamburgh")},
		llmtest.Answer{Visit: 2, Contains: `there is no forecast for "Hamburgh"`, Calls: asks("Hamburg")},
		llmtest.Answer{Visit: 3, Contains: "rain, 12 degrees", Text: "Yes, take an umbrella."})
	const want = "Yes, take an umbrella.\npath: agent -> agent -> agent\n"
	var out bytes.Buffer
	if err := ask(t.Context(), m, "Do I need an umbrella in Hamburg?", &out); err != nil || out.String() != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
	}
	last := m.Requests()[2].Messages
	roles := make([]llm.Role, len(last))
	for i, m := range last {
		roles[i] = m.Role
	}
	if want := []llm.Role{llm.User, llm.Assistant, llm.ToolRole, llm.Assistant, llm.ToolRole}; !slices.Equal(roles, want) {
		t.Errorf("the last conversation is by %s, want %s", roles, want)
	}
}

// A model that never answers, and one that fails, lead to the other node.
func TestNoAnswer(t *testing.T) {
	for want, a := range map[string]llmtest.Answer{
		"I cannot answer this: why?\npath: agent -> agent -> agent -> agent -> agent -> agent -> apologize\n": {Calls: asks("Athens")},
		"I cannot answer this: why?\npath: agent -> apologize\n":                                              {Err: errors.New("no credit")},
	} {
		var out bytes.Buffer
		if err := ask(t.Context(), llmtest.Script(t, a), "why?", &out); err != nil || out.String() != want {
			t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
		}
	}
}

package agent_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/llm/openai"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// TestOverTheWire tests a conversation with tools and a schema over HTTP, with servers that support
// schemas and servers that do not.
func TestOverTheWire(t *testing.T) {
	for _, noFormat := range []bool{false, true} {
		m := llmtest.Script(t,
			llmtest.Answer{Contains: "This answer cannot be used", Text: "```json\n{\"n\": 42}\n```"},
			llmtest.Answer{Contains: "the arguments are no JSON", Text: "forty-two"},
			llmtest.Answer{Contains: "Hi", Calls: []llm.ToolCall{{ID: "c1", Name: "double", Arguments: `{"n": 21}`}, {ID: "c2", Name: "fail", Arguments: "{"}}})
		s := llmtest.Serve(t, m, llmtest.ServerOptions{NoFormat: noFormat})
		model := openai.New(openai.Options{BaseURL: s.URL, Model: "small"})
		node := `{"prompt": "Hi", "system": "Count.", "tools": ["double", "fail"], "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}}`
		r, err := handle(t, "agent", model, node, functions(), core.Shared{})
		if got := outcome(r, err); got != `{} -> {"n":42}` {
			t.Errorf("without formats %v: %s", noFormat, got)
		}
		if got := m.Count("", ""); got != 3 {
			t.Errorf("the model was asked %d times", got)
		}
	}
}

// TestHostedOverTheWire tests that a server without hosted tools is reported at compile time.
func TestHostedOverTheWire(t *testing.T) {
	model := openai.New(openai.Options{BaseURL: "http://localhost:1/v1"})
	_, ds := kindOf("agent", model).Compile(nodestest.Node(t, `{"prompt": "Hi", "hosted_tools": ["web_search"]}`), core.Env{})
	if !ds.Failed(false) || !strings.Contains(ds.Error(), "node n: hosted_tools: ") {
		t.Error(ds)
	}
}

package agent_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
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

// TestFlowOverTheWire tests which model an agent of a flow asks: the one that its document names, else the one that the
// user has chosen, else the default; and that hosted tools are checked when it is compiled.
func TestFlowOverTheWire(t *testing.T) {
	m := llmtest.Script(t, llmtest.Answer{Text: "hello", Times: 9})
	s := llmtest.Serve(t, m, llmtest.ServerOptions{})
	for i, tt := range []struct{ chosen, named, want string }{
		{"", "", core.DefaultAgentModel},
		{"small", "", "small"},
		{"small", "big", "big"},
		{"small", core.DefaultAgentModel, core.DefaultAgentModel},
	} {
		w := &core.Workflow{Nodes: []*core.Node{{ID: source.At("n", source.Position{}), Flow: &core.FlowNode{Agent: &core.FlowAgent{Model: source.At(tt.named, source.Position{})}}}}}
		model := llm.WithRetry(openai.New(openai.Options{BaseURL: s.URL, Model: tt.chosen}), llm.Retry{Attempts: 1})
		h := compile(t, "agent", model, `{}`, core.Env{Agent: w.AgentCalls()["n"]})
		if _, err := h.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil {
			t.Fatal(err)
		}
		if got := m.Requests()[i].Model; got != tt.want {
			t.Errorf("chosen %q, named %q: the model %q is asked, want %q", tt.chosen, tt.named, got, tt.want)
		}
	}
	call := &core.AgentCall{NodeID: "n", Tools: core.AgentTools{WebSearch: true}}
	_, ds := kindOf("agent", openai.New(openai.Options{BaseURL: "http://localhost:1/v1"})).Compile(nodestest.Node(t, `{}`), core.Env{Agent: call})
	if !ds.Failed(false) || !strings.Contains(ds.Error(), "node n: the hosted tool web_search needs the Responses API of OpenAI; if the server at http://localhost:1/v1 has it, set WAVEFOLD_RESPONSES=1") {
		t.Error(ds)
	}
}

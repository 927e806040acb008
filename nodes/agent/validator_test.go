package agent_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/internal/validator"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// Without a validator, nodes that need one do not compile, and the finding names the import.
func TestNoValidator(t *testing.T) {
	linked := validator.Registered()
	if linked == nil {
		t.Fatal("the models for tests do not link the validator")
	}
	validator.Register(nil)
	defer validator.Register(linked)
	env := functions()
	env.WriteType = typesOf(nodestest.Schema(t, `{"score": {"type": "number"}}`))
	const reason = ": this program cannot check a JSON Schema (add to the program: import _ \"github.com/wavefold/wavefold/llm/jsonschema\") [NO_HANDLER]"
	for _, tt := range []struct {
		node  string
		model llm.Model
		want  string // the beginning of the finding, "" if there is none
	}{
		{`{"prompt": "hi"}`, script("x"), ""},
		{`{"prompt": "hi", "schema": {"type": "object"}}`, script("x"), "1:28: error: node n: schema"},
		{`{"prompt": "hi", "schema": {"type": "object"}}`, nil, "1:28: error: node n: schema"},
		{`{"prompt": "hi", "schema": 3}`, script("x"), "1:28: error: node n: schema: want a JSON Schema"},
		{`{"prompt": "hi", "writes": ["score"]}`, script("x"), "1:1: error: node n: the answer has to fit what the node writes"},
		{`{"prompt": "hi", "writes": ["score"]}`, nil, ""}, // no answer can arrive
		{`{"prompt": "hi", "tools": [{"name": "echo", "parameters": {"type": "object"}}]}`, script("x"), "1:59: error: node n: tools: echo: parameters"},
		{`{"prompt": "hi", "commands": [{"name": "ls", "run": ["ls"], "parameters": {"type": "object"}}]}`, script("x"), "1:75: error: node n: commands: ls: parameters"},
	} {
		_, ds := kindOf("agent", tt.model).Compile(nodestest.Node(t, tt.node), env)
		got := strings.TrimSpace(nodestest.Findings(ds))
		want := tt.want
		if want != "" && !strings.HasSuffix(want, "want a JSON Schema") {
			want += reason
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s, model %v:\ngot  %s\nwant %s", tt.node, tt.model != nil, got, want)
		}
	}
}

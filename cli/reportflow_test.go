package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestSubagentsAreNotSteps runs a flow with a sub-agent: it is not among the nodes that were never visited, and
// why says where its calls are.
func TestSubagentsAreNotSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(llmtest.Script(t, llmtest.Run("lead", "done")))
	text := `{"nodes": [{"id": "start", "type": "start"}, {"id": "lead", "type": "agent", "data": {"tools": {"subagents": true}}},
		{"id": "helper", "type": "agent"}, {"id": "gone", "type": "agent"}],
		"connections": [{"source": "start", "target": "lead"}, {"source": "lead", "target": "helper", "sourceHandle": "subagent"}]}`
	if err := os.WriteFile("team.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := Run(t.Context(), e, args, Streams{Out: &out, Err: &out, In: strings.NewReader(""), Getenv: func(string) string { return "" }}); code != want {
			t.Errorf("%v: exit code %d\n%s", args, code, out.String())
		}
		return out.String()
	}
	if got := run(0, "run", "--store", "none", "--events", "e.ndjson", "team.json"); !strings.Contains(got, "never visited: gone\n") || !strings.Contains(got, "lead  llm_response: done\n") {
		t.Error(got)
	}
	if got := run(0, "why", "helper", "team.json", "--run", "e.ndjson"); !strings.Contains(got, "helper is a sub-agent of lead") || strings.Contains(got, core.StepToken) {
		t.Error(got)
	}
}

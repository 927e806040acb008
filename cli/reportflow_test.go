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

// TestFlowFindings validates flows as the command does: the first problem in the order of the rules is
// reported, with its name and place, whatever else is wrong. Flows whose agents delegate wrongly, or with two
// starts, crashed the command.
func TestFlowFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	e := wavefold.NewEngine(std.Kinds()...)
	e.UseModel(llmtest.Script(t, llmtest.Answer{Text: "fine"}))
	const team = `{"tools": {"subagents": true}}`
	for _, c := range []struct{ nodes, connections, want string }{
		{"s=start a=agent", "s>a", ""},
		{"a=agent", "a>a", "start_missing"},
		{"s=start t=start a=agent", "s>zz", "start_many"},
		{"s=start a=agent b=agent", "s>a a>zz a>b:subagent", "dangling_connection"},
		{"s=start a=if b=agent", "s>a a>b:subagent", "subagent_source"},
		{"s=start a=agent+ b=if", "s>a a>b:subagent", "subagent_target"},
		{"s=start a=agent b=agent", "s>a a>b:subagent", "subagent_tool_off"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent/side", "subagent_handle"},
		{"s=start a=agent+", "s>a a>a:subagent", "subagent_self"},
		{"s=start a=agent+ b=agent", "s>a a>b:subagent a>b:subagent", "subagent_parents"},
		{"s=start a=agent+ b=agent+", "s>a a>b:subagent b>a:subagent", "subagent_executes"},
		{"s=start a=agent b=agent+ c=agent+", "s>a b>c:subagent c>b:subagent", "subagent_cycle"},
		{"s=start a=agent", "a>a", "start_unconnected"},
		{"s=start i=if", "s>i i>i:x", "condition_unconnected"},
		{"s=start p=input", "s>p p>p:x", "approval_unconnected"},
	} {
		var nodes, edges []string
		for n := range strings.FieldsSeq(c.nodes) {
			id, kind, _ := strings.Cut(n, "=")
			kind, data := strings.TrimSuffix(kind, "+"), "{}"
			if strings.HasSuffix(n, "+") {
				data = team
			}
			nodes = append(nodes, `{"id": "`+id+`", "type": "`+kind+`", "data": `+data+`}`)
		}
		for n := range strings.FieldsSeq(c.connections) {
			n, into, _ := strings.Cut(n, "/")
			n, handle, _ := strings.Cut(n, ":")
			from, to, _ := strings.Cut(n, ">")
			edges = append(edges, `{"source": "`+from+`", "target": "`+to+`", "sourceHandle": "`+handle+`", "targetHandle": "`+into+`"}`)
		}
		text := `{"nodes": [` + strings.Join(nodes, ",\n") + `], "connections": [` + strings.Join(edges, ",\n") + `]}`
		if err := os.WriteFile("f.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"validate", "run"} {
			var out, wrong bytes.Buffer
			code := Run(t.Context(), e, []string{command, "f.json"}, Streams{Out: &out, Err: &wrong, In: strings.NewReader(""), Getenv: func(name string) string { return map[string]string{"WAVEFOLD_STORE": "none"}[name] }})
			switch {
			case c.want == "" && command == "validate" && code != 0, c.want != "" && code != 2,
				c.want != "" && (!strings.HasSuffix(wrong.String(), " ["+c.want+"]\n") || strings.Count(wrong.String(), "error:") != 1 || !strings.HasPrefix(wrong.String(), "f.json:")):
				t.Errorf("%s of %s, %s: exit code %d, want %q\n%s", command, c.nodes, c.connections, code, c.want, wrong.String())
			}
		}
	}
}

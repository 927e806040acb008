package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// stepWalk returns a walk by steps of nodes that are JSON mappings, which begins at the first one.
func stepWalk(t *testing.T, nodes ...string) *core.Workflow {
	w := &core.Workflow{Name: source.Text{Value: "t"}, Mode: core.ModeWalk, Walk: &core.Walk{Router: source.Text{Value: core.RouterSteps}}}
	for _, n := range nodes {
		w.Nodes = append(w.Nodes, nodestest.Node(t, n))
	}
	w.Walk.Entry = w.Nodes[0].ID
	return w
}

func to(n *core.Node, transitions ...string) {
	for _, t := range transitions {
		key, target, _ := strings.Cut(t, ">")
		n.Transitions = append(n.Transitions, core.Transition{Key: source.Text{Value: key}, To: source.Text{Value: target}})
	}
}

// registry returns the kinds with a model, and the functions of the tests.
func registry(t *testing.T, m llm.Model) *core.Registry {
	reg := core.NewRegistry(agent.Kinds(m)...)
	env := functions()
	for _, name := range env.Tools {
		h, _ := env.Tool(name)
		if err := reg.AddTool(name, h); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

// TestStepLoop tests that each call of the model is a visit, that a visit continues the conversation
// of the visit before, and that another way into the node begins a new one.
func TestStepLoop(t *testing.T) {
	m := script("call echo {\"a\": 1}\nfail {}", "call echo {}", `done`, "call echo {}", `again`)
	w := stepWalk(t, `{"id": "a", "kind": "agent", "system": "Be brief.", "prompt": "Look", "tools": ["echo", "fail"], "writes": ["r"]}`,
		`{"id": "b", "kind": "agent", "prompt": "{{$.r}}!", "tools": [], "writes": []}`)
	w.Nodes[1].Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	edge := &core.Edge{From: w.Nodes[0].ID, To: w.Nodes[1].ID, Cond: &core.Cond{Kind: source.Text{Value: core.CondNoToolCall}}}
	back := source.Text{Value: "$visits < 2"}
	w.Edges = []*core.Edge{edge, {From: w.Nodes[1].ID, To: w.Nodes[0].ID, When: &back}}
	r := run(t, w, registry(t, m), nil, scheduler.Options{})
	if got := fmt.Sprint(r.Path); got != "[a a a b a a b]" || r.Status != core.RunSuccess {
		t.Fatalf("path %s, %s %v", got, r.Status, r.Err)
	}
	var shapes []string
	for _, q := range m.asked {
		var roles []string
		for _, msg := range q.Messages {
			roles = append(roles, string(msg.Role[:1]))
		}
		shapes = append(shapes, fmt.Sprintf("%d:%s", q.Turn, strings.Join(roles, "")))
	}
	if got, want := strings.Join(shapes, " "), "1:su 2:suatt 3:suattat 1:su 2:suat"; got != want {
		t.Errorf("requests: got %s, want %s", got, want)
	}
	second := m.asked[1].Messages
	if second[2].Calls[0] != (llm.ToolCall{ID: "c0", Name: "echo", Arguments: `{"a": 1}`}) || second[3].Text != `{"a":1}` || second[3].Call != "c0" ||
		!second[4].Failed || second[4].Text != "no such city" {
		t.Errorf("the conversation: %+v", second)
	}
	if got := value.JSON(r.State); got != `{"context":{"r":"again"}}` {
		t.Errorf("state %s", got)
	}
}

// TestStepBudget tests that the visits limit a tool loop and that max_turns does not.
func TestStepBudget(t *testing.T) {
	m := script("call echo {}")
	w := stepWalk(t, `{"id": "a", "kind": "agent", "prompt": "Look", "tools": ["echo"], "max_turns": 2, "writes": []}`)
	w.Nodes[0].MaxVisits = &source.Int{Value: 4}
	reg := registry(t, m)
	p, ds := plan.Compile(w, reg, plan.Options{Lint: lint.Check})
	if p == nil || !slices.ContainsFunc(ds, func(d source.Diagnostic) bool {
		return strings.Contains(d.Message, "max_turns has no effect: in a walk by steps each visit is one call of the model")
	}) {
		t.Errorf("findings: %v", ds)
	}
	if r := run(t, w, reg, nil, scheduler.Options{}); len(r.Path) != 4 || r.Status != core.RunFailed || len(m.asked) != 4 {
		t.Errorf("path %v, %s %v, %d calls", r.Path, r.Status, r.Err, len(m.asked))
	}
}

// TestStepChecks tests that the checks of an answer see the tool calls of earlier visits of the
// conversation, and that an unusable answer fails the attempt without another call.
func TestStepChecks(t *testing.T) {
	m := script("call echo {}", `{"n": 1}`)
	w := stepWalk(t, `{"id": "a", "kind": "agent", "prompt": "Look", "tools": ["echo"], "writes": [], "schema": {"type": "object", "required": ["n"]},
		"eval": [{"name": "looked", "kind": "function", "rule": {"any_tool_called": ["echo"]}}]}`)
	if r := run(t, w, registry(t, m), nil, scheduler.Options{}); r.Status != core.RunSuccess || len(r.Path) != 2 {
		t.Errorf("path %v, %s %v", r.Path, r.Status, r.Err)
	}
	bad := script("call echo {}", `{}`)
	r := run(t, w, registry(t, bad), nil, scheduler.Options{})
	if r.Status != core.RunFailed || len(bad.asked) != 2 || !strings.Contains(fmt.Sprint(r.Err), "the answer cannot be used") {
		t.Errorf("%s %v, %d calls", r.Status, r.Err, len(bad.asked))
	}
}

// TestChoices tests which nodes offer their transitions to the model, and how.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		name, node  string
		transitions []string
		answer      string
		offered     bool
		path        string
	}{
		{"text", `{"id": "a", "kind": "prompt", "prompt": "Look"}`, []string{"yes>b", "no>__end__", "error>b"}, "```json\n{\"route\": \"yes\"}\n```", true, "a b"},
		{"an answer without a choice", `{"id": "a", "kind": "prompt", "prompt": "Look"}`, []string{"yes>b", "no>__end__"}, `well, yes`, true, "a"},
		{"the end", `{"id": "a", "kind": "prompt", "prompt": "Look"}`, []string{"yes>b", "no>__end__"}, `{"route": "no"}`, true, "a"},
		{"a node", `{"id": "a", "kind": "prompt", "prompt": "Look"}`, []string{"yes>b", "no>__end__"}, `{"goto": "b"}`, true, "a b"},
		{"one choice", `{"id": "a", "kind": "prompt", "prompt": "Look"}`, []string{"yes>b", "error>b"}, `{"route": "yes"}`, false, "a"},
		{"tools", `{"id": "a", "kind": "agent", "prompt": "Look", "tools": ["echo"]}`, []string{"yes>b", "no>b"}, `{"route": "yes"}`, false, "a"},
		{"writes", `{"id": "a", "kind": "prompt", "prompt": "Look", "writes": ["x"]}`, []string{"yes>b", "no>b"}, `{"x": "text", "route": "yes"}`, true, "a b"},
		{"a closed schema", `{"id": "a", "kind": "prompt", "prompt": "Look", "schema": {"type": "object", "properties": {"n": {}}, "additionalProperties": false}}`,
			[]string{"yes>b", "no>b"}, `{"n": 1, "route": "yes"}`, true, "a b"},
		{"a schema with a choice of its own", `{"id": "a", "kind": "prompt", "prompt": "Look", "schema": {"type": "object", "properties": {"next_step": {}}, "additionalProperties": false}}`,
			[]string{"yes>b", "no>b"}, `{"next_step": "yes"}`, true, "a b"},
		{"a list", `{"id": "a", "kind": "prompt", "prompt": "Look", "schema": {"type": "array"}}`, []string{"yes>b", "no>b"}, `[1]`, false, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := script(tt.answer)
			w := stepWalk(t, tt.node, `{"id": "b", "writes": []}`)
			w.Nodes[1].Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
			to(w.Nodes[0], tt.transitions...)
			r := run(t, w, registry(t, m), nil, scheduler.Options{})
			if got := strings.Join(r.Path, " "); got != tt.path || r.Status != core.RunSuccess {
				t.Errorf("path %s, want %s; %s %v", got, tt.path, r.Status, r.Err)
			}
			prompt := m.asked[0].Messages[0].Text
			if offered := strings.Contains(prompt, `- "yes": continue at b`); offered != tt.offered || strings.Contains(prompt, `"error"`) {
				t.Errorf("the prompt: %s", prompt)
			}
			if slices.Contains(tt.transitions, "no>__end__") && !strings.Contains(prompt, `- "no": finish`) {
				t.Errorf("the end is not offered: %s", prompt)
			}
		})
	}
}

package explain_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
)

// TestFlow tests the explanation of a flow: each token leads to a separate visit, several may leave a
// node, and the entries of the log are in the visits that they are about.
func TestFlow(t *testing.T) {
	token := func(from string, visit int, to string) core.Event {
		return core.Event{Type: core.EdgeChosen, Node: from, From: from, To: to, Visit: visit, Step: core.StepToken}
	}
	logged := func(node string, visit int, step, content string) core.Event {
		return core.Event{Type: core.FlowLogged, Node: node, Visit: visit, Step: step, Log: content}
	}
	started := func(node string, visit int) core.Event {
		return core.Event{Type: core.NodeStarted, Node: node, Visit: visit, Attempt: 1}
	}
	ended := func(node string, visit int) core.Event {
		return core.Event{Type: core.NodeFinished, Node: node, Visit: visit, Status: core.Success.String()}
	}
	s := explain.New([]core.Event{
		{Type: core.RunStarted, Run: "r"},
		started("start", 1), ended("start", 1), token("start", 1, "a"), token("start", 1, "b"), token("start", 1, "m"),
		started("a", 1), started("b", 1), ended("b", 1), token("b", 1, "m"), ended("a", 1), token("a", 1, "m"), token("a", 1, "ask"),
		started("m", 3), logged("m", 3, core.LogLLMResponse, "of a\nand more"), ended("m", 3),
		started("m", 2), logged("m", 2, core.LogSubagentStart, `{"type":"subagent_call_start","subagentNodeId":"h","subagentName":"Hotels","depth":2}`), ended("m", 2),
		logged("ask", 1, core.LogStepStart, "approval node"),
	})
	for id, want := range map[string]string{
		"start": "start succeeded\n  visit 1: the walk began here\n    it succeeded\n    then to a: a token moves on\n    and to b: a token moves on\n    and to m: a token moves on",
		"m": "m succeeded, in the last of its 2 visits\n  visit 3: from a: a token moves on\n    llm_response: of a and more\n    it succeeded\n" +
			"  visit 2: from b: a token moves on\n    subagent_call_start: h (Hotels), depth 2\n    it succeeded",
		"ask": "ask waits for a person\n  visit 1: from a: a token moves on\n    it has not begun\n  it is asked after other approvals",
	} {
		a, _ := s.Account(id)
		if got := strings.Join(s.Explain(a), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if steps := s.Arrived("m"); len(steps) != 3 || steps[0].From != "start" || steps[2].From != "a" {
		t.Errorf("the tokens that arrived at m are %v", steps)
	}
}

// TestEntryOf checks that an entry is one line, and not longer than a line may be.
func TestEntryOf(t *testing.T) {
	for content, want := range map[string]string{
		" two\n\tlines ":         "two lines",
		strings.Repeat("é", 121): strings.Repeat("é", 119) + "…",
		"":                       "",
	} {
		if got := explain.EntryOf(&core.Event{Step: core.LogLLMResponse, Log: content}).Text; got != want {
			t.Errorf("%q is %q, want %q", content, got, want)
		}
	}
	broken := core.Event{Step: core.LogSubagentEnd, Log: "no JSON"}
	if got := explain.EntryOf(&broken).String(); got != "subagent_call_end: no JSON" {
		t.Errorf("got %q", got)
	}
}

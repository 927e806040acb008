package human_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func at(s string) source.Text {
	return source.At(s, source.Position{File: nodestest.File, Line: 1, Column: 1})
}

// edges parses edges of the form "label -> target" or "-> target". "label? ->" has a condition, and
// "label* ->" is freeform.
func edges(specs ...string) []*core.Edge {
	out := []*core.Edge{}
	for _, s := range specs {
		label, to, _ := strings.Cut(s, "-> ")
		label = strings.TrimSpace(label)
		e := &core.Edge{From: at("n"), To: at(to)}
		if rest, ok := strings.CutSuffix(label, "?"); ok {
			label, e.When = rest, new(at("outcome=fail"))
		}
		label, e.Freeform = strings.CutSuffix(label, "*")
		e.Label = at(label)
		out = append(out, e)
	}
	return out
}

// picked changes the condition of the first edge to one on the picked choice.
func picked(list []*core.Edge) []*core.Edge {
	list[0].When = new(at(`preferred_label = "Go"`))
	return list
}

// gate compiles a node.
func gate(t *testing.T, n *core.Node, list []*core.Edge) core.Handler {
	t.Helper()
	made, ds := human.Kind.Compile(n, core.Env{Edges: list})
	if ds.Failed(false) || made.Role != core.RoleHuman {
		t.Fatalf("role %d, %v", made.Role, ds)
	}
	return made.Handler
}

func input(who core.Interviewer) core.Input {
	s := core.Shared{}
	if who != nil {
		s.Ask = who.Ask
	}
	return core.NewInput("r1", "n", 2, s)
}

func routed(r core.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	if r.Routing == nil {
		return r.Status.String() + ": " + r.Note
	}
	c, note := r.Routing.Context, ""
	if r.Note != "" {
		note = "; " + r.Note
	}
	return fmt.Sprintf("%q to %s; %v, %q, %q%s", r.Routing.PreferredLabel, strings.Join(r.Routing.SuggestedNext, ","),
		c[human.ContextSelected], c[human.ContextLabel], c[human.ContextText], note)
}

func TestAnswers(t *testing.T) {
	review := edges("[A] Approve -> ship", "R) Revise -> edit", "-> stop")
	free := edges("[A] Approve -> ship", "[O] Other* -> chat")
	for _, tt := range []struct {
		name    string
		edges   []*core.Edge
		answers []string
		want    string
	}{
		{"a key", review, []string{" a "}, `"[A] Approve" to ship; A, "[A] Approve", " a "`},
		{"a label", review, []string{"REVISE"}, `"R) Revise" to edit; R, "R) Revise", "REVISE"`},
		{"no label", review, []string{"stop"}, `"stop" to stop; s, "stop", "stop"`},
		{"asked again", review, []string{"", "maybe", "r"}, `"R) Revise" to edit; R, "R) Revise", "r"`},
		{"never", review, slices.Repeat([]string{"maybe"}, 99), `error: nobody answered: asked 10 times, and at last "maybe" is none of the choices`},
		{"the end", review, []string{"maybe"}, "error: nobody answered: the queue of answers is empty"},
		{"freeform", free, []string{"", "why?"}, `"[O] Other" to chat; freeform, "[O] Other", "why?"`},
		{"a choice beside freeform", free, []string{"a"}, `"[A] Approve" to ship; A, "[A] Approve", "a"`},
		{"the label of the freeform edge is a text", free, []string{"other"}, `"[O] Other" to chat; freeform, "[O] Other", "other"`},
		{"only freeform", edges("* -> chat"), []string{"x"}, `"chat" to chat; freeform, "chat", "x"`},
		// A key that two choices share picks neither.
		{"a shared key", edges("Approve -> ship", "Abort -> stop"), []string{"a", "abort"}, `"Abort" to stop; A, "Abort", "abort"`},
		// The label alone would pick the earlier edge.
		{"the same label", edges("[A] Go -> left", "[B] Go -> right"), []string{"b"}, `"" to right; B, "[B] Go", "b"`},
		{"the label of another edge", edges("B -> a", "-> b"), []string{"b", "B -> a"}, "error: nobody answered: the queue of answers is empty"},
		{"a label that is only a key", edges("[A] -> left", "[B] -> right"), []string{"b"}, `"[B]" to right; B, "[B]", "b"`},
		// An edge for the engine is not a choice.
		{"an edge for the engine", edges("? -> alarm", "Go -> on"), []string{"alarm", "g"}, `"Go" to on; G, "Go", "g"`},
		{"a label with a condition", edges("Go? -> on", "Stop -> off"), []string{"g"}, `"Go" to on; G, "Go", "g"`},
		{"only edges for the engine", edges("? -> on", "? -> off"), []string{"o", "off"}, "error: nobody answered: no edge that leaves the node is a choice"},
		{"nothing to choose", edges(), []string{"x"}, "error: nobody answered: no edge that leaves the node is a choice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := gate(t, nodestest.Node(t, `{}`), tt.edges)
			got := routed(h.Handle(t.Context(), input(human.Queue(tt.answers...))))
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	n := nodestest.Node(t, `{"text": "Ship it?", "default_choice": "chat"}`)
	n.Timeout = new(source.At(time.Minute, n.Pos))
	var asked []core.Question
	who := human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
		asked = append(asked, q)
		return core.Answer{Choice: []core.Choice{{Key: "X"}, q.Choices[0]}[len(asked)-1]}, nil
	})
	got := routed(gate(t, n, edges("Yes -> ship", "? -> alarm", "No -> stop", "* -> chat")).Handle(t.Context(), input(who)))
	if want := `"Yes" to ship; Y, "Yes", ""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := core.Question{Run: "r1", Node: "n", Attempt: 2, Text: "Ship it?", Freeform: true, Timeout: time.Minute, Default: "chat",
		Choices: []core.Choice{{Key: "Y", Label: "Yes", Target: "ship"}, {Key: "N", Label: "No", Target: "stop"}}}
	for i, again := range []string{"", `the choice "" was not offered`} {
		want.Again = again
		if fmt.Sprint(asked[i]) != fmt.Sprint(want) {
			t.Errorf("asking %d: got %+v, want %+v", i, asked[i], want)
		}
	}
}

// TestText tests that the question is the label if there is no text, and the id if there is no
// label.
func TestText(t *testing.T) {
	text := func(n *core.Node) (text string) {
		who := human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
			text = q.Text
			return core.Answer{Text: "a"}, nil
		})
		gate(t, n, edges("-> a")).Handle(t.Context(), input(who))
		return text
	}
	n := nodestest.Node(t, `{}`)
	bare := text(n)
	n.Label = at("Review")
	if label := text(n); bare != "n" || label != "Review" {
		t.Errorf("got %q and %q", bare, label)
	}
}

func TestNobody(t *testing.T) {
	h := gate(t, nodestest.Node(t, `{}`), edges("Go -> on"))
	_, err := h.Handle(t.Context(), input(nil))
	if f := core.FailureOf(err); !errors.Is(err, core.ErrUnanswered) || !f.Permanent || f.InCategory() != core.Deterministic ||
		f.Message != "nobody answered: the run has no person to ask" {
		t.Errorf("nobody: %+v", core.FailureOf(err))
	}
	_, err = h.Handle(t.Context(), input(human.Func(func(context.Context, core.Question) (core.Answer, error) {
		return core.Answer{}, errors.New("the chat is unavailable")
	})))
	if f := core.FailureOf(err); f.Permanent || f.InCategory() != core.TransientInfra {
		t.Errorf("an error that another attempt may cure: %+v", f)
	}
}

// waits is an interviewer that never answers.
var waits = human.Func(func(ctx context.Context, _ core.Question) (core.Answer, error) {
	<-ctx.Done()
	return core.Answer{}, ctx.Err()
})

// answersAfter returns an interviewer that answers after some time and ignores its context.
func answersAfter(d time.Duration) core.Interviewer {
	return human.Func(func(context.Context, core.Question) (core.Answer, error) {
		time.Sleep(d)
		return core.Answer{Text: "a"}, nil
	})
}

func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		name, node string
		limit      time.Duration // of the context, as the engine sets it
		timeout    time.Duration // of the node
		who        core.Interviewer
		want       string
	}{
		{"default", `{"default_choice": "b"}`, time.Minute, time.Minute, waits, `"B" to b; B, "B", ""; no answer within 1m: the default choice`},
		{"no default", `{}`, time.Minute, time.Minute, waits, "retry: no answer within 1m"},
		// A context that ends before the timeout means that the run was cancelled.
		{"cancelled", `{"default_choice": "b"}`, time.Second, time.Minute, waits, "error: context deadline exceeded"},
		{"no timeout", `{}`, time.Second, 0, waits, "error: context deadline exceeded"},
		{"late by itself", `{"default_choice": "b"}`, time.Hour, time.Minute, late, `"B" to b; B, "B", ""; no answer within 1m: the default choice`},
		{"late without a timeout", `{}`, time.Hour, 0, late, "retry: no answer arrived in time"},
		// An interviewer that ignores its context.
		{"too late", `{"default_choice": "b"}`, time.Minute, time.Minute, answersAfter(2 * time.Minute), `"B" to b; B, "B", ""; no answer within 1m: the default choice`},
		{"too late, no default", `{}`, time.Minute, time.Minute, answersAfter(2 * time.Minute), "retry: no answer within 1m"},
		{"in time", `{"default_choice": "b"}`, time.Minute, time.Minute, answersAfter(time.Second), `"A" to a; A, "A", "a"`},
		// An answer that matches nothing does not extend the timeout.
		{"garbage", `{"default_choice": "b"}`, time.Minute, time.Minute, human.Func(func(ctx context.Context, _ core.Question) (core.Answer, error) {
			select {
			case <-time.After(25 * time.Second):
				return core.Answer{Text: "?"}, nil
			case <-ctx.Done():
				return core.Answer{}, ctx.Err()
			}
		}), `"B" to b; B, "B", ""; no answer within 1m: the default choice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nodestest.Node(t, tt.node)
				if tt.timeout > 0 {
					n.Timeout = new(source.At(tt.timeout, n.Pos))
				}
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				if got := routed(gate(t, n, edges("A -> a", "B -> b")).Handle(ctx, input(tt.who))); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

var late = human.Func(func(context.Context, core.Question) (core.Answer, error) { return core.Answer{}, core.ErrLate })

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		node    string
		timeout bool
		edges   []*core.Edge
		want    string
	}{
		{`{"text": "Go?"}`, false, edges("A -> a"), ""},
		{`{"default_choice": "bb"}`, true, edges("A -> aa", "B -> bc"),
			`1:20: warning: node n: default_choice: no choice leads to "bb", so nothing is taken when time is up (did you mean "bc"?) [UNKNOWN_NODE]`},
		{`{"default_choice": "far_away"}`, true, edges("A -> a", "B -> b"),
			`1:20: warning: node n: default_choice: no choice leads to "far_away", so nothing is taken when time is up (want one of a, b) [UNKNOWN_NODE]`},
		{`{"default_choice": "a"}`, false, edges("A -> a"),
			`1:20: warning: node n: default_choice is taken when time is up, and the node has no timeout [IGNORED]`},
		{`{}`, false, edges("[A] Go -> a", "[B] go -> b"),
			`1:1: warning: node n: the choices "[A] Go" and "[B] go" cannot be told apart but by their keys [DUPLICATE]`},
		{`{}`, false, edges("Go -> a", "* -> go"), ""},
		{`{}`, false, edges("[A] Go? -> a", "Stop -> b", "? -> c"),
			`1:1: warning: node n: the choice "[A] Go" counts only while its condition is true: if it is false when somebody picks it, no edge is followed [IGNORED]`},
		{`{}`, false, edges("Go? -> a", "Stop? -> b"), ""},
		{`{}`, false, picked(edges("Go? -> a", "Stop -> b")), ""},
		{`{"writes": ["x"]}`, false, edges("Go -> a"), `1:13: warning: node n: a human gate of a walk writes nothing, field "x" stays as it is [UNUSED]`},
		{`{"txt": "x"}`, false, edges("Go -> a"), `1:2: error: node n: unknown key "txt" (did you mean "text"? known keys: text, show, choices, fail_on, default, default_choice) [UNKNOWN_KEY]`},
		{`{"fail_on": ["A"], "choices": ["A"]}`, false, edges("A -> a"),
			`1:32: error: node n: choices, fail_on and default are settings of a gate in a dag (the choices of a walk are the labels of its edges; default_choice names the node that follows if there is no answer) [UNKNOWN_KEY]`},
		{`{"text": 5}`, false, edges("Go -> a"), `1:10: error: node n: text: want a string, found number 5 (put it in quotes to make it a string) [WRONG_TYPE]`},
	} {
		n := nodestest.Node(t, tt.node)
		if tt.timeout {
			n.Timeout = new(source.At(time.Minute, n.Pos))
		}
		_, ds := human.Kind.Compile(n, core.Env{Edges: tt.edges})
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.node, got, tt.want)
		}
	}
}

func TestDocs(t *testing.T) { nodestest.CheckDocs(t, human.Kind) }

func TestConformance(t *testing.T) {
	nodestest.Run(t, human.Kind, nodestest.Case{
		Name: "approve", Node: `{"text": "Ship it?", "default_choice": "ship"}`, Env: core.Env{Edges: edges("Yes -> ship", "No -> stop")},
		Input: core.Shared{Ask: human.AutoApprove().Ask},
	})
}

package sweny_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/sweny"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
)

// run runs a document against a script. It returns the model's requests: the purpose,
// the node and the last message of each call.
func run(t *testing.T, doc string, opts sweny.Options, inputs map[string]any, answers ...llmtest.Answer) (*core.Report, []string) {
	t.Helper()
	w, ds := sweny.Parse("a.yml", []byte(doc), opts)
	if w == nil {
		t.Fatal(ds)
	}
	m := llmtest.Script(t, answers...)
	e := wavefold.NewEngine(slices.Concat(std.Kinds(), agent.Kinds(m))...)
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	r, err := scheduler.Run(t.Context(), p, inputs, scheduler.Options{Router: llm.NewRouter(m)})
	if err != nil {
		t.Fatal(err)
	}
	var requests []string
	for _, q := range m.Requests() {
		requests = append(requests, fmt.Sprintf("%s %s: %s", q.Purpose, q.Node, q.Messages[len(q.Messages)-1].Text))
	}
	return r, requests
}

const review = `
id: review
name: Review
entry: draft
rules: [Be brief.]
nodes:
  draft: {name: Draft, instruction: "Write {{it}}.", rules: [Be kind.]}
  judge-it:
    name: Judge
    instruction: Judge it.
    rules: {only: true, sources: [Be strict.]}
    output: {type: object, properties: {verdict: {type: string}}, required: [verdict]}
    eval: [{name: known, kind: value, rule: {output_matches: [{path: verdict, in: [PASS, FAIL]}]}}]
    retry: {max: 1}
  send: {name: Send, instruction: Send it.}
edges:
  - {from: draft, to: judge-it}
  - {from: judge-it, to: draft, when: verdict is FAIL, max_iterations: 1}
  - {from: judge-it, to: send, when: verdict is PASS}
`

// TestRun runs a document whose judge first gives an unreadable answer, then no, then
// yes.
func TestRun(t *testing.T) {
	r, requests := run(t, review, sweny.Options{}, map[string]any{"rules": "Be honest.", "topic": "bees"},
		llmtest.Run("draft", "A draft."), llmtest.Run("send", "Sent."),
		llmtest.Run("judge-it", `{"verdict": "PERHAPS"}`).Once(), llmtest.Run("judge-it", `{"verdict": "FAIL", "why": "SECRET"}`).Once(), llmtest.Run("judge-it", `{"verdict": "PASS"}`),
		llmtest.Route("judge-it", "draft").At(1), llmtest.Route("judge-it", "send").At(2))
	if r.Status != core.RunSuccess {
		t.Errorf("the run ended %s: %v", r.Status, r.Err)
	}
	var calls []string
	for _, q := range requests {
		call, _, _ := strings.Cut(q, ":")
		calls = append(calls, call)
	}
	want := []string{"run draft", "run judge-it", "run judge-it", "route judge-it", "run draft", "run judge-it", "route judge-it", "run send"}
	if !slices.Equal(calls, want) {
		t.Errorf("got calls %q, want %q", calls, want)
	}
	const line = "\n\n---\n\n"
	if got, want := requests[0], "run draft: ## Rules: you must follow these\n\nBe honest.\n\nBe brief.\n\nBe kind."+line+"The context, what is known so far"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, line+"Write {{it}}.") {
		t.Errorf("the first node was told %q", got)
	}
	if got := requests[1]; !strings.Contains(got, "Be strict.") || strings.Contains(got, "Be brief.") || strings.Contains(got, "Be honest.\n") {
		t.Errorf("a node with rules of its own only was told %q", got)
	}
	if got := requests[2]; !strings.Contains(got, "known (value)") {
		t.Errorf("the second attempt was told %q", got)
	}
	if got := requests[3]; strings.Contains(got, "SECRET") || !strings.Contains(got, `"verdict"`) || !strings.Contains(got, `"known"`) || !strings.Contains(got, "bees") {
		t.Errorf("the router was shown %q", got)
	}
	if got := requests[7]; !strings.Contains(got, "A draft.") {
		t.Errorf("the last node was told %q", got)
	}
}

// TestRunParallelDocument runs a document with the option Parallel. The model chooses the
// successors of one node.
func TestRunParallelDocument(t *testing.T) {
	r, asked := run(t, mixed, sweny.Options{}, map[string]any{"rules": []any{"Be honest."}},
		llmtest.Answer{Purpose: llm.PurposeRun, Text: `{"status": "fine"}`},
		llmtest.Route("health", "report"), llmtest.Route("drift", "none"), llmtest.Route("quality", "investigate"), llmtest.Route("investigate", "escalate"))
	if r.Status != core.RunSuccess {
		t.Errorf("the run ended %s: %v", r.Status, r.Err)
	}
	status := map[string]core.Status{}
	for _, n := range r.Nodes() {
		status[n.ID] = n.Status
	}
	for id, want := range map[string]core.Status{"health": core.Success, "report": core.Success, "investigate": core.Success, "escalate": core.Success,
		"drift_to_report": core.Skipped, "drift_to_investigate": core.Skipped, "health_to_report": core.Success, "investigate_to_report": core.Skipped} {
		if status[id] != want {
			t.Errorf("%s: got %s, want %s", id, status[id], want)
		}
	}
	if len(asked) != 10 {
		t.Errorf("%d calls, want 6 nodes and 4 decisions", len(asked))
	}
	i := slices.IndexFunc(asked, func(q string) bool { return strings.HasPrefix(q, "run investigate:") })
	if i < 0 || !strings.Contains(asked[i], "Be honest.") || !strings.Contains(asked[i], `"drift":`) || strings.Contains(asked[i], "_to_") {
		t.Errorf("a node was told %q", asked[max(i, 0)])
	}
}

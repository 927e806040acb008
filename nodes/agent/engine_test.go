package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/formats/sweny"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/walk"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// These tests run whole documents through the real readers, plan and scheduler.

func run(t *testing.T, w *core.Workflow, reg *core.Registry, inputs map[string]any, o scheduler.Options) *core.Report {
	t.Helper()
	p, ds := plan.Compile(w, reg, plan.Options{Lint: lint.Check})
	if p == nil {
		t.Fatalf("findings:\n%v", ds)
	}
	report, _ := scheduler.Run(t.Context(), p, inputs, o)
	if report == nil {
		t.Fatal("no report")
	}
	return report
}

func yaml(t *testing.T, reg *core.Registry, text string) *core.Workflow {
	t.Helper()
	w, ds := native.Parse("main.yaml", []byte(text), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return w
}

// log records events as short strings.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(e core.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := fmt.Sprintf("%s %s", e.Type, e.Node)
	switch e.Type {
	case core.ModelAnswered:
		s += fmt.Sprintf(" %s turn %d", e.Purpose, e.Turn)
		if e.Usage != nil {
			s += fmt.Sprintf(" %d+%d", e.Usage.Input, e.Usage.Output)
		}
	case core.ToolCalled:
		s += fmt.Sprintf(" %s turn %d %s", e.Tool, e.Turn, e.Reason)
	case core.NodeRetrying:
		s += " " + e.Reason
	default:
		return
	}
	l.lines = append(l.lines, s)
}

const fanOut = `
name: fan
inputs: {words: {type: array}}
state: {schema: {words: {type: array}, upper: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: each, kind: prompt, prompt: "Upper: {{$item}}", for_each: {source: $.words, concurrency: 8}, writes: [upper]}
`

// TestFanOut tests that items, which share one compiled node, have results that do not depend on
// the order of the answers, and that their usage is added up.
func TestFanOut(t *testing.T) {
	var busy, peak atomic.Int64
	gate := make(chan struct{})
	m := llm.Func(func(ctx context.Context, r *llm.Request) (*llm.Response, error) {
		if n := busy.Add(1); n > peak.Load() {
			peak.Store(n)
			if n == 8 {
				close(gate)
			}
		}
		defer busy.Add(-1)
		select { // the first eight calls wait for each other
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		word, _ := strings.CutPrefix(r.Messages[0].Text, "Upper: ")
		return &llm.Response{Text: value.JSON(value.ObjectOf("upper", []any{strings.ToUpper(word)})), Usage: core.Usage{Input: 3, Output: 1}}, nil
	})
	reg := core.NewRegistry(agent.Kinds(m)...)
	var words, want []any
	for i := range 40 {
		words, want = append(words, fmt.Sprint("w", i)), append(want, fmt.Sprint("W", i))
	}
	r := run(t, yaml(t, reg, fanOut), reg, map[string]any{"words": words}, scheduler.Options{Concurrency: 8})
	got, _ := r.State.Get("upper")
	if r.Status != core.RunSuccess || value.JSON(got) != value.JSON(want) || peak.Load() != 8 {
		t.Errorf("%s %v, %d at once: %s", r.Status, r.Err, peak.Load(), value.JSON(got))
	}
	if (r.Usage != core.Usage{Calls: 40, Input: 120, Output: 40}) {
		t.Errorf("usage %+v", r.Usage)
	}
}

// TestBudgetOfARun tests that an exhausted budget ends the run with its error.
func TestBudgetOfARun(t *testing.T) {
	reg := core.NewRegistry(agent.Kinds(script(`{"upper": ["x"]}`))...)
	r := run(t, yaml(t, reg, fanOut), reg, map[string]any{"words": []any{"a", "b", "c", "d"}}, scheduler.Options{Concurrency: 1, Budget: core.Budget{Calls: 2}})
	if r.Status != core.RunFailed || !errors.Is(r.Err, scheduler.ErrBudget) || !strings.Contains(r.Err.Error(), "the budget of the run is used up: 2 of 2 calls") {
		t.Errorf("%s %v", r.Status, r.Err)
	}
}

// TestEvents tests the events of calls of the model and of tools, and that failed checks cause
// another attempt.
func TestEvents(t *testing.T) {
	m := script("call echo {}", `{"n": 3}`, `{"n": 2}`)
	reg := core.NewRegistry(agent.Kinds(m)...)
	h, _ := functions().Tool("echo")
	if err := reg.AddTool("echo", h); err != nil {
		t.Fatal(err)
	}
	var l log
	r := run(t, yaml(t, reg, `
name: one
state: {schema: {n: {type: integer}}}
graph:
  nodes:
    - id: a
      kind: agent
      prompt: Hi
      tools: [echo]
      eval: [{name: low, kind: value, rule: {output_matches: [{path: n, in: [1, 2]}]}}]
      on_error: {policy: retry, attempts: 2, base_ms: 0}
      writes: [n]
`), reg, nil, scheduler.Options{Listener: l.add})
	want := []string{
		"model.answered a run turn 1", "tool.called a echo turn 1 ", "model.answered a run turn 2 10+2",
		"node.retrying a attempt 1 of 2 asked to be run again: the checks of the answer failed:\n- low (value): n: want what is one of [1,2], got 3",
		"model.answered a run turn 1 10+2",
	}
	if r.Status != core.RunSuccess || value.JSON(r.State) != `{"n":2}` {
		t.Errorf("%s %v %s", r.Status, r.Err, value.JSON(r.State))
	}
	if len(l.lines) != len(want) {
		t.Fatalf("got  %q\nwant %q", l.lines, want)
	}
	for i := range want {
		if !strings.HasPrefix(l.lines[i], want[i]) {
			t.Errorf("got  %q\nwant %q", l.lines[i], want[i])
		}
	}
	if first := m.asked[2].Messages[0].Text; !strings.HasPrefix(first, "## The previous attempt did not pass its checks\n\n- low (value)") {
		t.Errorf("the second attempt is told %q", first)
	}
}

const drawn = `digraph fix {
  graph [goal="a green build"]
  start [shape=Mdiamond]
  exit [shape=Msquare]
  plan [shape=tab, prompt="Plan {{ goal }}, $goal.", model="small", reasoning_effort="low", context="mine", eval="mine"]
  work [prompt="Do it", tools="echo, fail", max_turns=4, temperature=0.5]
  start -> plan -> work
  work -> work [condition="context.last_response contains again"]
  work -> exit [condition="context.tests=green"]
}`

// TestDOT tests a graph in DOT: attributes are the keys of the kind, the answer sets the status of
// the node, and a function registered under the name of the kind replaces the model.
func TestDOT(t *testing.T) {
	m := script("the plan", "call echo {}", "again", `Done. {"outcome": "success", "context_updates": {"tests": "green"}}`)
	reg := core.NewRegistry(append(agent.Kinds(m), walk.Kinds()...)...)
	for _, name := range []string{"echo", "fail"} {
		h, _ := functions().Tool(name)
		reg.AddTool(name, h)
	}
	parse := func() *core.Workflow {
		w, ds := dot.Parse("fix.dot", []byte(drawn), dot.OptionsFor(reg, nil))
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		return w
	}
	r := run(t, parse(), reg, nil, scheduler.Options{})
	if r.Status != core.RunSuccess {
		t.Fatalf("%s %v", r.Status, r.Err)
	}
	if got := strings.Join(r.Path, " "); got != "start plan work work exit" {
		t.Errorf("path %s", got)
	}
	c := contextIn(t, r)
	for key, want := range map[string]string{"last_stage": `"work"`, "response.plan": `"the plan"`, "tests": `"green"`} {
		if v, _ := c.Get(key); value.JSON(v) != want {
			t.Errorf("%s is %s, want %s", key, value.JSON(v), want)
		}
	}
	first := m.asked[0]
	if !strings.HasSuffix(first.Messages[0].Text, "\n\n---\n\nPlan a green build, a green build.") || first.Model != "small" || first.Effort != "low" || first.Visit != 1 || m.asked[3].Visit != 2 {
		t.Errorf("%+v", first)
	}
	if len(m.asked[1].Tools) != 2 || *m.asked[1].Temperature != 0.5 {
		t.Errorf("%+v", m.asked[1])
	}

	before := len(m.asked)
	for _, name := range []string{"agent", "prompt"} {
		reg.AddTool(name, core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			r, _ := core.ParseDirective(`{"context_updates": {"tests": "green"}}`)
			return r, nil
		}))
	}
	if r := run(t, parse(), reg, nil, scheduler.Options{}); r.Status != core.RunSuccess || len(m.asked) != before {
		t.Errorf("the functions: %s %v, %d calls", r.Status, r.Err, len(m.asked)-before)
	}

	// Without a model the graph is valid, and a run is rejected.
	bare := core.NewRegistry(append(agent.Kinds(nil), walk.Kinds()...)...)
	for _, name := range []string{"echo", "fail"} {
		h, _ := functions().Tool(name)
		bare.AddTool(name, h)
	}
	p, ds := plan.Compile(parse(), bare, plan.Options{Lint: lint.Check})
	if p == nil || ds.Has(source.CodeNoHandler) {
		t.Fatal(ds)
	}
	if r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{}); r != nil || !strings.Contains(err.Error(), "has no model to ask") {
		t.Errorf("%v %v", r, err)
	}
}

// TestNamesInDOT tests the order in which names are looked up: inputs, attributes of the graph, the
// context. A name without a value is not replaced.
func TestNamesInDOT(t *testing.T) {
	const doc = `digraph names {
  language = "go"; depth = 1.10
  start [shape=Mdiamond]; exit [shape=Msquare]
  plan [shape=tab, prompt="Plan in $language to $depth for $$5, \\$7 or $8: $team, $nobody."]
  work [shape=tab, label="Do $team's $language", system="You speak $language"]
  gate [shape=hexagon, label="Ship $team of $language?"]
  start -> plan -> work -> gate -> exit
}`
	for _, tt := range []struct {
		inputs               map[string]any
		plan, work, question string
	}{
		{nil, "Plan in go to 1.10 for $5, $7 or $8: $team, $nobody.", "Do blue's go", "Ship blue of go?"},
		{map[string]any{"language": "rust", "team": "red"}, "Plan in rust to 1.10 for $5, $7 or $8: red, $nobody.", "Do red's rust", "Ship red of rust?"},
	} {
		m := script(`{"context_updates": {"team": "blue"}}`, "done")
		reg := core.NewRegistry(append(append(agent.Kinds(m), walk.Kinds()...), human.Kind)...)
		w, ds := dot.Parse("names.dot", []byte(doc), dot.OptionsFor(reg, nil))
		if len(ds) != 2 || ds[0].Input != "team" || ds[1].Input != "nobody" {
			t.Fatal(ds)
		}
		p, ds := plan.Compile(w, reg, plan.Options{Lint: lint.Check})
		if p == nil {
			t.Fatal(ds)
		}
		var asked string
		r, err := scheduler.Run(t.Context(), p, tt.inputs, scheduler.Options{Interviewer: human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
			asked = q.Text
			return core.Answer{Choice: q.Choices[0]}, nil
		})})
		if err != nil || r.Status != core.RunSuccess {
			t.Fatal(err, r)
		}
		if got := own(m.asked[0].Messages[0].Text); got != tt.plan {
			t.Errorf("plan is told %q, want %q", got, tt.plan)
		}
		if got := m.asked[1].Messages; got[0].Text != "You speak "+tt.work[strings.LastIndex(tt.work, " ")+1:] || own(got[1].Text) != tt.work {
			t.Errorf("work is told %v, want %q", got, tt.work)
		}
		if asked != tt.question {
			t.Errorf("the person is asked %q, want %q", asked, tt.question)
		}
	}
}

// own returns the prompt of a node without the briefing before it.
func own(text string) string {
	if at := strings.LastIndex(text, "\n---\n\n"); at >= 0 {
		return text[at+len("\n---\n\n"):]
	}
	return text
}

// contextIn returns the final context of a walk.
func contextIn(t *testing.T, r *core.Report) *value.Object {
	t.Helper()
	v, _ := r.State.Get(core.ContextField)
	o, ok := v.(*value.Object)
	if !ok {
		t.Fatalf("the state is %s", value.JSON(r.State))
	}
	return o
}

const triage = `
id: triage
name: Triage
entry: look
nodes:
  look:
    name: Look
    instruction: Look at {{this}}.
    output: {type: object, properties: {severity: {type: string}}, required: [severity]}
    retry: {max: 1}
    eval:
      - {name: known, kind: value, rule: {output_matches: [{path: severity, in: [low, high]}]}}
  reply:
    name: Reply
    instruction: Reply.
    requires: {output_required: [look.severity], output_matches: [{path: look.evals.known.kind, equals: value}]}
edges:
  - {from: look, to: reply}
`

// TestSWEny tests a document of SWEny: failed checks cause another attempt, and the next node sees
// the whole answer.
func TestSWEny(t *testing.T) {
	m := script(`{"severity": "odd"}`, `{"severity": "low", "why": "a typo"}`, "Thanks.")
	reg := core.NewRegistry(agent.Kinds(m)...)
	w, ds := sweny.Parse("triage.yml", []byte(triage), sweny.Options{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	r := run(t, w, reg, map[string]any{"issue": "It crashes."}, scheduler.Options{})
	if r.Status != core.RunSuccess || len(m.asked) != 3 {
		t.Fatalf("%s %v, %d calls", r.Status, r.Err, len(m.asked))
	}
	if got := m.last().Text; !strings.Contains(got, "{\n\"input\": {\"issue\":\"It crashes.\"},\n\"look\": {\"severity\":\"low\",\"why\":\"a typo\",\"evals\":{\"known\":{\"name\":\"known\",\"kind\":\"value\",\"pass\":true}}}\n}") {
		t.Errorf("the second node is told %s", got)
	}
	if v, _ := contextIn(t, r).Get("reply"); !strings.Contains(value.JSON(v), `"Thanks."`) {
		t.Errorf("it came to %s", value.JSON(v))
	}
	if !slices.Equal(r.Path, []string{"look", "reply"}) {
		t.Error(r.Path)
	}
	// An error of the backend ends the run.
	reg = core.NewRegistry(agent.Kinds(script(errors.New("503 unavailable")))...)
	if r := run(t, w, reg, nil, scheduler.Options{}); r.Status != core.RunFailed || !strings.Contains(r.Err.Error(), "503 unavailable") || len(r.Path) != 1 {
		t.Errorf("%s %v %v", r.Status, r.Err, r.Path)
	}
}

// TestRequiredChecksExist tests that a requirement on a check that the other node does not have is
// an error at load. It could never be met, and was found only after a paid call.
func TestRequiredChecksExist(t *testing.T) {
	for _, tt := range []struct{ path, other, want string }{
		{"look.evals.knwon.pass", "", `16:45: error: node reply: requires: output_required: node look has no check "knwon" (did you mean "known"? known keys: known) [UNKNOWN_FIELD]`},
		{"any:look.evals.knwon", "", `16:49: error: node reply: requires: output_required: node look has no check "knwon" (did you mean "known"? known keys: known) [UNKNOWN_FIELD]`},
		{"look.evals.known.pass", "", ""},
		{"reply.evals.known", "", ""}, // an answer of a node without checks may have such a member
		{"look.evals.knwon", "evals: {type: object}, ", ""},
		{"look.severity", "", ""},
	} {
		text := strings.Replace(triage, "[look.severity]", "["+tt.path+"]", 1)
		text = strings.Replace(text, "properties: {", "properties: {"+tt.other, 1)
		for _, m := range []llm.Model{script(), nil} {
			w, ds := sweny.Parse("triage.yml", []byte(text), sweny.Options{})
			if ds.Failed(false) {
				t.Fatal(ds)
			}
			_, ds = plan.Compile(w, core.NewRegistry(agent.Kinds(m)...), plan.Options{Lint: lint.Check})
			if got := ds.Error(); ds.Failed(false) != (tt.want != "") || tt.want != "" && !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.path, got, tt.want)
			}
		}
	}
}

// TestLostSkillsEndTheWalk tests that a node with no available skills ends the run when it is reached
// (rule 38). A retry cannot help, and the router would decide without data.
func TestLostSkillsEndTheWalk(t *testing.T) {
	m := script("unused")
	reg := core.NewRegistry(agent.Kinds(m)...)
	w, _ := sweny.Parse("lost.yml", []byte("id: l\nname: L\nentry: a\nnodes:\n  a: {name: A, instruction: I., skills: [tracker]}\n  b: {name: B, instruction: I.}\nedges: [{from: a, to: b}]\n"), sweny.Options{})
	r := run(t, w, reg, nil, scheduler.Options{})
	if r.Status != core.RunFailed || len(m.asked) > 0 || !slices.Equal(r.Path, []string{"a"}) || !strings.Contains(r.Err.Error(), "none of the skills of the node is there (tracker)") {
		t.Errorf("%s %v, %d calls, %v", r.Status, r.Err, len(m.asked), r.Path)
	}
}

// TestFailuresAreSent tests that a failed node does not stop the walk, that the next node sees the
// reason, and that the run fails at its end (rule 25).
func TestFailuresAreSent(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []any
		want    string // the entry of the node in the context
		calls   int
	}{
		{"checks, twice", []any{`{"severity": "odd"}`, `{"severity": "even"}`, "Thanks."},
			`{"severity":"even","error":"the checks of the answer failed:\n- known (value): severity: want what is one of [\"low\",\"high\"], got \"even\"","evals":{"known":{"name":"known","kind":"value","pass":false,"reasoning":"severity: want what is one of [\"low\",\"high\"], got \"even\""}}}`, 3},
		{"a refusal is not tried again", []any{&llm.Response{Refusal: "No."}, "Thanks."}, `{"error":"the model declined: No."}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := script(tt.answers...)
			reg := core.NewRegistry(agent.Kinds(m)...)
			w, _ := sweny.Parse("triage.yml", []byte(triage), sweny.Options{})
			r := run(t, w, reg, nil, scheduler.Options{})
			if v, _ := contextIn(t, r).Get("look"); value.JSON(v) != tt.want {
				t.Errorf("got %s, want %s", value.JSON(v), tt.want)
			}
			if r.Status != core.RunFailed || len(m.asked) != tt.calls || !slices.Equal(r.Path, []string{"look", "reply"}) {
				t.Errorf("%s %v, %d calls, %v", r.Status, r.Err, len(m.asked), r.Path)
			}
		})
	}
}

// TestWritesOfACount tests that writes to a counting field need not be numbers, even with a schema,
// and that writes to other fields must have the field's type.
func TestWritesOfACount(t *testing.T) {
	reg := core.NewRegistry(agent.Kinds(script(`"a word"`))...)
	const doc = `
name: said
state:
  schema: {said: {type: integer, default: 0, merge: %s}}
graph:
  nodes:
    - {id: say, kind: prompt, prompt: Say a word., schema: {type: string}, writes: [said]}
`
	counting := fmt.Sprintf(doc, "count")
	for name, d := range map[string]string{"of a schema": counting, "of no schema": strings.Replace(counting, "schema: {type: string}, ", "", 1)} {
		r := run(t, yaml(t, reg, d), reg, nil, scheduler.Options{})
		if said, _ := r.State.Get("said"); said != int64(1) {
			t.Errorf("counted %v %s, want 1: %v", said, name, r.Err)
		}
	}
	_, ds := plan.Compile(yaml(t, reg, fmt.Sprintf(doc, "sum")), reg, plan.Options{Lint: lint.Check})
	if !ds.Has(source.CodeWrongType) {
		t.Errorf("a sum of words: %v", ds)
	}
}

// TestColumns tests that columns that expressions read of the rows of an answer are compared with
// the schema: at load if the schema allows no others, and otherwise with the answer.
func TestColumns(t *testing.T) {
	const open = "{type: array, items: {type: object, required: [file], properties: {file: {type: string}, line: {type: integer}}}}"
	closed := strings.Replace(open, "required:", "additionalProperties: false, required:", 1)
	object := func(rows string) string {
		return "{type: object, required: [issues], properties: {issues: " + rows + "}}"
	}
	for _, tt := range []struct {
		schema, column, extra string
		load, failure         string
	}{
		{object(open), "line", "", "", ""},
		{object(open), "file", "", "", ""},
		{object(open), "lien", "", "", `no row has the column "lien"`},
		{object(open), "fiel", "", "", `(did you mean "file"?`},
		{open, "line", "", "", ""},
		{open, "lien", "", "", `no row has the column "lien"`},
		{object(closed), "line", "", "", ""},
		{object(closed), "lien", "", `the rows have no column "lien" here`, ""},
		{closed, "lien", "", `did you mean "line"?`, ""},
		{object(closed), "lien", "lenient: true, ", "", `no row has the column "lien"`},
		{object(strings.Replace(closed, "required:", "patternProperties: {'^x': {}}, required:", 1)), "xline", "", "", `no row has the column "xline"`},
		{"{type: object, properties: {issues: {type: array}}}", "lien", "", "", `no row has the column "lien"`},
	} {
		name := tt.schema + " " + tt.column
		answer := `{"issues": [{"file": "a.go"}]}`
		if strings.HasPrefix(tt.schema, "{type: array") {
			answer = `[{"file": "a.go"}]`
		}
		m := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{Text: answer}, nil })
		reg := core.NewRegistry(agent.Kinds(m)...)
		w := yaml(t, reg, `
name: columns
state: {schema: {issues: {type: array}, out: {type: array}}}
graph:
  nodes:
    - {id: ask, kind: agent, prompt: find issues, `+tt.extra+`schema: `+tt.schema+`, writes: [issues]}
    - {id: each, kind: prompt, prompt: x, for_each: {source: "$.issues[?@.`+tt.column+` > 3]", collect: out}, writes: [out]}
  edges: [{from: ask, to: each}]
`)
		p, ds := plan.Compile(w, reg, plan.Options{})
		if found := fmt.Sprint(ds); ds.Failed(false) != (tt.load != "") || !strings.Contains(found, tt.load) {
			t.Errorf("%s: findings %v, want %q", name, ds, tt.load)
		}
		if p == nil || tt.load != "" {
			continue
		}
		report, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{})
		err := fmt.Sprint(report.Err)
		if (report.Err != nil) != (tt.failure != "") || !strings.Contains(err, tt.failure) {
			t.Errorf("%s: %v, want %q", name, report.Err, tt.failure)
		}
	}
}

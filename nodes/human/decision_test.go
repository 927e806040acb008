package human_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
)

// says returns an interviewer that always gives the same answer.
func says(a core.Answer) core.Interviewer {
	return human.Func(func(context.Context, core.Question) (core.Answer, error) { return a, nil })
}

func TestDecisions(t *testing.T) {
	const three = `{"choices": ["[S] Ship it", "hold", "drop"], "fail_on": ["drop"]}`
	for _, tt := range []struct {
		name, node string
		who        core.Interviewer
		want       string
	}{
		{"the default choices", `{}`, human.Queue("a"), `{} -> {"choice":"approve","text":"a","note":"","by":""}`},
		{"a choice in any case", `{}`, human.Queue("REJECT"), `{} -> {"choice":"reject","text":"REJECT","note":"","by":""}`},
		{"the first choice", three, human.AutoApprove(), `{} -> {"choice":"[S] Ship it","text":"","note":"","by":""}`},
		{"a label without its key", three, human.Queue("ship it"), `{} -> {"choice":"[S] Ship it","text":"ship it","note":"","by":""}`},
		{"asked again", three, human.Queue("maybe", "", "h"), `{} -> {"choice":"hold","text":"h","note":"","by":""}`},
		{"a note and a name", `{}`, says(core.Answer{Choice: core.Choice{Key: "r", Label: "reject"}, Text: "see #7", Note: "not today", By: "ann"}),
			`{} -> {"choice":"reject","text":"see #7","note":"not today","by":"ann"}`},
		{"a write", `{"writes": ["verdict"]}`, human.Queue("a"),
			`{"verdict":{"choice":"approve","text":"a","note":"","by":""}} -> {"choice":"approve","text":"a","note":"","by":""}`},
		{"a failing choice", three, human.Queue("d"), `error: the answer is "drop"`},
		{"a failing choice with a note", three, says(core.Answer{Text: "drop", Note: "too late", By: "bob"}), `error: the answer is "drop" by bob: too late`},
		{"nobody", `{}`, nil, "error: nobody answered: the run has no person to ask"},
		{"a choice that was not offered", `{}`, says(core.Answer{Choice: core.Choice{Key: "x", Label: "x"}}),
			`error: nobody answered: asked 10 times, and at last the choice "x" was not offered`},
		{"late", `{"default": "reject"}`, late, `{} -> {"choice":"reject","text":"","note":"no answer arrived in time","by":""}; no answer arrived in time: the default choice`},
		{"late with a default that fails", `{"default": "reject", "fail_on": ["reject"]}`, late, `error: the answer is "reject": no answer arrived in time`},
		{"late without a default", `{}`, late, "retry: no answer arrived in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made, ds := human.Kind.Compile(nodestest.Node(t, tt.node), core.Env{})
			if ds.Failed(false) || made.Role != core.RoleHuman {
				t.Fatalf("role %d, %v", made.Role, ds)
			}
			r, err := made.Handler.Handle(t.Context(), input(tt.who))
			got := value.JSON(writes(r)) + " -> " + value.JSON(r.EdgeOutput)
			switch {
			case err != nil:
				got = "error: " + err.Error()
				if !core.FailureOf(err).Permanent {
					t.Error("the failure is not permanent")
				}
			case r.Status == core.Retry:
				got = "retry: " + r.Note
			case r.Note != "":
				got += "; " + r.Note
			}
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func writes(r core.Result) *value.Object {
	o := &value.Object{}
	for k, v := range r.Delta {
		o.Set(k, v)
	}
	return o
}

func TestDecisionFindings(t *testing.T) {
	for _, tt := range []struct {
		node    string
		timeout bool
		types   map[string]string
		want    string
	}{
		{`{"choices": ["a", "b"], "fail_on": ["b"], "default": "a"}`, true, nil, ""},
		{`{"choices": ["go", "[G] Go"]}`, false, nil, `1:20: error: node n: choices: "[G] Go" appears twice [DUPLICATE]`},
		{`{"choices": ["a", " "]}`, false, nil, `1:19: error: node n: choices: a choice is empty [BAD_VALUE]`},
		{`{"fail_on": ["rejct"]}`, false, nil, `1:14: error: node n: fail_on: "rejct" is none of the choices (did you mean "reject"?) [BAD_VALUE]`},
		{`{"default": "later"}`, true, nil, `1:13: error: node n: default: "later" is none of the choices (want one of approve, reject) [BAD_VALUE]`},
		{`{"default": "reject"}`, false, nil, `1:13: warning: node n: default is taken when time is up, and the node has no timeout [IGNORED]`},
		{`{"default_choice": "ship"}`, true, nil, `1:20: error: node n: default_choice names a node of a walk (write default, with one of the choices) [UNKNOWN_KEY]`},
		{`{"writes": ["d"]}`, false, map[string]string{"d": "object"}, ""},
		{`{"writes": ["d"]}`, false, map[string]string{"d": "string"},
			`1:13: error: node n: writes: the decision does not fit into field "d": want string, got object [WRONG_TYPE]`},
	} {
		n := nodestest.Node(t, tt.node)
		if tt.timeout {
			n.Timeout = new(source.At(time.Minute, n.Pos))
		}
		env := core.Env{WriteType: func(field string) *value.Type {
			kinds := map[string]value.TypeKind{"object": value.ObjectType, "string": value.StringType}
			return &value.Type{Kind: kinds[tt.types[field]]}
		}}
		_, ds := human.Kind.Compile(n, env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.node, got, tt.want)
		}
	}
}

// TestNoApprovalBySettings tests that the settings that make a node succeed are rejected, because
// they would turn a missing answer into an approval.
func TestNoApprovalBySettings(t *testing.T) {
	for _, set := range []func(*core.Node){func(n *core.Node) { n.AllowPartial = true }, func(n *core.Node) { n.AutoStatus = true }} {
		n := nodestest.Node(t, `{}`)
		set(n)
		if _, ds := human.Kind.Compile(n, core.Env{}); !ds.Failed(false) {
			t.Error("accepted")
		}
	}
}

// run runs a document and returns its report. Nodes of kind slow take an hour.
func run(t *testing.T, text string, who core.Interviewer, listener func(core.Event)) *core.Report {
	t.Helper()
	e := wavefold.NewEngine(std.Kinds()...)
	if err := e.AddTool("slow", func(context.Context) error { time.Sleep(time.Hour); return nil }); err != nil {
		t.Fatal(err)
	}
	w, ds := e.Parse("flow.yaml", []byte(text))
	p, found := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds, found)
	}
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Interviewer: who, Concurrency: 1, MaxInFlight: 1, Listener: listener})
	if r == nil {
		t.Fatal(err)
	}
	return r
}

// asked is an interviewer that records the questions, and answers each after two hours.
type asked struct {
	mu        sync.Mutex
	open, max int
	names     []string
}

func (a *asked) Ask(ctx context.Context, q core.Question) (core.Answer, error) {
	a.mu.Lock()
	a.names = append(a.names, q.Node)
	a.open++
	a.max = max(a.max, a.open)
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.open--
		a.mu.Unlock()
	}()
	select {
	case <-time.After(2 * time.Hour):
		return core.Answer{Choice: q.Choices[0]}, nil
	case <-ctx.Done():
		return core.Answer{}, ctx.Err()
	}
}

// sorted returns the names of the nodes that asked.
func (a *asked) sorted() string {
	slices.Sort(a.names)
	return strings.Join(a.names, " ")
}

// findings returns what is wrong with a document.
func findings(t *testing.T, text string) string {
	t.Helper()
	e := wavefold.NewEngine(std.Kinds()...)
	w, ds := e.Parse("flow.yaml", []byte(text))
	if w != nil {
		_, more := e.Compile(w, false)
		ds = append(ds, more...)
	}
	return fmt.Sprint(ds)
}

// askedTest is a graph with gates or pauses.
type askedTest struct {
	name, graph string
	questions   string // that are asked
	open        int    // how many of them are open at the same time
	took        time.Duration
}

func testAsked(t *testing.T, tests []askedTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				who := &asked{}
				r := run(t, "name: t\nstate: {schema: {list: {type: array, default: [1, 2, 3]}}}\ngraph: "+tt.graph+"\n", who, nil)
				if got := who.sorted(); r.Status != core.RunSuccess || got != tt.questions || who.max != tt.open || r.Duration != tt.took {
					t.Errorf("%s after %s, %d at once: %s (%v)\nwant %s, %d at once: %s", r.Status, r.Duration, who.max, got, r.Err, tt.took, tt.open, tt.questions)
				}
			})
		})
	}
}

// TestGraphs tests gates in dags with one slot: how long the run takes, which questions are asked,
// and how many of them are open at the same time.
func TestGraphs(t *testing.T) {
	testAsked(t, []askedTest{
		{"the rest continues", `{nodes: [{id: work, kind: tool, impl: slow, writes: []}, {id: gate, kind: human}, {id: more, kind: tool, impl: slow, writes: []}]}`,
			"gate", 1, 2 * time.Hour},
		{"several at once", `{nodes: [{id: a, kind: human}, {id: b, kind: human}, {id: c, kind: human}, {id: work, kind: tool, impl: slow, writes: []}]}`,
			"a b c", 3, 2 * time.Hour},
		{"one after the other", `{nodes: [{id: a, kind: human}, {id: b, kind: human}], edges: [{from: a, to: b}]}`, "a b", 1, 4 * time.Hour},
		{"items, one at a time", `{nodes: [{id: gate, kind: human, for_each: {source: $.list}}, {id: work, kind: tool, impl: slow, writes: []}]}`,
			"gate[0] gate[1] gate[2]", 1, 6 * time.Hour},
		{"items, two at a time", `{nodes: [{id: gate, kind: human, for_each: {source: $.list, concurrency: 2}}, {id: work, kind: tool, impl: slow, writes: []}]}`,
			"gate[0] gate[1] gate[2]", 2, 4 * time.Hour},
		{"rows of a pipeline", `{nodes: [{id: gate, kind: human}, {id: work, kind: tool, impl: slow, writes: []}], pipelines: [{id: p, items: $.list, stages: [gate, work], concurrency: 3}]}`,
			"gate[0] gate[1] gate[2]", 3, 5 * time.Hour},
		{"rounds of a loop", `{nodes: [{id: gate, kind: human}], loops: [{id: l, body: [gate], max_iters: 2}]}`, "gate[0] gate[1]", 1, 4 * time.Hour},
	})
}

// TestGateEvents tests that the events of a question name the item or round.
func TestGateEvents(t *testing.T) {
	var got []string
	r := run(t, `name: t
state: {schema: {list: {type: array, default: [x, y]}}}
graph:
  nodes:
    - {id: each, kind: human, text: "Is {{$item}} fine?", for_each: {source: $.list}}
    - {id: row, kind: human}
    - {id: round, kind: human}
  pipelines: [{id: p, items: $.list, stages: [row]}]
  loops: [{id: l, body: [round], max_iters: 1}]
`, says(core.Answer{Text: "a", Note: "ok", By: "ann"}), func(e core.Event) {
		if e.Type == core.NodeAsked || e.Type == core.NodeAnswered {
			got = append(got, fmt.Sprintf("%s %s unit=%q item=%d round=%d %q", e.Type, e.Node, e.Unit, e.Item, e.Round, e.Reason+e.Label))
			if note, _ := e.Values.Get("note"); e.Type == core.NodeAnswered && note != "ok" {
				t.Errorf("the note is %v", note)
			}
		}
	})
	// Items and rounds are counted from 1 here, because 0 means that there is none.
	want := `node.asked each unit="" item=1 round=0 "Is x fine?"
node.answered each unit="" item=1 round=0 "approve"
node.asked each unit="" item=2 round=0 "Is y fine?"
node.answered each unit="" item=2 round=0 "approve"
node.asked row unit="p" item=1 round=0 "row"
node.answered row unit="p" item=1 round=0 "approve"
node.asked row unit="p" item=2 round=0 "row"
node.answered row unit="p" item=2 round=0 "approve"
node.asked round unit="l" item=0 round=1 "round"
node.answered round unit="l" item=0 round=1 "approve"`
	if all := strings.Join(got, "\n"); all != want || r.Status != core.RunSuccess {
		t.Errorf("%s %v\n%s\nwant\n%s", r.Status, r.Err, all, want)
	}
}

// TestUnansweredGraph tests a gate of a dag that fails, and one whose failure an edge handles.
func TestUnansweredGraph(t *testing.T) {
	const text = `name: t
graph:
  nodes: [{id: gate, kind: human, timeout: 1h, fail_on: [reject]}, {id: on, kind: wait, duration: 1s}, {id: off, kind: wait, duration: 1s}]
  edges: [{from: gate, to: on}, {from: gate, to: off, on: fail, handles: true}]
`
	for _, tt := range []struct {
		name string
		who  core.Interviewer
		want string
	}{
		{"approved", human.Queue("a"), "success skipped"},
		{"rejected", human.Queue("r"), "skipped success"},
		{"nobody", nil, "skipped success"},
		{"late", waits, "skipped success"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, text, tt.who, nil)
			on, _ := r.Node("on")
			off, _ := r.Node("off")
			if got := on.Status.String() + " " + off.Status.String(); got != tt.want {
				t.Errorf("%s: got %s, want %s: %v", tt.name, got, tt.want, errors.Join(r.Err))
			}
		})
	}
}

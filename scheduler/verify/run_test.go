package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// everything is a graph that exercises every rule. Its nodes run the given handlers;
// nodes without one do nothing.
const everything = `
name: everything
state:
  schema:
    rows: {type: array}
    out: {type: array, merge: array_append, default: [first]}
    hits: {type: integer, merge: count, default: 10}
    once: {type: string, merge: set_once}
    total: {type: integer, merge: sum}
    mode: {type: string, default: fast}
runtime: {concurrency: 2, max_in_flight: 4}
graph:
  nodes:
    - {id: load, kind: tool, impl: x, writes: [rows]}
    - {id: side, kind: tool, impl: x, writes: [total]}
    - {id: score, kind: tool, impl: x, writes: [out, hits], for_each: {source: $.rows, concurrency: 2, max_failures: 1}, on_error: {policy: retry, attempts: 3, base_ms: 100}}
    - {id: other, kind: tool, impl: x}
    - {id: never, kind: tool, impl: x}
    - {id: bad, kind: tool, impl: x, on_error: {policy: retry, attempts: 2, base_ms: 1000, backoff: exponential}}
    - {id: after, kind: tool, impl: x}
    - {id: rescue, kind: tool, impl: x}
    - {id: left, kind: tool, impl: x, writes: [once]}
    - {id: right, kind: tool, impl: x, writes: [once]}
    - {id: extra, kind: tool, impl: x, on_error: {policy: skip}}
    - {id: look, kind: tool, impl: x, reads: [total], auto_status: true}
    - {id: parse, kind: tool, impl: x, writes: [total]}
    - {id: store, kind: tool, impl: x, reads: [total]}
    - {id: draft, kind: tool, impl: x, writes: [hits]}
    - {id: check, kind: tool, impl: x}
  edges:
    - {from: load, to: score}
    - {from: load, to: other, when: length($.rows) > 5}
    - {from: load, to: left, when: else}
    - {from: other, to: never}
    - {from: bad, to: after}
    - {from: bad, to: rescue, on: fail, handles: true}
    - {from: left, to: right}
    - {from: load, to: look}
    - {from: score, to: parse}
    - {from: parse, to: draft}
  pipelines: [{id: ingest, items: $.rows, stages: [parse, store], concurrency: 2}]
  loops: [{id: refine, body: [draft, check], max_iters: 3}]
`

var handlers = map[string]core.HandlerFunc{
	"load": wrote("rows", []any{int64(1), int64(2), int64(3)}),
	"side": wrote("total", int64(5)),
	"score": func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Index() == 1 && in.Attempt() == 1 {
			return core.Result{}, errors.New("not yet")
		}
		return core.Result{Delta: map[string]any{"out": []any{"x"}, "hits": int64(1)}}, nil
	},
	"bad":   fails,
	"hang":  hangs,
	"extra": fails,
	"left":  wrote("once", nil),
	"right": wrote("once", "me"),
	"cut": func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Index() == 1 {
			return core.Result{}, errors.New("boom")
		}
		return core.Result{Delta: map[string]any{"out": []any{"x"}}}, nil
	},
	"shaky": func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Attempt() == 1 {
			return core.Result{}, errors.New("not yet")
		}
		return core.Result{}, nil
	},
	"a":     wrote("list", []any{int64(1), int64(2)}),
	"b":     wrote("x", int64(2)),
	"one":   wrote("n", int64(1)),
	"two":   wrote("n", int64(1)),
	"parse": wrote("total", int64(1)),
	"draft": wrote("hits", int64(1)),
}

var walkHandlers = map[string]core.HandlerFunc{"a": failsFirst, "m": failsFirst, "y": slow}

func wrote(field string, v any) core.HandlerFunc {
	return func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Node() != "each" { // for the benchmark
			time.Sleep(time.Millisecond)
		}
		return core.Result{Delta: map[string]any{field: v}}, nil
	}
}

func fails(context.Context, core.Input) (core.Result, error) {
	return core.Result{}, errors.New("boom")
}

func rests(context.Context, core.Input) (core.Result, error) {
	time.Sleep(time.Millisecond)
	return core.Result{}, nil
}

// rest is a graph for features that everything lacks: nested runs, items after the cut,
// jitter, and a loop that reaches max_iters.
const rest = `
name: rest
inputs: {day: {type: string, default: today}}
state:
  schema:
    day: {type: string}
    rows: {type: array, default: [1, 2, 3]}
    out: {type: array, merge: array_append}
    n: {type: integer, merge: count}
runtime: {concurrency: 4}
graph:
  nodes:
    - {id: cut, kind: tool, impl: x, writes: [out], for_each: {source: $.rows, max_failures: 0}, on_error: {policy: skip}}
    - {id: shaky, kind: tool, impl: x, on_error: {policy: retry, attempts: 2, base_ms: 1000, jitter: true}}
    - {id: sub, kind: workflow, file: inner.yaml, for_each: {source: $.rows, concurrency: 2}}
    - {id: refers, kind: tool, impl: x}
    - {id: one, kind: tool, impl: x, writes: [n]}
    - {id: two, kind: tool, impl: x, writes: [n]}
  edges:
    - {from: shaky, to: refers, when: $nodes.shaky.status == 'success'}
  loops: [{id: rounds, body: [one, two], until: $.n > 9, max_iters: 2, on_exhausted: fail, on_error: {policy: skip}}]
`

const inner = `
name: inner
state: {schema: {x: {type: integer, default: 1}}}
runtime: {concurrency: 1}
graph:
  nodes:
    - {id: a, kind: wait, duration: 1ms}
    - {id: b, kind: wait, duration: 1ms}
  edges: [{from: a, to: b, when: $.x == 1}]
`

// plain is a graph whose nodes begin in canonical order.
const plain = `
name: plain
graph:
  nodes:
    - {id: p, kind: tool, impl: x}
    - {id: q, kind: tool, impl: x}
`

// seen is a graph whose conditions read fields as a whole.
const seen = `
name: seen
state: {schema: {x: {type: integer, default: 1}, list: {type: array}}}
graph:
  nodes:
    - {id: a, kind: tool, impl: x, writes: [list]}
    - {id: b, kind: tool, impl: x, writes: [x]}
    - {id: c, kind: tool, impl: x}
  edges:
    - {from: a, to: b, when: $.x == 1 && length($.list) > 1}
    - {from: a, to: c, when: length($.list) > 1}
`

// walked is a walk in which a fails at first, a goal gate sends the walk back once, and
// one of two branches is sufficient.
const walked = `digraph walked {
	start [shape=Mdiamond]
	exit [shape=Msquare]
	a [type=job, max_visits=2]
	look [shape=diamond]
	vote [shape=component, join_policy="first_success"]
	x [type=job]
	y [type=job]
	m [type=job, goal_gate=true, retry_target=m]
	start -> a -> look
	look -> vote [condition="outcome=success"]
	look -> a
	vote -> x -> m
	vote -> y -> m
	m -> exit
	m -> a [weight=-1]
}`

// twice is a walk in which two edges of a parallel node lead to the same branch.
const twice = `digraph twice {
	start [shape=Mdiamond]
	exit [shape=Msquare]
	vote [shape=component, join_policy="k_of_n(2)"]
	x [type=job]
	a [type=job]
	start -> vote
	vote -> x
	vote -> x
	x -> a -> exit
}`

// narrow is a walk in which branches begin one at a time, and the first success is
// sufficient.
const narrow = `digraph narrow {
	start [shape=Mdiamond]
	exit [shape=Msquare]
	vote [shape=component, join_policy="first_success", max_parallel=1]
	b [type=job]
	c [type=job]
	m [type=job]
	start -> vote
	vote -> b -> m
	vote -> c -> m
	m -> exit
}`

// failsFirst fails on the first visit.
func failsFirst(ctx context.Context, in core.Input) (core.Result, error) {
	if in.Visit() == 1 {
		return core.Result{Status: core.Fail}, nil
	}
	return rests(ctx, in)
}

// slow takes a long time.
func slow(ctx context.Context, _ core.Input) (core.Result, error) {
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
	}
	return core.Result{}, ctx.Err()
}

// compiled returns the plan of everything or of a variation of it.
func compiled(t testing.TB, text string) *plan.Plan {
	t.Helper()
	if text == walked || text == twice || text == narrow {
		return compiledWith(t, text, walkHandlers)
	}
	return compiledWith(t, text, handlers)
}

// compiledWith returns the plan of a document whose nodes run the given handlers.
func compiledWith(t testing.TB, text string, handlers map[string]core.HandlerFunc) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	flow := "flow.yaml"
	if strings.HasPrefix(text, "digraph") {
		flow = "flow.dot"
	}
	for name, text := range map[string]string{flow: text, "inner.yaml": inner} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := wavefold.NewEngine()
	w, ds := e.Read(filepath.Join(dir, flow))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	for _, n := range w.Nodes {
		if n.Kind.Value != "tool" && n.Kind.Value != "job" {
			continue
		}
		n.Handler = core.HandlerFunc(rests)
		if h := handlers[n.ID.Value]; h != nil {
			n.Handler = h
		}
	}
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// logged runs a plan in virtual time and returns its events.
func logged(t *testing.T, p *plan.Plan, o scheduler.Options) (l log) {
	t.Helper()
	o.Run = "r1"
	o.Listener = func(e core.Event) { l = append(l, e) }
	synctest.Test(t, func(t *testing.T) {
		_, _ = scheduler.Run(t.Context(), p, nil, o) // the log contains the result
	})
	return l
}

// checked checks a log without changes.
func checked(t testing.TB, p *plan.Plan, l log) *verify.Report {
	t.Helper()
	r, err := verify.Events(p, l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// log is a log that tests edit.
type log []core.Event

// at returns the index of the nth event of a type about a node or unit. "score[1]" is
// item 1 of score, "draft#1" round 1 of draft, "load->other" an edge, and "sub[1]/a" a
// path.
func (l log) at(t testing.TB, typ core.EventType, who string, nth int) int {
	t.Helper()
	name, item, hasItem := strings.Cut(strings.TrimSuffix(who, "]"), "[")
	name, round, hasRound := strings.Cut(name, "#")
	edge := strings.Contains(who, "->")
	index := func(o core.Ordinal) string {
		s, _ := o.MarshalJSON()
		return string(s)
	}
	for i, e := range l {
		id := e.Node
		switch {
		case edge:
			id = e.From + "->" + e.To
		case id == "":
			id = e.Unit
		}
		if e.Type != typ || id != who && (id != name || hasItem && index(e.Item) != item || hasRound && index(e.Round) != round) {
			continue
		}
		if nth--; nth <= 0 {
			return i
		}
	}
	t.Fatalf("the log has no %s of %s", typ, who)
	return -1
}

func (l log) drop(i int) log { return slices.Delete(l, i, i+1) }

func (l log) duplicate(i int) log { return slices.Insert(l, i+1, l[i]) }

func (l log) move(from, to int) log {
	e := l[from]
	return slices.Insert(l.drop(from), to, e)
}

func (l log) numbered() log {
	for i := range l {
		l[i].Seq = int64(i + 1)
	}
	return l
}

package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// planOf compiles a document with the standard tools and additional ones.
func planOf(t *testing.T, tools, document string) *plan.Plan {
	t.Helper()
	c := &testCase{tools: standardTools(t), files: map[string]string{"workflow.yaml": document}}
	parseTools(t, t.Name(), tools, c.tools)
	p, findings := c.compile(t)
	if p == nil {
		t.Fatal(findings)
	}
	return p
}

const growing = `name: growing
state: {schema: {list: {type: array, merge: array_append}, once: {merge: set_once}, x: {default: 0}}}
graph:
  nodes:
    - {id: a, kind: tool, impl: set, args: {list: [1], once: 1}, writes: [list, once]}
    - {id: b, kind: tool, impl: set, args: {list: $.list, x: 1}, writes: [list, x]}
  edges: [{from: a, to: b}]
`

// Runs are independent of earlier and of concurrent runs.
func TestRunsAreIndependent(t *testing.T) {
	p := planOf(t, "", growing)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for range 5 {
				ctx := context.WithValue(t.Context(), recorderKey{}, newRecorder(variant{unobserved: i%2 == 0, seed: i}))
				r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Concurrency: 4})
				if err != nil || value.JSON(r.State) != `{"list":[1,1],"once":1,"x":1}` {
					t.Errorf("state %s, error %v", value.JSON(r.State), err)
				}
			}
		})
	}
	wg.Wait()
}

// Short items are started in batches. Even so, none starts after a failure that ends
// the fan-out or the run, or after the end of the context.
func TestNothingStartsAfterTheEnd(t *testing.T) {
	for _, tt := range []struct{ name, rule, fan string }{
		{"fail_run", "on_error: {policy: fail_run}", "fail_on item 100"},
		{"max_failures", "on_error: {policy: skip}", "fail_on item 100"},
		{"cancel", "on_error: {policy: skip}", "cancel_on item 100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := "source: $.list"
			if tt.name == "max_failures" {
				source += ", max_failures: 0"
			}
			p := planOf(t, "load: write list range.200\nf: "+tt.fan, `name: quick
state: {schema: {list: {type: array}}}
graph:
  nodes:
    - {id: load, kind: tool, impl: load, writes: [list]}
    - {id: f, kind: tool, impl: f, for_each: {`+source+`}, writes: [], `+tt.rule+`}
  edges: [{from: load, to: f}]
`)
			o := run(t, p, nil, variant{limit: 1, unobserved: true})
			trace := o.rec.trace()
			if last := trace[len(trace)-1]; last != "f#100" || len(trace) != 102 {
				t.Errorf("%d executions, the last is %s", len(trace), last)
			}
		})
	}
}

// When the caller's context ends, everything in flight is cancelled and awaited, and
// ends as failed with class canceled. Nothing new starts, including attempts of a node
// that waits. Completed work is kept, and the events report the end.
func TestCancel(t *testing.T) {
	p := planOf(t, "waits: write late 1; hang\nflaky: flaky 1", `name: cancel
state: {schema: {early: {}, late: {}}}
graph:
  nodes:
    - {id: done, kind: tool, impl: set, args: {early: 1}, writes: [early]}
    - {id: running, kind: tool, impl: waits, writes: [late]}
    - {id: waiting, kind: tool, impl: flaky, writes: [], on_error: {policy: retry, attempts: 2, base_ms: 60000}}
    - {id: behind, kind: tool, impl: nothing, writes: []}
    - {id: last, kind: tool, impl: nothing, writes: [], join: all_done}
  edges:
    - {from: running, to: behind}
    - {from: running, to: last}
`)
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder(variant{})
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), recorderKey{}, rec), time.Second)
		defer cancel()
		var last core.Event
		r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Concurrency: 8, Listener: func(e core.Event) { last = e }})
		if !errors.Is(err, context.DeadlineExceeded) || r.Status != core.RunCancelled {
			t.Errorf("status %s, error %v", r.Status, err)
		}
		if got := value.JSON(r.State); got != `{"early":1}` {
			t.Errorf("state %s", got)
		}
		for id, want := range map[string]core.Status{"done": core.Success, "running": core.Fail, "behind": core.StatusNone, "last": core.StatusNone} {
			if n, _ := r.Node(id); n.Status != want {
				t.Errorf("node %s ended as %q, want %q", id, n.Status, want)
			}
		}
		if n, _ := r.Node("running"); n.Failure == nil || n.Failure.Class != core.ClassCanceled {
			t.Errorf("running: %+v", n.Failure)
		}
		if n, _ := r.Node("waiting"); n.Attempts != 1 {
			t.Errorf("waiting has made %d attempts", n.Attempts)
		}
		if got := strings.Join(rec.trace(), " "); strings.Contains(got, "behind") || strings.Contains(got, "last") {
			t.Errorf("trace %s", got)
		}
		if last.Type != core.RunFinished || last.Status != string(core.RunCancelled) {
			t.Errorf("the last event is %s %s", last.Type, last.Status)
		}
	})
}

// The events of a node contain its phase, and the events of a unit contain the unit's
// phase.
func TestPhasesAreInEvents(t *testing.T) {
	p := planOf(t, "", `name: phases
state: {schema: {x: {default: 0}, list: {type: array, default: [1]}}}
phases: [{id: one, title: First}, {id: two}]
graph:
  nodes:
    - {id: a, kind: tool, impl: nothing, phase: one, writes: []}
    - {id: b, kind: tool, impl: fail, phase: two, writes: [], on_error: {policy: skip}}
    - {id: c, kind: tool, impl: nothing, phase: two, writes: []}
    - {id: s, kind: tool, impl: nothing, writes: []}
  edges:
    - {from: a, to: c, when: $.x == 1}
  pipelines:
    - {id: p, items: $.list, stages: [s], phase: one}
`)
	o := run(t, p, nil, variant{limit: 1})
	want := map[string]string{"a": "one", "b": "two", "c": "two"}
	seen := map[string]bool{}
	for _, e := range o.events {
		if phase, ok := want[e.Node]; ok && strings.HasPrefix(string(e.Type), "node.") {
			seen[string(e.Type)] = true
			if e.Phase != phase {
				t.Errorf("%s of %s has the phase %q, want %q", e.Type, e.Node, e.Phase, phase)
			}
		}
		if e.Type == core.UnitFinished && e.Phase != "one" {
			t.Errorf("%s of %s has the phase %q", e.Type, e.Unit, e.Phase)
		}
	}
	for _, typ := range []core.EventType{core.NodeReady, core.NodeStarted, core.NodeFinished, core.NodeFailed, core.NodeSkipped} {
		if !seen[string(typ)] {
			t.Errorf("there is no %s", typ)
		}
	}
}

// Events are numbered without gaps, except log and progress events. They begin with the start of the run and end with
// its end, which has the status and the state. Writes of a node are reported by field
// and writer.
func TestEventsOfARun(t *testing.T) {
	o := run(t, planOf(t, "", growing), nil, variant{limit: 2})
	var writes []string
	var n int64
	for i, e := range o.events {
		if e.Type.Numbered() {
			n++
		}
		if e.Seq != n || e.Run != "run" {
			t.Errorf("event %d has the number %d and the run %q", i+1, e.Seq, e.Run)
		}
		if e.Type == core.StateWritten {
			writes = append(writes, e.Node+" "+e.Field)
		}
	}
	first, last := o.events[0], o.events[len(o.events)-1]
	if first.Type != core.RunStarted || last.Type != core.RunFinished {
		t.Fatalf("from %s to %s", first.Type, last.Type)
	}
	if last.Status != "success" || value.JSON(last.State) != value.JSON(o.report.State) {
		t.Errorf("the last event is %+v", last)
	}
	if len(writes) != 4 {
		t.Errorf("writes %v", writes)
	}
}

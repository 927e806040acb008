package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// lateCalls is a handler that ignores its context. The first call for each item, row, round or
// visit takes 5 s, the others take no time. It records whether two calls for one of them ever ran
// at the same time.
type lateCalls struct {
	mu      sync.Mutex
	seen    map[string]int
	running map[string]bool
	overlap []string
	result  func() (core.Result, error)
}

func (c *lateCalls) key(in core.Input) string {
	i, _ := in.Shared().Index.Get()
	return fmt.Sprint(in.Node(), " ", i, " ", in.Round(), " ", in.Visit())
}

func (c *lateCalls) handle(_ context.Context, in core.Input) (core.Result, error) {
	key := c.key(in)
	c.mu.Lock()
	if c.seen == nil {
		c.seen, c.running = map[string]int{}, map[string]bool{}
	}
	if c.running[key] {
		c.overlap = append(c.overlap, key)
	}
	c.running[key] = true
	c.seen[key]++
	first := c.seen[key] == 1
	c.mu.Unlock()
	if first {
		time.Sleep(5 * time.Second)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[key] = false
	if first && c.result != nil {
		return c.result()
	}
	return core.Result{}, nil
}

// lateValue is the same for a handler that returns the value of the node's only write.
type lateValue struct{ *lateCalls }

func (lateValue) ValueField() string { return "v" }
func (v lateValue) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	return v.handle(ctx, in)
}
func (v lateValue) HandleValue(ctx context.Context, in core.Input) (any, bool, error) {
	_, err := v.handle(ctx, in)
	return int64(1), true, err
}

// lateShapes are all the places in which a handler may be called. The node is "n", or "call/n" in a
// nested run.
func lateShapes(t *testing.T, c *lateCalls, change ...func(*core.Node)) map[string]*plan.Plan {
	t.Helper()
	alone := func(more ...func(*core.Node)) *core.Workflow {
		return fields(one(c.handle, append(more, change...)...), "x", "v")
	}
	with := func(w *core.Workflow) *core.Workflow {
		w.Fields[0].Default = numbers(3)
		return w
	}
	value := alone()
	value.Nodes[0].Handler, value.Nodes[0].Writes, value.Nodes[0].HasWrites = lateValue{c}, texts("v"), true
	row := with(alone())
	row.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.x"), Stages: texts("n")}}
	rows := with(alone())
	rows.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.x"), Stages: texts("n"), Concurrency: &source.Int{Value: 3}}}
	round := alone()
	round.Loops = []*core.Loop{{ID: text("l"), Body: texts("n"), MaxIters: &source.Int{Value: 2}}}
	outer := &core.Workflow{Name: text("outer"), Nodes: []*core.Node{{ID: text("call"), Kind: text("inner"), HasWrites: true}}}
	walk := func(graph string) *plan.Plan {
		reg := core.NewRegistry(std.Kinds()...)
		if err := reg.AddTool("stage", core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
			if in.Node() == "n" {
				return c.handle(ctx, in)
			}
			return core.Result{}, nil
		})); err != nil {
			t.Fatal(err)
		}
		w := walkOf(t, graph)
		for _, n := range w.Nodes {
			if n.ID.Value == "n" {
				for _, f := range change {
					f(n)
				}
			}
		}
		p, ds := plan.Compile(w, reg, plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		return p
	}
	return map[string]*plan.Plan{
		"plain":      compile(t, alone()),
		"value":      compile(t, value),
		"item":       compile(t, with(alone(forEach("x", 1)))),
		"items":      compile(t, with(alone(forEach("x", 3)))),
		"row":        compile(t, row),
		"rows":       compile(t, rows),
		"round":      compile(t, round),
		"visit":      walk("start -> n\nn -> exit when=outcome=='success'"),
		"branch":     walk("f kind=parallel\nj kind=fan_in\nstart -> f\nf -> n\nf -> m\nn -> j\nm -> j\nj -> exit"),
		"nested":     compileNested(t, outer, frameKind{"inner", alone()}),
		"nested row": compileNested(t, outer, frameKind{"inner", with(row)}),
	}
}

// A result that comes after the timeout fails the attempt, for example the result of a mock that
// sleeps too long. The next attempt waits until the late call has returned.
func TestLateResults(t *testing.T) {
	for _, how := range []string{"a result", "a failure"} {
		c := &lateCalls{}
		if how == "a failure" {
			c.result = func() (core.Result, error) { return core.Result{}, errors.New("sorry") }
		}
		for name := range lateShapes(t, c, timeout(time.Second)) {
			for _, attempts := range []int{1, 2} {
				t.Run(fmt.Sprint(how, " ", name, " ", attempts), func(t *testing.T) {
					c := &lateCalls{result: c.result}
					p := lateShapes(t, c, timeout(time.Second), retry(attempts, ""))[name]
					var events []core.Event
					synctest.Test(t, func(t *testing.T) {
						r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 4, Listener: func(e core.Event) { events = append(events, e) }})
						if (err == nil) != (attempts == 2) && name != "branch" {
							t.Errorf("run %s: %v", r.Status, err)
						}
					})
					checkLate(t, c, events, attempts)
				})
			}
		}
	}
}

// checkLate checks the first failures of each execution.
func checkLate(t *testing.T, c *lateCalls, events []core.Event, attempts int) {
	t.Helper()
	if len(c.overlap) > 0 {
		t.Errorf("two attempts at a time: %s", c.overlap)
	}
	want := core.NodeRetrying
	if attempts == 1 {
		want = core.NodeFailed
	}
	told := 0
	for _, e := range events {
		if e.Error == nil || e.Type != want && e.Type != core.ItemFailed {
			continue
		}
		told++
		text := "timed out after 1s: what the handler returned came too late and is dropped"
		if c.result != nil {
			text = "timed out after 1s: sorry"
		}
		if e.Error.Class != core.ClassTimeout || !strings.HasSuffix(e.Error.Message, text) {
			t.Errorf("%s of %s: %s %q", e.Type, e.Node, e.Error.Class, e.Error.Message)
		}
	}
	if told == 0 {
		t.Errorf("no event of the failure")
	}
	for key, n := range c.seen {
		if n != attempts {
			t.Errorf("%s was called %d times, want %d", key, n, attempts)
		}
	}
}

// A call that has not returned when the grace period has passed is not followed by another attempt,
// even if it returns later. The policy of the node applies unless the call still runs at the end of
// the run: then the run has failed, and its error names the node.
func TestLateBeyondTheGrace(t *testing.T) {
	for _, c := range []struct {
		policy string
		other  time.Duration // how long the rest of the run takes
		want   core.RunStatus
		stuck  bool
	}{
		{"skip", time.Second, core.RunFailed, true},
		{"skip", time.Minute, core.RunPartial, false},
		{"retry", time.Second, core.RunFailed, true},
		{"retry", time.Minute, core.RunFailed, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := &lateCalls{}
			w := graph(map[string]core.HandlerFunc{
				"n":     calls.handle,
				"other": func(context.Context, core.Input) (core.Result, error) { time.Sleep(c.other); return core.Result{}, nil },
			}, []string{"n", "other"})
			timeout(time.Second)(w.Nodes[0])
			if w.Nodes[0].OnError = (&core.OnError{Policy: text("skip")}); c.policy == "retry" {
				retry(3, "")(w.Nodes[0])
			}
			r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 2, Grace: 2 * time.Second})
			n, _ := r.Node("n")
			if n.Failure == nil || n.Failure.Class != core.ClassTimeout || n.Attempts != 1 {
				t.Errorf("%d attempts, %+v", n.Attempts, n.Failure)
			}
			if stray, stuck := err.(*core.StrayError); r.Status != c.want || stuck != c.stuck || stuck && stray.Nodes[0] != "n" {
				t.Errorf("%s, run %s: %v", c.policy, r.Status, err)
			}
			time.Sleep(time.Minute)
			calls.mu.Lock()
			defer calls.mu.Unlock()
			for key, n := range calls.seen {
				if n != 1 {
					t.Errorf("%s was called %d times", key, n)
				}
			}
		})
	}
}

// A node whose call was cut off by the end of the run is cancelled, and not late.
func TestLateAndCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &lateCalls{}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		r, _ := scheduler.Run(ctx, compile(t, one(c.handle, timeout(time.Second))), nil, scheduler.Options{})
		if n, _ := r.Node("n"); r.Status != core.RunCancelled || n.Failure != nil && n.Failure.Class != core.ClassCanceled {
			t.Errorf("run %s, %+v", r.Status, n.Failure)
		}
	})
}

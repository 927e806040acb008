package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// frameKind makes a node a nested run of a fixed workflow.
type frameKind struct {
	name  string
	inner *core.Workflow
}

func (k frameKind) Name() string   { return k.name }
func (k frameKind) Keys() []string { return nil }
func (k frameKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Frame: &core.Frame{Workflow: k.inner}}, nil
}

func compileNested(t *testing.T, w *core.Workflow, kinds ...core.Kind) *plan.Plan {
	t.Helper()
	p, ds := plan.Compile(w, core.NewRegistry(kinds...), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func text(s string) source.Text { return source.Text{Value: s} }

// doubling doubles its input in two steps.
func doubling(work func()) *core.Workflow {
	step := func(read, write string, f func(int64) int64) *core.Node {
		return &core.Node{ID: text("to_" + write), Reads: []source.Text{text(read)}, Writes: []source.Text{text(write)}, HasWrites: true,
			Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				work()
				v, ok := in.Get(read)
				if !ok {
					return core.Result{}, fmt.Errorf("%s has no value", read)
				}
				return core.Write(write, f(v.(int64))), nil
			})}
	}
	return &core.Workflow{Name: text("doubling"), Document: true,
		Inputs: []core.InputDecl{{Name: text("n"), Type: &value.Type{Kind: value.IntegerType}, Required: true, Default: value.Missing}},
		Fields: []core.FieldDecl{{Name: text("half"), Default: value.Missing}, {Name: text("out"), Default: value.Missing}},
		Nodes:  []*core.Node{step("n", "half", func(n int64) int64 { return n }), step("half", "out", func(n int64) int64 { return 2 * n })},
		Edges:  []*core.Edge{{From: text("to_half"), To: text("to_out")}},
	}
}

func args(pairs ...any) *source.Value {
	return source.Tree(value.ObjectOf(pairs...), source.Position{})
}

func TestNestedWorkflow(t *testing.T) {
	w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{
		{ID: text("twice"), Kind: text("double"), Args: args("n", "$.x"), Writes: []source.Text{text("out")}, HasWrites: true},
	}}, "x", "out")
	p := compileNested(t, w, frameKind{"double", doubling(func() {})})
	for _, limit := range []int{1, 8} {
		var events []string
		r, err := scheduler.Run(t.Context(), p, map[string]any{"x": 21}, scheduler.Options{Concurrency: limit, Listener: func(e core.Event) {
			if e.Type == core.NodeStarted {
				events = append(events, e.Node)
			}
		}})
		if err != nil || value.JSON(r.State) != `{"x":21,"out":42}` {
			t.Errorf("limit %d: state %s, error %v", limit, value.JSON(r.State), err)
		}
		if got := fmt.Sprint(events); got != "[twice twice/to_half twice/to_out]" {
			t.Errorf("limit %d: started %s", limit, got)
		}
	}
}

// In a fan-out over nested runs, three levels deep, at limit 1, no outer node holds a slot that an
// inner one needs, and the limits hold.
func TestNestedAtLimitOne(t *testing.T) {
	for _, c := range []struct{ items, inFlight int }{{1, 0}, {4, 0}, {4, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var in, peak atomic.Int32
			leaf := doubling(func() {
				peak.Store(max(peak.Load(), in.Add(1)))
				time.Sleep(time.Second)
				in.Add(-1)
			})
			mid := &core.Workflow{Name: text("mid"), Document: true, Inputs: []core.InputDecl{{Name: text("n"), Required: true, Default: value.Missing}},
				Fields: []core.FieldDecl{{Name: text("out"), Default: value.Missing}},
				Nodes:  []*core.Node{{ID: text("leaf"), Kind: text("double"), Args: args("n", "$.n"), Writes: []source.Text{text("out")}, HasWrites: true}}}
			w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{
				{ID: text("each"), Kind: text("mid"), Args: args("n", "$item"), Writes: []source.Text{text("out")}, HasWrites: true,
					ForEach: &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: c.items}}},
			}}, "list", "out")
			p := compileNested(t, w, frameKind{"mid", mid}, frameKind{"double", leaf})
			r, err := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(8)}, scheduler.Options{Concurrency: 1, MaxInFlight: c.inFlight})
			want := int32(c.items)
			if c.inFlight > 0 {
				want = int32(c.inFlight)
			}
			out, _ := r.State.Get("out")
			if err != nil || out != int64(14) || peak.Load() != want {
				t.Errorf("%+v: out %v, peak %d, error %v", c, out, peak.Load(), err)
			}
		})
	}
}

// The failure of a nested run is reported once, with the path of the innermost node and its cause,
// however deep the node is and whatever repeats the run.
func TestNestedFailureIsToldOnce(t *testing.T) {
	boom := errors.New("boom")
	call := func(kind string) *core.Node { return &core.Node{ID: text("call"), Kind: text(kind), HasWrites: true} }
	each := func(kind string) *core.Node {
		n := call(kind)
		n.ForEach = &core.ForEach{Source: text("$.list")}
		return n
	}
	row := func(w *core.Workflow) {
		w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("call")}}}
	}
	round := func(w *core.Workflow) {
		w.Loops = []*core.Loop{{ID: text("l"), Body: []source.Text{text("call")}, MaxIters: &source.Int{Value: 2}}}
	}
	for _, c := range []struct {
		name  string
		node  *core.Node
		items int
		in    func(*core.Workflow)
		want  string
	}{
		{"one deep", call("leaf"), 0, nil, "node call/n: boom"},
		{"two deep", call("mid"), 0, nil, "node call/deep/n: boom"},
		{"several inside", call("two"), 0, nil, "node call/a: boom (and 1 more failed)"},
		{"an item", each("leaf"), 1, nil, "node call[0]/n: boom"},
		{"items", each("mid"), 3, nil, "node call[0]/deep/n: boom (3 of 3 items failed)"},
		{"a row", call("leaf"), 1, row, "node call[0]/n: boom"},
		{"rows", call("leaf"), 2, row, "node call[0]/n: boom (2 rows failed)"},
		{"a round", call("mid"), 0, round, "node call[0]/deep/n: boom"},
	} {
		fail := func(context.Context, core.Input) (core.Result, error) { return core.Result{}, boom }
		mid := &core.Workflow{Name: text("mid"), Nodes: []*core.Node{{ID: text("deep"), Kind: text("leaf"), HasWrites: true}}}
		two := graph(map[string]core.HandlerFunc{"a": fail, "b": fail}, []string{"a", "b"})
		w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{c.node}}, "list")
		if c.in != nil {
			c.in(w)
		}
		p := compileNested(t, w, frameKind{"leaf", one(fail)}, frameKind{"mid", mid}, frameKind{"two", two})
		r, err := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(c.items)}, scheduler.Options{})
		if !errors.Is(err, boom) || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		n, _ := r.Node("call")
		if where, _, _ := strings.Cut(strings.TrimPrefix(c.want, "node "), ": "); n.Failure == nil || n.Failure.Node != where {
			t.Errorf("%s: the node's failure is %+v, want one at %s", c.name, n.Failure, where)
		}
	}
}

// A nested run is retried as a whole, each time with a new state.
func TestNestedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		inner := one(func(context.Context, core.Input) (core.Result, error) {
			if calls++; calls < 3 {
				return core.Result{}, errors.New("not yet")
			}
			return core.Result{}, nil
		})
		w := &core.Workflow{Name: text("outer"), Nodes: []*core.Node{{ID: text("call"), Kind: text("inner"), HasWrites: true}}}
		retry(4, "")(w.Nodes[0])
		r, err := scheduler.Run(t.Context(), compileNested(t, w, frameKind{"inner", inner}), nil, scheduler.Options{})
		if n, _ := r.Node("call"); err != nil || n.Attempts != 3 || calls != 3 {
			t.Errorf("%d attempts, %d calls, error %v", n.Attempts, calls, err)
		}
	})
}

// fail_run in a nested run stops only that run. The outer node fails and the rest of the outer
// graph continues.
func TestNestedFailRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := graph(map[string]core.HandlerFunc{
			"bad": func(context.Context, core.Input) (core.Result, error) {
				time.Sleep(time.Second)
				return core.Result{}, errors.New("bad")
			},
			"slow": func(ctx context.Context, _ core.Input) (core.Result, error) {
				<-ctx.Done()
				return core.Result{}, ctx.Err()
			},
		}, []string{"bad", "slow"})
		inner.Nodes[0].OnError = &core.OnError{Policy: text("fail_run")}
		inner.Runtime.Concurrency = &source.Int{Value: 2}
		w := &core.Workflow{Name: text("outer"), Nodes: []*core.Node{
			{ID: text("call"), Kind: text("inner"), HasWrites: true},
			{ID: text("other"), HasWrites: true, Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
				time.Sleep(time.Minute)
				return core.Result{}, nil
			})},
		}}
		r, err := scheduler.Run(t.Context(), compileNested(t, w, frameKind{"inner", inner}), nil, scheduler.Options{Concurrency: 2})
		call, _ := r.Node("call")
		other, _ := r.Node("other")
		if err == nil || call.Status != core.Fail || other.Status != core.Success || r.Duration != time.Minute {
			t.Errorf("call %s, other %s after %s, error %v", call.Status, other.Status, r.Duration, err)
		}
	})
}

// The end of the caller's context reaches all nested runs.
func TestNestedCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := one(func(ctx context.Context, _ core.Input) (core.Result, error) {
			<-ctx.Done()
			return core.Result{}, ctx.Err()
		})
		w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{
			{ID: text("each"), Kind: text("inner"), HasWrites: true, ForEach: &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 3}}},
			{ID: text("single"), Kind: text("inner"), HasWrites: true},
		}}, "list")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := scheduler.Run(ctx, compileNested(t, w, frameKind{"inner", inner}), map[string]any{"list": numbers(5)}, scheduler.Options{Concurrency: 2})
		if r.Status != core.RunCancelled || !errors.Is(err, context.DeadlineExceeded) || r.Duration != time.Second {
			t.Errorf("status %s after %s, error %v", r.Status, r.Duration, err)
		}
	})
}

// A nested run as the stage of a pipeline and as the body of a loop.
func TestNestedInUnits(t *testing.T) {
	w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{
		{ID: text("stage"), Kind: text("double"), Args: args("n", "$item"), Writes: []source.Text{text("rows")}, HasWrites: true},
		{ID: text("body"), Kind: text("grow"), Args: args("n", "$.size"), Writes: []source.Text{text("size")}, HasWrites: true},
	},
		Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("stage")}, Concurrency: &source.Int{Value: 2}}},
		Loops:     []*core.Loop{{ID: text("l"), Body: []source.Text{text("body")}, Until: &source.Text{Value: "$.size >= 100"}}},
	}, "list", "size")
	w.Fields = append(w.Fields, core.FieldDecl{Name: text("rows"), Merge: text("sum"), Default: value.Missing})
	double, grow := frameKind{"double", doubling(func() {})}, frameKind{"grow", doubling(func() {})}
	rename(double.inner, "out", "rows")
	rename(grow.inner, "out", "size")
	r, err := scheduler.Run(t.Context(), compileNested(t, w, double, grow), map[string]any{"list": numbers(5), "size": 3}, scheduler.Options{Concurrency: 1})
	if want := `{"list":[0,1,2,3,4],"size":192,"rows":20}`; err != nil || value.JSON(r.State) != want {
		t.Errorf("state %s, want %s, error %v", value.JSON(r.State), want, err)
	}
}

// rename changes a field of a workflow and the handler that writes it.
func rename(w *core.Workflow, from, to string) {
	w.Fields[1].Name = text(to)
	n := w.Nodes[1]
	n.Writes = []source.Text{text(to)}
	old := n.Handler
	n.Handler = core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		res, err := old.Handle(ctx, in)
		if v, ok := res.Writes()[from]; ok {
			res = core.Write(to, v)
		}
		return res, err
	})
}

// lackingKind has no handler.
type lackingKind struct{ frameKind }

func (lackingKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Lacks: "no handler here"}, nil
}

// waitKind is a timer.
type waitKind struct{ frameKind }

func (waitKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Wait: &core.Wait{Duration: time.Minute}}, nil
}

// A nested run may end without calling a handler: a run whose last node had no handler hung.
func TestNestedRunWithoutUserCode(t *testing.T) {
	for _, c := range []struct {
		kind   core.Kind
		status core.RunStatus
		took   time.Duration
	}{
		{lackingKind{frameKind{name: "leaf"}}, core.RunFailed, 0},
		{waitKind{frameKind{name: "leaf"}}, core.RunSuccess, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			inner := &core.Workflow{Name: text("inner"), Nodes: []*core.Node{{ID: text("leaf"), Kind: text("leaf"), HasWrites: true}}}
			w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{
				{ID: text("single"), Kind: text("inner"), HasWrites: true},
				{ID: text("each"), Kind: text("inner"), HasWrites: true, ForEach: &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 5}}},
				{ID: text("stage"), Kind: text("inner"), HasWrites: true},
			}, Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("stage")}, Concurrency: &source.Int{Value: 5}}}}, "list")
			w.Edges = []*core.Edge{{From: text("single"), To: text("stage"), On: text("done")}}
			p := compileNested(t, w, frameKind{"inner", inner}, c.kind)
			r, _ := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(5)}, scheduler.Options{Concurrency: 2})
			each, _ := r.Node("each")
			if r.Status != c.status || each.Items != 5 || r.Duration != 2*c.took {
				t.Errorf("status %s, %d items, took %s", r.Status, each.Items, r.Duration)
			}
		})
	}
}

// slowFor is a workflow of one node that takes the given time, by default an hour, and ends early
// when its context ends.
func slowFor(took ...time.Duration) *core.Workflow {
	var calls atomic.Int32
	return one(func(ctx context.Context, _ core.Input) (core.Result, error) {
		d := time.Hour
		if i := int(calls.Add(1)) - 1; i < len(took) {
			d = took[i]
		}
		select {
		case <-time.After(d):
			return core.Result{}, nil
		case <-ctx.Done():
			return core.Result{}, ctx.Err()
		}
	})
}

// A nested run that takes longer than the node's timeout is stopped, and the attempt fails as with
// a handler.
func TestNestedTimeout(t *testing.T) {
	const s = time.Second
	each := func(n *core.Node) {
		n.ForEach = &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 3}}
	}
	for _, c := range []struct {
		name     string
		inner    *core.Workflow
		change   []func(*core.Node)
		row      bool // the node is a stage of a pipeline
		status   core.Status
		attempts int
		took     time.Duration
		message  string
	}{
		{"in time", slowFor(s), []func(*core.Node){timeout(2 * s)}, false, core.Success, 1, s, ""},
		{"too late", slowFor(), []func(*core.Node){timeout(s)}, false, core.Fail, 1, s, "timed out after 1s, in call/n"},
		{"again", slowFor(time.Hour, time.Hour, s), []func(*core.Node){timeout(2 * s), retry(3, "")}, false, core.Success, 3, 5*s + 300*time.Millisecond, ""},
		{"never", slowFor(), []func(*core.Node){timeout(s), retry(2, "")}, false, core.Fail, 2, 2*s + 100*time.Millisecond, "timed out after 1s, in call/n"},
		{"an item", slowFor(s, time.Hour, s), []func(*core.Node){timeout(2 * s), each}, false, core.Fail, 3, 2 * s, "timed out after 2s"},
		{"rows", slowFor(s, s, s), []func(*core.Node){timeout(2 * s)}, true, core.Success, 3, 3 * s, ""},
		{"a row", slowFor(s, time.Hour, s, s), []func(*core.Node){timeout(2 * s), retry(2, "")}, true, core.Success, 4, 5*s + 100*time.Millisecond, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := fields(&core.Workflow{Name: text("outer"), Nodes: []*core.Node{{ID: text("call"), Kind: text("inner"), HasWrites: true}}}, "list")
				for _, f := range c.change {
					f(w.Nodes[0])
				}
				if c.row {
					w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("call")}}}
				}
				p := compileNested(t, w, frameKind{"inner", c.inner})
				r, _ := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(3)}, scheduler.Options{Concurrency: 2})
				n, _ := r.Node("call")
				if n.Status != c.status || n.Attempts != c.attempts || r.Duration != c.took {
					t.Errorf("%s after %d attempts and %s, want %s, %d, %s", n.Status, n.Attempts, r.Duration, c.status, c.attempts, c.took)
				}
				if f := n.Failure; c.message != "" && (f.Class != core.ClassTimeout || !strings.Contains(f.Message, c.message)) {
					t.Errorf("failure %s %q, want %q", f.Class, f.Message, c.message)
				}
			})
		})
	}
}

// The timeout of an outer run applies to all runs nested in it, and to nothing else.
func TestNestedTimeoutIsForAllInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mid := &core.Workflow{Name: text("mid"), Nodes: []*core.Node{
			{ID: text("deep"), Kind: text("leaf"), HasWrites: true},
			{ID: text("pause"), Kind: text("wait"), HasWrites: true},
			{ID: text("after"), Kind: text("leaf"), HasWrites: true},
		}, Edges: []*core.Edge{{From: text("deep"), To: text("after")}}}
		w := &core.Workflow{Name: text("outer"), Nodes: []*core.Node{
			{ID: text("call"), Kind: text("mid"), HasWrites: true},
			{ID: text("other"), Kind: text("leaf"), HasWrites: true},
		}}
		timeout(90 * time.Second)(w.Nodes[0])
		timeout(3 * time.Hour)(mid.Nodes[0])
		p := compileNested(t, w, frameKind{"leaf", slowFor()}, frameKind{"mid", mid}, waitKind{frameKind{name: "wait"}})
		r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 2})
		call, _ := r.Node("call")
		other, _ := r.Node("other")
		if call.Failure == nil || call.Failure.Message != "timed out after 1m30s, in call/deep" || call.Duration != 90*time.Second {
			t.Errorf("call took %s and failed with %+v", call.Duration, call.Failure)
		}
		if other.Status != core.Success || r.Duration != time.Hour {
			t.Errorf("other %s, the run took %s", other.Status, r.Duration)
		}
	})
}

// An inner handler that ignores the end of its context delays the outer node for the grace period
// and no longer.
func TestNestedTimeoutOfADeafHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		inner := one(func(context.Context, core.Input) (core.Result, error) { <-free; return core.Result{}, nil })
		w := &core.Workflow{Name: text("outer"), Nodes: []*core.Node{{ID: text("call"), Kind: text("inner"), HasWrites: true}}}
		timeout(time.Second)(w.Nodes[0])
		r, err := scheduler.Run(t.Context(), compileNested(t, w, frameKind{"inner", inner}), nil, scheduler.Options{Grace: 2 * time.Second})
		if n, _ := r.Node("call"); n.Failure == nil || n.Failure.Class != core.ClassTimeout || r.Duration != 3*time.Second {
			t.Errorf("after %s: %+v, error %v", r.Duration, n.Failure, err)
		}
		if _, ok := errors.AsType[*core.StrayError](err); !ok {
			t.Errorf("error %v does not name what was left behind", err)
		}
		close(free)
	})
}

// A wait ends with its timeout if that comes first, wherever the wait is.
func TestWaitTimeout(t *testing.T) {
	for _, c := range []struct {
		timeout  time.Duration
		attempts int
		took     time.Duration // of each case in turn: alone, as an item, as a row
		class    string
	}{
		{2 * time.Minute, 1, 3 * time.Minute, ""},
		{time.Minute, 1, 3 * time.Minute, ""},
		{time.Second, 1, 3 * time.Second, core.ClassTimeout},
		{time.Second, 2, 6*time.Second + 300*time.Millisecond, core.ClassTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := fields(&core.Workflow{Name: text("w")}, "list")
			for _, id := range []string{"alone", "item", "row"} {
				n := &core.Node{ID: text(id), Kind: text("wait"), HasWrites: true}
				timeout(c.timeout)(n)
				if c.attempts > 1 {
					retry(c.attempts, "")(n)
				}
				w.Nodes = append(w.Nodes, n)
			}
			w.Nodes[1].ForEach = &core.ForEach{Source: text("$.list")}
			w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("row")}}}
			w.Edges = []*core.Edge{{From: text("alone"), To: text("item"), On: text("done")}, {From: text("item"), To: text("row"), On: text("done")}}
			r, _ := scheduler.Run(t.Context(), compileNested(t, w, waitKind{frameKind{name: "wait"}}), map[string]any{"list": numbers(1)}, scheduler.Options{})
			if r.Duration != c.took {
				t.Errorf("timeout %s: the run took %s, want %s", c.timeout, r.Duration, c.took)
			}
			for _, n := range r.Nodes() {
				class := ""
				if n.Failure != nil {
					class = n.Failure.Class
				}
				if class != c.class || n.Attempts != c.attempts {
					t.Errorf("timeout %s: %s ended with class %q after %d attempts", c.timeout, n.ID, class, n.Attempts)
				}
			}
		})
	}
}

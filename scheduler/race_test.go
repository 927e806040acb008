package scheduler_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// takes is a handler that takes the given time, or stops when its context ends, and writes the
// field x.
func takes(d time.Duration) core.HandlerFunc {
	return func(ctx context.Context, in core.Input) (core.Result, error) {
		select {
		case <-time.After(d):
			return core.Result{Delta: map[string]any{"x": []any{in.Node()}}, EdgeOutput: in.Node(), HasEdgeOutput: true}, nil
		case <-ctx.Done():
			return core.Result{}, ctx.Err()
		}
	}
}

// raceOf is a workflow in which nodes and units race to the node end.
func raceOf(nodes []*core.Node, change ...func(*core.Workflow)) *core.Workflow {
	w := fields(&core.Workflow{Name: text("w")}, "x", "list", "seen")
	w.Fields[0].Merge = text("array_append")
	end := &core.Node{ID: text("end"), Writes: []source.Text{text("seen")}, HasWrites: true,
		Join: &core.Join{Policy: text(core.JoinAny), Race: true}}
	end.Handler = core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		return core.Result{Delta: map[string]any{"seen": strings.Join(slices.Sorted(maps.Keys(in.EdgeInputs())), " ")}}, nil
	})
	for _, n := range nodes {
		n.Writes, n.HasWrites = []source.Text{text("x")}, true
		w.Nodes = append(w.Nodes, n)
		w.Edges = append(w.Edges, &core.Edge{From: n.ID, To: end.ID})
	}
	w.Nodes = append(w.Nodes, end)
	for _, f := range change {
		f(w)
	}
	return w
}

func node(id string, h core.Handler, change ...func(*core.Node)) *core.Node {
	n := &core.Node{ID: text(id), Handler: h}
	for _, f := range change {
		f(n)
	}
	return n
}

// race runs a race and returns its result, how long it took, and its events.
func race(t *testing.T, w *core.Workflow, kinds ...core.Kind) (r *core.Report, took time.Duration, events []core.Event) {
	t.Helper()
	p := compileNested(t, w, kinds...)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r, _ = scheduler.Run(t.Context(), p, map[string]any{"list": []any{int64(1), int64(2), int64(3)}}, scheduler.Options{Concurrency: 8,
			Listener: func(e core.Event) { events = append(events, e) }})
		took = time.Since(began)
	})
	return r, took, events
}

// TestRaceGivesUp: nodes that have lost the race are cancelled and awaited. They end as skipped,
// write nothing and fail nothing.
func TestRaceGivesUp(t *testing.T) {
	hour := takes(time.Hour)
	pipeline := func(w *core.Workflow) {
		w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("slow")}, Concurrency: &source.Int{Value: 2}}}
	}
	loop := func(w *core.Workflow) {
		w.Loops = []*core.Loop{{ID: text("l"), Body: []source.Text{text("slow")}, MaxIters: &source.Int{Value: 3}}}
	}
	inner := frameKind{"inner", fields(one(hour), "x")}
	nested := func(n *core.Node) { n.Handler, n.Kind = nil, text("inner") }
	again := takes(time.Minute)
	failing := core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		_, _ = again(ctx, in)
		return core.Result{}, errors.New("no")
	})
	failRun := func(n *core.Node) { n.OnError = &core.OnError{Policy: text("fail_run")} }
	for _, c := range []struct {
		name string
		slow *core.Node
		set  []func(*core.Workflow)
	}{
		{"a handler", node("slow", hour), nil},
		{"a handler that fails when it is cancelled, and would end the run", node("slow", failing, failRun), nil},
		{"an attempt that another would follow", node("slow", failing, retry(5, "linear")), nil},
		{"a wait between two attempts", node("slow", core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, errors.New("no") }),
			retry(20, "exponential")), nil},
		{"a timeout", node("slow", hour, timeout(2*time.Hour)), nil},
		{"a fan-out", node("slow", hour, forEach("list", 2)), nil},
		{"a fan-out that would end the run", node("slow", failing, forEach("list", 2), failRun), nil},
		{"a nested run", node("slow", nil, nested), nil},
		{"nested runs of a fan-out", node("slow", nil, nested, forEach("list", 2)), nil},
		{"a pipeline", node("slow", hour), []func(*core.Workflow){pipeline}},
		{"a pipeline whose rows fail", node("slow", failing, failRun), []func(*core.Workflow){pipeline}},
		{"nested runs of a pipeline", node("slow", nil, nested), []func(*core.Workflow){pipeline}},
		{"a loop", node("slow", hour), []func(*core.Workflow){loop}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, took, events := race(t, raceOf([]*core.Node{c.slow, node("quick", takes(time.Second))}, c.set...), inner)
			if r.Status != core.RunSuccess || r.Err != nil || took != time.Second {
				t.Errorf("run %s (%v) after %s", r.Status, r.Err, took)
			}
			n, _ := r.Node("slow")
			if n.Status != core.Skipped || n.Reason != "lost the race: end went on with quick" || n.Cause != "end" || n.Failure != nil {
				t.Errorf("slow: %s, %q, cause %q, failure %v", n.Status, n.Reason, n.Cause, n.Failure)
			}
			if got := value.JSON(r.State); got != `{"x":["quick"],"list":[1,2,3],"seen":"quick"}` {
				t.Errorf("state %s", got)
			}
			open := map[string]int{}
			for _, e := range events {
				switch e.Type {
				case core.ItemStarted:
					open[e.Node]++
				case core.ItemFinished, core.ItemFailed, core.NodeRetrying:
					open[e.Node]--
				}
			}
			if open["slow"] > 0 {
				t.Errorf("%d items have no end in the events", open["slow"])
			}
		})
	}
}

// TestRaceSpares: nodes that also lead elsewhere continue, and nodes that never began are skipped.
func TestRaceSpares(t *testing.T) {
	other := node("other", takes(time.Second))
	w := raceOf([]*core.Node{node("quick", takes(time.Second)), node("both", takes(time.Minute)), node("late", takes(time.Second))}, func(w *core.Workflow) {
		before := node("before", takes(time.Hour))
		other.Writes, before.Writes = []source.Text{text("x")}, []source.Text{text("x")}
		w.Nodes = append(w.Nodes, other, before)
		w.Edges = append(w.Edges, &core.Edge{From: text("both"), To: other.ID}, &core.Edge{From: before.ID, To: text("late")})
	})
	r, took, _ := race(t, w)
	want := map[string]core.Status{"quick": core.Success, "both": core.Success, "other": core.Success, "late": core.Skipped, "before": core.Skipped, "end": core.Success}
	for id, s := range want {
		if n, _ := r.Node(id); n.Status != s {
			t.Errorf("%s is %s (%s), want %s", id, n.Status, n.Reason, s)
		}
	}
	if took != time.Minute+time.Second || r.Status != core.RunSuccess {
		t.Errorf("run %s after %s", r.Status, took)
	}
}

// TestRaceAwaits: the join does not wait for a slow loser unless it reads what the loser may write;
// the run always waits.
func TestRaceAwaits(t *testing.T) {
	for _, reads := range []bool{false, true} {
		var slowEnd, joined time.Duration
		began := time.Time{}
		stubborn := core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
			<-ctx.Done()
			time.Sleep(3 * time.Second)
			slowEnd = time.Since(began)
			return core.Result{Delta: map[string]any{"x": []any{"slow"}}}, nil
		})
		w := raceOf([]*core.Node{node("slow", stubborn), node("quick", core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
			began = time.Now()
			return takes(time.Second)(ctx, in)
		}))})
		end := w.Nodes[2]
		old := end.Handler
		end.Handler = core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
			joined = time.Since(began)
			return old.Handle(ctx, in)
		})
		if reads {
			end.Reads = []source.Text{text("x")}
		}
		r, took, _ := race(t, w)
		want := time.Second
		if reads {
			want = 4 * time.Second
		}
		if joined != want || slowEnd != 4*time.Second || took != 4*time.Second || value.JSON(r.State) != `{"x":["quick"],"list":[1,2,3],"seen":"quick"}` {
			t.Errorf("reads %t: joined after %s, slow ended after %s, the run after %s: %s", reads, joined, slowEnd, took, value.JSON(r.State))
		}
	}
}

// pauseKind makes a node a timer.
type pauseKind struct{ d time.Duration }

func (pauseKind) Name() string   { return "pause" }
func (pauseKind) Keys() []string { return nil }
func (k pauseKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Wait: &core.Wait{Duration: k.d}}, nil
}

// TestRaceGivesUpReading: the same for what is read from a stream, and for timers, which have no
// handler to cancel.
func TestRaceGivesUpReading(t *testing.T) {
	closed := &atomic.Int64{}
	fan := func(w *core.Workflow) {}
	rows := func(w *core.Workflow) {
		w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.all"), Stages: []source.Text{text("slow")}}}
	}
	for _, c := range []struct {
		name   string
		slow   *core.Node
		stream bool
		set    func(*core.Workflow)
	}{
		{"items", node("slow", takes(time.Minute), forEach("all", 2)), true, fan},
		{"items that wait", node("slow", takes(0), forEach("all", 2)), true, fan},
		{"rows", node("slow", takes(time.Minute)), true, rows},
		{"rows that wait", node("slow", takes(0)), true, rows},
		{"a timer", node("slow", nil, func(n *core.Node) { n.Kind = text("pause") }), false, fan},
		{"timers", node("slow", nil, func(n *core.Node) { n.Kind = text("pause") }, forEach("list", 2)), false, fan},
	} {
		closed.Store(0)
		w := raceOf([]*core.Node{c.slow, node("quick", takes(5*time.Second))}, c.set)
		if c.stream {
			fields(w, "all")
			w.Nodes = append(w.Nodes, &core.Node{ID: text("source"), Kind: text("counting"), Writes: []source.Text{text("all")}, HasWrites: true})
			w.Edges = append(w.Edges, &core.Edge{From: text("source"), To: text("slow")})
		}
		k := drops{after: seconds(1, 1, 3600), closed: closed}
		r, took, _ := race(t, w, k.opens(), pauseKind{time.Hour})
		n, _ := r.Node("slow")
		if r.Status != core.RunSuccess || n.Status != core.Skipped || took != 5*time.Second {
			t.Errorf("%s: run %s (%v) after %s, slow %s: %s", c.name, r.Status, r.Err, took, n.Status, n.Reason)
		}
		if x := value.JSON(r.State); !strings.HasPrefix(x, `{"x":["quick"]`) {
			t.Errorf("%s: state %s", c.name, x)
		}
		if want := map[bool]int64{true: 1}[c.stream]; closed.Load() != want {
			t.Errorf("%s: %d streams closed, want %d", c.name, closed.Load(), want)
		}
	}
}

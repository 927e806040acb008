package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// folding is a field with a reducer that calls a function for the written value 2 and adds all
// other values.
func folding(two func()) core.FieldDecl {
	return core.FieldDecl{Name: text("sum"), Default: value.Missing, Reduce: func(old, v any) (any, error) {
		if v == int64(2) {
			two()
		}
		sum, _ := old.(int64)
		return sum + v.(int64), nil
	}}
}

// numbersTo returns graphs in which the numbers from 1 to 3 are written to the field sum: by three
// nodes, by the items of a fan-out and by the rows of a pipeline.
func numbersTo(field core.FieldDecl) map[string]*core.Workflow {
	list := core.FieldDecl{Name: text("list"), Default: []any{int64(1), int64(2), int64(3)}}
	item := func(id string) *core.Node {
		return &core.Node{ID: text(id), Writes: texts("sum"), HasWrites: true, Handler: core.HandlerFunc(
			func(_ context.Context, in core.Input) (core.Result, error) {
				v, _ := in.Item()
				return core.Write("sum", v), nil
			})}
	}
	nodes := &core.Workflow{Nodes: []*core.Node{put("one", "sum", int64(1)), put("two", "sum", int64(2)), put("three", "sum", int64(3))}}
	each := &core.Workflow{Nodes: []*core.Node{item("each")}}
	each.Nodes[0].ForEach = &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 3}}
	rows := &core.Workflow{Nodes: []*core.Node{item("stage")}, Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.list"),
		Stages: texts("stage"), Concurrency: &source.Int{Value: 3}}}}
	for _, w := range []*core.Workflow{nodes, each, rows} {
		w.Name, w.Fields = text("t"), []core.FieldDecl{field, list}
	}
	return map[string]*core.Workflow{"nodes": nodes, "items": each, "rows": rows}
}

// TestReducerThatEndsItsGoroutine: the run hung, because the reducer ran while the lock was held
// and ended the goroutine that held it.
func TestReducerThatEndsItsGoroutine(t *testing.T) {
	const why = `the reducer of field "sum" ended its goroutine with runtime.Goexit`
	want := map[string][2]string{
		"nodes": {"one=success two=fail three=success", "node two: " + why},
		"items": {"each=fail", "node each: item 1: " + why},
		"rows":  {"stage=fail", "node p: stage, row 1: " + why},
	}
	for name, w := range numbersTo(folding(runtime.Goexit)) {
		for _, limit := range []int{1, 8} {
			synctest.Test(t, func(t *testing.T) {
				r, err := scheduler.Run(context.Background(), compile(t, w), nil, scheduler.Options{Concurrency: limit, Listener: func(core.Event) {}})
				if err == nil || err.Error() != want[name][1] {
					t.Errorf("%s: got %v, want %s", name, err, want[name][1])
				}
				if got := statusesOf(r); got != want[name][0] {
					t.Errorf("%s: got %s, want %s", name, got, want[name][0])
				}
				if got, _ := r.State.Get("sum"); got != int64(4) {
					t.Errorf("%s: the sum is %v", name, got)
				}
			})
		}
	}
}

// TestReducerThatNeverReturns: nothing could end such a run. The test takes real time, because
// other goroutines wait for the lock, which stops virtual time.
func TestReducerThatNeverReturns(t *testing.T) {
	for name, w := range numbersTo(core.FieldDecl{}) {
		ctx, cancel := context.WithCancel(t.Context())
		release, returned := make(chan struct{}), make(chan struct{})
		w.Fields[0] = folding(func() {
			defer close(returned)
			cancel()
			<-release
		})
		r, err := scheduler.Run(ctx, compile(t, w), nil, scheduler.Options{Concurrency: 8, Grace: 10 * time.Millisecond})
		stray, ok := errors.AsType[*core.StrayError](err)
		if !ok || strings.Join(stray.Code, ",") != `the reducer of field "sum"` {
			t.Errorf("%s: got %v", name, err)
		}
		if r.Status != core.RunCancelled && r.Status != core.RunFailed { // it may have been the last thing to do
			t.Errorf("%s: status %s", name, r.Status)
		}
		close(release)
		<-returned
	}
}

// leaving is a type whose JSON methods end their goroutine once they are switched on.
type leaving struct{ N int }

var leaves struct{ out, in bool }

func (leaving) MarshalJSON() ([]byte, error) {
	if leaves.out {
		runtime.Goexit()
	}
	return []byte(`{"N":1}`), nil
}

func (l *leaving) UnmarshalJSON(b []byte) error {
	if leaves.in {
		runtime.Goexit()
	}
	type plain leaving
	return json.Unmarshal(b, (*plain)(l))
}

// TestTypeThatEndsItsGoroutine: methods of the Go types of fields run while the lock is held,
// wherever their values are converted.
func TestTypeThatEndsItsGoroutine(t *testing.T) {
	typed := func(merge string) core.FieldDecl {
		return core.FieldDecl{Name: text("x"), Merge: text(merge), Go: value.GoTypeFor[[]leaving](), Default: value.Missing}
	}
	later := func(id string, out, in bool) *core.Node {
		return &core.Node{ID: text(id), HasWrites: true, Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			leaves.out, leaves.in = out, in
			return core.Result{}, nil
		})}
	}
	edge := func(from, to, when string) *core.Edge {
		e := &core.Edge{From: text(from), To: text(to)}
		if when != "" {
			c := text(when)
			e.When = &c
		}
		return e
	}
	val := []leaving{{1}}
	inner := &core.Workflow{Name: text("inner"), Fields: []core.FieldDecl{{Name: text("y"), Default: value.Missing}},
		Nodes: []*core.Node{put("give", "y", []any{value.ObjectOf("N", int64(1))}), later("sour", false, true)}}
	sub := &core.Node{ID: text("sub"), Kind: text("sub"), Writes: texts("x"), HasWrites: true}
	for name, c := range map[string]struct {
		nodes []*core.Node
		edges []*core.Edge
		loop  string // until
		want  string
	}{
		"condition": {nodes: []*core.Node{put("a", "x", val), later("sour", true, false), get("b")},
			edges: []*core.Edge{edge("a", "sour", ""), edge("sour", "b", "$.x[0].N == 1")}, want: "a=success sour=success b=skipped"},
		"loop": {nodes: []*core.Node{put("a", "x", val), later("sour", true, false)}, loop: "$.x[0].N == 1", want: "a=success sour=success"},
		"for_each": {nodes: []*core.Node{put("a", "x", val), later("sour", true, false), {ID: text("b"), HasWrites: true, Handler: core.HandlerFunc(noop),
			ForEach: &core.ForEach{Source: text("$.x[?(@.N == 1)]")}}},
			edges: []*core.Edge{edge("a", "sour", ""), edge("sour", "b", "")}, want: "a=success sour=success b=fail"},
		"output": {nodes: []*core.Node{sub}, want: "sub=fail"},
	} {
		t.Run(name, func(t *testing.T) {
			leaves.out, leaves.in = false, false
			w := &core.Workflow{Name: text("t"), Nodes: c.nodes, Edges: c.edges, Fields: []core.FieldDecl{typed("")}}
			if c.loop != "" {
				until := text(c.loop)
				w.Loops = []*core.Loop{{ID: text("l"), Body: texts("a", "sour"), BodyIsList: true, Until: &until, MaxIters: &source.Int{Value: 1}}}
			}
			synctest.Test(t, func(t *testing.T) {
				p := compileNested(t, w, outputKind{frameKind{"sub", inner}, map[string]string{"x": "y"}})
				r, _ := scheduler.Run(context.Background(), p, nil, scheduler.Options{Listener: func(core.Event) {}})
				if got := statusesOf(r); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

// An error whose Error method ends the goroutine is a failure of its node, as for a handler.
func TestErrorThatEndsItsGoroutine(t *testing.T) {
	w := graph(map[string]core.HandlerFunc{
		"a": func(context.Context, core.Input) (core.Result, error) { return core.Result{}, leavingError{} },
		"b": noop,
	}, []string{"a", "b"})
	synctest.Test(t, func(t *testing.T) {
		r, err := scheduler.Run(context.Background(), compile(t, w), nil, scheduler.Options{})
		if want := "node a: the handler ended its goroutine with runtime.Goexit"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got := statusesOf(r); got != "a=fail b=success" {
			t.Errorf("got %s", got)
		}
	})
}

type leavingError struct{}

func (leavingError) Error() string { runtime.Goexit(); return "" }

// outputKind is a nested workflow whose fields have other names outside.
type outputKind struct {
	frameKind
	outputs map[string]string
}

func (k outputKind) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	c, ds := k.frameKind.Compile(n, env)
	c.Frame.Outputs = k.outputs
	return c, ds
}

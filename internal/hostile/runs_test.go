package hostile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// An undeclared write fails the node, nothing of its result is stored, and the message says
// what to declare and where.
func TestUndeclaredWrite(t *testing.T) {
	doc := "name: x\nstate: {schema: {a: {}, b: {}}}\ngraph:\n  nodes:\n    - {id: n, kind: tool, impl: f, writes: [a]}\n"
	for field, want := range map[string]string{
		"b":  `writes "b", which is not among its writes; add to node n: writes: [a, b] (`,
		"zz": `writes "zz", which the state does not declare; add to node n: writes: [a, zz] (`,
	} {
		p := must(t, tools{"f": returns(core.Result{Delta: map[string]any{"a": 1, field: 2}})}, doc)
		r, err := run(t, t.Context(), p, nil, scheduler.Options{})
		f := failure(t, r, "n")
		if err == nil || !strings.HasPrefix(f.Message, want) || f.Class != core.ClassWrite || r.State.Len() != 0 {
			t.Errorf("got %s %q, state %v\nwant %q", f.Class, f.Message, r.State.Keys(), want)
		}
	}
}

// for_each over a value that is not an array fails the node, subject to its policy.
func TestForEachOverNoArray(t *testing.T) {
	for value, what := range map[any]string{nil: "null", "text": "string", int64(3): "integer", true: "boolean"} {
		for policy, status := range map[string]core.RunStatus{"": core.RunFailed, ", on_error: {policy: skip}": core.RunPartial, ", on_error: {policy: fail_run}": core.RunFailed} {
			calls := 0
			p := must(t, tools{"src": returns(core.Write("l", value)), "f": handle(func(context.Context, core.Input) (core.Result, error) { calls++; return core.Result{}, nil })},
				"name: x\nstate: {schema: {l: {}}}\ngraph:\n  nodes:\n    - {id: src, kind: tool, impl: src, writes: [l]}\n    - {id: n, kind: tool, impl: f, writes: [], for_each: {source: $.l}"+policy+"}\n    - {id: after, kind: tool, impl: f, writes: []}\n  edges:\n    - {from: src, to: n}\n    - {from: n, to: after}\n")
			r, _ := run(t, t.Context(), p, nil, scheduler.Options{})
			f := failure(t, r, "n")
			if r.Status != status || calls != 0 || f.Class != core.ClassInput || f.Message != "for_each.source $.l is "+what+", want an array" {
				t.Errorf("%v, %q: %s, %d calls, %s %q", value, policy, r.Status, calls, f.Class, f.Message)
			}
		}
	}
}

// An interrupt in a fan-out of 10,000 items in flight: the run waits for all of them and
// counts them all.
func TestCancelWideFanOut(t *testing.T) {
	n := large(10_000)
	items := wavefold.NewField[[]int]("items")
	var begun, ended atomic.Int64
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("ctrl-c")
	g := wavefold.New("g", wavefold.ForEach("f", items, func(ctx context.Context, _ int) error {
		defer ended.Add(1)
		if begun.Add(1) == int64(n) {
			cancel(why)
		}
		<-ctx.Done()
		return ctx.Err()
	}, wavefold.Limit(n)), wavefold.Func("after", nil, nil, nop, wavefold.After("f")))
	before := count(t)
	r, err := g.Run(ctx, items.Is(make([]int, n)))
	before.same(t)
	f, _ := r.Node("f")
	if !errors.Is(err, why) || r.Status != core.RunCancelled || ended.Load() != int64(n) || f.Failed != n || f.Failure.Class != core.ClassCanceled {
		t.Errorf("%v, %s, %d ended, %+v", err, r.Status, ended.Load(), f)
	}
	if after, _ := r.Node("after"); after.Status != core.StatusNone {
		t.Errorf("the node behind it is %s", after.Status)
	}
}

// A cancellation takes effect even if the running node ignores it and succeeds.
func TestCancellationIgnored(t *testing.T) {
	for _, listening := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		p := must(t, tools{"f": handle(func(context.Context, core.Input) (core.Result, error) { cancel(); return core.Write("a", 1), nil }), "nop": handle(nop)},
			"name: x\nstate: {schema: {a: {}}}\ngraph:\n  nodes:\n    - {id: n, kind: tool, impl: f, writes: [a]}\n    - {id: after, kind: tool, impl: nop, writes: []}\n  edges: [{from: n, to: after}]\n")
		o := scheduler.Options{}
		var last core.Event
		if listening {
			o.Listener = func(e core.Event) { last = e }
		}
		r, err := run(t, ctx, p, nil, o)
		after, _ := r.Node("after")
		if !errors.Is(err, context.Canceled) || r.Status != core.RunCancelled || after.Status != core.StatusNone {
			t.Errorf("%v, %s, after %s", err, r.Status, after.Status)
		}
		if listening && (last.Type != core.RunFinished || last.Status != string(core.RunCancelled)) {
			t.Errorf("the last event is %+v", last)
		}
	}
}

// A handler that does not end is abandoned after the grace period, and reported by name.
// Its later result is discarded.
func TestHandlerThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := must(t, tools{"hostile": handle(func(context.Context, core.Input) (core.Result, error) { <-release; return core.Write("out", 1), nil }), "nop": handle(nop)}, two)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Concurrency: 2, Grace: 3 * time.Second})
		close(release)
		synctest.Wait()
		want := "the run was cancelled: context deadline exceeded; still running, because the handler ignored the end of its context: a"
		if text(err) != want || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour+3*time.Second {
			t.Errorf("got %v after %s, want %s", err, time.Since(start), want)
		}
		if r.State.Len() > 0 || statuses(r) != "a=fail b=success" {
			t.Errorf("state %v, %s", r.State.Keys(), statuses(r))
		}
	})
}

// A context can end in several ways, before and during the run.
func TestContextsOfEveryKind(t *testing.T) {
	why := errors.New("why")
	cases := map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"long over": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadline(c, time.Time{})
		}, context.DeadlineExceeded},
		"no time": {func(c context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(c, 0) }, context.DeadlineExceeded},
		"negative": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, math.MinInt64)
		}, context.DeadlineExceeded},
		"in the middle": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, time.Minute)
		}, context.DeadlineExceeded},
		"with a cause": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(c, time.Minute, why)
		}, why},
		"enormous": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(c, math.MaxInt64)
		}, nil},
		"cannot end": {func(c context.Context) (context.Context, context.CancelFunc) {
			return context.WithoutCancel(c), func() {}
		}, nil},
		"already ended": {func(c context.Context) (context.Context, context.CancelFunc) {
			c, f := context.WithCancel(c)
			f()
			return c, f
		}, context.Canceled},
		"ended of itself": {func(c context.Context) (context.Context, context.CancelFunc) {
			c, f := context.WithCancelCause(c)
			f(why)
			return c, func() {}
		}, why},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				p := must(t, tools{"hostile": handle(sleep(time.Hour)), "nop": handle(nop)}, two)
				r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Listener: func(core.Event) {}})
				if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (r.Status == core.RunCancelled) != (c.want != nil) {
					t.Errorf("got %v, %s, want %v", err, r.Status, c.want)
				}
			})
		})
	}
}

// sleep returns a handler that sleeps but respects its context.
func sleep(d time.Duration) handle {
	return func(ctx context.Context, _ core.Input) (core.Result, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return core.Result{}, nil
		case <-ctx.Done():
			return core.Result{}, ctx.Err()
		}
	}
}

// A run that is cancelled while it waits between attempts makes no further attempt and
// leaves no timer. Waits that would overflow are limited to the maximum.
func TestCancelDuringBackoff(t *testing.T) {
	for backoff, calls := range map[string]int64{
		"attempts: 20, backoff: exponential, base_ms: 100":              6, // 0, 0.1, 0.3, 0.7, 1.5, 3.1, then 6.3 s
		"attempts: 20, base_ms: 100":                                    10,
		"attempts: 20, backoff: exponential, base_ms: 9223372036854":    1,
		"attempts: 20, base_ms: 9223372036854, jitter: true":            1,
		"attempts: 20, base_ms: 100, max_ms: 100, backoff: exponential": 20,
		"attempts: 20, base_ms: 0":                                      20,
	} {
		t.Run(backoff, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Int64
				p := must(t, tools{"f": handle(func(context.Context, core.Input) (core.Result, error) {
					made.Add(1)
					return core.Result{}, errors.New("again")
				})},
					"name: x\ngraph: {nodes: [{id: a, kind: tool, impl: f, writes: [], on_error: {policy: retry, "+backoff+"}}]}\n")
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				r, err := scheduler.Run(ctx, p, nil, scheduler.Options{Listener: func(core.Event) {}})
				if made.Load() != calls {
					t.Errorf("%d attempts, want %d", made.Load(), calls)
				}
				if want := calls < 20; errors.Is(err, context.DeadlineExceeded) != want || (r.Status == core.RunCancelled) != want {
					t.Errorf("got %v, %s", err, r.Status)
				}
			})
		})
	}
}

// With fail_run, a sibling must not continue after Run has returned, and its writes are
// dropped.
func TestFailRunAwaitsSiblings(t *testing.T) {
	var alive, begun atomic.Int64
	p := must(t, tools{"bad": handle(func(context.Context, core.Input) (core.Result, error) {
		for begun.Load() < 2 {
			runtime.Gosched()
		}
		return core.Result{}, errors.New("bad")
	}), "sibling": handle(func(ctx context.Context, _ core.Input) (core.Result, error) {
		alive.Add(1)
		defer alive.Add(-1)
		begun.Add(1)
		<-ctx.Done()
		return core.Write("out", 1), nil
	})}, `name: x
runtime: {concurrency: 8}
state: {schema: {out: {}}}
graph:
  nodes:
    - {id: a, kind: tool, impl: bad, writes: [], on_error: {policy: fail_run}}
    - {id: b, kind: tool, impl: sibling, writes: [out]}
    - {id: c, kind: tool, impl: sibling, writes: [out]}
    - {id: d, kind: tool, impl: sibling, writes: [out]}
  edges: [{from: b, to: d}]
`)
	r, err := run(t, t.Context(), p, nil, scheduler.Options{})
	if text(err) != "node a: bad (and 2 more failed)" || alive.Load() != 0 || r.State.Len() != 0 || statuses(r) != "a=fail b=fail c=fail d=" {
		t.Errorf("%v, %d alive, state %v, %s", err, alive.Load(), r.State.Keys(), statuses(r))
	}
	if f := failure(t, r, "b"); f.Class != core.ClassCanceled {
		t.Errorf("sibling: %+v", f)
	}
}

// A graph of fan-outs, nested runs, pipelines and loops ends under any limits.
func TestLimitOfOne(t *testing.T) {
	dir := t.TempDir()
	inner := `name: inner
inputs: {l: {type: array}}
state: {schema: {out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: f, kind: tool, impl: one, writes: [out], for_each: {source: $.l, concurrency: 9}}
  pipelines: [{id: p, items: $.l, stages: [s1, s2], concurrency: 5}]
  loops: [{id: lo, body: b, max_iters: 3}]
`
	inner = strings.Replace(inner, "  pipelines", "    - {id: s1, kind: tool, impl: one, writes: [out]}\n    - {id: s2, kind: tool, impl: one, writes: [out]}\n    - {id: b, kind: tool, impl: one, writes: [out]}\n  pipelines", 1)
	write(t, dir+"/inner.yaml", inner)
	outer := `name: outer
state: {schema: {l: {type: array, default: [1, 2, 3, 4]}, ls: {type: array, default: [[1, 2], [3], []]}, out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: sub, kind: workflow, file: inner.yaml, args: {l: $item}, outputs: {out: out}, writes: [out], for_each: {source: $.ls, concurrency: 7}}
    - {id: sub2, kind: workflow, file: inner.yaml, args: {l: $.l}, outputs: {out: out}, writes: [out], on_error: {policy: retry, attempts: 3}}
    - {id: w, kind: wait, duration: 1ms}
    - {id: end, kind: tool, impl: one, writes: [out], join: all_done}
  edges: [{from: sub, to: end}, {from: sub2, to: end}, {from: w, to: end}]
`
	one := handle(func(context.Context, core.Input) (core.Result, error) { return core.Write("out", []any{1}), nil })
	p := mustIn(t, dir, tools{"one": one}, outer)
	for _, o := range []scheduler.Options{{Concurrency: 1}, {MaxInFlight: 1}, {Concurrency: 1, MaxInFlight: 1}, {Concurrency: 10_000}, {Concurrency: 10_000, MaxInFlight: 1}, {Concurrency: math.MaxInt, MaxInFlight: math.MaxInt}, {Barrier: true}, {Concurrency: -1, MaxInFlight: -1, Grace: -1}} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		r, err := run(t, ctx, p, nil, o)
		cancel()
		// Three rounds and three per item in sub (3 items) and sub2 (4 items).
		out, _ := r.State.Get("out")
		if list, _ := out.([]any); err != nil || len(list) != (3*3+3*3)+(3*4+3)+1 {
			t.Errorf("%+v: %v, %d elements", o, err, len(list))
		}
	}
}

// Two concurrent runs of one plan do not affect each other.
func TestTwoRunsOfOnePlan(t *testing.T) {
	p := must(t, tools{"f": handle(func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Get("in")
		return core.Write("out", []any{v}), nil
	})}, `name: x
runtime: {concurrency: 4}
state: {schema: {in: {}, l: {type: array, default: [1, 2, 3]}, out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: a, kind: tool, impl: f, reads: [in], writes: [out], for_each: {source: $.l, concurrency: 3}}
    - {id: b, kind: tool, impl: f, reads: [in], writes: [out]}
    - {id: c, kind: tool, impl: f, reads: [in], writes: [out]}
  edges: [{from: a, to: b, when: length($.out) == 3}]
  loops: [{id: l1, body: c, max_iters: 3, until: length($.out) > 5}]
`)
	before := count(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			r, err := scheduler.Run(t.Context(), p, map[string]any{"in": i}, scheduler.Options{})
			out, _ := r.State.Get("out")
			if got, want := value.JSON(out), value.JSON(slices.Repeat([]any{int64(i)}, 6)); err != nil || got != want {
				t.Errorf("run %d: %v, %s, want %s", i, err, got, want)
			}
		})
	}
	wg.Wait()
	before.same(t)
}

// A handler may modify its input without affecting others.
func TestHandlerMutatesItsView(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	p := must(t, tools{"f": handle(func(_ context.Context, in core.Input) (core.Result, error) {
		for _, v := range []any{in.State(), in.Args(), in.EdgeInputs()} {
			m := v.(map[string]any)
			mu.Lock()
			seen = append(seen, value.JSON(m))
			mu.Unlock()
			mutate(m)
		}
		v, _ := in.Get("o")
		mutate(v)
		v, _ = in.Arg("x")
		mutate(v)
		v, _ = in.Item()
		mutate(v)
		return core.Result{}, nil
	}), "src": returns(core.Send(map[string]any{"deep": []any{map[string]any{"k": 1}}}))},
		`name: x
runtime: {concurrency: 4}
state: {schema: {o: {default: {deep: [{k: 1}]}}, l: {type: array, default: [[1], [2]]}}}
graph:
  nodes:
    - {id: s, kind: tool, impl: src, writes: []}
    - {id: a, kind: tool, impl: f, reads: [o, l], args: {x: $.o, lit: {deep: [1, 2]}}, writes: [], for_each: {source: $.l, concurrency: 2}}
    - {id: b, kind: tool, impl: f, reads: [o, l], args: {x: $.o, lit: {deep: [1, 2]}}, writes: []}
    - {id: c, kind: tool, impl: f, reads: [o, l], args: {x: $.o, lit: {deep: [1, 2]}}, writes: []}
  edges: [{from: s, to: a}, {from: s, to: b}, {from: b, to: c}, {from: s, to: c}]
`)
	for range 3 { // literals and defaults belong to the plan
		r, err := run(t, t.Context(), p, nil, scheduler.Options{})
		if got := value.JSON(r.State); err != nil || got != `{"o":{"deep":[{"k":1}]},"l":[[1],[2]]}` {
			t.Errorf("%v, state %s", err, got)
		}
	}
	slices.Sort(seen)
	if got := slices.Compact(seen); len(got) != 3 {
		t.Errorf("what handlers saw differs:\n%s", strings.Join(got, "\n"))
	}
}

// mutate modifies every value that it can reach.
func mutate(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			mutate(e)
			v[k] = "mutated"
		}
		v["more"] = 1
	case []any:
		for i, e := range v {
			mutate(e)
			v[i] = "mutated"
		}
	case *value.Object:
		for k, e := range v.All() {
			mutate(e)
			v.Set(k, "mutated")
		}
	}
}

type order struct {
	Lines []line
	Tags  map[string][]string
	Next  *order
}

type line struct{ Words []string }

// The same for typed fields, whose values are stored without conversion.
func TestTypedHandlerMutatesItsView(t *testing.T) {
	orders := wavefold.NewField[[]order]("orders")
	n := wavefold.NewField[[]string]("n", wavefold.Append)
	look := func(_ context.Context, o order) (string, error) {
		got := o.Lines[0].Words[0] + o.Tags["t"][0] + o.Next.Lines[0].Words[0]
		o.Lines[0].Words[0], o.Tags["t"][0], o.Next.Lines[0].Words[0] = "x", "x", "x"
		o.Tags["new"] = nil
		return got, nil
	}
	all := func(ctx context.Context, os []order) ([]string, error) {
		var out []string
		for i := range os {
			s, _ := look(ctx, os[i])
			out = append(out, s)
		}
		os[0] = order{}
		return out, nil
	}
	g := wavefold.New("g",
		wavefold.Source("make", orders, func(context.Context) ([]order, error) {
			one := order{Lines: []line{{[]string{"a"}}}, Tags: map[string][]string{"t": {"b"}}, Next: &order{Lines: []line{{[]string{"c"}}}}}
			return []order{one, one}, nil // both refer to the same memory
		}),
		wavefold.Each("each", orders, n, look, wavefold.Limit(2)),
		wavefold.Map("all1", orders, n, all), wavefold.Map("all2", orders, n, all, wavefold.After("all1")))
	r, err := g.Run(t.Context(), wavefold.WithConcurrency(4))
	if got := strings.Join(n.Get(r), " "); err != nil || strings.Contains(got, "x") {
		t.Errorf("%v, %s", err, got)
	}
	first := orders.Get(r)
	first[0].Lines[0].Words[0] = "x"
	if orders.Get(r)[0].Lines[0].Words[0] != "a" {
		t.Error("the state can be changed through a result")
	}
}

// For parallel writers without a merge strategy, the canonical order decides, not timing.
func TestParallelWritersOfOneField(t *testing.T) {
	doc := "name: x\nstate: {schema: {v: {}, once: {merge: set_once}}}\ngraph:\n  nodes:\n"
	fns := tools{}
	for i := range 8 {
		doc += fmt.Sprintf("    - {id: n%d, kind: tool, impl: f%d, writes: [v, once]}\n", i, i)
		fns[fmt.Sprintf("f%d", i)] = handle(func(context.Context, core.Input) (core.Result, error) {
			time.Sleep(time.Duration(8-i) * time.Second)
			return core.Result{Delta: map[string]any{"v": i, "once": i}}, nil
		})
	}
	for _, limit := range []int{1, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			r, err := scheduler.Run(t.Context(), must(t, fns, doc), nil, scheduler.Options{Concurrency: limit})
			// The first write to once wins; the others fail and store nothing at all.
			if got := value.JSON(r.State); err == nil || got != `{"v":0,"once":0}` {
				t.Errorf("limit %d: %v, %s", limit, err, got)
			}
			if f := failure(t, r, "n1"); f.Class != core.ClassMerge || f.Message != `field "once" already has a value and merges set_once` {
				t.Errorf("limit %d: %+v", limit, f)
			}
		})
	}
}

// A join that is the last node ends the run, whatever the statuses of its predecessors.
func TestJoinAtTheEnd(t *testing.T) {
	for _, join := range []string{"", ", join: all", ", join: all_done"} {
		for _, policy := range []string{"", ", on_error: {policy: skip}", ", on_error: {policy: retry, attempts: 2, base_ms: 1}"} {
			p := must(t, tools{"ok": handle(nop), "bad": fails(errors.New("bad"))},
				"name: x\ngraph:\n  nodes:\n    - {id: a, kind: tool, impl: ok, writes: []}\n    - {id: b, kind: tool, impl: bad, writes: []"+policy+"}\n    - {id: c, kind: tool, impl: ok, writes: []}\n    - {id: j, kind: tool, impl: ok, writes: []"+join+
					"}\n  edges: [{from: a, to: c, when: '1 > 2'}, {from: a, to: j}, {from: b, to: j}, {from: c, to: j}]\n")
			want := "skipped"
			if join == ", join: all_done" {
				want = "success"
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			r, err := run(t, ctx, p, nil, scheduler.Options{Concurrency: 3})
			cancel()
			if got := statuses(r); got != "a=success b=fail c=skipped j="+want {
				t.Errorf("%s%s: %s, %v", join, policy, got, err)
			}
		}
	}
}

// Results of a fan-out stay with their items if some items fail, at any limit.
func TestFanOutKeepsItsOrder(t *testing.T) {
	doc := "name: x\nstate: {schema: {l: {type: array}, out: {type: array, merge: array_append}}}\ngraph:\n  nodes:\n    - {id: f, kind: tool, impl: f, writes: [out], for_each: {source: $.l, concurrency: %d}, on_error: {policy: skip}}\n    - {id: g, kind: tool, impl: g, writes: []}\n  edges: [{from: f, to: g, on: done}]\n"
	list := make([]any, 100)
	for i := range list {
		list[i] = i
	}
	for _, limit := range []int{1, 7, 100} {
		synctest.Test(t, func(t *testing.T) {
			var outputs any
			p := must(t, tools{"f": handle(func(_ context.Context, in core.Input) (core.Result, error) {
				i := in.Index()
				time.Sleep(time.Duration(i*37%11) * time.Second)
				switch {
				case i%10 == 3:
					return core.Result{}, errors.New("third")
				case i%10 == 7:
					panic("seventh")
				}
				item, _ := in.Item()
				return core.Result{Delta: map[string]any{"out": []any{item}}, EdgeOutput: item, HasEdgeOutput: true}, nil
			}), "g": handle(func(_ context.Context, in core.Input) (core.Result, error) {
				outputs, _ = in.EdgeInput("f")
				return core.Result{}, nil
			})},
				fmt.Sprintf(doc, limit))
			r, err := scheduler.Run(t.Context(), p, map[string]any{"l": list}, scheduler.Options{})
			out, _ := r.State.Get("out")
			var want []any
			for i := range 100 {
				if i%10 != 3 && i%10 != 7 {
					want = append(want, int64(i))
				}
			}
			f, _ := r.Node("f")
			if got := value.JSON(out); got != value.JSON(want) || f.Failed != 20 || f.Failure.Message != "20 of 100 items failed, first item 3: third" {
				t.Errorf("limit %d: %v, %s, %+v", limit, err, got, f)
			}
			if outputs != nil {
				t.Errorf("a fan-out that failed sent %v", outputs)
			}
		})
	}
}

// A listener that panics, ends its goroutine or is slow does not block a run; a listener
// that never returns is abandoned.
func TestHostileListeners(t *testing.T) {
	for name, listen := range map[string]func(core.Event){
		"panics": func(core.Event) { panic("listener") },
		"ends":   func(core.Event) { runtime.Goexit() },
		"slow":   func(core.Event) { time.Sleep(10 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p := must(t, tools{"hostile": handle(nop), "nop": handle(nop)}, two)
			if _, err := run(t, t.Context(), p, nil, scheduler.Options{Listener: listen}); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := must(t, tools{"hostile": handle(nop), "nop": handle(nop)}, two)
		block := make(chan struct{})
		start := time.Now()
		_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Grace: time.Minute, Listener: func(core.Event) { <-block }})
		// It is abandoned like a handler, and reported by name.
		if stray, ok := errors.AsType[*core.StrayError](err); !ok || stray.Err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		close(block)
	})
}

// A reducer that panics or returns an error rejects the write. One that modifies its
// arguments is not detected, but must not corrupt the writes of others or crash the
// process.
func TestHostileReducers(t *testing.T) {
	for want, reduce := range map[string]func(a, b []int) ([]int, error){
		`node a: the reducer of field "n" panicked: boom (and 1 more failed)`: func(a, b []int) ([]int, error) { panic("boom") },
		`node a: no (and 1 more failed)`:                                      func(a, b []int) ([]int, error) { return nil, errors.New("no") },
		"": func(a, b []int) ([]int, error) {
			b[0] = 7
			return append(a, b...), nil
		},
	} {
		n := wavefold.NewField[[]int]("n", wavefold.Reduce(reduce))
		g := wavefold.New("g",
			wavefold.Source("a", n, func(context.Context) ([]int, error) { return []int{1}, nil }),
			wavefold.Source("b", n, func(context.Context) ([]int, error) { return []int{2}, nil }),
			wavefold.Func("c", wavefold.Fields(n), nil, nop, wavefold.After("a", "b")))
		before := count(t)
		r, err := g.Run(t.Context())
		before.same(t)
		if text(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if got := fmt.Sprint(n.Get(r)); want == "" && got != "[7 7]" {
			t.Errorf("got %s", got)
		}
	}
}

// $nodes of a node that was skipped or has sent no output is reported as missing.
func TestNodesOfSkipped(t *testing.T) {
	var got string
	p := must(t, tools{"ok": returns(core.Send(1)), "see": handle(func(_ context.Context, in core.Input) (core.Result, error) {
		got = value.JSON(in.Args())
		return core.Result{}, nil
	})},
		`name: x
graph:
  nodes:
    - {id: a, kind: tool, impl: ok, writes: []}
    - {id: b, kind: tool, impl: ok, writes: []}
    - {id: c, kind: tool, impl: see, writes: [], args: {a: $nodes.a.status, b: $nodes.b.status, ao: $nodes.a.output, bo: $nodes.b.output}}
  edges: [{from: a, to: b, when: '$nodes.a.output == 2'}, {from: a, to: c}, {from: b, to: c, on: done, when: "$nodes.b.status == 'skipped' && $nodes.b.output != 1"}]
`)
	if r, err := run(t, t.Context(), p, nil, scheduler.Options{}); err != nil || got != `{"a":"success","ao":1,"b":"skipped"}` {
		t.Errorf("%v, %s, %s", err, statuses(r), got)
	}
}

// 10,000 fields in one result, and 50 MB along an edge to 50 nodes, without a copy for
// each.
func TestLargeResults(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("name: x\nstate:\n  schema:\n")
	var writes []string
	delta := map[string]any{}
	fields, size := large(10_000), large(50<<20)
	for i := range fields {
		f := fmt.Sprintf("f%d", i)
		fmt.Fprintf(&doc, "    %s: {type: integer}\n", f)
		writes, delta[f] = append(writes, f), i
	}
	fmt.Fprintf(&doc, "runtime: {concurrency: 2}\ngraph:\n  nodes:\n    - {id: a, kind: tool, impl: f, writes: [%s]}\n    - {id: s, kind: tool, impl: big, writes: []}\n", strings.Join(writes, ", "))
	edges := "  edges:\n"
	for i := range 50 {
		fmt.Fprintf(&doc, "    - {id: r%d, kind: tool, impl: size, writes: []}\n", i)
		edges += fmt.Sprintf("    - {from: s, to: r%d}\n", i)
	}
	big := strings.Repeat("x", size)
	p := must(t, tools{"f": returns(core.Result{Delta: delta}), "big": returns(core.Send([]any{big, big})), "size": handle(func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.EdgeInput("s")
		return core.Send(len(v.([]any)[1].(string))), nil
	})}, doc.String()+edges)
	var m1, m2 runtime.MemStats
	runtime.ReadMemStats(&m1)
	r, err := run(t, t.Context(), p, nil, scheduler.Options{Listener: func(core.Event) {}})
	runtime.ReadMemStats(&m2)
	v, _ := r.State.Get(fmt.Sprintf("f%d", fields-1))
	n, _ := r.Node("r49")
	if err != nil || v != int64(fields-1) || n.Output != int64(size) {
		t.Errorf("%v, %v, %v", err, v, n.Output)
	}
	if n := int(m2.TotalAlloc - m1.TotalAlloc); n > 2*size {
		t.Errorf("%d bytes allocated for %d", n, size)
	}
}

package scheduler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// eachDoc runs a node for each of some numbers, which are an array or a stream.
const eachDoc = `name: each
runtime: {concurrency: 4}
state:
  schema:
    rows: {type: array}
    seen: {type: array, merge: array_append}
    sum: {type: integer, merge: sum}
    last: {type: integer}
    once: {type: integer, merge: set_once}
    out: {type: array, default: []}
graph:
  nodes:
    - {id: load, kind: numbers, writes: [rows]}
    - {id: work, kind: KIND, writes: [WRITES], for_each: {source: $.rows, LIMITS}, on_error: POLICY}
    - {id: after, kind: edges, writes: [out]}
    - {id: beside, kind: edges, writes: []}
  edges:
    - {from: load, to: work}
    - {from: work, to: after, on: done}
    - {from: load, to: beside}
`

// rowsOf is a kind that makes an array or a stream of the numbers below count. The stream fails at
// the number breaks, if that is set.
type rowsOf struct {
	count, breaks int64 // breaks is -1 if the stream never fails
	stream        bool
	batch         func() int
	closed        *atomic.Int64
}

func (rowsOf) Name() string   { return "numbers" }
func (rowsOf) Keys() []string { return nil }

func (k rowsOf) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	h := numbersHandler{k, n.Writes[0].Value}
	if k.stream {
		return core.Compiled{Stream: n.Writes[0], Handler: h}, nil
	}
	return core.Compiled{Handler: h}, nil
}

type numbersHandler struct {
	rowsOf
	to string
}

func (h numbersHandler) Handle(context.Context, core.Input) (core.Result, error) {
	if h.stream {
		return core.Write(h.to, value.ObjectOf("source", h.to)), nil
	}
	list := []any{}
	for i := range h.count {
		list = append(list, value.ObjectOf("n", i))
	}
	return core.Write(h.to, list), nil
}

func (h numbersHandler) Open(context.Context, core.Input, *value.Object) (core.Stream, error) {
	return &numbersRead{h: h}, nil
}

type numbersRead struct {
	h    numbersHandler
	next int64
}

func (s *numbersRead) Next(ctx context.Context) ([]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.next == s.h.count {
		return nil, io.EOF
	}
	var rows []any
	for range 1 + s.h.batch() {
		if s.next == s.h.breaks && len(rows) == 0 {
			return nil, errors.New("the disk is gone")
		}
		if s.next == s.h.count || s.next == s.h.breaks {
			break
		}
		rows = append(rows, value.ObjectOf("n", s.next))
		s.next++
	}
	return rows, nil
}

func (s *numbersRead) Summary() *value.Object { return value.ObjectOf(core.RowCount, s.next) }
func (s *numbersRead) Close() error           { s.h.closed.Add(1); return nil }

// edges is a kind that writes its edge inputs.
type edges struct{}

func (edges) Name() string   { return "edges" }
func (edges) Keys() []string { return nil }
func (edges) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		if len(n.Writes) == 0 {
			return core.Result{}, nil
		}
		v, _ := in.EdgeInput("work")
		list, _ := v.([]any)
		return core.Write("out", append([]any{}, list...)), nil
	})}, nil
}

// workKind is a kind whose items fail, are retried and write at random, depending on a seed.
type workKind struct {
	seed   uint64
	fields []string
}

func (workKind) Name() string   { return "work" }
func (workKind) Keys() []string { return nil }

func (k workKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: core.HandlerFunc(k.handle)}, nil
}

func (k workKind) handle(_ context.Context, in core.Input) (core.Result, error) {
	item, _ := in.Item()
	n, _ := item.(*value.Object).Get("n")
	at := in.Index()
	if n != int64(at) {
		return core.Result{}, core.Permanent(fmt.Errorf("item %d is %v", at, n))
	}
	r := rand.New(rand.NewPCG(k.seed, uint64(n.(int64))))
	bad, failing := r.IntN(12) == 0, r.IntN(3)
	switch {
	case bad && failing == 0:
		return core.Result{}, core.Permanent(fmt.Errorf("%d is bad", n))
	case bad && failing == 1 && in.Attempt() < 3:
		return core.Result{}, fmt.Errorf("%d is not ready", n)
	case bad && failing == 2 && r.IntN(8) == 0:
		panic("out of paper")
	}
	res := core.Result{Delta: map[string]any{}}
	for _, f := range k.fields {
		switch {
		case f == "seen":
			res.Delta[f] = []any{n}
		case f == "once" && n.(int64) >= 20 && n.(int64) < 23, f != "once" && r.IntN(2) == 0:
			res.Delta[f] = n
		}
	}
	if k.seed%3 == 0 && n.(int64)%5 == 0 {
		res.EdgeOutput, res.HasEdgeOutput = n, true
	}
	if r.IntN(20) == 0 {
		res.Status = core.PartialSuccess
	}
	return res, nil
}

// eachResult returns the part of the result that must not depend on whether the rows are a stream.
func eachResult(r *core.Report) string {
	n, _ := r.Node("work")
	state := r.State.Copy(0)
	state.Delete("rows")
	failure := ""
	if n.Failure != nil {
		failure = n.Failure.Message
	}
	// The number of rows is not known if the stream was not read to the end.
	if at := strings.Index(failure, " items failed"); at >= 0 {
		if of := strings.Index(failure[:at], " of "); of >= 0 {
			failure = failure[:of] + failure[at:]
		}
	}
	return fmt.Sprintf("%s %s %s failed %d, %d attempts, %q", r.Status, value.JSON(state), n.Status, n.Failed, n.Attempts, failure)
}

// A fan-out over a stream has the same result as a fan-out over the array of its rows: same writes,
// same failures, same output, with all limits, retries, policies and drivers.
func TestForEachOverAStreamIsForEachOverItsRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	failed, cut, refused := 0, 0, 0
	points := schedulertest.KillPoints{}
	for seed := range uint64(90) {
		writes := pick("seen, sum", "seen", "last", "", "once", "once, seen")
		doc := strings.NewReplacer("KIND", "work", "WRITES", writes,
			"LIMITS", pick("concurrency: 1", "concurrency: 3", "concurrency: 16")+pick("", "", ", max_failures: 0", ", max_failures: 2"),
			"POLICY", pick("{policy: retry, attempts: 2, base_ms: 0}", "{policy: retry, attempts: 3, base_ms: 0}", "{policy: skip}")).Replace(eachDoc)
		var fields []string
		if writes != "" {
			fields = strings.Split(writes, ", ")
		}
		closed := &atomic.Int64{}
		count := []int64{0, 1, 5, 40, 300}[rng.IntN(5)]
		array := rowsOf{count: count, breaks: -1, closed: closed}
		stream := array
		stream.stream = true
		stream.batch = func() int { return 3 }
		if seed%2 == 0 {
			stream.batch = func() int { return 700 }
		}
		work := workKind{seed, fields}
		r, err := scheduler.Run(t.Context(), rowsPlan(t, doc, array, work, edges{}), nil, scheduler.Options{})
		if r == nil {
			t.Fatal(err)
		}
		want := eachResult(r)
		p := rowsPlan(t, doc, stream, work, edges{})
		check := func(how string, r *core.Report) {
			n, _ := r.Node("work")
			if got := eachResult(r); got != want {
				t.Fatalf("seed %d, %s, %s\ngot  %s\nwant %s", seed, how, doc, got, want)
			}
			described := fmt.Sprintf(`{"source":"rows","rows":%d}`, count)
			if most := p.Nodes[1].MaxFailures; most >= 0 && n.Failed > most { // how far it was read is arbitrary
				described = `{"source":"rows"}`
			}
			if v, _ := r.State.Get("rows"); value.JSON(v) != described {
				t.Fatalf("seed %d, %s: the state shows %s, want %s", seed, how, value.JSON(v), described)
			}
		}
		for _, limit := range []int{1, 8} {
			r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: limit})
			check(fmt.Sprintf("limit %d", limit), r)
		}
		checker, line := verify.New(p), 0
		r, _ = scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
			line++
			if err := checker.Add(line, &e); err != nil {
				t.Error(err)
			}
		}})
		check("with events", r)
		if found := checker.Finish().Violations; len(found) > 0 {
			t.Fatalf("seed %d, %s: %v", seed, doc, found)
		}
		opened := closed.Load()
		if opened != 3 {
			t.Fatalf("seed %d: %d streams were closed", seed, opened)
		}
		if count <= 40 { // each step writes and reads the machine
			for s := range uint64(40 / max(count, 10)) {
				h := schedulertest.Hostile{Seed: s, JSON: true, Reload: s%2 == 0, Double: true, Yield: true, Split: true}
				if s%3 == 2 || count > 20 {
					h = schedulertest.Killed(s, points)
				}
				r, _, err := h.Run(p, nil, machine.Options{})
				if err != nil {
					t.Fatalf("seed %d, hostile %d: %v", seed, s, err)
				}
				check(fmt.Sprintf("hostile %d", s), r)
			}
		}
		n, _ := r.Node("work")
		failed += min(n.Failed, 1)
		cut += strings.Count(doc, "max_failures") * min(n.Failed, 1)
		if n.Failure != nil && strings.Contains(n.Failure.Message, "already") {
			refused++
		}
	}
	wantKillPoints(t, points, "read of a stream", "item", "range of items")
	if failed < 20 || cut < 10 || refused < 2 {
		t.Errorf("too few fan-outs had failures (%d), were cut (%d), were refused (%d)", failed, cut, refused)
	}
}

// eachOf runs a fan-out over a stream whose items call f.
func eachOf(t *testing.T, src rowsOf, limits string, f func(ctx context.Context, n int64) error, o scheduler.Options) (*core.Report, error) {
	t.Helper()
	src.stream = true
	if src.batch == nil {
		src.batch = func() int { return 0 }
	}
	src.closed = &atomic.Int64{}
	policy := "{policy: skip}"
	limits, how, _ := strings.Cut(limits, "|")
	if how == "fail_run" {
		policy = "{policy: fail_run}"
	}
	doc := strings.NewReplacer("KIND", "call", "WRITES", "", "LIMITS", limits, "POLICY", policy).Replace(eachDoc)
	r, err := scheduler.Run(t.Context(), rowsPlan(t, doc, src, callKind{f}, edges{}), nil, o)
	if src.closed.Load() != 1 {
		t.Errorf("%d streams were closed", src.closed.Load())
	}
	return r, err
}

// callKind is a kind that calls a function for each item.
type callKind struct {
	f func(ctx context.Context, n int64) error
}

func (callKind) Name() string   { return "call" }
func (callKind) Keys() []string { return nil }
func (k callKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		item, _ := in.Item()
		n, _ := item.(*value.Object).Get("n")
		return core.Result{}, k.f(ctx, n.(int64))
	})}, nil
}

// A row that cannot be read ends the fan-out after the items before it, and fails the node.
func TestABrokenStreamFailsItsForEach(t *testing.T) {
	for _, c := range []struct{ limits, want string }{
		{"concurrency: 3", `stream "rows" of node load: the disk is gone`},
		{"concurrency: 3|bad", `stream "rows" of node load: the disk is gone (2 of 50 items failed before)`},
		{"concurrency: 3, max_failures: 1|bad", "2 items failed, first item 7: bad"}, // whether 50 was reached is arbitrary
		{"concurrency: 3|fail_run", `stream "rows" of node load: the disk is gone`},
	} {
		bad := strings.Contains(c.limits, "|bad")
		var done atomic.Int64
		r, _ := eachOf(t, rowsOf{count: 100, breaks: 50}, c.limits, func(_ context.Context, n int64) error {
			if bad && (n == 7 || n == 9) {
				return core.Permanent(errors.New("bad"))
			}
			done.Add(1)
			return nil
		}, scheduler.Options{})
		n, _ := r.Node("work")
		if n.Status != core.Fail || n.Failure.Message != c.want {
			t.Errorf("%s: %s, %+v", c.limits, n.Status, n.Failure)
		}
		if !strings.Contains(c.limits, "max") && !strings.Contains(c.limits, "fail_run") && n.Items != 50 {
			t.Errorf("%s: %d items", c.limits, n.Items)
		}
	}
}

// The node's limit holds, reading has a separate slot, and at most one batch is read ahead of the
// items that have begun.
func TestAForEachOverAStreamReadsOneBatchAhead(t *testing.T) {
	var read, begun, active, most atomic.Int64
	src := rowsOf{count: 3000, breaks: -1, batch: func() int { read.Add(10); return 9 }}
	_, err := eachOf(t, src, "concurrency: 3", func(context.Context, int64) error {
		if now := active.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer active.Add(-1)
		if ahead := read.Load() - begun.Add(1); ahead > 40 {
			return fmt.Errorf("%d items were read ahead", ahead)
		}
		return nil
	}, scheduler.Options{Listener: func(core.Event) {}})
	if err != nil || most.Load() > 3 {
		t.Errorf("%v, up to %d items at once", err, most.Load())
	}
}

// One slow item does not delay the items after it, up to a limit.
func TestASlowItemOfAStreamHoldsNobodyBack(t *testing.T) {
	var done atomic.Int64
	other := make(chan struct{})
	const count = 20_000
	r, err := eachOf(t, rowsOf{count: count, breaks: -1, batch: func() int { return 99 }}, "concurrency: 2", func(_ context.Context, n int64) error {
		if n == 0 {
			<-other
		}
		if done.Add(1) == 10_000 {
			close(other)
		}
		return nil
	}, scheduler.Options{})
	if err != nil || done.Load() != count {
		t.Fatalf("%v, %d items", err, done.Load())
	}
	if n, _ := r.Node("work"); n.Items != count || n.Attempts != count {
		t.Errorf("%d items, %d attempts", n.Items, n.Attempts)
	}
}

// Memory does not grow with the stream, even if many of its items fail.
func TestAForEachOverAStreamIsFlat(t *testing.T) {
	const count = 50_000
	var heap, least uint64
	_, err := eachOf(t, rowsOf{count: count, breaks: -1, batch: func() int { return 999 }}, "concurrency: 4", func(_ context.Context, n int64) error {
		if n == count/10 || n == count-1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if n == count-1 {
				heap = m.HeapAlloc
			} else {
				least = m.HeapAlloc
			}
		}
		if n%3 == 0 {
			return core.Permanent(errors.New("bad"))
		}
		return nil
	}, scheduler.Options{})
	if err != nil { // on_error: skip
		t.Fatal(err)
	}
	if heap > least+4<<20 {
		t.Errorf("%d bytes in use after a tenth of the rows, %d at the end", least, heap)
	}
}

// A cancelled run, or a fan-out whose items are cancelled, does not wait for a source that returns
// no rows.
func TestASilentStreamIsCancelled(t *testing.T) {
	for _, limits := range []string{"concurrency: 2", "concurrency: 2, max_failures: 0"} {
		ctx, cancel := context.WithCancel(t.Context())
		doc := strings.NewReplacer("KIND", "call", "WRITES", "", "LIMITS", limits, "POLICY", "{policy: skip}").Replace(eachDoc)
		p := rowsPlan(t, doc, silent, callKind{func(_ context.Context, n int64) error {
			if n < 3 {
				return nil
			}
			if !strings.Contains(limits, "max") {
				cancel()
			}
			return core.Permanent(errors.New("bad"))
		}}, edges{})
		r, err := scheduler.Run(ctx, p, nil, scheduler.Options{})
		n, _ := r.Node("work")
		switch {
		case strings.Contains(limits, "max"):
			if n.Failure == nil || n.Failure.Message != "item 3: bad" || r.Status != core.RunPartial {
				t.Errorf("%s: %s, %+v", limits, r.Status, n.Failure)
			}
		case r.Status != core.RunCancelled || !errors.Is(err, context.Canceled):
			t.Errorf("%s: %s, %v", limits, r.Status, err)
		}
		cancel()
	}
}

// silent is the kind numbers whose stream has four rows and then waits.
var silent = opens{"numbers", func() core.Stream { return &silentStream{} }}

type silentStream struct{ next int64 }

func (s *silentStream) Next(ctx context.Context) ([]any, error) {
	if s.next == 4 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.next++
	return []any{value.ObjectOf("n", s.next-1)}, nil
}
func (s *silentStream) Summary() *value.Object { return nil }
func (s *silentStream) Close() error           { return nil }

// There are events for each item, and at the end one with the number of items.
func TestEventsOfAForEachOverAStream(t *testing.T) {
	var started, finished, total int
	_, err := eachOf(t, rowsOf{count: 25, breaks: -1}, "concurrency: 4", func(context.Context, int64) error { return nil },
		scheduler.Options{Listener: func(e core.Event) {
			switch {
			case e.Node != "work":
			case e.Type == core.ItemStarted:
				started++
			case e.Type == core.ItemFinished:
				finished++
			case e.Type == core.NodeFinished:
				total, _ = e.Total.Get()
			case e.Type == core.NodeStarted && e.Total != 0:
				t.Error("the number of items was known at the start")
			}
		}})
	if err != nil || started != 25 || finished != 25 || total != 25 {
		t.Errorf("%v: %d started, %d finished, %d in all", err, started, finished, total)
	}
}

// shapeKind is a kind that is a timer, a nested run, or lacks its handler.
type shapeKind struct{ made core.Compiled }

func (shapeKind) Name() string   { return "shape" }
func (shapeKind) Keys() []string { return nil }
func (k shapeKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return k.made, nil
}

// Timers, nested runs and nodes that cannot run can be items of a stream as well as of an array.
func TestItemsOfAStreamOfAnyShape(t *testing.T) {
	inner := func(fail bool) *core.Workflow {
		h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			if fail {
				return core.Result{}, errors.New("bad")
			}
			return core.Write("seen", []any{int64(1)}), nil
		})
		seen := core.FieldDecl{Name: source.Text{Value: "seen"}, Default: value.Missing, Merge: source.Text{Value: "array_append"}}
		return &core.Workflow{Name: source.Text{Value: "inner"}, Fields: []core.FieldDecl{seen}, Nodes: []*core.Node{
			{ID: source.Text{Value: "a"}, Handler: h, Writes: []source.Text{{Value: "seen"}}, HasWrites: true}}}
	}
	for name, made := range map[string]core.Compiled{
		"timer": {Wait: &core.Wait{Duration: 1}}, "lacking": {Lacks: "there is no such function"},
		"nested": {Frame: &core.Frame{Workflow: inner(false)}}, "failing": {Frame: &core.Frame{Workflow: inner(true)}},
	} {
		for _, limits := range []string{"concurrency: 1", "concurrency: 3", "concurrency: 3, max_failures: 2"} {
			writes := ""
			if name == "nested" {
				writes = "seen"
			}
			doc := strings.NewReplacer("KIND", "shape", "WRITES", writes, "LIMITS", limits, "POLICY", "{policy: skip}").Replace(eachDoc)
			src := rowsOf{count: 30, breaks: -1, batch: func() int { return 3 }, closed: &atomic.Int64{}}
			r, err := scheduler.Run(t.Context(), rowsPlan(t, doc, src, shapeKind{made}, edges{}), nil, scheduler.Options{})
			if r == nil {
				t.Fatal(err)
			}
			want := eachResult(r)
			src.stream = true
			p := rowsPlan(t, doc, src, shapeKind{made}, edges{})
			for _, o := range []scheduler.Options{{Concurrency: 1, MaxInFlight: 1}, {Concurrency: 8}} {
				r, _ := scheduler.Run(t.Context(), p, nil, o)
				if got := eachResult(r); got != want {
					t.Errorf("%s, %s:\ngot  %s\nwant %s", name, limits, got, want)
				}
			}
			for seed := range uint64(8) {
				h := schedulertest.Hostile{Seed: seed, JSON: true, Reload: true, Double: true}
				if seed%2 > 0 {
					h = schedulertest.Killed(seed, nil)
				}
				r, _, err := h.Run(p, nil, machine.Options{})
				if err != nil {
					t.Fatalf("%s, %s: %v", name, limits, err)
				}
				if got := eachResult(r); got != want {
					t.Errorf("%s, %s, hostile %d:\ngot  %s\nwant %s", name, limits, seed, got, want)
				}
			}
		}
	}
}

// clinging is the kind numbers with a stream that reads under the context of its first call, as a
// stream does that opens a file in that call.
var clinging = opens{"numbers", func() core.Stream { return &clingingStream{} }}

type clingingStream struct {
	ctx  context.Context
	next int64
}

func (s *clingingStream) Next(ctx context.Context) ([]any, error) {
	if s.ctx == nil {
		s.ctx = ctx
	}
	if s.ctx.Err() != nil || s.next == 10 {
		return nil, cmp.Or(s.ctx.Err(), io.EOF)
	}
	s.next++
	return []any{value.ObjectOf("n", s.next-1)}, nil
}
func (s *clingingStream) Summary() *value.Object { return value.ObjectOf(core.RowCount, s.next) }
func (s *clingingStream) Close() error           { return nil }

// A stream in a nested run is read under one context. It was the context of the first read, which
// ended with that read, so that files were not read further.
func TestAStreamInsideIsReadUnderOneContext(t *testing.T) {
	for _, doc := range []string{
		strings.NewReplacer("KIND", "call", "WRITES", "", "LIMITS", "concurrency: 2", "POLICY", "{policy: fail_run}").Replace(eachDoc),
		strings.NewReplacer("kind: counting", "kind: numbers", "CONCURRENCY", "2").Replace(rowsDoc),
		strings.NewReplacer("kind: counting", "kind: numbers", "CONCURRENCY", "1, batch: 3, flush: 1h").Replace(rowsDoc),
	} {
		reg := core.NewRegistry(clinging, callKind{func(context.Context, int64) error { return nil }}, edges{}, itemKind{fail: -1})
		inner, ds := native.Parse("inner.yaml", []byte(doc), native.OptionsFor(reg))
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		reg.AddKind(shapeKind{core.Compiled{Frame: &core.Frame{Workflow: inner}}})
		outer := `{name: outer, graph: {nodes: [{id: in, kind: shape}]}}`
		w, ds := native.Parse("outer.yaml", []byte(outer), native.OptionsFor(reg))
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		p, ds := plan.Compile(w, reg, plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		if _, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{}); err != nil {
			t.Error(err)
		}
	}
}

// Rows that were read ahead and had not begun when the run was stopped are not items.
func TestAStoppedForEachCountsWhatBegan(t *testing.T) {
	src := rowsOf{count: 1000, breaks: -1, batch: func() int { return 699 }}
	r, _ := eachOf(t, src, "concurrency: 1|fail_run", func(_ context.Context, n int64) error {
		if n == 5 {
			return core.Permanent(errors.New("bad"))
		}
		return nil
	}, scheduler.Options{Listener: func(core.Event) {}})
	n, _ := r.Node("work")
	if n.Failure == nil || n.Failure.Message != "item 5: bad" || n.Items != 6 || n.Failed != 1 {
		t.Errorf("%d items, %d failed, %+v", n.Items, n.Failed, n.Failure)
	}
}

// Rows that were read but not taken do not count as done.
func TestProgressOfAPipelineThatReadsAllAtOnce(t *testing.T) {
	var got []string
	p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", "1", 1), atOnce, itemKind{fail: -1})
	_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
		if e.Type == core.Progress && e.Unit == "rows" {
			got = append(got, fmt.Sprintf("%d: %d/%d", e.Done, e.Read, e.Size))
		}
	}})
	if err != nil || len(got) == 0 || got[0] != "1: 25/100" {
		t.Errorf("%v: %q", err, got)
	}
}

// atOnce is the kind counting with a stream of four rows in one batch.
var atOnce = opens{"counting", func() core.Stream { return &atOnceStream{} }}

type atOnceStream struct{ read int64 }

func (s *atOnceStream) Next(context.Context) ([]any, error) {
	if s.read > 0 {
		return nil, io.EOF
	}
	s.read = 100
	var rows []any
	for n := range int64(4) {
		rows = append(rows, value.ObjectOf("n", n))
	}
	return rows, nil
}
func (s *atOnceStream) Extent() (read, size int64) { return s.read, 100 }
func (s *atOnceStream) Summary() *value.Object     { return value.ObjectOf(core.RowCount, int64(4)) }
func (s *atOnceStream) Close() error               { return nil }

// A stream whose maker does not check the columns that expressions read ends with an error if none
// of its rows has such a column.
func TestStreamsLackColumns(t *testing.T) {
	const doc = `
name: rows
state: {schema: {all: {type: array}, out: {type: array}}}
graph:
  nodes:
    - {id: load, kind: numbers, writes: [all]}
    - {id: work, kind: edges, for_each: {source: $.all}, args: {x: $item.m}, writes: []}
  edges: [{from: load, to: work}]
`
	for _, c := range []struct {
		column string
		count  int64
		want   string
	}{
		{"m", 40, `stream "all" of node load: no row has the column "m" (columns: n); node work: args.x reads it at rows.yaml:7:`},
		{"m", 0, ""},
		{"n", 40, ""},
	} {
		k := rowsOf{count: c.count, breaks: -1, stream: true, batch: func() int { return 7 }, closed: new(atomic.Int64)}
		p := rowsPlan(t, strings.Replace(doc, "$item.m", "$item."+c.column, 1), k, edges{})
		_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{})
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s of %d rows: %v, want %q", c.column, c.count, err, c.want)
		}
	}
}

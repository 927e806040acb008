package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// counting is a kind whose nodes stream the numbers below the field limit, or the multiples of the
// field among the numbers of another stream.
type counting struct{ opened, closed *int }

func (counting) Name() string   { return "counting" }
func (counting) Keys() []string { return []string{"from"} }

func (k counting) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	h := counter{kind: k, to: n.Writes[0].Value}
	made := core.Compiled{Stream: n.Writes[0], Reads: []source.Text{{Value: "limit"}}}
	if from := n.Config.Get("from"); from != nil {
		h.from = from.Scalar.(string)
		made.Streams = []source.Text{source.At(h.from, from.Pos)}
	}
	made.Handler = h
	return made, nil
}

type counter struct {
	kind     counting
	from, to string
}

func (h counter) Handle(context.Context, core.Input) (core.Result, error) {
	return core.Write(h.to, value.ObjectOf("source", h.to)), nil
}

func (h counter) Open(ctx context.Context, in core.Input, described *value.Object) (core.Stream, error) {
	if got, _ := described.Get("source"); got != h.to {
		return nil, fmt.Errorf("described as %v", got)
	}
	limit, _ := in.Shared().Extra.Get("limit")
	s := &numberStream{h: h, limit: limit.(int64)}
	if h.from != "" {
		var ok bool
		var err error
		if s.from, ok, err = in.Stream(ctx, h.from); err != nil || !ok {
			return nil, errors.Join(err, errors.New("no stream"))
		}
	}
	*h.kind.opened++
	return s, nil
}

type numberStream struct {
	h           counter
	from        core.Stream
	limit       int64
	next, taken int64
	out         int64
}

var numberKeys, _ = value.NewKeys([]string{"n"})

func (s *numberStream) Next(ctx context.Context) ([]any, error) {
	for s.from != nil {
		rows, err := s.from.Next(ctx)
		if err != nil {
			return nil, err
		}
		before := len(rows)
		rows = slices.DeleteFunc(rows, func(r any) bool { n, _ := r.(*value.Object).Get("n"); return n.(int64)%s.limit != 0 })
		s.taken += int64(before - len(rows))
		if s.out += int64(len(rows)); len(rows) > 0 {
			return rows, nil
		}
	}
	if s.next == s.limit {
		return nil, io.EOF
	}
	s.next++
	s.out++
	return []any{value.NewRow(numberKeys, []any{s.next - 1})}, nil
}

func (s *numberStream) Summary() *value.Object {
	o := value.ObjectOf(core.RowCount, s.out)
	if s.taken > 0 {
		o.Set(core.RejectedRows, s.taken)
	}
	return o
}

func (s *numberStream) Close() error {
	*s.h.kind.closed++
	if s.from != nil {
		return s.from.Close()
	}
	return nil
}

// adding is a kind that adds up the numbers of a stream.
type adding struct{ fail error }

func (adding) Name() string   { return "adding" }
func (adding) Keys() []string { return nil }

func (k adding) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	from, to := n.Reads[0], n.Writes[0].Value
	return core.Compiled{Streams: []source.Text{from}, Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		s, ok, err := in.Stream(ctx, from.Value)
		if err != nil || !ok {
			return core.Result{}, errors.Join(err, errors.New("no stream"))
		}
		defer s.Close()
		total := int64(0)
		for {
			rows, err := s.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				return core.Result{}, err
			}
			for _, r := range rows {
				n, _ := r.(*value.Object).Get("n")
				total += n.(int64)
			}
		}
		if in.Attempt() == 1 && k.fail != nil {
			return core.Result{}, k.fail
		}
		return core.Write(to, total), nil
	})}, nil
}

// The first stream counts below 10 while limit is 10. Then limit becomes 3, which only the second
// stream reads: it keeps 0, 3, 6 and 9.
const numbersDoc = `name: numbers
inputs: {limit: {type: integer, default: 10}}
state:
  schema:
    limit: {type: integer}
    all: {type: array}
    thirds: {type: array}
    total: {type: integer}
graph:
  nodes:
    - {id: count, kind: counting, writes: [all]}
    - {id: lower, kind: set, writes: [limit]}
    - {id: third, kind: counting, from: all, reads: [all], writes: [thirds]}
    - {id: add, kind: adding, reads: [thirds], writes: [total], on_error: {policy: retry, attempts: 2, base_ms: 0}}
  edges:
    - {from: count, to: lower}
    - {from: lower, to: third}
    - {from: third, to: add}
`

// set is a kind that writes 3 to its field.
type set struct{}

func (set) Name() string   { return "set" }
func (set) Keys() []string { return nil }
func (set) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Write(n.Writes[0].Value, int64(3)), nil
	})}, nil
}

func numbersPlan(t *testing.T, doc string, fail error) (p *plan.Plan, opened, closed *int) {
	t.Helper()
	opened, closed = new(int), new(int)
	reg := core.NewRegistry(counting{opened, closed}, adding{fail}, set{})
	w, ds := native.Parse("numbers.yaml", []byte(doc), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds = plan.Compile(w, reg, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p, opened, closed
}

const numbersState = `{"limit":3,"all":{"source":"all","rows":10},"thirds":{"source":"thirds","rows":4,"rejected":6},"total":18}`

func TestStreamsArePulledByTheirReader(t *testing.T) {
	p, opened, closed := numbersPlan(t, numbersDoc, errors.New("not yet"))
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := value.JSON(r.State); got != numbersState {
		t.Errorf("state %s\n want %s", got, numbersState)
	}
	if n, _ := r.Node("add"); n.Status != core.PartialSuccess || n.Attempts != 2 {
		t.Errorf("add ended %s after %d attempts", n.Status, n.Attempts)
	}
	if *opened != 4 || *closed != 4 { // two streams, two attempts
		t.Errorf("opened %d times, closed %d times", *opened, *closed)
	}
}

// A stream is described by JSON and by the reads of its maker, so a machine that is stored and
// loaded at every step reads the same rows.
func TestStreamsSurviveAHostileDriver(t *testing.T) {
	p, _, _ := numbersPlan(t, numbersDoc, nil)
	for seed := range uint64(40) {
		h := schedulertest.Hostile{Seed: seed, JSON: true, Reload: true, Double: true}
		if seed%2 > 0 {
			h = schedulertest.Killed(seed, nil)
		}
		report, _, err := h.Run(p, nil, machine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := value.JSON(report.State); got != numbersState {
			t.Fatalf("seed %d: state %s", seed, got)
		}
	}
}

func TestStreamErrorsNameTheMaker(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"maker did not run":  {"{from: third, to: add}", "{from: third, to: add, on: done}\n    - {from: count, to: third, when: $.limit == 4}", `node add: the stream "thirds" has not been made: node third did not run`},
		"no rows to be read": {"kind: set, writes: [limit]", "kind: adding, reads: [limit], writes: [total]", "node lower: no stream"},
	} {
		doc := strings.Replace(numbersDoc, c.old, c.new, 1)
		p, _, _ := numbersPlan(t, doc, nil)
		_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// rowsDoc passes the numbers below 10 through a pipeline whose second stage reads its own writes.
const rowsDoc = `name: rows
inputs: {limit: {type: integer, default: 10}}
state:
  schema:
    limit: {type: integer}
    all: {type: array}
    seen: {type: array, merge: array_append}
    sum: {type: integer, default: 0}
graph:
  nodes:
    - {id: count, kind: counting, writes: [all]}
    - {id: note, kind: item, writes: [seen]}
    - {id: add, kind: item, reads: [sum], writes: [sum]}
  pipelines:
    - {id: rows, items: $.all, stages: [note, add], concurrency: CONCURRENCY}
  edges:
    - {from: count, to: note}
`

// itemKind is a kind that appends its item to seen, or adds its numbers to sum.
type itemKind struct{ fail int64 }

func (itemKind) Name() string   { return "item" }
func (itemKind) Keys() []string { return nil }

func (k itemKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		item, _ := in.Item()
		rows, ok := item.([]any)
		if !ok {
			rows = []any{item}
		}
		sum, _ := in.Get("sum")
		numbers := []any{}
		for _, r := range rows {
			v, _ := r.(*value.Object).Get("n")
			if v == k.fail {
				return core.Result{}, errors.New("no such number")
			}
			numbers = append(numbers, v)
			if sum != nil {
				sum = sum.(int64) + v.(int64)
			}
		}
		if n.Writes[0].Value == "seen" {
			return core.Write("seen", []any{numbers}), nil
		}
		return core.Write("sum", sum), nil
	})}, nil
}

// wantKillPoints requires that a run was killed while some work of each kind was open.
func wantKillPoints(t *testing.T, points schedulertest.KillPoints, want ...string) {
	t.Helper()
	t.Logf("kill points: %v", points)
	for _, what := range want {
		if points[what] == 0 {
			t.Errorf("no kill point with an open %s", what)
		}
	}
}

func rowsPlan(t *testing.T, doc string, kinds ...core.Kind) *plan.Plan {
	t.Helper()
	reg := core.NewRegistry(kinds...)
	w, ds := native.Parse("rows.yaml", []byte(doc), native.OptionsFor(reg))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := plan.Compile(w, reg, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func TestPipelineOverAStream(t *testing.T) {
	points := schedulertest.KillPoints{}
	defer func() { wantKillPoints(t, points, "read of a stream", "row") }()
	for _, c := range []struct{ concurrency, seen string }{
		{"1", "[[0],[1],[2],[3],[4],[5],[6],[7],[8],[9]]"},
		{"3", "[[0],[1],[2],[3],[4],[5],[6],[7],[8],[9]]"},
		{"1, batch: 4", "[[0,1,2,3],[4,5,6,7],[8,9]]"},
		{"2, batch: 5", "[[0,1,2,3,4],[5,6,7,8,9]]"},
		{"8, batch: 100", "[[0,1,2,3,4,5,6,7,8,9]]"},
	} {
		opened, closed := 0, 0
		p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", c.concurrency, 1), counting{&opened, &closed}, itemKind{fail: -1})
		want := `{"limit":10,"all":{"source":"all","rows":10},"seen":` + c.seen + `,"sum":45}`
		for _, limit := range []int{1, 8} {
			r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: limit})
			if got := value.JSON(r.State); err != nil || got != want {
				t.Errorf("%s at limit %d: %s, %v\nwant %s", c.concurrency, limit, got, err, want)
			}
		}
		if opened != 2 || closed != 2 {
			t.Errorf("%s: opened %d times, closed %d times", c.concurrency, opened, closed)
		}
		for seed := range uint64(40) {
			h := schedulertest.Hostile{Seed: seed, JSON: true, Reload: true, Double: true}
			if seed%2 > 0 {
				h = schedulertest.Killed(seed, points)
			}
			report, _, err := h.Run(p, nil, machine.Options{Events: seed%3 == 0})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", c.concurrency, seed, err)
			}
			if got := value.JSON(report.State); got != want {
				t.Fatalf("%s, seed %d: %s", c.concurrency, seed, got)
			}
		}
	}
}

func TestEmptyStreamOfRows(t *testing.T) {
	opened, closed := 0, 0
	p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", "2", 1), counting{&opened, &closed}, itemKind{fail: -1})
	r, err := scheduler.Run(t.Context(), p, map[string]any{"limit": 0}, scheduler.Options{})
	if got := value.JSON(r.State); err != nil || got != `{"limit":0,"all":{"source":"all","rows":0},"sum":0}` {
		t.Errorf("%s, %v", got, err)
	}
}

// A row that fails is a failure of that row. A row that cannot be read ends the pipeline after the
// rows before it. In both cases the stream is closed.
func TestFailuresOfAPipelineOverAStream(t *testing.T) {
	opened, closed := 0, 0
	p := rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", "2", 1), counting{&opened, &closed}, itemKind{fail: 3})
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 2})
	if got := value.JSON(r.State); got != `{"limit":10,"all":{"source":"all","rows":10},"seen":[[0],[1],[2],[4],[5],[6],[7],[8],[9]],"sum":42}` {
		t.Errorf("%s", got)
	}
	if err == nil || err.Error() != "node rows: note, row 3: no such number" {
		t.Errorf("%v", err)
	}
	p = rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", "2", 1), breaking(5, false), itemKind{fail: -1})
	r, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 2})
	if got := value.JSON(r.State); got != `{"limit":10,"all":{"source":"all"},"seen":[[0],[1],[2],[3],[4]],"sum":10}` {
		t.Errorf("%s", got)
	}
	if err == nil || err.Error() != `node rows: stream "all" of node count: the disk is gone` {
		t.Errorf("%v", err)
	}
	p = rowsPlan(t, strings.Replace(rowsDoc, "CONCURRENCY", "2", 1), breaking(5, true), itemKind{fail: -1})
	_, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 2})
	if err == nil || err.Error() != `node rows: stream "all" of node count: panic: out of paper` {
		t.Errorf("%v", err)
	}
	if opened != 1 || closed != 1 {
		t.Errorf("opened %d times, closed %d times", opened, closed)
	}
}

// opens is a kind whose nodes open such a stream.
type opens struct {
	kind   string
	stream func() core.Stream
}

func (k opens) Name() string { return k.kind }
func (opens) Keys() []string { return nil }

func (k opens) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Stream: n.Writes[0], Handler: opensHandler{k, n.Writes[0].Value}}, nil
}

type opensHandler struct {
	opens
	to string
}

func (h opensHandler) Handle(context.Context, core.Input) (core.Result, error) {
	return core.Write(h.to, value.ObjectOf("source", h.to)), nil
}

func (h opensHandler) Open(context.Context, core.Input, *value.Object) (core.Stream, error) {
	return h.stream(), nil
}

// breaking is the kind counting with a stream that fails after a number of rows.
func breaking(after int64, panics bool) opens {
	return opens{"counting", func() core.Stream { return &breakingStream{after: after, panics: panics} }}
}

type breakingStream struct {
	after, next int64
	panics      bool
}

func (s *breakingStream) Next(context.Context) ([]any, error) {
	if s.next == s.after && s.panics {
		panic("out of paper")
	}
	if s.next == s.after {
		return nil, errors.New("the disk is gone")
	}
	s.next++
	return []any{value.NewRow(numberKeys, []any{s.next - 1})}, nil
}

func (s *breakingStream) Summary() *value.Object { return nil }
func (s *breakingStream) Close() error           { return nil }

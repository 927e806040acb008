package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// quietTracer makes a run give each item an Input.
type quietTracer struct{}

func (quietTracer) StartRun(ctx context.Context, _, _ string) (context.Context, func(*core.Report)) {
	return ctx, nil
}

func (quietTracer) StartAttempt(ctx context.Context, _ string, _ core.Input) (context.Context, func(core.Status, *core.Failure)) {
	return ctx, nil
}

// badItem fails in all the ways in which a typed function can fail.
func badItem(kind, i int) (float64, error) {
	switch kind {
	case 1:
		return 0, fmt.Errorf("item %d is bad", i)
	case 2:
		panic(fmt.Sprint("item ", i))
	case 3:
		return math.NaN(), nil // has no JSON form
	case 4:
		runtime.Goexit()
	}
	return float64(i), nil
}

// TestItemsWithAndWithoutInputs compares typed fan-outs whose items are given no Input with
// the same ones whose items are. Items fail at random places and in all ways, some only in
// their first attempt.
func TestItemsWithAndWithoutInputs(t *testing.T) {
	type list = []float64
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := []int{0, 1, 5, 40, 700}[r.IntN(5)]
		kinds, again := make([]int, n), make([]bool, n)
		for i := range kinds {
			if r.IntN(1+n/8) == 0 {
				kinds[i], again[i] = r.IntN(5), r.IntN(2) == 0
			}
		}
		options := []wavefold.Option{wavefold.Limit(1 + r.IntN(5)), wavefold.OnError(wavefold.Skip)}
		if r.IntN(2) == 0 {
			options = append(options, wavefold.Retry(2))
		}
		if r.IntN(3) == 0 {
			options = append(options, wavefold.AutoStatus())
		}
		if r.IntN(3) == 0 {
			options = append(options, wavefold.MaxFailures(r.IntN(4)))
		}
		strategy := []wavefold.FieldOption{wavefold.Append, wavefold.Union, wavefold.Reduce(func(old, written list) (list, error) {
			if len(written) > 0 && int(written[0])%7 == 3 {
				return nil, errors.New("no sevens")
			}
			return append(old[:len(old):len(old)], written...), nil
		})}[r.IntN(3)]
		in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[list]("out", strategy)
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		what := r.IntN(3)
		run := func(o ...wavefold.RunOption) (*wavefold.Result, error) {
			tried := make([]bool, n)
			item := func(i int) (float64, error) {
				first := !tried[i]
				tried[i] = true
				if again[i] && !first {
					return float64(i), nil
				}
				return badItem(kinds[i], i)
			}
			var part wavefold.Part
			switch what {
			case 0:
				part = wavefold.Each("n", in, out, func(_ context.Context, i int) (float64, error) { return item(i) }, options...)
			case 1:
				part = wavefold.Expand("n", in, out, func(_ context.Context, i int) (list, error) {
					x, err := item(i)
					return make(list, i%3, 4), errors.Join(err, check(x))
				}, options...)
			default:
				part = wavefold.ForEach("n", in, func(_ context.Context, i int) error {
					x, err := item(i)
					return errors.Join(err, check(x))
				}, options...)
			}
			return wavefold.New("g", part).Run(t.Context(), append(o, in.Is(items))...)
		}
		got, err := run()
		want, wantErr := run(wavefold.WithTracer(quietTracer{}))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(out.Get(got), out.Get(want)) || got.Status != want.Status {
			t.Fatalf("seed %d: %s, %v, %v, want %s, %v, %v", seed, got.Status, err, out.Get(got), want.Status, wantErr, out.Get(want))
		}
		a, _ := got.Node("n")
		b, _ := want.Node("n")
		if a.Items != b.Items || a.Failed != b.Failed || a.Attempts != b.Attempts || a.Status != b.Status {
			t.Fatalf("seed %d: %+v, want %+v", seed, a, b)
		}
	}
}

func check(x float64) error {
	if math.IsNaN(x) {
		return errors.New("NaN")
	}
	return nil
}

// TestEachItemRunsOnce counts the calls for the items of fan-outs in which some items fail.
func TestEachItemRunsOnce(t *testing.T) {
	in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out", wavefold.Append)
	items := make([]int, 100)
	for i := range items {
		items[i] = i
	}
	for _, limit := range []int{1, 3} {
		for bad := range items {
			calls := make([]atomic.Int32, len(items))
			r, err := wavefold.New("g", wavefold.Each("each", in, out, func(_ context.Context, i int) (int, error) {
				calls[i].Add(1)
				if i == bad || i%7 == 3 {
					return 0, errors.New("bad")
				}
				return i, nil
			}, wavefold.Limit(limit))).Run(t.Context(), in.Is(items))
			if err == nil {
				t.Fatal("no error")
			}
			var want []int
			for i := range items {
				if n := calls[i].Load(); n != 1 {
					t.Fatalf("limit %d, item %d is bad: item %d ran %d times", limit, bad, i, n)
				}
				if i != bad && i%7 != 3 {
					want = append(want, i)
				}
			}
			if got := out.Get(r); !slices.Equal(got, want) {
				t.Fatalf("limit %d, item %d is bad: got %v, want %v", limit, bad, got, want)
			}
		}
	}
}

// TestTypedItemThatIsStuck: the result of an item that ignored its timeout must not appear
// among the results, whenever it returns.
func TestTypedItemThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out", wavefold.Append)
		g := wavefold.New("g", wavefold.Each("n", in, out, func(_ context.Context, i int) (int, error) {
			if i == 500 {
				time.Sleep(time.Minute)
			}
			return i, nil
		}, wavefold.Limit(2), wavefold.Timeout(time.Second), wavefold.OnError(wavefold.Skip)))
		items := make([]int, 1000)
		for i := range items {
			items[i] = i
		}
		r, err := g.Run(t.Context(), in.Is(items))
		if _, ok := errors.AsType[*core.StrayError](err); !ok {
			t.Errorf("error %v", err)
		}
		list := out.Get(r)
		if n, _ := r.Node("n"); n.Failed != 1 || len(list) != 999 || list[499] != 499 || list[500] != 501 || list[998] != 999 {
			t.Errorf("%d failed, %d results", n.Failed, len(list))
		}
		time.Sleep(2 * time.Minute)
		if list[499] != 499 || list[500] != 501 {
			t.Error("a late result changed the list")
		}
	})
}

var written core.Result

// TestAllocationsOfItems limits the allocations of the engine for each item of a fan-out; the function
// makes none. The items of ForEach have effects, so each is a separate range, with an executor and an
// input.
func TestAllocationsOfItems(t *testing.T) {
	const n = 10_000
	in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out", wavefold.Append)
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	for _, c := range []struct {
		name string
		part wavefold.Part
		own  float64 // allocations of the function, and of handing out items one by one
	}{
		{"Each", wavefold.Each("n", in, out, func(_ context.Context, i int) (int, error) { return i, nil }, wavefold.Limit(2)), 0},
		{"Expand", wavefold.Expand("n", in, out, func(_ context.Context, i int) ([]int, error) { return []int{i}, nil }, wavefold.Limit(2)), 1},
		{"ForEach", wavefold.ForEach("n", in, func(context.Context, int) error { return nil }, wavefold.Limit(2)), 2},
	} {
		g := wavefold.New(c.name, c.part)
		each := testing.AllocsPerRun(5, func() {
			if _, err := g.Run(t.Context(), in.Is(items)); err != nil {
				t.Fatal(err)
			}
		}) / n
		if each -= c.own; each > 0.25 {
			t.Errorf("%s: %.2f allocations for each item", c.name, each)
		}
	}

	e := wavefold.NewEngine()
	write := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Element()
		return core.Write("out", []any{v}), nil
	})
	if err := e.Registry().AddTool("write", write); err != nil {
		t.Fatal(err)
	}
	w, ds := e.Parse("each.yaml", []byte(`name: each
state:
  schema:
    in: {type: array}
    out: {type: array, merge: array_append}
graph:
  nodes:
    - {id: n, kind: tool, impl: write, for_each: {source: $.in, concurrency: 2}, writes: [out]}
`))
	if w == nil {
		t.Fatal(ds)
	}
	g := e.Graph(w)
	list := make([]any, n)
	for i := range list {
		list[i] = int64(i)
	}
	own := testing.AllocsPerRun(100, func() {
		written, _ = write(t.Context(), core.NewInput("r", "n", 1, core.Shared{Item: list[n-1], Index: core.Nth(n - 1)}))
	})
	each := testing.AllocsPerRun(5, func() {
		if _, err := g.Run(t.Context(), wavefold.Set("in", list)); err != nil {
			t.Fatal(err)
		}
	}) / n
	if each -= own; each > 0.25 {
		t.Errorf("a tool that writes: %.2f allocations for each item", each)
	}
}

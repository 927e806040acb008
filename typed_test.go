package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// big exceeds 2^53, from where floats cannot represent all integers.
const big = int64(1)<<53 + 1

func constant[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, nil }
}

func TestEveryPartOnce(t *testing.T) {
	n, list := wavefold.NewField[int64]("n"), wavefold.NewField[[]int64]("list")
	two, three := wavefold.NewField[string]("two"), wavefold.NewField[string]("three")
	doubled, odd := wavefold.NewField[[]int64]("doubled", wavefold.Append), wavefold.NewField[[]int64]("odd", wavefold.Append)
	total := wavefold.NewField[int64]("total", wavefold.Sum)
	var mu sync.Mutex
	var seen []string
	see := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, s)
	}
	g := wavefold.New("all", wavefold.Concurrency(1),
		wavefold.Source("n", n, constant(big)),
		wavefold.Map("list", n, list, func(_ context.Context, n int64) ([]int64, error) { return []int64{n, 2, 3}, nil }),
		wavefold.Map2("two", n, list, two, func(_ context.Context, n int64, l []int64) (string, error) { return fmt.Sprint(n, l), nil }),
		wavefold.Map3("three", n, list, two, three, func(_ context.Context, n int64, l []int64, s string) (string, error) {
			return fmt.Sprint(n, l, s), nil
		}),
		wavefold.Each("double", list, doubled, func(_ context.Context, n int64) (int64, error) { return 2 * n, nil }, wavefold.Limit(2)),
		wavefold.Expand("odd", list, odd, func(_ context.Context, n int64) ([]int64, error) {
			if n%2 == 0 {
				return nil, nil
			}
			return []int64{n, n}, nil
		}),
		wavefold.Func("sum", wavefold.Fields(list), wavefold.Fields(total), func(_ context.Context, in core.Input) (core.Result, error) {
			v, ok := in.Get("list")
			if !ok {
				return core.Result{}, errors.New("no list")
			}
			var sum int64
			for _, n := range v.([]int64) {
				sum += n
			}
			return core.Write("total", sum), nil
		}),
		wavefold.Sink("sink", total, func(_ context.Context, n int64) error { see(fmt.Sprint("sink ", n)); return nil }),
		wavefold.ForEach("each", doubled, func(_ context.Context, n int64) error { see(fmt.Sprint("each ", n)); return nil }),
		wavefold.Do("end", func(context.Context) error { see("end"); return nil }, wavefold.After("sink", "each", "three", "odd")),
	)
	r, err := g.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value.JSON(r.State), `{"n":9007199254740993,"list":[9007199254740993,2,3],"two":"9007199254740993 [9007199254740993 2 3]",`+
		`"three":"9007199254740993 [9007199254740993 2 3]9007199254740993 [9007199254740993 2 3]","doubled":[18014398509481986,4,6],`+
		`"odd":[9007199254740993,9007199254740993,3,3],"total":9007199254740998}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := strings.Join(seen, ", "), "sink 9007199254740998, each 18014398509481986, each 4, each 6, end"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if ds := g.Findings(); len(ds) > 0 {
		t.Errorf("findings: %v", ds)
	}
}

// edges returns the edges of a graph as "a->b".
func edges(g *wavefold.Graph) string {
	var out []string
	for _, e := range g.Workflow().Edges {
		s := e.From.Value + "->" + e.To.Value
		switch {
		case e.Else:
			s += " else"
		case e.When != nil:
			s += " when " + e.When.Value
		}
		if e.On.Value != "" {
			s += " on " + e.On.Value
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestImpliedEdges(t *testing.T) {
	a, b, c := wavefold.NewField[int]("a"), wavefold.NewField[int]("b"), wavefold.NewField[int]("c")
	list, out := wavefold.NewField[[]int]("list"), wavefold.NewField[[]int]("out", wavefold.Append)
	src := func(id string, f wavefold.Field[int], o ...wavefold.Option) wavefold.Part {
		return wavefold.Source(id, f, constant(1), o...)
	}
	mp := func(id string, in, out wavefold.Field[int], o ...wavefold.Option) wavefold.Part {
		return wavefold.Map(id, in, out, func(_ context.Context, n int) (int, error) { return n, nil }, o...)
	}
	do := func(id string, o ...wavefold.Option) wavefold.Part {
		return wavefold.Do(id, func(context.Context) error { return nil }, o...)
	}
	item := func(_ context.Context, n int) (int, error) { return n, nil }
	tests := []struct {
		name  string
		parts []wavefold.Part
		want  string
	}{
		{"one writer", []wavefold.Part{src("s", a), mp("m", a, b)}, "s->m"},
		{"declared backwards", []wavefold.Part{mp("m", a, b), src("s", a)}, "s->m"},
		{"no writer", []wavefold.Part{mp("m", a, b)}, ""},
		{"two writers", []wavefold.Part{src("s", a), src("r", a), mp("m", a, b)}, ""},
		{"its own field", []wavefold.Part{mp("m", a, a)}, ""},
		{"after adds", []wavefold.Part{src("s", a), do("d"), mp("m", a, b, wavefold.After("d"))}, "d->m, s->m"},
		{"after says it already", []wavefold.Part{src("s", a), mp("m", a, b, wavefold.After("s"))}, "s->m"},
		{"two fields of one writer", []wavefold.Part{
			wavefold.Func("s", nil, wavefold.Fields(a, b), nothing),
			wavefold.Map2("m", a, b, c, func(context.Context, int, int) (int, error) { return 0, nil }),
		}, "s->m"},
		{"each", []wavefold.Part{wavefold.Source("s", list, constant([]int{1})), wavefold.Each("e", list, out, item), wavefold.Sink("k", out, func(context.Context, []int) error { return nil })}, "s->e, e->k"},
		{"when stands on all edges", []wavefold.Part{src("s", a), do("d"), mp("m", a, b, wavefold.After("d"), wavefold.When("$.a > 0"))},
			"d->m when $.a > 0, s->m when $.a > 0"},
		{"from has its own", []wavefold.Part{src("s", a), do("d"), mp("m", a, b, wavefold.From("d", wavefold.On(wavefold.Done)), wavefold.When("$.a > 0"))},
			"d->m on done, s->m when $.a > 0"},
		{"else", []wavefold.Part{src("s", a), mp("x", a, b, wavefold.When("$.a > 1")), mp("y", a, c, wavefold.Else())}, "s->x when $.a > 1, s->y else"},
		{"what each other writes", []wavefold.Part{mp("x", a, b), mp("y", b, a)}, "x->y"},
		{"a circle of three", []wavefold.Part{mp("x", a, b), mp("z", c, a), mp("y", b, c)}, "x->y"},
		{"a loop's body", []wavefold.Part{src("s", a),
			wavefold.Loop("l", wavefold.Body{mp("x", a, b), mp("y", b, c)}, wavefold.MaxIters(1)),
			wavefold.Sink("k", c, func(context.Context, int) error { return nil })}, "s->x, y->k"},
		{"a loop's own edges", []wavefold.Part{src("s", a), do("d"),
			wavefold.Loop("l", wavefold.Body{mp("x", a, b)}, wavefold.MaxIters(1), wavefold.After("d"), wavefold.When("$.a == 1"))},
			"d->x when $.a == 1, s->x when $.a == 1"},
		{"after a unit", []wavefold.Part{wavefold.Loop("l", wavefold.Body{do("x"), do("y")}, wavefold.MaxIters(1)), do("d", wavefold.After("l"))}, "y->d"},
		{"a pipeline", []wavefold.Part{wavefold.Source("s", list, constant([]int{1})),
			wavefold.Pipeline("p", list, wavefold.Pipe(wavefold.Stage("x", item), wavefold.Stage("y", item).Into(out))),
			wavefold.Sink("k", out, func(context.Context, []int) error { return nil })}, "s->x, y->k"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := wavefold.New("g", tt.parts...)
			if got := edges(g); got != tt.want {
				t.Errorf("got edges %q, want %q", got, tt.want)
			}
			if err := g.Compile(); err != nil {
				t.Errorf("the graph does not compile: %v", err)
			}
		})
	}
}

func nothing(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }

// entry contains every kind of reference.
type entry struct {
	Text string
	Tags []string
	Meta map[string]int
	Next *entry
	Any  any
}

func fresh() []entry {
	return []entry{{"a", []string{"x"}, map[string]int{"k": 1}, &entry{Text: "n"}, []any{int64(1)}}, {Text: "b"}}
}

// mutateAll changes everything that it can reach.
func mutateAll(l []entry) {
	for i := range l {
		l[i].Text = "mutated"
		for j := range l[i].Tags {
			l[i].Tags[j] = "mutated"
		}
		if l[i].Meta != nil {
			l[i].Meta["k"] = 9
		}
		if l[i].Next != nil {
			l[i].Next.Text = "mutated"
		}
		if a, ok := l[i].Any.([]any); ok {
			a[0] = "mutated"
		}
	}
	_ = append(l[:0], entry{Text: "mutated"}, entry{Text: "mutated"})
}

// A handler that changes its inputs changes neither the state nor the inputs of another
// handler, item or attempt.
func TestHandlersCannotChangeTheState(t *testing.T) {
	want := value.JSON(fresh())
	in := wavefold.NewField[[]entry]("in", wavefold.Default(fresh()))
	ok := wavefold.NewField[bool]("ok")
	attempts := 0
	g := wavefold.New("mutators",
		wavefold.Sink("sink", in, func(_ context.Context, l []entry) error { mutateAll(l); return nil }),
		wavefold.ForEach("each", in, func(_ context.Context, l entry) error { mutateAll([]entry{l}); return nil }, wavefold.After("sink")),
		wavefold.Func("func", wavefold.Fields(in), nil, func(_ context.Context, i core.Input) (core.Result, error) {
			v, _ := i.Get("in")
			mutateAll(v.([]entry))
			return core.Result{}, nil
		}, wavefold.After("each")),
		wavefold.Map("again", in, ok, func(_ context.Context, l []entry) (bool, error) {
			attempts++
			same := value.JSON(l) == want
			mutateAll(l)
			if attempts == 1 {
				return false, errors.New("once more")
			}
			return same, nil
		}, wavefold.After("func"), wavefold.Retry(2, wavefold.Backoff{Base: time.Nanosecond})),
	)
	for range 2 { // the default must be unchanged in the second run
		attempts = 0
		r, err := g.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok.Get(r) {
			t.Error("the second attempt saw what the first or another node had changed")
		}
		got := in.Get(r)
		if value.JSON(got) != want {
			t.Errorf("the state is %s, want %s", value.JSON(got), want)
		}
		mutateAll(got)
	}
}

func TestSharedReturnsNoCopy(t *testing.T) {
	list := []*int{new(int)}
	in := wavefold.NewField[[]*int]("in", wavefold.Shared())
	g := wavefold.New("shared", wavefold.Sink("s", in, func(_ context.Context, l []*int) error {
		if l[0] != list[0] {
			return errors.New("a copy")
		}
		return nil
	}))
	if _, err := g.Run(t.Context(), in.Is(list)); err != nil {
		t.Error(err)
	}
}

// Copying a list whose end refers to its beginning would overflow the stack, which ends
// the process. Such a list has no JSON form and is rejected.
func TestValueThatRefersToItself(t *testing.T) {
	type ring struct{ Next *ring }
	r := &ring{}
	r.Next = r
	in := wavefold.NewField[*ring]("in")
	g := wavefold.New("ring", wavefold.Sink("s", in, func(context.Context, *ring) error { return nil }))
	_, err := g.Run(t.Context(), in.Is(r))
	if err == nil || !strings.Contains(err.Error(), `input "in": a value of type *wavefold_test.ring nests deeper than 1000`) {
		t.Errorf("got error %v", err)
	}
}

type failure struct{ code int }

func (f *failure) Error() string { return fmt.Sprintf("code %d", f.code) }

var errGone = errors.New("gone")

func TestErrorsReachTheCaller(t *testing.T) {
	list, out := wavefold.NewField[[]int]("list"), wavefold.NewField[[]int]("out", wavefold.Append)
	fail := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	inner := wavefold.New("inner", wavefold.Do("deep", fail(fmt.Errorf("while reading: %w", errGone))))
	tests := []struct {
		name string
		part wavefold.Part
		want string
	}{
		{"plain", wavefold.Do("d", fail(&failure{7})), "node d: code 7"},
		{"wrapped", wavefold.Do("d", fail(fmt.Errorf("table: %w", &failure{7}))), "node d: table: code 7"},
		{"permanent", wavefold.Do("d", fail(core.Permanent(&failure{7}))), "node d: code 7"},
		{"retried", wavefold.Do("d", fail(&failure{7}), wavefold.Retry(2, wavefold.Backoff{Base: time.Nanosecond})), "node d: code 7"},
		{"item", wavefold.Each("e", list, out, func(_ context.Context, n int) (int, error) {
			if n == 2 {
				return 0, &failure{7}
			}
			return n, nil
		}), "code 7"},
		{"panic with an error", wavefold.Do("d", func(context.Context) error { panic(&failure{7}) }), "node d: panic: code 7"},
		{"inside", wavefold.Sub("s", inner), "node s/deep: while reading: gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := wavefold.New("g", wavefold.Declare(list), tt.part)
			_, err := g.Run(t.Context(), list.Is([]int{1, 2, 3}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got error %v, want %q in it", err, tt.want)
			}
			f, isFailure := errors.AsType[*failure](err)
			if !(isFailure && f.code == 7) && !errors.Is(err, errGone) {
				t.Errorf("the user's own error is not in %v", err)
			}
		})
	}
}

func TestPanicIsTheNodesFailure(t *testing.T) {
	out := wavefold.NewField[int]("out")
	g := wavefold.New("g",
		wavefold.Do("bad", func(context.Context) error { return []error{}[len(t.Name())] }),
		wavefold.Do("next", func(context.Context) error { return nil }, wavefold.After("bad")),
		wavefold.Source("other", out, constant(5)))
	r, err := g.Run(t.Context())
	ne, ok := errors.AsType[*core.NodeError](err)
	if !ok || ne.Node != "bad" || ne.Failure.Class != core.ClassPanic || !strings.Contains(ne.Failure.Stack, "typed_test.go") {
		t.Errorf("got %#v", err)
	}
	if out.Get(r) != 5 || r.Status != core.RunFailed {
		t.Errorf("got out=%d, status %s: the rest goes on", out.Get(r), r.Status)
	}
	if n, _ := r.Node("next"); n.Status != core.Skipped || n.Cause != "bad" {
		t.Errorf("next: %+v", n)
	}
}

func TestFieldWithoutValue(t *testing.T) {
	in, out := wavefold.NewField[[]int]("orders"), wavefold.NewField[int]("out")
	g := wavefold.New("g", wavefold.Map("count", in, out, func(_ context.Context, l []int) (int, error) { return len(l), nil },
		wavefold.Retry(3, wavefold.Backoff{Base: time.Hour})))
	r, err := g.Run(t.Context())
	want := `node count: field "orders" has no value: no node wrote it, and no input or default gave it one`
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if n, ok := out.Lookup(r); ok || n != 0 {
		t.Errorf("got %d, %v", n, ok)
	}
	if _, err := out.Value(r); err == nil || err.Error() != `field "out" has no value` {
		t.Errorf("got %v", err)
	}
	if n, _ := r.Node("count"); n.Attempts != 1 {
		t.Errorf("%d attempts: trying again cannot give it a value", n.Attempts)
	}
	if out.Get(nil) != 0 {
		t.Error("Get of a nil result")
	}
	for name, nothing := range map[string][]int{"nil": nil, "empty": {}} {
		r, err := g.Run(t.Context(), in.Is(nothing))
		if n, ok := out.Lookup(r); err != nil || !ok || n != 0 {
			t.Errorf("%s slice: got %d, %v, %v: it is a value", name, n, ok, err)
		}
	}
}

func TestConcurrentRuns(t *testing.T) {
	n, list := wavefold.NewField[int]("n"), wavefold.NewField[[]int]("list")
	squares := wavefold.NewField[[]int]("squares", wavefold.Append)
	g := wavefold.New("g",
		wavefold.Map("list", n, list, func(_ context.Context, n int) ([]int, error) { return []int{n, n + 1, n + 2}, nil }),
		wavefold.Each("square", list, squares, func(_ context.Context, n int) (int, error) { return n * n, nil }, wavefold.Limit(3)))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { // the first runs compile the graph concurrently
			r, err := g.Run(t.Context(), n.Is(i))
			if want := []int{i * i, (i + 1) * (i + 1), (i + 2) * (i + 2)}; err != nil || !slices.Equal(squares.Get(r), want) {
				t.Errorf("run %d: got %v, %v, want %v", i, squares.Get(r), err, want)
			}
		})
	}
	wg.Wait()
}

func TestTimeOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		begin := time.Now()
		flaky := func(context.Context) error {
			at = append(at, time.Since(begin))
			if len(at) < 4 {
				return errors.New("not yet")
			}
			return nil
		}
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		g := wavefold.New("g",
			wavefold.Do("flaky", flaky, wavefold.Retry(4, wavefold.Backoff{Base: time.Second, Max: 3 * time.Second, Exponential: true})),
			wavefold.Do("hang", hang, wavefold.Timeout(time.Minute)),
			wavefold.Do("fallback", func(context.Context) error { return nil }, wavefold.After("hang"), wavefold.On(wavefold.Failed), wavefold.Handles()))
		r, err := g.Run(t.Context())
		if err != nil || r.Status != core.RunPartial {
			t.Errorf("got %s, %v", r.Status, err)
		}
		if got := fmt.Sprint(at); got != "[0s 1s 3s 6s]" {
			t.Errorf("attempts at %s", got)
		}
		if n, _ := r.Node("hang"); n.Failure == nil || n.Failure.Class != core.ClassTimeout || n.Duration != time.Minute {
			t.Errorf("hang: %+v", n)
		}
		if n, _ := r.Node("fallback"); n.Status != core.Success {
			t.Errorf("fallback: %+v", n)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := wavefold.NewField[int]("n")
		g := wavefold.New("g", wavefold.Concurrency(2), wavefold.Source("quick", n, constant(3)),
			wavefold.Do("hang", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
		time.AfterFunc(time.Second, func() { cancel(errGone) })
		r, err := g.Run(ctx)
		if !errors.Is(err, errGone) || r.Status != core.RunCancelled || n.Get(r) != 3 {
			t.Errorf("got %s, %v, n=%d", r.Status, err, n.Get(r))
		}
	})
}

func TestMaxFailuresAndPolicies(t *testing.T) {
	list, out := wavefold.NewField[[]int]("list"), wavefold.NewField[[]int]("out", wavefold.Append)
	odd := func(_ context.Context, n int) (int, error) {
		if n%2 == 0 {
			return 0, errGone
		}
		return n, nil
	}
	run := func(options ...wavefold.Option) (*wavefold.Result, error) {
		return wavefold.New("g", wavefold.Each("e", list, out, odd, options...)).Run(t.Context(), list.Is([]int{1, 2, 3, 4, 5}))
	}
	r, err := run()
	if !errors.Is(err, errGone) || !slices.Equal(out.Get(r), []int{1, 3, 5}) {
		t.Errorf("got %v, %v: the others keep their results", out.Get(r), err)
	}
	r, _ = run(wavefold.MaxFailures(1))
	if !slices.Equal(out.Get(r), []int{1, 3}) {
		t.Errorf("got %v, want those before the second failure", out.Get(r))
	}
	if r, err = run(wavefold.OnError(wavefold.Skip)); err != nil || r.Status != core.RunPartial {
		t.Errorf("got %s, %v", r.Status, err)
	}
}

func TestListenerAndRunID(t *testing.T) {
	n := wavefold.NewField[int]("n")
	key := ""
	g := wavefold.New("g", wavefold.Func("f", nil, wavefold.Fields(n), func(_ context.Context, in core.Input) (core.Result, error) {
		key = in.IdempotencyKey()
		in.Logger().Info("hello", "to", "you")
		return core.Write("n", 1), nil
	}))
	var types []string
	r, err := g.Run(t.Context(), wavefold.WithRunID("r1"), wavefold.WithListener(func(e core.Event) { types = append(types, string(e.Type)) }))
	if err != nil || r.Run != "r1" || key != "r1/f" {
		t.Errorf("run %q, key %q, %v", r.Run, key, err)
	}
	if got := strings.Join(types, " "); got != "run.started node.ready node.started log node.finished state.written run.finished" &&
		got != "run.started node.ready node.started log state.written node.finished run.finished" {
		t.Errorf("events: %s", got)
	}
}

// The graph's limit applies to nodes. The caller's limit 1 applies to everything.
func TestRunSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, peak := 0, 0
		busy := func(context.Context) error {
			mu.Lock()
			now++
			peak = max(peak, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}
		var parts []wavefold.Part
		for i := range 6 {
			parts = append(parts, wavefold.Do(fmt.Sprintf("n%d", i), busy))
		}
		limits := []struct {
			name  string
			parts []wavefold.Part
			run   []wavefold.RunOption
			want  int
		}{
			{"concurrency of the graph", []wavefold.Part{wavefold.Concurrency(3)}, nil, 3},
			{"max in flight of the graph", []wavefold.Part{wavefold.Concurrency(6), wavefold.MaxInFlight(2)}, nil, 2},
			{"concurrency of the run", nil, []wavefold.RunOption{wavefold.WithConcurrency(4)}, 4},
			{"max in flight of the run", []wavefold.Part{wavefold.Concurrency(6)}, []wavefold.RunOption{wavefold.WithMaxInFlight(1)}, 1},
		}
		for _, tt := range limits {
			now, peak = 0, 0
			if _, err := wavefold.New("g", append(tt.parts, parts...)...).Run(t.Context(), tt.run...); err != nil || peak != tt.want {
				t.Errorf("%s: %d at a time, want %d (%v)", tt.name, peak, tt.want, err)
			}
		}
	})
}

// The plan distinguishes implied edges from requested ones.
func TestImpliedEdgesAreMarked(t *testing.T) {
	a, b := wavefold.NewField[int]("a"), wavefold.NewField[int]("b")
	g := wavefold.New("g", wavefold.Source("s", a, constant(1)), wavefold.Do("d", func(context.Context) error { return nil }),
		wavefold.Map("m", a, b, func(_ context.Context, n int) (int, error) { return n, nil }, wavefold.After("d")))
	p, err := g.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.Describe().Edges {
		if e.Implied != (e.From == "s") {
			t.Errorf("edge %s -> %s: implied is %t", e.From, e.To, e.Implied)
		}
	}
}

// Presets by name, a policy of the graph based on one of them, and options that
// override parts of both.
func TestRetryPresets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := func(context.Context) error { return errors.New("boom") }
		reset := func(context.Context) error { return errors.New("connection reset") }
		ask := func(context.Context, core.Input) (core.Result, error) { return core.Result{Status: core.Retry}, nil }
		g := wavefold.New("g",
			wavefold.RetryPolicy("gentle", wavefold.RetryPreset(wavefold.PatientRetry), wavefold.Retry(6), wavefold.RetryTransient()),
			wavefold.Do("standard", boom, wavefold.RetryPreset(wavefold.StandardRetry)),
			wavefold.Do("fewer", boom, wavefold.RetryPreset(wavefold.StandardRetry), wavefold.Retry(2, wavefold.Backoff{Factor: 1.5})),
			wavefold.Do("own", reset, wavefold.RetryPreset("gentle")),
			wavefold.Do("picky", boom, wavefold.RetryPreset("gentle")),
			wavefold.Do("lifted", boom, wavefold.AutoStatus()),
			wavefold.Func("partial", nil, nil, ask, wavefold.Retry(2), wavefold.AllowPartial()))
		r, err := g.Run(t.Context())
		if r == nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range r.Nodes() {
			got += fmt.Sprintf("%s %s@%d ", n.ID, n.Status, n.Attempts)
		}
		if want := "standard fail@5 fewer fail@2 own fail@6 picky fail@1 lifted success@1 partial partial_success@2 "; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

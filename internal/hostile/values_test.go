package hostile

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// two is a document with two independent nodes; the result of the first one is hostile.
const two = `name: x
state: {schema: {out: {}, list: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: a, kind: tool, impl: hostile, writes: [out, list]}
    - {id: b, kind: tool, impl: nop, writes: []}
`

func nop(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }

func returns(r core.Result) handle {
	return func(context.Context, core.Input) (core.Result, error) { return r, nil }
}

func fails(err error) handle {
	return func(context.Context, core.Input) (core.Result, error) { return core.Result{}, err }
}

// runTwo runs the document. Whatever node a does, node b must succeed.
func runTwo(t *testing.T, a handle) *core.Report {
	t.Helper()
	p := must(t, tools{"hostile": a, "nop": handle(nop)}, two)
	r, _ := run(t, t.Context(), p, nil, scheduler.Options{Listener: func(core.Event) {}})
	if b, _ := r.Node("b"); b.Status != core.Success {
		t.Errorf("node b: %+v", b)
	}
	return r
}

type panicsAsJSON struct{}

func (panicsAsJSON) MarshalJSON() ([]byte, error) { panic("no JSON today") }

func holdsItself() map[string]any {
	m := map[string]any{}
	m["m"] = m
	return m
}

func listInItself() []any {
	l := make([]any, 1)
	l[0] = l
	return l
}

func objectInItself() *value.Object {
	o := &value.Object{}
	o.Set("o", o)
	return o
}

func nested(depth int) any {
	var v any
	for range depth {
		v = []any{v}
	}
	return v
}

// A value that contains itself used to overflow the stack, which ends the process, and a
// MarshalJSON that panics used to do so outside of the only recover.
func TestResultsWithoutJSON(t *testing.T) {
	tooDeep := "the value is nested deeper than 1000: does it hold itself?"
	cases := map[string]struct {
		v    any
		want string
	}{
		"map in itself":          {holdsItself(), tooDeep},
		"list in itself":         {listInItself(), tooDeep},
		"object in itself":       {objectInItself(), tooDeep},
		"deep in a list":         {[]any{objectInItself()}, tooDeep},
		"a million levels":       {nested(1_000_000), tooDeep},
		"one level too many":     {nested(1002), tooDeep},
		"all levels":             {nested(1001), ""},
		"struct around it":       {struct{ O any }{holdsItself()}, "json: unsupported value: encountered a cycle via map[string]interface {}"},
		"object in a struct":     {struct{ O *value.Object }{objectInItself()}, "json: error calling MarshalJSON for type *value.Object: " + tooDeep},
		"MarshalJSON panics":     {panicsAsJSON{}, "writing hostile.panicsAsJSON as JSON panicked: no JSON today"},
		"deep MarshalJSON":       {[]any{map[string]any{"x": panicsAsJSON{}}}, "[0]: x: writing hostile.panicsAsJSON as JSON panicked: no JSON today"},
		"not a number":           {math.NaN(), "NaN has no JSON form"},
		"infinite, in a list":    {[]any{1, math.Inf(-1)}, "[1]: -Inf has no JSON form"},
		"channel":                {make(chan int), "json: unsupported type: chan int"},
		"function in a map":      {map[string]any{"f": func() {}}, "f: json: unsupported type: func()"},
		"above 64 bits":          {uint64(math.MaxInt64) + 1, "9223372036854775808 is above the largest 64-bit integer"},
		"the largest integer":    {uint64(math.MaxInt64), ""},
		"nil of several types":   {[]any{nil, (*int)(nil), map[string]any(nil), []string(nil), (*value.Object)(nil)}, ""},
		"a name like __proto__":  {map[string]any{"__proto__": 1, "constructor": 2}, ""},
		"text that is not UTF-8": {"a\xffb", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			write, send := "", ""
			if c.want != "" {
				write, send = `write of "out": `+c.want, "edge output: "+c.want
			}
			expect(t, runTwo(t, returns(core.Write("out", c.v))), write)
			expect(t, runTwo(t, returns(core.Send(c.v))), send)
		})
	}
}

// expect checks that node a failed with a message, or succeeded if want is "", and that
// nothing was stored if it failed.
func expect(t *testing.T, r *core.Report, want string) {
	t.Helper()
	if want == "" {
		if r.Err != nil {
			t.Errorf("got error %v, want none", r.Err)
		}
		return
	}
	if f := failure(t, r, "a"); f.Message != want || r.State.Len() > 0 {
		t.Errorf("got  %.300s, state %v\nwant %s, nothing stored", f.Message, r.State.Keys(), want)
	}
}

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

type panicsAsError struct{}

func (panicsAsError) Error() string { panic("no text today") }

type panicsWhenAsked struct{}

func (panicsWhenAsked) Error() string { return "asked" }
func (panicsWhenAsked) As(any) bool   { panic("do not ask") }

// An error may be a nil pointer: its Error method then panics, outside of the handler.
func TestErrorsThatPanic(t *testing.T) {
	cases := map[string]struct {
		do   handle
		want string
	}{
		"nil pointer":      {fails((*pointerError)(nil)), "panic: runtime error: invalid memory address or nil pointer dereference"},
		"Error panics":     {fails(panicsAsError{}), "panic: no text today"},
		"As panics":        {fails(panicsWhenAsked{}), "panic: do not ask"},
		"panic":            {func(context.Context, core.Input) (core.Result, error) { panic("boom") }, "panic: boom"},
		"panic with error": {func(context.Context, core.Input) (core.Result, error) { panic(panicsAsError{}) }, "panic: a value of type hostile.panicsAsError, whose string cannot be printed because the method panics, too"},
		"panic with nil":   {func(context.Context, core.Input) (core.Result, error) { panic(nil) }, "panic: panic called with nil argument (use GODEBUG=panicnil=1 to disable)"},
		"Goexit": {func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil },
			"the handler ended its goroutine with runtime.Goexit"},
		"index out of range": {func(context.Context, core.Input) (core.Result, error) { return core.Send([]int{}[len("three")-2]), nil },
			"panic: runtime error: index out of range [3] with length 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := failure(t, runTwo(t, c.do), "a")
			if !strings.HasPrefix(f.Message, strings.TrimSuffix(c.want, " (use GODEBUG=panicnil=1 to disable)")) || f.Class != core.ClassPanic || !f.Permanent {
				t.Errorf("got %s %q, want %q", f.Class, f.Message, c.want)
			}
		})
	}
}

// The value of a panic can be found in the run's error.
func TestPanicKeepsItsError(t *testing.T) {
	cause := errors.New("the cause")
	r := runTwo(t, func(context.Context, core.Input) (core.Result, error) { panic(cause) })
	if !errors.Is(r.Err, cause) || !strings.Contains(failure(t, r, "a").Stack, "values_test.go") {
		t.Errorf("got %v", r.Err)
	}
}

// A panic is not retried: it is a bug in the program.
func TestPanicIsNotRetried(t *testing.T) {
	calls := 0
	p := must(t, tools{"f": handle(func(context.Context, core.Input) (core.Result, error) { calls++; panic("boom") })},
		"name: x\ngraph: {nodes: [{id: a, kind: tool, impl: f, writes: [], on_error: {policy: retry, attempts: 5}}]}\n")
	if _, err := run(t, t.Context(), p, nil, scheduler.Options{}); err == nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// Attributes of log lines run user code as well. An error is logged as its message: its
// JSON form is usually {}.
func TestHostileLogLines(t *testing.T) {
	p := must(t, tools{"hostile": handle(func(_ context.Context, in core.Input) (core.Result, error) {
		in.Logger().WithGroup("g").Info("x", "cycle", holdsItself(), "panics", panicsAsJSON{}, "channel", make(chan int), "err", errors.New("why"),
			slog.Group("inner", "n", 1, slog.Group("", "bare", 2)), slog.Group("", "top", 3))
		return core.Result{}, nil
	}), "nop": handle(nop)}, two)
	var got string
	_, err := run(t, t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) {
		if e.Type == core.LogLine {
			got = value.JSON(e.Values)
		}
	}})
	want := `{"g.cycle":"<the value is nested deeper than 1000: does it hold itself?>","g.panics":"<writing hostile.panicsAsJSON as JSON panicked: no JSON today>",` +
		`"g.channel":"<json: unsupported type: chan int>","g.err":"why","g.inner.n":1,"g.inner.bare":2,"g.top":3}`
	if err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestHostileInputs(t *testing.T) {
	p := must(t, tools{"hostile": handle(nop), "nop": handle(nop)}, two)
	for want, v := range map[string]any{
		`input "out": the value is nested deeper than 1000: does it hold itself?`:               holdsItself(),
		`input "out": writing hostile.panicsAsJSON as JSON panicked: no JSON today`:             panicsAsJSON{},
		`input "out": NaN has no JSON form`:                                                     math.NaN(),
		`input "out": 18446744073709551615 is above the largest 64-bit integer`:                 uint64(math.MaxUint64),
		`input "out": json: unsupported value: encountered a cycle via map[string]interface {}`: struct{ V any }{holdsItself()},
	} {
		r, err := run(t, t.Context(), p, map[string]any{"out": v}, scheduler.Options{})
		ds, _ := source.AsDiagnostics(err)
		if len(ds) != 1 || ds[0].Message != want || ds[0].Code != source.CodeInput || r != nil {
			t.Errorf("got %v, %v\nwant %s", r, err, want)
		}
	}
}

// link is a Go type whose values may refer to themselves. In a field of its own type it is
// stored without conversion.
type link struct{ Next *link }

func ring() *link { l := &link{}; l.Next = l; return l }

// Neither the check of a function's result nor the check of an initial value may follow a
// cyclic value forever.
func TestTypedRing(t *testing.T) {
	at := wavefold.NewField[*link]("at")
	made := wavefold.New("made", wavefold.Source("make", at, func(context.Context) (*link, error) { return ring(), nil }),
		wavefold.Sink("use", at, func(context.Context, *link) error { return nil }))
	const want = `a value of type *hostile.link nests deeper than 1000: does it refer to itself?`
	before := count(t)
	var last core.Event
	_, err := made.Run(t.Context(), wavefold.WithListener(func(e core.Event) { last = e }))
	before.same(t)
	if text(err) != `node make: write of "at": `+want || last.Type != core.RunFinished {
		t.Errorf("got %v, the last event is %s", err, last.Type)
	}
	given := wavefold.New("given", wavefold.Sink("use", at, func(context.Context, *link) error { return nil }))
	if _, err := given.Run(t.Context(), at.Is(ring())); !strings.Contains(text(err), want) {
		t.Errorf("got %v", err)
	}
}

// A value without a JSON form used to be stored, and the state could not be written.
func TestTypedValueWithoutJSON(t *testing.T) {
	type reading struct {
		At    string
		Value float64
		Extra any
	}
	out := wavefold.NewField[[]reading]("out", wavefold.Append)
	for want, v := range map[string]reading{
		`[0]: Value: NaN has no JSON form`:                                  {Value: math.NaN()},
		`[0]: Extra: chan int has no JSON form`:                             {Extra: make(chan int)},
		`[0]: Extra: k: +Inf has no JSON form`:                              {Extra: map[string]any{"k": math.Inf(1)}},
		`[0]: Extra: writing hostile.panickyJSON as JSON panicked: not out`: {Extra: panickyJSON{}},
	} {
		encodingsLeft.Store(0)
		attempts := 0
		g := wavefold.New("g", wavefold.Source("make", out, func(context.Context) ([]reading, error) {
			attempts++
			return []reading{v}, nil
		}, wavefold.Retry(2, wavefold.Backoff{Base: time.Nanosecond})))
		if _, err := g.Run(t.Context()); text(err) != `node make: write of "out": `+want || attempts != 2 {
			t.Errorf("after %d attempts got  %v\nwant %s", attempts, err, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// panickyJSON panics when it is decoded from JSON, and when it is encoded although
// encodingsLeft is 0.
type panickyJSON struct{ N int }

// encodingsLeft is the number of times that a panickyJSON can still be encoded.
var encodingsLeft atomic.Int32

func (panickyJSON) MarshalJSON() ([]byte, error) {
	if encodingsLeft.Add(-1) < 0 {
		panic("not out")
	}
	return []byte(`{"N":1}`), nil
}
func (*panickyJSON) UnmarshalJSON([]byte) error { panic("not in") }

// Conditions and args encode typed values outside of a handler.
func TestTypedValueThatPanics(t *testing.T) {
	a := wavefold.NewField[[]panickyJSON]("a", wavefold.Union)
	m := wavefold.NewField[map[string]panickyJSON]("m", wavefold.Merge)
	put := func(context.Context, core.Input) (core.Result, error) {
		return core.Result{Delta: map[string]any{"a": []panickyJSON{{1}}, "m": map[string]panickyJSON{"k": {1}}}}, nil
	}
	in := func(context.Context, core.Input) (core.Result, error) {
		return core.Result{Delta: map[string]any{"a": []any{1}}}, nil
	}
	sour := func(context.Context) error { encodingsLeft.Store(0); return nil }
	g := wavefold.New("g",
		wavefold.Func("one", nil, wavefold.Fields(a, m), put),
		wavefold.Do("sour", sour, wavefold.After("one")),
		wavefold.Func("bad", nil, wavefold.Fields(a), in),
		wavefold.Func("cond", wavefold.Fields(a), nil, nop, wavefold.After("sour"), wavefold.When("$.a[0].N == 1 || $.m.k == 1")),
		wavefold.Func("args", wavefold.Fields(a), nil, nop, wavefold.After("sour"), wavefold.Args(map[string]any{"x": "$.a[0].N"})))
	before := count(t)
	encodingsLeft.Store(100)
	r, err := g.Run(t.Context(), wavefold.WithListener(func(core.Event) {}))
	before.same(t)
	if want := `node bad: write of "a": reading []hostile.panickyJSON from JSON panicked: not in`; text(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got, want := statuses(r.Report), "one=success bad=fail sour=success cond=skipped args=success"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A merge encodes values that were accepted before. If that fails, the write is not lost
// silently.
func TestTypedValueThatPanicsInAMerge(t *testing.T) {
	list := wavefold.NewField[[]int]("list")
	a := wavefold.NewField[[]panickyJSON]("a", wavefold.Union)
	each := wavefold.Each("each", list, a, func(context.Context, int) (panickyJSON, error) { return panickyJSON{}, nil })
	reader := wavefold.Sink("reader", a, func(context.Context, []panickyJSON) error { return nil })
	encodingsLeft.Store(3) // once for each item to be accepted
	before := count(t)
	r, err := wavefold.New("g", each, reader).Run(t.Context(), list.Is([]int{1, 2, 3}))
	before.same(t)
	if want := `node reader: cannot read field "a": the write of each: writing hostile.panickyJSON as JSON panicked: not out`; text(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got, want := statuses(r.Report), "each=success reader=fail"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A stage may return nil if its type allows that.
func TestStageThatGivesNil(t *testing.T) {
	items := wavefold.NewField[[]int]("items")
	out := wavefold.NewField[[]any]("out", wavefold.Append)
	g := wavefold.New("g", wavefold.Pipeline("p", items,
		wavefold.Stage("s", func(context.Context, int) (any, error) { return nil, nil }).Into(out)))
	r, err := g.Run(t.Context(), items.Is([]int{1, 2}))
	if got := value.JSON(out.Get(r)); err != nil || got != "[null,null]" {
		t.Errorf("got %s, %v", got, err)
	}
}

package wavefold_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// celsius has a custom JSON form.
type celsius struct{ degrees float64 }

func (c celsius) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]float64{"c": c.degrees})
}
func (c *celsius) UnmarshalJSON(b []byte) error {
	var m map[string]float64
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	c.degrees = m["c"]
	return nil
}

type base struct {
	Name string
	Tags []string
}

type derived struct {
	base
	Name string // hides the field of base
}

func TestFieldTypes(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	n := big
	fieldType(t, true)
	fieldType(t, "text")
	fieldType(t, int8(-3))
	fieldType(t, uint64(7))
	fieldType(t, float32(0.1))
	fieldType(t, time.Minute)
	fieldType(t, day)
	fieldType(t, &n)
	fieldType(t, []byte("bytes"))
	fieldType(t, [2]int{1, 2})
	fieldType(t, json.Number("12.5"))
	fieldType(t, celsius{21.5})
	fieldType(t, []celsius{{1}, {2}})
	fieldType(t, map[string][]int{"a": {1}})
	fieldType(t, map[int]string{1: "one"})
	fieldType(t, derived{base{"inner", []string{"x"}}, "outer"})
	fieldType(t, []any{big, 1.5, "x", nil, []any{true}, map[string]any{"k": big}})
	fieldType[any](t, map[string]any{"k": []any{big}})
	fieldType(t, map[string]any{"k": []any{big}})
	fieldType(t, value.ObjectOf("b", int64(1), "a", []any{2.5}))
}

// fieldType checks that a value survives a graph unchanged: as an input, through two
// parts, and, after a conversion to JSON, as an input by name.
func fieldType[T any](t *testing.T, v T) {
	t.Helper()
	in, out := wavefold.NewField[T]("in"), wavefold.NewField[T]("out")
	g := wavefold.New("types", wavefold.Map("same", in, out, func(_ context.Context, v T) (T, error) { return v, nil }))
	r, err := g.Run(t.Context(), in.Is(v))
	if got := out.Get(r); err != nil || !reflect.DeepEqual(got, v) {
		t.Errorf("%T: got %#v, %v, want %#v", v, got, err, v)
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	form, err := value.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err = g.Run(t.Context(), wavefold.Set("in", form))
	got, err2 := value.AppendJSON(nil, out.Get(r))
	if err != nil || err2 != nil || string(got) != string(text) {
		t.Errorf("%T through JSON: got %s, %v, %v, want %s", v, got, err, err2, text)
	}
	if r, err = g.Run(t.Context(), wavefold.Set("in", nil)); err != nil {
		t.Errorf("%T: a null is the zero value, got %v", v, err)
	} else if got := out.Get(r); !reflect.ValueOf(&got).Elem().IsZero() {
		t.Errorf("%T: a null gives %#v", v, got)
	}
}

func TestUntypedWritesIntoTypedFields(t *testing.T) {
	type point struct{ X, Y int }
	p := wavefold.NewField[point]("p")
	sum := wavefold.NewField[point]("sum", wavefold.Reduce(func(a, b point) (point, error) {
		if b.X < 0 {
			return a, errors.New("left of the wall")
		}
		return point{a.X + b.X, a.Y + b.Y}, nil
	}))
	write := func(id string, v any) wavefold.Part {
		return wavefold.Func(id, nil, wavefold.Fields(p, sum), func(context.Context, core.Input) (core.Result, error) {
			return core.Result{Delta: map[string]any{"p": v, "sum": v}}, nil
		})
	}
	r, err := wavefold.New("g", write("a", map[string]any{"X": 1, "y": 2}), write("b", point{3, 4}), write("c", map[string]int{"X": -1})).Run(t.Context())
	if p.Get(r) != (point{3, 4}) || sum.Get(r) != (point{4, 6}) {
		t.Errorf("got %v and %v", p.Get(r), sum.Get(r))
	}
	if err == nil || !strings.Contains(err.Error(), "node c:") || !strings.Contains(err.Error(), "left of the wall") {
		t.Errorf("got %v", err)
	}
	_, err = wavefold.New("g", write("d", map[string]any{"X": "one"})).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `X: want integer, got string "one"`) {
		t.Errorf("got %v", err)
	}
	// A document may have written another type.
	if v, ok := wavefold.NewField[[]int]("p").Lookup(r); ok {
		t.Errorf("got %v", v)
	}
	if _, err := wavefold.NewField[[]int]("p").Value(r); err == nil || !strings.Contains(err.Error(), `field "p": object {"X":3,"Y":4} does not fit []int`) {
		t.Errorf("got %v", err)
	}
}

func TestNodesOfKinds(t *testing.T) {
	rows, names := wavefold.NewField[[]any]("rows"), wavefold.NewField[[]string]("names", wavefold.Append)
	hello := wavefold.NewField[string]("hello")
	parts := []wavefold.Part{
		wavefold.Source("rows", rows, constant([]any{map[string]any{"name": "Ada"}, map[string]any{"name": "Grace"}})),
		wavefold.Func("name", nil, wavefold.Fields(names), func(_ context.Context, in core.Input) (core.Result, error) {
			name, _ := in.Arg("name")
			i, _ := in.Arg("place")
			return core.Write("names", []any{name}), map[bool]error{true: errGone}[i == int64(7)]
		}, wavefold.After("rows"), wavefold.Items("$.rows"), wavefold.Args(map[string]any{"name": "$item.name", "place": "$index"}), wavefold.Limit(2), wavefold.MaxFailures(0), wavefold.Effects(), wavefold.Describe("one name")),
		wavefold.Node("hello", "template", map[string]any{"text": "hello {{$.names}}"}, wavefold.Reads(names), wavefold.Writes(hello), wavefold.After("name")),
	}
	g := wavefold.New("kinds", append(parts, wavefold.Strict())...)
	r, err := g.Run(t.Context())
	if err != nil || hello.Get(r) != `hello ["Ada","Grace"]` {
		t.Errorf("got %q, %v", hello.Get(r), err)
	}
	n := g.Workflow().Nodes[1]
	if n.Effects == nil || !*n.Effects || n.Description.Value != "one name" {
		t.Errorf("node %+v", n)
	}
}

func TestStrict(t *testing.T) {
	pause := wavefold.Node("pause", "wait", map[string]any{"duration": "1ns"}, wavefold.Writes(wavefold.NewField[int]("n")))
	if ds := wavefold.New("g", pause).Findings(); !ds.Failed(true) || ds.Failed(false) {
		t.Fatalf("want a warning, got %v", ds)
	}
	if err := wavefold.New("g", pause).Compile(); err != nil {
		t.Error(err)
	}
	if err := wavefold.New("g", pause, wavefold.Strict()).Compile(); err == nil {
		t.Error("a strict graph compiled with a warning")
	}
}

package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// valued is a handler that returns a value for the field x; Handle returns the empty result.
type valued func(core.Input) (any, bool, error)

func (valued) Handle(context.Context, core.Input) (core.Result, error) {
	return core.Write("x", int64(-1)), nil
}
func (valued) ValueField() string { return "x" }
func (v valued) HandleValue(_ context.Context, in core.Input) (any, bool, error) {
	return v(in)
}

// TestValueHandler: the value for a node's only write is treated like a delta, without input, with
// input and for each item. For a node that declares more writes, Handle is called.
func TestValueHandler(t *testing.T) {
	refused := errors.New("refused")
	plus := func(in core.Input) (any, bool, error) {
		if v, ok := in.Item(); ok {
			return v.(int64) + 1, v != int64(1), nil
		}
		return int64(7), true, nil
	}
	tests := []struct {
		name        string
		handle      valued
		alone, each string // the final state, or the failure
	}{
		{"a value", plus, `{"x":7}`, `{"x":4}`}, // 0+1 and 2+1; the item 1 writes nothing
		{"none", func(core.Input) (any, bool, error) { return int64(7), false, nil }, `{}`, `{}`},
		{"an error", func(core.Input) (any, bool, error) { return int64(7), true, refused }, "node n: refused", "node n: 3 of 3 items failed, first item 0: refused"},
		{"a panic", func(core.Input) (any, bool, error) { panic("no") }, "node n: panic: no", "node n: 3 of 3 items failed, first item 0: panic: no"},
		{"a wrong type", func(core.Input) (any, bool, error) { return "seven", true, nil },
			`node n: write of "x": want integer, got string "seven"`, `node n: 3 of 3 items failed, first item 0: write of "x": want integer, got string "seven"`},
	}
	for _, tt := range tests {
		for _, shape := range []string{"alone", "reads", "each", "two"} {
			w := fields(one(nil), "x", "y", "list")
			w.Fields[0].Type, w.Fields[0].Merge = &value.Type{Kind: value.IntegerType}, text("sum")
			w.Fields[2].Default = numbers(3)
			n := w.Nodes[0]
			n.Handler, n.Writes, n.HasWrites = tt.handle, texts("x"), true
			want := tt.alone
			switch shape {
			case "reads":
				n.Reads = texts("list")
			case "each":
				forEach("list", 2)(n)
				want = tt.each
			case "two":
				n.Writes, want = texts("x", "y"), `{"x":-1}`
			}
			r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
			r.State.Delete("list")
			got := value.JSON(r.State)
			if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s, %s: got %s, want %s", tt.name, shape, got, want)
			}
		}
	}
}

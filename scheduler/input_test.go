package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// TestKeptInputs: a handler may keep its input. The input still has the values of its own attempt
// when later nodes have run, also if the field has other values by then.
func TestKeptInputs(t *testing.T) {
	var kept []core.Input
	step := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		kept = append(kept, in)
		x, _ := in.Get("x")
		return core.Write("x", x.(int64)+1), nil
	})
	w := fields(graph(map[string]core.HandlerFunc{"a": step, "b": step, "c": step}, []string{"a", "b", "c"}, [2]string{"a", "b"}, [2]string{"b", "c"}), "x")
	for _, n := range w.Nodes {
		n.Reads, n.Writes = texts("x"), texts("x")
	}
	if _, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"x": 5}, scheduler.Options{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range kept {
		x, _ := in.Get("x")
		s := in.Shared()
		got = append(got, fmt.Sprint(in.Run(), in.Node(), in.Attempt(), x, value.JSON(s.Inputs), value.JSON(s.View.Object()), s.Dir == w.Dir, s.Logs != nil))
	}
	if want := []string{`ra1 5{"x":5}{"x":5}true true`, `rb1 6{"x":5}{"x":6}true true`, `rc1 7{"x":5}{"x":7}true true`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

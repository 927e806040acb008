package scheduler_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
)

// TestEdgeIsJudgedOnce: the condition of an on: fail edge was evaluated and published again when
// the failure was marked as handled.
func TestEdgeIsJudgedOnce(t *testing.T) {
	w := graph(map[string]core.HandlerFunc{
		"a": func(context.Context, core.Input) (core.Result, error) { return core.Result{}, errors.New("boom") },
		"b": noop,
	}, []string{"a", "b"}, [2]string{"a", "b"})
	when := text("$.x == 1")
	w.Edges[0].On, w.Edges[0].When, w.Edges[0].Handles = text("fail"), &when, &source.Located[bool]{Value: true}
	w = fields(w, "x")
	judged := 0
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"x": 1}, scheduler.Options{Listener: func(e core.Event) {
		if e.Type == core.EdgeJudged {
			judged++
		}
	}})
	if a, _ := r.Node("a"); judged != 1 || !a.Handled || r.Status != core.RunPartial {
		t.Errorf("judged %d times, handled %t, run %s: %v", judged, a.Handled, r.Status, err)
	}
}

// TestEventsTellLimitsAndNulls: a check of a log needs the limits of the run, and whether a
// set_once field may be set again.
func TestEventsTellLimitsAndNulls(t *testing.T) {
	w := graph(map[string]core.HandlerFunc{
		"a": func(context.Context, core.Input) (core.Result, error) {
			return core.Result{Delta: map[string]any{"x": nil}}, nil
		},
		"b": func(_ context.Context, in core.Input) (core.Result, error) {
			delta := map[string]any{"x": nil}
			if in.Round() > 0 {
				delta["x"] = int64(1)
			}
			return core.Result{Delta: delta}, nil
		},
	}, []string{"a", "b"}, [2]string{"a", "b"})
	w = fields(w, "x")
	for _, n := range w.Nodes {
		n.Writes, n.HasWrites = []source.Text{text("x")}, true
	}
	w.Loops = []*core.Loop{{ID: text("l"), Body: []source.Text{text("b")}, MaxIters: &source.Int{Value: 2}}}
	var limits core.Limits
	var nulls []bool
	_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 3, MaxInFlight: 2, Barrier: true, Listener: func(e core.Event) {
		switch e.Type {
		case core.RunStarted:
			limits = *e.Limits
		case core.StateWritten:
			nulls = append(nulls, e.Null)
		}
	}})
	if want := (core.Limits{Concurrency: 3, MaxInFlight: 2, Barrier: true}); err != nil || !reflect.DeepEqual(limits, want) {
		t.Errorf("limits %+v, %v", limits, err)
	}
	if want := []bool{true, true, false}; !slices.Equal(nulls, want) {
		t.Errorf("nulls %v, want %v", nulls, want)
	}
}

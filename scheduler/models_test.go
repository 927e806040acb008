package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// caller is a kind whose nodes call a model a number of times and use ten tokens each.
type caller struct{ calls int }

func (caller) Name() string   { return "caller" }
func (caller) Keys() []string { return nil }
func (k caller) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Models: true, Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		m := core.MeterOf(ctx)
		for turn := range k.calls {
			if err := m.Ask(core.ModelCall{Purpose: "run", Turn: turn + 1}); err != nil {
				return core.Result{}, fmt.Errorf("turn %d: %w", turn+1, err)
			}
			m.Again(fmt.Sprint("busy in turn ", turn+1))
			m.Answered(core.ModelCall{Purpose: "run", Turn: turn + 1, Model: "m", Finish: "stop", Duration: time.Second,
				Usage: core.Usage{Calls: 1, Input: 7, Output: 3, Cost: 0.5}})
			m.Tool(core.ToolCall{Tool: "look", Turn: turn + 1, Err: errors.New("no such file")})
		}
		return core.Result{}, nil
	})}, nil
}

// callers builds a dag of two callers one after the other, and a third in parallel.
func callers(t *testing.T, calls int, change func(w *core.Workflow)) *plan.Plan {
	t.Helper()
	w := &core.Workflow{Name: source.Text{Value: "callers"}}
	for _, id := range []string{"a", "b", "c"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: id}, Kind: source.Text{Value: "caller"}})
	}
	w.Edges = []*core.Edge{{From: w.Nodes[0].ID, To: w.Nodes[1].ID}}
	if change != nil {
		change(w)
	}
	p, ds := plan.Compile(w, core.NewRegistry(append(std.Kinds(), caller{calls})...), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func TestModelUsage(t *testing.T) {
	var events []core.Event
	r, err := scheduler.Run(t.Context(), callers(t, 2, nil), nil, scheduler.Options{Concurrency: 2, Listener: func(e core.Event) { events = append(events, e) }})
	if err != nil {
		t.Fatal(err)
	}
	one := core.Usage{Calls: 2, Input: 14, Output: 6, Cost: 1}
	if a, _ := r.Node("a"); a.Usage != one || r.Usage != one.Plus(one).Plus(one) {
		t.Errorf("node %+v, run %+v", a.Usage, r.Usage)
	}
	var of []string
	for _, e := range events {
		if e.Node == "b" && (e.Type == core.ModelAsked || e.Type == core.ModelAnswered || e.Type == core.ToolCalled) {
			of = append(of, fmt.Sprintf("%s %d %s", e.Type, e.Turn, e.Reason))
		}
		if e.Node == "b" && e.Type == core.LogLine {
			of = append(of, e.Severity+" "+e.Log)
		}
	}
	want := "model.asked 1 |INFO busy in turn 1|model.answered 1 |tool.called 1 no such file|model.asked 2 |INFO busy in turn 2|model.answered 2 |tool.called 2 no such file"
	if got := strings.Join(of, "|"); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if last := events[len(events)-1]; last.Usage == nil || *last.Usage != r.Usage {
		t.Errorf("the last event tells %+v", last.Usage)
	}
}

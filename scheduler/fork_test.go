package scheduler_test

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

func replay(t *testing.T, s store.Store, run string, p *plan.Plan, f scheduler.Fork, o scheduler.Options) (*core.Report, error) {
	t.Helper()
	st, err := scheduler.ReadStored(t.Context(), s, run)
	if err != nil {
		t.Fatal(err)
	}
	o.Recording = &scheduler.Recording{Store: s}
	return scheduler.Replay(t.Context(), st, p, f, o)
}

func TestReplayRunsOnlyWhatComesAfter(t *testing.T) {
	x := &executions{}
	w := chainOf(x, "a", "b", "c")
	w.Edges = graph(nil, nil, [2]string{"a", "b"}, [2]string{"b", "c"}).Edges
	p := compile(t, w)
	s := memory.New(nil)
	if _, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); err != nil {
		t.Fatal(err)
	}
	var types []core.EventType
	report, err := replay(t, s, "r", p, scheduler.Fork{From: "b"}, scheduler.Options{Run: "q", Listener: func(e core.Event) { types = append(types, e.Type) }})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := report.State.Get("sum"); got != int64(3) || report.Status != core.RunSuccess {
		t.Errorf("status %s, state %s", report.Status, value.JSON(report.State))
	}
	for key, want := range map[string]int{"r/a": 1, "r/b": 1, "r/c": 1, "q/a": 0, "q/b": 1, "q/c": 1} {
		if got := x.count(key); got != want {
			t.Errorf("%s: %d executions, want %d", key, got, want)
		}
	}
	if types[0] != core.RunStarted || types[len(types)-1] != core.RunFinished {
		t.Errorf("events: %v", types)
	}
}

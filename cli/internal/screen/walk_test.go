package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/runview"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestWalk draws a walk: nodes appear when they are visited, with the number of their
// visits, and branches below their parallel node; if there is little space, the latest
// visits are kept.
func TestWalk(t *testing.T) {
	d := &plan.Description{Name: "ship", Mode: plan.ModeDescription{Visits: true}, Routing: &plan.WalkDescription{}}
	for _, id := range []string{"start", "build", "check", "fork", "a", "b", "undo", "exit"} {
		d.Levels = append(d.Levels, []plan.VertexDescription{{ID: id, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: id}}}})
	}
	begin := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
	now := begin
	m := runview.New(d)
	apply := func(e core.Event) {
		e.Time = now
		m.Apply(&e)
	}
	visit := func(id string, n int, status core.Status, reason string) {
		apply(core.Event{Type: core.NodeStarted, Node: id, Visit: n, Attempt: 1})
		now = now.Add(time.Second)
		e := core.Event{Type: core.NodeFinished, Node: id, Visit: n, Status: status.String(), Reason: reason, Duration: time.Second}
		if status == core.Fail {
			e.Type, e.Error = core.NodeFailed, &core.Failure{Message: reason}
		}
		apply(e)
	}
	shows := func(height int, want string) {
		t.Helper()
		got := strings.Join(Lines(m, 60, height, now, tty.NewPalette(false)), "\n")
		if got != strings.TrimPrefix(want, "\n") {
			t.Errorf("got\n%s\nwant%s", got, want)
		}
	}
	apply(core.Event{Type: core.RunStarted})
	shows(20, "\nship  visit 0, 0 of 8 nodes  0.0s")
	visit("build", 1, core.Success, "")
	visit("check", 1, core.Fail, "exit code 1")
	apply(core.Event{Type: core.NodeStarted, Node: "build", Visit: 2, Attempt: 1})
	now = now.Add(300 * time.Millisecond)
	shows(20, `
ship  visit 3, 1 of 8 nodes, 1 failed  2.3s
├─ ⠸ build ×2  0.3s
└─ ✗ check     1s  exit code 1`)
	apply(core.Event{Type: core.NodeFinished, Node: "build", Visit: 2, Status: "success", Duration: 300 * time.Millisecond})
	visit("check", 2, core.Success, "")
	apply(core.Event{Type: core.NodeStarted, Node: "fork", Visit: 1, Attempt: 1})
	apply(core.Event{Type: core.NodeStarted, Node: "a", Unit: "fork", Visit: 1, Attempt: 1})
	apply(core.Event{Type: core.NodeStarted, Node: "b", Unit: "fork", Visit: 1, Attempt: 1})
	now = now.Add(time.Second)
	apply(core.Event{Type: core.NodeFinished, Node: "a", Unit: "fork", Visit: 1, Status: "success", Duration: time.Second})
	shows(20, `
ship  visit 7, 3 of 8 nodes  4.3s
├─ ✓ build ×2  300ms
├─ ✓ check ×2  1s
└─ ⠸ fork      1.0s
   ├─ ✓ a      1s
   └─ ⠸ b      1.0s`)
	shows(4, `
ship  visit 7, 3 of 8 nodes  4.3s
└─ ⠸ fork  1.0s
   └─ ⠸ b  1.0s
…  3 done`)
	apply(core.Event{Type: core.JoinDecided, Node: "fork", Visit: 1, Reason: "first_success: 1 of 2 branches succeeded; given up: b"})
	shows(4, `
ship  visit 7, 3 of 8 nodes  4.3s
└─ ⠸ fork  1.0s  first_success: 1 of 2 branches succeeded; …
   └─ ⠸ b  1.0s
…  3 done`)
	apply(core.Event{Type: core.NodeFailed, Node: "b", Unit: "fork", Visit: 1, Status: "fail", Error: &core.Failure{Class: core.ClassCanceled, Message: "given up"}})
	apply(core.Event{Type: core.NodeFinished, Node: "fork", Visit: 1, Status: "success", Duration: time.Second})
	shows(20, `
ship  visit 7, 5 of 8 nodes  4.3s
├─ ✓ build ×2  300ms
├─ ✓ check ×2  1s
└─ ✓ fork      1s`)
}

// TestModelCalls checks the display of a node's current model call, its result, and the
// total of all calls.
func TestModelCalls(t *testing.T) {
	d := &plan.Description{Name: "ask", Mode: plan.ModeDescription{Visits: true}, Routing: &plan.WalkDescription{}}
	for _, id := range []string{"look", "mend"} {
		d.Levels = append(d.Levels, []plan.VertexDescription{{ID: id, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: id}}}})
	}
	m := runview.New(d)
	for _, step := range []struct {
		event core.Event
		want  string // the last line
	}{
		{core.Event{Type: core.NodeStarted, Node: "look", Visit: 1, Attempt: 1}, "└─ ⠋ look"},
		{core.Event{Type: core.ModelAsked, Node: "look", Purpose: "run", Turn: 2}, "└─ ⠋ look  asks a model, turn 2"},
		{core.Event{Type: core.ToolCalled, Node: "look", Tool: "grep", Reason: "no such file"}, "└─ ⠋ look  called grep: no such file"},
		{core.Event{Type: core.ModelAnswered, Node: "look", Usage: &core.Usage{Calls: 1, Input: 1200, Output: 80}}, "└─ ⠋ look"},
		{core.Event{Type: core.NodeFinished, Node: "look", Visit: 1, Status: "success"}, "└─ ✓ look"},
		{core.Event{Type: core.ModelAsked, Node: "look", Purpose: "route", Turn: 1}, "└─ ✓ look  a model picks the way"},
		{core.Event{Type: core.EdgeChosen, Node: "look", Step: core.StepModel, To: "mend", Reason: "it is broken"}, "└─ ✓ look  then mend: it is broken"},
	} {
		m.Apply(&step.event)
		lines := Lines(m, 80, 9, time.Time{}, tty.NewPalette(false))
		if got := lines[len(lines)-1]; got != step.want {
			t.Errorf("%s: got %q, want %q", step.event.Type, got, step.want)
		}
	}
	if head := Lines(m, 80, 9, time.Time{}, tty.NewPalette(false))[0]; !strings.Contains(head, "1 call, 1,200 tokens in and 80 out") {
		t.Errorf("the head is %q", head)
	}
}

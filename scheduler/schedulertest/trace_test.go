package schedulertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// traced is a graph in which a feeds b and, under a condition, c; d reads what
// a writes without an edge from it, two levels up.
func traced(t *testing.T) *core.Workflow {
	return rule{fields: []string{"x", "seen array_append"}, nodes: []string{"a write x 1; retry 2", "b", "c", "r", "d see x"},
		edges: []string{"a->b", "b->c when $.x == 2", "r->d"}}.workflow(t)
}

// line is an event of a log in short.
func line(typ core.EventType, node string, attempt int) core.Event {
	return core.Event{Type: typ, Node: node, Attempt: attempt}
}

func goodLog() []core.Event {
	no := false
	return []core.Event{
		{Type: core.RunStarted},
		line(core.NodeStarted, "a", 1),
		line(core.NodeStarted, "r", 1),
		line(core.NodeRetrying, "a", 1),
		line(core.NodeFinished, "r", 1),
		line(core.NodeStarted, "a", 2),
		line(core.NodeFinished, "a", 2),
		line(core.NodeStarted, "b", 1),
		line(core.NodeStarted, "d", 1),
		line(core.NodeFinished, "d", 1),
		line(core.NodeFinished, "b", 1),
		{Type: core.EdgeJudged, From: "b", To: "c", When: "$.x == 2", Result: &no},
		{Type: core.NodeSkipped, Node: "c", Reason: "condition"},
		{Type: core.RunFinished, Status: string(core.RunSuccess)},
	}
}

// spoiled are ways to falsify the good log, and the fault that Check must name.
var spoiled = []struct {
	name   string
	spoil  func([]core.Event) []core.Event
	limits Limits
	want   string // "" for no fault
}{
	{name: "good", spoil: func(l []core.Event) []core.Event { return l }, limits: Limits{Concurrency: 2, MaxInFlight: 2}},
	{name: "no end", spoil: func(l []core.Event) []core.Event { return l[:len(l)-1] }, want: "does not begin"},
	{name: "limit", spoil: func(l []core.Event) []core.Event { return l }, limits: Limits{Concurrency: 1}, want: "2 nodes and units in flight"},
	{name: "executions", spoil: func(l []core.Event) []core.Event { return l }, limits: Limits{MaxInFlight: 1}, want: "2 executions in flight"},
	{name: "barrier", spoil: func(l []core.Event) []core.Event {
		return move(l, find(l, core.NodeFinished, "r"), len(l)-3)
	}, limits: Limits{Barrier: true}, want: "b started before r, a lower level"},
	{name: "too early", spoil: func(l []core.Event) []core.Event { return move(l, find(l, core.NodeStarted, "b"), 2) },
		want: "b started before a, a predecessor"},
	{name: "reads too early", spoil: func(l []core.Event) []core.Event { return move(l, find(l, core.NodeStarted, "d"), 5) },
		want: "d started before a, a writer of x"},
	{name: "a node is missing", spoil: func(l []core.Event) []core.Event {
		i := find(l, core.NodeFinished, "d")
		return slices.Delete(l, i, i+1)
	}, want: "node d never ended"},
	{name: "ended twice", spoil: func(l []core.Event) []core.Event {
		return slices.Insert(l, 11, line(core.NodeFailed, "d", 1))
	}, want: "node d ended twice"},
	{name: "skipped against its condition", spoil: func(l []core.Event) []core.Event {
		l[11].Result = ptr(true)
		return l
	}, want: "node c was skipped and should have run"},
	{name: "not judged", spoil: func(l []core.Event) []core.Event { return slices.Delete(l, 11, 12) }, want: "was never judged"},
	{name: "wrong reason", spoil: func(l []core.Event) []core.Event {
		l[12].Reason = "upstream failed"
		return l
	}, want: "should be condition from"},
	{name: "ran against its condition", spoil: func(l []core.Event) []core.Event {
		l[12] = line(core.NodeFinished, "c", 1)
		return l
	}, want: "node c ran and should have been skipped"},
	{name: "attempt left out", spoil: func(l []core.Event) []core.Event {
		l[5].Attempt = 3
		return l
	}, want: "starts attempt 3 after attempt 1"},
	{name: "too many attempts", spoil: func(l []core.Event) []core.Event {
		return slices.Insert(l, 6, line(core.NodeRetrying, "a", 2), line(core.NodeStarted, "a", 3))
	}, want: "starts attempt 3 of 2"},
}

func find(log []core.Event, typ core.EventType, node string) int {
	return slices.IndexFunc(log, func(e core.Event) bool { return e.Type == typ && e.Node == node })
}

func move(log []core.Event, from, to int) []core.Event {
	e := log[from]
	return slices.Insert(slices.Delete(log, from, from+1), to, e)
}

func ptr[T any](v T) *T { return &v }

func TestCheckAcceptsAndRejects(t *testing.T) {
	for _, tt := range spoiled {
		t.Run(tt.name, func(t *testing.T) {
			log := tt.spoil(goodLog())
			for i := range log {
				log[i].Seq = int64(i + 1)
			}
			err := Check(traced(t), log, tt.limits)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("unexpected faults: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheckStartOrder(t *testing.T) {
	w := rule{nodes: []string{"a", "b"}}.workflow(t)
	log := func(first, second string) []core.Event {
		l := []core.Event{{Type: core.RunStarted}, line(core.NodeStarted, first, 1), line(core.NodeFinished, first, 1),
			line(core.NodeStarted, second, 1), line(core.NodeFinished, second, 1), {Type: core.RunFinished}}
		for i := range l {
			l[i].Seq = int64(i + 1)
		}
		return l
	}
	if err := Check(w, log("a", "b"), Limits{Concurrency: 1}); err != nil {
		t.Error(err)
	}
	if err := Check(w, log("b", "a"), Limits{Concurrency: 2}); err != nil {
		t.Error(err)
	}
	if err := Check(w, log("b", "a"), Limits{Concurrency: 1}); err == nil || !strings.Contains(err.Error(), "comes first in canonical order") {
		t.Errorf("got %v", err)
	}
}

package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// heard lists the events of items that a machine issues, with their instants: "0 started 1".
func heard(m *Machine) (list []string, emissions int) {
	var seq int64
	for _, c := range m.Next() {
		emissions += len(c.Events)
		c.Events.Events(new(core.Event), func(e *core.Event) {
			if seq > 0 && e.Seq != seq+1 {
				list = append(list, fmt.Sprintf("number %d after %d", e.Seq, seq))
			}
			seq = e.Seq
			item, ok := e.Item.Get()
			if _, what, _ := strings.Cut(string(e.Type), "."); ok {
				list = append(list, strings.TrimSpace(fmt.Sprint(item, " ", what, " ", e.Time.UnixNano(), " ", e.Field)))
			}
		})
	}
	return list, emissions
}

// ranAs returns the events of the range of the items 1 and 2 of a fan-out with events.
func ranAs(t *testing.T, e *Event, change ...func(*core.Node)) ([]string, int) {
	t.Helper()
	m, err := New(eachPlan(t, 1, change...), value.ObjectOf("list", make([]any, 40)), Options{Events: true})
	if err != nil {
		t.Fatal(err)
	}
	if first, _ := heard(m); strings.Join(first, ", ") != "0 started 0" {
		t.Fatalf("at the start: %q", first)
	}
	m.Apply(&Event{ID: ID{From: 0, To: 1, Attempt: 1}, Started: 1, Ended: 2})
	if second, _ := heard(m); strings.Join(second, ", ") != "0 finished 2" {
		t.Fatalf("the range 1:3 has begun: %q", second)
	}
	e.ID, e.Started, e.Ended = ID{From: 1, To: 3, Attempt: 1}, 5, 9
	m.Apply(e)
	return heard(m)
}

// A listener gets no event of an item that does not count and whose write the merge could reject: neither
// when its range is answered nor when the fan-out ends.
func TestNoEventsOfAVoidWrite(t *testing.T) {
	bad := Outcome{Failure: &core.Failure{Class: core.ClassError, Message: "bad", Permanent: true}}
	p := eachPlan(t, 1, func(n *core.Node) {
		n.ForEach.MaxFailures, n.Writes = &source.Int{}, []source.Text{{Value: "once"}}
	})
	once := p.Nodes[0].WriteFields[0]
	writes := state.NewItemWrites(&p.Schema.Fields[once], 2)
	writes.Set(1, int64(7))
	for name, e := range map[string]Event{
		"in its outcome": {Items: []Outcome{bad, {Writes: []plan.Write{{Field: once, Value: int64(7)}}}}},
		"with others":    {Items: []Outcome{bad, {}}, Writes: []*state.ItemWrites{writes}},
	} {
		m, err := New(p, value.ObjectOf("list", make([]any, 40)), Options{Events: true})
		if err != nil {
			t.Fatal(err)
		}
		heard(m)
		m.Apply(&Event{ID: ID{From: 0, To: 1, Attempt: 1}, Started: 1, Ended: 2})
		heard(m)
		e.ID, e.Started, e.Ended = ID{From: 1, To: 3, Attempt: 1}, 5, 9
		m.Apply(&e)
		if got, _ := heard(m); strings.Join(got, ", ") != "1 started 5, 1 failed 9" {
			t.Errorf("a write %s: %q", name, got)
		}
	}
}

// TestEventsOfARange: the items of a range start and end one after the other, at the instants of the
// answer; if it has none, they have the times of the range. A listener gets the events of an item
// that runs with others when its range is answered.
func TestEventsOfARange(t *testing.T) {
	failed := Outcome{Failure: &core.Failure{Class: core.ClassError, Message: "bad"}}
	for _, tt := range []struct {
		name   string
		answer Event
		want   string
		change func(*core.Node)
	}{
		{"instants", Event{Ends: []int64{7, 8}}, "1 started 5, 1 finished 7, 2 started 7, 2 finished 8", nil},
		{"no instants", Event{}, "1 started 5, 1 finished 9, 2 started 5, 2 finished 9", nil},
		{"a failure", Event{Ends: []int64{7, 8}, Items: []Outcome{failed, {}}}, "1 started 5, 1 failed 7, 2 started 7, 2 finished 8", nil},
		{"the last one fails", Event{Ends: []int64{7, 8}, Items: []Outcome{{}, failed}}, "1 started 5, 1 finished 7, 2 started 7, 2 failed 8", nil},
		{"an item that does not count", Event{Ends: []int64{7, 8}, Items: []Outcome{failed, {}}}, "1 started 5, 1 failed 7", func(n *core.Node) { n.ForEach.MaxFailures = &source.Int{} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*core.Node) {}
			}
			list, _ := ranAs(t, &tt.answer, change)
			if got := strings.Join(list, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEventsOfManyItemsTakeLittle: the writes of a million items were a million commands, and a run
// with an event log took 3 GB.
func TestEventsOfManyItemsTakeLittle(t *testing.T) {
	const n = 1000
	m, err := New(onePlan(t), nil, Options{Events: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Next()
	node := &plan.Node{ID: "n", Writes: []string{"a", "b"}, WriteFields: []int32{0, 1}}
	for i := range n {
		e := Emission{what: itemFinished, node: node, item: core.Nth(i), attempt: 1, status: core.Success}
		m.root.emitWrites(e, []plan.Write{{Field: 0, Value: i}, {Field: 1, Value: nil}})
	}
	list, emissions := heard(m)
	if want := []string{"7 finished 0", "7 written 0 a", "7 written 0 b"}; emissions != 1 || len(list) != 3*n || fmt.Sprint(list[21:24]) != fmt.Sprint(want) {
		t.Errorf("%d emissions, %d events", emissions, len(list))
	}
}

// TestEmissionsThroughJSON: an emission has the same events after a round trip.
func TestEmissionsThroughJSON(t *testing.T) {
	node := &plan.Node{ID: "n", Kind: "k", Writes: []string{"a"}, WriteFields: []int32{0}}
	list := Emissions{{what: itemStarted | itemFinished | stateWritten, run: &Options{Run: "r"}, node: node, At: 3, seq: 5, item: 1, last: 3, attempt: 1,
		status: core.Success, wrote: 1, null: 1, ends: []int64{4, 5, 6}}}
	data, err := list.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var again Emissions
	if err := again.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	text := func(list Emissions) (s string) {
		list.Events(new(core.Event), func(e *core.Event) {
			one := *e
			one.Time = one.Time.UTC()
			s += fmt.Sprintf("%+v\n", one)
		})
		return s
	}
	if want, got := text(list), text(again); got != want || strings.Count(want, "\n") != 9 {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	again[0].Shift(int64(time.Hour))
	again[0].Events(new(core.Event), func(e *core.Event) {
		if e.Time.UnixNano() != int64(time.Hour)+3 {
			t.Errorf("after the shift it is at %s", e.Time)
		}
	})
}

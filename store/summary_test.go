package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The records of a run in order, with the summary after each of them.
func TestSummaryFollowsTheRecords(t *testing.T) {
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := Summary{Run: "r1"}
	for i, step := range []struct {
		typ     Type
		data    string
		status  string
		waiting int
		done    bool
	}{
		{Head, `{"workflow":"load","file":"load.yaml","started":"2026-03-01T12:00:00Z","parent":null}`, StatusInterrupted, 0, false},
		{Batch, `not read`, StatusInterrupted, 0, false},
		{Mark, `{"kind":"asked"}`, StatusInterrupted, 1, false},
		{Mark, `{"kind":"asked"}`, StatusInterrupted, 2, false},
		{Mark, `{"kind":"paused","counts":{"total":3}}`, StatusPaused, 2, false},
		{Mark, `{"kind":"resumed"}`, StatusInterrupted, 2, false},
		{Mark, `{"kind":"answered"}`, StatusInterrupted, 1, false},
		{End, `{"status":"failed","reason":"node x","at":2000000000}`, "failed", 0, true},
		{Mark, `{"kind":"resumed"}`, StatusInterrupted, 0, false},
		{Mark, `{"kind":"asked"}`, StatusInterrupted, 1, false},
		{Mark, `{"kind":"withdrawn"}`, StatusInterrupted, 0, false},
		{Mark, `{"kind":"paused","questions":2}`, StatusPaused, 2, false},
		{Mark, `{"kind":"resumed"}`, StatusInterrupted, 2, false},
		{Head, `{"workflow":"renamed"}`, StatusInterrupted, 2, false},
		{End, `{"status":"success","at":5000000000,"counts":{"total":4}}`, "success", 0, true},
	} {
		if err := s.Add(Record{Seq: uint64(i + 1), Type: step.typ, Data: []byte(step.data)}); err != nil {
			t.Fatal(err)
		}
		if s.Status != step.status || s.Waiting != step.waiting || s.Ended() != step.done || s.Finished.IsZero() == step.done {
			t.Errorf("after %s %s: %+v", step.typ, step.data, s)
		}
	}
	if s.Workflow != "load" || !s.Started.Equal(started) || !s.Finished.Equal(started.Add(5*time.Second)) ||
		s.Reason != "" || string(s.Counts) != `{"total":4}` || s.Parent != nil || s.Records != 15 {
		t.Errorf("%+v", s)
	}
	if err := s.Add(Record{Seq: 16, Type: Mark, Data: []byte("{")}); err == nil {
		t.Error("a mark that is not JSON was accepted")
	}
}

func TestSelect(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	all := []Summary{
		{Run: "a1", Workflow: "a", Status: "success", Started: day(1), Updated: day(1)},
		{Run: "a2", Workflow: "a", Status: "success", Started: day(2), Updated: day(2)},
		{Run: "a3", Workflow: "a", Status: "failed", Started: day(3), Updated: day(3)},
		{Run: "b1", Workflow: "b", Status: "success", Started: day(4), Updated: day(4)},
		{Run: "b2", Workflow: "b", Status: StatusRunning, Started: day(5), Updated: day(5)},
		{Run: "b3", Workflow: "b", Status: StatusPaused, Started: day(5), Updated: day(5)},
		{Run: "b4", Workflow: "b", Status: StatusDamaged, Started: day(6), Updated: day(6)},
	}
	success := []string{"success"}
	for name, tt := range map[string]struct {
		q           Query
		list, prune string
	}{
		"all":                        {Query{}, "b4 b3 b2 b1 a3 a2 a1", "b1 a3 a2 a1"},
		"workflow":                   {Query{Workflow: "a"}, "a3 a2 a1", "a3 a2 a1"},
		"status":                     {Query{Status: success}, "b1 a2 a1", "b1 a2 a1"},
		"unended":                    {Query{Status: []string{StatusPaused, StatusRunning, StatusDamaged}}, "b4 b3 b2", "b4 b3"},
		"prefix":                     {Query{Prefix: "a"}, "a3 a2 a1", "a3 a2 a1"},
		"since":                      {Query{Since: day(3)}, "b4 b3 b2 b1 a3", "b1 a3"},
		"before":                     {Query{Before: day(3)}, "a2 a1", "a2 a1"},
		"keep":                       {Query{Keep: 1, Status: success}, "a1", "a1"},
		"keep of what is old enough": {Query{Keep: 1, Before: day(3)}, "a2 a1", "a2 a1"},
		"keep counts newer ones":     {Query{Keep: 2, Before: day(3)}, "a1", "a1"},
		"limit":                      {Query{Limit: 2}, "b4 b3", "b1 a3"},
	} {
		if got := runs(tt.q.Select(slices.Clone(all))); got != tt.list {
			t.Errorf("%s: the list is %s, want %s", name, got, tt.list)
		}
		if got := runs(tt.q.SelectPrune(slices.Clone(all))); got != tt.prune {
			t.Errorf("%s: to prune %s, want %s", name, got, tt.prune)
		}
	}
}

func TestRetention(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var all []Summary
	add := func(workflow, status string, n, days int) {
		for range n {
			at := now.AddDate(0, 0, -days)
			all = append(all, Summary{Run: fmt.Sprint(workflow, "-", status, "-", days), Workflow: workflow, Status: status, Started: at, Updated: at})
		}
	}
	add("often", "success", 15, 1)
	add("often", "partial_success", 6, 31)
	add("often", "success", 1, 32)
	add("seldom", "success", 20, 400)
	for _, status := range []string{"failed", "cancelled", StatusPaused, StatusInterrupted, StatusRunning, StatusDamaged} {
		add("often", status, 1, 89)
		add("often", status, 1, 91)
	}
	var got []string
	for _, q := range Retention("", now) {
		got = append(got, runs(q.SelectPrune(slices.Clone(all))))
	}
	if want := "often-partial_success-31 often-success-32, often-failed-91 often-cancelled-91"; strings.Join(got, ", ") != want {
		t.Errorf("removed %q, want %q", got, want)
	}
	if q := Retention("seldom", now)[1]; len(q.Select(slices.Clone(all))) != 0 {
		t.Error("the query for one workflow selects others")
	}
}

func runs(list []Summary) (s string) {
	for i, sum := range list {
		if i > 0 {
			s += " "
		}
		s += sum.Run
	}
	return s
}

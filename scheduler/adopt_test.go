package scheduler_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// otherLogic returns a store with the run of another store, as an engine with other rules would have
// written it: it has issued other commands in a batch.
func otherLogic(t *testing.T, s store.Store, run string, batch int) store.Store {
	t.Helper()
	other := memory.New(nil)
	holder := store.NewHolder()
	lease, err := other.Acquire(t.Context(), run, holder, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rec, err := range s.Read(t.Context(), run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		change := map[string]any{}
		switch rec.Type {
		case store.Head:
			change["logic"], change["engine"] = machine.Logic+1, "v9"
		case store.Batch:
			if n++; n == batch {
				change["issued"] = 1
			}
		}
		if len(change) > 0 {
			var o map[string]any
			d := json.NewDecoder(strings.NewReader(string(rec.Data)))
			d.UseNumber()
			if err := d.Decode(&o); err != nil {
				t.Fatal(err)
			}
			for k, v := range change {
				o[k] = v
			}
			if rec.Data, err = json.Marshal(o); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Append(t.Context(), run, lease.Token, []store.Record{rec}, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Acquire(t.Context(), run, holder, 0); err != nil {
		t.Fatal(err)
	}
	return other
}

// TestAdopt: the results of a run that another version has started are kept, also those after the first
// decision that differs.
func TestAdopt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		batch int // the batch that differs; 0 means none
		adopt bool
		want  string // in the error
	}{
		{"the rules agree", 0, false, ""},
		{"the rules differ", 2, false, "[RESUME_LOGIC]"},
		{"the rules differ, adopted", 2, true, ""},
		{"the rules differ in the last decision, adopted", 3, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := &executions{}
			p := compile(t, chainOf(x, "a", "b", "c"))
			s := memory.New(nil)
			var numbers []int64
			listen := func(e core.Event) { numbers = append(numbers, e.Seq) }
			_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Listener: listen, Recording: &scheduler.Recording{Store: &crashing{Store: s, left: 4}, Durability: core.DurabilityFull}})
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			st, err := scheduler.OpenStored(t.Context(), otherLogic(t, s, "r", tt.batch), "r")
			if err != nil {
				t.Fatal(err)
			}
			x.list = nil
			report, err := scheduler.Resume(t.Context(), st, p, scheduler.Options{Listener: listen, Recording: &scheduler.Recording{Adopt: tt.adopt}})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "v9") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || report.Status != core.RunSuccess {
				t.Fatalf("error %v", err)
			}
			if !slices.Equal(x.list, []string{"r/c"}) {
				t.Errorf("executed again: %v", x.list)
			}
			ascend(t, tt.name, numbers)
		})
	}
}

// ascend fails if numbers of events repeat.
func ascend(t *testing.T, what string, numbers []int64) {
	t.Helper()
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			t.Fatalf("%s: event %d comes after event %d: %v", what, numbers[i], numbers[i-1], numbers)
		}
	}
}

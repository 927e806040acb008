package history

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

func sideOf(s store.Store, p *plan.Plan) Side {
	return Side{Store: s, Run: "r", Compile: func(*journal.Head) (*plan.Plan, error) { return p, nil }}
}

// Two runs of a graph do not differ. For a dag this holds at any concurrency, which changes the order
// in which nodes run. The executions of a run are listed in the order in which their writes are merged.
func TestEqualRuns(t *testing.T) {
	n := uint64(100)
	if testing.Short() {
		n = 25
	}
	for seed := uint64(1); seed <= n; seed++ {
		for _, walk := range []bool{false, true} {
			g, concurrency := schedulertest.Generate(seed, schedulertest.Shape{Long: seed%3 == 0}), []int{1, 8}
			if walk {
				g, concurrency = schedulertest.GenerateWalk(seed), []int{4, 4}
			}
			synctest.Test(t, func(t *testing.T) {
				var sides []Side
				var plans []*plan.Plan
				for _, c := range concurrency {
					p := schedulertest.MustCompile(t, g, &schedulertest.Recorder{Timing: 1})
					s := memory.New(nil)
					if _, err := scheduler.Run(t.Context(), p, g.Values(), scheduler.Options{Run: "r", Concurrency: c, Interviewer: first{}, Recording: &scheduler.Recording{Store: s}}); errors.As(err, new(*core.StoreError)) {
						t.Fatal(err)
					}
					sides, plans = append(sides, sideOf(s, p)), append(plans, p)
				}
				d, err := Compare(t.Context(), sides[0], sides[1])
				if err != nil {
					t.Fatal(err)
				}
				if !d.Equal() {
					t.Fatalf("seed %d, walk %t: %s\n%s", seed, walk, jsonOf(d.First), g)
				}
				inMergeOrder(t, sides[0], plans[0])
			})
		}
	}
}

func jsonOf(p *Parting) string {
	if p == nil {
		return "no first difference"
	}
	return fmt.Sprintf("%s: %+v and %+v, values %+v", p.Name, p.A, p.B, p.Values)
}

// inMergeOrder checks the order of executions against the order of writes.
func inMergeOrder(t *testing.T, s Side, p *plan.Plan) {
	t.Helper()
	x, err := s.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, e := range x.list {
		at[e.Name] = i
	}
	r := read(t, s.Store, p)
	for f, list := range r.fields {
		before := -1
		for _, i := range list {
			a := r.author(i)
			place, ok := at[a.Name()]
			if a.Path == "" || r.writes[i].elements != nil {
				continue
			}
			if !ok || place < before {
				t.Fatalf("field %s: %s is execution %d (known %t), after execution %d", r.fieldAt(f).Name, a.Name(), place, ok, before)
			}
			before = place
		}
	}
}

// The first difference is the first node that writes something else, and what it leads to follows.
func TestFirstDifference(t *testing.T) {
	d := core.FieldDecl{Merge: text("array_append"), Default: value.Missing}
	list := func(v ...any) any { return v }
	a := chain(t, d, list(1), list(2), list(3))
	for name, c := range map[string]struct {
		b     *plan.Plan
		first string
		state string
	}{
		"a value":  {chain(t, d, list(1), list(5), list(3)), "w2 x[0] 2 5", "x[1] 2 5"},
		"more":     {chain(t, d, list(1), list(2), list(3, 4)), "w3 x[1] - 4", "x[3] - 4"},
		"fewer":    {chain(t, d, list(1), list(2)), "w3 x [3] -", "x[2] 3 -"},
		"one more": {chain(t, d, list(1), list(2), list(3), list(4)), "w4 x - [4]", "x[3] - 4"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Compare(t.Context(), sideOf(stored(t, a), a), sideOf(stored(t, c.b), c.b))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.First.Name + " " + textOf(d.First.Values[0]); got != c.first {
				t.Errorf("first difference %s, want %s", got, c.first)
			}
			if got := textOf(d.State[0]); got != c.state || len(d.State) != 1 {
				t.Errorf("state: %s of %d, want %s", got, len(d.State), c.state)
			}
		})
	}
}

func textOf(v ValueDiff) string {
	side := func(v *any) string {
		if v == nil {
			return "-"
		}
		return value.JSON(*v)
	}
	return v.Path + " " + side(v.A) + " " + side(v.B)
}

// Comparing two runs costs linear time and memory.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			writes := make([]any, n)
			for i := range writes {
				writes[i] = int64(i)
			}
			p := chain(b, core.FieldDecl{Default: value.Missing}, writes...)
			x, y := sideOf(stored(b, p), p), sideOf(stored(b, p), p)
			b.ReportAllocs()
			for b.Loop() {
				if d, err := Compare(b.Context(), x, y); err != nil || !d.Equal() {
					b.Fatal(err)
				}
			}
		})
	}
}

package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
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

// first answers every question with its first choice.
type first struct{}

func (first) Ask(_ context.Context, q core.Question) (core.Answer, error) {
	if len(q.Choices) == 0 {
		return core.Answer{Text: "yes"}, nil
	}
	return core.Answer{Choice: q.Choices[0]}, nil
}

// beginning is a store in which the journals have only their first records.
type beginning struct {
	store.Store
	records uint64
}

func (s beginning) Read(ctx context.Context, run string, from uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for rec, err := range s.Store.Read(ctx, run, from) {
			if rec.Seq > s.records || !yield(rec, err) {
				return
			}
		}
	}
}

// generated returns graphs of all shapes.
func generated(n uint64) []*schedulertest.Graph {
	var list []*schedulertest.Graph
	for seed := uint64(1); seed <= n; seed++ {
		list = append(list, schedulertest.Generate(seed, schedulertest.Shape{FailRun: seed%5 == 4, Race: seed%5 == 3, Long: seed%5 == 2}), schedulertest.GenerateWalk(seed))
	}
	return list
}

// The values of a stored run are the values of its report, at its end and after each record.
// Their authors are the authors that result from merging the writes one at a time.
func TestHistoryAgreesWithMerges(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 30
	}
	seen := map[string]int{}
	for i, g := range generated(n) {
		what := fmt.Sprintf("graph %d", i)
		p := schedulertest.MustCompile(t, g, &schedulertest.Recorder{Timing: 1, Repeats: true})
		compile := func(*journal.Head) (*plan.Plan, error) { return p, nil }
		synctest.Test(t, func(t *testing.T) {
			s := memory.New(nil)
			report, err := scheduler.Run(t.Context(), p, g.Values(), scheduler.Options{Run: "r", Concurrency: 4, Interviewer: first{},
				Recording: &scheduler.Recording{Store: s, Durability: core.DurabilityBatch}})
			if errors.As(err, new(*core.StoreError)) {
				t.Fatal(what, err)
			}
			p.ForReplay()
			records := uint64(0)
			for rec := range s.Read(t.Context(), "r", 1) {
				records = rec.Seq
			}
			for _, upTo := range []uint64{records / 3, records / 2, records} {
				r, err := Read(t.Context(), beginning{s, max(upTo, 2)}, "r", "", compile)
				if err != nil {
					t.Fatal(what, err)
				}
				what := fmt.Sprintf("%s, %d of %d records", what, upTo, records)
				if got, want := value.JSON(r.State().Values()), value.JSON(canonical(report.State)); upTo == records && got != want {
					t.Errorf("%s: state\n%s, want\n%s", what, got, want)
				}
				agrees(t, what, r, seen)
				if t.Failed() {
					t.Fatalf("%s", g)
				}
			}
		})
	}
	for _, name := range []string{"last_wins", "array_append", "union", "object_merge", "sum", "max", "set_once", "members", "item", "round", "visit"} {
		if seen[name] == 0 {
			t.Errorf("no value of %s was checked", name)
		}
	}
}

// agrees compares the blame of a run with what merging its writes one at a time gives.
func agrees(t *testing.T, what string, r *Run, seen map[string]int) {
	t.Helper()
	s := r.State()
	for f, list := range r.fields {
		field := r.fieldAt(f)
		what := fmt.Sprintf("%s, field %s (%s)", what, field.Name, field.Strategy().Name)
		prefixes := []any{canonical(r.graph.Start(f))}
		for n := range list {
			prefixes = append(prefixes, canonical(r.fold(f, n+1, nil)))
		}
		if got, want := value.JSON(s.value(f)), value.JSON(prefixes[len(list)]); got != want {
			t.Errorf("%s: %s, merged again %s", what, got, want)
			continue
		}
		if value.IsMissing(s.value(f)) {
			continue
		}
		blame, err := s.Blame(field.Name)
		if err != nil {
			t.Error(what, err)
			continue
		}
		b := blame[0].Blame
		seen[field.Strategy().Name]++
		count(seen, b.By)
		for _, leaf := range leaves(b) {
			want := r.author(authorOf(r, f, prefixes, leaf.path))
			if leaf.By != want {
				t.Errorf("%s%s: written by %+v, want %+v", what, leaf.Path, leaf.By, want)
			}
		}
		writes, err := s.Writes(field.Name)
		if err != nil || len(writes) != len(list) {
			t.Errorf("%s: %d writes, want %d, error %v", what, len(writes), len(list), err)
		}
		if b.By.Start || b.By.Path == "" {
			continue
		}
		after, err := r.After(b.By.Name())
		if err != nil {
			t.Error(what, err)
		} else if got, want := value.JSON(after.value(f)), value.JSON(s.value(f)); got != want {
			t.Errorf("%s: after %s: %s, want %s", what, b.By.Name(), got, want)
		}
	}
}

func count(seen map[string]int, a Author) {
	if a.Item > 0 {
		seen["item"]++
	}
	if a.Round > 0 {
		seen["round"]++
	}
	if a.Visit > 0 {
		seen["visit"]++
	}
}

// leaf is a value that has one author.
type leaf struct {
	Part
	path []step
}

func leaves(b Blame) []leaf {
	if b.Parts == nil {
		return []leaf{{Part: Part{"", b}}}
	}
	var list []leaf
	for _, p := range b.Parts {
		steps, _ := value.ParsePath(p.Path)
		list = append(list, leaf{p, steps})
	}
	return list
}

// authorOf returns the write that a value comes from, from the values of the field after each write.
func authorOf(r *Run, f int, prefixes []any, path []step) int32 {
	list := r.fields[f]
	if len(path) > 0 && r.fieldAt(f).Strategy().Name != "union" { // a node has collected the list from its items
		if i := slices.IndexFunc(list, func(i int32) bool { return len(r.writes[i].elements) > 0 }); i >= 0 {
			return collector(r, list, prefixes[0], path[0].Index)
		}
	}
	switch strategy := r.fieldAt(f).Strategy().Name; strategy {
	case "array_append", "union":
		whole := 0
		if len(path) == 0 { // the last one that added an element, or else the first write
			whole = length(prefixes[len(prefixes)-1]) - 1
			if whole < 0 {
				return list0(list, min(1, len(list)))
			}
		} else {
			whole = path[0].Index
		}
		for n, v := range prefixes {
			if length(v) > whole {
				return list0(list, n)
			}
		}
	case "min", "max":
		final := prefixes[len(prefixes)-1]
		for n, v := range prefixes {
			if value.Equal(v, final) {
				return list0(list, n)
			}
		}
	case "object_merge", "members", "stream":
		for n := len(list) - 1; n >= 0; n-- {
			if value.IsMissing(r.writes[list[n]].value) {
				return -1
			}
			if o, ok := r.writes[list[n]].value.(*value.Object); ok && len(path) == 0 && o.Len() == 0 && length(prefixes[n]) > 0 {
				continue
			}
			if sets(r.writes[list[n]].value, path) {
				return list[n]
			}
		}
		return -1
	}
	return list0(list, len(list))
}

// collector returns the author of an element of a field to which nodes write lists that they have
// collected from their items.
func collector(r *Run, list []int32, start any, index int) int32 {
	switch r.fieldAt(int(r.writes[list[0]].field)).Strategy().Name {
	case "array_append":
		if index -= length(start); index < 0 {
			return -1
		}
		for _, i := range list {
			w := &r.writes[i]
			n := length(w.value)
			if index < n && len(w.elements) == n && n > 0 {
				return w.elements[index]
			} else if index < n {
				return i
			}
			index -= n
		}
	case "last_wins", "set_once":
		return r.writes[list[len(list)-1]].elements[index]
	}
	panic("a collected list of another strategy")
}

// list0 returns the write before prefix n.
func list0(list []int32, n int) int32 {
	if n == 0 {
		return -1
	}
	return list[n-1]
}

// sets reports whether a write has a value at a path, or replaces a value that contains it.
func sets(v any, path []step) bool {
	for _, s := range path {
		o, ok := v.(*value.Object)
		if !ok {
			return true
		}
		if v, ok = o.Get(s.Key); !ok {
			return false
		}
	}
	return true
}

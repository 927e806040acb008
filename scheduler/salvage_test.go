package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// forgetful is a store that has lost a blob.
type forgetful struct {
	store.Store
	lost string
}

func (s *forgetful) Get(ctx context.Context, sum string) ([]byte, error) {
	if sum == s.lost {
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	}
	return s.Store.Get(ctx, sum)
}

// Put stores a lost blob again.
func (s *forgetful) Put(ctx context.Context, data []byte) (string, error) {
	sum, err := s.Store.Put(ctx, data)
	if sum == s.lost {
		s.lost = ""
	}
	return sum, err
}

// TestSalvageLostResult: a run of which the store has lost a large value is not resumed. With Salvage
// the node with that result runs again, and others keep theirs, also those after it.
func TestSalvageLostResult(t *testing.T) {
	x := &executions{}
	large := strings.Repeat("x", 2*journal.MaxInline)
	w := chainOf(x, "a", "b", "c", "d")
	for _, n := range w.Nodes {
		n.Writes = nil
		n.Handler = core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			x.add(in.IdempotencyKey())
			return core.Result{EdgeOutput: large + in.Node(), HasEdgeOutput: true}, nil
		})
	}
	p := compile(t, w)
	for _, node := range []string{"a", "b"} {
		x.list = nil
		s := &forgetful{Store: memory.New(nil)}
		var numbers []int64
		listen := func(e core.Event) { numbers = append(numbers, e.Seq) }
		_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Listener: listen, Recording: &scheduler.Recording{Store: &crashing{Store: s, left: 5}, Durability: core.DurabilityFull}})
		if !errors.Is(err, errCrash) || !slices.Equal(x.list, []string{"r/a", "r/b", "r/c", "r/d"}) {
			t.Fatalf("error %v, executed %v", err, x.list)
		}
		s.lost = store.BlobName([]byte(`"` + large + node + `"`))
		x.list = nil
		_, err = resume(t, s, "r", p)
		if lost, ok := errors.AsType[*journal.LostError](err); !ok || lost.Path != node || lost.Err.Blob != s.lost || len(x.list) > 0 {
			t.Errorf("%s: error %v, executed %v", node, err, x.list)
		}
		st, err := scheduler.OpenStored(t.Context(), s, "r")
		if err != nil {
			t.Fatal(err)
		}
		var said, reasons []string
		report, err := scheduler.Resume(t.Context(), st, p, scheduler.Options{
			Recording: &scheduler.Recording{Salvage: func(e *journal.LostError) { said = append(said, e.Path) }},
			Listener: func(e core.Event) {
				listen(e)
				if e.Type == core.NodeRepeated {
					reasons = append(reasons, e.Node+": "+e.Reason)
				}
			},
		})
		if err != nil || report.Status != core.RunSuccess {
			t.Fatalf("%s: %v", node, err)
		}
		if want := []string{"r/" + node, "r/d"}; !slices.Equal(x.list, want) || !slices.Equal(said, []string{node}) || !slices.Contains(reasons, node+": its result was lost") {
			t.Errorf("%s: executed %v, want %v; reported %v; %v", node, x.list, want, said, reasons)
		}
		ascend(t, node, numbers)
	}
}

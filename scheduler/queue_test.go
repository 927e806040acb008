package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// TestQueueOrder: runs with one key begin in the order in which they came, although some waiting runs crash
// or are cancelled. A run that cannot begin is notified that others wait.
func TestQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(nil)
		var order []string
		var waits []string
		ended := make(chan error, 8)
		begin := func(ctx context.Context, id string, overlap core.Overlap) {
			rec := &scheduler.Recording{Store: s, Waiting: func(o *core.OverlapError) { waits = append(waits, id+" for "+o.Run+strings.Repeat(" +1", o.Before)) }}
			r, err := scheduler.Run(ctx, compileKey(t, overlap), nil, scheduler.Options{Run: id, Recording: rec})
			if r != nil && err == nil {
				order = append(order, r.Run)
			}
			ended <- err
		}
		cancelled, cancel := context.WithCancel(t.Context())
		for _, id := range []string{"c", "a", "dead", "gone", "b"} {
			time.Sleep(time.Minute)
			switch id {
			case "dead": // a process of another host that dies
				if _, err := s.Enqueue(t.Context(), "key:k", store.Holder{ID: "dead 1 x", Host: "other"}, 15*time.Second); err != nil {
					t.Fatal(err)
				}
			case "gone":
				go begin(cancelled, id, core.OverlapQueue)
			default:
				go begin(t.Context(), id, core.OverlapQueue)
			}
			synctest.Wait()
		}
		queued, err := scheduler.QueuedRuns(t.Context(), s)
		if len(queued) != 3 || queued[2].Run != "b" || queued[2].Before != 2 || queued[2].Other != "c" || queued[2].Key != "k" || err != nil {
			t.Errorf("queued: %+v, %v", queued, err)
		}
		cancel()
		if err := <-ended; !errors.As(err, new(*core.CancelError)) {
			t.Errorf("the cancelled run: %v", err)
		}
		begin(t.Context(), "no", core.OverlapFail)
		if overlap, ok := errors.AsType[*core.OverlapError](<-ended); !ok || overlap.Run != "c" || overlap.Before != 2 {
			t.Errorf("a run that does not wait: %v", overlap)
		}
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(order, []string{"c", "a", "b"}) {
			t.Errorf("the order is %q", order)
		}
		if got := strings.Join(waits, ", "); got != "a for c, gone for c +1, b for c +1 +1, b for a" {
			t.Errorf("waits: %s", got)
		}
		if queued, err := scheduler.QueuedRuns(t.Context(), s); len(queued) > 0 || err != nil {
			t.Errorf("left in the queue: %+v, %v", queued, err)
		}
	})
}

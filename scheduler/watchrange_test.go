package scheduler

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchRange: after slowRange, a worker gets no further item of its range, whether or not it
// has begun the first; without that time, it gets all.
func TestWatchRange(t *testing.T) {
	tests := []struct {
		name    string
		claimed int32
		stop    bool
		end     int32
	}{
		{"before the first item", 0, false, 11},
		{"in the third item", 3, false, 13},
		{"in the last item", 20, false, 30},
		{"ended before", 3, true, 30},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := &run{}, &worker{busy: true}
				for range 2 { // the timer is used again
					w.cmd.ID.From, w.cmd.ID.To = 10, 30
					w.items.set(10, 30)
					r.watchRange(w)
					for range tt.claimed {
						w.items.claim()
					}
					if tt.stop {
						r.unwatchRange(w)
					}
					time.Sleep(2 * slowRange)
					synctest.Wait()
					if !tt.stop {
						r.unwatchRange(w)
					}
					for ok := true; ok; {
						_, ok = w.items.claim()
					}
					if end := w.items.end(); end != tt.end {
						t.Errorf("the range ends at %d, want %d", end, tt.end)
					}
					r.calls.Wait()
				}
			})
		})
	}
}

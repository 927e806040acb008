//go:build !race

package explain_test

import (
	"runtime"
	"testing"

	"github.com/wavefold/wavefold/internal/explain"
)

// TestReadKeepsNoEvents: reading a log allocates little memory for each event, some of which the
// test itself needs. Previously, all events were in memory at once, with 1.8 KB each.
func TestReadKeepsNoEvents(t *testing.T) {
	const events = 100_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := explain.Read(&items{total: events})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := s.Account("one"); a.Attempts != events/2 {
		t.Errorf("%d attempts", a.Attempts)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / events; each > 300 {
		t.Errorf("%d B for each event", each)
	}
}

//go:build !race

package explain_test

import (
	"runtime"
	"testing"

	"github.com/wavefold/wavefold/internal/explain"
)

// TestReadKeepsNoEvents checks that reading a log allocates at most 300 bytes for each event,
// including what the test needs. Previously, all events were kept in memory, at 1.8 KB each.
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

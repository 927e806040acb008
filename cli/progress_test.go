package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Ten progress events per second produce one line every two seconds, in addition to the
// first and the last.
func TestLinesOfProgress(t *testing.T) {
	start := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
	var p progressLines
	var got []string
	write := func(ms int, e core.Event) {
		e.Type, e.Time = core.Progress, start.Add(time.Duration(ms)*time.Millisecond)
		if line := p.line(&e); line != "" {
			got = append(got, line)
		}
	}
	for ms := 0; ms <= 6000; ms += 100 {
		write(ms, core.Event{Node: "save", Attempt: 1, Done: int64(ms) * 10, Of: 60_000})
		write(ms, core.Event{Node: "load", Attempt: 1, Done: int64(ms), Read: int64(ms), Size: 12_000})
		write(ms, core.Event{Unit: "rows", Done: int64(ms)})
	}
	want := []string{
		"progress       save  0 of 60,000  0%", "progress       load  0  0%", "progress       rows  0",
		"progress       save  20,000 of 60,000  33%  10k/s  4s left", "progress       load  2,000  16%  1.0k/s  10s left", "progress       rows  2,000  1.0k/s",
		"progress       save  40,000 of 60,000  66%  10k/s  2s left", "progress       load  4,000  33%  1.0k/s  8s left", "progress       rows  4,000  1.0k/s",
		"progress       save  60,000 of 60,000  100%  10k/s", "progress       load  6,000  50%  1.0k/s  6s left", "progress       rows  6,000  1.0k/s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

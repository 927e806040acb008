package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
)

// TestLinesOfManyItems checks that the first hundred items are listed, and after them only
// failures and progress.
func TestLinesOfManyItems(t *testing.T) {
	start := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
	var l lineWriter
	var got []string
	write := func(ms int, e core.Event) {
		e.Time = start.Add(time.Duration(ms) * time.Millisecond)
		got = append(got, l.lines(&e)...)
	}
	write(0, core.Event{Type: core.NodeStarted, Node: "work", Total: core.Nth(5000)})
	for i := range 5000 {
		write(i, core.Event{Type: core.ItemStarted, Node: "work", Item: core.Nth(i)})
		end := core.Event{Type: core.ItemFinished, Node: "work", Item: core.Nth(i)}
		if i == 3000 {
			end.Type, end.Error = core.ItemFailed, &core.Failure{Message: "refused"}
		}
		write(i, end)
	}
	for i := range 5000 {
		write(5000, core.Event{Type: core.StateWritten, Node: "work", Item: core.Nth(i), Field: "x"})
	}
	write(5001, core.Event{Type: core.NodeFailed, Node: "work"})
	want := []string{"progress       work  101 of 5,000  2%", "progress       work  2,101 of 5,000  42%  1.0k/s  3s left",
		"item.failed    work[3000]  refused", "progress       work  4,101 of 5,000  82%  1.0k/s  1s left",
		"progress       work  5,000 of 5,000  100%  1.0k/s", "node.failed    work"}
	if len(got) != 1+200+len(want) || !slices.Equal(got[201:], want) {
		t.Errorf("%d lines, in the end\n%q\nwant\n%q", len(got), got[min(len(got), 201):], want)
	}
}

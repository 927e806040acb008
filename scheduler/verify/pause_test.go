package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// paused is a pipeline whose rows wait for a person before they begin.
const paused = `
name: paused
state:
  schema:
    rows: {type: array, default: [a, b, c]}
    seen: {type: string}
    out: {type: array, merge: array_append}
graph:
  nodes:
    - {id: look, kind: tool, impl: x, writes: [seen], pause: before}
    - {id: keep, kind: tool, impl: x, reads: [seen], writes: [out]}
  pipelines:
    - {id: ingest, items: $.rows, stages: [look, keep], concurrency: 2}
`

// TestRowsContinueInAnyOrder checks the log of a pipeline in which a person lets row 1 continue before
// row 0. Row 0 is in progress from the start: it counts towards the limit, and later rows wait for
// its writes.
func TestRowsContinueInAnyOrder(t *testing.T) {
	p := compiled(t, paused)
	o := scheduler.Options{Interviewer: core.InterviewerFunc(func(_ context.Context, q core.Question) (core.Answer, error) {
		if strings.HasSuffix(q.Node, "[0]") {
			time.Sleep(time.Second)
		}
		return core.Answer{Choice: q.Choices[0]}, nil
	})}
	whole := logged(t, p, o)
	if whole.at(t, core.ItemStarted, "look[0]", 1) < whole.at(t, core.ItemFinished, "look[1]", 1) {
		t.Fatal("row 0 begins before row 1 has passed its first stage")
	}
	if r := checked(t, p, whole); len(r.Violations) > 0 {
		t.Fatal(words(r))
	}
	for _, test := range []falsifiedLog{
		{name: "three rows", rule: verify.Limits, node: "look", want: "3 rows are in progress in ingest, the limit is 2",
			falsify: func(t *testing.T, l log) log {
				return l.move(l.at(t, core.ItemStarted, "look[2]", 1), l.at(t, core.ItemStarted, "look[1]", 1)+1)
			}},
		{name: "the write of row 0", rule: verify.Order, node: "keep", want: "begins in row 1 before row 0 has passed look, which writes seen",
			falsify: func(t *testing.T, l log) log {
				return l.move(l.at(t, core.ItemStarted, "keep[1]", 1), l.at(t, core.ItemFinished, "look[1]", 1)+1)
			}},
		{name: "row 0 is gone", rule: verify.Parts, node: "ingest", want: "ends, and row 0 stops before look",
			falsify: func(_ *testing.T, l log) log {
				return slices.DeleteFunc(l, func(e core.Event) bool { i, ok := e.Item.Get(); return ok && i == 0 })
			}},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t, p, whole) })
	}
}

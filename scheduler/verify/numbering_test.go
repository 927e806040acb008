package verify_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// A log without log and progress events has the same numbers as one with them. Logs of earlier
// versions count these events, too.
func TestNumbersOfLogEvents(t *testing.T) {
	p := compiled(t, everything)
	whole := logged(t, p, scheduler.Options{})
	for _, tt := range []struct {
		name string
		edit func(l log) log
		want string // the first violation, of the rule "sequence"; empty if there is none
	}{
		{"none", func(l log) log { return l }, ""},
		{"log events repeat the number", func(l log) log { return l.log(4, 4).log(7, 6).log(8, 6) }, ""},
		{"one after the end", func(l log) log { return l.log(len(l), int64(len(l))) }, ""},
		{"log events are counted", func(l log) log { return l.log(4, 0).log(7, 0).numbered() }, ""},
		{"one is counted, one is not", func(l log) log { return l.log(4, 4).log(7, 7) }, "the event has number 7, want number 6: an event is missing"},
		{"one is not counted, one is", func(l log) log { l = l.log(4, 0).numbered(); return l.log(9, 9) }, "number 9 comes after number 9"},
		{"the number of an earlier event", func(l log) log { return l.log(4, 4).log(7, 5) }, "number 5 comes after number 6"},
		{"an event before them is gone", func(l log) log { return l.log(4, 4).log(7, 6).drop(6) }, "the event has number 6, want number 5: an event is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.edit(append(log(nil), whole...))
			r := checked(t, p, l)
			if tt.want == "" {
				if len(r.Violations) > 0 {
					t.Errorf("violations without a reason:\n%s", words(r))
				}
				return
			}
			if len(r.Violations) == 0 || r.Violations[0].Rule != verify.Sequence || !strings.Contains(r.Violations[0].Message, tt.want) {
				t.Errorf("want %q first, got\n%s", tt.want, words(r))
			}
		})
	}
}

// log inserts a log event before the event with index i.
func (l log) log(i int, seq int64) log {
	e := core.Event{V: core.EventVersion, Seq: seq, Type: core.LogLine, Run: l[0].Run, Log: "working"}
	return append(append(append(log(nil), l[:i]...), e), l[i:]...)
}

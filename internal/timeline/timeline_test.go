package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
)

// run returns the timeline of events, one a line: milliseconds, type, node, and item=, round=, visit=, attempt=, delay= or total=.
func run(t *testing.T, script string) *Run {
	t.Helper()
	r := &Run{Generations: map[string]int{"outer/again": 2}}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Add(&core.Event{Type: core.RunStarted, Run: "r", Time: start})
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		var ms int
		e := core.Event{Run: "r", Type: core.EventType(words[1]), Node: words[2], Attempt: 1, Status: "success"}
		if _, err := fmt.Sscan(words[0], &ms); err != nil {
			t.Fatal(err)
		}
		e.Time = start.Add(time.Duration(ms) * time.Millisecond)
		for _, w := range words[3:] {
			name, text, _ := strings.Cut(w, "=")
			var n int
			if _, err := fmt.Sscan(text, &n); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "item":
				e.Item = core.Nth(n)
			case "round":
				e.Round = core.Nth(n)
			case "visit":
				e.Visit = n
			case "attempt":
				e.Attempt = n
			case "total":
				e.Total = core.Nth(n)
			case "delay":
				e.Delay = time.Duration(n) * time.Millisecond
			}
		}
		r.Add(&e)
	}
	return r
}

func TestExecutions(t *testing.T) {
	r := run(t, `
0 node.ready many
0 node.started many total=2
0 item.started many item=0
1 item.finished many item=0
1 item.started many item=1
2 item.failed many item=1
2 node.failed many
2 item.started body round=4
3 node.started step visit=2
3 node.retrying step visit=2
4 node.started step visit=2 attempt=2
5 node.finished step visit=2 attempt=2
6 node.started outer[3]/again
7 item.started many item=1
8 item.finished many item=1`[1:])
	var got strings.Builder
	for _, x := range r.Executions() {
		fmt.Fprintf(&got, "%s %s %d %s %s-%s\n", x.Key, x.Name(), x.Attempt, x.Status, x.Started, x.Ended)
	}
	want := `r/many[0] many[0] 1 success 0s-1ms
r/body#4 body[4] 1 open 2ms-0s
r/step#2 step 2 success 3ms-5ms
r/outer[3]/again~2 outer[3]/again 1 open 6ms-0s
r/many[1] many[1] 1 success 7ms-8ms
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestCriticalPath(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"nothing has ended", "0 node.started a", ""},
		{"a dependency, and not what ended at the same time", `
0 node.ready a
0 node.started a
0 node.started b
9 node.finished a
9 node.ready c
9 node.finished b
9 node.started c
20 node.finished c`, "a 0s+9ms c 9ms+11ms"},
		{"a slot", `
0 node.ready a
0 node.ready b
0 node.started a
5 node.finished a
5 node.started b
9 node.finished b`, "a 0s+5ms b(5ms) 5ms+4ms"},
		{"the slot of a fan-out", `
0 node.ready many
0 node.started a
5 node.finished a
5 node.started many total=2
5 item.started many item=0
7 item.finished many item=0
7 item.started many item=1
9 item.finished many item=1`, "a 0s+5ms 2*many[1](5ms) 5ms+4ms"},
		{"items", `
0 node.ready a
0 node.started a
1 node.finished a
1 node.ready many
1 node.started many total=3
1 item.started many item=0
1 item.started many item=1
4 item.finished many item=1
4 item.started many item=2
5 item.finished many item=0
9 item.finished many item=2
9 node.finished many
9 node.ready b
9 node.started b
10 node.finished b`, "a 0s+1ms 2*many[2] 1ms+8ms b 9ms+1ms"},
		{"the slot of an item that is repeated later", `
0 node.ready b
0 node.ready many
0 node.started many total=1
0 item.started many item=0
10 node.retrying many item=0 attempt=1 delay=5
10 node.started b
40 node.finished b
40 item.started many item=0 attempt=2
50 item.finished many item=0 attempt=2`, "many[0] 0s+10ms b(10ms) 10ms+30ms many[0](25ms) 40ms+10ms"},
		{"a delay", `
0 node.ready a
0 node.started a
10 node.retrying a attempt=1 delay=30
10 node.started b
20 node.finished b
40 node.started a attempt=2
50 node.finished a attempt=2`, "a 0s+10ms a/retry 10ms+30ms a 40ms+10ms"},
		{"cancelled in a delay", `
0 node.started a
10 node.retrying a attempt=1 delay=30
35 node.failed a attempt=1`, "a 0s+10ms a/retry 10ms+25ms"},
		{"a nested workflow that is repeated", `
0 node.started outer
0 node.ready outer/a
0 node.started outer/a
10 node.failed outer/a
10 node.retrying outer attempt=1 delay=30
40 node.started outer attempt=2
40 node.ready outer/a
40 node.started outer/a
50 node.finished outer/a
50 node.finished outer attempt=2`, "outer/a 0s+10ms outer/retry 10ms+30ms outer/a 40ms+10ms"},
		{"a question before", `
0 node.ready a
0 node.asked a
9 node.answered a
9 node.started b
20 node.finished b
20 node.started a
30 node.finished a`, "a/answer 0s+9ms b 9ms+11ms a(11ms) 20ms+10ms"},
		{"a question after", `
0 node.ready b
0 node.started a
5 node.started b
5 node.asked a
9 node.finished b
30 node.answered a
30 node.finished a
30 node.started c
31 node.finished c`, "a 0s+5ms a/answer 5ms+25ms c 30ms+1ms"},
		{"a reader that begins before the end of the writer is published", `
0 node.started b
3 node.finished b
0 node.started a
9 node.ready c
9 node.started c
9 node.finished a
20 node.finished c`, "a 0s+9ms c 9ms+11ms"},
		{"other waits", `
20 node.started a
30 node.finished a
40 run.paused -
90 run.resumed -
90 node.started b
99 node.finished b
110 node.started c
120 node.finished c`, "other 0s+20ms a 20ms+10ms interrupted 30ms+60ms b 90ms+9ms other 99ms+11ms c 110ms+10ms"},
		{"a nested workflow", `
0 node.started outer
0 node.started outer/a
3 node.finished outer/a
3 node.started outer/b
7 node.finished outer/b
7 node.finished outer
7 node.started after
8 node.finished after`, "outer/a 0s+3ms outer/b 3ms+4ms after 7ms+1ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var words []string
			for _, l := range run(t, strings.TrimPrefix(c.script, "\n")).CriticalPath() {
				name := string(l.Wait)
				switch {
				case l.Execution != nil && l.Wait != NoWait:
					name = l.Name() + "/" + name
				case l.Wait == NoWait:
					name = l.Name()
				}
				if l.Count > 1 {
					name = fmt.Sprintf("%d*%s", l.Count, name)
				}
				if l.Waited > 0 {
					name += fmt.Sprintf("(%s)", l.Waited)
				}
				words = append(words, name, fmt.Sprintf("%s+%s", l.Started, l.Ended-l.Started))
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The time between attempts counts for a node unless another of its executions runs.
func TestRetryWaits(t *testing.T) {
	r := run(t, `
0 node.started many total=2
0 item.started many item=0
0 item.started many item=1
10 node.retrying many item=0 attempt=1 delay=20
15 item.finished many item=1
30 item.started many item=0 attempt=2
40 node.retrying many item=0 attempt=2 delay=20
0 node.started a
50 node.finished a`[1:])
	if got := r.RetryWaits(55 * time.Millisecond); len(got) != 1 || got["many"] != 30*time.Millisecond {
		t.Errorf("got %v, want 15 ms + 15 ms for many", got)
	}
	if got := r.Executions()[0].RetryWait(); got != 20*time.Millisecond {
		t.Errorf("got %s for the item, want 20ms", got)
	}
}

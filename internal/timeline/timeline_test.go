package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
)

// run returns the timeline of events, one a line: milliseconds, type, node, and item=, round=, visit=, attempt= or total=.
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
				name := l.Name()
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

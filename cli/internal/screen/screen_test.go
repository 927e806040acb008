package screen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/rehearse/rehearsetest"
	"github.com/wavefold/wavefold/internal/runview"
	"github.com/wavefold/wavefold/scheduler/plan"
)

var update = flag.Bool("update", false, "write the drawings into the golden file")

const flow = `
name: etl
runtime: {concurrency: 9}
state:
  schema:
    rows: {type: array, default: [1, 2, 3, 4, 5, 6]}
    n: {type: integer, merge: sum}
graph:
  nodes:
    - {id: load, kind: tool, impl: a}
    - {id: score, kind: tool, impl: a, for_each: {source: $.rows}}
    - {id: flaky, kind: tool, impl: a, on_error: {policy: retry, attempts: 3, base_ms: 5s}}
    - {id: broken, kind: tool, impl: a}
    - {id: a_node_with_a_very_long_name_that_must_be_cut, kind: tool, impl: a}
    - {id: parse, kind: tool, impl: a}
    - {id: store, kind: tool, impl: a}
    - {id: draft, kind: tool, impl: a, writes: [n]}
    - {id: save, kind: tool, impl: a}
  edges:
    - {from: load, to: score}
    - {from: load, to: parse}
    - {from: load, to: draft}
    - {from: broken, to: a_node_with_a_very_long_name_that_must_be_cut}
    - {from: score, to: save, when: $.n > 100}
  pipelines: [{id: ingest, items: $.rows, stages: [parse, store]}]
  loops: [{id: refine, body: draft, max_iters: 4}]
`

const answers = `
nodes:
  load: [{sleep: 1s}]
  score: [{sleep: 2s}, {sleep: 2s, error: {message: "bad\nitem"}}, {sleep: 2s}]
  flaky: [{sleep: 1s, error: {message: "timed out \e[31m\u009b\u202e"}}]
  broken: [{error: {message: connection refused}}]
  parse: [{sleep: 1s}]
  store: [{sleep: 500ms}]
  draft: [{sleep: 3s, delta: {n: 1}}]
`

func rehearsal(t *testing.T, flow, answers string) (*plan.Plan, []core.Event) {
	t.Helper()
	p, rec := rehearsetest.Run(t, flow, answers)
	return p, rec.Events
}

// TestLines draws one run at several times and sizes. No drawing may exceed the terminal.
func TestLines(t *testing.T) {
	p, events := rehearsal(t, flow, answers)
	var b strings.Builder
	for _, at := range []time.Duration{0, 2500 * time.Millisecond, 6500 * time.Millisecond, time.Hour} {
		m := runview.New(p.Describe())
		for i := range events {
			if e := &events[i]; e.Time.Sub(events[0].Time) <= at {
				m.Apply(e)
			}
		}
		for _, size := range [][2]int{{80, 24}, {40, 24}, {80, 8}, {20, 3}, {1, 1}} {
			lines := Lines(m, size[0], size[1], events[0].Time.Add(at), tty.NewPalette(false))
			fmt.Fprintf(&b, "== %s at %dx%d\n%s\n", at, size[0], size[1], strings.Join(lines, "\n"))
			if len(lines) > size[1] {
				t.Errorf("%d lines on %d", len(lines), size[1])
			}
			for _, l := range lines {
				if w := tty.Width(l); w > max(8, size[0]) {
					t.Errorf("%d cells on %d: %q", w, size[0], l)
				}
				if strings.ContainsAny(l, "\x1b\n") {
					t.Errorf("control characters: %q", l)
				}
			}
		}
	}
	const golden = "testdata/lines.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A failure that a policy tolerates is not a failure of the run, and is not counted as one.
func TestHandledFailures(t *testing.T) {
	p, events := rehearsal(t, `
name: a name that is longer than a narrow terminal is wide
graph:
  nodes:
    - {id: extra, kind: tool, impl: a, on_error: {policy: skip}}
    - {id: worse, kind: tool, impl: a}
`, `
nodes:
  extra: [{error: {message: no luck}}]
  worse: [{error: {message: broken}}]
`)
	m := runview.New(p.Describe())
	for i := range events {
		m.Apply(&events[i])
	}
	for width, want := range map[int]string{
		90: "a name that is longer than a narrow terminal is wide  2 of 2 nodes, 1 failed  0.0s\n├─ ✗ extra  no luck (handled)\n└─ ✗ worse  broken",
		50: "a name that is long…  2 of 2 nodes, 1 failed  0.0s\n├─ ✗ extra  no luck (handled)\n└─ ✗ worse  broken",
		30: "a name …  2 of 2 nodes, 1 fai…\n├─ ✗ extra  no luck (handled)\n└─ ✗ worse  broken",
	} {
		if got := strings.Join(Lines(m, width, 24, events[0].Time, tty.NewPalette(false)), "\n"); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// terminal interprets the few control sequences that Live uses and holds the content of the
// screen.
type terminal struct {
	mu     sync.Mutex
	rows   []string
	at     int
	writes int
	hidden bool
}

func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	text := string(p)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[?25l"), strings.HasPrefix(text, "\x1b[?25h"):
			s.hidden = text[5] == 'l'
			text = text[6:]
		case strings.HasPrefix(text, "\x1b[?2026"):
			text = text[8:]
		case strings.HasPrefix(text, "\x1b[J"):
			s.rows = s.rows[:s.at]
			text = text[3:]
		case strings.HasPrefix(text, "\x1b[K"):
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			var n int
			fmt.Sscanf(text, "\x1b[%dA", &n)
			s.at -= n
			text = text[strings.IndexByte(text, 'A')+1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			line, rest, _ := strings.Cut(text, "\n")
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\r"), "\x1b[K")
			s.rows = append(s.rows[:s.at], append([]string{line}, s.rows[min(len(s.rows), s.at+1):]...)...)
			s.at++
			text = rest
		}
	}
	return len(p), nil
}

// TestLive checks that the tree is replaced in place, that printed lines stay above it,
// that at the end the tree is gone and the cursor is visible, and that no goroutine is left
// (which synctest detects).
func TestLive(t *testing.T) {
	p, events := rehearsal(t, flow, answers)
	synctest.Test(t, func(t *testing.T) {
		s := &terminal{}
		l := Start(s, func() (int, int) { return 80, 24 }, runview.New(p.Describe()), tty.NewPalette(false))
		if !s.hidden {
			t.Error("the cursor shows")
		}
		for i := range events {
			l.Apply(&events[i])
			if i == 3 {
				l.Print("said")
			}
			time.Sleep(30 * time.Millisecond)
		}
		synctest.Wait()
		if s.rows[0] != "said" || !strings.HasPrefix(s.rows[1], "etl") || strings.Count(strings.Join(s.rows, "\n"), "etl") != 1 {
			t.Errorf("the screen shows\n%s", strings.Join(s.rows, "\n"))
		}
		if most := len(events)*30/100 + 3; s.writes > most {
			t.Errorf("%d writes, want at most %d", s.writes, most)
		}
		l.Close()
		l.Print("late")
		if s.hidden || len(s.rows) != 2 || s.rows[1] != "late" {
			t.Errorf("at the end the screen shows\n%s", strings.Join(s.rows, "\n"))
		}
	})
}

// TestSuspend checks that the tree is hidden while the terminal is used otherwise, also
// in nested calls, and that it is drawn again below the output written meanwhile.
func TestSuspend(t *testing.T) {
	p, events := rehearsal(t, flow, answers)
	synctest.Test(t, func(t *testing.T) {
		s := &terminal{}
		l := Start(s, func() (int, int) { return 80, 24 }, runview.New(p.Describe()), tty.NewPalette(false))
		screen := func(want ...string) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := s.rows[:min(len(s.rows), len(want))]; !slices.Equal(got, want) || s.hidden != (len(s.rows) > len(want)) {
				t.Errorf("the screen shows\n%s\nwant\n%s", strings.Join(s.rows, "\n"), strings.Join(want, "\n"))
			}
		}
		l.Print("before")
		l.Suspend()
		l.Suspend()
		_, _ = s.Write([]byte("Go?\n"))
		for i := range events[:8] {
			l.Apply(&events[i])
		}
		l.Print("meanwhile")
		time.Sleep(time.Second)
		screen("before", "Go?")
		l.Resume()
		time.Sleep(time.Second)
		screen("before", "Go?")
		l.Resume()
		screen("before", "Go?", "meanwhile")
		if !s.hidden {
			t.Error("the tree is not back")
		}
		time.Sleep(time.Second)
		l.Suspend()
		screen("before", "Go?", "meanwhile")
		l.Close()
		l.Resume()
		screen("before", "Go?", "meanwhile")
	})
}

// TestBackOnNarrowTerminal checks that lines which a narrower terminal has wrapped are
// counted with all their rows.
func TestBackOnNarrowTerminal(t *testing.T) {
	l := &Live{drawn: []string{strings.Repeat("x", 79), "short"}}
	var b bytes.Buffer
	l.back(&b, 40)
	if got := b.String(); got != "\r\x1b[3A" {
		t.Errorf("%q", got)
	}
}

// The line of a running node shows the amount done, the rate and the remaining time, as far
// as they are known.
func TestProgress(t *testing.T) {
	const doc = `
name: big
runtime: {concurrency: 9}
state: {schema: {rows: {type: array, default: [1]}}}
graph:
  nodes:
    - {id: load, kind: tool, impl: a}
    - {id: save, kind: tool, impl: a}
    - {id: poll, kind: tool, impl: a}
    - {id: stream, kind: tool, impl: a, for_each: {source: $.rows}}
    - {id: array, kind: tool, impl: a, for_each: {source: $.rows}}
    - {id: part, kind: tool, impl: a}
  pipelines: [{id: rows, items: $.rows, stages: [part]}]
`
	p, _ := rehearsal(t, doc, "nodes: {load: [{}], save: [{}], poll: [{}], stream: [{}], array: [{}], part: [{}]}")
	start := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
	m := runview.New(p.Describe())
	apply := func(second int, e core.Event) {
		e.Time = start.Add(time.Duration(second) * time.Second)
		m.Apply(&e)
	}
	for _, id := range []string{"load", "save", "poll", "stream"} {
		apply(0, core.Event{Type: core.NodeStarted, Node: id})
	}
	apply(0, core.Event{Type: core.NodeStarted, Node: "array", Total: core.Nth(1_000)})
	apply(0, core.Event{Type: core.NodeStarted, Unit: "rows"})
	for s := 1; s <= 20; s++ {
		apply(s, core.Event{Type: core.Progress, Node: "load", Done: int64(s) * 12_345, Read: int64(s), Size: 80})
		apply(s, core.Event{Type: core.Progress, Node: "save", Done: int64(s) * 1_000, Of: 30_000})
		apply(s, core.Event{Type: core.Progress, Node: "poll", Done: int64(s)})
		apply(s, core.Event{Type: core.Progress, Node: "stream", Done: int64(s) * 24, Read: int64(s) * 200, Size: 4200})
		apply(s, core.Event{Type: core.Progress, Unit: "rows", Done: int64(s), Read: int64(s) * 100, Size: 4000})
		apply(s, core.Event{Type: core.Progress, Node: "array", Item: core.Nth(1), Done: 7, Of: 8})
		for i := range 12 {
			apply(s, core.Event{Type: core.ItemFinished, Node: "stream", Item: core.Nth(i)})
			apply(s, core.Event{Type: core.ItemFinished, Node: "array", Item: core.Nth(i)})
		}
		apply(s, core.Event{Type: core.ItemFailed, Node: "part", Unit: "rows", Item: core.Nth(s)})
	}
	want := []string{
		"├─ ⠋ load      ━━━━──────────────  25%  246,900  12k/s  1m00s left  20.0s",
		"├─ ⠋ save      ━━━━━━━━━━━━──────  66%  20,000/30,000  1.0k/s  10s left  20.0s",
		"├─ ⠋ poll      20  20.0s",
		"├─ ⠋ stream ⇉  ━━━━━━━━──────────  47%  240  12/s  22s left  20.0s", // half of the rows handed over
		"├─ ⠋ array ⇉   ━━━━──────────────  24%  240/1,000  12/s  1m05s left  20.0s",
		"└─ ⠋ rows ⇶    ━━━━━━━━━─────────  50%  20  20 failed  20s left  20.0s",
	}
	lines := Lines(m, 92, 24, start.Add(20*time.Second), tty.NewPalette(false))
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, "big") || strings.Contains(s, "part") })
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	// A node that has stopped reporting has no rate and no remaining time.
	for _, line := range Lines(m, 90, 24, start.Add(40*time.Second), tty.NewPalette(false)) {
		if strings.Contains(line, "/s") || strings.Contains(line, "left") {
			t.Errorf("behind 20 s of nothing: %s", line)
		}
	}
	apply(21, core.Event{Type: core.NodeFinished, Node: "stream", Status: "success", Total: core.Nth(240), Duration: 21 * time.Second})
	if got := strings.Join(Lines(m, 92, 24, start.Add(21*time.Second), tty.NewPalette(false)), "\n"); !strings.Contains(got, "✓ stream ⇉  240/240  21s") {
		t.Errorf("a fan-out that has ended:\n%s", got)
	}
}

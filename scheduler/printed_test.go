package scheduler

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// newTestOutputs returns what keeps the output of run r, and its store.
func newTestOutputs(t *testing.T, resumed bool, secrets ...string) (*outputs, *memory.Store) {
	t.Helper()
	s := memory.New(nil)
	if _, err := s.Acquire(t.Context(), "r", store.NewHolder(), leaseTime); err != nil {
		t.Fatal(err)
	}
	return newOutputs("r", s, func() secret.Masker { return secret.NewMasker(secrets...) }, resumed), s
}

// printTo writes pieces as the output of an attempt.
func printTo(t *testing.T, o *outputs, in core.Input, stream string, pieces ...string) {
	t.Helper()
	w := o.writer(in, stream)
	for _, p := range pieces {
		if n, err := io.WriteString(w, p); n != len(p) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(p), err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// printedText returns what is kept of a node, one line for each stream of an attempt.
func printedText(t *testing.T, s store.Attacher, node string) string {
	t.Helper()
	list, err := PrintedBy(s, "r", node)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range list {
		r, err := p.Open(s, "r")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		item, _ := p.Item.Get()
		fmt.Fprintf(&b, "%s %d %v ~%d %d: %s\n", p.Stream, item, p.Rounds, p.Generation, p.Attempt, text)
	}
	return b.String()
}

func TestPrintedOrder(t *testing.T) {
	o, s := newTestOutputs(t, false)
	attempt := func(n int, shared core.Shared) core.Input { return core.NewInput("r", "outer[3]/a", n, shared) }
	printTo(t, o, attempt(10, core.Shared{}), "stdout", "ten")
	printTo(t, o, attempt(9, core.Shared{}), "stdout", "ni", "ne")
	printTo(t, o, attempt(9, core.Shared{}), "stderr")
	printTo(t, o, attempt(1, core.Shared{Loop: "l", Round: 10}), "stdout", "round")
	printTo(t, o, attempt(1, core.Shared{Loop: "l", Round: 9, Visit: 2}), "stderr", "visit")
	printTo(t, o, attempt(1, core.Shared{Generation: 2}), "stdout", "again")
	printTo(t, o, attempt(1, core.Shared{Index: core.Nth(11), Generation: 2}), "stdout", "item")
	printTo(t, o, attempt(1, core.Shared{Index: core.Nth(2)}), "stdout", "item")
	want := `stdout -1 [] ~0 9: nine
stdout -1 [] ~0 10: ten
stderr -1 [9 2] ~0 1: visit
stdout -1 [10] ~0 1: round
stdout -1 [] ~2 1: again
stdout 2 [] ~0 1: item
stdout 11 [] ~2 1: item
`
	if got := printedText(t, s, "outer[3]/a"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := printedText(t, s, "a"); got != "" {
		t.Errorf("another node printed %s", got)
	}
}

// An attempt that runs again in another process has the number of the attempt that
// failed or crashed.
func TestPrintedAgain(t *testing.T) {
	in := core.NewInput("r", "a", 1, core.Shared{})
	o, s := newTestOutputs(t, false)
	printTo(t, o, in, "stdout", "failed")
	printTo(t, o, in, "stderr", "the reason")
	printTo(t, o, core.NewInput("r", "a", 2, core.Shared{}), "stdout", "failed again")
	o = newOutputs("r", s, o.mask, true)
	printTo(t, o, in, "stdout", "good")
	printTo(t, o, in, "stderr")
	if got := printedText(t, s, "a"); got != "stdout -1 [] ~0 1: good\n" {
		t.Errorf("got %s", got)
	}
}

func TestPrintedSecrets(t *testing.T) {
	o, s := newTestOutputs(t, false, "hunter2")
	printTo(t, o, core.NewInput("r", "a", 1, core.Shared{}), "stdout", "key=hun", "ter2 aHVud", "GVyMg== hunt")
	if got := printedText(t, s, "a"); got != "stdout -1 [] ~0 1: key=*** *** hunt\n" {
		t.Errorf("got %s", got)
	}
}

func TestPrintedLimits(t *testing.T) {
	line := strings.Repeat("x", 1023) + "\n"
	for _, c := range []struct {
		name          string
		lines, before int // bytes that the process has kept
		size          int
		left          string
	}{
		{"all", 1024, 0, 1 << 20, ""},
		{"one line less", 1025, 0, 1 << 20, "\n[wavefold: 1024 bytes were left out]\n"},
		{"much less", 3 << 10, 0, 1 << 20, "\n[wavefold: 2097152 bytes were left out]\n"},
		{"no room for the beginning", 10, maxPrinted - 5<<10, 5 << 10, "\n[wavefold: 5120 bytes were left out]\n"},
		{"no room", 10, maxPrinted, 0, "\n[wavefold: 10240 bytes were left out]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, s := newTestOutputs(t, false)
			o.keptSize.Store(int64(c.before))
			w := o.writer(core.NewInput("r", "a", 1, core.Shared{}), "stdout")
			for range c.lines {
				_, _ = io.WriteString(w, line)
			}
			_ = w.Close()
			r, err := s.Attached("r", "output/a/1.stdout")
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(r)
			kept := strings.Replace(string(got), c.left, "", 1)
			if len(kept) != c.size || len(got) != c.size+len(c.left) || strings.Trim(kept, "x\n") != "" {
				t.Errorf("%d bytes are kept, %d without %q, want %d", len(got), len(kept), c.left, c.size)
			}
			if o.keptSize.Load() > maxPrinted {
				t.Errorf("%d bytes are counted", o.keptSize.Load())
			}
		})
	}
}

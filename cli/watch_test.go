package cli

import (
	"bytes"
	"testing"
)

// On a narrow terminal the messages about an interrupt wrap between words.
func TestSayOnNarrowTerminal(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "interrupted: waiting for what runs to end\n"},
		{80, "interrupted: waiting for what runs to end\n"},
		{21, "interrupted: waiting\nfor what runs to end\n"},
	} {
		var b bytes.Buffer
		w := &watcher{err: &b, width: func() int { return c.width }}
		w.say("interrupted: waiting for what runs to end")
		if b.String() != c.want {
			t.Errorf("at %d: %q, want %q", c.width, b.String(), c.want)
		}
	}
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/eventlog"
)

// Log records are put between events by their times, and get the number of the event before them. Lines
// that a crash has cut off are left out.
func TestStoredLogs(t *testing.T) {
	line := func(second int) string {
		return fmt.Sprintf(`{"v":1,"seq":0,"ts":"2026-01-01T00:00:%02dZ","type":"log","run":"r","log":"at %d"}`+"\n", second, second)
	}
	text := line(0) + line(2) + line(3)[:40] + "\n" + line(3) + line(9) + line(1)[:50]
	l := &storedLogs{in: eventlog.NewReader(strings.NewReader(text))}
	l.advance()
	var got strings.Builder
	write := func(e *core.Event) error {
		fmt.Fprintf(&got, "%d %s%s\n", e.Seq, e.Type, strings.TrimPrefix(e.Log, "at"))
		return nil
	}
	for i, second := range []int{1, 3, 5} {
		at := time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)
		if err := l.before(at, write); err != nil {
			t.Fatal(err)
		}
		l.seq = int64(i + 1)
		_ = write(&core.Event{Seq: l.seq, Type: core.StateWritten})
	}
	if err := l.before(time.Time{}, write); err != nil || l.err != io.EOF {
		t.Fatal(err, l.err)
	}
	want := "0 log 0\n1 state.written\n1 log 2\n2 state.written\n2 log 3\n3 state.written\n3 log 9\n"
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

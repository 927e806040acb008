package verify_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// text returns a log as it is written to a file.
func (l log) text(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range l {
		if err := enc.Encode(l[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestLog(t *testing.T) {
	p := compiled(t, everything)
	text := string(logged(t, p, scheduler.Options{}).text(t))
	for _, tt := range []struct{ name, text, want string }{
		{"a log", text, ""},
		{"without the last line end", strings.TrimSpace(text), ""},
		{"empty", "\n\n", "there are no events in it"},
		{"a workflow", everything, "line 2: this is not an event"},
		{"cut off", text[:len(text)-20], "the log is cut off in the middle of a line"},
		{"of a newer program", strings.Replace(text, `"v":1`, `"v":2`, 1), "line 1: event format 2, this program reads format 1"},
		{"an unknown type", strings.Replace(text, "node.ready", "node.paused", 1), `line 2: unknown event type "node.paused"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := verify.Log(p, strings.NewReader(tt.text))
			switch {
			case tt.want == "" && (err != nil || len(r.Violations) > 0):
				t.Errorf("%v, %+v", err, r)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// FuzzLog checks that the checker terminates and does not panic for any log.
func FuzzLog(f *testing.F) {
	p := compiled(f, strings.NewReplacer("base_ms: 1000", "base_ms: 1", "base_ms: 100", "base_ms: 1").Replace(everything))
	var l log
	f.Add([]byte(`{"v":1,"seq":1,"type":"run.started","run":"r","reason":"everything"}`))
	_, _ = scheduler.Run(f.Context(), p, nil, scheduler.Options{Run: "r", Listener: func(e core.Event) { l = append(l, e) }})
	text := l.text(f)
	f.Add(text)
	lines := bytes.SplitAfter(text, []byte("\n"))
	f.Add(bytes.Join(append(lines[:1:1], lines[len(lines)/2:]...), nil))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = verify.Log(p, bytes.NewReader(data))
	})
}

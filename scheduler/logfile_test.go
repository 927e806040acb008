package scheduler

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/store"
)

// The log of a stored run has at most maxLogFile bytes, masks secrets, and ends with its run.
func TestLogFile(t *testing.T) {
	_, s := newTestOutputs(t, false)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &run{logs: &logFile{run: "r", to: s, mask: func() secret.Masker { return secret.NewMasker("hunter2") }}}
	entry := core.Event{V: 1, Type: core.LogLine, Run: "r", Time: at, Log: "key hunter2"}
	if names, _ := s.Attachments("r", ""); len(names) > 0 {
		t.Errorf("%v are there before the first record", names)
	}
	r.log(entry)
	r.logs.size = maxLogFile + 1
	r.log(entry)
	r.log(entry)
	r.logs.close()
	r.log(entry)
	f, err := s.Attached("r", store.LogFile)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(f)
	lines := strings.Split(string(text), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"log":"key ***"`) || !strings.Contains(lines[1], "are not kept: there are too many") {
		t.Errorf("got %s", text)
	}
}

package explain_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/rehearse/rehearsetest"
)

var update = flag.Bool("update", false, "write what was got into the archives")

// log rehearses a workflow and returns its event log.
func log(t *testing.T, flow, answers []byte) []byte {
	t.Helper()
	_, rec := rehearsetest.Run(t, string(flow), string(answers))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range rec.Events {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestArchives explains every node of the runs under testdata.
func TestArchives(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil || len(a.Files) != 3 {
				t.Fatalf("want flow.yaml, mock.yaml and want: %v", err)
			}
			events, err := explain.Read(bytes.NewReader(log(t, a.Files[0].Data, a.Files[1].Data)))
			if err != nil {
				t.Fatal(err)
			}
			got := all(explain.New(events))
			if *update {
				a.Files[2].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(a.Files[2].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func all(s *explain.Run) string {
	var b strings.Builder
	for _, id := range s.Nodes() {
		a, _ := s.Account(id)
		for _, line := range s.Explain(a) {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString("troubles:\n")
	for _, a := range s.Unsuccessful() {
		b.WriteString(a.Node + " " + a.Status + ": " + s.Brief(a) + "\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	line := func(run string, typ core.EventType) string {
		text, err := json.Marshal(core.Event{V: core.EventVersion, Run: run, Type: typ})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first, second := line("a", core.RunStarted), line("b", core.RunStarted)
	for _, c := range []struct {
		name, text string
		events     int
		err        string
	}{
		{"empty", "", 0, ""},
		{"blank lines", "\n" + first + "\n\n", 1, ""},
		{"no final line end", first + "\n" + line("a", core.RunFinished), 2, ""},
		{"cut off", first + "\n" + first[:20], 1, ""},
		{"the last of two runs", first + "\n" + second + "\n", 1, ""},
		{"no event", first + "\nhello\n", 0, "line 2: this is no event"},
		{"another version", `{"v":99,"type":"run.started"}` + "\n", 0, "line 1: event format 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := explain.Read(strings.NewReader(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || len(events) != c.events {
				t.Errorf("%d events, %v; want %d", len(events), err, c.events)
			}
		})
	}
}

// TestUnusable checks that an unreadable answer and an answer that chose none have
// different explanations.
func TestUnusable(t *testing.T) {
	for values, unusable := range map[string]bool{`"answer":"go on","unusable":true`: true, `"answer":"0"`: false} {
		events, err := explain.Read(strings.NewReader(`{"v":1,"seq":1,"type":"run.started","run":"r","reason":"w"}
{"v":1,"seq":2,"type":"node.started","run":"r","node":"a","kind":"agent","visit":1,"attempt":1}
{"v":1,"seq":3,"type":"node.finished","run":"r","node":"a","kind":"agent","visit":1,"attempt":1,"status":"success"}
{"v":1,"seq":4,"type":"edge.chosen","run":"r","node":"a","visit":1,"status":"success","reason":"only path","from":"a","to":"b","step":"fallback","values":{"choices":[{"to":"c","when":"x"},{"to":"b","when":""}],` + values + `}}
`))
		if err != nil {
			t.Fatal(err)
		}
		if got := all(explain.New(events)); !strings.Contains(got, "answer: ") || strings.Contains(got, "counts as none of the above") != unusable {
			t.Errorf("%s: got\n%s", values, got)
		}
	}
}

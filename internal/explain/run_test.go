package explain_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
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
			s, err := explain.Read(bytes.NewReader(log(t, a.Files[0].Data, a.Files[1].Data)))
			if err != nil {
				t.Fatal(err)
			}
			got := all(s)
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
	line := func(run string, typ core.EventType, node, status string) string {
		text, err := json.Marshal(core.Event{V: core.EventVersion, Run: run, Type: typ, Node: node, Status: status})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first, second := line("a", core.RunStarted, "", ""), line("b", core.RunStarted, "", "")
	node, end := line("a", core.NodeReady, "n", ""), line("a", core.RunFinished, "", "success")
	for _, c := range []struct {
		name, text, run, status string
		nodes                   int
		err                     string
	}{
		{"empty", "", "", "", 0, "there are no events in it"},
		{"blank lines", "\n" + first + "\n\n", "a", "", 0, ""},
		{"no final line end", first + "\n" + node + "\n" + end, "a", "success", 1, ""},
		{"cut off", first + "\n" + node + "\n" + end[:20], "a", "", 1, ""},
		{"only a cut line", first[:20], "", "", 0, "there are no events in it"},
		{"the last of two runs", first + "\n" + node + "\n" + end + "\n" + second + "\n", "b", "", 0, ""},
		{"no event", first + "\nhello\n", "", "", 0, "line 2: this is not an event"},
		{"another version", `{"v":99,"type":"run.started"}` + "\n", "", "", 0, "line 1: event format 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := explain.Read(strings.NewReader(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || s.ID != c.run || s.Status != c.status || len(s.Nodes()) != c.nodes {
				t.Errorf("%+v, %v; want run %q, status %q and %d nodes", s, err, c.run, c.status, c.nodes)
			}
		})
	}
}

// items is the log of a run with many items, which is made while it is read.
type items struct {
	n, total int
	rest     []byte
}

func (r *items) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.n == r.total {
			return 0, io.EOF
		}
		const line = `{"v":1,"seq":%d,"ts":"2026-11-23T15:19:05.584471825Z","type":"item.%s","run":"r","node":"one","kind":"tool","level":0,"item":%d,"attempt":1}` + "\n"
		r.rest = fmt.Appendf(r.rest[:0], line, r.n+1, []string{"started", "finished"}[r.n%2], r.n/2)
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestUnusable checks that an unreadable answer and an answer that chose none have
// different explanations.
func TestUnusable(t *testing.T) {
	for values, unusable := range map[string]bool{`"answer":"go on","unusable":true`: true, `"answer":"0"`: false} {
		s, err := explain.Read(strings.NewReader(`{"v":1,"seq":1,"type":"run.started","run":"r","reason":"w"}
{"v":1,"seq":2,"type":"node.started","run":"r","node":"a","kind":"agent","visit":1,"attempt":1}
{"v":1,"seq":3,"type":"node.finished","run":"r","node":"a","kind":"agent","visit":1,"attempt":1,"status":"success"}
{"v":1,"seq":4,"type":"edge.chosen","run":"r","node":"a","visit":1,"status":"success","reason":"only path","from":"a","to":"b","step":"fallback","values":{"choices":[{"to":"c","when":"x"},{"to":"b","when":""}],` + values + `}}
`))
		if err != nil {
			t.Fatal(err)
		}
		if got := all(s); !strings.Contains(got, "answer: ") || strings.Contains(got, "counts as none of the above") != unusable {
			t.Errorf("%s: got\n%s", values, got)
		}
	}
}

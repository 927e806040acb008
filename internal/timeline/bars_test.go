package timeline_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/timeline"
)

// A bar shows in which parts of a run a node has run, failed or waited for a slot.
func TestBars(t *testing.T) {
	begin := time.Unix(0, 0)
	var line timeline.Run
	add := func(at int, typ core.EventType, node, status string) {
		line.Add(&core.Event{Type: typ, Node: node, Status: status, Attempt: 1, Time: begin.Add(time.Duration(at) * time.Second)})
	}
	add(0, core.NodeReady, "a<b", "")
	add(0, core.NodeStarted, "a<b", "")
	add(0, core.NodeReady, "waits", "")
	add(4, core.NodeFinished, "a<b", "success")
	add(4, core.NodeStarted, "waits", "")
	add(6, core.NodeFailed, "waits", "fail")
	add(8, core.NodeReady, "open", "")
	add(8, core.NodeStarted, "open", "")
	add(0, core.NodeReady, "many", "")
	line.Add(&core.Event{Type: core.NodeStarted, Node: "many", Total: core.Nth(1), Time: begin.Add(8 * time.Second)})
	line.Add(&core.Event{Type: core.ItemStarted, Node: "many", Item: core.Nth(0), Attempt: 1, Time: begin.Add(8 * time.Second)})
	add(0, core.NodeStarted, "twice", "")
	line.Add(&core.Event{Type: core.NodeRetrying, Node: "twice", Attempt: 1, Delay: 4 * time.Second, Time: begin.Add(2 * time.Second)})
	line.Add(&core.Event{Type: core.NodeStarted, Node: "twice", Attempt: 2, Time: begin.Add(6 * time.Second)})
	add(8, core.NodeFinished, "twice", "success")
	var got []string
	for _, b := range line.Bars(10*time.Second, 10) {
		got = append(got, b.Path+" |"+b.Text()+"|")
	}
	want := "a<b |████      |\nwaits |░░░░▓▓    |\nopen |        ██|\nmany |░░░░░░░░██|\ntwice |██▒▒▒▒██  |"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	svg := line.SVG("r: running", 10*time.Second, time.Duration.String)
	for _, part := range []string{"a&lt;b</text>", ">r: running</text>", `<rect x="552" y="78" width="160" height="14" fill="#c93c37"/>`, ">ran, and failed</text>"} {
		if !strings.Contains(svg, part) {
			t.Errorf("the drawing has no %s:\n%s", part, svg)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

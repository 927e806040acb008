package timeline

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Activity is what the executions of a node did in a part of the time of a run.
type Activity uint8

// Activities. If a node did several things in the same part, the last of these counts.
const (
	Idle Activity = iota
	Waiting
	Delayed // waited for the next attempt
	Running
	Failing // an execution ran that failed later
)

// String says what the executions did.
func (a Activity) String() string {
	return [...]string{Idle: "idle", Waiting: "waited for a slot", Delayed: "waited for a retry", Running: "ran", Failing: "ran, and failed"}[a]
}

// Bar is the activity of a node in equal parts of the time of a run.
type Bar struct {
	Path  string
	Parts []Activity
}

// Bars returns the bars of the nodes in the order in which they started. end is the end of the run, or
// the time so far. Executions that have not ended run until then.
func (t *Run) Bars(end time.Duration, parts int) []Bar {
	var bars []Bar
	index := map[string]int{}
	for _, e := range t.Executions() {
		if t.outer[e.Path] {
			continue // its time is the time of the nodes in it
		}
		at, ok := index[e.Path]
		if !ok {
			at = len(bars)
			index[e.Path] = at
			bars = append(bars, Bar{e.Path, make([]Activity, parts)})
		}
		what := Running
		if e.Status == core.Fail.String() {
			what = Failing
		}
		bars[at].mark(e.Started-e.Waited, e.Started, end, Waiting)
		e.retries(end, func(from, to time.Duration) { bars[at].mark(from, to, end, Delayed) })
		e.attempts(end, func(from, to time.Duration) { bars[at].mark(from, max(to, from+1), end, what) })
	}
	return bars
}

// mark notes an activity between two instants.
func (b *Bar) mark(from, to, end time.Duration, what Activity) {
	if to <= from || end <= 0 {
		return
	}
	n := len(b.Parts)
	part := func(at time.Duration) int { return int(float64(at) / float64(end) * float64(n)) }
	first := min(max(part(from), 0), n-1)
	last := min(max(part(to-1), first), n-1)
	for i := first; i <= last; i++ {
		b.Parts[i] = max(b.Parts[i], what)
	}
}

// Text returns the bar as characters.
func (b *Bar) Text() string {
	var text strings.Builder
	for _, a := range b.Parts {
		text.WriteString([...]string{Idle: " ", Waiting: "░", Delayed: "▒", Running: "█", Failing: "▓"}[a])
	}
	return text.String()
}

// Lengths in a drawing, in pixels.
const (
	labelWidth = 220
	barWidth   = 800
	rowHeight  = 22
	barHeight  = 14
	margin     = 12
	scaleRows  = 2   // for the title and the scale
	keyWidth   = 140 // of the explanation of a colour
)

var colors = [...]string{Waiting: "#d9d9d9", Delayed: "#a9c4e6", Running: "#3b7dd8", Failing: "#c93c37"}

// SVG draws the bars of a run, with a scale of time.
func (t *Run) SVG(title string, end time.Duration, duration func(time.Duration) string) string {
	bars := t.Bars(end, barWidth)
	width, height := labelWidth+barWidth+2*margin, (len(bars)+scaleRows)*rowHeight+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	text := func(x, y int, anchor, s string) {
		fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escaped(s))
	}
	text(margin, margin+barHeight, "start", title)
	for i := range 5 {
		x := margin + labelWidth + i*barWidth/4
		fmt.Fprintf(&out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#d9d9d9"/>`+"\n", x, margin+scaleRows*rowHeight-4, x, height-margin)
		text(x, margin+scaleRows*rowHeight-8, [...]string{"start", "middle", "middle", "middle", "end"}[i], duration(end*time.Duration(i)/4))
	}
	for i, a := range [...]Activity{Running, Failing, Waiting, Delayed} {
		x := margin + labelWidth + barWidth + (i-4)*keyWidth
		fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, margin+2, barHeight, barHeight, colors[a])
		text(x+barHeight+6, margin+barHeight, "start", a.String())
	}
	for i, b := range bars {
		y := margin + (i+scaleRows)*rowHeight
		text(margin+labelWidth-8, y+barHeight-2, "end", shortened(b.Path))
		for from := 0; from < len(b.Parts); {
			to := from
			for to < len(b.Parts) && b.Parts[to] == b.Parts[from] {
				to++
			}
			if a := b.Parts[from]; a != Idle {
				fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", margin+labelWidth+from, y, to-from, barHeight, colors[a])
			}
			from = to
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// shortened cuts a path that is too long for its column, at its beginning.
func shortened(path string) string {
	const most = 30
	if r := []rune(path); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return path
}

func escaped(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a Builder has no errors
	return out.String()
}

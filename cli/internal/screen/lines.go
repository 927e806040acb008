package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/cli/internal/pace"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/story"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Lines draws the model for a terminal of the given size: at most height lines
// of at most width cells, so that nothing wraps or scrolls. What does not fit is
// summed up in the last line; what runs or failed is kept longest.
func (m *Model) Lines(width, height int, now time.Time, p tty.Palette) []string {
	width, height = max(width, 8), max(height, 1)
	out := []string{m.head(width, now, p).render(width)}
	list := m.visible()
	shown, rest := choose(list, height-1)
	l := layout{width: width, now: now, p: p}
	for _, r := range shown {
		l.label = max(l.label, tty.Width(r.branch)+tty.Width(r.label()))
	}
	l.label = min(l.label, max(10, width*2/5))
	for _, r := range shown {
		out = append(out, l.row(r).render(width))
	}
	if rest != "" {
		out = append(out, line{{rest, p.Dim}}.render(width))
	}
	return out
}

// head is the first line: what is done so far, and before it as much of the name as
// there is room for.
func (m *Model) head(width int, now time.Time, p tty.Palette) line {
	done, failed := m.counts()
	text := fmt.Sprintf("%d of %d nodes", done, m.total)
	if m.walk {
		text = fmt.Sprintf("visit %d, %s", m.visits, text)
	}
	l := line{{text, p.Dim}}
	if m.usage != (core.Usage{}) {
		l = append(l, segment{"  " + story.Usage(m.usage), p.Dim})
	}
	if failed > 0 {
		l = append(l, segment{fmt.Sprintf(", %d failed", failed), p.Bad})
	}
	if !m.started.IsZero() {
		l = append(l, segment{"  " + seconds(now.Sub(m.started)), p.Dim})
	}
	room := width - 2
	for _, s := range l {
		room -= tty.Width(s.text)
	}
	name := tty.Cut(tty.Safe(m.name), max(room, min(8, width)))
	return append(line{{string(name) + "  ", p.Bold}}, l...)
}

// choose picks the rows for a number of lines, in their order, and words what is
// left out.
func choose(list []placed, most int) (shown []placed, rest string) {
	if len(list) <= most {
		return list, ""
	}
	keep := max(0, most-1) // the last line tells about the others
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { // of a walk the latest visits first
		return cmp.Or(rank(list[a].state)-rank(list[b].state), list[b].latest-list[a].latest)
	})
	at = at[:min(keep, len(at))]
	slices.Sort(at)
	left := map[state]int{}
	for i, r := range list {
		if _, ok := slices.BinarySearch(at, i); ok {
			shown = append(shown, r)
		} else {
			left[r.state]++
		}
	}
	if most < 1 {
		return nil, ""
	}
	var parts []string
	for _, s := range []struct {
		word   string
		states []state
	}{{"running", []state{running, backoff}}, {"failed", []state{bad}}, {"waiting", []state{waiting}}, {"done", []state{good, partial, skipped}}} {
		n := 0
		for _, st := range s.states {
			n += left[st]
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	return shown, "…  " + strings.Join(parts, ", ")
}

// rank says what to show first.
func rank(s state) int {
	switch s {
	case running, backoff:
		return 0
	case bad:
		return 1
	case partial, waiting:
		return 2
	}
	return 3
}

// layout is what the rows of one drawing share.
type layout struct {
	width, label int
	now          time.Time
	p            tty.Palette
}

func (l *layout) row(r placed) line {
	sign, paint := l.sign(r.state)
	label := l.label - tty.Width(r.branch)
	out := line{{r.branch, l.p.Dim}, {sign + " ", paint}, {string(tty.Pad(tty.CutMiddle(r.label(), label), label)) + "  ", plain}}
	if bar := l.progress(r.row); bar != nil {
		out = append(out, bar...)
	}
	switch {
	case r.state == running && !r.started.IsZero() && (r.parent == nil || r.latest > 0):
		out = append(out, segment{seconds(l.now.Sub(r.started)) + "  ", l.p.Dim})
	case r.state.over() && r.took > 0:
		out = append(out, segment{story.Duration(r.took) + "  ", l.p.Dim})
	}
	text := firstLine(r.text)
	if r.handled {
		text += " (handled)"
	}
	if text != "" {
		style := l.p.Dim
		if r.state == bad || r.state == backoff || r.failed > 0 {
			style = paint
		}
		out = append(out, segment{text, style})
	}
	return out
}

// progress is the bar of a node that tells how far it is, or the round of a loop.
func (l *layout) progress(r *row) line {
	var out line
	switch {
	case r.shape == plan.Loop.String():
		if r.state == waiting || r.state == skipped {
			return nil
		}
		round := min(r.done+1, r.rounds)
		if r.state.over() {
			round = r.done
		}
		out = line{{fmt.Sprintf("round %d of %d  ", round, r.rounds), l.p.Accent}}
	case r.state == skipped:
		return nil
	case r.state == running && (r.parent == nil || r.total >= 0 || r.done == 0):
		out = l.pace(r)
	case r.total >= 0:
		out = line{{pace.Count(int64(r.done)) + "/" + pace.Count(int64(r.total)) + "  ", plain}}
	case r.done > 0 && r.parent != nil:
		out = line{{pace.Count(int64(r.done)) + "  ", l.p.Dim}}
	}
	if out == nil || r.state == running && r.shape != plan.Loop.String() {
		return out
	}
	return append(out, l.failures(r)...)
}

// failures tells how many items failed.
func (l *layout) failures(r *row) line {
	if r.failed == 0 {
		return nil
	}
	return line{{pace.Count(int64(r.failed)) + " failed  ", l.p.Bad}}
}

const (
	// narrow is the width below which there is no room for bars.
	narrow = 50
	// many is the number of steps from which on shares and rates are worth telling.
	many = 100
	// settled is how long something has run before its end is guessed at.
	settled = 3 * time.Second
)

// pace shows how far something that runs has come: a bar where the whole is known, what
// is done, how fast it goes and how long it will take.
func (l *layout) pace(r *row) line {
	var out line
	p := &r.pace
	part, known := p.Part()
	of := int64(r.total)
	if r.shape == plan.Plain.String() {
		of = max(p.Of, -1)
	}
	known = known || r.total == 0
	if known && l.width >= narrow {
		full, empty := bar(part, min(24, l.width/5))
		out = line{{full, l.p.Accent}, {empty + " ", l.p.Dim}}
	}
	exact := r.total >= 0 || p.Of > 0
	if known && (!exact || of >= many) {
		out = append(out, segment{pace.Percent(part) + "  ", plain})
	}
	switch {
	case exact:
		out = append(out, segment{pace.Count(p.Done) + "/" + pace.Count(of) + "  ", plain})
	case p.Done > 0:
		out = append(out, segment{pace.Count(p.Done) + "  ", plain})
	}
	out = append(out, l.failures(r)...)
	if rate, ok := p.Rate(l.now); ok && (p.Done >= many || of >= many) {
		out = append(out, segment{pace.Rate(rate) + "  ", l.p.Dim})
	}
	if left, ok := p.Left(l.now); ok && l.now.Sub(r.started) >= settled {
		out = append(out, segment{pace.Left(left) + "  ", plain})
	}
	return out
}

func bar(part float64, width int) (full, empty string) {
	n := int(part * float64(width))
	return strings.Repeat("━", n), strings.Repeat("─", width-n)
}

func (l *layout) sign(s state) (string, func(string) tty.Styled) {
	switch s {
	case running:
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		return string(frames[int(l.now.UnixMilli()/100)%len(frames)]), l.p.Accent
	case backoff:
		return "↺", l.p.Warn
	case good:
		return "✓", l.p.Good
	case partial:
		return "◐", l.p.Warn
	case bad:
		return "✗", l.p.Bad
	case skipped:
		return "⊘", l.p.Dim
	}
	return "○", l.p.Dim
}

// seconds writes a running time that changes ten times a second at most.
func seconds(d time.Duration) string {
	d = max(d, 0)
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return d.Truncate(time.Second).String()
}

func plain(s string) tty.Styled { return tty.Safe(s) }

// segment is a part of a line with its colour.
type segment struct {
	text  string
	paint func(string) tty.Styled
}

type line []segment

// render colours the segments and cuts the line to a width. Blanks between segments
// are written when there is something behind them.
func (l line) render(width int) string {
	var b strings.Builder
	blanks := ""
	for _, s := range l {
		safe := string(tty.Safe(s.text))
		whole := strings.TrimRight(safe, " ")
		if whole == "" {
			blanks += safe
			continue
		}
		text := tty.Cut(whole, width-len(blanks))
		if text == "" {
			break
		}
		b.WriteString(blanks + string(s.paint(text)))
		if text != whole {
			break
		}
		width -= len(blanks) + tty.Width(text)
		blanks = safe[len(whole):]
	}
	return b.String()
}

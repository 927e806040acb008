package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/progress"
	"github.com/wavefold/wavefold/internal/runview"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Lines draws a run for a terminal of the given size: at most height lines of at most width
// cells, so that nothing wraps or scrolls. The last line summarizes the rows that do not
// fit; rows that run or have failed are kept longest.
func Lines(m *runview.Model, width, height int, now time.Time, p tty.Palette) []string {
	width, height = max(width, 8), max(height, 1)
	out := []string{head(m, width, now, p).render(width)}
	list := visible(m)
	shown, rest := selectRows(list, height-1)
	l := layout{width: width, now: now, p: p}
	for _, r := range shown {
		l.label = max(l.label, tty.Width(r.branch)+tty.Width(nameOf(r.Row)))
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

// head returns the first line: the progress so far, preceded by as much of the name as
// fits.
func head(m *runview.Model, width int, now time.Time, p tty.Palette) line {
	done, failed := m.Counts()
	text := fmt.Sprintf("%d of %d nodes", done, m.Total)
	if m.Visited {
		text = fmt.Sprintf("visit %d, %s", m.Visits, text)
	}
	l := line{{text, p.Dim}}
	if m.Usage != (core.Usage{}) {
		l = append(l, segment{"  " + explain.Usage(m.Usage), p.Dim})
	}
	if failed > 0 {
		l = append(l, segment{fmt.Sprintf(", %d failed", failed), p.Bad})
	}
	if !m.Started.IsZero() {
		l = append(l, segment{"  " + seconds(now.Sub(m.Started)), p.Dim})
	}
	room := width - 2
	for _, s := range l {
		room -= tty.Width(s.text)
	}
	name := tty.Cut(tty.Safe(m.Name), max(room, min(8, width)))
	return append(line{{string(name) + "  ", p.Bold}}, l...)
}

// selectRows selects the rows for limit lines, in their order, and describes the omitted rows.
func selectRows(list []treeRow, limit int) (shown []treeRow, rest string) {
	if len(list) <= limit {
		return list, ""
	}
	keep := max(0, limit-1) // the last line describes the others
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { // for a walk, the latest visits first
		return cmp.Or(rank(list[a].State)-rank(list[b].State), list[b].Latest-list[a].Latest)
	})
	at = at[:min(keep, len(at))]
	slices.Sort(at)
	left := map[runview.State]int{}
	for i, r := range list {
		if _, ok := slices.BinarySearch(at, i); ok {
			shown = append(shown, r)
		} else {
			left[r.State]++
		}
	}
	if limit < 1 {
		return nil, ""
	}
	var parts []string
	for _, s := range []struct {
		word   string
		states []runview.State
	}{{"running", []runview.State{runview.Running, runview.Backoff}}, {"failed", []runview.State{runview.Failed}}, {"waiting", []runview.State{runview.Waiting}}, {"done", []runview.State{runview.Succeeded, runview.PartlySucceeded, runview.Skipped}}} {
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

// rank returns the priority of a row with this state; lower ranks are shown first.
func rank(s runview.State) int {
	switch s {
	case runview.Running, runview.Backoff:
		return 0
	case runview.Failed:
		return 1
	case runview.PartlySucceeded, runview.Waiting:
		return 2
	}
	return 3
}

// layout holds the measures that the rows of one drawing share.
type layout struct {
	width, label int
	now          time.Time
	p            tty.Palette
}

func (l *layout) row(r treeRow) line {
	sign, paint := l.sign(r.State)
	label := l.label - tty.Width(r.branch)
	out := line{{r.branch, l.p.Dim}, {sign + " ", paint}, {string(tty.Pad(tty.CutMiddle(nameOf(r.Row), label), label)) + "  ", plain}}
	if bar := l.progress(r.Row); bar != nil {
		out = append(out, bar...)
	}
	switch {
	case r.State == runview.Running && !r.Started.IsZero() && (r.Parent == nil || r.Latest > 0):
		out = append(out, segment{seconds(l.now.Sub(r.Started)) + "  ", l.p.Dim})
	case r.State.Over() && r.Took > 0:
		out = append(out, segment{explain.Duration(r.Took) + "  ", l.p.Dim})
	}
	text := firstLine(r.Text)
	if r.Handled {
		text += " (handled)"
	}
	if text != "" {
		style := l.p.Dim
		if r.State == runview.Failed || r.State == runview.Backoff || r.Failed > 0 {
			style = paint
		}
		out = append(out, segment{text, style})
	}
	return out
}

// progress returns the progress bar of a node that reports progress, or the round of a
// loop.
func (l *layout) progress(r *runview.Row) line {
	var out line
	switch {
	case r.Shape == plan.Loop.String():
		if r.State == runview.Waiting || r.State == runview.Skipped {
			return nil
		}
		round := min(r.Done+1, r.Rounds)
		if r.State.Over() {
			round = r.Done
		}
		out = line{{fmt.Sprintf("round %d of %d  ", round, r.Rounds), l.p.Accent}}
	case r.State == runview.Skipped:
		return nil
	case r.State == runview.Running && (r.Parent == nil || r.Total >= 0 || r.Done == 0):
		out = l.runningProgress(r)
	case r.Total >= 0:
		out = line{{progress.Count(int64(r.Done)) + "/" + progress.Count(int64(r.Total)) + "  ", plain}}
	case r.Done > 0 && r.Parent != nil:
		out = line{{progress.Count(int64(r.Done)) + "  ", l.p.Dim}}
	}
	if out == nil || r.State == runview.Running && r.Shape != plan.Loop.String() {
		return out
	}
	return append(out, l.failures(r)...)
}

// failures returns the number of failed items.
func (l *layout) failures(r *runview.Row) line {
	if r.Failed == 0 {
		return nil
	}
	return line{{progress.Count(int64(r.Failed)) + " failed  ", l.p.Bad}}
}

const (
	// minBarWidth is the minimum width for bars.
	minBarWidth = 50
	// minSteps is the minimum number of steps for which shares and rates are shown.
	minSteps = 100
	// minRuntime is the minimum running time before the remaining time is estimated.
	minRuntime = 3 * time.Second
)

// runningProgress shows the progress of a running node: a bar if the total is known, the amount done,
// the rate and the remaining time.
func (l *layout) runningProgress(r *runview.Row) line {
	var out line
	p := &r.Progress
	part, known := p.Fraction()
	of := int64(r.Total)
	if r.Shape == plan.Plain.String() {
		of = max(p.Of, -1)
	}
	known = known || r.Total == 0
	if known && l.width >= minBarWidth {
		full, empty := bar(part, min(24, l.width/5))
		out = line{{full, l.p.Accent}, {empty + " ", l.p.Dim}}
	}
	exact := r.Total >= 0 || p.Of > 0
	if known && (!exact || of >= minSteps) {
		out = append(out, segment{progress.Percent(part) + "  ", plain})
	}
	switch {
	case exact:
		out = append(out, segment{progress.Count(p.Done) + "/" + progress.Count(of) + "  ", plain})
	case p.Done > 0:
		out = append(out, segment{progress.Count(p.Done) + "  ", plain})
	}
	out = append(out, l.failures(r)...)
	if rate, ok := p.Rate(l.now); ok && (p.Done >= minSteps || of >= minSteps) {
		out = append(out, segment{progress.Rate(rate) + "  ", l.p.Dim})
	}
	if left, ok := p.Remaining(l.now); ok && l.now.Sub(r.Started) >= minRuntime {
		out = append(out, segment{progress.Remaining(left) + "  ", plain})
	}
	return out
}

func bar(part float64, width int) (full, empty string) {
	n := int(part * float64(width))
	return strings.Repeat("━", n), strings.Repeat("─", width-n)
}

func (l *layout) sign(s runview.State) (string, func(string) tty.Styled) {
	switch s {
	case runview.Running:
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		return string(frames[int(l.now.UnixMilli()/100)%len(frames)]), l.p.Accent
	case runview.Backoff:
		return "↺", l.p.Warn
	case runview.Succeeded:
		return "✓", l.p.Good
	case runview.PartlySucceeded:
		return "◐", l.p.Warn
	case runview.Failed:
		return "✗", l.p.Bad
	case runview.Skipped:
		return "⊘", l.p.Dim
	}
	return "○", l.p.Dim
}

// seconds formats a running time so that it changes at most ten times a second.
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

// render colours the segments and cuts the line to a width. Spaces between segments are
// written only if text follows them.
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

// nameOf returns the name of a row as it is drawn.
func nameOf(r *runview.Row) tty.Styled {
	id := tty.Safe(r.ID)
	switch r.Shape {
	case plan.FanOut.String():
		return id + " ⇉"
	case plan.Pipeline.String():
		return id + " ⇶"
	case plan.Loop.String():
		return id + " ↻"
	}
	if r.Visits > 1 {
		return tty.Sprintf("%s ×%d", id, r.Visits)
	}
	return id
}

// visible lists the rows to draw, with the tree lines in front of them. Rows inside a unit
// or nested workflow are drawn while it runs, and if it failed.
func visible(m *runview.Model) (list []treeRow) {
	var add func(rows []*runview.Row, branches string)
	add = func(rows []*runview.Row, branches string) {
		for i, r := range rows {
			branch, below := "├─ ", "│  "
			if i == len(rows)-1 {
				branch, below = "└─ ", "   "
			}
			list = append(list, treeRow{r, branches + branch})
			if r.State == runview.Running || r.State == runview.Failed {
				add(r.Children, branches+below)
			}
		}
	}
	add(m.Rows, "")
	return list
}

// treeRow is a row with the tree lines in front of it.
type treeRow struct {
	*runview.Row
	branch string
}

// firstLine returns the first line of a message.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

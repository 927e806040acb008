package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/timeline"
	"github.com/wavefold/wavefold/store"
)

// executionJSON is an execution of a stored run. Times are since the start of the run.
type executionJSON struct {
	Key     string         `json:"key"`
	Path    string         `json:"path"`
	Item    *int           `json:"item,omitempty"`
	Round   *int           `json:"round,omitempty"`
	Visit   int            `json:"visit,omitempty"`
	Attempt int            `json:"attempt"` // the last one
	Status  string         `json:"status"`  // "open" until it has ended
	Started time.Duration  `json:"started_ns"`
	Ended   *time.Duration `json:"ended_ns"` // null until it has ended
	// Waited is the time for which it waited for a slot, and RetryWait the time between its attempts.
	Waited    time.Duration `json:"waited_ns,omitempty"`
	RetryWait time.Duration `json:"retry_wait_ns,omitempty"`
}

// linkJSON is a part of the critical path: attempts, or a wait. Members of executionJSON describe the last attempt.
type linkJSON struct {
	*executionJSON
	Wait    timeline.Wait `json:"wait,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Status  string        `json:"status,omitempty"`
	Started time.Duration `json:"started_ns"` // of the first attempt
	Ended   time.Duration `json:"ended_ns"`
	Waited  time.Duration `json:"waited_ns,omitempty"` // of all attempts
	Count   int           `json:"count,omitempty"`     // the number of attempts for this node that followed each other

	name string
}

func newLinkJSON(l *timeline.Link) linkJSON {
	j := linkJSON{Wait: l.Wait, Attempt: l.Attempt, Status: l.Status, Started: l.Started, Ended: l.Ended, Waited: l.Waited, Count: l.Count, name: linkName(l)}
	if l.Execution != nil {
		x := newExecutionJSON(l.Execution)
		x.RetryWait = 0
		j.executionJSON = &x
	}
	return j
}

// linkName names a part of the critical path for people.
func linkName(l *timeline.Link) string {
	switch l.Wait {
	case timeline.RetryDelay:
		return fmt.Sprintf("%s (delay after attempt %d)", l.Name(), l.Attempt)
	case timeline.Answer:
		return l.Name() + " (waits for an answer)"
	case timeline.Interrupted:
		return "(the run was not in progress)"
	case timeline.OtherWait:
		return "(other wait)"
	case timeline.NoWait:
	}
	if l.Count > 1 {
		return fmt.Sprintf("%s (last of %d)", l.Name(), l.Count)
	}
	if len(l.Pauses) > 0 && l.Attempt > 0 && l.Execution.Attempt > 1 {
		return fmt.Sprintf("%s (attempt %d)", l.Name(), l.Attempt)
	}
	return l.Name()
}

func ordinalJSON(o core.Ordinal) *int {
	if i, ok := o.Get(); ok {
		return &i
	}
	return nil
}

func newExecutionJSON(x *timeline.Execution) executionJSON {
	j := executionJSON{Key: x.Key, Path: x.Path, Item: ordinalJSON(x.Item), Round: ordinalJSON(x.Round), Visit: x.Visit, Attempt: x.Attempt, Status: x.Status,
		Started: x.Started, Waited: x.Waited, RetryWait: x.RetryWait()}
	if x.Status != timeline.StatusOpen {
		j.Ended = &x.Ended
	}
	return j
}

// addTimeline adds the executions of the run. The critical path of a run that has not ended is not known.
func (x *inspection) addTimeline(line *timeline.Run) {
	x.line = line
	for _, e := range line.Executions() {
		x.Executions = append(x.Executions, newExecutionJSON(e))
	}
	if !x.ended {
		return
	}
	for _, l := range line.CriticalPath() {
		x.CriticalPath = append(x.CriticalPath, newLinkJSON(&l))
	}
}

// nodeTimes are the first start of a node and the last time at which it was ready before that.
type nodeTimes struct{ ready, started time.Time }

// waited returns the time for which the node waited for a slot.
func (t nodeTimes) waited() time.Duration {
	if t.ready.IsZero() || t.ready.After(t.started) {
		return 0
	}
	return t.started.Sub(t.ready)
}

func (a *app) printInspection(x *inspection) {
	p := a.palette(a.Out)
	tty.Fprintf(a.Out, "%s of %s: %s\n", p.Bold(x.Run), x.Workflow, p.Status(x.Status))
	tty.Fprintf(a.Out, "started %s, %s\n", x.Started.Local().Format(time.DateTime), explain.Duration(x.Duration))
	if x.Parent != nil {
		tty.Fprintf(a.Out, "replays %s from %s\n", x.Parent.Run, fromText(x.Parent))
	}
	if x.Usage != nil {
		tty.Fprintf(a.Out, "models: %s\n", explain.Usage(*x.Usage))
	}
	if x.Reason != "" {
		a.printLines(x.Reason)
	}
	a.printQueue(x.WaitsFor)
	if len(x.Nodes) > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printInspectedNodes(x)
	}
	a.printInspectedWalk(x)
	if len(x.CriticalPath) > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printCriticalPath(x)
	}
	a.printBars(x)
	a.printMarks(x.Marks)
	if len(x.Questions) > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printQuestions(x.Questions)
	}
	tty.Fprintf(a.Out, "\njournal: %s, %s, %s\n", x.Journal.Path, plural(int(x.Journal.Records), "record"), plural(int(x.Journal.Bytes), "byte"))
}

func (a *app) printInspectedNodes(x *inspection) {
	p := a.palette(a.Out)
	t := tty.NewTable([]string{"node", "status", "items", "attempts", "began", "waited", "time", "tokens", "cost", "why"}, 2, 3, 4, 5, 6, 7, 8)
	t.Spare(5, 4, 2, 3)
	t.Below()
	for _, n := range x.Nodes {
		tokens, cost, why := "", "", n.Why
		if n.Usage != nil {
			tokens, cost = fmt.Sprint(n.Usage.Input+n.Usage.Output), explain.Cost(n.Usage.Cost)
		}
		began := ""
		if n.Started != nil {
			began = explain.Duration(*n.Started)
		}
		if n.Kept && why == "" {
			if why = "kept from before the run was resumed"; !x.sharedUntil.IsZero() && n.Started != nil && !x.Started.Add(*n.Started).After(x.sharedUntil) {
				why = "kept from the replayed run"
			}
		}
		t.Row(n.Path, p.Status(n.Status), countText(n.Items), countText(n.Attempts), began, waitedText(n.Waited+n.RetryWait), timeText(n.Duration-n.RetryWait), tokens, cost, firstLine(why))
	}
	a.printTable(a.Out, t)
}

// waitedText formats a time that is worth showing.
func waitedText(d time.Duration) string {
	if d < time.Millisecond {
		return ""
	}
	return explain.Duration(d)
}

// maxLinks limits the links of a critical path that are all printed. Of a longer path, links are left out
// that took less than a hundredth of the run.
const maxLinks = 20

// printCriticalPath prints what decided when the run ended, with the times from the starts to the ends.
func (a *app) printCriticalPath(x *inspection) {
	t := tty.NewTable([]string{"critical path", "began", "waited", "time"}, 1, 2, 3)
	left := 0
	for _, l := range x.CriticalPath {
		if len(x.CriticalPath) > maxLinks && l.Ended-l.Started < x.Duration/100 {
			left++
			continue
		}
		t.Row(l.name, explain.Duration(l.Started), waitedText(l.Waited), explain.Duration(l.Ended-l.Started))
	}
	a.printTable(a.Out, t)
	if left > 0 {
		tty.Fprintf(a.Out, "and %s of less than %s each\n", plural(left, "part"), explain.Duration(x.Duration/100))
	}
}

const (
	// barLength is the number of characters of a bar, and maxBars limits the bars that are printed.
	barLength = 50
	maxBars   = 40
)

// printBars prints when the nodes ran, if there are several.
func (a *app) printBars(x *inspection) {
	if x.line == nil {
		return
	}
	bars := x.line.Bars(x.Duration, barLength)
	if len(bars) < 2 {
		return
	}
	tty.Fprintf(a.Out, "\n")
	t := tty.NewTable([]string{"timeline", "0" + fmt.Sprintf("%*s", barLength-1, explain.Duration(x.Duration))})
	for _, b := range bars[:min(len(bars), maxBars)] {
		t.Row(b.Path, b.Text())
	}
	a.printTable(a.Out, t)
	for _, l := range []struct{ bar, text string }{{"░", timeline.Waiting.String()}, {"▒", timeline.Delayed.String()}, {"▓", timeline.Failing.String()}} {
		if slices.ContainsFunc(bars, func(b timeline.Bar) bool { return strings.Contains(b.Text(), l.bar) }) {
			tty.Fprintf(a.Out, "%s %s\n", l.bar, l.text)
		}
	}
	if n := len(bars) - maxBars; n > 0 {
		tty.Fprintf(a.Out, "… and %s; --svg FILE draws all of them\n", plural(n, "more node"))
	}
}

// writeSVG writes the timeline of a run to a file.
func (x *inspection) writeSVG(name string) error {
	if x.line == nil {
		return fail(exitFailed, "the timeline of run %s is not known", x.Run)
	}
	title := fmt.Sprintf("%s of %s: %s, %s", x.Run, x.Workflow, x.Status, explain.Duration(x.Duration))
	if err := os.WriteFile(name, []byte(x.line.SVG(title, x.Duration, explain.Duration)), 0o666); err != nil {
		return fail(exitFailed, "the timeline is not written: %w", err)
	}
	return nil
}

// printMarks prints what has happened to the run as a whole. Questions, and the run that it replays, are
// shown elsewhere.
func (a *app) printMarks(marks []markJSON) {
	p := a.palette(a.Out)
	marks = slices.DeleteFunc(slices.Clone(marks), func(m markJSON) bool { return m.Kind == store.MarkQueued || m.Kind == store.MarkForked })
	if len(marks) > 0 {
		tty.Fprintf(a.Out, "\n")
	}
	for _, m := range marks {
		text := m.Kind
		if m.Node != "" {
			text += " " + m.Node
		}
		if m.By != "" {
			text += " by " + m.By
		}
		if m.Down > 0 {
			text += " after " + explain.Duration(m.Down)
		}
		tty.Fprintf(a.Out, "%s  %s\n", p.Dim(m.At.Local().Format(time.DateTime)), text)
	}
}

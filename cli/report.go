package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// maxRows limits the nodes that a summary lists. In a larger graph, nodes with status success
// are counted and not listed.
const maxRows = 100

// printReport prints the summary of a run, or its report as JSON, without secrets. The summary
// is written to standard error if standard output has the events or the rows of a node.
func (a *app) printReport(p *plan.Plan, r *core.Report, f *runFlags) error {
	r = a.mask.Report(r)
	if f.noState {
		withoutState := *r
		withoutState.State = nil
		r = &withoutState
	}
	if f.quiet || f.log == logNone { // otherwise they were printed during the run
		a.printWarnings(r)
	}
	if f.json {
		out := reportJSON(r)
		if f.ended != nil {
			out.Ended = f.ended.text(p, r)
		}
		return a.writeJSON(out)
	}
	var out io.Writer = a.Out
	if f.events == "-" || f.stdoutTaken {
		out = a.Err
	}
	if p.Mode.Visits {
		a.walkSummary(out, p, r, f)
	} else {
		a.summary(out, p, r)
	}
	return nil
}

// printWarnings prints the warnings of the nodes of a run.
func (a *app) printWarnings(r *core.Report) {
	p := a.palette(a.Err)
	rest := r.Warned
	for _, w := range r.Warnings {
		times := ""
		if rest -= w.Count; w.Count > 1 {
			times = " (" + plural(int(w.Count), "time") + ")"
		}
		tty.Fprintf(a.Err, "%s %s\n", p.Warn("warning:"), tty.Sprintf("node %s: %s%s", w.Node, w.Text, times))
	}
	if rest > 0 {
		tty.Fprintf(a.Err, "%s %s\n", p.Warn("warning:"), plural(int(rest), "more warning"))
	}
}

// warnedText formats the number of warnings for the last line of a summary, "" if there are
// none.
func warnedText(r *core.Report) string {
	if r.Warned == 0 {
		return ""
	}
	return ", " + plural(int(r.Warned), "warning")
}

func (a *app) summary(out io.Writer, p *plan.Plan, r *core.Report) {
	colors := a.palette(out)
	nodes := r.Nodes()
	columns, at := spentOn(r), standingOf(r)
	t := columns.table("node", "status", "items", "attempts", "time", "why")
	t.Spare(4, 2, 3)
	t.Below()
	rows, succeeded, others := 0, 0, 0
	for i := range nodes {
		n := &nodes[i]
		switch {
		case len(nodes) > maxRows && n.Status == core.Success:
			succeeded++
			continue
		case rows == maxRows:
			others++
			continue
		}
		rows++
		t.Row(columns.row(n, n.ID, colors.Status(at.status(n)), itemsText(n), countText(n.Attempts), timeText(n.Duration), whyText(n))...)
	}
	for _, u := range r.Units() {
		t.Row(columns.row(nil, u.ID, colors.Status(statusText(u.Status)), countText(u.Rows), "", "", unitText(&u))...)
	}
	a.printTable(out, t)
	if others > 0 {
		tty.Fprintf(out, "… and %s that did not succeed\n", plural(others, "more node"))
	}
	if succeeded > 0 {
		tty.Fprintf(out, "%s succeeded\n", plural(succeeded, "node"))
	}
	a.printState(out, p, r.State)
	tty.Fprintf(out, "\n%s: %s in %s%s\n", colors.Bold(r.Workflow), colors.Status(string(r.Status)), explain.Duration(r.Duration), warnedText(r)+usageText(r))
}

// printState prints the final state, one field per line. For large values it prints the
// size.
func (a *app) printState(out io.Writer, p *plan.Plan, state *value.Object) {
	if state.Len() == 0 {
		return
	}
	t := tty.NewTable([]string{"state", "value"})
	for name, v := range state.All() {
		i, ok := p.Schema.Index(name)
		t.Row(name, valueText(v, ok && p.Schema.Fields[i].IsStream()))
	}
	tty.Fprintf(out, "\n")
	a.printTable(out, t)
}

// maxValueLen limits the characters of a value in a summary.
const maxValueLen = 60

// valueText formats a value of a summary. The value of a stream describes it, and includes
// the number of rows after all of them have been read.
func valueText(v any, stream bool) tty.Styled {
	if c, err := value.Canonical(v); err == nil {
		v = c
	}
	text := value.JSON(v)
	if list, ok := v.([]any); ok && len(text) > maxValueLen {
		return tty.Safe(plural(len(list), "element"))
	}
	if o, ok := v.(*value.Object); ok && len(text) > maxValueLen {
		if !stream {
			return tty.Safe(plural(o.Len(), "member"))
		}
		if n, ok := o.Get(core.RowCount); ok {
			if n, ok := n.(int64); ok {
				return tty.Safe(plural(int(n), "row"))
			}
		}
		return tty.Safe("a stream that was not read to its end")
	}
	return tty.Cut(tty.Safe(text), maxValueLen)
}

// standing has what the nodes of a paused run wait for: a question, or one that is asked later. It is empty
// for other runs.
type standing struct {
	paused bool
	of     map[string]string
}

// Statuses of nodes that have not ended.
const (
	statusWaiting = "waiting"          // for a person
	statusLater   = "waiting (queued)" // for a person, after other questions
	statusToken   = "queued"           // a token of a paused flow
	statusNotRun  = "not run"          // a token of a flow that has ended
)

func standingOf(r *core.Report) standing {
	s := standing{paused: r.Status == core.RunPaused, of: map[string]string{}}
	if p, ok := errors.AsType[*core.PausedError](r.Err); ok {
		for _, q := range p.Queued {
			s.of[q.Node] = statusLater
		}
		for _, q := range p.Questions {
			s.of[q.Node] = statusWaiting
		}
	}
	return s
}

// status returns the status of a node. In a run that is paused, a node that has begun and not ended waits
// for people.
func (s standing) status(n *core.NodeReport) string {
	switch {
	case s.of[n.ID] != "":
		return s.of[n.ID]
	case n.Status != core.StatusNone:
	case n.Attempts > 0:
		return statusWaiting
	case n.Visits > 0 && s.paused:
		return statusToken
	case n.Visits > 0:
		return statusNotRun
	}
	return statusText(n.Status)
}

func statusText(s core.Status) string {
	if s == core.StatusNone {
		return "not reached"
	}
	return s.String()
}

// itemsText counts the items of a fan-out or the rows of a pipeline, and how many of them
// failed. It is "" for a plain node.
func itemsText(n *core.NodeReport) string {
	switch {
	case n.Failed > 0 && n.Items > 1:
		return fmt.Sprintf("%d (%d failed)", n.Items, n.Failed)
	case n.Items == 1 && n.Attempts > 0 && n.Failed == 0:
		return ""
	}
	return countText(n.Items)
}

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func timeText(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return explain.Duration(d)
}

// whyText explains a status other than success, and shows the note of a node that succeeded.
func whyText(n *core.NodeReport) string {
	switch {
	case n.Failure != nil && n.Handled && (n.Visits == 0 || n.Failure.Class != core.ClassCanceled): // a cancelled branch did not itself fail
		return n.Failure.Message + " (handled)"
	case n.Failure != nil:
		return n.Failure.Message
	case n.Reason != "":
		return n.Reason
	}
	return n.Note
}

// unitText describes how a pipeline or loop ended, "" if it has processed all rows.
func unitText(u *core.UnitReport) string {
	switch u.Reason {
	case "rows":
		return ""
	case "until":
		return "its condition became true"
	case "max_iters":
		return "it reached its cap of rounds"
	}
	return u.Reason
}

// runJSON is the JSON form of the report of a run.
type runJSON struct {
	Run      string         `json:"run"`
	Workflow string         `json:"workflow"`
	Status   core.RunStatus `json:"status"`
	Error    string         `json:"error,omitempty"`
	// Class is the class of the failure that ended the run. For a walk it is the reason why the
	// walk could not continue.
	Class    string        `json:"class,omitempty"`
	Path     []string      `json:"path,omitempty"`  // of a walk
	Ended    string        `json:"ended,omitempty"` // why a walk that a model routes ended at its last node
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration_ns"`
	State    *value.Object `json:"state,omitempty"`
	Nodes    []nodeJSON    `json:"nodes"`
	Units    []unitJSON    `json:"units,omitempty"`
	Usage    *core.Usage   `json:"usage,omitempty"` // of all calls of models
	// Warnings holds at most 100 distinct warnings of nodes. Warned counts all warnings.
	Warnings []core.NodeWarning `json:"warnings,omitempty"`
	Warned   int64              `json:"warned,omitempty"`
}

type nodeJSON struct {
	ID       string        `json:"id"`
	Status   core.Status   `json:"status"`
	Reason   string        `json:"reason,omitempty"`
	Cause    string        `json:"cause,omitempty"`
	Failure  *core.Failure `json:"failure,omitempty"`
	Handled  bool          `json:"handled,omitempty"`
	Visits   int           `json:"visits,omitempty"` // of a walk
	Attempts int           `json:"attempts"`
	Items    int           `json:"items"`
	Failed   int           `json:"failed,omitempty"`
	Started  time.Duration `json:"started_ns"`
	Duration time.Duration `json:"duration_ns"`
	Output   any           `json:"output,omitempty"`
	Note     string        `json:"note,omitempty"`
	Usage    *core.Usage   `json:"usage,omitempty"`
}

type unitJSON struct {
	ID     string      `json:"id"`
	Status core.Status `json:"status"`
	Rows   int         `json:"rows"`
	Reason string      `json:"reason,omitempty"`
}

func reportJSON(r *core.Report) runJSON {
	out := runJSON{Run: r.Run, Workflow: r.Workflow, Status: r.Status, Path: r.Path, Started: r.Started, Duration: r.Duration, State: r.State, Nodes: []nodeJSON{},
		Warnings: r.Warnings, Warned: r.Warned}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	if r.Path != nil {
		out.Class = failureClass(r)
	}
	for _, n := range r.Nodes() {
		j := nodeJSON{n.ID, n.Status, n.Reason, n.Cause, n.Failure, n.Handled, n.Visits, n.Attempts, n.Items, n.Failed, n.Started, n.Duration, nil, n.Note, usageJSON(n.Usage)}
		if !value.IsMissing(n.Output) {
			j.Output = n.Output
		}
		out.Nodes = append(out.Nodes, j)
	}
	for _, u := range r.Units() {
		out.Units = append(out.Units, unitJSON(u))
	}
	out.Usage = usageJSON(r.Usage)
	return out
}

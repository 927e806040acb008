// Package runview is the model of a run in progress: the state and progress of each node
// and unit of the graph. The run's events update it, and it has no clock. A terminal or the
// page of a server displays it.
package runview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/internal/progress"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Model is the state of a run. It is not safe for concurrent use.
type Model struct {
	Name string
	// Rows lists the nodes and units of the root graph in plan order. In a mode that visits
	// nodes, they are in the order of their first visits, and a branch is a child of its
	// parallel node.
	Rows    []*Row
	Total   int  // nodes of the root graph
	Visited bool // in this mode nodes are visited, and have rows from their first visit on
	Visits  int  // of all rows
	Usage   core.Usage
	Started time.Time
	Status  string // of the run, "" until it has ended
	nodes   map[string]*Row
	units   map[string]*Row
}

// State is the state of a row.
type State uint8

// States of rows. Succeeded and the states after it are final.
const (
	Waiting State = iota
	Running
	Backoff // between two attempts
	Succeeded
	PartlySucceeded
	Failed
	Skipped
)

// Over reports whether the state is final.
func (s State) Over() bool { return s >= Succeeded }

// Row is a node or unit, and the nodes inside it.
type Row struct {
	ID       string
	Shape    string // as plan.Shape formats it
	State    State
	Started  time.Time
	Took     time.Duration
	Text     string // reason, error or note
	Entry    string // of a flow: the last entry of the log about the visit
	Total    int    // items or rows, -1 if unknown
	Done     int    // items, rows or rounds that have ended
	Failed   int    // failures among Done
	Handled  bool   // the failure of the node does not fail the run
	Rounds   int    // limit of a loop
	Visits   int    // of a node that is visited
	Latest   int    // number of its last visit among all visits of the run
	Progress progress.Estimator
	// Parent is the unit, nested workflow or parallel node that contains the row, or nil if
	// there is none.
	Parent   *Row
	Children []*Row
	// handed is the number of items of a stream that have been handed over so far; they
	// come from the first read of its size bytes.
	handed, read, size int64
}

// New returns the model of a run that has not begun.
func New(d *plan.Description) *Model {
	m := &Model{Name: d.Name, nodes: map[string]*Row{}, units: map[string]*Row{}}
	m.Rows = m.graph(d, "", nil)
	if m.Visited = d.Mode.Visits; m.Visited {
		m.Rows = nil // rows are added as nodes are visited
	}
	for _, level := range d.Levels {
		for i := range level {
			m.Total += len(level[i].Nodes)
		}
	}
	return m
}

// maxNested limits the rows of nested workflows: the inner nodes of a workflow that
// includes more runs are not shown.
const maxNested = 1000

// graph returns the rows of a graph whose nodes have paths that begin with prefix.
func (m *Model) graph(d *plan.Description, prefix string, parent *Row) []*Row {
	var rows []*Row
	for _, level := range d.Levels {
		for i := range level {
			v := &level[i]
			r := &Row{ID: v.ID, Shape: v.Shape, Total: -1, Rounds: v.MaxIters, Parent: parent}
			if v.Shape == plan.Pipeline.String() || v.Shape == plan.Loop.String() {
				m.units[prefix+v.ID] = r
				for j := range v.Nodes {
					member := &Row{ID: v.Nodes[j].ID, Shape: plan.Plain.String(), Total: -1, Parent: r}
					m.nodes[prefix+member.ID] = member
					r.Children = append(r.Children, member)
				}
			} else {
				m.nodes[prefix+v.ID] = r
				// The inner graphs of a fan-out have indexes in their paths and are shown
				// only as its items.
				if inner := v.Nodes[0].Inner; inner != nil && inner.Nested < maxNested && v.Shape == plan.Plain.String() {
					r.Children = m.graph(inner, prefix+v.ID+"/", r)
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Apply updates the model with an event.
func (m *Model) Apply(e *core.Event) {
	switch e.Type {
	case core.RunStarted:
		m.Started = e.Time
		return
	case core.RunFinished:
		m.Status = e.Status
		return
	}
	r := m.nodes[e.Node]
	if e.Node == "" {
		r = m.units[e.Unit]
	}
	if r == nil {
		return
	}
	switch e.Type {
	case core.NodeStarted, core.ItemStarted:
		if e.Visit > r.Visits {
			m.visit(r, e)
		}
		r.start(e)
	case core.FlowLogged:
		m.logged(r, e)
	case core.NodeAsked:
		r.Text = "asks: " + e.Reason
	case core.NodeAnswered:
		if e.Label != "" { // in a flow, the answer takes effect when nothing runs any more
			r.Text = "answered: " + e.Label
		}
	case core.JoinDecided:
		r.Text = e.Reason
	case core.ModelAsked, core.ModelAnswered, core.ToolCalled, core.EdgeChosen:
		m.model(r, e)
	case core.NodeRetrying:
		r.retry(e)
	case core.ItemFinished, core.ItemFailed:
		m.item(r, e)
	case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.UnitFinished:
		r.end(e)
	case core.NodeHandled:
		r.Handled = true
	case core.Progress:
		r.progress(e)
	}
}

// model records a call of a model, or of a tool that it requested, and the result.
func (m *Model) model(r *Row, e *core.Event) {
	if e.Usage != nil {
		m.Usage = m.Usage.Plus(*e.Usage)
	}
	if e.Item != 0 || e.Unit != "" {
		return // there are many at once
	}
	switch e.Type {
	case core.ModelAsked:
		r.Text = "asks a model"
		if e.Purpose == "route" {
			r.Text = "a model picks the way"
		} else if e.Turn > 1 {
			r.Text += fmt.Sprintf(", turn %d", e.Turn)
		}
	case core.ModelAnswered:
		r.Text = e.Reason
	case core.ToolCalled:
		r.Text = strings.TrimSuffix("called "+e.Tool+": "+e.Reason, ": ")
	case core.EdgeChosen:
		switch e.Step {
		case core.StepToken:
			if e.Reason != "" {
				r.Text = "then " + e.To + ": " + e.Reason
			}
		case core.StepModel, core.StepFallback, core.StepNone, core.StepDryRun:
			r.Text = "then " + e.To + ": " + e.Reason
		}
	}
}

// logged shows an entry of the log of a flow. The first entry about an approval that is asked later comes
// before its visit begins.
func (m *Model) logged(r *Row, e *core.Event) {
	if e.Visit > r.Visits {
		m.visit(r, e)
		r.State, r.Text = Waiting, "asked later"
		return
	}
	if e.Step != core.LogStepStart && e.Visit == r.Visits {
		r.Entry = explain.EntryOf(e).String()
		r.Text = r.Entry
	}
}

// visit records the start of another visit of a node of a walk. The first visit adds the
// row of the node: below its parallel node if it is a branch.
func (m *Model) visit(r *Row, e *core.Event) {
	r.Started, r.Visits, r.Handled, r.Entry = time.Time{}, e.Visit, false, ""
	if r != m.rootRow(e) {
		return
	}
	m.Visits++
	if r.Latest == 0 {
		if fork := m.nodes[e.Unit]; e.Unit != "" && fork != nil {
			r.Parent = fork
			fork.Children = append(fork.Children, r)
		} else {
			m.Rows = append(m.Rows, r)
		}
	}
	r.Latest = m.Visits
}

// rootRow returns the row of an event that belongs to a walk at the root, nil otherwise.
func (m *Model) rootRow(e *core.Event) *Row {
	if !m.Visited || strings.Contains(e.Node, "/") {
		return nil
	}
	return m.nodes[e.Node]
}

// progress records the progress of a node. It ignores events about a single item: the
// progress of a fan-out or pipeline is the number of its ended items, and its own events
// give the amount of input read.
func (r *Row) progress(e *core.Event) {
	if e.Item > 0 {
		return
	}
	if r.Shape != plan.Plain.String() {
		r.handed, r.read, r.size = e.Done, e.Read, e.Size
		r.input(e.Time)
		return
	}
	r.Progress.Step(e.Time, e.Done, e.Of)
	if e.Size > 0 {
		r.Progress.Input(e.Time, e.Read, e.Size)
	}
}

// input records how much of the input the ended items account for.
func (r *Row) input(at time.Time) {
	if r.size > 0 && r.handed > 0 {
		done := float64(r.read) * min(1, float64(r.Done)/float64(r.handed))
		r.Progress.Input(at, int64(done), r.size)
	}
}

// step records the end of one more item.
func (r *Row) step(e *core.Event) {
	r.Done++
	r.Progress.Step(e.Time, int64(r.Done), int64(max(r.Total, 0)))
	r.input(e.Time)
}

func (r *Row) start(e *core.Event) {
	if r.Started.IsZero() {
		r.Started = e.Time
	}
	if n, ok := e.Total.Get(); ok {
		r.Total = n
	}
	if e.Type == core.NodeStarted || r.Parent != nil {
		r.State, r.Text = Running, ""
	}
	if e.Type == core.NodeStarted {
		r.Progress = progress.Estimator{}
		r.Progress.Step(e.Time, 0, int64(max(r.Total, 0)))
	}
}

func (r *Row) retry(e *core.Event) {
	if e.Item == 0 {
		r.State = Backoff
	}
	r.Text = "retry in " + e.Delay.String()
	if e.Error != nil {
		r.Text += ": " + e.Error.Message
	} else {
		r.Text += ": " + e.Reason
	}
}

// item counts an item of a fan-out, or a row or round of a unit, which has ended with its
// last member or with a failure.
func (m *Model) item(r *Row, e *core.Event) {
	r.step(e)
	if e.Type == core.ItemFailed {
		r.Failed++
		if e.Error != nil {
			r.Text = e.Error.Message
		}
	}
	unit := m.units[e.Unit]
	if unit == nil {
		return
	}
	r.Took += e.Duration
	r.State = Waiting
	if r.Failed > 0 {
		r.State = Failed
	}
	if e.Type == core.ItemFailed {
		unit.Failed++
		unit.step(e)
	} else if r == unit.Children[len(unit.Children)-1] {
		unit.step(e)
	}
}

func (r *Row) end(e *core.Event) {
	r.Took, r.Text = e.Duration, cmp.Or(e.Reason, r.Entry)
	if n, ok := e.Total.Get(); ok && r.Shape != plan.Loop.String() {
		r.Total = n
	}
	if e.Error != nil {
		r.Text = e.Error.Message
	}
	switch e.Status {
	case core.Success.String():
		if r.State = Succeeded; e.Type == core.UnitFinished {
			r.Text = "" // shown only if the loop did not end well
		}
	case core.PartialSuccess.String():
		r.State = PartlySucceeded
	case core.Skipped.String():
		r.State = Skipped
	default:
		r.State = Failed
		if r.Visits > 0 && e.Error != nil && e.Error.Class == core.ClassCanceled {
			r.Handled = true // a cancelled branch
		}
	}
	for _, c := range r.Children {
		if c.State == Running || c.State == Waiting && c.Done > 0 {
			c.State = r.State
		}
	}
}

// Counts returns the totals of the nodes of the root graph.
func (m *Model) Counts() (done, failed int) {
	for _, r := range m.all() {
		n := 1
		if m.units[r.ID] == r {
			n = len(r.Children)
		}
		if r.State.Over() {
			done += n
		}
		if r.State == Failed && !r.Handled {
			failed++
		}
	}
	return done, failed
}

// all returns the rows of the root graph's nodes and units.
func (m *Model) all() []*Row {
	if !m.Visited {
		return m.Rows
	}
	var list []*Row
	var add func(rows []*Row)
	add = func(rows []*Row) {
		for _, r := range rows {
			if list = append(list, r); r.Visits > 0 {
				add(r.Children)
			}
		}
	}
	add(m.Rows)
	return list
}

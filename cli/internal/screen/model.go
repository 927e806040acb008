// Package screen shows a run on a terminal while it goes on: a tree of the
// graph's nodes with progress bars, redrawn in place.
//
// Model is what is known of the run, fed by its events; Model.Lines draws it for
// a size and a time, as a pure function. Live owns the one goroutine that draws
// again and again, and is waited for by Close.
package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavefold/wavefold/cli/internal/pace"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Model is the state of a run as the screen shows it. It belongs to one
// goroutine at a time.
type Model struct {
	name    string
	rows    []*row // nodes and units of the root graph
	nodes   map[string]*row
	units   map[string]*row
	total   int // nodes of the root graph
	walk    bool
	visits  int // of a walk
	usage   core.Usage
	started time.Time
	status  string // of the run, "" while it goes on
}

// state is how far a row has come.
type state uint8

const (
	waiting state = iota
	running
	backoff
	good
	partial
	bad
	skipped
)

func (s state) over() bool { return s >= good }

// row is a node or unit, and the nodes inside it.
type row struct {
	id      string
	shape   string // as plan.Shape spells it
	state   state
	started time.Time
	took    time.Duration
	text    string // reason, error or note
	total   int    // items or rows, -1 if unknown
	done    int    // items, rows or rounds that ended
	failed  int
	handled bool // its failure does not fail the run
	rounds  int  // cap of a loop
	visits  int  // of a node of a walk
	latest  int  // number of its last visit, among all
	pace    pace.Pace
	// handed is how many items of a stream were handed over so far, which are read of
	// size of it.
	handed, read, size int64
	parent             *row
	children           []*row
}

// NewModel returns the model of a run that has not begun.
func NewModel(d *plan.Description) *Model {
	m := &Model{name: d.Name, nodes: map[string]*row{}, units: map[string]*row{}}
	m.rows = m.graph(d, "", nil)
	if m.walk = d.Walk != nil; m.walk {
		m.rows = nil // they come as they are visited
	}
	for _, level := range d.Levels {
		for i := range level {
			m.total += len(level[i].Nodes)
		}
	}
	return m
}

// maxNested bounds the rows of nested workflows: one that includes more runs is shown
// without the nodes inside of it.
const maxNested = 1000

// graph makes the rows of a graph whose nodes have paths below prefix.
func (m *Model) graph(d *plan.Description, prefix string, parent *row) []*row {
	var rows []*row
	for _, level := range d.Levels {
		for i := range level {
			v := &level[i]
			r := &row{id: v.ID, shape: v.Shape, total: -1, rounds: v.MaxIters, parent: parent}
			if v.Shape == plan.Pipeline.String() || v.Shape == plan.Loop.String() {
				m.units[prefix+v.ID] = r
				for j := range v.Nodes {
					member := &row{id: v.Nodes[j].ID, shape: plan.Plain.String(), total: -1, parent: r}
					m.nodes[prefix+member.id] = member
					r.children = append(r.children, member)
				}
			} else {
				m.nodes[prefix+v.ID] = r
				// The inner graphs of a fan-out have indexes in their paths and
				// are shown as its items only.
				if inner := v.Nodes[0].Inner; inner != nil && inner.Nested < maxNested && v.Shape == plan.Plain.String() {
					r.children = m.graph(inner, prefix+v.ID+"/", r)
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Apply takes in an event.
func (m *Model) Apply(e *core.Event) {
	switch e.Type {
	case core.RunStarted:
		m.started = e.Time
		return
	case core.RunFinished:
		m.status = e.Status
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
		if e.Visit > r.visits {
			m.visit(r, e)
		}
		r.start(e)
	case core.NodeAsked:
		r.text = "asks: " + e.Reason
	case core.JoinDecided:
		r.text = e.Reason
	case core.ModelAsked, core.ModelAnswered, core.ToolCalled, core.EdgeChosen:
		m.model(r, e)
	case core.NodeRetrying:
		r.retry(e)
	case core.ItemFinished, core.ItemFailed:
		m.item(r, e)
	case core.NodeFinished, core.NodeFailed, core.NodeSkipped, core.UnitFinished:
		r.end(e)
	case core.NodeHandled:
		r.handled = true
	case core.Progress:
		r.progress(e)
	}
}

// model takes in a call to a model, or of a tool that it asked for, and what came of it.
func (m *Model) model(r *row, e *core.Event) {
	if e.Usage != nil {
		m.usage = m.usage.Plus(*e.Usage)
	}
	if e.Item != 0 || e.Unit != "" {
		return // there are many at once
	}
	switch e.Type {
	case core.ModelAsked:
		r.text = "asks a model"
		if e.Purpose == "route" {
			r.text = "a model picks the way"
		} else if e.Turn > 1 {
			r.text += fmt.Sprintf(", turn %d", e.Turn)
		}
	case core.ModelAnswered:
		r.text = e.Reason
	case core.ToolCalled:
		r.text = strings.TrimSuffix("called "+e.Tool+": "+e.Reason, ": ")
	case core.EdgeChosen:
		switch e.Step {
		case core.StepModel, core.StepFallback, core.StepNone, core.StepDryRun:
			r.text = "then " + e.To + ": " + e.Reason
		}
	}
}

// visit begins another visit of a node of a walk. The first one gives it its row: below
// its parallel node if it is a branch.
func (m *Model) visit(r *row, e *core.Event) {
	r.started, r.visits, r.handled = time.Time{}, e.Visit, false
	if r != m.rootRow(e) {
		return
	}
	m.visits++
	if r.latest == 0 {
		if fork := m.nodes[e.Unit]; e.Unit != "" && fork != nil {
			r.parent = fork
			fork.children = append(fork.children, r)
		} else {
			m.rows = append(m.rows, r)
		}
	}
	r.latest = m.visits
}

// rootRow is the row of an event if it belongs to a walk that is the root graph.
func (m *Model) rootRow(e *core.Event) *row {
	if !m.walk || strings.Contains(e.Node, "/") {
		return nil
	}
	return m.nodes[e.Node]
}

// progress takes in how far a node is. That of a single item is not told; of a fan-out
// or pipeline its items tell how many are done, and its reading how much of a stream
// there is.
func (r *row) progress(e *core.Event) {
	if e.Item > 0 {
		return
	}
	if r.shape != plan.Plain.String() {
		r.handed, r.read, r.size = e.Done, e.Read, e.Size
		r.input(e.Time)
		return
	}
	r.pace.Step(e.Time, e.Done, e.Of)
	if e.Size > 0 {
		r.pace.Input(e.Time, e.Read, e.Size)
	}
}

// input notes how much of a stream the items that ended are.
func (r *row) input(at time.Time) {
	if r.size > 0 && r.handed > 0 {
		done := float64(r.read) * min(1, float64(r.done)/float64(r.handed))
		r.pace.Input(at, int64(done), r.size)
	}
}

// step notes that one more item has ended.
func (r *row) step(e *core.Event) {
	r.done++
	r.pace.Step(e.Time, int64(r.done), int64(max(r.total, 0)))
	r.input(e.Time)
}

func (r *row) start(e *core.Event) {
	if r.started.IsZero() {
		r.started = e.Time
	}
	if n, ok := e.Total.Get(); ok {
		r.total = n
	}
	if e.Type == core.NodeStarted || r.parent != nil {
		r.state, r.text = running, ""
	}
	if e.Type == core.NodeStarted {
		r.pace = pace.Pace{}
		r.pace.Step(e.Time, 0, int64(max(r.total, 0)))
	}
}

func (r *row) retry(e *core.Event) {
	if e.Item == 0 {
		r.state = backoff
	}
	r.text = "retry in " + e.Delay.String()
	if e.Error != nil {
		r.text += ": " + e.Error.Message
	} else {
		r.text += ": " + e.Reason
	}
}

// item counts an item of a fan-out, or a row or round of a unit, which has ended
// with its last member or with a failure.
func (m *Model) item(r *row, e *core.Event) {
	r.step(e)
	if e.Type == core.ItemFailed {
		r.failed++
		if e.Error != nil {
			r.text = e.Error.Message
		}
	}
	unit := m.units[e.Unit]
	if unit == nil {
		return
	}
	r.took += e.Duration
	r.state = waiting
	if r.failed > 0 {
		r.state = bad
	}
	if e.Type == core.ItemFailed {
		unit.failed++
		unit.step(e)
	} else if r == unit.children[len(unit.children)-1] {
		unit.step(e)
	}
}

func (r *row) end(e *core.Event) {
	r.took, r.text = e.Duration, e.Reason
	if n, ok := e.Total.Get(); ok && r.shape != plan.Loop.String() {
		r.total = n
	}
	if e.Error != nil {
		r.text = e.Error.Message
	}
	switch e.Status {
	case core.Success.String():
		if r.state = good; e.Type == core.UnitFinished {
			r.text = "" // how a loop ended is told when it did not end well
		}
	case core.PartialSuccess.String():
		r.state = partial
	case core.Skipped.String():
		r.state = skipped
	default:
		r.state = bad
		if r.visits > 0 && e.Error != nil && e.Error.Class == core.ClassCanceled {
			r.handled = true // a branch that was given up
		}
	}
	for _, c := range r.children {
		if c.state == running || c.state == waiting && c.done > 0 {
			c.state = r.state
		}
	}
}

// counts sums up the nodes of the root graph.
func (m *Model) counts() (done, failed int) {
	for _, r := range m.all() {
		n := 1
		if m.units[r.id] == r {
			n = len(r.children)
		}
		if r.state.over() {
			done += n
		}
		if r.state == bad && !r.handled {
			failed++
		}
	}
	return done, failed
}

// all returns the rows of the root graph's nodes and units.
func (m *Model) all() []*row {
	if !m.walk {
		return m.rows
	}
	var list []*row
	var add func(rows []*row)
	add = func(rows []*row) {
		for _, r := range rows {
			if list = append(list, r); r.visits > 0 {
				add(r.children)
			}
		}
	}
	add(m.rows)
	return list
}

// label is what a row is called.
func (r *row) label() tty.Styled {
	id := tty.Safe(r.id)
	switch r.shape {
	case plan.FanOut.String():
		return id + " ⇉"
	case plan.Pipeline.String():
		return id + " ⇶"
	case plan.Loop.String():
		return id + " ↻"
	}
	if r.visits > 1 {
		return tty.Sprintf("%s ×%d", id, r.visits)
	}
	return id
}

// visible lists the rows to show with their depths: of a unit or nested workflow
// the inside too while it runs, or if it failed.
func (m *Model) visible() (list []placed) {
	var add func(rows []*row, depth int, branches string)
	add = func(rows []*row, depth int, branches string) {
		for i, r := range rows {
			branch, below := "├─ ", "│  "
			if i == len(rows)-1 {
				branch, below = "└─ ", "   "
			}
			list = append(list, placed{r, branches + branch})
			if r.state == running || r.state == bad {
				add(r.children, depth+1, branches+below)
			}
		}
	}
	add(m.rows, 0, "")
	return list
}

// placed is a row with the lines of the tree before it.
type placed struct {
	*row
	branch string
}

// firstLine is the first line of a message.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

package rehearse

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Total is the key of Record.Peak for all nodes together.
const Total = mock.Total

// Record describes a rehearsal. Nodes of nested workflows are named by path without the
// indexes of items: "outer/inner".
type Record struct {
	Report *core.Report
	// Events are all events of the run; their times start in 1970.
	Events []core.Event
	// Trace lists the executions in the order of their starts: an item, a row or a round is
	// one execution, whatever the number of its attempts.
	Trace []Execution
	// Runs counts the executions of each node, Attempts all their attempts.
	Runs     map[string]int
	Attempts map[string]int
	// Peak is the maximum number of executions of user code in flight, by node and in
	// Total.
	Peak map[string]int
	// Calls counts the routing decisions of a model, by node and in Total.
	Calls map[string]int
	// Status holds the status of each node and unit; those never reached are absent.
	Status map[string]core.Status

	plan      *plan.Plan
	file      *mock.File
	flying    map[string]int
	explained *explain.Run
	// questions holds the last question of each gate.
	questions map[string]string
	// unscripted lists the decisions without an answer in the file.
	unscripted []Miss
	// calls and routes have counted which answers of the file were used; nil in a dry run.
	calls  *script[mock.Answer]
	routes *script[mock.Route]
	// endless is the cycle that a walk did not leave, nil if there is none.
	endless *cycle
}

// Execution is one execution of a node.
type Execution struct {
	Node string
	// Index is the item or row, Round the round of a loop.
	Index core.Ordinal
	Round core.Ordinal
}

// String returns the node's id, with "#" and the index of an item, row or round.
func (e Execution) String() string {
	if i, ok := max(e.Index, e.Round).Get(); ok {
		return e.Node + "#" + strconv.Itoa(i)
	}
	return e.Node
}

func newRecord(p *plan.Plan, f *mock.File) *Record {
	return &Record{plan: p, file: f, Runs: map[string]int{}, Attempts: map[string]int{}, Peak: map[string]int{}, Calls: map[string]int{}, questions: map[string]string{}, Status: map[string]core.Status{}, flying: map[string]int{}}
}

func (r *Record) started(node string) {
	for _, key := range []string{node, Total} {
		r.flying[key]++
		r.Peak[key] = max(r.Peak[key], r.flying[key])
	}
}

func (r *Record) ended(node string) {
	r.flying[node]--
	r.flying[Total]--
}

func (r *Record) event(e *core.Event) {
	r.Events = append(r.Events, *e)
	if e.Type == core.NodeStarted && e.Visit > MaxVisits && r.endless == nil {
		r.endless = r.cycleOf(e)
	}
	node := withoutIndexes(e.Node)
	switch {
	case e.Type == core.ItemStarted, e.Type == core.NodeStarted && node != "" && e.Total == 0:
		r.Attempts[node]++
		if e.Attempt == 1 {
			r.Runs[node]++
			r.Trace = append(r.Trace, Execution{Node: node, Index: e.Item, Round: e.Round})
		}
	case e.Type == core.NodeFinished, e.Type == core.NodeFailed, e.Type == core.NodeSkipped:
		r.status(node, e)
	case e.Type == core.UnitFinished:
		r.status(withoutIndexes(e.Unit), e)
	case e.Unit != "" && (e.Type == core.ItemFinished || e.Type == core.ItemFailed):
		if r.Status[node] != core.Fail { // one failed row makes the member fail
			r.status(node, e)
		}
	}
}

func (r *Record) status(id string, e *core.Event) {
	s := r.Status[id]
	if err := s.UnmarshalText([]byte(e.Status)); err != nil {
		return
	}
	r.Status[id] = s
}

// chosen explains why a walk went to the node at an index of its path, "" if the reason is
// unknown.
func (r *Record) chosen(place int) string {
	if place == 0 || place >= len(r.Report.Path) {
		return ""
	}
	at := 0
	for i := range r.Events {
		if e := &r.Events[i]; e.Type == core.EdgeChosen && !strings.Contains(e.Node, "/") && e.Step != core.StepGoalGate {
			if at++; at == place {
				return fmt.Sprintf("; from %s by %s: %s", e.From, e.Step, e.Reason)
			}
		}
	}
	return ""
}

// why explains how a node or unit ended, "" if there is nothing to explain.
func (r *Record) why(id string) string {
	for _, path := range r.explained.Nodes() {
		if withoutIndexes(path) == id {
			a, _ := r.explained.Account(path)
			return r.explained.Brief(a)
		}
	}
	return ""
}

// unwritten explains why a field lacks a value that a node without an answer would have
// written, "" if that is not the reason.
func (r *Record) unwritten(field string) string {
	for i := range r.plan.Nodes {
		n := &r.plan.Nodes[i]
		if r.Runs[n.ID] == 0 || n.Frame != nil || !slices.Contains(source.Strings(n.Decl.Writes), field) {
			continue
		}
		if !answersWhere(r.file, func(path string) bool { return path == n.ID }) {
			return n.ID + ", which writes it, has no answer in the file; nothing is executed in a test"
		}
	}
	return ""
}

// finish takes the statuses of the root graph from the report, which has more information
// about members of units than single events have.
func (r *Record) finish() {
	if stopped, ok := errors.AsType[*core.CancelError](r.Report.Err); ok && r.endless != nil {
		stopped.Cause = r.endless
	}
	r.explained = explain.New(r.Events)
	for _, n := range r.Report.Nodes() {
		if n.Status == core.StatusNone {
			delete(r.Status, n.ID)
			continue
		}
		r.Status[n.ID] = n.Status
	}
	for _, u := range r.Report.Units() {
		if u.Status != core.StatusNone {
			r.Status[u.ID] = u.Status
		}
	}
}

// nodePath returns the path of the node of a command.
func nodePath(c *machine.Command) string {
	if c.Call == nil || c.Call.Path == "" {
		return c.Node.ID
	}
	return withoutIndexes(c.Call.Path) + "/" + c.Node.ID
}

// callOf returns the item, row, round or visit of a command.
func callOf(c *machine.Command, node string) call {
	at := call{node: node}
	switch {
	case c.Call != nil && c.Call.Visit > 0:
		at.visit = c.Call.Visit
	case c.ID.To > 0:
		at.item = core.Nth(int(c.ID.From))
	}
	return at
}

// withoutIndexes turns "outer[3]/inner" into "outer/inner".
func withoutIndexes(path string) string {
	for {
		from := strings.IndexByte(path, '[')
		if from < 0 {
			return path
		}
		to := strings.IndexByte(path[from:], ']')
		if to < 0 {
			return path
		}
		path = path[:from] + path[from+to+1:]
	}
}

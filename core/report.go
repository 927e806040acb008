package core

import "time"

import (
	"github.com/wavefold/wavefold/core/value"
)

// Report is the outcome of a run. It is complete and immutable once Run
// returned.
type Report struct {
	Run      string
	Workflow string
	Status   RunStatus
	Started  time.Time
	Duration time.Duration
	// State is the final state in declared field order; fields without a value
	// are absent. Values of typed fields are the Go values themselves.
	State *value.Object
	// Nodes lists the results of the root graph's nodes in canonical order,
	// Units those of its pipelines and loops. The lists are made anew by each
	// call.
	Nodes func() []NodeReport
	Units func() []UnitReport
	// Path lists the nodes that a walk visited, in order, without the branches of parallel
	// nodes; nil for a dag.
	Path []string
	// Usage is what the calls to models took that nodes and decisions on the way made.
	Usage Usage
	// Warnings lists what the nodes warned of, sorted by node and text: at most 100 different
	// ones, of which Warned counts all.
	Warnings []NodeWarning
	Warned   int64
	// Err is the error of a failed or cancelled run, nil otherwise.
	Err error
}

// NodeWarning is what a node of the run warned of, in one attempt or several.
type NodeWarning struct {
	Node  string `json:"node"`
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// NodeReport tells how one node ended.
type NodeReport struct {
	ID     string
	Status Status
	// Reason and Cause explain a skip; Failure a fail. Of a success or partial success
	// that only a setting of the node made one, Reason says which, and why.
	Reason  string
	Cause   string
	Failure *Failure
	// Handled is set when the failure was tolerated by an explicit policy or
	// handled by an on: fail edge with handles: true.
	Handled  bool
	Visits   int           // in a walk; the status is that of the last one
	Attempts int           // of all its items together
	Items    int           // items or executions, 1 for a plain node that ran
	Failed   int           // items that failed
	Started  time.Duration // since the start of the run
	Duration time.Duration
	// Output is what it sent along its edges, Missing for nothing.
	Output any
	Note   string
	// Usage is what its calls to models took, the decisions on where to go on from it
	// included.
	Usage Usage
}

// UnitReport tells how a pipeline or loop ended.
type UnitReport struct {
	ID     string
	Status Status
	Rows   int // rows or rounds done
	// Reason is "rows", "until", "max_iters", "failed", "cancelled" or why it was skipped.
	Reason string
}

// Node returns the report of a node.
func (r *Report) Node(id string) (NodeReport, bool) {
	for _, n := range r.Nodes() {
		if n.ID == id {
			return n, true
		}
	}
	return NodeReport{}, false
}

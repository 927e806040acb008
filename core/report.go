package core

import "time"

import (
	"github.com/wavefold/wavefold/core/value"
)

// Report is the outcome of a run. It is complete and immutable when Run has returned.
type Report struct {
	Run      string
	Workflow string
	Status   RunStatus
	Started  time.Time
	Duration time.Duration
	// State is the final state in declared field order; fields without a value are absent.
	// Values of typed fields are Go values of their types.
	State *value.Object
	// Nodes returns the results of the root graph's nodes in canonical order, and Units
	// the results of its pipelines and loops. Each call creates a new list.
	Nodes func() []NodeReport
	Units func() []UnitReport
	// Path lists the nodes that a walk visited, in order, without the branches of parallel
	// nodes. It is nil for a dag.
	Path []string
	// Usage is the usage of the model calls that nodes and routing decisions made.
	Usage Usage
	// Warnings lists warnings of the nodes, sorted by node and text: at most 100 different
	// ones. Warned counts all of them.
	Warnings []NodeWarning
	Warned   int64
	// Err is the error of a failed or cancelled run, and nil otherwise.
	Err error
}

// NodeWarning is a warning that a node logged, in one attempt or several.
type NodeWarning struct {
	Node  string `json:"node"`
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// NodeReport describes how one node ended.
type NodeReport struct {
	ID     string
	Status Status
	// Reason and Cause explain a skip, Failure a failure. If a success or partial success is
	// due to a setting of the node, Reason names the setting and the reason. If the result
	// was taken from an earlier run, Reason begins with CachedReason.
	Reason  string
	Cause   string
	Failure *Failure
	// Handled is set when the failure was tolerated by an explicit policy or
	// handled by an on: fail edge with handles: true.
	Handled  bool
	Visits   int           // in a walk; the last visit determines the status
	Attempts int           // of all items together; an execution with a result of an earlier run has none
	Items    int           // items or executions, 1 for a plain node that ran
	Failed   int           // items that failed
	Started  time.Duration // since the start of the run
	Duration time.Duration
	// Output is the value that the node sent along its edges, or Missing if it sent none.
	Output any
	Note   string
	// Usage is the usage of its model calls, including the calls that chose the next node.
	Usage Usage
}

// UnitReport describes how a pipeline or loop ended.
type UnitReport struct {
	ID     string
	Status Status
	Rows   int // number of rows or rounds that ran
	// Reason is "rows", "until", "max_iters", "failed", "cancelled" or the reason for a
	// skip.
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

package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Rule is the name of a rule that a log is checked against.
type Rule string

// Rules in the order of the function Rules.
const (
	Sequence  Rule = "sequence"
	Lifecycle Rule = "lifecycle"
	Order     Rule = "order"
	Limits    Rule = "limits"
	Retries   Rule = "retries"
	Parts     Rule = "parts"
	Skips     Rule = "skips"
	Routes    Rule = "routes"
	Writes    Rule = "writes"
	State     Rule = "state"
	Statuses  Rule = "statuses"
)

// Rules returns every rule and what it requires.
func Rules() []About {
	return []About{
		{Sequence, "events are numbered without gaps, apart from log and progress, from the begin of the run to its end"},
		{Lifecycle, "what begins was ready, and ends once; nothing follows its end"},
		{Order, "nothing begins before what it depends on is resolved: edges, $nodes, writers of what it reads"},
		{Limits, "never more in flight than the limits of the run, of fan-outs and of pipelines allow"},
		{Retries, "attempts count from 1 up to what the policy allows, with the delays it demands"},
		{Parts, "every item, row and round is there once, stages and rounds in order, up to max_iters"},
		{Skips, "skips and handled failures follow from the conditions and from how the predecessors ended"},
		{Routes, "a walk follows its edges, by the steps in their order; joins and goal gates decide as they must; tokens of a flow move along edges"},
		{Writes, "only declared fields are written, by what ends well, in canonical order, set_once fields once"},
		{State, "the final state has what its writes can have left"},
		{Statuses, "the ends of nodes, units and the run agree with what happened in them"},
	}
}

// About describes a rule.
type About struct {
	Rule  Rule   `json:"rule"`
	About string `json:"about"`
}

// Violation is a violation of a rule.
type Violation struct {
	Line int       `json:"line"`
	Seq  int64     `json:"seq"`
	Time time.Time `json:"ts,omitzero"`
	// Node is the path of the node, pipeline or loop; empty for the run.
	Node    string       `json:"node,omitempty"`
	Item    core.Ordinal `json:"item,omitzero"`
	Round   core.Ordinal `json:"round,omitzero"`
	Attempt int          `json:"attempt,omitempty"`
	Rule    Rule         `json:"rule"`
	Message string       `json:"message"`
}

// String formats the violation on one line.
func (v Violation) String() string {
	who := v.Node
	if i, ok := v.Item.Get(); ok {
		who += fmt.Sprintf("[%d]", i)
	}
	if i, ok := v.Round.Get(); ok {
		who += fmt.Sprintf(" round %d", i)
	}
	if who != "" {
		who += ": "
	}
	return fmt.Sprintf("line %d: %s%s: %s", v.Line, who, v.Rule, v.Message)
}

// Unchecked is a rule, or a part of one, that could not be checked because the log
// lacks information.
type Unchecked struct {
	Rule Rule   `json:"rule"`
	Why  string `json:"why"`
}

// Report is the result of a check.
type Report struct {
	Workflow string `json:"workflow"`
	Run      string `json:"run"`
	// Status is the status of the run, empty if the log ends before the run.
	Status string `json:"status"`
	// Started is the time of the first event.
	Started time.Time `json:"started,omitzero"`
	Events  int       `json:"events"`
	// Nodes is the number of nodes that ended or were skipped. Nodes of nested runs are
	// counted once for each run.
	Nodes      int         `json:"nodes"`
	Rules      []About     `json:"rules"`
	Unchecked  []Unchecked `json:"unchecked"`
	Violations []Violation `json:"violations"`
}

// Of returns the violations of a rule.
func (r *Report) Of(rule Rule) []Violation {
	return slices.DeleteFunc(slices.Clone(r.Violations), func(v Violation) bool { return v.Rule != rule })
}

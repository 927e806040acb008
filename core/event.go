package core

import "time"

import (
	"github.com/wavefold/wavefold/core/value"
)

// EventType names what happened. The full vocabulary is below; documents and
// logs use these words.
type EventType string

// Event types.
const (
	RunStarted  EventType = "run.started"
	RunFinished EventType = "run.finished"

	// SourcesResolved tells, once in a run of a walk that a model routes, which texts its
	// nodes work with: Values has the sources.
	SourcesResolved EventType = "sources.resolved"

	NodeReady     EventType = "node.ready"    // all it waits for is there; it may wait for a slot
	NodeStarted   EventType = "node.started"  // an attempt begins
	NodeRetrying  EventType = "node.retrying" // an attempt failed or asked for another, which follows after Delay
	NodeFinished  EventType = "node.finished" // the node ended with a success
	NodeFailed    EventType = "node.failed"   // the node ended with a failure
	NodeHandled   EventType = "node.handled"  // its failure is tolerated by its policy, or an on: fail edge with handles: true handled it
	NodeSkipped   EventType = "node.skipped"
	NodeAsked     EventType = "node.asked"     // a human gate asks; Reason is the question, Values has the choices
	ModelAsked    EventType = "model.asked"    // a model is called for the node; Purpose says what for
	ModelAnswered EventType = "model.answered" // it has answered, with Usage; or Reason says why not
	ToolCalled    EventType = "tool.called"    // a tool that a model asked for was called; Reason says why it failed
	NodeAnswered  EventType = "node.answered"  // it was answered: Label and To are those of the choice; or Reason says why not

	ItemStarted  EventType = "item.started"  // an attempt for one item, stage execution or round
	ItemFinished EventType = "item.finished" // it ended with a success
	ItemFailed   EventType = "item.failed"   // it ended with a failure

	EdgeJudged   EventType = "edge.judged"   // a condition was evaluated
	EdgeChosen   EventType = "edge.chosen"   // a walk goes on along an edge, or jumps; Step and Reason say why
	JoinDecided  EventType = "join.decided"  // which predecessors or branches a join takes; Reason says why
	StateWritten EventType = "state.written" // a field got a value
	UnitFinished EventType = "unit.finished" // a pipeline or loop ended; Reason says how

	LogLine  EventType = "log"      // a record of a node's logger
	Progress EventType = "progress" // a node reports how far it is; never part of a comparison
)

// Steps by which a walk goes on.
const (
	StepCondition      = "condition"       // the condition of the edge is true
	StepPreferredLabel = "preferred_label" // the node prefers the label of the edge
	StepSuggestedNext  = "suggested_next"  // the node suggests the target of the edge
	StepUnconditional  = "unconditional"   // the edge has no condition
	StepRandom         = "random"          // the edge was drawn, by weight
	StepJump           = "jump"            // the branches of a parallel node meet there
	StepRetryTarget    = "retry_target"    // a stage failed and has no edge to follow
	StepGoalGate       = "goal_gate"       // a goal gate is not satisfied
	StepModel          = "model"           // a model chose the edge
	StepFallback       = "fallback"        // no condition fits, and the edge has none
	StepNone           = "none"            // no condition fits, and there is no fallback: the walk ends
	StepDryRun         = "dry_run"         // the walk ends before its first decision
	StepFailFast       = "fail_fast"       // the walk ends because its node failed, as its caller wants it
)

// End is where an EdgeChosen event leads that ends a walk for want of an edge.
const End = "(end)"

// EventVersion is the version of the event format.
const EventVersion = 1

// Event is one thing that happened in a run. It is written as one line of JSON.
// Within a run, Seq counts from 1 without gaps. Two runs of the same input give
// the same set of events by (Node, Item, Round, Attempt, Type), leaving out
// times, progress and log lines.
type Event struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"`
	Time time.Time `json:"ts"`
	Type EventType `json:"type"`
	Run  string    `json:"run"`
	// Node is the path of the node: "outer/inner" for a node of a nested run,
	// "outer[3]/inner" in the fourth item of a fan-out over nested runs.
	Node string `json:"node,omitempty"`
	// Unit is the pipeline or loop the node belongs to or the event is about.
	Unit  string  `json:"unit,omitempty"`
	Kind  string  `json:"kind,omitempty"`
	Phase string  `json:"phase,omitempty"`
	Level Ordinal `json:"level,omitzero"`
	Item  Ordinal `json:"item,omitzero"`  // item of a fan-out or row of a pipeline
	Round Ordinal `json:"round,omitzero"` // round of a loop
	// Visit counts the visits of a node in a walk, from 1.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
	// Total is how many items a fan-out or pipeline has.
	Total Ordinal `json:"total,omitzero"`

	Status   string        `json:"status,omitempty"` // of a node or run
	Duration time.Duration `json:"duration_ns,omitempty"`
	Delay    time.Duration `json:"delay_ns,omitempty"`
	// Reason explains a skip, a failure, another attempt, a judged edge or the end of a
	// unit, and of a success that only a setting of the node made one what it was.
	Reason string `json:"reason,omitempty"`
	// Cause is the node where a failure or skip began: the root, not the
	// neighbour.
	Cause string   `json:"cause,omitempty"`
	Error *Failure `json:"error,omitempty"`

	// Edge events: from, to, the condition and what it said with which values.
	From   string        `json:"from,omitempty"`
	To     string        `json:"to,omitempty"`
	When   string        `json:"when,omitempty"`
	Result *bool         `json:"result,omitempty"`
	Values *value.Object `json:"values,omitempty"`
	// Step is the rule by which a walk chose the edge, see the Step constants; Label is
	// that of the edge, or of an answer.
	Step  string `json:"step,omitempty"`
	Label string `json:"label,omitempty"`
	// Purpose, Model, Tool, Turn and Usage are those of a call to a model or of a tool; in
	// run.finished Usage is that of the run.
	Purpose string `json:"purpose,omitempty"`
	Model   string `json:"model,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Usage   *Usage `json:"usage,omitempty"`
	// Nodes are those that a join takes, in canonical order, by their ids in its graph.
	Nodes []string `json:"nodes,omitempty"`

	// Field tells which field was written, and Null that it was null.
	Field string `json:"field,omitempty"`
	Null  bool   `json:"null,omitempty"`
	// State is the final state in run.finished; Inputs the start in run.started, and
	// Limits what the run keeps to.
	State  *value.Object `json:"state,omitempty"`
	Inputs *value.Object `json:"inputs,omitempty"`
	Limits *Limits       `json:"limits,omitempty"`

	// Log lines and progress.
	Log      string `json:"log,omitempty"`
	Severity string `json:"severity,omitempty"`
	Done     int64  `json:"done,omitempty"`
	Of       int64  `json:"of,omitempty"`
	// Read of Size is how much of the input was read, such as bytes of files.
	Read int64 `json:"read,omitempty"`
	Size int64 `json:"size,omitempty"`
}

// Limits are what a run keeps to, whether its document or its caller says so.
type Limits struct {
	// Concurrency is how many nodes and units may be in flight.
	Concurrency int `json:"concurrency"`
	// MaxInFlight caps user code in flight over everything; 0 means no cap.
	MaxInFlight int `json:"max_in_flight,omitempty"`
	// Barrier tells that each level is finished before the next one starts.
	Barrier bool `json:"barrier,omitempty"`
	// MaxVisits is how many visits of nodes a walk may make, 0 for any number and for other
	// graphs.
	MaxVisits int `json:"max_visits,omitempty"`
}

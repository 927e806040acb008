package core

import (
	"strconv"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// EventType is the type of an event. The constants below are all types; documents and logs
// use these words.
type EventType string

// Event types.
const (
	RunStarted  EventType = "run.started"
	RunFinished EventType = "run.finished"

	// RunHeld and RunResumed are the events of a stored run that ends in one process and
	// continues in another: it is paused because only people can continue it, and it is
	// resumed. NodeRepeated is an attempt that was in flight when the earlier process ended
	// and that begins again.
	RunHeld      EventType = "run.paused"
	RunResumed   EventType = "run.resumed"
	NodeRepeated EventType = "node.repeated"

	// SourcesResolved is published once in a run of a walk that is routed by a model. It
	// lists the texts that the nodes work with: Values has the sources.
	SourcesResolved EventType = "sources.resolved"

	NodeReady     EventType = "node.ready"    // everything the node waits for is there; it may still wait for a slot
	NodeStarted   EventType = "node.started"  // an attempt has begun
	NodeRetrying  EventType = "node.retrying" // an attempt failed or asked for another one, which follows after Delay
	NodeFinished  EventType = "node.finished" // the node ended with a success
	NodeFailed    EventType = "node.failed"   // the node ended with a failure
	NodeHandled   EventType = "node.handled"  // the node's policy tolerates its failure, or an on: fail edge with handles: true handled it
	NodeSkipped   EventType = "node.skipped"
	NodeAsked     EventType = "node.asked"     // a human gate asks; Reason is the question, Values has the choices
	ModelAsked    EventType = "model.asked"    // a model is called for the node; Purpose says why
	ModelAnswered EventType = "model.answered" // the model has answered, with Usage; or Reason says why not
	ToolCalled    EventType = "tool.called"    // a tool that a model asked for was called; Reason says why it failed
	NodeAnswered  EventType = "node.answered"  // a human gate got an answer: Label and To belong to the choice; or Reason says why not

	ItemStarted  EventType = "item.started"  // an attempt for one item, stage execution or round
	ItemFinished EventType = "item.finished" // it ended with a success
	ItemFailed   EventType = "item.failed"   // it ended with a failure

	EdgeJudged    EventType = "edge.judged"    // a condition was evaluated
	EdgeChosen    EventType = "edge.chosen"    // a walk follows an edge or jumps; Step and Reason say why
	GraphChanged  EventType = "graph.changed"  // the graph of the run was changed, or jumps: Step is the action, Values the request
	GraphRejected EventType = "graph.rejected" // a change was asked for and is not possible; Reason says why
	JoinDecided   EventType = "join.decided"   // Nodes are the predecessors or branches that a join takes; Reason says why
	StateWritten  EventType = "state.written"  // a field got a value
	UnitFinished  EventType = "unit.finished"  // a pipeline or loop ended; Reason says how

	FlowLogged EventType = "flow.logged" // an entry of the log of a flow: Step is its type, one of the Log constants, and Log its content

	LogLine  EventType = "log"      // a record of a node's logger
	Progress EventType = "progress" // a node reports its progress; never part of a comparison
)

// Numbered reports whether Event.Seq counts the events of this type. Log and progress events are not
// counted: a slow listener does not get all of them.
func (t EventType) Numbered() bool {
	return t != LogLine && t != Progress
}

// Steps by which a walk chooses the next node.
const (
	StepCondition      = "condition"       // the condition of the edge is true
	StepPreferredLabel = "preferred_label" // the node prefers the label of the edge
	StepSuggestedNext  = "suggested_next"  // the node suggests the target of the edge
	StepUnconditional  = "unconditional"   // the edge has no condition
	StepRandom         = "random"          // the edge was chosen at random, by weight
	StepJump           = "jump"            // the branches of a parallel node end there
	StepRetryTarget    = "retry_target"    // a stage failed and has no edge to follow
	StepGoalGate       = "goal_gate"       // a goal gate is not satisfied
	StepModel          = "model"           // a model chose the edge
	StepFallback       = "fallback"        // no condition holds; the fallback edge has none
	StepNone           = "none"            // no condition holds and there is no fallback edge: the walk ends
	StepDryRun         = "dry_run"         // the walk ends before its first decision
	StepToken          = "token"           // a token of a flow moves on
	StepFailFast       = "fail_fast"       // the walk ends because its node failed and the caller asked for that
)

// Steps of a walk of RouterSteps. A jump that a graph action requests is also a StepJump.
const (
	StepToolLoop   = "tool_loop"    // the visit wants to see the results of its tools
	StepRoute      = "route"        // a member of the output names the node
	StepNextNode   = "next_node"    // the code of the node names it
	StepEdge       = "edge"         // the condition of the edge holds, or it has none
	StepTransition = "transition"   // a member of the output is the key of a transition
	StepDefault    = "default_next" // the default of the node
	StepEnd        = "end"          // nothing else decides: the walk ends
	StepBudget     = "budget"       // the visits of the chosen node are used up
)

// End is the target of an EdgeChosen event that ends a walk because there is no edge to
// follow.
const End = "(end)"

// EventVersion is the version of the event format.
const EventVersion = 1

// Event is a record of one thing that happened in a run. It is written as one line of JSON.
// Two runs with the same input produce the same set of events by (Node, Item, Round, Attempt,
// Type), apart from times, progress and log lines.
type Event struct {
	V int `json:"v"`
	// Seq counts the events of the run from 1 without gaps, except log and progress events, which
	// have the number of the last counted event before them, or 0 if there is none. Numbers are left
	// out before a run.resumed if the earlier journal cannot be replayed, because another version of
	// the engine wrote it or a part of it is lost.
	Seq  int64     `json:"seq"`
	Time time.Time `json:"ts"`
	Type EventType `json:"type"`
	Run  string    `json:"run"`
	// Node is the path of the node: "outer/inner" for a node of a nested run,
	// "outer[3]/inner" in the fourth item of a fan-out over nested runs.
	Node string `json:"node,omitempty"`
	// Unit is the pipeline or loop that the node belongs to or that the event is about.
	Unit  string  `json:"unit,omitempty"`
	Kind  string  `json:"kind,omitempty"`
	Phase string  `json:"phase,omitempty"`
	Level Ordinal `json:"level,omitzero"`
	Item  Ordinal `json:"item,omitzero"`  // item of a fan-out or row of a pipeline
	Round Ordinal `json:"round,omitzero"` // round of a loop
	// Visit counts the visits of a node in a walk, from 1.
	Visit   int `json:"visit,omitempty"`
	Attempt int `json:"attempt,omitempty"`
	// Total is the number of items of a fan-out or pipeline.
	Total Ordinal `json:"total,omitzero"`

	Status   string        `json:"status,omitempty"` // of a node or run
	Duration time.Duration `json:"duration_ns,omitempty"`
	Delay    time.Duration `json:"delay_ns,omitempty"`
	// Reason explains a skip, a failure, another attempt, a condition or the end of a unit.
	// It also explains a success that is due to a setting of the node.
	Reason string `json:"reason,omitempty"`
	// Cause is the node where a failure or skip began: the root cause, not the nearest
	// node.
	Cause string   `json:"cause,omitempty"`
	Error *Failure `json:"error,omitempty"`

	// From, To, When and the members below belong to events of edges: the condition, its
	// result and the values that it used.
	From   string        `json:"from,omitempty"`
	To     string        `json:"to,omitempty"`
	When   string        `json:"when,omitempty"`
	Result *bool         `json:"result,omitempty"`
	Values *value.Object `json:"values,omitempty"`
	// Step is the rule by which a walk chose the edge, one of the Step constants, or the type of
	// an entry in the log of a flow. Label is the label of the edge, or of an answer.
	Step  string `json:"step,omitempty"`
	Label string `json:"label,omitempty"`
	// Purpose, Model, Tool, Turn and Usage describe a call to a model or of a tool. In
	// run.finished, Usage is the usage of the whole run.
	Purpose string `json:"purpose,omitempty"`
	Model   string `json:"model,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Usage   *Usage `json:"usage,omitempty"`
	// Nodes are the nodes that a join takes, in canonical order, by their ids in the graph
	// of the join.
	Nodes []string `json:"nodes,omitempty"`

	// Field is the name of the field that was written. Null reports whether its value is
	// null.
	Field string `json:"field,omitempty"`
	Null  bool   `json:"null,omitempty"`
	// State is the final state in run.finished. Inputs are the inputs, and Limits the
	// limits of the run, in run.started.
	State  *value.Object `json:"state,omitempty"`
	Inputs *value.Object `json:"inputs,omitempty"`
	Limits *Limits       `json:"limits,omitempty"`

	// Log lines and progress.
	Log      string `json:"log,omitempty"`
	Severity string `json:"severity,omitempty"`
	Done     int64  `json:"done,omitempty"`
	Of       int64  `json:"of,omitempty"`
	// Read and Size are the amount of input that was read and its total size, for example
	// in bytes of files.
	Read int64 `json:"read,omitempty"`
	Size int64 `json:"size,omitempty"`
}

// Limits are the limits of a run, whether the document or the caller sets them.
type Limits struct {
	// Concurrency limits the nodes and units in flight.
	Concurrency int `json:"concurrency"`
	// MaxInFlight limits user code in flight over everything; 0 means no limit.
	MaxInFlight int `json:"max_in_flight,omitempty"`
	// Barrier reports whether each level is finished before the next one starts.
	Barrier bool `json:"barrier,omitempty"`
	// MaxVisits limits the visits of nodes in a walk. It is 0 if there is no limit, and in
	// a dag.
	MaxVisits int `json:"max_visits,omitempty"`
	// AddedKinds are the kinds of nodes that walks by steps may add to their graphs.
	AddedKinds []string `json:"added_kinds,omitempty"`
}

// Execution returns the path of the node with the index of the item, row or round in brackets
// if it has one, as Input.Execution does.
func (e *Event) Execution() string {
	for _, index := range []Ordinal{e.Item, e.Round} {
		if i, ok := index.Get(); ok {
			return e.Node + "[" + strconv.Itoa(i) + "]"
		}
	}
	return e.Node
}

package core

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Walk holds the settings of a graph of ModeWalk. A walk sends one token through the graph:
// after each visit of a node, one of its edges is chosen, until the node of RoleExit is
// reached. Unset fields have their defaults.
type Walk struct {
	// MaxRetries is the number of attempts after the first one for nodes without a retry
	// policy of their own; nil means none.
	MaxRetries *source.Int
	// RetryTarget and FallbackRetryTarget are the nodes where the walk continues after a
	// node that failed and has no edge to follow, or from the exit if a goal gate is not
	// satisfied. Targets of the node itself take precedence.
	RetryTarget, FallbackRetryTarget source.Text
	// MaxVisits limits the visits of a node; nil or 0 means no limit, and with RouterSteps
	// DefaultMaxNodeVisits.
	MaxVisits *source.Int
	// MaxJumps limits how often an unsatisfied goal gate may send the walk back; nil means
	// DefaultMaxJumps.
	MaxJumps *source.Int
	// StallTimeout is the longest time that a run may show no sign of progress; nil means
	// DefaultStallTimeout, and 0 means no limit.
	StallTimeout *source.Located[time.Duration]
	// RepeatLimit is the number of times the same failure may recur before the run fails;
	// nil means DefaultRepeatLimit.
	RepeatLimit *source.Int
	// Router says how the edge after a visit is chosen: "" or RouterOutcomes, RouterModel
	// or RouterSteps. With RouterModel and RouterSteps the walk begins at Entry and ends
	// where no edge can be followed. The conditions of edges of RouterModel are plain
	// language.
	Router source.Text
	// Entry is the node where a walk of RouterModel or RouterSteps begins.
	Entry source.Text
	// MaxSteps limits the visits of all nodes of a run together. nil means DefaultMaxSteps
	// with RouterModel, DefaultMaxRunVisits with RouterSteps, and no limit otherwise.
	MaxSteps *source.Int
	// LoopUntil, MaxMutations and FixedGraph apply to RouterSteps only. MaxMutations limits
	// the changes of the graph that a run may make; nil means DefaultMaxMutations. If
	// FixedGraph is true, the graph cannot be changed: members of outputs such as
	// GraphAction are then ordinary data, and Routing.Mutations are rejected.
	LoopUntil    []*LoopUntil
	MaxMutations *source.Int
	FixedGraph   *source.Located[bool]
	// Model names the model that chooses edges, or is "" for the default of the engine.
	Model source.Text
	// Fidelity says how much of the walk so far is described to model nodes, one of
	// Fidelities; "" means FidelityCompact. Nodes and edges may override it.
	Fidelity source.Text
	// Attributes are the other attributes of the graph in the document, as written. They
	// are kept for saving and drawing.
	Attributes *value.Object
	Pos        source.Position
}

// LimitVisits returns a copy of the workflow in which each node is visited at most n times.
// A lower limit of the document, and a limit of a node, are kept.
func (w *Workflow) LimitVisits(n int) *Workflow {
	if w.Mode == ModeFlow { // the arrivals of a flow have a limit
		return w
	}
	c, walk := *w, Walk{}
	if w.Walk != nil {
		walk = *w.Walk
	}
	if m := walk.MaxVisits; m == nil || m.Value == 0 || m.Value > n {
		limit := source.At(n, source.Position{})
		walk.MaxVisits = &limit
	}
	c.Walk = &walk
	return &c
}

// Defaults of a walk.
const (
	DefaultMaxJumps     = 10
	DefaultStallTimeout = 30 * time.Minute
	DefaultRepeatLimit  = 3
	DefaultMaxParallel  = 4 // branches of a parallel node in flight
	DefaultMaxSteps     = 200
)

// Routers.
const (
	RouterOutcomes = "outcomes" // conditions, labels, suggestions and weights decide
	RouterModel    = "model"    // a model chooses among the conditions, see Router
	RouterSteps    = "steps"    // seven steps decide: the tools, output and code of the visit, edges, transitions
)

// InputsKey is the key of the run's inputs in the context of a walk of RouterModel. The
// other keys of that context are ids of nodes, with the values that they sent at their last
// visits.
const InputsKey = "input"

// EvalsKey is the member of RouteQuestion.View that contains the checks of a result.
const EvalsKey = "evals"

// InputGoal is the input that describes the purpose of a run. Scripts find it in the
// environment variable WAVEFOLD_GOAL.
const InputGoal = "goal"

// InputDryRun is the input that, if it is true, ends a walk of RouterModel before a model
// is asked for the first time: after the visit of a node that has an outgoing edge with a
// condition.
const InputDryRun = "dryRun"

// ContextField is the state field of a walk that holds its context, an object such as
// {"command.output": ...}. The values that a node adds (Routing.Context) replace the values
// of the same keys. Every node of a walk can read it.
const ContextField = "context"

// Context keys that the engine maintains.
const (
	// ContextFailureClass is the category of the failure of the last stage, "" if it
	// did not fail.
	ContextFailureClass = "failure_class"
	// ContextPreferredLabel is the last label that a node preferred.
	ContextPreferredLabel = "preferred_label"
	// ContextVisitCount counts the visits of the node whose edges are being chosen.
	ContextVisitCount = "internal.node_visit_count"
	// ContextParallelResults holds the results of the branches of the last parallel node:
	// an array of objects with id, status, output and, if the branch set one, score.
	ContextParallelResults = "parallel.results"
	// ContextParallelCount is the number of these branches.
	ContextParallelCount = "parallel.branch_count"
)

// Role is the role of a node in a walk. A kind declares it in Compiled.
type Role uint8

// Roles. Start, exit, conditional and parallel nodes run nothing of their own.
const (
	RoleStage       Role = iota // the node does its work
	RoleStart                   // the walk begins there
	RoleExit                    // the walk ends there
	RoleConditional             // only its edges matter: they see the outcome of the stage before it
	RoleParallel                // its edges lead to branches, which run at once
	RoleHuman                   // a person chooses the edge; the node holds no slot while it waits
)

var roleNames = [...]string{"stage", "start", "exit", "conditional", "parallel", "human"}

// String returns "stage", "start", "exit", "conditional", "parallel" or "human".
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// Routing is the part of a node's result that affects the next step of a walk and its
// context.
type Routing struct {
	// PreferredLabel is the label of the edge to follow if no condition decides.
	PreferredLabel string
	// SuggestedNext are nodes to continue at, best first, if no label decides.
	SuggestedNext []string
	// Context are values for the context of the walk, by key.
	Context map[string]any
	// Category is the category of the failure if the status of the result is Fail. If it is
	// "", it follows from the text of the note, see CategoryOfText.
	Category Category
	// Signature is the Failure.Signature of a result whose status is Fail.
	Signature string
	// Text is the output of the node, such as the output of a script. It is used in
	// briefings of model nodes and in ContextParallelResults, unless the result has an edge
	// output.
	Text string
	// Evals are the checks of the result, by name, in the form that a Router sees. It is
	// nil if there are none.
	Evals *value.Object

	// The fields below apply to walks of RouterSteps only.

	// ToolCalls are the names of the tools that the visit has called, in order.
	ToolCalls []string
	// ToolLoop reports whether the node wants to see the results of the tools: it is then
	// visited again at once. nil means that it does if ToolCalls is not empty.
	ToolLoop *bool
	// Messages are the messages that the visit adds to the conversation of the node with a
	// model, in order, as JSON values. They are part of Input.Conversation of the next
	// visit if ToolLoop leads to it.
	Messages []any
	// Next is the node where the walk continues, or EndNode. "" leaves that to the edges.
	Next string
	// GuardsPassed and GuardsFailed are the names of the checks that the result has passed
	// and failed. A failed guard does not fail the visit.
	GuardsPassed, GuardsFailed []string
	// Mutations are changes of the graph of this run, in order. They are made before the
	// next node is chosen.
	Mutations []Mutation
}

package core

import (
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Walk holds what a graph of ModeWalk has beside its nodes and edges. A walk sends one
// token through the graph: after each visit of a node one of its edges is chosen, until
// the node of the role RoleExit is reached. What is not set has its default.
type Walk struct {
	// MaxRetries is how many attempts follow the first one of a node that says nothing
	// of retries itself; nil means none.
	MaxRetries *source.Int
	// RetryTarget and FallbackRetryTarget are where the walk goes on after a node that
	// failed and has no edge to follow, or from the exit when a goal gate is not
	// satisfied, if the node itself names no target.
	RetryTarget, FallbackRetryTarget source.Text
	// MaxVisits is how often a node may be visited; nil or 0 mean any number.
	MaxVisits *source.Int
	// MaxJumps is how often an unsatisfied goal gate may send the walk back; nil means
	// DefaultMaxJumps.
	MaxJumps *source.Int
	// StallTimeout is how long a run may be without a sign of life; nil means
	// DefaultStallTimeout, 0 that nobody watches.
	StallTimeout *source.Located[time.Duration]
	// RepeatLimit is how often the same failure may come back before the run is given
	// up; nil means DefaultRepeatLimit.
	RepeatLimit *source.Int
	// Router says who picks the edge after a visit: "" or RouterOutcomes, or RouterModel.
	// With RouterModel the walk begins at Entry and ends where no edge can be followed; the
	// conditions of edges are plain language.
	Router source.Text
	// Entry is the node where the walk of a RouterModel begins.
	Entry source.Text
	// MaxSteps is how many visits a run may make of all nodes together; nil means
	// DefaultMaxSteps with RouterModel, else any number.
	MaxSteps *source.Int
	// Model names the model that picks edges, "" for the default of the engine.
	Model source.Text
	// Fidelity is how much model nodes are told of what came before them, one of
	// Fidelities; "" means FidelityCompact. Nodes and edges may say otherwise.
	Fidelity source.Text
	// Attributes are what the document says of the graph beyond that, as written. They
	// are kept for saving and drawing.
	Attributes *value.Object
	Pos        source.Position
}

// LimitVisits returns a copy of the workflow in which a node is visited at most n times, unless
// the document sets a lower limit, or the node one of its own.
func (w *Workflow) LimitVisits(n int) *Workflow {
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
	DefaultMaxParallel  = 4 // branches of a parallel node under way at once
	DefaultMaxSteps     = 200
)

// Routers.
const (
	RouterOutcomes = "outcomes" // conditions, labels, suggestions and weights decide
	RouterModel    = "model"    // a model picks among the conditions, see Router
)

// InputsKey is the key of the inputs of the run in the context of a walk of RouterModel. Its
// other keys are nodes, each with what it sent at its last visit.
const InputsKey = "input"

// EvalsKey is the member under which RouteQuestion.View has the checks of a result.
const EvalsKey = "evals"

// InputGoal is the input that says in words what a run is for. Scripts find it in the
// environment variable WAVEFOLD_GOAL.
const InputGoal = "goal"

// InputDryRun is the input that, if it is true, ends a walk of RouterModel where a model
// would first be asked: after the visit of a node out of which an edge with a condition
// leads.
const InputDryRun = "dryRun"

// ContextField is the state field of a walk that holds its context: an object of values
// by key, such as "command.output". What a node adds to it (Routing.Context) replaces
// the values of these keys. Every node of a walk reads it.
const ContextField = "context"

// Keys of the context that the engine itself keeps.
const (
	// ContextFailureClass is the category of the failure of the last stage, "" if it
	// did not fail.
	ContextFailureClass = "failure_class"
	// ContextPreferredLabel is the last label that a node preferred.
	ContextPreferredLabel = "preferred_label"
	// ContextVisitCount counts the visits of the node whose edges are being chosen.
	ContextVisitCount = "internal.node_visit_count"
	// ContextParallelResults is what became of the branches of the last parallel node:
	// an array of objects with id, status and, if there are any, the score that the branch
	// set, and its output.
	ContextParallelResults = "parallel.results"
	// ContextParallelCount is how many branches that were.
	ContextParallelCount = "parallel.branch_count"
)

// Role says what a node is to a walk. A kind declares it in Compiled.
type Role uint8

// Roles. Start, exit, conditional and parallel nodes run nothing of their own.
const (
	RoleStage       Role = iota // does its work
	RoleStart                   // where the walk begins
	RoleExit                    // where it ends
	RoleConditional             // only its edges matter: they see the outcome of the stage before it
	RoleParallel                // its edges lead to branches, which run at once
	RoleHuman                   // a person picks the edge; it holds no slot while it waits
)

var roleNames = [...]string{"stage", "start", "exit", "conditional", "parallel", "human"}

// String returns "stage", "start", "exit", "conditional", "parallel" or "human".
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// Routing is what the result of a node says about the way on.
type Routing struct {
	// PreferredLabel is the label of the edge to follow, if no condition decides.
	PreferredLabel string
	// SuggestedNext are nodes to go to, best first, if no label decides.
	SuggestedNext []string
	// Context are values for the context of the walk, by key.
	Context map[string]any
	// Category is the category of the failure of a result whose status is Fail; "" leaves
	// it to the text of the note, see CategoryOfText.
	Category Category
	// Signature is the Failure.Signature of a result whose status is Fail.
	Signature string
	// Text is what the node put out, such as what a script printed: for model nodes that are
	// told what came before them, and for ContextParallelResults. It has no use where there
	// is an edge output, which stands for it.
	Text string
	// Evals are the checks of the result, by name, as a Router is shown them; nil for none.
	Evals *value.Object
}

package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Mode says which planner runs a graph.
type Mode string

// Modes.
const (
	// ModeDAG runs each node once, when all its predecessors are resolved.
	ModeDAG Mode = "dag"
	// ModeWalk visits one node at a time along edges that are chosen one by one. It may
	// return to a node. See Walk.
	ModeWalk Mode = "walk"
	// ModeFlow moves several tokens along the edges: each arrival of a token runs the node. See
	// Flow.
	ModeFlow Mode = "flow"
)

// Workflow is a graph as it was written: plain data with positions, not yet checked.
// Formats and the Go builder create Workflows; package plan checks and compiles them. A
// Workflow must not change while it is being compiled. A compiled plan no longer needs it.
//
// If a document has structural errors, its Workflow holds everything that could be read.
// Parts that could not be read are present if their number and names are known, and their
// Lost says what is missing. In this way the rest can be checked, and a name is not
// reported as unknown because its declaration has an error.
type Workflow struct {
	Name        source.Text
	Version     source.Text
	Description source.Text
	Mode        Mode // "" means ModeDAG
	Runtime     Runtime
	Phases      []Phase
	// Inputs are the declared parameters. HasInputs distinguishes an empty section from an
	// absent one: if it is absent, a run accepts a starting value for every field.
	Inputs    []InputDecl
	HasInputs bool
	// OpenInputs allows inputs that are not declared. All inputs are then available as
	// $input.NAME only and are not fields of the state. A missing input is null.
	OpenInputs bool
	Fields     []FieldDecl
	Nodes      []*Node
	Edges      []*Edge
	Pipelines  []*Pipeline
	Loops      []*Loop
	// RetryPolicies are the policies that nodes may refer to by name.
	RetryPolicies []*RetryPolicy
	// Walk holds the settings of ModeWalk; nil means defaults.
	Walk *Walk
	// Flow holds the settings of ModeFlow; nil means defaults.
	Flow *Flow
	// Incremental says what a run keeps for the next run, or is nil if nothing.
	Incremental *Incremental
	// Sources are the texts that the format used as the nodes' instructions, if it records
	// them, and their origins.
	Sources []Source
	// Document reports that the graph was read from a file. Its concurrency then defaults
	// to 1, as the format specifies.
	Document bool
	// Dir is the folder against which relative paths in the document are resolved.
	Dir string
	// Findings are the diagnostics from reading or building the workflow. Compiling reports
	// them together with its own.
	Findings source.Diagnostics
	// Codes maps the codes of diagnostics to the codes in the format of the document. It is
	// nil if they are the same.
	Codes map[source.Code]source.Code
	// Lost lists sections that are only partly known: inputs, schema, phases, nodes, edges,
	// pipelines, loops.
	Lost source.Lost
	Pos  source.Position
}

// Source is a text of a workflow and its origin, which may be another file or an address.
type Source struct {
	Field string          `json:"field"`          // the path in the document, such as nodes.plan.instruction
	Kind  string          `json:"kind"`           // inline, file or url
	Name  string          `json:"name,omitempty"` // the path or address as written, "" for inline
	Hash  string          `json:"hash,omitempty"` // the first 16 hex digits of its SHA-256, "" if the text was not read
	Pos   source.Position `json:"-"`
}

// Incremental says what a run keeps for the next run, in a file next to the document.
type Incremental struct {
	// File is the name of that file; "" means the workflow's name followed by
	// .progress.json.
	File source.Text
	// Cursor is a value passed from run to run, or nil if there is none.
	Cursor *Cursor
	// Partitions are pieces of work that are each done only once, or nil if there are none.
	Partitions *Partitions
	Pos        source.Position
}

// Cursor is a value, such as the newest date that was loaded, that a successful run passes
// to the next one.
type Cursor struct {
	Input source.Text // the input that receives the value
	From  source.Text // an expression over the final state
	Pos   source.Position
}

// Partitions are the elements of an array input, each processed by one item of a fan-out.
// The next run leaves out elements that are done.
type Partitions struct {
	Input source.Text
	Node  source.Text // the fan-out
	Pos   source.Position
}

// Runtime holds the limits of a run and how safely it is stored.
type Runtime struct {
	// Concurrency limits the nodes in flight. nil means the default of the format: 1 for
	// documents, GOMAXPROCS for graphs built in Go.
	Concurrency *source.Int
	// MaxInFlight limits user code in flight over everything: nodes, items, stages, nested
	// workflows. nil means no limit.
	MaxInFlight *source.Int
	// Schedule is "" or "dataflow" (start as soon as possible) or "barrier"
	// (finish a level before the next one starts).
	Schedule source.Text
	// Durability is the DurabilityMode of runs with a store, unless the caller chooses another;
	// "" means DurabilityBatch.
	Durability source.Text
	// ConcurrencyKey is a template over the inputs. Of the runs in a store that have the same key, one runs
	// at a time. "" lets all run. Overlap is the Overlap of the others; "" means OverlapQueue.
	ConcurrencyKey source.Text
	Overlap        source.Text
}

// Phase is a label for display.
type Phase struct {
	ID    source.Text
	Title source.Text
	Lost  source.Lost
}

// InputDecl declares a parameter of a run. Its value is available as $input.NAME and is the
// starting value of the state field of the same name. If the state schema does not declare
// that field, it is declared implicitly.
type InputDecl struct {
	Name        source.Text
	Type        *value.Type     // nil means any type
	TypePos     source.Position // position of the type in the document, if it has one
	Required    bool
	Default     any // Missing if there is none
	Description source.Text
	Lost        source.Lost
	Pos         source.Position
}

// FieldDecl declares a state field.
type FieldDecl struct {
	Name source.Text
	Type *value.Type // nil means any type
	// Merge is the merge strategy; "" means last_wins. Key is the member by which the
	// strategy union compares objects; if it is "", whole values are compared.
	Merge source.Text
	Key   source.Text
	// Default is the value before any write, or Missing if there is none.
	Default     any
	Description source.Text
	// Go is set for fields declared with a Go type.
	Go *value.GoType
	// Reduce is a custom merge strategy; it must be pure. old is Missing before the first
	// write. An error rejects the write.
	Reduce func(old, new any) (any, error)
	Lost   source.Lost
	Pos    source.Position
}

// Values of Node.Pause.
const (
	PauseBefore = "before"
	PauseAfter  = "after"
)

// Node is one node of a graph.
type Node struct {
	ID          source.Text
	Kind        source.Text
	Phase       source.Text
	Description source.Text
	// Reads and Writes name state fields. HasWrites distinguishes an empty list from an
	// absent one.
	Reads     []source.Text
	Writes    []source.Text
	HasWrites bool
	// Args are the arguments. String values of the form $.path are resolved.
	Args *source.Value
	// Config holds the keys that belong to the node's kind, as one object.
	Config  *source.Value
	ForEach *ForEach
	OnError *OnError
	// AllowPartial makes the node a partial success if its last attempt requests another one.
	// AutoStatus makes it a success whatever the outcomes of its attempts.
	AllowPartial, AutoStatus bool
	// Timeout limits one attempt; nil means no limit.
	Timeout *source.Located[time.Duration]
	// Pause makes each execution of the node wait until a person lets it continue: before its
	// first attempt, PauseBefore, or after its last one, PauseAfter. "" means no pause.
	Pause source.Text
	// Cache keeps the results of the node for later runs; nil means that they are not kept.
	Cache *Cache
	// Join says how many predecessors must succeed for the node to run, or how many
	// branches of a parallel node must succeed. nil means all of them.
	Join *Join
	// Priority orders nodes that may start at the same time: higher first. It
	// affects time only.
	Priority source.Int
	// Version is the version of what the node computes, or "" if it has none. It is part of
	// the fingerprint: a stored run does not keep results of another version.
	Version source.Text
	// Effects reports whether the node's work is visible outside of the run; nil means that
	// the kind decides.
	Effects *bool
	// The fields below apply to walks only.

	// Label is the display name of the node; "" means the id.
	Label source.Text
	// Classes are names by which styles and tools select nodes.
	Classes []source.Text
	// GoalGate prevents the walk from ending at the exit unless the last outcome of the
	// node is a success.
	GoalGate bool
	// RetryTarget and FallbackRetryTarget take precedence over the targets of Walk.
	RetryTarget, FallbackRetryTarget source.Text
	// Fidelity says how much of the walk so far is described to a model node, one of
	// Fidelities; "" means Walk.Fidelity. The Fidelity of the edge that leads to the visit
	// takes precedence.
	Fidelity source.Text
	// MaxVisits limits the visits of the node; nil means Walk.MaxVisits, and with
	// RouterSteps DefaultNodeBudget. With RouterSteps the lower one of the two limits
	// counts.
	MaxVisits *source.Int
	// Random chooses among the edges at random, by weight, instead of choosing the heaviest
	// one.
	Random   bool
	Parallel *Parallel
	// ViewMembers lists the members of the node's output that a Router sees; nil means all.
	ViewMembers []source.Text
	// Asks and Lacks describe a node whose kind may not be registered. Such a node fails when
	// it is visited. Asks means that a person should have chosen the edge; no edge without a
	// condition is then followed. Lacks is the message of the failure; "" means the message
	// of the engine.
	Asks  bool
	Lacks string
	// Toolless reports that the format has already warned that the model of the node has no
	// tools.
	Toolless bool
	// Attributes are the other attributes of the node in the document, as written. They are
	// kept for saving and drawing.
	Attributes *value.Object

	// The fields below apply to walks of RouterSteps only.

	// Transitions lead to other nodes by members of the output, in order. DefaultNext is the
	// node, or EndNode, where the walk continues if nothing else decides.
	Transitions []Transition
	DefaultNext source.Text
	// Critical ends the run at once if a visit of the node fails.
	Critical bool
	// Before and After are hooks of nodes that are built in Go; nil means none.
	Before BeforeHook
	After  AfterHook

	// Flow is what the node does in a flow; nil means that it is a step like an agent.
	Flow *FlowNode

	// Child is the workflow of a node of the kind workflow if it is part of the document.
	// If it is nil, the configuration names a file.
	Child *Workflow

	// Handler is set by the Go builder and takes precedence over Kind.
	Handler Handler
	Lost    source.Lost
	Pos     source.Position
}

// Subject returns the name of the node in messages: "node load", or "node ?" without an id.
func (n *Node) Subject() string { return "node " + cmp.Or(n.ID.Value, "?") }

// Incomplete reports whether keys that the kind of the node uses could not be read.
func (n *Node) Incomplete() bool { return slices.ContainsFunc(n.Lost, usedByKind) }

// usedByKind reports whether kinds may use a key of a node.
func usedByKind(key string) bool {
	switch key {
	case "description", "phase", "on_error", "timeout", "join", "priority", "effects", "cache":
		return false
	}
	return true
}

// CachedReason begins the reason of an execution whose result was taken from an earlier run:
// "cached: run RUN, AGE ago".
const CachedReason = "cached: "

// Cache says how long, and under which key, a store keeps the results of a node for later runs.
type Cache struct {
	// Key is an expression. If it is set, executions with an equal value have the same result,
	// whatever else the node reads. "" means that all that the node reads is compared.
	Key source.Text
	// TTL limits the age of a result; nil means no limit.
	TTL *source.Located[time.Duration]
	// Version distinguishes results of the node before and after a change that its
	// configuration does not show.
	Version source.Text
	Lost    source.Lost
	Pos     source.Position
}

// ForEach runs a node once for each element of an array.
type ForEach struct {
	Source source.Text // a $.path, a JSONPath or an expression root
	// Concurrency limits the items in flight; nil means 1.
	Concurrency *source.Int
	// MaxFailures is the number of items that may fail. Items after one more failure, in
	// item order, do not count, even if they ran. nil means no limit (the node still fails
	// at its end).
	MaxFailures *source.Int
	// Collect names the declared write that receives the results of the items as one list,
	// or is "" if there is none. Each item writes one element of it.
	Collect source.Text
	Lost    source.Lost
	Pos     source.Position
}

// OnError says what happens when an attempt or a node fails.
type OnError struct {
	// Policy is "skip", "fail_run" or "retry".
	Policy source.Text
	// The fields up to RetryOn are the retry policy of the policy "retry": see RetryPolicy.
	Preset    source.Text
	Attempts  *source.Int
	Backoff   source.Text
	Factor    *source.Located[float64]
	Base, Max *source.Located[time.Duration]
	Jitter    *bool
	RetryOn   source.Text
	// Then says what happens when all attempts have failed: "" (the node fails, the run
	// fails), "skip" or "fail_run".
	Then source.Text
	Lost source.Lost
	Pos  source.Position
}

// Retry returns the retry policy that e contains.
func (e *OnError) Retry() *RetryPolicy {
	return &RetryPolicy{Preset: e.Preset, Attempts: e.Attempts, Backoff: e.Backoff, Factor: e.Factor, Base: e.Base, Max: e.Max,
		Jitter: e.Jitter, RetryOn: e.RetryOn, Lost: e.Lost, Pos: e.Pos}
}

// RetryPolicy says how often a node is retried, and how long the waits are. Fields that are
// not set have the values of the preset, or their defaults if there is no preset.
type RetryPolicy struct {
	// Name is the name of the policy in the workflow.
	Name source.Text
	// Preset is the name of the policy that this one is based on: none, standard,
	// aggressive, linear, patient, or one of the workflow's own; "" if there is none.
	Preset source.Text
	// Attempts limits the number of attempts, including the first.
	Attempts *source.Int
	// Backoff is "" or "linear" (waits of base, 2 base, 3 base) or "exponential" (each
	// wait is Factor times the one before).
	Backoff source.Text
	// Factor is the factor of exponential waits; nil means 2.
	Factor *source.Located[float64]
	// Base is the wait before the second attempt; nil means 100 ms.
	Base *source.Located[time.Duration]
	// Max limits a wait; nil means no limit.
	Max *source.Located[time.Duration]
	// Jitter multiplies each wait by a random factor between 0.5 and 1.5.
	Jitter *bool
	// RetryOn is "" or "any", or "transient" to retry only failures of the category
	// TransientInfra and failures that request another attempt.
	RetryOn source.Text
	Lost    source.Lost
	Pos     source.Position
}

// Edge orders two nodes, and may have a condition.
type Edge struct {
	From source.Text
	To   source.Text
	// When is the condition, or nil if there is none. An empty condition is an error.
	When *source.Text
	// Else marks `when: else`.
	Else bool
	// On is "" or "success", "fail" or "done".
	On source.Text
	// Cond is the condition of an edge of RouterSteps that has no When, or nil. Priority
	// orders the edges out of a node of such a walk: the highest is tried first.
	Cond     *Cond
	Priority source.Int
	// Handles reports whether the edge, with On "fail", handles the failure: if its
	// target runs, the failure does not fail the run. Nil means that it does not.
	Handles *source.Located[bool]
	// Parsed is the parsed form of the condition When if the format has its own syntax for
	// conditions. It is nil if When is an expression.
	Parsed Condition

	// The fields from Label to MaxIterations apply to walks only.

	// Label is the display name of the edge, by which a node may also prefer it. In a flow it
	// is the handle at which the edge leaves its source.
	Label source.Text
	// Into is the handle at which the edge of a flow enters its target.
	Into source.Text
	// Weight decides between edges that could be followed: the highest weight wins.
	Weight source.Int
	// LoopRestart restarts the walk at the target, with a fresh context.
	LoopRestart bool
	// Fidelity says how much of the walk so far is described to a model node at the target;
	// "" means the Fidelity of the node.
	Fidelity source.Text
	// Freeform marks the edge of a human node that is followed for answers that match no
	// choice.
	Freeform bool
	// MaxIterations limits how often the walk may move from From to To in a run, along any
	// edge, before this edge may no longer be followed; nil means no limit. It applies to
	// RouterModel only.
	MaxIterations *source.Int
	// Attributes are the other attributes of the edge in the document, as written.
	Attributes *value.Object
	// Implied marks an edge that the Go builder added automatically, because the target
	// reads a field that only the source writes. It behaves like any other edge; displays
	// of a plan can distinguish it from explicit edges.
	Implied bool
	Lost    source.Lost
	Pos     source.Position
}

// Condition is a condition that was parsed by a format with its own syntax for conditions. It
// is an *expressions.Tree.
type Condition interface{ Source() string }

// Pipeline processes the elements of an array in stages.
type Pipeline struct {
	ID     source.Text
	Items  source.Text
	Stages []source.Text
	// Concurrency limits the rows in flight; nil means 1. The result is the same as with
	// one row at a time.
	Concurrency *source.Int
	// Batch is the number of elements that form a row, as an array; nil means that each
	// element is a row.
	Batch *source.Int
	// Flush limits the time that elements of a stream wait for a full batch; nil means no
	// limit.
	Flush   *source.Located[time.Duration]
	Phase   source.Text
	OnError *OnError // skip or fail_run, for failures of the pipeline itself
	Lost    source.Lost
	Pos     source.Position
}

// Loop repeats a body until a condition holds or a limit is reached.
type Loop struct {
	ID   source.Text
	Body []source.Text
	// BodyIsList records that the document has a list, so that it is saved as one.
	BodyIsList bool
	Until      *source.Text
	MaxIters   *source.Int
	// OnExhausted is "" or "continue" or "fail".
	OnExhausted source.Text
	Phase       source.Text
	OnError     *OnError
	Lost        source.Lost
	Pos         source.Position
}

package core

import "time"

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Mode says which planner runs a graph.
type Mode string

// Modes.
const (
	// ModeDAG runs each node once, when all its predecessors are resolved.
	ModeDAG Mode = "dag"
	// ModeWalk visits one node after the other along edges that are chosen one at a
	// time; it may come back to a node. See Walk.
	ModeWalk Mode = "walk"
)

// Workflow is a graph as it was written: plain data, every part with its
// position, nothing checked. Formats and the Go builder make Workflows; package
// plan checks and compiles them. A Workflow must not change while it is being
// compiled; a compiled plan no longer needs it.
//
// Of a document with errors of shape it holds what could be read: parts that could
// not be read are there all the same, as far as their number and names are known, and
// say in Lost what they lack. So the rest can be checked, and no name is called
// unknown because its declaration has a slip.
type Workflow struct {
	Name        source.Text
	Version     source.Text
	Description source.Text
	Mode        Mode // "" means ModeDAG
	Runtime     Runtime
	Phases      []Phase
	// Inputs are the declared parameters. HasInputs tells an empty section from
	// none: without one, a run accepts a starting value for every field.
	Inputs    []InputDecl
	HasInputs bool
	// OpenInputs lets a run have inputs that are not declared, too. All of them are there
	// as $input.NAME alone, beside the state, and null stands for none.
	OpenInputs bool
	Fields     []FieldDecl
	Nodes      []*Node
	Edges      []*Edge
	Pipelines  []*Pipeline
	Loops      []*Loop
	// RetryPolicies are those that nodes may name.
	RetryPolicies []*RetryPolicy
	// Walk holds the settings of ModeWalk; nil means defaults.
	Walk *Walk
	// Incremental says what one run leaves for the next, nil for nothing.
	Incremental *Incremental
	// Sources are the texts that the format took for the nodes' instructions, as far as it
	// tells, and where they came from.
	Sources []Source
	// Document tells that the graph was read from a file. Its concurrency
	// defaults to 1 then, as the format says.
	Document bool
	// Dir is the folder that relative paths in the document start from.
	Dir string
	// Findings is what was found while the workflow was read or built. Compiling it
	// reports them along with its own.
	Findings source.Diagnostics
	// Codes are the codes that findings have in the format of the document, by the code that
	// they have elsewhere; nil if they are the same.
	Codes map[source.Code]source.Code
	// Lost holds sections that are not all known: inputs, schema, phases, nodes,
	// edges, pipelines, loops.
	Lost source.Lost
	Pos  source.Position
}

// HasContext reports whether a run of the workflow has a context, the field ContextField.
func (w *Workflow) HasContext() bool { return w.Mode == ModeWalk }

// Source is a text of a workflow that may stand elsewhere than in its document.
type Source struct {
	Field string          `json:"field"`          // the place in the document, such as nodes.plan.instruction
	Kind  string          `json:"kind"`           // inline, file or url
	Name  string          `json:"name,omitempty"` // the path or address as written, "" for inline
	Hash  string          `json:"hash,omitempty"` // the first 16 hex digits of its SHA-256, "" for a text that was not read
	Pos   source.Position `json:"-"`
}

// Incremental says what one run leaves for the next one, in a file beside the
// document.
type Incremental struct {
	// File is the name of that file; "" means the workflow's name with the ending
	// .progress.json.
	File source.Text
	// Cursor is a value that goes from run to run, nil for none.
	Cursor *Cursor
	// Partitions are pieces of work of which each is done once, nil for none.
	Partitions *Partitions
	Pos        source.Position
}

// Cursor is a value, such as the newest date that was loaded, that a run which
// succeeded leaves for the next one.
type Cursor struct {
	Input source.Text // the input that gets it
	From  source.Text // an expression over the final state
	Pos   source.Position
}

// Partitions are the elements of an input that is an array, each worked on by one
// item of a fan-out. Those that are done are left out of the next run.
type Partitions struct {
	Input source.Text
	Node  source.Text // the fan-out
	Pos   source.Position
}

// Runtime holds the limits of a run.
type Runtime struct {
	// Concurrency is how many nodes may be in flight; nil means the default of
	// the format: 1 for documents, GOMAXPROCS for graphs built in Go.
	Concurrency *source.Int
	// MaxInFlight caps user code in flight over everything: nodes, items,
	// stages, nested workflows. nil means no cap.
	MaxInFlight *source.Int
	// Schedule is "" or "dataflow" (start as soon as possible) or "barrier"
	// (finish a level before the next one starts).
	Schedule source.Text
}

// Phase is a label for display.
type Phase struct {
	ID    source.Text
	Title source.Text
	Lost  source.Lost
}

// InputDecl declares a parameter of a run. Its value is read as $input.NAME and
// is the starting value of the state field of the same name, which is declared
// implicitly when the state schema lacks it.
type InputDecl struct {
	Name        source.Text
	Type        *value.Type     // nil: anything
	TypePos     source.Position // of the type in the document, if it has one
	Required    bool
	Default     any // Missing when there is none
	Description source.Text
	Lost        source.Lost
	Pos         source.Position
}

// FieldDecl declares a state field.
type FieldDecl struct {
	Name source.Text
	Type *value.Type // nil: anything
	// Merge is the merge strategy; "" means last_wins. Key is the member by
	// which the strategy union compares objects; "" compares whole values.
	Merge source.Text
	Key   source.Text
	// Default is the value before any write; Missing when there is none.
	Default     any
	Description source.Text
	// Go is set for fields declared with a Go type.
	Go *value.GoType
	// Reduce is a custom merge strategy; it must be pure. old is Missing before
	// the first write. An error refuses the write.
	Reduce func(old, new any) (any, error)
	Lost   source.Lost
	Pos    source.Position
}

// Node is one node of a graph.
type Node struct {
	ID          source.Text
	Kind        source.Text
	Phase       source.Text
	Description source.Text
	// Reads and Writes name state fields. HasWrites tells an empty list from
	// an absent one.
	Reads     []source.Text
	Writes    []source.Text
	HasWrites bool
	// Args are the arguments; texts that are a $.path are replaced by values.
	Args *source.Value
	// Config holds the keys that belong to the node's kind, as one object.
	Config  *source.Value
	ForEach *ForEach
	OnError *OnError
	// AllowPartial makes the node a partial success when its last attempt still asks to
	// be run again. AutoStatus makes it a success whatever its attempts came to.
	AllowPartial, AutoStatus bool
	// Timeout limits one attempt; nil means no limit.
	Timeout *source.Located[time.Duration]
	// Join says which predecessors it takes to run, or which branches of a parallel
	// node must succeed; nil means all of them.
	Join *Join
	// Priority orders nodes that may start at the same time: higher first. It
	// affects time only.
	Priority source.Int
	// Effects tells whether the node's work is visible outside of the run; nil
	// leaves it to the kind.
	Effects *bool
	// What follows counts in walks only.

	// Label is what people read in place of the id; "" for none.
	Label source.Text
	// Classes are names by which styles and tools pick nodes.
	Classes []source.Text
	// GoalGate keeps the walk from ending at the exit while the node's last outcome is no
	// success.
	GoalGate bool
	// RetryTarget and FallbackRetryTarget come before those of Walk.
	RetryTarget, FallbackRetryTarget source.Text
	// Fidelity is how much a model node is told of what came before it, one of Fidelities;
	// "" leaves it to Walk.Fidelity. That of the edge by which the walk comes wins.
	Fidelity source.Text
	// MaxVisits is how often the node may be visited; nil leaves it to Walk.MaxVisits.
	MaxVisits *source.Int
	// Random picks one of the edges at random, by weight, instead of the heaviest one.
	Random   bool
	Parallel *Parallel
	// Shown are the members of what the node sends that a Router is shown; nil means all.
	Shown []source.Text
	// Asks and Lacks are what a format knows of a node whose kind nobody may have
	// registered, so that it fails when it is visited. Asks tells that a person was to pick
	// the edge: then no edge without a condition is followed. Lacks is the text it fails
	// with; "" leaves it to the engine.
	Asks  bool
	Lacks string
	// Toolless reports that the format has warned already that the model of the node has no
	// tools.
	Toolless bool
	// Attributes are what the document says beyond that, as written, for saving and
	// drawing.
	Attributes *value.Object

	// Child is the workflow that a node of the kind workflow runs, where the document holds
	// it; nil leaves it to the kind's configuration, which names a file.
	Child *Workflow

	// Handler, when set by the Go builder, is used instead of looking Kind up.
	Handler Handler
	Lost    source.Lost
	Pos     source.Position
}

// Subject returns what messages call the node: "node load".
func (n *Node) Subject() string { return "node " + n.ID.Value }

// ForEach runs a node once for each element of an array.
type ForEach struct {
	Source source.Text // a $.path, a JSONPath or an expression root
	// Concurrency is how many items may be in flight; nil means 1.
	Concurrency *source.Int
	// MaxFailures is how many items may fail before the rest is void; nil
	// means any number may fail (the node still fails at its end).
	MaxFailures *source.Int
	// Collect names the declared write that gets the results of the items as one list;
	// "" for none. Each item writes one element of it.
	Collect source.Text
	Lost    source.Lost
	Pos     source.Position
}

// OnError says what happens when an attempt or a node fails.
type OnError struct {
	// Policy is "skip", "fail_run" or "retry".
	Policy source.Text
	// What follows is the retry policy (policy retry): see RetryPolicy.
	Preset    source.Text
	Attempts  *source.Int
	Backoff   source.Text
	Factor    *source.Located[float64]
	Base, Max *source.Located[time.Duration]
	Jitter    *bool
	RetryOn   source.Text
	// Then is what happens when the attempts are used up: "" (the node fails,
	// the run fails), "skip" or "fail_run".
	Then source.Text
	Lost source.Lost
	Pos  source.Position
}

// Retry returns the retry policy that is part of it.
func (e *OnError) Retry() *RetryPolicy {
	return &RetryPolicy{Preset: e.Preset, Attempts: e.Attempts, Backoff: e.Backoff, Factor: e.Factor, Base: e.Base, Max: e.Max,
		Jitter: e.Jitter, RetryOn: e.RetryOn, Lost: e.Lost, Pos: e.Pos}
}

// RetryPolicy says how often a node is tried, and after what waits. What is absent is as
// in the preset, or has its default if there is none.
type RetryPolicy struct {
	// Name is what the policy is called among those of the workflow.
	Name source.Text
	// Preset is the name of the policy it is based on: none, standard, aggressive, linear,
	// patient, or one of the workflow's own; "" for none.
	Preset source.Text
	// Attempts counts all tries, the first included.
	Attempts *source.Int
	// Backoff is "" or "linear" (waits of base, 2 base, 3 base) or "exponential" (each
	// wait is Factor times the one before).
	Backoff source.Text
	// Factor is that of exponential waits; nil means 2.
	Factor *source.Located[float64]
	// Base is the wait before the second attempt; nil means 100 ms.
	Base *source.Located[time.Duration]
	// Max caps a wait; nil means no cap.
	Max *source.Located[time.Duration]
	// Jitter spreads a wait by a random factor between 0.5 and 1.5.
	Jitter *bool
	// RetryOn is "" or "any", or "transient" to try again only what is of the category
	// TransientInfra or asks for it.
	RetryOn source.Text
	Lost    source.Lost
	Pos     source.Position
}

// Edge says that a node comes after another, and under which conditions.
type Edge struct {
	From source.Text
	To   source.Text
	// When is the condition, nil for none. A present but empty one is an error.
	When *source.Text
	// Else marks `when: else`.
	Else bool
	// On is "" or "success", "fail" or "done".
	On source.Text
	// Handles reports whether the edge, with On "fail", handles the failure: if its
	// target runs, the failure does not fail the run. Nil means that it does not.
	Handles *source.Located[bool]
	// Parsed is the condition When as a format with a syntax of its own has read it;
	// nil means that When is an expression.
	Parsed Condition

	// What follows, up to MaxIterations, counts in walks only.

	// Label is what people read, and by which a node may prefer the edge.
	Label source.Text
	// Weight decides between edges that could be followed: the highest one wins.
	Weight source.Int
	// LoopRestart begins the walk anew at the target, with a fresh context.
	LoopRestart bool
	// Fidelity is how much a model node at its end is told of what came before it; "" leaves
	// it to the node.
	Fidelity source.Text
	// Freeform marks the edge out of a human node for answers that match no choice.
	Freeform bool
	// MaxIterations is how often the way from From to To may be taken in a run before this
	// edge is spent, whichever edges between the two were followed; nil means any number.
	// It counts with RouterModel only.
	MaxIterations *source.Int
	// Attributes are what the document says beyond that, as written.
	Attributes *value.Object
	// Implied marks an edge that the Go builder added by itself, because the
	// target reads a field that the source alone writes. It is an edge like any
	// other; whoever shows a plan can tell it from those that were asked for.
	Implied bool
	Lost    source.Lost
	Pos     source.Position
}

// Condition is a condition that a format with a syntax of its own has parsed: an
// *expressions.Tree.
type Condition interface{ Source() string }

// Pipeline runs rows of an array through stages.
type Pipeline struct {
	ID     source.Text
	Items  source.Text
	Stages []source.Text
	// Concurrency is how many rows may be under way at a time; nil means 1.
	// The result is that of one row at a time in any case.
	Concurrency *source.Int
	// Batch makes an array of so many elements a row; nil means that an element
	// is a row by itself.
	Batch *source.Int
	// Flush is how long the elements of a stream wait for others to make a full
	// batch; nil means for as long as it takes.
	Flush   *source.Located[time.Duration]
	Phase   source.Text
	OnError *OnError // skip or fail_run, for the pipeline's own faults
	Lost    source.Lost
	Pos     source.Position
}

// Loop repeats a body until a condition holds or a cap is reached.
type Loop struct {
	ID   source.Text
	Body []source.Text
	// BodyIsList records that the document wrote a list, for saving it back.
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

package core

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Kind is a kind of node: it reads its own configuration and creates the handler. A Kind is
// immutable and safe for concurrent use. NewKind makes one from a struct and a function.
type Kind interface {
	// Name is the word that documents use, such as "command".
	Name() string
	// Keys lists the configuration keys of the kind, required ones first. The formats
	// accept exactly these on a node, in addition to the common keys.
	Keys() []string
	// Compile reads and checks one node. It runs nothing and writes nothing. Diagnostics
	// have the positions of the configuration. If keys of the node could not be read, n.Lost
	// lists them. Compile then reports what does not follow from that, and of the results
	// only the references are used, as after an error.
	Compile(n *Node, env Env) (Compiled, source.Diagnostics)
}

// StateWriter is implemented by kinds whose nodes are rarely useful unless they write
// state. A node of such a kind is reported if its document does not say what it writes. An
// empty list is accepted.
type StateWriter interface {
	Kind
	WritesState() bool
}

// DocumentedKind is implemented by kinds that have a description.
type DocumentedKind interface {
	Kind
	// Doc returns one sentence that says what a node of the kind does.
	Doc() string
}

// Compiled is the result of compiling a node. Exactly one of Handler, Frame, Wait, Lacks,
// NoHandler and NoModel is set, or none if nodes of the Role run nothing.
type Compiled struct {
	Handler Handler
	// Role is the role of the node in a walk. Roles other than RoleStage exist in walks
	// only.
	Role Role
	// Frame makes the node a nested run of another workflow.
	Frame *Frame
	// Wait makes the node a timer that holds no slot.
	Wait *Wait
	// Lacks says what the node lacks to do its work. Such a node is valid and fails with
	// this text when it is visited.
	Lacks string
	// NoHandler says that the engine has no handler for the node, and what to register.
	// Compiling warns with this text, and runs are rejected before anything starts. NoModel
	// says that the node asks a model and the engine has none. Runs are rejected, too, but
	// without a warning, because the document is correct.
	NoHandler, NoModel string
	// Reads names further state fields that the node depends on, beyond its declared reads
	// and args, such as fields in templates. They are not part of the view; their values
	// are in Shared.Extra. Nodes names the nodes that $nodes.ID refers to.
	Reads []source.Text
	Nodes []source.Text
	// OptionalNodes are like Nodes, but need not precede the node; Shared.Nodes has only the
	// ones that do.
	OptionalNodes []source.Text
	// AnyInput reports whether the node may read inputs of the run ($input) that its
	// configuration does not name.
	AnyInput bool
	// Stream names the declared write that the node makes a stream, or is "" if there is
	// none; Handler is then a StreamSource. Streams names the reads that Handler accepts as
	// streams.
	Stream  source.Text
	Streams []source.Text
	// Columns describes the rows that the node writes, by field. Nothing is known about other
	// fields.
	Columns map[string]source.Columns
	// Results are fields that the kind writes, with the types of the values. Nothing is known
	// about other fields.
	Results []value.Property
	// Replaces says whether the node replaces files or tables. If it does, its handler must
	// be able to return a Placement.
	Replaces Replaces
	// Upserts reports whether the node stores rows by key and may set Result.Upserted.
	Upserts bool
	// Effects says that the work is visible outside of the run, unless the node overrides
	// it.
	Effects bool
	// Environments describes the environment of the programs that the node runs, if they do
	// not inherit all of it except Env.Private.
	Environments []Environment
	// Secrets are the secrets that the node refers to. Their values are masked wherever the
	// run is shown.
	Secrets []Secret
	// Models reports whether the node may call models, whose usage is accounted for; see
	// Meter.
	Models bool
	// Unpriced are the models without a known price that the node may ask. AsksRouter reports
	// whether the node asks the router of the run, and RouterModel is the model that it
	// requests.
	Unpriced    []string
	AsksRouter  bool
	RouterModel string
	// Briefed reports whether the handler asks a model that gets a description of the walk
	// so far, in a walk by outcomes; see Input.Briefing.
	Briefed bool
	// Checks are the names of the checks of the node's result, which later nodes of a walk
	// of RouterModel see under EvalsKey. It is nil if there are none, or if the result may
	// itself have a member of that name. CheckRefs are the checks of other nodes that the
	// node refers to.
	Checks    []string
	CheckRefs []CheckRef
	// Bookkeeping means that Handler only looks at its input and changes nothing outside of
	// its result. Rehearsals call such a handler, unless they have a substitute answer.
	Bookkeeping bool
	// Next are the nodes, or EndNode, that the result may name in Routing.Next, as far as the
	// configuration of the node names them. They must exist in a walk of RouterSteps.
	Next []source.Text
	// Stdout reports whether the node writes to Env.Stdout; only one node of a graph may do
	// so. Stdin reports whether it reads Env.Stdin.
	Stdout, Stdin bool
	// Outputs are the files and tables that the node writes, and Inputs the files and tables
	// that it reads, if their names are fixed in the document.
	Outputs, Inputs []Target
	// Missing are the skills of the node that are not available. It is also set if there
	// are errors. One warning lists the missing skills of all nodes.
	Missing MissingSkills
	// Warnings lists warnings that apply to many nodes of a document. Warnings with the same
	// code and message are reported once, with the names of all affected nodes.
	Warnings []KindWarning
}

// KindWarning is a warning about a node. Its message does not contain the name of the node.
type KindWarning struct {
	Code    source.Code
	Pos     source.Position
	Message string
	Hint    string // for several nodes, the first one's hint is reported
	// Unseen means that the warning is only for a node whose result nothing in the graph can see:
	// the node writes no field, its edges have no conditions, and no other node refers to it.
	Unseen bool
}

// CheckRef is a reference to a check of the result of a node.
type CheckRef struct {
	Node string
	Name source.Text
	// Key is the configuration key that contains the reference.
	Key string
}

// MissingSkills are skills of a node that are not available.
type MissingSkills struct {
	Names []source.Text
	// All reports whether the node has no other skills, and so fails when it is visited.
	All bool
}

// ColumnReader is a Handler that makes rows, and fails if they lack columns that expressions
// of the workflow read.
type ColumnReader interface {
	Handler
	// WithReads returns a handler that does the same and looks for the columns that
	// expressions read of the rows in its field.
	WithReads(reads []source.ColumnRead) Handler
}

// Environment describes the environment of a program.
type Environment struct {
	// Program is the name of the program in the document, or "" for the only program of the
	// node.
	Program string `json:"program,omitempty"`
	// Inherits are the variables that the program inherits if they are set. Sets are the
	// variables that the document sets.
	Inherits []string `json:"inherits"`
	Sets     []string `json:"sets,omitempty"`
}

// Secret is a reference to a value that is stored outside of documents and must not be
// shown.
type Secret struct {
	// Name is the name of the environment variable.
	Name source.Text
	// Read returns the value; ok is false if there is none.
	Read func() (value string, ok bool)
}

// Frame describes a nested run: its workflow and how values are passed in and out.
type Frame struct {
	Workflow *Workflow
	// The inputs of the nested run are the node's resolved args. Outputs maps fields of
	// this workflow to fields of the nested one; nil maps every declared write to the
	// nested field of the same name.
	Outputs map[string]string
	// Optional means that a declared write without a field in the nested workflow is
	// reported as a warning, and the field keeps its value.
	Optional bool
	// Send makes the node send its successors an object with the members status ("success"
	// or "partial") and finalState, the fields of the nested run.
	Send bool
}

// Wait describes a timer.
type Wait struct{ Duration time.Duration }

// Env gives a kind access to its surroundings while it compiles a node. Any function may be
// nil, which means that nothing of that sort can be found.
type Env struct {
	// Dir is the workflow's folder. Files gives access to it by relative, slash-separated
	// paths; paths outside of the folder are rejected. The contents of files that a kind
	// opens while it compiles a node are part of the plan: if they change, the plan has
	// another fingerprint, see plan.Plan.Fingerprint.
	Dir   string
	Files fs.FS
	// Resumed reports that the workflow is compiled to continue a run that has started. Files
	// that nodes read may be gone since. A kind that checks whether they exist reports a missing
	// one as a hint.
	Resumed bool
	// Private names the environment variables that programs do not inherit unless the
	// document says so: the variables with the API keys of models.
	Private []string
	// LookPath finds a program, as exec.LookPath does.
	LookPath func(name string) (string, error)
	// LoadWorkflow reads another workflow, relative to Dir.
	LoadWorkflow func(path string) (*Workflow, error)
	// ConventionsOf returns the conventions of the mode of another workflow.
	ConventionsOf func(w *Workflow) Conventions
	// Tool returns a registered Go function.
	Tool func(name string) (Handler, bool)
	// Tools lists the registered names, sorted.
	Tools []string
	// Stdout is the standard output of the program, or nil if it is not available.
	Stdout io.Writer
	// Stdin is the standard input of the program, or nil if it is not available.
	Stdin io.Reader
	// Schema answers questions about the workflow's state, for kinds that
	// compile expressions.
	Schema value.Schema
	// Columns returns what is known about the rows of a field beyond its declared type, from
	// the only node that writes it. It returns the zero Columns if nothing is known about
	// them.
	Columns func(field string) source.Columns
	// InputColumns describes the rows of an input, like Columns.
	InputColumns func(input string) source.Columns
	// Inputs are the names that are valid after $input, with their types, or nil if they
	// are not known.
	Inputs []value.Property
	// WriteType returns the type that the node may write into a field, or nil if it may
	// write anything. For a field that collects the results of items, it returns the type
	// of an element.
	WriteType func(field string) *value.Type
	// Edges are the edges that leave the node, in declared order, if its result may choose
	// among them; otherwise it is nil.
	Edges []*Edge
	// Agent is the call that an agent of a flow makes, with its sub-agents; nil for other nodes.
	Agent *AgentCall
	// Shapes keeps what kinds of NewKind know of their structs, for the next node. It may be nil.
	Shapes *source.Shapes
	Conventions
	// Items reports whether the node has $item and $index: it has for_each or is a stage of
	// a pipeline. Rounds reports whether it has $iter and $loop: it is in the body of a
	// loop.
	Items, Rounds bool
	// Item describes $item if it is a row.
	Item source.Columns
}

// Conventions describe how the mode of a graph uses its nodes and their results. The zero
// value describes ModeDAG.
type Conventions struct {
	// Context reports whether the run has a context, the field ContextField. Routing.Context
	// adds to it, and the nodes of walks can read it.
	Context bool
	// Late reports whether a node that lacks a setting is valid and fails when it is
	// visited; see Compiled.Lacks.
	Late bool
	// Branches reports whether parallel nodes put the results of their branches into the
	// context, under ContextParallelResults.
	Branches bool
	// Skips reports whether a result may have the status Skipped.
	Skips bool
	// Briefing reports whether a node that asks a model gets a description of the walk so
	// far, and may answer with a status directive; see Compiled.Briefed and ParseDirective.
	Briefing bool
	// HasRouter reports whether a Router chooses the edges. It sees what the node sends, and
	// the checks of its result; see Routing.Evals. If the model of a node cannot be reached,
	// the run ends, because the next edge would be chosen without its result.
	HasRouter bool
	// Steps reports whether seven steps choose the next node (RouterSteps). A visit of a node
	// that asks a model is then one call and the tools that it calls, see Routing.ToolCalls,
	// and a result may change the graph, see Routing.Mutations.
	Steps bool
	// Exit reports whether a run fails unless it reaches the exit. Otherwise it ends wherever no
	// edge can be followed.
	Exit bool
}

// Registry is a set of kinds and Go functions. It is a plain value: do not change it while
// it is in use. The zero Registry is empty.
type Registry struct {
	kinds      map[string]Kind
	tools      map[string]Handler
	conditions map[string]Predicate
}

// NewRegistry returns a registry of the given kinds. A later kind replaces an earlier one
// of the same name.
func NewRegistry(kinds ...Kind) *Registry {
	r := &Registry{}
	for _, k := range kinds {
		r.AddKind(k)
	}
	return r
}

// AddKind adds or replaces a kind.
func (r *Registry) AddKind(k Kind) {
	if r.kinds == nil {
		r.kinds = map[string]Kind{}
	}
	r.kinds[k.Name()] = k
}

// AddTool registers a Go function under the name that `impl:` uses. It returns an error if
// the name is taken.
func (r *Registry) AddTool(name string, h Handler) error {
	if _, ok := r.tools[name]; ok {
		return fmt.Errorf("tool %q is registered twice", name)
	}
	if r.tools == nil {
		r.tools = map[string]Handler{}
	}
	r.tools[name] = h
	return nil
}

// AddCondition registers a condition under the name that edges of walks refer to it by (see
// Cond.Ref). It returns an error if the name is taken.
func (r *Registry) AddCondition(name string, p Predicate) error {
	if _, ok := r.conditions[name]; ok {
		return fmt.Errorf("condition %q is registered twice", name)
	}
	if r.conditions == nil {
		r.conditions = map[string]Predicate{}
	}
	r.conditions[name] = p
	return nil
}

// Kind returns the kind of that name.
func (r *Registry) Kind(name string) (Kind, bool) {
	if r == nil {
		return nil, false
	}
	k, ok := r.kinds[name]
	return k, ok
}

// Tool returns the function of that name.
func (r *Registry) Tool(name string) (Handler, bool) {
	if r == nil {
		return nil, false
	}
	h, ok := r.tools[name]
	return h, ok
}

// Condition returns the condition of that name.
func (r *Registry) Condition(name string) (Predicate, bool) {
	if r == nil {
		return nil, false
	}
	p, ok := r.conditions[name]
	return p, ok
}

// ConditionNames lists the conditions, sorted.
func (r *Registry) ConditionNames() []string {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.conditions))
}

// KindNames lists the kinds, sorted.
func (r *Registry) KindNames() []string {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.kinds))
}

// ToolNames lists the functions, sorted.
func (r *Registry) ToolNames() []string {
	if r == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.tools))
}

// Clone returns an independent copy.
func (r *Registry) Clone() *Registry {
	if r == nil {
		return &Registry{}
	}
	return &Registry{kinds: maps.Clone(r.kinds), tools: maps.Clone(r.tools), conditions: maps.Clone(r.conditions)}
}

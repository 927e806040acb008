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

// Kind is a kind of node: it reads its own configuration and makes the handler.
// A Kind is immutable and safe for concurrent use. NewKind makes one of a struct and a
// function.
type Kind interface {
	// Name is the word documents use, such as "command".
	Name() string
	// Keys lists the configuration keys the kind owns, required ones first. The
	// formats accept exactly these on a node besides the common ones.
	Keys() []string
	// Compile reads and checks one node. It runs nothing and writes nothing.
	// Findings carry the positions of the configuration.
	Compile(n *Node, env Env) (Compiled, source.Diagnostics)
}

// StateWriter is implemented by kinds whose nodes make little sense unless they
// write state. A node of such a kind whose document does not say what it writes
// is reported; an empty list is an answer.
type StateWriter interface {
	Kind
	WritesState() bool
}

// DocumentedKind is implemented by kinds that describe themselves.
type DocumentedKind interface {
	Kind
	// Doc returns one sentence that says what a node of the kind does.
	Doc() string
}

// Compiled is what a kind makes of a node. Exactly one of Handler, Frame, Wait,
// Lacks, NoHandler and NoModel is set, or none if the Role runs nothing.
type Compiled struct {
	Handler Handler
	// Role is what the node is to a walk. All but RoleStage exist in walks only.
	Role Role
	// Frame makes the node a nested run of another workflow.
	Frame *Frame
	// Wait makes the node a timer that holds no slot.
	Wait *Wait
	// Lacks says what is missing for the node to do its work: it validates and fails
	// when it is reached, with this text.
	Lacks string
	// NoHandler says that the engine has no handler for the node and what to register.
	// Compiling warns with this text, and a run is refused before anything starts. NoModel
	// says that the node asks a model and the engine has none: a run is refused likewise,
	// without a warning, because it is no fault of the document.
	NoHandler, NoModel string
	// Reads names further state fields the node depends on, beyond its declared
	// reads and args, such as those in templates; they do not enter the view,
	// their values are in Shared.Extra. Nodes likewise names the nodes that
	// $nodes.ID refers to.
	Reads []source.Text
	Nodes []source.Text
	// Glances are nodes like Nodes that need not be known when the node starts: Shared.Nodes
	// does not have those that do not come before it.
	Glances []source.Text
	// Stream names the declared write that the node makes a stream, "" for none;
	// Handler is then a StreamSource. Streams names the reads that Handler is able
	// to take as a stream, should they be one.
	Stream  source.Text
	Streams []source.Text
	// Columns is what the kind knows of the rows that the node puts into its written
	// fields, by field; for those that are not there nothing is known.
	Columns map[string]Columns
	// Results are the types of the values that the kind writes, by field; nothing is known
	// of fields that are not there.
	Results map[string]*value.Type
	// Replaces says whether the node replaces files or tables. A handler of one that does
	// must be able to return a Placement.
	Replaces Replaces
	// Upserts reports whether the node stores rows by key and may set Result.Upserted.
	Upserts bool
	// Effects marks work that is visible outside of the run, unless the node says
	// otherwise.
	Effects bool
	// Environments tell what programs of the node get of the environment, where they do
	// not inherit all of it but Env.Private.
	Environments []Environment
	// Secrets are the secrets that the node refers to. Whatever shows what a run
	// does hides their values.
	Secrets []Secret
	// Models tells that the node may call models: what it takes is accounted for, see Meter.
	Models bool
	// Unpriced are the models that the node may ask and whose price is not known. AsksRouter
	// reports whether it asks the router of the run, and RouterModel for which model.
	Unpriced    []string
	AsksRouter  bool
	RouterModel string
	// Briefed tells that the handler asks a model, and is told what came before it in a walk
	// by outcomes, see Input.Briefing.
	Briefed bool
	// Checks are the names of the checks of the node's result, which later nodes of a walk of
	// RouterModel see under EvalsKey. It is nil if there are none, and if the result may have
	// a member of that name itself. CheckRefs are the checks of other nodes that the node
	// refers to.
	Checks    []string
	CheckRefs []CheckRef
	// Bookkeeping tells that Handler only looks at its input and changes nothing outside of
	// its result: rehearsals call it, unless they are given an answer in its place.
	Bookkeeping bool
	// Stdout tells that the node writes to Env.Stdout, which one node of a graph
	// may do. Stdin likewise tells that it reads Env.Stdin.
	Stdout, Stdin bool
	// Outputs are the files and tables that the node writes, Inputs those that it
	// reads, as far as the document spells out their names.
	Outputs, Inputs []Target
	// Missing are the skills of the node that nobody provides, also beside errors. One
	// warning tells of those of all nodes.
	Missing MissingSkills
	// Warnings lists warnings that apply to many nodes of a document. Warnings with the same
	// code and message are reported once, with the names of all affected nodes.
	Warnings []KindWarning
}

// KindWarning is a warning that a kind has about a node, whose name the message leaves out.
type KindWarning struct {
	Code    source.Code
	Pos     source.Position
	Message string
	Hint    string // of several nodes the hint of the first one is reported
}

// CheckRef is a reference to a check of the result of a node.
type CheckRef struct {
	Node string
	Name source.Text
	// Key is the key that refers to it.
	Key string
}

// MissingSkills are skills that a node is given and that are nowhere.
type MissingSkills struct {
	Names []source.Text
	// All tells that the node has no others, and fails when it is reached.
	All bool
}

// Columns says what is known of the rows of a table before anything runs. The zero
// Columns knows nothing.
type Columns struct {
	// Type is the type of a row, nil when unknown.
	Type *value.Type
	// Names lists all columns that rows may have when Closed; otherwise they may
	// have any.
	Names  []string
	Closed bool
	// Optional lists columns that are declared as such: no row needs to have them.
	Optional []string
	// Header is the id of the node that reads the rows from a source with a header, ""
	// if there is none: its output has the member "schema", a list of objects with the
	// members column and type, at least if there are no rows. The columns of the rows are
	// those.
	Header string
	// OnRead takes the columns that expressions read of the rows; nil drops them.
	OnRead func(ColumnRead)
}

// ColumnRead is a column that an expression reads of the rows of a field.
type ColumnRead struct {
	Column source.Text
	By     string // the subject of messages about the expression, such as "node a: args"
	// Tests says that the expression asks whether a row has the column, as in
	// $.rows[?@.error]: all rows may lack it, unless they have a header.
	Tests bool
}

// ColumnReader is a Handler that makes rows, and fails if they lack columns that expressions
// of the workflow read.
type ColumnReader interface {
	Handler
	// WithReads returns a handler that does the same and looks for the columns that
	// expressions read of the rows in its field.
	WithReads(reads []ColumnRead) Handler
}

// Read notes that an expression reads a column.
func (c Columns) Read(r ColumnRead) {
	if c.OnRead != nil {
		c.OnRead(r)
	}
}

// HeaderColumns returns the columns that the output of the node of Columns.Header
// lists, with their types; nil if it lists none.
func HeaderColumns(output any) []value.Property {
	o, _ := output.(*value.Object)
	if o == nil {
		return nil
	}
	list, _ := o.Get("schema")
	columns, _ := list.([]any)
	var out []value.Property
	for _, e := range columns {
		column, _ := e.(*value.Object)
		if column == nil {
			return nil
		}
		name, _ := column.Get("column")
		word, _ := column.Get("type")
		p := value.Property{}
		p.Name, _ = name.(string)
		text, _ := word.(string)
		if kind, ok := value.TypeKindOf(text); ok && kind != value.NullType {
			p.Type = &value.Type{Kind: kind}
		}
		out = append(out, p)
	}
	return out
}

// Kind returns the type of a column, AnyType when unknown.
func (c Columns) Kind(name string) value.TypeKind {
	if t, ok := c.Type.Property(name); ok && t != nil {
		return t.Kind
	}
	return value.AnyType
}

// Has reports whether rows may have a column.
func (c Columns) Has(name string) bool { return !c.Closed || slices.Contains(c.Names, name) }

// All returns all columns that rows may have, nil if they may have any.
func (c Columns) All() []string {
	if !c.Closed {
		return nil
	}
	return append([]string{}, c.Names...)
}

// Environment is what a program gets of the environment.
type Environment struct {
	// Program is what the document calls it, "" for the node's only one.
	Program string `json:"program,omitempty"`
	// Inherits are the variables that it gets if they are set, Sets those that the document
	// gives it.
	Inherits []string `json:"inherits"`
	Sets     []string `json:"sets,omitempty"`
}

// Secret is a reference to a value that is kept outside of documents and must not
// be shown.
type Secret struct {
	// Name is what the document calls it: that of an environment variable.
	Name source.Text
	// Read returns the value; ok is false when there is none.
	Read func() (value string, ok bool)
}

// Frame describes a nested run: its workflow, and how state crosses over.
type Frame struct {
	Workflow *Workflow
	// Inputs of the nested run are the node's resolved args. Outputs maps
	// fields of this workflow to fields of the nested one; nil maps every
	// declared write to the nested field of the same name.
	Outputs map[string]string
	// Optional tells that a declared write without a field to fill it from is a warning
	// and stays as it is.
	Optional bool
	// Send hands an object with the members status ("success" or "partial") and
	// finalState, the fields of the nested run, to the node's successors.
	Send bool
}

// Wait describes a timer.
type Wait struct{ Duration time.Duration }

// Env is what a kind may ask of the world while it compiles a node. All
// functions may be nil, which means that nothing of the sort can be found.
type Env struct {
	// Dir is the workflow's folder. Files gives access to it: relative, slash
	// separated paths; what leaves the folder is refused. The contents of files that a kind
	// opens while it compiles a node are part of what the node does: another content makes
	// another plan, see plan.Plan.Fingerprint.
	Dir   string
	Files fs.FS
	// Private names the variables of the environment that programs do not get unless the
	// document says so: those from which the keys of models are read.
	Private []string
	// LookPath finds a program, as exec.LookPath does.
	LookPath func(name string) (string, error)
	// LoadWorkflow reads another workflow, relative to Dir.
	LoadWorkflow func(path string) (*Workflow, error)
	// Tool returns a registered Go function.
	Tool func(name string) (Handler, bool)
	// Tools lists the registered names, sorted.
	Tools []string
	// Stdout is the standard output of the program, nil when it has none to give.
	Stdout io.Writer
	// Stdin is the standard input of the program, nil when it has none to give.
	Stdin io.Reader
	// Schema answers questions about the workflow's state, for kinds that
	// compile expressions.
	Schema Schema
	// Columns tells what is known of the rows of a field beyond its declared type,
	// from the one node that writes it; the zero Columns when nothing is.
	Columns func(field string) Columns
	// Inputs are the names that are valid after $input, with their types; nil when they are
	// not known.
	Inputs []value.Property
	// WriteType tells the type of what the node may write into a field, nil for anything.
	// Of a field that collects the results of items it is the type of an element.
	WriteType func(field string) *value.Type
	// Edges are the edges that leave the node, in declared order, if its result may say which
	// of them to follow; nil if it may not.
	Edges []*Edge
	Conventions
	// Items tells that the node is given $item and $index: it has for_each or is
	// a stage of a pipeline. Rounds tells that it is given $iter and $loop: it is
	// in the body of a loop.
	Items, Rounds bool
	// Item is what is known of $item, if it is a row.
	Item Columns
}

// Conventions are what the mode of a graph does with its nodes and their results. The zero
// value describes ModeDAG.
type Conventions struct {
	// Context reports whether the run has a context, the field ContextField. Nodes see it, and
	// Routing.Context adds to it.
	Context bool
	// Late reports whether a node that lacks a setting loads, and fails when it is visited;
	// see Compiled.Lacks.
	Late bool
	// Branches reports whether parallel nodes put the results of their branches into the
	// context, under ContextParallelResults.
	Branches bool
	// Skips reports whether a result may have the status Skipped.
	Skips bool
	// Told reports whether a node that asks a model is told what came before it, and may
	// answer with a status directive; see Compiled.Briefed and ParseDirective.
	Told bool
	// Shown reports whether a Router is shown what the node sends, and the checks of its
	// result, see Routing.Evals. A node whose model cannot be reached ends the run, since the
	// next edge would be chosen without its result.
	Shown bool
}

// Schema tells the declared state fields.
type Schema interface {
	// FieldType returns a field's type (nil: anything); ok is false for a
	// field that is not declared.
	FieldType(name string) (t *value.Type, ok bool)
	// FieldNames lists the fields in declared order.
	FieldNames() []string
}

// Registry is a set of kinds and Go functions. It is a plain value: build it,
// hand it over, do not change it while it is in use. The zero Registry is empty.
type Registry struct {
	kinds map[string]Kind
	tools map[string]Handler
}

// NewRegistry returns a registry of the given kinds; a later kind of the same
// name replaces an earlier one.
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

// AddTool registers a Go function under the name that `impl:` uses. A name that
// is taken is an error.
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
	return &Registry{kinds: maps.Clone(r.kinds), tools: maps.Clone(r.tools)}
}

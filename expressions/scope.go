package expressions

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Root is a set of the roots that a path can begin with.
type Root uint16

// Roots. The state exists everywhere, $item and $index in fan-outs and pipelines, $iter
// and $loop in loop bodies. The roots from $output to preferred_label exist in walk
// mode, after a visit.
const (
	RootState          Root = 1 << iota // $.field
	RootItem                            // $item
	RootIndex                           // $index
	RootNodes                           // $nodes.ID.status, $nodes.ID.output
	RootInput                           // $input.NAME
	RootOutput                          // $output
	RootError                           // $error
	RootToolCalls                       // $tool_calls
	RootGuardsFailed                    // $guards_failed
	RootVisits                          // $visits
	RootOutcome                         // outcome, without a $
	RootPreferredLabel                  // preferred_label, without a $
	RootIter                            // $iter, the round of a loop, from 0
	RootLoop                            // $loop, the id of the loop

	allRoots = 1<<iota - 1
)

// rootNames lists the names of the roots in order of their bits.
var rootNames = [...]string{"$", "$item", "$index", "$nodes", "$input", "$output", "$error",
	"$tool_calls", "$guards_failed", "$visits", "outcome", "preferred_label", "$iter", "$loop"}

// String returns the name of the root. For a set, it returns the name of the first one.
func (r Root) String() string {
	for i, n := range rootNames {
		if r&(1<<i) != 0 {
			return n
		}
	}
	return ""
}

// rootOf returns the root with the given name, except "$".
func rootOf(text string) (Root, bool) {
	i := slices.Index(rootNames[1:], text)
	return 1 << (i + 1), i >= 0
}

// WordRoot returns the root with the given name if it is one that is written without a
// $.
func WordRoot(word string) (Root, bool) {
	switch word {
	case "outcome":
		return RootOutcome, true
	case "preferred_label":
		return RootPreferredLabel, true
	}
	return 0, false
}

// whereDefined describes where a root exists, for the hint of an error.
func (r Root) whereDefined() string {
	switch r {
	case RootItem, RootIndex:
		return "it exists in nodes with for_each and in pipelines"
	case RootIter, RootLoop:
		return "it exists in the args and templates of loop bodies"
	case RootNodes, RootInput, RootState:
		return ""
	}
	return "it exists after a visit in the walk mode"
}

// Scope describes the names that exist at the place of an expression.
//
// Without a schema (Fields is nil or an *Open) the expression is compiled for plain
// values of unknown types. Fields that have not been written are missing, and there are
// no errors about names or types.
type Scope struct {
	// Fields is the schema of the state.
	Fields value.Schema
	// Roots are the roots that exist here. The state always does. Without a schema, the
	// zero value means all roots.
	Roots Root
	// Nodes are the ids that are valid after $nodes. The index of an id in this list is
	// the argument of Env.Node.
	Nodes []string
	// NodeSlot returns the index of an id in Nodes. If it is nil, Nodes is searched
	// linearly.
	NodeSlot func(id string) (slot int, ok bool)
	// Inputs are the names that are valid after $input, with their types. Nil allows any
	// name.
	Inputs []value.Property
	// Unknown reports whether an undeclared name after $., $nodes. or $input. may
	// nevertheless exist, for example because its declaration has an error. Such a name
	// is not an error and its type is unknown. A program that uses one cannot run. If
	// Unknown is nil, undeclared names are errors.
	Unknown func(root Root, name string) bool
	// ItemType is the type of $item, nil if unknown.
	ItemType *value.Type
	// Item describes the columns of $item if it is a row. If all columns are known,
	// reading any other column is an error, except as an argument of coalesce.
	// Otherwise, Item.OnRead is called for columns that are read.
	Item source.Columns
	// Rows returns the columns of the rows of a state field, or of the field itself if
	// it is declared as an object. If all columns are known, a path such as
	// $.rows[0].price that reads any other column is an error, except as an argument of
	// coalesce. Otherwise, OnRead of the result is called for columns that are read. If
	// Rows is nil, nothing is known about any rows.
	Rows func(field string) source.Columns
	// InputRows is what Rows is, for the names after $input.
	InputRows func(input string) source.Columns
	// Columns, if not nil, means that $item is a table row; it assigns slots to the
	// columns that are read.
	Columns *Columns
}

// has reports whether a root exists.
func (s *Scope) has(r Root) bool {
	if r == RootState {
		return true
	}
	if s.Roots == 0 && s.untyped() {
		return true
	}
	return s.Roots&r != 0
}

// mayExist reports whether an undeclared name may nevertheless exist.
func (s *Scope) mayExist(root Root, name string) bool {
	return s.Unknown != nil && s.Unknown(root, name)
}

// untyped reports whether the scope has no schema.
func (s *Scope) untyped() bool {
	if s.Fields == nil {
		return true
	}
	_, open := s.Fields.(*Open)
	return open
}

// SlotSchema is a schema that can return the index of a field among its FieldNames
// without a linear search.
type SlotSchema interface {
	value.Schema
	// Index returns the index of a field in FieldNames.
	Index(name string) (i int, ok bool)
}

// slotOf returns the slot of a declared field.
func slotOf(s value.Schema, name string) int {
	if f, ok := s.(SlotSchema); ok {
		i, _ := f.Index(name)
		return i
	}
	return slices.Index(s.FieldNames(), name)
}

// nodeSlot returns the index of an id in Nodes, or -1 if there is none.
func (s *Scope) nodeSlot(id string) int {
	if s.NodeSlot == nil {
		return slices.Index(s.Nodes, id)
	}
	if slot, ok := s.NodeSlot(id); ok {
		return slot
	}
	return -1
}

// Columns numbers the columns of a table in the order in which expressions first use
// them. A program compiled with Columns reads $item.name with Env.Field and a negative
// slot: ^i for column number i. An Env can thus locate each column once for many rows.
// Programs compiled with the same Columns share its numbers. The zero value is ready to
// use. It must not be used by several goroutines while expressions are compiled.
type Columns struct{ names []string }

// Names returns the columns by number. The slice must not be changed.
func (c *Columns) Names() []string { return c.names }

// slot returns the slot of a column.
func (c *Columns) slot(name string) int {
	c.names = appendOnce(c.names, name)
	return ^slices.Index(c.names, name)
}

// Open replaces a schema if there is none. It accepts every name and assigns slots in
// the order of first use. Programs compiled with the same Open share its slots, so one
// Env serves them all. The zero value is ready to use. It must not be used by several
// goroutines while expressions are compiled.
type Open struct {
	fields []string
	nodes  []string
}

// FieldType accepts every name. The type is unknown.
func (o *Open) FieldType(string) (*value.Type, bool) { return nil, true }

// FieldNames returns the names used so far, in the order of their slots.
func (o *Open) FieldNames() []string { return o.fields }

// NodeNames returns the ids of Scope.Nodes, followed by the other ids that were used.
func (o *Open) NodeNames() []string { return o.nodes }

// slot returns the slot of a name. It assigns a new one at the first use.
func (o *Open) slot(name string) int {
	o.fields = appendOnce(o.fields, name)
	return slices.Index(o.fields, name)
}

func (o *Open) node(id string) int {
	o.nodes = appendOnce(o.nodes, id)
	return slices.Index(o.nodes, id)
}

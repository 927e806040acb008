package expressions

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// Root is a set of the roots that a path can begin with.
type Root uint16

// Roots. The state exists everywhere; item and index in fan-outs and pipelines;
// $iter and $loop in loop bodies; those between in the walk mode, after a visit.
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
	RootIter                            // $iter, the round of a loop from 0
	RootLoop                            // $loop, the id of the loop

	allRoots = 1<<iota - 1
)

// rootNames spells the roots, in order of their bits.
var rootNames = [...]string{"$", "$item", "$index", "$nodes", "$input", "$output", "$error",
	"$tool_calls", "$guards_failed", "$visits", "outcome", "preferred_label", "$iter", "$loop"}

// String returns the root as it is written; of a set, the first one.
func (r Root) String() string {
	for i, n := range rootNames {
		if r&(1<<i) != 0 {
			return n
		}
	}
	return ""
}

// rootOf returns the root that is spelt like that, "$" excepted.
func rootOf(text string) (Root, bool) {
	i := slices.Index(rootNames[1:], text)
	return 1 << (i + 1), i >= 0
}

// WordRoot returns the root that is written as a bare word: those without a $.
func WordRoot(word string) (Root, bool) {
	switch word {
	case "outcome":
		return RootOutcome, true
	case "preferred_label":
		return RootPreferredLabel, true
	}
	return 0, false
}

// places says where a root can be used, for the error when it cannot.
func (r Root) places() string {
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

// Scope says which names exist where a text stands.
//
// Without a schema (Fields nil or an *Open) the text is compiled against plain
// values: types are unknown, a name nobody wrote is missing, and nothing about
// names or types is an error.
type Scope struct {
	// Fields is the schema of the state.
	Fields core.Schema
	// Roots are the roots that exist here. The state always does, and without
	// a schema the zero set means all.
	Roots Root
	// Nodes are the ids valid after $nodes.; an id's place in the list is what
	// Env.Node is asked for.
	Nodes []string
	// NodeSlot finds the place of an id in Nodes faster than by looking through
	// them; nil: they are looked through.
	NodeSlot func(id string) (slot int, ok bool)
	// Inputs are the names valid after $input.; nil means any.
	Inputs []core.InputDecl
	// Unknown reports whether a name that is not among the known ones behind $., $nodes.
	// or $input. may stand for something all the same: then it is no error, and nothing
	// is known of what it stands for. A program that uses it cannot run. nil: none may.
	Unknown func(root Root, name string) bool
	// ItemType is the type of $item, nil when unknown.
	ItemType *core.Type
	// Item is what is known of $item when it is a row. A column that it cannot have is an
	// error, except as an argument of coalesce; of other columns Item.OnRead is told.
	Item core.Columns
	// Rows tells what is known of the rows of a state field, or of the field itself if it is
	// declared as an object; nil: nothing is. A column that they cannot have is an error in
	// a path such as $.rows[0].price, except as an argument of coalesce; of other columns its
	// OnRead is told.
	Rows func(field string) core.Columns
	// Columns says that $item is the row of a table, and takes account of the
	// columns that are read; nil: $item is read like anything else.
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

// mayBe reports whether a name that is not known may stand for something.
func (s *Scope) mayBe(root Root, name string) bool { return s.Unknown != nil && s.Unknown(root, name) }

// untyped reports whether the scope knows no schema.
func (s *Scope) untyped() bool {
	if s.Fields == nil {
		return true
	}
	_, open := s.Fields.(*Open)
	return open
}

// SlotSchema is a schema that finds the place of a field among its FieldNames
// faster than by looking through them.
type SlotSchema interface {
	core.Schema
	// Index returns the index of a field in FieldNames.
	Index(name string) (i int, ok bool)
}

// slotOf returns the slot of a declared field.
func slotOf(s core.Schema, name string) int {
	if f, ok := s.(SlotSchema); ok {
		i, _ := f.Index(name)
		return i
	}
	return slices.Index(s.FieldNames(), name)
}

// nodeSlot returns the place of an id in Nodes, -1 for none.
func (s *Scope) nodeSlot(id string) int {
	if s.NodeSlot == nil {
		return slices.Index(s.Nodes, id)
	}
	if slot, ok := s.NodeSlot(id); ok {
		return slot
	}
	return -1
}

// Columns numbers the columns of a table that texts read, in order of use. A
// program that was compiled with it reads $item.name with Env.Field and a
// negative slot, ^i for column number i, so that an Env can find out once for
// many rows where a column stands. Programs compiled with the same Columns share
// its numbers. The zero Columns is ready to use; it must not be used by two
// goroutines while texts are compiled.
type Columns struct{ names []string }

// Names lists the columns by number. It must not be changed.
func (c *Columns) Names() []string { return c.names }

// slot returns the slot of a column.
func (c *Columns) slot(name string) int {
	c.names = appendOnce(c.names, name)
	return ^slices.Index(c.names, name)
}

// Open stands for a schema where there is none: it accepts every name and hands
// out slots in the order in which texts use them. Programs compiled with the
// same Open share its slots, so one Env serves them all. The zero Open is ready
// to use; it must not be used by two goroutines while texts are compiled.
type Open struct {
	fields []string
	nodes  []string
}

// FieldType accepts every name; nothing is known about its type.
func (o *Open) FieldType(string) (*core.Type, bool) { return nil, true }

// FieldNames lists the names used so far, in the order of their slots.
func (o *Open) FieldNames() []string { return o.fields }

// NodeNames lists the ids of Scope.Nodes and then those used beyond them.
func (o *Open) NodeNames() []string { return o.nodes }

// slot returns the slot of a name, a new one at its first use.
func (o *Open) slot(name string) int {
	o.fields = appendOnce(o.fields, name)
	return slices.Index(o.fields, name)
}

func (o *Open) node(id string) int {
	o.nodes = appendOnce(o.nodes, id)
	return slices.Index(o.nodes, id)
}

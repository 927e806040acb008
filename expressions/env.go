package expressions

import (
	"github.com/wavefold/wavefold/core"
)

// Env is what evaluation reads. A value that is not there is core.Missing. An
// Env is asked only for what the program's Scope allowed, any number of times
// during one evaluation.
type Env interface {
	// Field returns a state field. With a schema, slot is the field's index in
	// FieldNames; without one, its index in Program.Fields, or among the names
	// of the Scope's Open. A negative slot is a column, see Columns.
	Field(slot int) any
	// Node returns what $nodes.ID is. The id is the index in Scope.Nodes;
	// without a schema, ids beyond them follow in order of use. A node that is
	// not resolved yet has StatusNone and the output core.Missing.
	Node(id int) (status core.Status, output any)
	// Input returns an input of the run.
	Input(name string) any
	// Item returns $item.
	Item() any
	// Index returns $index: an int64.
	Index() any
	// Extra returns one of the roots of the walk mode.
	Extra(root Root) any
}

// ref is a compiled path.
type ref struct {
	root   Root
	field  bool   // a state field or a column: read by Env.Field
	slot   int    // of a field, column or node
	output bool   // of a node: its output, else its status
	name   string // of a field, node or input
	steps  []Step // after the field, column, node or input
}

// get returns the value the path leads to.
func (r *ref) get(env Env) any {
	if !r.field {
		return r.other(env)
	}
	v := env.Field(r.slot)
	if len(r.steps) != 0 {
		return walk(v, r.steps)
	}
	return v
}

// statusValues are the statuses as values, made once so that reading one does
// not allocate.
var statusValues = [...]any{core.Missing, core.Success.String(), core.PartialSuccess.String(), core.Fail.String(), core.Skipped.String()}

// other reads a path that does not begin with a field or column.
func (r *ref) other(env Env) any {
	var v any
	switch r.root {
	case RootItem:
		v = env.Item()
	case RootIndex:
		v = env.Index()
	case RootNodes:
		status, output := env.Node(r.slot)
		if !r.output {
			return statusValues[status]
		}
		v = output
	case RootInput:
		v = env.Input(r.name)
	default:
		v = env.Extra(r.root)
	}
	return walk(v, r.steps)
}

// walk follows steps into a value.
func walk(v any, steps []Step) any {
	for i := range steps {
		s := &steps[i]
		if s.IsIndex {
			v = element(v, s.Index)
			continue
		}
		o, ok := v.(*core.Object)
		if !ok {
			v = member(v, s.Name)
			continue
		}
		if v, ok = o.Get(s.Name); !ok {
			return core.Missing
		}
	}
	return v
}

// MapEnv holds plain values by name, for tests, one-off evaluations and texts
// without a schema. Bind makes it the Env of a program.
type MapEnv struct {
	// State holds the fields; those it lacks are missing.
	State *core.Object
	// Item is $item and Index $index. When Index is none and Item nil, $item is
	// missing; to say that it is null, set an Index.
	Item  any
	Index core.Ordinal
	// Inputs holds the inputs of the run.
	Inputs *core.Object
	// Nodes answers $nodes; nil means that no node is resolved.
	Nodes core.NodeLookup
	// Extras holds the roots of the walk mode.
	Extras map[Root]any
}

// Bind returns an Env for a program.
func (m MapEnv) Bind(p *Program) Env { return m.On(p.slots, p.nodes) }

// On returns an Env for programs whose slots and node ids are numbered like the
// two lists.
func (m MapEnv) On(fields, nodes []string) Env { return &bound{m, fields, nodes} }

// bound is a MapEnv with the names of its slots.
type bound struct {
	values        MapEnv
	fields, nodes []string
}

func (b *bound) Field(slot int) any { return get(b.values.State, b.fields[slot]) }

func (b *bound) Input(name string) any { return get(b.values.Inputs, name) }

func get(o *core.Object, name string) any {
	if v, ok := o.Get(name); ok {
		return v
	}
	return core.Missing
}

func (b *bound) Node(id int) (core.Status, any) { return lookUp(b.values.Nodes, b.nodes[id]) }

func lookUp(nodes core.NodeLookup, id string) (core.Status, any) {
	if nodes == nil {
		return core.StatusNone, core.Missing
	}
	status, output, ok := nodes(id)
	if !ok {
		return core.StatusNone, core.Missing
	}
	return status, output
}

func (b *bound) Item() any {
	if b.values.Item == nil && b.values.Index == 0 {
		return core.Missing
	}
	return b.values.Item
}

func (b *bound) Index() any { return indexValue(b.values.Index) }

func indexValue(o core.Ordinal) any {
	if i, ok := o.Get(); ok {
		return int64(i)
	}
	return core.Missing
}

func (b *bound) Extra(root Root) any {
	if v, ok := b.values.Extras[root]; ok {
		return v
	}
	return core.Missing
}

// ForInput returns an Env over what a handler was given, for kinds of nodes that
// evaluate expressions; fields and nodes number the slots and ids, as for
// MapEnv.On. A field is found when it is among the node's reads or among what
// its kind asked for in Compiled.Reads.
func ForInput(s core.Shared, fields, nodes []string) Env {
	return &inputEnv{s: s, fields: fields, nodes: nodes}
}

type inputEnv struct {
	s             core.Shared
	fields, nodes []string
}

func (e *inputEnv) Field(slot int) any {
	if v, ok := e.s.View.Get(e.fields[slot]); ok {
		return v
	}
	if v, ok := e.s.Extra.Get(e.fields[slot]); ok {
		return v
	}
	return core.Missing
}

func (e *inputEnv) Node(id int) (core.Status, any) { return lookUp(e.s.Nodes, e.nodes[id]) }

func (e *inputEnv) Input(name string) any { return get(e.s.Inputs, name) }

func (e *inputEnv) Item() any {
	if e.s.Index == 0 {
		return core.Missing
	}
	return e.s.Item
}

func (e *inputEnv) Index() any { return indexValue(e.s.Index) }

func (e *inputEnv) Extra(Root) any { return core.Missing }

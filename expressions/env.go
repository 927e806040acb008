package expressions

import "github.com/wavefold/wavefold/core/value"

// Env supplies the values that an evaluation reads. A missing value is value.Missing.
// Evaluation reads only what the program's Scope allows, and may read it any number of
// times.
type Env interface {
	// Field returns a state field. With a schema, slot is the field's index in
	// FieldNames. Without one, it is the index in Program.Fields, or among the names of
	// the Scope's Open. A negative slot is a column, see Columns.
	Field(slot int) any
	// Node returns the status and output of a node. The id is its index in Scope.Nodes;
	// without a schema, the ids that are not in that list follow in order of use. A
	// node that is not resolved yet has neither, so both are value.Missing.
	Node(id int) (status, output any)
	// Input returns an input of the run.
	Input(name string) any
	// Item returns $item.
	Item() any
	// Index returns $index, an int64.
	Index() any
	// Extra returns the value of a root that exists only in walk mode.
	Extra(root Root) any
}

// ref is a compiled path.
type ref struct {
	root   Root
	field  bool   // a state field or a column, read with Env.Field
	slot   int    // of a field, column or node
	output bool   // of a node: selects the output, otherwise the status
	name   string // of a field, node or input
	steps  []Step // the steps after the field, column, node or input
}

// get returns the value the path leads to.
func (r *ref) get(env Env) any {
	if !r.field {
		return r.nonField(env)
	}
	v := env.Field(r.slot)
	if len(r.steps) != 0 {
		return walk(v, r.steps)
	}
	return v
}

// nonField reads a path that does not begin with a field or column.
func (r *ref) nonField(env Env) any {
	var v any
	switch r.root {
	case RootItem:
		v = env.Item()
	case RootIndex:
		v = env.Index()
	case RootNodes:
		status, output := env.Node(r.slot)
		if !r.output {
			return status
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
		o, ok := v.(*value.Object)
		if !ok {
			v = member(v, s.Name)
			continue
		}
		if v, ok = o.Get(s.Name); !ok {
			return value.Missing
		}
	}
	return v
}

// MapEnv holds plain values by name. It is intended for tests, one-off evaluations and
// expressions without a schema. Bind returns it as an Env for a program.
type MapEnv struct {
	// State holds the fields. A field that is not in it is missing.
	State *value.Object
	// Item is $item and Index, an int64, is $index; they are nil if there is no item.
	// If both are nil, $item is missing; for a $item that is null, set Index.
	Item, Index any
	// Inputs holds the inputs of the run.
	Inputs *value.Object
	// Nodes returns the status of a node, a string, and its output. ok is false if the
	// node is not resolved. If Nodes is nil, no node is.
	Nodes func(id string) (status, output any, ok bool)
	// Extras holds the values of the roots that exist only in walk mode.
	Extras map[Root]any
}

// Bind returns an Env for a program.
func (m MapEnv) Bind(p *Program) Env { return m.On(p.slots, p.nodes) }

// On returns an Env for programs whose slots and node ids are indexes into the two
// lists.
func (m MapEnv) On(fields, nodes []string) Env { return &boundEnv{m, fields, nodes} }

// boundEnv is a MapEnv with the names of the slots and nodes.
type boundEnv struct {
	values        MapEnv
	fields, nodes []string
}

func (b *boundEnv) Field(slot int) any { return get(b.values.State, b.fields[slot]) }

func (b *boundEnv) Input(name string) any { return get(b.values.Inputs, name) }

func get(o *value.Object, name string) any {
	if v, ok := o.Get(name); ok {
		return v
	}
	return value.Missing
}

func (b *boundEnv) Node(id int) (status, output any) {
	if b.values.Nodes != nil {
		if status, output, ok := b.values.Nodes(b.nodes[id]); ok {
			return status, output
		}
	}
	return value.Missing, value.Missing
}

func (b *boundEnv) Item() any {
	if b.values.Item == nil && b.values.Index == nil {
		return value.Missing
	}
	return b.values.Item
}

func (b *boundEnv) Index() any {
	if b.values.Index == nil {
		return value.Missing
	}
	return b.values.Index
}

func (b *boundEnv) Extra(root Root) any {
	if v, ok := b.values.Extras[root]; ok {
		return v
	}
	return value.Missing
}

// Input supplies what a handler received, by name: core.Input.Values returns one. A value
// that does not exist is value.Missing.
type Input interface {
	// Field returns a state field.
	Field(name string) any
	// Node returns the status of a node, a string, and its output.
	Node(id string) (status, output any)
	// Input returns an input of the run.
	Input(name string) any
	// Item returns $item.
	Item() any
	// Index returns $index, an int64.
	Index() any
}

// ForInput returns an Env that reads what a handler received, for node kinds that
// evaluate expressions. The slots and node ids are indexes into fields and nodes, as
// for MapEnv.On. A field is available if it is among the node's reads or was requested
// by its kind in Compiled.Reads.
func ForInput(in Input, fields, nodes []string) Env {
	return &inputEnv{in, fields, nodes}
}

type inputEnv struct {
	in            Input
	fields, nodes []string
}

func (e *inputEnv) Field(slot int) any               { return e.in.Field(e.fields[slot]) }
func (e *inputEnv) Node(id int) (status, output any) { return e.in.Node(e.nodes[id]) }
func (e *inputEnv) Input(name string) any            { return e.in.Input(name) }
func (e *inputEnv) Item() any                        { return e.in.Item() }
func (e *inputEnv) Index() any                       { return e.in.Index() }
func (e *inputEnv) Extra(Root) any                   { return value.Missing }

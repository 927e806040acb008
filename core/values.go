package core

import "github.com/wavefold/wavefold/core/value"

// Values supplies the values of an Input by name, to expressions and templates. A value that
// does not exist is value.Missing. All values are shared with the engine.
type Values struct {
	s     *Shared
	view  *View
	item  any
	index Ordinal
}

// Values returns the values of the input, for expressions.ForInput and Template.ForInput.
func (in Input) Values() Values {
	item, index := in.Element()
	return Values{in.shared(), in.view(), item, index}
}

// Values is like Input.Values. It copies s; if there is an Input, Input.Values is cheaper.
func (s Shared) Values() Values { return Values{&s, &s.View, s.Item, s.Index} }

// Field returns a state field that is among the node's reads or was requested by its kind in
// Compiled.Reads.
func (v Values) Field(name string) any {
	if v, ok := v.view.Get(name); ok {
		return v
	}
	return found(v.s.Extra.Get(name))
}

// Node returns the status of a node, a string, and its output.
func (v Values) Node(id string) (status, output any) {
	if v.s.Nodes != nil {
		if status, output, ok := v.s.Nodes(id); ok {
			return status.Value(), output
		}
	}
	return value.Missing, value.Missing
}

// Input returns an input of the run.
func (v Values) Input(name string) any { return found(v.s.Inputs.Get(name)) }

// Item returns $item.
func (v Values) Item() any { return found(v.item, v.index > 0) }

// Index returns $index, an int64.
func (v Values) Index() any {
	i, ok := v.index.Get()
	return found(int64(i), ok)
}

// Name returns the value of a plain name in a template. It is looked up in the node's view of
// the state, in the edge inputs and in the args; if several have it, the last one wins. If
// none has it, it is looked up in the fields that the node's kind requested in
// Compiled.Reads.
func (v Values) Name(name string) any {
	if v, ok := v.s.Args.Get(name); ok {
		return v
	}
	if v, ok := v.s.Edges.Get(name); ok {
		return v
	}
	return v.Field(name)
}

func found(v any, ok bool) any {
	if !ok {
		return value.Missing
	}
	return v
}

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Open reports whether the only field of the state is the context, whose members are what nodes
// write and what expressions name: $.k is $.context.k.
func (p *Plan) Open() bool { return p.open }

// openFields is the schema of an open state.
type openFields struct{ fields }

// MembersOf returns the field whose members are the undeclared names.
func (openFields) MembersOf() string { return core.ContextField }

// stateFields returns the schema of the state for expressions.
func (c *compiler) stateFields() value.Schema {
	if c.p.open {
		return openFields{fields{c.p.Schema}}
	}
	return fields{c.p.Schema}
}

// memberNames returns the names of a list without duplicates, of which all but the context are its
// members.
func (c *compiler) memberNames(list []source.Text, at place) []string {
	var names []string
	for _, name := range list {
		switch {
		case slices.Contains(names, name.Value):
			c.ds.Warnf(source.CodeDuplicate, name.Pos, "%s: %q appears twice", at, name.Value)
		case !isID(name.Value):
			c.badID("state field", name)
		default:
			names = append(names, name.Value)
		}
	}
	return names
}

// openNames sets the reads and writes of a node of an open state. It returns the fields that the node
// reads.
func (c *compiler) openNames(n *Node, d *core.Node, at place) []int32 {
	if reads := c.memberNames(d.Reads, at.at("reads")); len(reads) > 0 {
		n.setRare().members = slices.DeleteFunc(reads, func(name string) bool { return name == core.ContextField })
	}
	n.Writes = c.memberNames(d.Writes, at.at("writes"))
	for range n.Writes {
		n.WriteFields = append(n.WriteFields, c.p.context)
	}
	n.View = []string{core.ContextField}
	return []int32{c.p.context}
}

// Members returns the members of the context that the node declares as its reads.
func (n *Node) Members() []string { return n.rareData().members }

// acceptOpen is accept for an open state: all that the result writes becomes one write of the context.
func (p *Plan) acceptOpen(n *Node, r *core.Result, writes []Write) ([]Write, *core.Failure) {
	delta := r.Writes()
	if len(delta) == 0 && (r.Routing == nil || len(r.Routing.Context) == 0) {
		return writes, nil
	}
	for name := range delta {
		if !slices.Contains(n.Writes, name) {
			return nil, p.undeclared(n, delta)
		}
	}
	all := value.NewObject(len(delta))
	if r.Routing != nil && len(r.Routing.Context) > 0 {
		w, fault := p.acceptContext(r.Routing.Context)
		if fault != nil {
			return nil, fault
		}
		all = w.Value.(*value.Object).Copy(len(delta))
	}
	for _, name := range n.Writes {
		v, ok := delta[name]
		if !ok {
			continue
		}
		if fault := addMember(all, name, v); fault != nil {
			return nil, fault
		}
	}
	if all.Len() == 0 {
		return writes, nil
	}
	return append(writes, Write{p.context, all}), nil
}

// addMember adds a write to the members of the context.
func addMember(all *value.Object, name string, v any) *core.Failure {
	canonical, err := value.Canonical(v)
	if err == nil && name == core.ContextField {
		whole, ok := canonical.(*value.Object)
		if !ok {
			err = fmt.Errorf("want an object, got %s", value.TypeName(canonical))
		}
		for key, member := range whole.All() {
			all.Set(key, member)
		}
	}
	if err != nil {
		return &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("write of %q: %v", name, err), Cause: err}
	}
	if name != core.ContextField {
		all.Set(name, canonical)
	}
	return nil
}

// acceptMember is AcceptValue for an open state.
func (p *Plan) acceptMember(n *Node, v any) (Write, *core.Failure) {
	all := value.NewObject(1)
	fault := addMember(all, n.Writes[0], v)
	return Write{p.context, all}, fault
}

// AcceptOutput validates a value that a nested run leaves for a field or, in an open state, for a
// member of the context.
func (p *Plan) AcceptOutput(n *Node, out *Output, v any) (any, error) {
	if !p.open {
		return p.AcceptField(n, out.Outer, v)
	}
	all := value.NewObject(1)
	if fault := addMember(all, out.Name, v); fault != nil {
		return nil, fault
	}
	return all, nil
}

// openPath returns a JSONPath into an open state as one into the context.
func (c *compiler) openPath(text source.Text) source.Text {
	rest, ok := strings.CutPrefix(text.Value, "$")
	if !c.p.open || !ok || strings.HasPrefix(rest, "..") || strings.HasPrefix(rest, "."+core.ContextField) {
		return text
	}
	text.Value = "$." + core.ContextField + rest
	return text
}

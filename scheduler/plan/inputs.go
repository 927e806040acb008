package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/state"
)

// input is a name for which a run accepts a value.
type input struct {
	name  string
	field *state.Field
	index int32
	typ   *value.Type // declared for the input, nil for any type
}

// optional lists the columns that rows of the input need not have.
func (in *input) optional() []string {
	var out []string
	for _, t := range []*value.Type{in.typ, in.field.Type} {
		if t != nil {
			out = append(out, t.Items.Optional()...)
		}
	}
	return out
}

// declaresInputs reports whether a workflow declares its inputs. A workflow that does not accepts a
// starting value for every field.
func declaresInputs(w *core.Workflow) bool { return w.HasInputs || w.OpenInputs || len(w.Inputs) > 0 }

// input finds the input with the given name.
func (p *Plan) input(name string) (input, bool) {
	i, ok := p.Schema.Index(name)
	if !ok {
		return input{}, false
	}
	in := input{name: name, field: &p.Schema.Fields[i], index: int32(i)}
	if !declaresInputs(p.Workflow) {
		return in, true
	}
	at, ok := p.inputIndex[name]
	if ok {
		in.typ = p.Workflow.Inputs[at].Type
	}
	return in, ok
}

// accept checks a value against the types of the input and of its field, and returns it in the form
// in which the field stores it.
func (in *input) accept(v any) (any, error) {
	if in.typ != nil && in.typ != in.field.Type {
		canonical, err := value.Canonical(v)
		if err != nil {
			return nil, err
		}
		if err := in.typ.Check(canonical); err != nil {
			return nil, err
		}
	}
	return in.field.Start(v)
}

// kind returns the outer type of the input, AnyType if it has none.
func (in *input) kind() value.TypeKind {
	if k := kindOf(in.typ); k != value.AnyType {
		return k
	}
	return kindOf(in.field.Type)
}

func kindOf(t *value.Type) value.TypeKind {
	if t == nil {
		return value.AnyType
	}
	return t.Kind
}

// disjoint reports whether null is the only value of both types.
func disjoint(a, b value.TypeKind) bool {
	if a == b || a == value.AnyType || b == value.AnyType || a == value.NullType || b == value.NullType {
		return false
	}
	number := func(k value.TypeKind) bool { return k == value.NumberType || k == value.IntegerType }
	return !number(a) || !number(b)
}

// inputs checks the declared inputs: each must be declared once, have a type that its field can
// have, and a default of that type.
func (c *compiler) inputs() {
	c.p.inputIndex = make(map[string]int32, len(c.w.Inputs))
	for i := range c.w.Inputs {
		d := &c.w.Inputs[i]
		name := d.Name.Value
		if first, ok := c.p.inputIndex[name]; ok {
			message.PointTo(c.ds.Errorf(source.CodeDuplicateID, d.Name.Pos, "input %q is declared twice", name), "first", c.w.Inputs[first].Name.Pos)
			continue
		}
		c.p.inputIndex[name] = int32(i)
		if c.w.OpenInputs {
			if !value.IsMissing(d.Default) && d.Type != nil {
				if _, err := open(d, d.Default); err != nil {
					c.ds.Errorf(source.CodeWrongType, d.Name.Pos, "input %q: default: %v", name, err)
				}
			}
			continue
		}
		in, ok := c.p.input(name)
		if !ok || len(d.Lost) > 0 || in.field.Invalid {
			continue // the name itself is invalid, or the field has no type to compare with
		}
		if field := kindOf(in.field.Type); disjoint(kindOf(d.Type), field) {
			c.ds.Errorf(source.CodeWrongType, typePos(d), "input %q is of type %s, but the state field of that name is of type %s", name, d.Type.Kind, field)
			c.breakField(in.index)
			continue
		}
		if value.IsMissing(d.Default) {
			continue
		}
		if _, err := in.accept(d.Default); err != nil {
			c.ds.Errorf(source.CodeWrongType, d.Name.Pos, "input %q: default: %v", name, err)
			c.breakField(in.index)
		}
	}
}

// breakField removes the type of a field that an input contradicts.
func (c *compiler) breakField(i int32) {
	f := &c.p.Schema.Fields[i]
	f.Invalid, f.Type = true, nil
}

func typePos(d *core.InputDecl) source.Position {
	if d.TypePos.IsValid() {
		return d.TypePos
	}
	return d.Name.Pos
}

// inputNames returns the names that are valid after $input, with their types: the declared
// inputs, or all fields if the document has no inputs section. It returns nil, which allows
// any name, if that section is empty.
func (c *compiler) inputNames() []value.Property {
	if !declaresInputs(c.w) {
		names := make([]value.Property, len(c.p.Schema.Fields))
		for i := range c.p.Schema.Fields {
			names[i] = value.Property{Name: c.p.Schema.Fields[i].Name, Type: c.p.Schema.Fields[i].Type}
		}
		return names
	}
	var names []value.Property
	for i := range c.w.Inputs {
		p := value.Property{Name: c.w.Inputs[i].Name.Value, Type: c.w.Inputs[i].Type}
		if f, ok := c.p.Schema.Index(p.Name); ok && c.p.Schema.Fields[f].Invalid {
			p.Type = nil
		}
		names = append(names, p)
	}
	return names
}

// knownInputs returns the names after $input for kinds. It is nil if some of them could not be
// read, because then no name is surely unknown.
func (c *compiler) knownInputs() []value.Property {
	if c.invalid.inputs() {
		return nil
	}
	return c.scope(0).Inputs
}

// InputNames lists the inputs that a run accepts and the inputs that it requires.
func (p *Plan) InputNames() (all, required []string) {
	if !declaresInputs(p.Workflow) {
		return p.Schema.FieldNames(), nil
	}
	for _, in := range p.Workflow.Inputs {
		all = append(all, in.Name.Value)
		if in.Required && value.IsMissing(in.Default) {
			required = append(required, in.Name.Value)
		}
	}
	return all, required
}

// Start checks the inputs of a run. It returns the starting value of every field, and the object
// behind $input, which contains the defaults of the inputs that were not given. The error has a
// finding for each invalid input.
func (p *Plan) Start(inputs *value.Object) (start []any, given *value.Object, err error) {
	start = make([]any, len(p.Schema.Fields))
	for i := range start {
		start[i] = p.Schema.Fields[i].Default
	}
	if p.Workflow.OpenInputs {
		given, err = p.openInputs(inputs)
		return start, given, err
	}
	var ds source.Diagnostics
	given = value.NewObject(inputs.Len())
	for i := range p.Workflow.Inputs {
		d := &p.Workflow.Inputs[i]
		_, has := inputs.Get(d.Name.Value)
		switch {
		case has:
		case !value.IsMissing(d.Default):
			p.give(start, given, d.Name.Value, d.Default, &ds)
		case d.Required:
			ds.Errorf(source.CodeInput, d.Name.Pos, "input %q is missing", d.Name.Value).WithHint("%s", needs(d))
		}
	}
	for name, v := range inputs.All() {
		p.give(start, given, name, v, &ds)
	}
	return start, given, ds.Err(false)
}

// openInputs checks the inputs of a run that may have other inputs than the declared ones. The
// result has the declared inputs first, in declared order.
func (p *Plan) openInputs(inputs *value.Object) (given *value.Object, err error) {
	var ds source.Diagnostics
	given = value.NewObject(inputs.Len())
	for i := range p.Workflow.Inputs {
		d := &p.Workflow.Inputs[i]
		v, has := inputs.Get(d.Name.Value)
		switch {
		case has && v != nil:
			if v, err = open(d, v); err != nil {
				ds.Errorf(source.CodeInput, d.Name.Pos, "input %q: %v", d.Name.Value, err)
			}
			given.Set(d.Name.Value, v)
		case !value.IsMissing(d.Default):
			given.Set(d.Name.Value, d.Default)
		case d.Required:
			ds.Errorf(source.CodeInput, d.Name.Pos, "input %q is missing", d.Name.Value).WithHint("%s", needs(d))
		}
	}
	for name, v := range inputs.All() {
		if _, declared := p.inputIndex[name]; declared {
			continue
		}
		if v, err = value.Canonical(v); err != nil {
			ds.Errorf(source.CodeInput, p.Workflow.Pos, "input %q: %v", name, err)
		}
		given.Set(name, v)
	}
	return given, ds.Err(false)
}

// open returns the canonical form of a value for an input that is not a field.
func open(d *core.InputDecl, v any) (any, error) {
	v, err := value.Canonical(v)
	if err != nil || d.Type == nil {
		return v, err
	}
	return v, d.Type.Check(v)
}

// CheckInput returns the reason why a run would reject a value for the input, nil if it would
// accept the value.
func (p *Plan) CheckInput(name string, v any) error {
	if p.Workflow.OpenInputs {
		at, ok := p.inputIndex[name]
		if !ok || v == nil {
			return nil
		}
		_, err := open(&p.Workflow.Inputs[at], v)
		return err
	}
	in, ok := p.input(name)
	if !ok {
		return fmt.Errorf("unknown input %q", name)
	}
	_, err := in.accept(v)
	return err
}

// needs describes the value that a missing input needs.
func needs(d *core.InputDecl) string {
	what := "give it a value"
	if k := kindOf(d.Type); k != value.AnyType {
		what += fmt.Sprintf(" of type %s", k)
	}
	if d.Description.Value != "" {
		what += ": " + d.Description.Value
	}
	return what
}

// give stores the value of an input.
func (p *Plan) give(start []any, given *value.Object, name string, v any, ds *source.Diagnostics) {
	in, ok := p.input(name)
	if !ok {
		names, _ := p.InputNames()
		ds.Errorf(source.CodeInput, p.Workflow.Pos, "unknown input %q", name).WithHint("%s", message.Near(name, names))
		return
	}
	stored, err := in.accept(v)
	if err != nil {
		pos := p.Workflow.Pos
		if at, ok := p.inputIndex[name]; ok {
			pos = p.Workflow.Inputs[at].Name.Pos
		}
		ds.Errorf(source.CodeInput, pos, "input %q: %v", name, err)
		return
	}
	start[in.index] = stored
	given.Set(name, stored)
}

// maxPromptFile limits the size of the files of nodes that are searched for references to
// inputs, in bytes.
const maxPromptFile = 1 << 20

// noteFile keeps the content of a file of a node if it may refer to inputs.
func (c *compiler) noteFile(data []byte) {
	if text := string(data[:min(len(data), maxPromptFile)]); len(c.w.Inputs) > 0 && mayRefer(text) {
		c.prompts = append(c.prompts, text)
	}
}

// mayRefer reports whether a string may contain an expression or a placeholder.
func mayRefer(text string) bool { return strings.Contains(text, "$") || strings.Contains(text, "{{") }

// mayReadInput reports whether a node may read an input in a way that is not among the
// expressions of the graph. How a kind uses its configuration is not known here, so this
// depends on what the strings in it look like. After an error a part of them may be missing.
func (c *compiler) mayReadInput(name string) bool {
	if c.anyInput || c.ds.Failed(false) || c.inputUsed[""] || name == core.InputGoal || name == core.InputDryRun {
		return true
	}
	quoted := regexp.QuoteMeta(name)
	refers := regexp.MustCompile(`\{\{[^}]*\b` + quoted + `\b|\$input\s*(\.\s*(` + quoted + `\b|[.*])|\[\s*(['"]` + quoted + `['"]|[^'"\s]))`)
	in := func(text string) bool { return text == name || mayRefer(text) && refers.MatchString(text) }
	return slices.ContainsFunc(c.prompts, in) ||
		slices.ContainsFunc(c.w.Nodes, func(n *core.Node) bool { return anyString(n.Config, in) })
}

// anyString reports whether f returns true for a key or string of a tree.
func anyString(v *source.Value, f func(string) bool) bool {
	if v == nil {
		return false
	}
	if text, ok := v.Scalar.(string); ok && f(text) {
		return true
	}
	part := func(e *source.Value) bool { return anyString(e, f) }
	return slices.ContainsFunc(v.Keys, func(k source.Text) bool { return f(k.Value) }) ||
		slices.ContainsFunc(v.Items, part) || slices.ContainsFunc(v.Values, part)
}

package table

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Scope compiles the expressions of one node and records what they read. It is used by
// one goroutine while the node is compiled.
type Scope struct {
	// Found collects the findings.
	Found   source.Diagnostics
	subject string
	fields  value.Schema
	inputs  []value.Property
	used    []source.Text
	again   []string // fields that are read in several places
	outputs []source.Text
	names   []string // plain names in templates
	node    *core.Node
	columns expressions.Columns // that row expressions read
	roots   expressions.Root    // roots available to expressions over the node's own input
	item    source.Columns      // the columns of $item in those expressions
	known   func(field string) source.Columns
	given   func(input string) source.Columns
	writes  func(field string) *value.Type
}

// NewScope returns a scope for a node.
func NewScope(n *core.Node, env core.Env) *Scope {
	s := &Scope{subject: n.Subject(), fields: env.Schema, inputs: env.Inputs, node: n, roots: expressions.RootInput, known: env.Columns, given: env.InputColumns, writes: env.WriteType}
	if s.fields == nil {
		s.fields = &expressions.Open{}
	}
	if env.Items {
		s.roots |= expressions.RootItem | expressions.RootIndex
		s.item = env.Item
	}
	return s
}

// Columns returns what is known of the rows of a state field. rows is the declared type
// of the rows and may be nil.
func (s *Scope) Columns(field string, rows *value.Type) source.Columns {
	if s.known == nil {
		return merged(rows, source.Columns{})
	}
	return merged(rows, s.known(field))
}

// RowsOf returns what is known of the rows of a source. rows is the declared type of
// the rows and may be nil.
func (s *Scope) RowsOf(of *From, rows *value.Type) source.Columns {
	switch {
	case of == nil:
		return source.Columns{}
	case of.field != "":
		return s.Columns(of.field, rows)
	case of.item:
		c := merged(rows, s.item)
		c.OnRead = s.item.OnRead
		return c
	}
	return source.Columns{Type: rows}
}

// merged combines the declared type of rows with what is known of them.
func merged(rows *value.Type, known source.Columns) source.Columns {
	c := source.Columns{Type: rows, Names: known.Names, Closed: known.Closed, Optional: rows.Optional(), Header: known.Header}
	for _, name := range known.Optional {
		if !slices.Contains(c.Optional, name) {
			c.Optional = append(c.Optional, name)
		}
	}
	if known.Type == nil {
		return c
	}
	all := value.Type{Kind: value.ObjectType}
	if rows != nil {
		all = *rows
		all.Properties = slices.Clone(rows.Properties)
	}
	for _, p := range known.Type.Properties {
		i := slices.IndexFunc(all.Properties, func(q value.Property) bool { return q.Name == p.Name })
		switch {
		case i < 0:
			all.Properties = append(all.Properties, p)
		case c.Kind(p.Name) == value.AnyType:
			all.Properties[i] = p
		}
	}
	c.Type = &all
	return c
}

// Row compiles an expression over rows. key is the place of the expression in messages.
// Row returns nil after an error.
func (s *Scope) Row(src source.Text, columns source.Columns, key string) *expressions.Program {
	p, ds := expressions.Compile(src, expressions.Scope{
		Fields:    s.fields,
		Inputs:    s.inputs,
		Roots:     expressions.RootItem | expressions.RootIndex | expressions.RootInput,
		ItemType:  columns.Type,
		Item:      columns,
		Rows:      s.known,
		InputRows: s.given,
		Columns:   &s.columns,
	}, s.About(key))
	s.Found = append(s.Found, ds...)
	if p != nil {
		s.Need(p.Fields(), src.Pos)
	}
	return p
}

// Value compiles an expression over the node's own input: the state, the item of a
// fan-out or pipeline, the inputs of the run. It returns nil after an error.
func (s *Scope) Value(src source.Text, key string) *expressions.Program {
	p, ds := expressions.Compile(src, s.InputScope(), s.About(key))
	s.Found = append(s.Found, ds...)
	if p == nil {
		return nil
	}
	s.Need(p.Fields(), src.Pos)
	return p
}

// InputScope returns the scope of expressions over the node's own input.
func (s *Scope) InputScope() expressions.Scope {
	return expressions.Scope{Fields: s.fields, Inputs: s.inputs, Roots: s.roots, Item: s.item, Rows: s.known, InputRows: s.given}
}

// Condition compiles a condition over rows and warns if it is always true or always
// false.
func (s *Scope) Condition(src source.Text, columns source.Columns, key string) *expressions.Program {
	p := s.Row(src, columns, key)
	if p != nil {
		s.Found = append(s.Found, p.ConstantFindings()...)
	}
	return p
}

// About returns the subject of messages about a key of the node.
func (s *Scope) About(key string) string {
	if key == "" {
		return s.subject
	}
	return s.subject + ": " + key
}

// Errorf adds an error about a key of the node.
func (s *Scope) Errorf(code source.Code, pos source.Position, key, format string, args ...any) *source.Diagnostic {
	return s.Found.Errorf(code, pos, s.About(key)+": "+format, args...)
}

// Warnf adds a warning about a key of the node.
func (s *Scope) Warnf(code source.Code, pos source.Position, key, format string, args ...any) *source.Diagnostic {
	return s.Found.Warnf(code, pos, s.About(key)+": "+format, args...)
}

// Fixed reports templates in names that are not evaluated.
func (s *Scope) Fixed(key string, names ...source.Text) {
	for _, d := range source.Fixed(names...) {
		d.Message = s.About(key) + ": " + d.Message
		s.Found = append(s.Found, d)
	}
}

// Field checks that a state field is declared and records that the node reads it.
func (s *Scope) Field(name source.Text, key string) (t *value.Type, ok bool) {
	t, ok = s.fields.FieldType(name.Value)
	if !ok {
		s.Errorf(source.CodeUnknownField, name.Pos, key, "the state has no field %q", name.Value).
			WithHint("%s", source.DidYouMean(name.Value, s.fields.FieldNames()))
		return nil, false
	}
	s.Need([]string{name.Value}, name.Pos)
	return t, true
}

// FieldType returns the declared type of a state field. ok is false if the field is not
// declared or nothing is known about the state.
func (s *Scope) FieldType(name string) (t *value.Type, ok bool) { return s.fields.FieldType(name) }

// WriteType returns the type of the values that the node may write to a field, nil for
// any type.
func (s *Scope) WriteType(name string) *value.Type {
	if s.writes != nil {
		return s.writes(name)
	}
	t, _ := s.FieldType(name)
	return t
}

// Need records that the node reads fields.
func (s *Scope) Need(fields []string, pos source.Position) {
	for _, f := range fields {
		if slices.ContainsFunc(s.used, func(r source.Text) bool { return r.Value == f }) {
			s.again = append(s.again, f)
		} else {
			s.used = append(s.used, source.At(f, pos))
		}
	}
}

// Names lists the plain names in the templates of file names. Such a name is looked up
// in the args, the edge inputs and the view of the state.
func (s *Scope) Names() []string { return s.names }

// AddNames adds plain names of a template to Names.
func (s *Scope) AddNames(names []string) { s.names = append(s.names, names...) }

// Outputs returns the names of files that the node replaces and that are fixed in the
// document.
func (s *Scope) Outputs() []source.Text { return s.outputs }

// AddOutput adds a name to Outputs.
func (s *Scope) AddOutput(name source.Text) { s.outputs = append(s.outputs, name) }

// Once reports whether the node reads a field in at most one place.
func (s *Scope) Once(field string) bool { return !slices.Contains(s.again, field) }

// Reads lists the fields that expressions read and that are not among the node's
// declared reads, for core.Compiled.
func (s *Scope) Reads() []source.Text {
	declared := source.Strings(s.node.Reads)
	var out []source.Text
	for _, r := range s.used {
		if !slices.Contains(declared, r.Value) {
			out = append(out, r)
		}
	}
	return out
}

// Slots returns the slots of the compiled expressions. It must be called after
// everything has been compiled.
func (s *Scope) Slots() Slots {
	used := map[string]bool{}
	for _, r := range s.used {
		used[r.Value] = true
	}
	names := slices.Clone(s.fields.FieldNames())
	for i, n := range names {
		if !used[n] {
			names[i] = ""
		}
	}
	return Slots{names, slices.Clone(s.columns.Names())}
}

// Slots lists the fields and columns that the expressions of a node read. It is
// immutable.
type Slots struct{ fields, columns []string }

// Columns lists the columns that row expressions read, by number. The slice must not be
// modified.
func (s Slots) Columns() []string { return s.columns }

// Value returns the value of a state field in an input, or Missing if there is none.
func Value(in core.Shared, field string) any {
	if v, ok := in.View.Get(field); ok {
		return v
	}
	if v, ok := in.Extra.Get(field); ok {
		return v
	}
	return value.Missing
}

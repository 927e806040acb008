package expressions

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

var (
	textType    = &value.Type{Kind: value.StringType}
	integerType = &value.Type{Kind: value.IntegerType}
)

// path resolves a path to its slot and returns its type.
func (c *checker) path(p *Path) info {
	r := &c.refs[p.index]
	r.root = p.Root
	if !c.scope.has(p.Root) {
		c.errorf(source.CodeExprName, p.From, "%s does not exist here", p.Root).WithHint("%s", p.Root.whereDefined())
		return info{}
	}
	var t *value.Type
	rest := p.Steps
	switch p.Root {
	case RootState:
		first := rest[0]
		if f, ok := c.memberOf(first.Name); ok { // $.k is $.context.k
			first.Name = f
		} else {
			rest = rest[1:]
		}
		t = c.field(r, first)
		if c.missingRowColumn(p, t, c.scope.Rows) {
			return info{}
		}
	case RootNodes:
		t = c.node(r, rest)
		rest = rest[2:]
	case RootInput:
		t = c.input(r, rest[0])
		rest = rest[1:]
		if c.missingRowColumn(p, t, c.scope.InputRows) {
			return info{}
		}
	case RootItem:
		t = c.scope.ItemType
		if c.missingColumn(p, 0, c.scope.Item) {
			return info{}
		}
		if c.scope.Columns != nil && len(rest) > 0 && !rest[0].IsIndex {
			return c.column(p, r, t)
		}
	case RootIndex, RootVisits, RootIter:
		t = integerType
	case RootError, RootOutcome, RootPreferredLabel, RootLoop:
		t = textType
	}
	r.steps = rest
	return pathInfo(c.walk(p, t, rest))
}

// missingRowColumn reports a column that the rows of a state field or an input cannot
// have. t is the declared type of the field or input. rows describes the rows; it may be
// nil.
func (c *checker) missingRowColumn(p *Path, t *value.Type, rows func(name string) source.Columns) bool {
	at := 2 // in $.rows[0].price
	if t != nil && t.Kind == value.ObjectType {
		at = 1 // in $.row.price
	}
	if rows == nil || len(p.Steps) <= at || at == 2 && !p.Steps[1].IsIndex || p.Steps[at].IsIndex {
		return false
	}
	return c.missingColumn(p, at, rows(p.Steps[0].Name))
}

// missingColumn checks the step at index at of a path, which selects a column of a row.
// If all columns of the row are known and the step names none of them, it reports an
// error and returns true. If they are not all known, it records that the column is
// read.
func (c *checker) missingColumn(p *Path, at int, known source.Columns) bool {
	if len(p.Steps) <= at || p.Steps[at].IsIndex || known.Closed && known.Has(p.Steps[at].Name) || !slices.Contains(c.needed, p) {
		return false
	}
	s := p.Steps[at]
	if !known.Closed {
		known.Read(source.ColumnRead{Column: source.Text{Value: s.Name, Pos: source.Inside(c.src, s.From)}, By: c.subject,
			HeaderOnly: slices.Contains(c.guarded, p)})
		return false
	}
	NoColumn(&c.diags, source.Inside(c.src, s.From), c.subject, s.Name, known.Names)
	return true
}

// NoColumn reports a column that rows with the known columns do not have.
func NoColumn(ds *source.Diagnostics, pos source.Position, subject, name string, known []string) {
	ds.Errorf(source.CodeExprName, pos, "%s", about(subject, fmt.Sprintf("the rows have no column %q here", name))).
		WithHint("%s", source.UnknownKeyHint(name, known))
}

// column resolves a path into a table row to the slot of its column.
func (c *checker) column(p *Path, r *ref, t *value.Type) info {
	r.field, r.slot = true, c.scope.Columns.slot(p.Steps[0].Name)
	r.steps = p.Steps[1:]
	return pathInfo(c.walk(p, t, p.Steps))
}

func pathInfo(t *value.Type) info {
	if t == nil {
		return info{}
	}
	kind := t.Kind
	if kind == value.NullType {
		kind = value.AnyType // a field declared as null may hold any type in comparisons
	}
	return info{kind: kind, typ: t}
}

// memberOf returns the field of which an undeclared name is a member, if there is one.
func (c *checker) memberOf(name string) (field string, ok bool) {
	s, ok := c.scope.Fields.(value.MemberSchema)
	if !ok {
		return "", false
	}
	_, declared := s.FieldType(name)
	return s.MembersOf(), !declared
}

func (c *checker) field(r *ref, s Step) *value.Type {
	r.name, r.field = s.Name, true
	if c.open != nil {
		r.slot = c.open.slot(s.Name)
		return nil
	}
	t, ok := c.scope.Fields.FieldType(s.Name)
	if !ok {
		if r.slot = -1; c.scope.mayExist(RootState, s.Name) {
			return nil
		}
		c.errorf(source.CodeExprName, s.From, "unknown field %q", s.Name).
			WithHint("%s", source.DidYouMean(s.Name, c.scope.Fields.FieldNames()))
		return nil
	}
	r.slot = slotOf(c.scope.Fields, s.Name)
	return t
}

func (c *checker) node(r *ref, steps []Step) *value.Type {
	id := steps[0]
	r.name, r.output = id.Name, steps[1].Name == "output"
	if c.open != nil {
		r.slot = c.open.node(id.Name)
	} else if r.slot = c.scope.nodeSlot(id.Name); r.slot < 0 && !c.scope.mayExist(RootNodes, id.Name) {
		c.errorf(source.CodeExprName, id.From, "unknown node %q", id.Name).
			WithHint("%s", source.DidYouMean(id.Name, c.scope.Nodes))
	}
	if r.output {
		return nil
	}
	return statusType
}

func (c *checker) input(r *ref, s Step) *value.Type {
	r.name = s.Name
	if c.scope.Inputs == nil {
		return nil
	}
	names := make([]string, len(c.scope.Inputs))
	for i, in := range c.scope.Inputs {
		if in.Name == s.Name {
			return in.Type
		}
		names[i] = in.Name
	}
	if c.open == nil && !c.scope.mayExist(RootInput, s.Name) {
		c.errorf(source.CodeExprName, s.From, "unknown input %q", s.Name).WithHint("%s", source.DidYouMean(s.Name, names))
	}
	return nil
}

// walk follows steps through a type and returns the type they lead to. It warns about
// steps that no value of the type has; such a path is legal and always missing.
func (c *checker) walk(p *Path, t *value.Type, steps []Step) *value.Type {
	for i, s := range steps {
		if t == nil {
			return nil
		}
		var next *value.Type
		ok := s.IsIndex && t.Kind == value.ArrayType
		if ok {
			next = t.Items
		} else if !s.IsIndex {
			next, ok = t.Property(s.Name)
		}
		if !ok && c.open == nil {
			c.warnUnknownMember(p, len(p.Steps)-len(steps)+i, t)
		}
		t = next
	}
	return t
}

// warnUnknownMember warns about step i of a path, which selects a member that the type
// does not have.
func (c *checker) warnUnknownMember(p *Path, i int, t *value.Type) {
	s := p.Steps[i]
	switch {
	case t.Kind == value.AnyType || t.Kind == value.NullType:
	case t.Kind == value.ObjectType && s.IsIndex:
		c.warnf(source.CodeExprType, s.From, "an object has no elements, so this is always missing").WithHint("write ['%d'] for a member", s.Index)
	case t.Kind == value.ObjectType:
		// Object types are open: members other than the declared ones are legal, and a
		// table of thirty columns may declare only three. Warn only if the name is
		// close to a declared one.
		names := make([]string, len(t.Properties))
		for i, q := range t.Properties {
			names[i] = q.Name
		}
		if hint := source.DidYouMean(s.Name, names); hint != "" {
			c.warnf(source.CodeExprName, s.From, "the type of %s declares no member %q", Print(&Path{Root: p.Root, Steps: p.Steps[:i]}), s.Name).WithHint("%s", hint)
		}
	case t.Kind == value.ArrayType:
		hint := ""
		if s.Name == "length" {
			hint = "write length(" + Print(&Path{Root: p.Root, Steps: p.Steps[:i]}) + ")"
		} else if len(s.Name) == digits(s.Name) {
			hint = "write [" + s.Name + "]"
		}
		c.warnf(source.CodeExprType, s.From, "an array has no members, so this is always missing").WithHint("%s", hint)
	default:
		c.warnf(source.CodeExprType, s.From, "%s has no parts, so this is always missing", article(t.Kind))
	}
}

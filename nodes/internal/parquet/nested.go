package parquet

import (
	"fmt"

	parquet "github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/core/value"
)

// A nested field has several leaves, and each leaf may have several values for one row.
// Each value has two levels. The repetition level says at which repeated field it
// begins a new element. The definition level says how many of the optional and repeated
// fields above it are present. A node assembles the values of one row as described in
// the Dremel paper.

// cell is a value of a leaf with its repetition and definition levels.
type cell struct {
	v        any
	rep, def int
}

// node assembles the value of a field from the cells of its leaves that belong to one
// element. There is at least one cell for each leaf.
type node interface {
	value(cells [][]cell) any
	leaves() int
}

// cells reads the cells of the next row of a leaf.
func (l *leaf) cells() (row []cell, reason string, err error) {
	for {
		if l.rest == 0 {
			if err := l.next(); err == errEnds && len(row) > 0 {
				return row, reason, nil // the last row of the row group
			} else if err != nil {
				return nil, "", err
			}
			if l.rest == 0 {
				continue
			}
		}
		v, err := l.value()
		if err != nil {
			return nil, "", err
		}
		if v.RepetitionLevel() == 0 && len(row) > 0 {
			l.at-- // the value begins the next row
			return row, reason, nil
		}
		l.rest--
		c := cell{rep: v.RepetitionLevel(), def: v.DefinitionLevel()}
		if !v.IsNull() {
			var why string
			if c.v, why = l.convert(*v); why != "" && reason == "" {
				reason = why
			}
		}
		row = append(row, c)
	}
}

// assemble returns the value of the next row.
func (c *column) assemble() (v any, reason string, err error) {
	cells := make([][]cell, len(c.leaves))
	for i, l := range c.leaves {
		row, why, err := l.cells()
		if err != nil {
			return nil, "", err
		}
		if cells[i] = row; why != "" && reason == "" {
			reason = why
		}
	}
	return c.nested.value(cells), reason, nil
}

// assembler returns the node of a field and adds its leaves to the column.
func (c *column) assembler(s *schema, field *parquet.Column) (node, value.TypeKind, error) {
	if field.Repeated() {
		n, _, err := c.single(s, field)
		if err != nil {
			return nil, value.AnyType, err
		}
		return &list{n, field.MaxRepetitionLevel(), field.MaxDefinitionLevel()}, value.ArrayType, nil
	}
	n, kind, err := c.single(s, field)
	if err == nil && field.Optional() {
		n = &optional{n, field.MaxDefinitionLevel()}
	}
	return n, kind, err
}

// single is assembler for one value of the field, which is not null.
func (c *column) single(s *schema, field *parquet.Column) (node, value.TypeKind, error) {
	if field.Leaf() {
		kind, convert, err := converterOf(s.leaves[field.Index()], value.AnyType)
		if err != nil {
			return nil, kind, err
		}
		c.leaves = append(c.leaves, &leaf{index: field.Index(), def: field.MaxDefinitionLevel(), convert: convert})
		return scalar{}, kind, nil
	}
	children := field.Columns()
	if len(children) == 0 {
		return nil, value.AnyType, fmt.Errorf("the group %s has no fields", field.Name())
	}
	switch s.annotation(field) {
	case listGroup:
		// A LIST contains one repeated group, which contains the elements: one optional
		// or required field or, in old files, the element itself.
		if inner := children[0]; len(children) == 1 && inner.Repeated() {
			if !inner.Leaf() && len(inner.Columns()) == 1 && inner.Name() != "array" && inner.Name() != field.Name()+"_tuple" {
				n, _, err := c.assembler(s, inner.Columns()[0])
				return &list{n, inner.MaxRepetitionLevel(), inner.MaxDefinitionLevel()}, value.ArrayType, err
			}
			return c.assembler(s, inner)
		}
	case mapGroup:
		if inner := children[0]; len(children) == 1 && inner.Repeated() && len(inner.Columns()) == 2 && inner.Columns()[0].Leaf() {
			return c.mapping(s, inner)
		}
	}
	g := &group{}
	for _, child := range children {
		n, _, err := c.assembler(s, child)
		if err != nil {
			return nil, value.AnyType, fmt.Errorf("%s: %w", child.Name(), err)
		}
		g.names, g.nodes = append(g.names, child.Name()), append(g.nodes, n)
	}
	return g, value.ObjectType, nil
}

// mapping returns the node of a MAP: an object if the keys are strings, otherwise an
// array.
func (c *column) mapping(s *schema, inner *parquet.Column) (node, value.TypeKind, error) {
	kind, _, err := converterOf(s.leaves[inner.Columns()[0].Index()], value.AnyType)
	if err != nil || kind != value.StringType || inner.Columns()[0].Repeated() {
		return c.assembler(s, inner)
	}
	key, _, err := c.assembler(s, inner.Columns()[0])
	if err != nil {
		return nil, value.AnyType, err
	}
	val, _, err := c.assembler(s, inner.Columns()[1])
	return &mapping{list{key, inner.MaxRepetitionLevel(), inner.MaxDefinitionLevel()}, val}, value.ObjectType, err
}

// scalar is the value of a leaf.
type scalar struct{}

func (scalar) value(cells [][]cell) any { return cells[0][0].v }
func (scalar) leaves() int              { return 1 }

// optional is a value that may be null.
type optional struct {
	of  node
	def int // the definition level of a value that is not null
}

func (o *optional) value(cells [][]cell) any {
	if cells[0][0].def < o.def {
		return nil
	}
	return o.of.value(cells)
}

func (o *optional) leaves() int { return o.of.leaves() }

// list is a repeated value.
type list struct {
	of       node
	rep, def int
}

func (l *list) value(cells [][]cell) any {
	out := []any{}
	l.each(cells, func(element [][]cell) { out = append(out, l.of.value(element)) })
	return out
}

// each calls f with the cells of each element.
func (l *list) each(cells [][]cell, f func(element [][]cell)) {
	if cells[0][0].def < l.def {
		return
	}
	at := make([]int, len(cells))
	element := make([][]cell, len(cells))
	for at[0] < len(cells[0]) {
		for i, leaf := range cells {
			from := at[i]
			if from >= len(leaf) {
				panic("the lengths of nested columns differ")
			}
			end := from + 1
			for end < len(leaf) && leaf[end].rep > l.rep {
				end++
			}
			element[i], at[i] = leaf[from:end], end
		}
		f(element)
	}
}

func (l *list) leaves() int { return l.of.leaves() }

// group is an object with fixed members.
type group struct {
	names []string
	nodes []node
}

func (g *group) value(cells [][]cell) any {
	out := value.NewObject(len(g.names))
	for i, n := range g.nodes {
		width := n.leaves()
		out.Set(g.names[i], n.value(cells[:width]))
		cells = cells[width:]
	}
	return out
}

func (g *group) leaves() (n int) {
	for _, c := range g.nodes {
		n += c.leaves()
	}
	return n
}

// mapping is an object whose member names are in the data. If a key appears twice, the
// last value is used.
type mapping struct {
	keys   list
	member node
}

func (m *mapping) value(cells [][]cell) any {
	out := &value.Object{}
	m.keys.each(cells, func(element [][]cell) {
		if key, ok := m.keys.of.value(element[:1]).(string); ok {
			out.Set(key, m.member.value(element[1:]))
		}
	})
	return out
}

func (m *mapping) leaves() int { return 1 + m.member.leaves() }

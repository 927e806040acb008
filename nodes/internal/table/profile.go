package table

import (
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/wanted"
)

// Profile keeps account of the columns of rows: which there are, what is in
// them. It is used by one goroutine.
type Profile struct {
	declared Types
	cols     []*ProfileColumn
	index    map[string]*ProfileColumn
	keys     []string         // of the last row
	at       []*ProfileColumn // its columns
	rows     int64
}

// ProfileColumn is a column as the rows show it.
type ProfileColumn struct {
	Name string
	// Type is the one that the document declares or that the reader gave the column,
	// else that of all values seen, and the word any if they have several. A column
	// of which nothing is known has the type null.
	Type     string
	Declared bool
	// Nulls is how many rows hold null in the column, or do not have it.
	Nulls int64
	// Example is the first value that is not null, nil if there is none. Texts are
	// shortened, arrays and objects are shown as JSON.
	Example any

	filled int64
	fixed  bool // Type does not depend on the values
}

// NewProfile returns a profile of no rows. declared are the types that the
// document gives.
func NewProfile(declared Types) *Profile {
	return &Profile{declared: declared, index: map[string]*ProfileColumn{}}
}

// Expect names the columns of a table that has a header, with their types.
func (p *Profile) Expect(types Types) {
	for _, t := range types {
		c := p.column(t.Name)
		c.Type, c.fixed = t.Kind.String(), true
	}
}

// column returns a column, which is made when it is new.
func (p *Profile) column(name string) *ProfileColumn {
	c := p.index[name]
	if c == nil {
		c = &ProfileColumn{Name: name}
		if kind := p.declared.Kind(name); kind != value.AnyType {
			c.Type, c.Declared, c.fixed = kind.String(), true, true
		}
		p.index[name] = c
		p.cols = append(p.cols, c)
	}
	return c
}

// Add takes note of rows.
func (p *Profile) Add(list []any) {
	for _, r := range list {
		row := r.(*value.Object)
		if keys := row.Keys(); !wanted.SameKeys(keys, p.keys) || p.at == nil {
			p.columns(keys)
		}
		for i, c := range p.at {
			if _, v := row.At(i); v != nil {
				c.see(v)
			}
		}
	}
	p.rows += int64(len(list))
}

// columns finds the columns of rows with the keys.
func (p *Profile) columns(keys []string) {
	p.keys, p.at = keys, p.at[:0]
	for _, k := range keys {
		p.at = append(p.at, p.column(k))
	}
}

func (c *ProfileColumn) see(v any) {
	c.filled++
	if c.filled == 1 {
		c.Example = example(v)
	}
	if c.fixed {
		return
	}
	switch name := value.TypeName(v); {
	case c.Type == name:
	case c.Type == "":
		c.Type = name
	case isNumber(c.Type) && isNumber(name):
		c.Type = "number"
	default:
		c.Type, c.fixed = "any", true
	}
}

func isNumber(name string) bool { return name == "integer" || name == "number" }

// example shortens a value; arrays and objects become text.
func example(v any) any {
	s, ok := v.(string)
	switch v.(type) {
	case []any, *value.Object:
		s, ok = value.JSON(v), true
	}
	switch {
	case !ok:
		return v
	case len(s) > maxExample:
		return strings.ToValidUTF8(s[:maxExample], "") + "..."
	}
	return s
}

// maxExample is how much of a text is shown.
const maxExample = 60

// Columns returns the columns, in the order in which they appeared.
func (p *Profile) Columns() []ProfileColumn {
	out := make([]ProfileColumn, len(p.cols))
	for i, c := range p.cols {
		out[i] = *c
		out[i].Nulls = p.rows - c.filled
		if c.Type == "" {
			out[i].Type = "null"
		}
	}
	return out
}

// Schema returns the columns as a value: a list of objects of column, type, nulls
// and example, with declared where the document gives the type.
func (p *Profile) Schema() []any {
	out := []any{}
	for _, c := range p.Columns() {
		o := value.ObjectOf("column", c.Name, "type", c.Type)
		if c.Declared {
			o.Set("declared", true)
		}
		o.Set("nulls", c.Nulls)
		o.Set("example", c.Example)
		out = append(out, o)
	}
	return out
}

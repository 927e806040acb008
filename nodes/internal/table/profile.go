package table

import (
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// Profile collects statistics about the columns of rows. It is used by one goroutine.
type Profile struct {
	declared Types
	cols     []*ProfileColumn
	index    map[string]*ProfileColumn
	keys     []string         // of the last row
	at       []*ProfileColumn // its columns
	rows     int64
}

// ProfileColumn describes one column.
type ProfileColumn struct {
	Name string
	// Type is the type that the document declares or that the reader gave the column.
	// Otherwise it is the common type of all values, or "any" if they have several. If
	// all values are null, it is "null".
	Type     string
	Declared bool
	// Nulls is the number of rows in which the column is null or absent.
	Nulls int64
	// Example is the first value that is not null, or nil if there is none. Strings
	// are shortened; arrays and objects are shown as JSON.
	Example any

	filled int64
	fixed  bool // Type does not depend on the values
}

// NewProfile returns an empty profile. declared holds the types that the document
// declares.
func NewProfile(declared Types) *Profile {
	return &Profile{declared: declared, index: map[string]*ProfileColumn{}}
}

// Expect sets the columns and types of a table that has a header.
func (p *Profile) Expect(types Types) {
	for _, t := range types {
		c := p.column(t.Name)
		c.Type, c.fixed = t.Kind.String(), true
	}
}

// column returns the column with this name and creates it if necessary.
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

// Add adds rows to the profile.
func (p *Profile) Add(list []any) {
	for _, r := range list {
		row := r.(*value.Object)
		if keys := row.Keys(); !columncheck.SameKeys(keys, p.keys) || p.at == nil {
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

// columns finds the columns of rows with these keys.
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

// example shortens a value. Arrays and objects become JSON strings.
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

// maxExample limits the length of examples, in bytes.
const maxExample = 60

// Columns returns the columns in the order in which they first appeared.
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

// Schema returns the columns as a value: a list of objects with the keys column, type,
// nulls and example, and declared if the document declares the type.
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

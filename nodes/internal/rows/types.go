package rows

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Declared is the declared type of a column.
type Declared struct {
	Name string
	Kind core.TypeKind
	// Required columns must be in the table; those that only the state schema
	// knows need not be.
	Required bool
}

// Types lists the declared columns in the document's order.
type Types []Declared

// Kind returns the declared type of a column, AnyType when there is none.
func (t Types) Kind(name string) core.TypeKind {
	for _, c := range t {
		if c.Name == name {
			return c.Kind
		}
	}
	return core.AnyType
}

// Missing returns an error for a required column that is not among the names.
func (t Types) Missing(names []string) error {
	for _, c := range t {
		if c.Required && !slices.Contains(names, c.Name) {
			return missingColumn(c.Name, names)
		}
	}
	return nil
}

func missingColumn(name string, names []string) error {
	err := fmt.Errorf("the file has no column %q", name)
	if near := core.DidYouMean(name, names); near != "" {
		return fmt.Errorf("%w, %s", err, near)
	}
	return err
}

// Conform checks rows against declared types and the type of a row. Columns that
// the reader made of a type need no look; what is left to check is found once for
// rows of the same keys.
type Conform struct {
	types   Types
	rowType *core.Type
	made    func(name string) core.TypeKind
	keys    []string
	// of the rows with these keys:
	columns []checked
	whole   bool // the row type asks for more than types of columns
}

type checked struct {
	at   int
	name string
	typ  *core.Type
	of   bool // declared for the column, not by the row type
}

// NewConform returns a check. made tells the type that the reader gave a column,
// AnyType for any; it may be nil.
func NewConform(types Types, rowType *core.Type, made func(name string) core.TypeKind) *Conform {
	return &Conform{types: types, rowType: rowType, made: made}
}

// Check returns why a row does not conform, or "".
func (c *Conform) Check(row *core.Object) string {
	if c.rowType == nil && len(c.types) == 0 {
		return ""
	}
	if !table.SameKeys(row.Keys(), c.keys) || c.keys == nil {
		c.prepare(row.Keys())
	}
	for i := range c.columns {
		k := &c.columns[i]
		_, v := row.At(k.at)
		err := k.typ.Check(v)
		if err == nil {
			continue
		}
		if k.of {
			return fmt.Sprintf("column %s: %v", k.name, err)
		}
		return c.rowType.Check(row).Error()
	}
	if c.whole {
		if err := c.rowType.Check(row); err != nil {
			return err.Error()
		}
	}
	return ""
}

// prepare finds what has to be checked of rows with the keys.
func (c *Conform) prepare(keys []string) {
	c.keys, c.columns, c.whole = keys, c.columns[:0], false
	for _, t := range c.types {
		if at := slices.Index(keys, t.Name); at >= 0 && c.of(t.Name) != t.Kind {
			c.columns = append(c.columns, checked{at, t.Name, &core.Type{Kind: t.Kind}, true})
		}
	}
	if c.rowType == nil {
		return
	}
	if len(c.rowType.Enum) > 0 {
		c.whole = true
		return
	}
	for _, name := range c.rowType.Required {
		if !slices.Contains(keys, name) {
			c.whole = true
			return
		}
	}
	for _, p := range c.rowType.Properties {
		at := slices.Index(keys, p.Name)
		if at < 0 || p.Type == nil {
			continue
		}
		plain := len(p.Type.Enum) == 0 && p.Type.Items == nil && len(p.Type.Properties) == 0 && len(p.Type.Required) == 0
		if made := c.of(p.Name); plain && (made == p.Type.Kind || made == core.IntegerType && p.Type.Kind == core.NumberType) {
			continue
		}
		c.columns = append(c.columns, checked{at, p.Name, p.Type, false})
	}
}

func (c *Conform) of(name string) core.TypeKind {
	if c.made == nil {
		return core.AnyType
	}
	return c.made(name)
}

package table

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// Declared is a declared column.
type Declared struct {
	Name string
	// Kind is its type. AnyType means that the file determines the type.
	Kind value.TypeKind
	// Optional columns may be absent from a file.
	Optional bool
}

// Types lists the declared columns in the order of the document.
type Types []Declared

// Kind returns the declared type of a column, or AnyType if there is none.
func (t Types) Kind(name string) value.TypeKind {
	c, _ := t.Column(name)
	return c.Kind
}

// Column returns the declared column with this name. ok is false if there is none.
func (t Types) Column(name string) (c Declared, ok bool) {
	for _, c := range t {
		if c.Name == name {
			return c, true
		}
	}
	return Declared{}, false
}

// Conform checks rows against the declared types and the row type. Columns that the
// reader converts to their type need no check. The remaining checks are determined once
// for rows with the same keys.
type Conform struct {
	types   Types
	rowType *value.Type
	made    func(name string) value.TypeKind
	keys    []string
	// These apply to rows with these keys.
	columns []checked
	whole   bool // the whole row type must be checked, not only types of columns
}

type checked struct {
	at   int
	name string
	typ  *value.Type
	of   bool // declared for the column, not by the row type
}

// NewConform returns a Conform. made returns the type to which the reader converts a
// column, AnyType if it does not; made may be nil.
func NewConform(types Types, rowType *value.Type, made func(name string) value.TypeKind) *Conform {
	return &Conform{types: types, rowType: rowType, made: made}
}

// Check returns the reason why a row does not conform, or "".
func (c *Conform) Check(row *value.Object) string {
	if c.rowType == nil && len(c.types) == 0 {
		return ""
	}
	if !columncheck.SameKeys(row.Keys(), c.keys) || c.keys == nil {
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

// prepare determines the checks for rows with these keys.
func (c *Conform) prepare(keys []string) {
	c.keys, c.columns, c.whole = keys, c.columns[:0], false
	for _, t := range c.types {
		if at := slices.Index(keys, t.Name); at >= 0 && t.Kind != value.AnyType && c.of(t.Name) != t.Kind {
			c.columns = append(c.columns, checked{at, t.Name, &value.Type{Kind: t.Kind}, true})
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
		if made := c.of(p.Name); plain && (made == p.Type.Kind || made == value.IntegerType && p.Type.Kind == value.NumberType) {
			continue
		}
		c.columns = append(c.columns, checked{at, p.Name, p.Type, false})
	}
}

func (c *Conform) of(name string) value.TypeKind {
	if c.made == nil {
		return value.AnyType
	}
	return c.made(name)
}

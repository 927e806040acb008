package dataset

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// columnType is the declared type of a column.
type columnType struct {
	name string
	kind core.TypeKind
	// required columns must be in the file; those that only the state schema
	// knows need not be.
	required bool
}

// columnTypes lists the declared columns in the document's order.
type columnTypes []columnType

// kind returns the declared type of a column, AnyType when there is none.
func (t columnTypes) kind(name string) core.TypeKind {
	for _, c := range t {
		if c.name == name {
			return c.kind
		}
	}
	return core.AnyType
}

// check returns why a row of typed values does not fit, or "".
func (t columnTypes) check(row *core.Object) string {
	for _, c := range t {
		v, ok := row.Get(c.name)
		if !ok {
			continue
		}
		if err := (&core.Type{Kind: c.kind}).Check(v); err != nil {
			return fmt.Sprintf("column %s: %v", c.name, err)
		}
	}
	return ""
}

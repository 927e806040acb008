package sink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// column is a column of the output; its kind is AnyType unless the document
// gives one.
type column struct {
	name string
	kind core.TypeKind
}

func columnNames(columns []column) []string {
	if columns == nil {
		return nil
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// checkTypes reports the first value that does not have its column's type.
func checkTypes(rows []any, columns []column) error {
	for _, c := range columns {
		if c.kind == core.AnyType {
			continue
		}
		col, t := table.Column{Name: c.name}, &core.Type{Kind: c.kind}
		for i, r := range rows {
			if err := t.Check(col.Value(r.(*core.Object))); err != nil {
				return fmt.Errorf("row %d, column %s: %w", i+1, c.name, err)
			}
		}
	}
	return nil
}

// absent returns the first listed column that no row has, "" when there is
// none or when there are no rows to judge by.
func absent(rows []any, columns []column) string {
	if len(rows) == 0 || len(columns) == 0 {
		return ""
	}
	have := table.Columns(rows)
	for _, c := range columns {
		if !slices.Contains(have, c.name) {
			return c.name
		}
	}
	return ""
}

// seen is what values a column holds, as bits.
type seen uint8

const (
	seenInteger seen = 1 << iota
	seenLong         // an integer that a float would change
	seenFloat
	seenBoolean
	seenText
	seenNested // arrays and objects, stored as JSON text
)

func look(rows []any, name string) seen {
	var s seen
	col := table.Column{Name: name}
	for _, r := range rows {
		switch v := col.Value(r.(*core.Object)).(type) {
		case nil:
		case int64:
			s |= seenInteger
			if f := float64(v); f >= 1<<63 || int64(f) != v {
				s |= seenLong
			}
		case float64:
			s |= seenFloat
		case bool:
			s |= seenBoolean
		case string:
			s |= seenText
		default:
			s |= seenNested
		}
	}
	return s
}

// sqlType returns the column type of a table. SQLite converts what it stores to
// the declared type; a column of mixed values therefore gets none, which keeps
// every value as it is.
func sqlType(kind core.TypeKind, s seen) string {
	switch kind {
	case core.IntegerType:
		return "INTEGER"
	case core.NumberType:
		s &^= seenText | seenNested | seenBoolean // checked before
		if s&seenLong == 0 {
			return "REAL"
		}
		return ""
	case core.BooleanType:
		return "BOOLEAN"
	case core.StringType, core.ArrayType, core.ObjectType:
		return "TEXT"
	}
	switch {
	case s == 0, s&^(seenText|seenNested) == 0:
		return "TEXT"
	case s&^(seenInteger|seenLong) == 0:
		return "INTEGER"
	case s&^(seenInteger|seenFloat) == 0:
		return "REAL"
	case s == seenBoolean:
		return "BOOLEAN"
	}
	return ""
}

// isReal reports whether SQLite turns integers into floats in a column of the
// declared type.
func isReal(declared string) bool {
	d := strings.ToUpper(declared)
	for _, word := range []string{"INT", "CHAR", "CLOB", "TEXT", "BLOB"} {
		if strings.Contains(d, word) {
			return false // these words win over the ones below
		}
	}
	return strings.Contains(d, "REAL") || strings.Contains(d, "FLOA") || strings.Contains(d, "DOUB")
}

// clash returns two columns that SQLite holds for the same name.
func clash(names []string) (a, b string, ok bool) {
	lower := make(map[string]string, len(names))
	for _, n := range names {
		l := strings.ToLower(n)
		if first, found := lower[l]; found {
			return first, n, true
		}
		lower[l] = n
	}
	return "", "", false
}

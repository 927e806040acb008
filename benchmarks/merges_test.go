package benchmarks

import (
	"fmt"

	"github.com/wavefold/wavefold/core/value"
)

// mergeTable has merges of the writes of 4,000 items against those of 400: a ratio of 1
// means that the cost of a write does not grow with the number of writes.
func mergeTable() Table {
	t := Table{ID: "merges", Unit: "write"}
	for _, c := range []struct {
		strategy, typ string
		write         func(item any) any
	}{
		{"array_append", "array", func(item any) any { return []any{item} }},
		{"union", "array", func(item any) any { return []any{item} }},
		{"object_merge", "object", func(item any) any { return value.ObjectOf(fmt.Sprint("k", item), item) }},
		{"sum", "integer", func(item any) any { return item }},
		{"max", "integer", func(item any) any { return item }},
	} {
		small, large := toolEach(400, c.strategy, c.typ, c.write), toolEach(4000, c.strategy, c.typ, c.write)
		small.Name = "400 writes"
		t.Figures = append(t.Figures, Figure{Name: c.strategy + ", 4,000 writes", Subject: large, Reference: small})
	}
	return t
}

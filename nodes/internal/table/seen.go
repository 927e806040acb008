package table

import (
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// Seen is a set of sorts of values: the sorts that a column holds or accepts.
type Seen uint8

// The sorts of values other than null.
const (
	SeenInteger Seen = 1 << iota
	SeenLong         // an integer that a float cannot hold exactly
	SeenFloat
	SeenBoolean
	SeenText
	SeenNested // arrays and objects

	SeenAll = SeenInteger | SeenLong | SeenFloat | SeenBoolean | SeenText | SeenNested
)

// Sort returns the sort of a value, or 0 for null.
func Sort(v any) Seen {
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		if f := float64(v); f >= 1<<63 || int64(f) != v {
			return SeenLong
		}
		return SeenInteger
	case float64:
		return SeenFloat
	case bool:
		return SeenBoolean
	case string:
		return SeenText
	}
	return SeenNested
}

// Look returns the sorts of values in a column of rows.
func Look(rows []any, name string) Seen {
	var s Seen
	col := Column{Name: name}
	for _, r := range rows {
		s |= Sort(col.Value(r.(*value.Object)))
	}
	return s
}

// Only reports whether s is not empty and contains only the given sorts.
func (s Seen) Only(sorts Seen) bool { return s != 0 && s&^sorts == 0 }

// String lists the sorts as types of the state schema.
func (s Seen) String() string {
	var words []string
	add := func(sorts Seen, word string) {
		if s&sorts != 0 {
			words = append(words, word)
		}
	}
	if s&SeenFloat == 0 || s&SeenLong != 0 {
		add(SeenInteger|SeenLong, "integer")
	}
	add(SeenFloat, "number")
	add(SeenBoolean, "boolean")
	add(SeenText, "string")
	add(SeenNested, "array or object")
	return strings.Join(words, " or ")
}

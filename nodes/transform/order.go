package transform

import (
	"cmp"
	"math"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// rank returns the position of a value's type in the order: null, booleans, numbers,
// strings, arrays, objects.
func rank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case int64, float64:
		return 2
	case string:
		return 3
	case []any:
		return 4
	}
	return 5
}

// compare is a total order over all values, consistent with value.Equal: false before
// true, numbers by value, strings by code point, arrays element by element, objects by
// their encodings with sorted keys. NaN is equal to itself and comes before all other
// numbers.
func compare(a, b any) int {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y)
		case float64:
			return compareMixed(x, y)
		}
	case float64:
		switch y := b.(type) {
		case float64:
			return cmp.Compare(x, y)
		case int64:
			return -compareMixed(y, x)
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y)
		}
	case bool:
		if y, ok := b.(bool); ok {
			return compareBool(x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return compareArrays(x, y)
		}
	}
	if r := cmp.Compare(rank(a), rank(b)); r != 0 || a == nil {
		return r
	}
	return strings.Compare(string(appendKey(nil, a)), string(appendKey(nil, b)))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareMixed compares an integer with a float exactly.
func compareMixed(i int64, f float64) int {
	if math.IsNaN(f) {
		return 1
	}
	return value.CompareIntFloat(i, f)
}

func compareArrays(a, b []any) int {
	for i := range min(len(a), len(b)) {
		if c := compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

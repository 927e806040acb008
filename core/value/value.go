package value

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A run-time value of state, arguments and expressions is one of
//
//	nil, bool, int64, float64, string, []any, *Object
//
// or, in a field declared with a Go type, a value of that type. Values inside the engine
// are shared and never changed in place. To change a value, make a Clone.

// missing is the type of Missing.
type missing struct{}

// Missing means that there is no value: the field was never written, or the path leads
// nowhere. It differs from nil, which is a stored null.
var Missing any = missing{}

// IsMissing reports whether v is Missing.
func IsMissing(v any) bool { _, ok := v.(missing); return ok }

// Object is a JSON object that keeps its keys in the order in which they were set. The zero
// Object is empty and ready to use. An Object is safe for concurrent reads. It must not be
// changed once it has been passed to the engine.
type Object struct {
	keys   []string
	values []any
	index  map[string]int // nil if there are few keys
	shared bool           // whether keys and index belong to a Keys
}

// indexFrom is the number of keys from which an Object has an index. For fewer keys, a
// linear search is faster than hashing.
const indexFrom = 12

// NewObject returns an empty object with room for n keys.
func NewObject(n int) *Object {
	return &Object{keys: make([]string, 0, n), values: make([]any, 0, n)}
}

// ObjectOf returns an object of alternating keys and values. It panics if a key is not a
// string. It is meant for tests and literals.
func ObjectOf(pairs ...any) *Object {
	o := NewObject(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Len returns the number of keys.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range o.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// Get returns the value of a key, and whether the object has the key.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.values[i], true
	}
	return nil, false
}

// At returns the i-th key and its value.
func (o *Object) At(i int) (string, any) { return o.keys[i], o.values[i] }

// Set sets the value of a key; a new key is added at the end.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.values[i] = v
		return
	}
	o.own()
	if o.index == nil && len(o.keys) >= indexFrom {
		o.index = indexOf(o.keys)
	}
	if o.index != nil {
		o.index[key] = len(o.keys)
	}
	o.keys = append(o.keys, key)
	o.values = append(o.values, v)
}

// Delete removes a key; the other keys keep their order.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	o.own()
	o.keys = slices.Delete(o.keys, i, i+1)
	o.values = slices.Delete(o.values, i, i+1)
	if o.index != nil {
		o.index = make(map[string]int, len(o.keys))
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
}

// Keys returns the keys in order. The slice must not be changed.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return o.keys
}

// All yields the keys and values in order.
func (o *Object) All() func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for i, k := range o.keys {
			if !yield(k, o.values[i]) {
				return
			}
		}
	}
}

// Copy returns a shallow copy with room for extra keys.
func (o *Object) Copy(extra int) *Object {
	if o == nil {
		return NewObject(extra)
	}
	if o.shared {
		return &Object{keys: o.keys, values: append(make([]any, 0, len(o.values)+extra), o.values...), index: o.index, shared: true}
	}
	c := NewObject(len(o.keys) + extra)
	c.keys, c.values, c.index = append(c.keys, o.keys...), append(c.values, o.values...), maps.Clone(o.index)
	return c
}

// Map returns the object as a plain Go map with deep copies of the values; nested objects
// become map[string]any, too.
func (o *Object) Map() map[string]any {
	m := make(map[string]any, o.Len())
	for k, v := range o.All() {
		m[k] = Plain(v)
	}
	return m
}

// Plain returns a deep copy of v in which objects are map[string]any.
func Plain(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Plain(e)
		}
		return out
	case *Object:
		return v.Map()
	default:
		return Clone(v)
	}
}

// Clone returns a deep copy of a value. Values of Go types are copied by reflection. Parts
// that cannot be copied (channels, functions, data behind unexported fields) stay shared.
// It panics if the value contains itself.
func Clone(v any) any {
	c, err := clone(v, 0)
	if err != nil {
		panic("core: " + err.Error())
	}
	return c
}

// Equal compares two values by content: numbers by numeric value (whole numbers exactly),
// arrays by element, and objects by key in any order. Values of different types are not
// equal. Missing equals only Missing.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil || canonicalEqual(a, b)
	case bool:
		if y, ok := b.(bool); ok {
			return x == y
		}
		return canonicalEqual(a, b)
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
		return canonicalEqual(a, b)
	case int64:
		switch y := b.(type) {
		case int64:
			return x == y
		case float64:
			return CompareIntFloat(x, y) == 0
		}
		return canonicalEqual(a, b)
	case float64:
		switch y := b.(type) {
		case float64:
			return x == y
		case int64:
			return CompareIntFloat(y, x) == 0
		}
		return canonicalEqual(a, b)
	case []any:
		y, ok := b.([]any)
		if !ok {
			return canonicalEqual(a, b)
		}
		return slices.EqualFunc(x, y, Equal)
	case *Object:
		y, ok := b.(*Object)
		if !ok {
			return canonicalEqual(a, b)
		}
		return equalObjects(x, y)
	case missing:
		return IsMissing(b)
	}
	return canonicalEqual(a, b)
}

func equalObjects(x, y *Object) bool {
	if x.Len() != y.Len() {
		return false
	}
	for k, v := range x.All() {
		w, ok := y.Get(k)
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// CompareIntFloat compares an integer and a float exactly: the integer is never rounded. It
// returns -1, 0 or 1; f must not be NaN.
func CompareIntFloat(i int64, f float64) int {
	if f >= 1<<63 {
		return -1
	}
	if f < -(1 << 63) {
		return 1
	}
	t := math.Trunc(f)
	if c := cmp.Compare(i, int64(t)); c != 0 {
		return c
	}
	return cmp.Compare(t, f)
}

// canonicalEqual compares two values that are not both canonical, such as values of Go types.
func canonicalEqual(a, b any) bool {
	if isCanonical(a) && isCanonical(b) {
		return false
	}
	x, err := Canonical(a)
	if err != nil {
		return false
	}
	y, err := Canonical(b)
	return err == nil && Equal(x, y)
}

// isCanonical reports whether the type of the value is one of the seven types. It does not
// look inside arrays and objects.
func isCanonical(v any) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *Object, missing:
		return true
	}
	return false
}

// TypeName returns the JSON Schema name of a value's type: null, boolean, integer, number,
// string, array or object. It returns "missing" for Missing and the Go type for anything
// else.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *Object:
		return "object"
	case missing:
		return "missing"
	}
	return fmt.Sprintf("%T", v)
}

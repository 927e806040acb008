package value

import (
	"fmt"
	"maps"
	"slices"
)

// Keys is a fixed list of distinct keys that any number of objects share, like the header
// of a table. It is immutable and safe for concurrent use.
type Keys struct {
	names []string
	index map[string]int // nil if there are few keys
}

// NewKeys returns the keys in the given order. It returns an error if a key appears twice.
func NewKeys(names []string) (*Keys, error) {
	k := &Keys{names: slices.Clip(slices.Clone(names))}
	index := make(map[string]int, len(names))
	for i, n := range k.names {
		if _, ok := index[n]; ok {
			return nil, fmt.Errorf("key %q appears twice", n)
		}
		index[n] = i
	}
	if len(names) >= indexFrom {
		k.index = index
	}
	return k, nil
}

// Names returns the keys in order. The slice must not be changed.
func (k *Keys) Names() []string { return k.names }

// Index returns the index of a key; ok is false if it is not among the keys.
func (k *Keys) Index(name string) (i int, ok bool) {
	if k.index != nil {
		i, ok = k.index[name]
		return i, ok
	}
	i = slices.Index(k.names, name)
	return max(i, 0), i >= 0
}

// Len returns the number of keys.
func (k *Keys) Len() int { return len(k.names) }

// NewRow returns an object with the given keys and values, without copying them. The values
// belong to the object from then on. The keys stay shared until a key is added or removed.
// A row costs one allocation in addition to its values, whatever the number of keys. NewRow
// panics if the numbers of keys and values differ.
func NewRow(keys *Keys, values []any) *Object {
	o := new(Object)
	InitRow(o, keys, values)
	return o
}

// InitRow makes o, which must be empty, the row that NewRow would return, for callers that
// allocate many objects at once.
func InitRow(o *Object, keys *Keys, values []any) {
	if len(keys.names) != len(values) {
		panic(fmt.Sprintf("core: a row of %d values for %d keys", len(values), len(keys.names)))
	}
	*o = Object{keys: keys.names, values: values[:len(values):len(values)], index: keys.index, shared: true}
}

// own gives the object its own copy of the keys before they change.
func (o *Object) own() {
	if o.shared {
		o.keys = slices.Clone(o.keys)
		o.index = maps.Clone(o.index)
		o.shared = false
	}
}

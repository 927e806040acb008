package state

import "github.com/wavefold/wavefold/core/value"

// owned records what a column knows about a value that its merges have produced. Each
// value is folded only once, so the next merge may change the parts of it that no reader
// can see. The zero value, which records nothing, is always correct, and so is nil. owned
// is not part of a snapshot.
type owned struct {
	// array is set if no other slice uses the spare capacity of the array. The spare
	// capacity of a starting value may be shared.
	array bool
	// keys are the keys of the elements of a union, nil if they are not known.
	keys *keySet
	// objects are the objects in the value that were made by the column, and so may be
	// changed.
	objects map[*value.Object]struct{}
	// maps is set if the same is true for all maps in a map of a Go type.
	maps bool
}

func (o *owned) ownsArray() bool { return o != nil && o.array }

func (o *owned) setArray() {
	if o != nil {
		o.array = true
	}
}

func (o *owned) ownsMaps() bool { return o != nil && o.maps }

// dropObjects is called when the value can be seen by others. They may hold its arrays and
// elements, too, but these are never changed.
func (o *owned) dropObjects() { o.objects, o.maps = nil, false }

// object returns the object if it may be changed, and otherwise a copy that may be, with
// room for extra keys.
func (o *owned) object(v *value.Object, extra int) *value.Object {
	if o == nil {
		return v.Copy(extra)
	}
	if _, ok := o.objects[v]; ok {
		return v
	}
	c := v.Copy(extra)
	if o.objects == nil {
		o.objects = map[*value.Object]struct{}{}
	}
	o.objects[c] = struct{}{}
	return c
}

package state

import (
	"cmp"
	"slices"
)

// Change replaces the value of a field at a place between two writers, so that later writes are merged
// with the new value.
type Change struct {
	// At is the number of writers before the change, and Level the level of the graph before which it
	// happens: readers of lower levels do not see it, although no writer is between them and the change.
	At    int
	Level int32
	// Apply returns the new value in the form that the field stores. It is called once, when the
	// writers before the change are resolved, or once more after Load. If it returns an error, the field
	// loses its value: it becomes a FailedMerge with the slot -1.
	Apply func(old any) (any, error)

	before, after any
	done          bool
}

// Change declares a change, in any order, before the first slot is resolved. Of changes at the same place
// the later one is applied last.
func (c *Column) Change(x *Change) {
	r := c.setRare()
	r.changes = append(r.changes, x)
	slices.SortStableFunc(r.changes, func(a, b *Change) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Level, b.Level)) })
}

// Begin applies the changes before the first writer.
func (c *Column) Begin() {
	if c.cursor == 0 {
		c.change()
	}
}

// change applies the changes at the cursor.
func (c *Column) change() {
	last := len(c.folded) - 1
	for _, x := range c.rare.changes {
		if x.done || x.At != int(c.cursor) {
			continue
		}
		x.before, x.done = c.folded[last], true
		v, err := x.Apply(x.before)
		if err != nil {
			v = &FailedMerge{Slot: -1, Err: err}
		}
		x.after, c.folded[last] = v, v
		c.rare.own, c.seen = owned{}, true
	}
}

// AtLevel is At for a reader on a level, which does not see changes before higher levels.
func (c *Column) AtLevel(k int, level int32) any {
	if v, ok := c.changed(k, level); ok {
		return v
	}
	return c.At(k)
}

// changed returns the value after the first k slots for a reader on a level, and reports whether there is a
// change at that place.
func (c *Column) changed(k int, level int32) (v any, ok bool) {
	if c.rare == nil {
		return nil, false
	}
	for _, x := range c.rare.changes {
		if x.At != k || !x.done {
			continue
		}
		if !ok {
			v, ok = x.before, true
		}
		if x.Level <= level {
			v = x.after
		}
	}
	return v, ok
}

// startFor returns the value before the first slot for a reader on a level.
func (c *Column) startFor(level int32) any {
	if v, ok := c.changed(0, level); ok {
		return v
	}
	return c.start
}

// Start returns the value before the first write and before all changes.
func (c *Column) Start() any { return c.start }

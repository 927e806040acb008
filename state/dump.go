package state

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core/value"
)

// Dump returns the contents of a column for a snapshot: the value and the writes of the
// forgotten slots, and the writes of the resolved slots. Values are in canonical form.
// Folded values are not included; Load computes them again.
func (c *Column) Dump() (*value.Object, error) {
	d := dumper{value.NewObject(4), nil}
	d.value("start", c.start)
	if c.base > 0 {
		d.o.Set("base", int64(c.base))
		d.value("value", c.folded[0])
	}
	if c.rare != nil && c.rare.kept != nil {
		d.set("kept", c.rare.kept.list)
	}
	var slots []any
	for i, s := range c.slots {
		if s != nil {
			slots = append(slots, value.ObjectOf("slot", int64(int(c.base)+i), "writes", appendWrites([]any{}, s)))
		}
	}
	if slots != nil {
		d.set("slots", slots)
	}
	d.changes(c)
	if d.err != nil {
		return nil, fmt.Errorf("field %q: %w", c.field.Name, d.err)
	}
	return d.o, nil
}

type dumper struct {
	o   *value.Object
	err error
}

func (d *dumper) set(key string, v any) {
	c, err := value.Canonical(v)
	if err != nil && d.err == nil {
		d.err = err
	}
	d.o.Set(key, c)
}

// value stores the value of a field, which may be missing or a failed merge.
func (d *dumper) value(key string, v any) {
	s, ok := v.(*FailedMerge)
	switch {
	case ok:
		d.o.Set("spoiled "+key, value.ObjectOf("slot", int64(s.Slot), "error", s.Err.Error()))
	case !value.IsMissing(v):
		d.set(key, v)
	}
}

// changes stores what the changes among the forgotten slots have made of the value, because it cannot be
// computed again.
func (d *dumper) changes(c *Column) {
	if c.rare == nil || c.base == 0 {
		return
	}
	var list []any
	for _, x := range c.rare.changes {
		if x.At <= int(c.base) {
			in := dumper{value.NewObject(2), d.err}
			in.value("before", x.before)
			in.value("after", x.after)
			list, d.err = append(list, in.o), in.err
		}
	}
	if list != nil {
		d.set("changes", list)
	}
}

// Load fills a new column from the result of Dump, decoded from JSON.
func (c *Column) Load(d *value.Object) error {
	if err := c.load(d); err != nil {
		return fmt.Errorf("field %q: %w", c.field.Name, err)
	}
	return nil
}

func (c *Column) load(d *value.Object) (err error) {
	if c.start, err = c.loadValue(d, "start"); err != nil {
		return err
	}
	c.folded[0] = c.start
	if base, ok := d.Get("base"); ok {
		n, _ := base.(int64)
		if n <= 0 || c.slots != nil && int(n) > len(c.slots) {
			return fmt.Errorf("%d slots are forgotten", n)
		}
		c.slots = c.slots[min(int(n), len(c.slots)):]
		c.base, c.cursor = int32(n), int32(n)
		if c.folded[0], err = c.loadValue(d, "value"); err != nil {
			return err
		}
	}
	if err := c.loadChanges(d); err != nil {
		return err
	}
	kept, err := c.restore(d, "kept")
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		c.setRare().kept = &keptWrites{list: kept}
	}
	slots, _ := d.Get("slots")
	list, _ := slots.([]any)
	for _, e := range list {
		o, _ := e.(*value.Object)
		at, _ := o.Get("slot")
		k, ok := at.(int64)
		if !ok || int(k) < int(c.base) {
			return fmt.Errorf("not a slot: %s", value.JSON(e))
		}
		writes, err := c.restore(o, "writes")
		if err != nil {
			return err
		}
		switch len(writes) {
		case 0:
			c.Resolve(int(k), value.Missing, nil)
		case 1:
			c.Resolve(int(k), writes[0], nil)
		default:
			c.Resolve(int(k), nil, writes)
		}
	}
	return nil
}

// loadChanges loads the changes among the forgotten slots, and applies those before the first slot.
func (c *Column) loadChanges(d *value.Object) (err error) {
	if c.rare == nil {
		return nil
	}
	for _, x := range c.rare.changes {
		x.done = false
	}
	stored, _ := d.Get("changes")
	list, _ := stored.([]any)
	for i, v := range list {
		o, _ := v.(*value.Object)
		if i >= len(c.rare.changes) {
			return fmt.Errorf("%d changes are forgotten", len(list))
		}
		x := c.rare.changes[i]
		if x.before, err = c.loadValue(o, "before"); err != nil {
			return err
		}
		if x.after, err = c.loadValue(o, "after"); err != nil {
			return err
		}
		x.done = true
	}
	c.Begin()
	return nil
}

func (c *Column) loadValue(d *value.Object, key string) (any, error) {
	if v, ok := d.Get("spoiled " + key); ok {
		o, _ := v.(*value.Object)
		slot, _ := o.Get("slot")
		text, _ := o.Get("error")
		k, _ := slot.(int64)
		why, _ := text.(string)
		return &FailedMerge{Slot: int(k), Err: errors.New(why)}, nil
	}
	v, ok := d.Get(key)
	if !ok {
		return value.Missing, nil
	}
	return c.field.Restore(v)
}

// restore returns the list under a key, with its values in the form the field stores.
func (c *Column) restore(d *value.Object, key string) ([]any, error) {
	v, _ := d.Get(key)
	list, _ := v.([]any)
	for i, w := range list {
		r, err := c.field.Restore(w)
		if err != nil {
			return nil, err
		}
		list[i] = r
	}
	return list, nil
}

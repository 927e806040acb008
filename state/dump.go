package state

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// Dump returns the resolved slots of a column with their writes, for a
// snapshot. Folded values are not part of it: they are folded anew.
func (c *Column) Dump() []SlotDump {
	var out []SlotDump
	for k := range c.slots {
		if c.slots[k].resolved {
			out = append(out, SlotDump{Slot: k, Writes: c.Contribution(k)})
		}
	}
	return out
}

// SlotDump is one resolved slot.
type SlotDump struct {
	Slot   int
	Writes []any // canonical, when it is to be written as JSON
}

// MarshalJSON writes the slot so that numbers keep their type.
func (d SlotDump) MarshalJSON() ([]byte, error) {
	return core.AppendJSON(nil, core.ObjectOf("slot", int64(d.Slot), "writes", d.Writes))
}

// UnmarshalJSON reads a slot back.
func (d *SlotDump) UnmarshalJSON(data []byte) error {
	v, err := core.ParseJSON(data)
	if err != nil {
		return err
	}
	o, _ := v.(*core.Object)
	slot, _ := o.Get("slot")
	writes, _ := o.Get("writes")
	n, ok := slot.(int64)
	list, ok2 := writes.([]any)
	if !ok || !ok2 {
		return fmt.Errorf("not a slot: %s", data)
	}
	d.Slot, d.Writes = int(n), list
	return nil
}

// Load resolves slots as Dump returned them, after their values went through
// JSON.
func (c *Column) Load(slots []SlotDump) error {
	for _, s := range slots {
		for i, w := range s.Writes {
			v, err := c.field.Restore(w)
			if err != nil {
				return fmt.Errorf("field %q: %w", c.field.Name, err)
			}
			s.Writes[i] = v
		}
		switch len(s.Writes) {
		case 0:
			c.Resolve(s.Slot, core.Missing, nil)
		case 1:
			c.Resolve(s.Slot, s.Writes[0], nil)
		default:
			c.Resolve(s.Slot, nil, s.Writes)
		}
	}
	return nil
}

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
	Slot   int   `json:"slot"`
	Writes []any `json:"writes,omitempty"`
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

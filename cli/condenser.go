package cli

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
)

// maxListed is the maximum number of items of a fan-out, or rows of a stage, that are
// listed individually.
const maxListed = 100

// condenser condenses the output for a large fan-out or pipeline: after the first items, only
// items that fail or are retried get a line, and the others are counted.
type condenser struct{ of map[string]*itemCounts }

type itemCounts struct {
	total       int64 // 0 while unknown
	begun, done int64
}

// condense processes an event. condensed reports that the event needs no line of its own;
// progress is a progress event to print in its place, nil if there is none.
func (c *condenser) condense(e *core.Event) (condensed bool, progress *core.Event) {
	name := cmp.Or(e.Node, e.Unit)
	if n, ok := e.Total.Get(); ok && e.Type == core.NodeStarted {
		c.get(name).total = int64(n)
		return false, nil
	}
	if e.Item == 0 {
		return false, nil
	}
	x := c.get(name)
	switch e.Type {
	case core.ItemStarted:
		x.begun++
		return x.begun > maxListed, nil
	case core.ItemFailed:
		x.done++
		return false, nil
	case core.ItemFinished:
		x.done++
		if x.done <= maxListed {
			return false, nil
		}
		if x.total == 0 { // the reader of the stream reports progress
			return true, nil
		}
		return true, &core.Event{Type: core.Progress, Time: e.Time, Node: e.Node, Unit: e.Unit, Done: x.done, Of: x.total}
	case core.StateWritten:
		return x.begun > maxListed, nil
	}
	return false, nil
}

func (c *condenser) get(name string) *itemCounts {
	if c.of == nil {
		c.of = map[string]*itemCounts{}
	}
	x := c.of[name]
	if x == nil {
		x = &itemCounts{}
		c.of[name] = x
	}
	return x
}

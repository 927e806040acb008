package cli

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
)

// mostListed is the maximum number of items of a fan-out, or rows of a stage, that are
// listed individually.
const mostListed = 100

// crowds condenses the output for a large fan-out or pipeline: after the first items, only
// items that fail or are retried get a line, and the others are counted.
type crowds struct{ of map[string]*crowd }

type crowd struct {
	total       int64 // 0 while unknown
	begun, done int64
}

// tell processes an event. told reports that the event needs no line of its own; news is a
// progress event to print in its place, nil if there is none.
func (c *crowds) tell(e *core.Event) (told bool, news *core.Event) {
	who := cmp.Or(e.Node, e.Unit)
	if n, ok := e.Total.Get(); ok && e.Type == core.NodeStarted {
		c.get(who).total = int64(n)
		return false, nil
	}
	if e.Item == 0 {
		return false, nil
	}
	x := c.get(who)
	switch e.Type {
	case core.ItemStarted:
		x.begun++
		return x.begun > mostListed, nil
	case core.ItemFailed:
		x.done++
		return false, nil
	case core.ItemFinished:
		x.done++
		if x.done <= mostListed {
			return false, nil
		}
		if x.total == 0 { // the reader of the stream reports progress
			return true, nil
		}
		return true, &core.Event{Type: core.Progress, Time: e.Time, Node: e.Node, Unit: e.Unit, Done: x.done, Of: x.total}
	case core.StateWritten:
		return x.begun > mostListed, nil
	}
	return false, nil
}

func (c *crowds) get(who string) *crowd {
	if c.of == nil {
		c.of = map[string]*crowd{}
	}
	x := c.of[who]
	if x == nil {
		x = &crowd{}
		c.of[who] = x
	}
	return x
}

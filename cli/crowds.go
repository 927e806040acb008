package cli

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
)

// mostListed is how many items of a fan-out or rows of a stage are listed one by one.
const mostListed = 100

// crowds keeps the items of a large fan-out or pipeline out of the lines: after the first
// ones only those that fail or are tried again are listed, and the others counted.
type crowds struct{ of map[string]*crowd }

type crowd struct {
	total       int64 // 0 while nobody knows
	begun, done int64
}

// tell takes in an event. told reports that it needs no line of its own; news is the
// progress it makes, nil for none.
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
		if x.total == 0 { // whoever reads the stream tells how far it is
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

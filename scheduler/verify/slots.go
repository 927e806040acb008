package verify

import (
	"fmt"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// group is a limit on the work in flight. A group with any work in flight counts as one
// in its parent.
type group struct {
	parent *group
	name   string
	limit  int // 0 if there is no limit
	active int
}

// acquire takes a slot for a handler that begins.
func (f *frame) acquire(g *group) {
	c := f.c
	c.inFlight++
	if c.limits != nil && c.limits.MaxInFlight > 0 && c.inFlight > c.limits.MaxInFlight {
		c.breaks(Limits, "%d executions are in flight, max_in_flight is %d", c.inFlight, c.limits.MaxInFlight)
	}
	for ; g != nil; g = g.parent {
		g.active++
		if g.limit > 0 && g.active > g.limit {
			c.breaks(Limits, "%s are in flight in %s, the limit is %d", count(g.active, g.what()), g.name, g.limit)
		}
		if g.active > 1 {
			return
		}
	}
}

func (g *group) what() string {
	if g.parent == nil {
		return "node"
	}
	return "execution"
}

// free releases the slot of a handler that has ended.
func (f *frame) free(g *group) {
	f.c.inFlight--
	for ; g != nil; g = g.parent {
		if g.active--; g.active > 0 {
			return
		}
	}
}

// release releases the slot of a plain node if it holds one.
func (f *frame) release(v *vertex) {
	if v.hasSlot {
		v.hasSlot = false
		f.free(&f.group)
	}
}

// visible reports whether the log shows when a handler of the node releases its slot.
// Timers, nodes without a handler and nodes that ask a person hold no slots, and a node
// with a nested run uses the slots of the nodes inside it.
func (f *frame) visible(n *plan.Node) bool {
	if !holdsSlots(n) {
		return false
	}
	pv := &f.p.Vertices[n.Vertex]
	return !n.Claims && n.Pause != plan.PauseAfter && (pv.Unit != nil || !pv.MayReject)
}

// holdsSlots reports whether the handlers of a node hold slots.
func holdsSlots(n *plan.Node) bool {
	return n.Handler != nil && n.Wait == nil && n.Frame == nil && !n.Asks
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

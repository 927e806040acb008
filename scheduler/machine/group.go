package machine

// group limits the handlers in flight. Groups nest: a fan-out, a unit or a nested run takes one
// slot of the group around it while at least one of its handlers runs, and none while all of them
// wait. So a slot is never held by something that only waits for its own parts.
type group struct {
	parent *group
	limit  int
	active int
	// holder is notified when the group takes or releases a slot of its parent; nil for the frame
	// of the whole run.
	holder slotHolder
}

type slotHolder interface{ slotChanged() }

// free reports whether another handler may start in the group.
func (g *group) free() bool {
	for ; g != nil; g = g.parent {
		if g.active >= g.limit {
			return false
		}
		if g.active > 0 {
			return true
		}
	}
	return true
}

func (g *group) acquire() {
	for ; g != nil; g = g.parent {
		g.active++
		if g.active > 1 {
			return
		}
		if g.holder != nil {
			g.holder.slotChanged()
		}
	}
}

func (g *group) release() {
	for ; g != nil; g = g.parent {
		g.active--
		if g.active > 0 {
			return
		}
		if g.holder != nil {
			g.holder.slotChanged()
		}
	}
}

// freeBelow is like free, but ignores the group top and the groups around it.
func (g *group) freeBelow(top *group) bool {
	for ; g != nil && g != top; g = g.parent {
		if g.active >= g.limit {
			return false
		}
		if g.active > 0 {
			return true
		}
	}
	return true
}

package machine

// group is a limit on user code in flight. Groups nest: a fan-out, a unit or a
// nested run counts as one slot of the group around it while user code of at
// least one of its parts runs, and as none while all of them wait. A slot is
// therefore never held by something that only waits for something inside it.
type group struct {
	parent *group
	limit  int
	active int
	// holder is told when the group begins or ends to hold a slot of its
	// parent; nil for the frame of the whole run.
	holder slotHolder
}

type slotHolder interface{ slotChanged() }

// free reports whether one more piece of user code may start in the group.
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

// freeBelow is free without asking the group top and what is around it.
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

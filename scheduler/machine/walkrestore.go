package machine

import (
	"errors"
	"fmt"
)

func (t walkPlanner) memory() any { return t.walk }

// restore connects the visits and fields of a walk that was read from a snapshot.
func (t walkPlanner) restore() error {
	w := t.walk
	if err := w.Router.restore(w.router.memory()); err != nil {
		return err
	}
	if err := w.router.restored(); err != nil {
		return err
	}
	if err := w.restoreFields(w); err != nil {
		return err
	}
	for i, v := range w.Live {
		if err := w.restoreVisit(v, w.Live[:i]); err != nil {
			return err
		}
	}
	return nil
}

// extend moves the deadlines of parallel nodes and of the stall timer.
func (t walkPlanner) extend(down int64) {
	t.extendStall(down)
	for _, v := range t.Live {
		if v.Fork != nil {
			v.Due += down
		}
	}
}

func (t walkPlanner) extendStall(down int64) {
	t.Due += down
	t.LastActivity += down
}

// restoreVisit connects a visit of a snapshot with the walk and with its parent, which is
// one of the visits before it.
func (t *walk) restoreVisit(v *visit, before []*visit) error {
	if v == nil || !t.has(v.Node) {
		return errors.New("a visit is of a node that is not there")
	}
	v.t = t
	if err := t.f.restoreHeld(v.Held); err != nil {
		return err
	}
	for _, u := range before {
		if u.N == v.Parent {
			v.parent = u
		}
	}
	switch {
	case v.Parent >= 0 && v.parent == nil:
		return fmt.Errorf("a branch of visit %d, which is not there", v.Parent)
	case v.Fork == nil:
		return nil
	}
	p := t.parallel(v)
	if p == nil || len(v.Fork.Branches) != len(p.Branches) {
		return fmt.Errorf("node %s has other branches", t.id(v.Node))
	}
	v.Fork.maxParallel = p.MaxParallel
	for i := range v.Fork.Branches {
		if err := t.f.restoreWrites(v.Fork.Branches[i].Writes); err != nil {
			return err
		}
	}
	return nil
}

// reissue issues the commands in flight again, and sets the timers again.
func (t *walk) reissue() {
	if t.Ended {
		return
	}
	if t.w.StallTimeout > 0 {
		t.askWatch()
	}
	for _, v := range t.Live {
		n := &t.f.p.Nodes[v.Node]
		switch {
		case v.Fork != nil && v.Phase != pausing:
			if n.Timeout > 0 && !v.Fork.Expired {
				t.watchFork(v)
			}
		case v.Phase == routing:
			t.router.ask(v)
		default:
			reissue(v)
			if v.GivenUp && v.inFlight(n) {
				t.f.giveUp(v.id())
			}
		}
	}
}

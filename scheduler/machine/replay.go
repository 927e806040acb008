package machine

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// Logic is the number of the rules by which the machine decides. It is raised with every change
// after which the same events lead to other commands.
const Logic = 2

// Cut is the number of the rules by which the items of a fan-out are grouped into ranges.
const Cut = 1

// Extend moves the machine to a moment at which a run continues after a time without a process.
// down is the time between the latest event and that moment. The timeouts of nested runs and of
// parallel nodes and the stall timeout of walks become due that much later, because they limit
// work and none was done. Waits and the delays of retries do not. Timer returns the new instants.
func (m *Machine) Extend(down time.Duration) {
	m.now += int64(down)
	m.instant = m.now
	for _, f := range m.frames {
		f.extend(int64(down))
	}
}

// Now returns the time of the latest event, in nanoseconds since the start of the run.
func (m *Machine) Now() int64 { return m.now }

// Timer returns the instant at which a timer or deadline ends, in nanoseconds since the start of
// the run. ok is false if the machine does not wait for it any more, for example because the
// execution was cancelled.
func (m *Machine) Timer(id ID) (due int64, ok bool) {
	f := m.frame(id.Frame)
	if f == nil || m.finished {
		return 0, false
	}
	if id.Node >= 0 {
		return f.timer(id)
	}
	if id.IsWatch() {
		return f.mode.stallTimer(id)
	}
	return f.Deadline, f.Deadline > 0 && !f.Stopped
}

// timer is Timer for the timer of an execution or of a parallel node.
func (f *frame) timer(id ID) (due int64, ok bool) {
	v := f.p.Nodes[id.Node].Vertex
	if f.v[v].Phase == resolved {
		return 0, false
	}
	w := f.find(id)
	if w == nil || w.id() != id || w.givenUp() {
		return 0, false
	}
	if b, ok := w.(*visit); ok && b.Fork != nil {
		return b.Due, b.Due > 0 && !b.Fork.Decided && !f.Stopped
	}
	a := w.load()
	return a.Due, a.Phase == backingOff || a.Phase == running && w.def().Wait != nil
}

// Compare compares the canonical places of two executions, or of runs as a whole: the order of
// vertices and members, then of items, rows, rounds and visits, and nested runs where the
// executions are that they belong to. Frames that have ended come first.
func (m *Machine) Compare(a, b ID) int {
	return slices.Compare(m.canonicalPlace(a), m.canonicalPlace(b))
}

func (m *Machine) canonicalPlace(id ID) []int32 {
	f := m.frame(id.Frame)
	switch {
	case f == nil:
		return nil
	case id.Node >= 0:
		return append(m.canonicalPlaceOf(f), f.place(id)...)
	}
	return m.canonicalPlaceOf(f)
}

// canonicalPlaceOf returns the canonical place of a frame, nil for the frame of the run.
func (m *Machine) canonicalPlaceOf(f *frame) []int32 {
	if f.parent == nil {
		return nil
	}
	return append(m.canonicalPlaceOf(f.parent), f.parent.place(f.Owner)...)
}

// place returns the canonical place of an execution in its frame. Rows come before the stages of a
// row, as they do in the state.
func (f *frame) place(id ID) []int32 {
	n := &f.p.Nodes[id.Node]
	if f.p.Mode.Visits {
		return []int32{id.From, id.Attempt}
	}
	return []int32{n.Vertex, id.From, n.Member, id.Attempt}
}

// Retries reports whether the machine would make another attempt after an outcome of the attempt
// with an ID.
func (m *Machine) Retries(id ID, o *Outcome) bool {
	f := m.frame(id.Frame)
	return f != nil && f.shouldRetry(&f.p.Nodes[id.Node], id.Attempt, o)
}

// ExtendRun moves the deadline of one nested run or parallel node, or the stall timer of a walk, by a
// time in which it did not work. id is the ID of its OpDeadline.
func (m *Machine) ExtendRun(id ID, by time.Duration) {
	f := m.frame(id.Frame)
	switch {
	case f == nil:
	case id.Node >= 0:
		if b, ok := f.find(id).(*visit); ok && b.Fork != nil && b.id() == id {
			b.Due += int64(by)
		}
	case id.IsWatch():
		f.mode.extendStall(int64(by))
	case f.Deadline > 0:
		f.Deadline += int64(by)
	}
}

// Over reports whether a frame has ended, or has not begun. Answers to it are dropped.
func (m *Machine) Over(frame int64) bool { return m.frame(frame) == nil }

// PlanAt returns the plan of the frame at a path such as "outer[3]/mid". A run that has changed its
// graph has its own plan.
func (m *Machine) PlanAt(path string) (*plan.Plan, error) {
	var last *plan.Plan // a late answer may belong to a frame that has ended
	for _, f := range m.frames {
		if f.Path == path {
			if last = f.p; !f.ended() {
				return last, nil
			}
		}
	}
	if last != nil {
		return last, nil
	}
	return m.plan.At(path)
}

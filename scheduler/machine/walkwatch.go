package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// watchID returns the ID of the current stall timer.
func (t *walk) watchID() ID { return ID{Frame: t.f.ID, Node: -1, To: -1, Attempt: t.Watches} }

// watch starts the stall timer, if the walk has a stall timeout: a walk that shows no activity
// for that long is ended. Activity is an answer to the machine, for the walk or a run nested in
// it, and log output or progress of a handler, which the driver reports. Waiting for a person or
// a timer is not a stall.
func (t *walk) watch() { t.watchFor(t.w.StallTimeout) }

func (t *walk) watchFor(d time.Duration) {
	if t.w.StallTimeout <= 0 {
		return
	}
	t.Watches++
	t.Due = t.f.m.timeAfter(d)
	t.askWatch()
}

func (t *walk) askWatch() {
	t.f.m.command(Command{Op: OpDeadline, ID: t.watchID(), Plan: t.f.p, Call: t.f.empty, Delay: t.f.m.until(t.Due)})
}

// unwatch removes the stall timer when the walk ends.
func (t *walk) unwatch() {
	if t.w.StallTimeout > 0 {
		t.f.m.command(Command{Op: OpMet, ID: t.watchID()})
	}
}

// watchExpired handles the end of the stall timer. e.Started is the last activity that the driver
// has seen.
func (t *walk) watchExpired(e *Event) bool {
	if e.Kind != Expired || e.ID != t.watchID() || t.Ended || t.f.Stopped {
		return false
	}
	quiet := time.Duration(e.Ended - max(t.LastActivity, e.Started))
	switch {
	case !slices.ContainsFunc(t.Live, t.runsUserCode):
		t.watch()
	case quiet < t.w.StallTimeout:
		t.watchFor(t.w.StallTimeout - quiet)
	default:
		t.endAtOnce(t.Live[slices.IndexFunc(t.Live, t.runsUserCode)].Node,
			&core.Failure{Class: core.ClassStalled, Permanent: true, Message: fmt.Sprintf("no sign of life for %s", t.w.StallTimeout)})
	}
	return true
}

// stallTimer returns the instant at which the stall timer ends.
func (t *walk) stallTimer(id ID) (due int64, ok bool) {
	return t.Due, id == t.watchID() && !t.Ended && !t.f.Stopped
}

// runsUserCode reports whether a handler of a visit is running.
func (t *walk) runsUserCode(v *visit) bool {
	if v.child != nil {
		return slices.ContainsFunc(t.f.m.frames, func(f *frame) bool { return f.inside(v.child) && f.mode.userCodeRuns() })
	}
	n := &t.f.p.Nodes[v.Node]
	return v.Phase == routing || v.Phase == running && v.Fork == nil && n.Wait == nil && !n.Asks
}

// userCodeRuns reports whether a handler of the walk itself is running.
func (t *walk) userCodeRuns() bool {
	return slices.ContainsFunc(t.Live, func(v *visit) bool { return v.child == nil && t.runsUserCode(v) })
}

// noteActivity records activity inside a nested run.
func (t *walk) noteActivity() { t.LastActivity = t.f.m.now }

// inside reports whether the frame is other or is nested in it.
func (f *frame) inside(other *frame) bool {
	for f != nil && f != other {
		f = f.parent
	}
	return f != nil
}

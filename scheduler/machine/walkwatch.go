package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// A walk is given up when there has been no sign of life for too long: no answer to the
// machine, in the walk or inside of its nodes, and nothing that a handler has logged or
// told of its progress, of which the driver knows. Waiting for a person or a timer is no
// lack of life.

// watchID names the watch that is set.
func (t *walk) watchID() ID { return ID{Frame: t.f.ID, Node: -1, To: -1, Attempt: t.Watches} }

// watch sets the watch, if the walk has one.
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
	t.f.m.command(Command{Op: OpDeadline, ID: t.watchID(), Plan: t.f.p, Delay: t.f.m.until(t.Due)})
}

// unwatch takes the watch away at the end.
func (t *walk) unwatch() {
	if t.w.StallTimeout > 0 {
		t.f.m.command(Command{Op: OpMet, ID: t.watchID()})
	}
}

// quietFor handles that the watch has run out: Started is the last sign of life that the
// driver knows of.
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
		t.abort(t.Live[slices.IndexFunc(t.Live, t.runsUserCode)].Node,
			&core.Failure{Class: core.ClassStalled, Permanent: true, Message: fmt.Sprintf("no sign of life for %s", t.w.StallTimeout)})
	}
	return true
}

// works reports whether user code of a visit runs.
func (t *walk) runsUserCode(v *visit) bool {
	if v.child != nil {
		return slices.ContainsFunc(t.f.m.frames, func(f *frame) bool { return f.inside(v.child) && f.mode.userCodeRuns() })
	}
	n := &t.f.p.Nodes[v.Node]
	return v.Phase == routing || v.Phase == running && v.Fork == nil && n.Wait == nil && !n.Asks
}

// working reports whether user code of the walk itself runs.
func (t *walk) userCodeRuns() bool {
	return slices.ContainsFunc(t.Live, func(v *visit) bool { return v.child == nil && t.runsUserCode(v) })
}

// alive notes a sign of life inside a nested run.
func (t *walk) noteActivity() { t.LastActivity = t.f.m.now }

// inside reports whether the frame is the other one or nested in it.
func (f *frame) inside(other *frame) bool {
	for f != nil && f != other {
		f = f.parent
	}
	return f != nil
}

package verify

import (
	"math"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nodeEvent handles an event of a node.
func (f *frame) nodeEvent(n *plan.Node) error {
	i := n.Vertex
	if f.assumed(i) {
		return nil
	}
	switch f.c.e.Type {
	case core.NodeReady:
		f.ready(i)
	case core.NodeStarted:
		f.started(i, n)
	case core.NodeFinished, core.NodeFailed:
		f.nodeEnded(i, n)
	case core.NodeSkipped:
		f.skipped(n)
	case core.NodeHandled:
		f.handledBy(i)
	case core.EdgeJudged:
		f.conditionEvaluated(n)
	case core.JoinDecided:
		f.joined(i)
	case core.StateWritten:
		f.written(n)
	case core.NodeRetrying:
		f.retrying(i, n)
	case core.ItemStarted, core.ItemFinished, core.ItemFailed:
		f.partEvent(i, n)
	case core.NodeAsked, core.NodeAnswered:
		f.asks(n)
	default:
		f.c.breaks(Lifecycle, "%s about a node", f.c.e.Type)
	}
	return nil
}

// assumed handles the end of a node that has a status without running, because a replay assumes it, and
// reports whether the event is one.
func (f *frame) assumed(i int32) bool {
	e := f.c.e
	if f.v[i].phase != undecided || e.Reason != core.AssumedReason(e.Status) {
		return false
	}
	switch e.Type {
	case core.NodeFinished:
		f.chosen(i)
		f.resolve(i, core.Success)
	case core.NodeFailed:
		f.chosen(i)
		f.resolve(i, core.Fail)
	default:
		return false
	}
	return true
}

// asks checks that a node may ask a person.
func (f *frame) asks(n *plan.Node) {
	if !n.Asks && n.Pause == plan.NoPause {
		f.c.breaks(Lifecycle, "%s, but it asks no person", f.c.e.Type)
	}
}

// partEvent handles an event of an item, row or round.
func (f *frame) partEvent(i int32, n *plan.Node) {
	v := &f.v[i]
	switch {
	case n.Member >= 0:
		if u := f.runningUnit(i); u != nil {
			u.event(n)
		}
	case n.Source == nil:
		f.c.breaks(Parts, "the node has no items")
	case v.fan == nil:
		f.c.breaks(Lifecycle, "%s %s", f.c.e.Type, f.after(v))
	default:
		v.fan.event()
	}
}

// after describes the progress of a vertex, as the reason why an event must not occur.
func (f *frame) after(v *vertex) string {
	switch v.phase {
	case undecided:
		return "before it is ready"
	case ready:
		return "before it begins"
	case waiting:
		return "while it waits for another attempt"
	case resolved:
		if v.status == core.Skipped {
			return "after it was skipped"
		}
		return "after its end"
	}
	return "while it runs"
}

func (f *frame) ready(i int32) {
	v := &f.v[i]
	again := v.phase == waiting && f.p.Vertices[i].Shape == plan.Plain
	if v.lostRace {
		f.c.breaks(Skips, "continues after it lost a race")
	}
	if v.phase != undecided && !again {
		f.c.breaks(Lifecycle, "is ready %s", f.after(v))
		return
	}
	if again {
		f.checkWait(&v.backoff)
		v.backoff = backoff{}
	} else {
		f.chosen(i)
	}
	v.phase = ready
}

// begins checks that a vertex may begin, and marks it as running.
func (f *frame) begins(i int32) bool {
	v := &f.v[i]
	switch v.phase {
	case ready:
	case undecided:
		f.c.breaks(Lifecycle, "begins %s", f.after(v))
		f.chosen(i)
	case waiting: // there was no event that says that it is ready again
		f.c.breaks(Lifecycle, "begins another attempt before it is ready")
		f.checkWait(&v.backoff)
	default:
		f.c.breaks(Lifecycle, "begins %s", f.after(v))
		return false
	}
	if v.attempt == 0 { // the ready event may precede the end of the last writer
		f.startable(i, "begins")
		f.canonical(i)
	}
	v.phase = running
	return true
}

func (f *frame) started(i int32, n *plan.Node) {
	v, e := &f.v[i], f.c.e
	if n.Member >= 0 {
		f.c.breaks(Lifecycle, "a member of %s begins on its own", f.subject(i))
		return
	}
	if !f.begins(i) {
		return
	}
	if n.Source != nil {
		total, ok := e.Total.Get()
		if n.Puller != nil {
			total = math.MaxInt // the end event has the number
		} else if !ok {
			f.c.breaks(Parts, "a fan-out begins and does not say how many items it has")
		}
		v.attempt, v.fan = 1, newFanOut(f, n, total)
		return
	}
	v.attempt = f.attempt(n, v.attempt)
	v.wrote = v.wrote[:0]
	f.noteHiddenSlots(n)
	if f.visible(n) {
		v.hasSlot = true
		f.acquire(&f.group)
	}
	if n.Frame != nil {
		v.inner = f.nest(n, f.name(n.ID), &f.group)
	}
}

// attempt checks the number of an attempt that begins, and returns it.
func (f *frame) attempt(n *plan.Node, before int) int {
	e := f.c.e
	switch {
	case e.Attempt != before+1:
		f.c.breaks(Retries, "begins attempt %d after attempt %d", e.Attempt, before)
	case e.Attempt > n.Retry.Attempts:
		f.c.breaks(Retries, "begins attempt %d of %d", e.Attempt, n.Retry.Attempts)
	}
	return e.Attempt
}

func (f *frame) retrying(i int32, n *plan.Node) {
	v, e := &f.v[i], f.c.e
	switch {
	case n.Member >= 0:
		if u := f.runningUnit(i); u != nil {
			u.retrying(n)
		}
		return
	case n.Source != nil && v.fan != nil && e.Item > 0:
		v.fan.retrying()
		return
	case n.Source != nil || v.phase != running:
		f.c.breaks(Lifecycle, "is to be tried again %s", f.after(v))
		return
	}
	f.failedAttempt(n, v.attempt)
	f.endInner(v, e.Error)
	f.release(v)
	f.rejectWrites(v)
	v.phase, v.backoff = waiting, backoff{e.Time, e.Delay}
}

// rejectWrites reports the writes of an execution that failed.
func (f *frame) rejectWrites(v *vertex) {
	for _, field := range v.wrote {
		f.c.breaks(Writes, "wrote %s and did not end well", f.p.Schema.Fields[field].Name)
	}
	v.wrote = v.wrote[:0]
}

// failedAttempt checks that a failed attempt may be followed by another, and the delay
// before it.
func (f *frame) failedAttempt(n *plan.Node, begun int) {
	e := f.c.e
	switch {
	case e.Attempt != begun:
		f.c.breaks(Retries, "attempt %d is to be followed by another, but attempt %d is in progress", e.Attempt, begun)
	case e.Attempt >= n.Retry.Attempts:
		f.c.breaks(Retries, "is to be tried again after attempt %d of %d", e.Attempt, n.Retry.Attempts)
	case e.Error != nil && !n.Retry.Again(e.Error):
		f.c.breaks(Retries, "is to be tried again after a failure that is permanent (%s)", e.Error.Class)
	}
	if f.failRun {
		f.c.breaks(Retries, "is to be tried again after a failure with the policy fail_run has stopped the run")
	}
	shortest, longest := delays(n, e)
	switch {
	case e.Delay < shortest:
		f.c.breaks(Retries, "the next attempt is %s away, the policy demands %s", e.Delay, shortest)
	case e.Delay > longest:
		f.c.breaks(Retries, "the next attempt is %s away, the policy says at most %s", e.Delay, longest)
	}
}

// delays returns the bounds of the wait that the policy and the failure require. Jitter
// multiplies the wait by a factor between 0.5 and 1.5.
func delays(n *plan.Node, e *core.Event) (shortest, longest time.Duration) {
	d := n.Retry.Delay(e.Attempt)
	shortest, longest = d, d
	if n.Retry.Jitter {
		shortest, longest = d/2, d+d/2
		if longest < d { // overflow
			longest = 1<<63 - 1
		}
		if n.Retry.Max > 0 {
			longest = min(longest, n.Retry.Max)
			shortest = min(shortest, n.Retry.Max)
		}
	}
	if e.Error != nil {
		shortest, longest = max(shortest, e.Error.RetryAfter), max(longest, e.Error.RetryAfter)
	}
	return shortest, longest
}

// checkWait checks with the times of the events that a wait was not too short. These are
// wall-clock times. The system may slow down or speed up the wall clock by at most a
// thousandth while it corrects it.
func (f *frame) checkWait(b *backoff) {
	now := f.c.e.Time
	if b.since.IsZero() || now.IsZero() {
		f.c.lacksTimes = f.c.lacksTimes || b.delay > 0
		return
	}
	const grain = time.Millisecond
	took := now.Sub(b.since)
	switch {
	case took < 0:
		f.c.unchecked(Retries, "how long a wait took: the clock was set back")
	case took < b.delay-b.delay/1000-grain:
		f.c.breaks(Retries, "continues %s after the attempt that failed, %s was required", took, b.delay)
	}
}

// nodeEnded handles the end of a plain node or fan-out.
func (f *frame) nodeEnded(i int32, n *plan.Node) {
	v, e := &f.v[i], f.c.e
	good := e.Type == core.NodeFinished
	switch {
	case n.Member >= 0:
		f.c.breaks(Lifecycle, "a member of %s ends on its own", f.subject(i))
		return
	case v.phase == running, !good && v.attempt > 0 && (v.phase == waiting || v.phase == ready): // stopped
	default:
		f.c.breaks(Lifecycle, "ends %s", f.after(v))
		return
	}
	status := f.endStatus(good)
	if v.fan != nil {
		v.fan.finish(good)
	} else {
		f.endPlain(v, n, good)
	}
	if v.lostRace {
		f.c.breaks(Skips, "ends with the status %s after it lost a race", e.Status)
	}
	if e.Error != nil {
		v.class, v.failedNode, v.failsRun = e.Error.Class, e.Error.Node, e.Error.FailsRun
	}
	f.resolve(i, status)
}

// endStatus checks the status in an end event, and returns it.
func (f *frame) endStatus(good bool) core.Status {
	var s core.Status
	_ = s.UnmarshalText([]byte(f.c.e.Status)) // an unknown status is reported below
	if good != s.Succeeded() || !good && s != core.Fail {
		f.c.breaks(Statuses, "%s with the status %q", f.c.e.Type, f.c.e.Status)
		if s = core.Fail; good {
			s = core.Success
		}
	}
	return s
}

func (f *frame) endPlain(v *vertex, n *plan.Node, good bool) {
	e := f.c.e
	stopped := e.Error != nil && e.Error.Class == core.ClassCanceled
	if !good {
		if v.phase != running && !stopped {
			f.c.breaks(Lifecycle, "fails %s", f.after(v))
		}
		f.rejectWrites(v)
		f.lastAttempt(n, v.attempt)
	}
	f.endInner(v, e.Error)
}

// lastAttempt checks that a failure is final: either the policy allows no further
// attempt, or the failure is permanent. It also checks that auto_status should not have
// turned the failure into a success.
func (f *frame) lastAttempt(n *plan.Node, attempt int) {
	e := f.c.e
	if e.Error == nil {
		return
	}
	if attempt < n.Retry.Attempts && n.Retry.Again(e.Error) {
		f.doubt(e.Node, Retries, "failed for good after attempt %d of %d", attempt, n.Retry.Attempts)
		return
	}
	lasting := e.Error.Class == core.ClassCanceled || e.Error.Class == core.ClassMerge && e.Error.Node == ""
	if n.AutoStatus && !lasting {
		f.c.breaks(Statuses, "failed, and its auto_status makes it a success")
	}
}

// endInner ends the nested run of an attempt.
func (f *frame) endInner(v *vertex, fail *core.Failure) {
	if v.inner == nil {
		return
	}
	if fail == nil && f.c.e.Type != core.NodeFinished {
		fail = &core.Failure{} // the event lacks the failure
	}
	v.inner.close(fail)
	v.inner = nil
}

// unitEvent handles an event of a pipeline or loop as a whole.
func (f *frame) unitEvent(i int32) error {
	e, pv := f.c.e, &f.p.Vertices[i]
	if level, ok := e.Level.Get(); ok && int32(level) != pv.Level {
		return f.c.mismatch("%s is on level %d in the log and on level %d in the workflow: the log belongs to another version of it", pv.ID, level, pv.Level)
	}
	switch e.Type {
	case core.NodeReady:
		f.ready(i)
	case core.NodeStarted:
		if f.begins(i) {
			f.v[i].attempt = 1
			f.v[i].unit = newUnit(f, i)
		}
	case core.UnitFinished:
		if u := f.runningUnit(i); u != nil {
			u.finish()
		}
	case core.NodeHandled:
		f.handledBy(i)
	case core.JoinDecided:
		f.joined(i)
	default:
		f.c.breaks(Lifecycle, "%s about a pipeline or loop", e.Type)
	}
	return nil
}

// runningUnit returns the unit of a vertex if it is in progress. Otherwise it reports a
// violation and returns nil.
func (f *frame) runningUnit(i int32) *unit {
	v := &f.v[i]
	if v.phase != running || v.unit == nil {
		f.c.breaks(Lifecycle, "%s of %s %s", f.c.e.Type, f.subject(i), f.after(v))
		return nil
	}
	return v.unit
}

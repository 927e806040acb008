package machine

import (
	"math"
	"strconv"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// phase is the progress of an execution or of a vertex.
type phase uint8

const (
	waiting    phase = iota // an attempt may begin
	running                 // a handler, a timer, a nested run or a task is running
	backingOff              // waits for the delay before the next attempt
	placing                 // its result waits to be placed, or is being placed
	routing                 // visits only: the visit has ended and waits for the router's answer
	succeeded               // items only
	failed                  // items only

	willRun    // vertices only, as are the following phases: it will run, and waits for the fields that it reads
	startable  // waits for a slot
	committing // has ended, and waits for its turn at a field that can reject writes
	resolved
	beingCancelled // lost a race; its handlers are awaited

	pausing // executions: waits for a person, before its first attempt or after its last one

	undecided = waiting // vertices only: waits for its predecessors
)

// attempt is the progress of an execution: its phase and its latest attempt.
type attempt struct {
	Phase  phase `json:"phase,omitempty"`
	Number int32 `json:"attempt,omitempty"` // of the latest attempt, from 1; 0 before the first
	attemptDetail
}

// attemptDetail is the part of an attempt that most executions do not need.
type attemptDetail struct {
	Due       int64  `json:"due,omitempty"`        // the time at which the current timer ends, 0 if there is no timer
	LastError string `json:"last_error,omitempty"` // the error of the previous attempt, or the note with which it asked to be run again
	// Continued is set when a person has let the execution continue. Held is the outcome of the
	// last attempt while it waits for that person.
	Continued bool     `json:"continued,omitempty"`
	Held      *Outcome `json:"held,omitempty"`
	child     *frame   // the nested run
}

// inFlight reports whether an answer to the attempt is still awaited after the run was stopped.
func (a *attempt) inFlight(n *plan.Node) bool {
	return a.Phase == routing || a.Phase == pausing || a.Phase == running && n.Wait == nil && n.Frame == nil
}

// number returns the attempt in the ID of the command that is awaited.
func (a *attempt) number() int32 {
	if a.Phase == pausing {
		return PauseAttempt
	}
	return a.Number
}

// work is an execution that may take several attempts: a plain node, an item of a fan-out, a
// stage of a pipeline, a member of a loop or a visit of a walk. The functions below implement the
// life of an attempt for all of them: how it begins, which answers it accepts, when another
// attempt follows, and how it is reissued or cancelled.
//
// The functions are generic because plain nodes and items have no object of their own. Their work
// is a pair of a pointer and a number, and converting such a pair to an interface would allocate.
type work interface {
	frame() *frame
	def() *plan.Node
	// id returns the ID of the latest attempt.
	id() ID
	load() attempt
	store(attempt)
	// group returns the group in which its handlers hold slots.
	group() *group
	// path returns the path of its nested run.
	path() string
	// begun counts an attempt that begins and emits its event.
	begun(first bool)
	// capture returns the input of an attempt, or a failure if the attempt cannot begin.
	capture() (*Call, *core.Failure)
	// run issues the command for its handler.
	run(*Call)
	// adopt sets its nested run, nil when the nested run has ended.
	adopt(child *frame)
	// retryDue makes the next attempt startable when the delay is over.
	retryDue()
	// givenUp reports whether its outcome no longer counts.
	givenUp() bool
	// ended handles the outcome of the last attempt.
	ended(o *Outcome, at int64)
	// withdraw removes it before its first attempt.
	withdraw()
	// afterAnswer looks for work that an answer has made possible.
	afterAnswer()
	// mayPlace reports whether the other executions of the same vertex allow its result to be
	// placed.
	mayPlace() bool
}

// singleWork is work whose handler is answered alone. Items are answered in ranges.
type singleWork interface {
	work
	// handlerEnded releases the slot of its handler.
	handlerEnded(*Event)
}

// begin begins an attempt, or the pause before the first one, and reports whether a handler was
// started.
func begin[W work](w W) bool {
	if pausesFirst(w) {
		pause(w, nil)
		return true
	}
	countAttempt(w)
	return launch(w)
}

// countAttempt counts an attempt that begins.
func countAttempt[W work](w W) {
	a := w.load()
	a.Phase, a.Due = running, 0
	a.Number++
	w.store(a)
	w.begun(a.Number == 1)
}

// launch issues the command for an attempt that countAttempt has counted.
func launch[W work](w W) bool {
	f, n := w.frame(), w.def()
	switch {
	case n.Wait != nil:
		startWait(w)
		return false
	case n.Frame == nil && n.Handler == nil:
		finish(w, &Outcome{Failure: missingHandler(n)}, f.m.now)
		return false
	}
	call, failure := w.capture()
	if failure == nil && n.Frame != nil {
		failure = startNested(w, call)
	}
	switch {
	case failure != nil:
		finish(w, &Outcome{Failure: failure}, f.m.now)
		return false
	case n.Frame != nil:
		return false
	}
	w.run(call)
	return true
}

// run issues the command for a handler, which takes a slot of the group.
func (f *frame) run(n *plan.Node, id ID, call *Call, g *group) {
	g.acquire()
	f.inFlight++
	f.m.inFlight++
	f.m.command(Command{Op: OpRun, ID: id, Plan: f.p, Node: n, Call: call})
}

// issue issues the command for a handler that takes no slot.
func (f *frame) issue(n *plan.Node, id ID, call *Call) {
	f.inFlight++
	f.m.command(Command{Op: OpRun, ID: id, Plan: f.p, Node: n, Call: call})
}

// runOrAsk is run, except that a handler that waits for a person takes no slot.
func (f *frame) runOrAsk(n *plan.Node, id ID, call *Call, g *group) {
	if n.Asks {
		f.issue(n, id, call)
		return
	}
	f.run(n, id, call, g)
}

// giveUp issues the command that cancels handlers of a node: the attempt with an ID, or the items,
// rows or rounds in its range.
func (f *frame) giveUp(id ID) {
	f.m.command(Command{Op: OpGiveUp, ID: id, Plan: f.p, Node: &f.p.Nodes[id.Node]})
}

// handlerEnded releases the slot of a handler.
func (f *frame) handlerEnded(g *group) {
	g.release()
	f.m.inFlight--
	f.inFlight--
}

// ranOrAsked is handlerEnded for a handler that runOrAsk has issued.
func (f *frame) ranOrAsked(n *plan.Node, g *group) {
	if n.Asks {
		f.inFlight--
		return
	}
	f.handlerEnded(g)
}

// after returns the call of an attempt that follows a failed one. It copies the call, because
// attempts share calls.
func (c *Call) after(lastError string) *Call {
	if lastError == "" {
		return c
	}
	told := c.own()
	told.Previous = lastError
	return told
}

// startWait begins an attempt of a wait node.
func startWait[W work](w W) {
	n, a := w.def(), w.load()
	d := n.Wait.Duration
	if expires(n) {
		d = n.Timeout
	}
	a.Due = w.frame().m.timeAfter(d)
	w.store(a)
	setTimer(w)
}

// expires reports whether a wait node times out before its wait ends.
func expires(n *plan.Node) bool { return n.Timeout > 0 && n.Timeout < n.Wait.Duration }

// setTimer issues the command for the timer of an attempt.
func setTimer[W work](w W) {
	f, n, a := w.frame(), w.def(), w.load()
	c := Command{Op: OpTimer, ID: w.id(), Plan: f.p, Node: n, Call: f.empty, Delay: f.m.until(a.Due)}
	if a.Phase == running && expires(n) {
		c.Op = OpDeadline
	}
	f.m.command(c)
}

// timeAfter returns the time at which a delay that begins now ends.
func (m *Machine) timeAfter(d time.Duration) int64 {
	if int64(d) > math.MaxInt64-m.now {
		return math.MaxInt64
	}
	return m.now + int64(d)
}

// until returns the time left until due, 0 if due has passed.
func (m *Machine) until(due int64) time.Duration { return time.Duration(max(0, due-m.now)) }

// waitOutcome returns the outcome of an attempt whose timer has ended.
func waitOutcome(n *plan.Node, e *Event) *Outcome {
	if e.Kind == Expired {
		return &Outcome{Failure: timedOut(n)}
	}
	return &Outcome{}
}

// answer handles an answer to the latest attempt. It returns false if the answer does not fit and
// is to be dropped.
func answer[W singleWork](w W, e *Event) bool {
	if e.Kind != Finished {
		return timerEnded(w, e)
	}
	n, a := w.def(), w.load()
	if a.Phase == pausing {
		pauseEnded(w, e)
		return true
	}
	if a.Phase != running || n.Wait != nil || n.Frame != nil {
		return false
	}
	w.handlerEnded(e)
	attemptEnded(w, &e.Outcome, e.Ended)
	w.afterAnswer()
	return true
}

// timerEnded is answer for the timer of a delay or of a wait node.
func timerEnded[W work](w W, e *Event) bool {
	n, a := w.def(), w.load()
	switch {
	case e.Kind == TimerFired && a.Phase == backingOff:
		a.Phase, a.Due = waiting, 0
		w.store(a)
		w.retryDue()
	case e.Kind.isTimer() && a.Phase == running && n.Wait != nil:
		attemptEnded(w, waitOutcome(n, e), e.Ended)
	default:
		return false
	}
	w.afterAnswer()
	return true
}

// attemptEnded decides what follows an attempt: the placement of its result, another attempt, or
// the end of the execution.
func attemptEnded[W work](w W, o *Outcome, at int64) {
	f, n, a := w.frame(), w.def(), w.load()
	switch {
	case w.givenUp():
		f.dropClaim(w.id(), o)
		w.ended(o, at)
	case o.Claim != nil:
		a.Phase = placing
		w.store(a)
		f.prepare(n.Vertex, w.id(), o.Claim)
		if f.Stopped {
			f.discard(w.id())
			w.ended(&Outcome{Failure: cancelled()}, at)
		}
	case f.shouldRetry(n, a.Number, o):
		retry(w, o)
	default:
		finish(w, o, at)
	}
}

// retry sets the timer for the attempt that follows o.
func retry[W work](w W, o *Outcome) {
	f, n, a, id := w.frame(), w.def(), w.load(), w.id()
	var retryAfter time.Duration // requested by the failure
	a.Phase, a.LastError = backingOff, o.Note
	if fail := o.Failure; fail != nil {
		retryAfter, a.LastError = fail.RetryAfter, fail.Message
	}
	d := f.delay(n, id, retryAfter)
	a.Due = f.m.timeAfter(d)
	w.store(a)
	f.emitRetrying(n, id, o, d)
	setTimer(w)
}

// startNested begins the nested run of an attempt. It returns a failure if the inputs of the run
// are not valid.
func startNested[W work](w W, call *Call) *core.Failure {
	f, n := w.frame(), w.def()
	start, given, err := f.start(n, call)
	if err != nil {
		return badInputs(err)
	}
	owner := w.id()
	child := f.m.newFrame(f.m.frameID(n, owner), n.Frame.Plan, w.path(), f, start, given)
	child.Owner = owner
	f.children++
	w.adopt(child)
	if n.Timeout > 0 {
		child.Deadline = f.m.timeAfter(n.Timeout)
		child.setDeadlineTimer()
	}
	child.mode.open()
	child.propagate()
	if child.ended() {
		child.handOver()
	} else {
		w.afterAnswer()
	}
	return nil
}

// halt cancels an execution because the run was stopped or the result of the execution is no
// longer needed. Handlers in flight are awaited.
func halt[W work](w W) {
	f, a := w.frame(), w.load()
	switch {
	case a.child != nil:
		a.child.halt()
	case a.Phase == placing && !f.discard(w.id()): // the result is being placed, which is awaited
	case a.inFlight(w.def()):
	case a.Number > 0:
		w.ended(&Outcome{Failure: cancelled()}, f.m.now)
	default:
		w.withdraw()
	}
}

// halt stops a nested run, and hands it over if none of its handlers is in flight.
func (f *frame) halt() {
	f.stop()
	if f.ended() {
		f.handOver()
	}
}

// reissue issues the command again whose answer is awaited. A timer gets the rest of its delay.
func reissue[W work](w W) {
	n, a := w.def(), w.load()
	switch {
	case a.child != nil: // the nested run reissues its own commands
	case a.Phase == pausing:
		askToContinue(w)
	case a.Phase == backingOff, a.Phase == running && n.Wait != nil:
		setTimer(w)
	case a.inFlight(n):
		call, _ := w.capture()
		w.run(call)
	}
}

// elementPath returns the path of the nested run of an item, row, round or visit.
func (f *frame) elementPath(id string, number int) string {
	var room [64]byte
	path := append(append(room[:0], f.name(id)...), '[')
	return string(append(strconv.AppendInt(path, int64(number), 10), ']'))
}

// find returns the execution with an ID of this frame, nil if it has ended.
func (f *frame) find(id ID) work {
	v := f.p.Nodes[id.Node].Vertex
	if t := f.task(v); t != nil {
		return t.find(id)
	}
	return plainNode{f, v}
}

// setDetail sets the entry of an execution in m, or deletes it if x is empty.
func setDetail[K int | int32](m map[K]attemptDetail, key K, x attemptDetail) map[K]attemptDetail {
	if x == (attemptDetail{}) {
		if len(m) > 0 {
			delete(m, key)
		}
		return m
	}
	if m == nil {
		m = map[K]attemptDetail{}
	}
	m[key] = x
	return m
}

package machine

import (
	"math"
	"strconv"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file is the life of an attempt, which is the same for a plain node, an item of a
// fan-out, a stage of a pipeline, a member of a loop and a visit of a walk: how an attempt
// begins, what answers it, when another one follows, and how it is issued again or ended
// early. What differs between them is in the implementations of work.
//
// The functions are generic, because a plain node and an item have no object of their own:
// their work is a pair of a pointer and a number, which would be allocated each time if it
// were passed as an interface.

// phase is the progress of an execution or of a vertex.
type phase uint8

const (
	waiting    phase = iota // an attempt of it may begin
	running                 // a handler, a timer, a nested run, or a task with parts of its own
	backingOff              // waits for another attempt
	placing                 // its result waits to be put in place, or is being put there
	routing                 // of a visit: it has ended, and the router was asked for the next edge
	succeeded               // of an item
	failed                  // of an item

	chosen     // of a vertex, as are the following: it runs, and waits for the fields it reads
	startable  // waits for a slot
	committing // waits for its turn at a refusing field
	resolved
	beingCancelled // given up; what runs of it is awaited

	undecided = waiting // of a vertex: it waits for predecessors
)

// attempt is the progress of an execution through its attempts.
type attempt struct {
	Phase  phase `json:"phase,omitempty"`
	Number int32 `json:"attempt,omitempty"` // of the latest attempt, 0 before the first
	attemptDetail
}

// trail is the part of an attempt that most executions have no need of.
type attemptDetail struct {
	Due       int64  `json:"due,omitempty"`        // time at which the timer that is set ends, 0 if there is none
	LastError string `json:"last_error,omitempty"` // why the attempt before did not end well
	child     *frame // the nested run
}

// inFlight reports whether an answer to the attempt is awaited even after a stop.
func (a *attempt) inFlight(n *plan.Node) bool {
	return a.Phase == routing || a.Phase == running && n.Wait == nil && n.Frame == nil
}

// work is an execution that may take several attempts.
type work interface {
	frame() *frame
	def() *plan.Node
	// id names the latest attempt.
	id() ID
	load() attempt
	store(attempt)
	// group is the group in which its handlers hold slots.
	group() *group
	// path is the path of its nested run.
	path() string
	// begun counts an attempt that begins and emits its event.
	begun(first bool)
	// capture returns what an attempt gets; a failure if it cannot begin.
	capture() (*Call, *core.Failure)
	// run issues the command for its handler, and landed counts the answer.
	run(*Call)
	handlerEnded(*Event)
	// adopt connects it with its nested run; nil when that has ended.
	adopt(child *frame)
	// again lets the next attempt begin after a backoff.
	retryDue()
	// givenUp reports whether its outcome does not count any more.
	givenUp() bool
	// ended handles the outcome of the last attempt.
	ended(o *Outcome, at int64)
	// withdrawn ends it before its first attempt.
	withdraw()
	// moved looks for work after an answer.
	afterAnswer()
	// turn reports whether its result may be put in place as far as the executions of the
	// same vertex are concerned.
	mayPlace() bool
}

// begin begins an attempt and reports whether user code runs.
func begin[W work](w W) bool {
	countAttempt(w)
	return launch(w)
}

// count counts an attempt that begins.
func countAttempt[W work](w W) {
	a := w.load()
	a.Phase, a.Due = running, 0
	a.Number++
	w.store(a)
	w.begun(a.Number == 1)
}

// launch issues the command for an attempt that was counted.
func launch[W work](w W) bool {
	f, n := w.frame(), w.def()
	switch {
	case n.Wait != nil:
		startWait(w)
		return false
	case n.Frame == nil && n.Handler == nil:
		w.ended(&Outcome{Failure: lacking(n)}, f.m.now)
		return false
	}
	call, failure := w.capture()
	if failure == nil && n.Frame != nil {
		failure = startNested(w, call)
	}
	switch {
	case failure != nil:
		w.ended(&Outcome{Failure: failure}, f.m.now)
		return false
	case n.Frame != nil:
		return false
	}
	w.run(call)
	return true
}

// run issues the command for a handler and counts it.
func (f *frame) run(n *plan.Node, id ID, call *Call, g *group) {
	g.acquire()
	f.inFlight++
	f.m.inFlight++
	f.m.command(Command{Op: OpRun, ID: id, Plan: f.p, Node: n, Call: call})
}

// landed counts a handler that ended.
func (f *frame) handlerEnded(g *group) {
	g.release()
	f.inFlight--
	f.m.inFlight--
}

// after returns the call of an attempt together with what the attempt before said. Calls
// are shared.
func (c *Call) after(lastError string) *Call {
	if lastError == "" {
		return c
	}
	var told Call
	if c != nil {
		told = *c
	}
	told.Previous = lastError
	return &told
}

// wait begins the attempt of a wait.
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

// expires reports whether the timeout of a wait comes before its end.
func expires(n *plan.Node) bool { return n.Timeout > 0 && n.Timeout < n.Wait.Duration }

// setTimer issues the command for the timer of an attempt.
func setTimer[W work](w W) {
	f, n, a := w.frame(), w.def(), w.load()
	c := Command{Op: OpTimer, ID: w.id(), Plan: f.p, Node: n, Delay: f.m.until(a.Due)}
	if a.Phase == running && expires(n) {
		c.Op = OpDeadline
	}
	f.m.command(c)
}

// in returns the time at which a delay that begins now ends.
func (m *Machine) timeAfter(d time.Duration) int64 {
	if int64(d) > math.MaxInt64-m.now {
		return math.MaxInt64
	}
	return m.now + int64(d)
}

// until returns how long it is until a time, 0 if it has passed.
func (m *Machine) until(due int64) time.Duration { return time.Duration(max(0, due-m.now)) }

// waited turns the end of a wait into the outcome of an attempt.
func waitOutcome(n *plan.Node, e *Event) *Outcome {
	if e.Kind == Expired {
		return &Outcome{Failure: timedOut(n)}
	}
	return &Outcome{}
}

// answer handles an answer to the latest attempt; false drops it.
func answer[W work](w W, e *Event) bool {
	n, a := w.def(), w.load()
	switch {
	case e.Kind == TimerFired && a.Phase == backingOff:
		a.Phase, a.Due = waiting, 0
		w.store(a)
		w.retryDue()
	case e.Kind.isTimer() && a.Phase == running && n.Wait != nil:
		attemptEnded(w, waitOutcome(n, e), e.Ended)
	case e.Kind == Finished && a.Phase == running && n.Wait == nil && n.Frame == nil:
		w.handlerEnded(e)
		attemptEnded(w, &e.Outcome, e.Ended)
	default:
		return false
	}
	w.afterAnswer()
	return true
}

// tried decides what follows an attempt that has ended.
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
		w.ended(o, at)
	}
}

// retry sets the timer for the attempt after the one that ended with o.
func retry[W work](w W, o *Outcome) {
	f, n, a, id := w.frame(), w.def(), w.load(), w.id()
	var retryAfter time.Duration // by the failure
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

// nest begins the nested run of an attempt. The failure is about its inputs.
func startNested[W work](w W, call *Call) *core.Failure {
	f, n := w.frame(), w.def()
	start, given, err := f.start(n, call)
	if err != nil {
		return badInputs(err)
	}
	owner := w.id()
	child := f.m.newFrame(f.m.frameID(owner), n.Frame.Plan, w.path(), f, start, given)
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

// halt ends an execution that is stopped or given up, unless something of it runs: that is
// awaited.
func halt[W work](w W) {
	f, a := w.frame(), w.load()
	switch {
	case a.child != nil:
		a.child.halt()
	case a.Phase == placing && !f.discard(w.id()): // it is being put in place
	case a.inFlight(w.def()):
	case a.Number > 0:
		w.ended(&Outcome{Failure: cancelled()}, f.m.now)
	default:
		w.withdraw()
	}
}

// halt stops a nested run and hands it over if nothing of it is in flight.
func (f *frame) halt() {
	f.stop()
	if f.ended() {
		f.handOver()
	}
}

// reissue issues the command again to which an answer is awaited, with what is left of the
// delay of a timer.
func reissue[W work](w W) {
	n, a := w.def(), w.load()
	switch {
	case a.child != nil: // reissues its own
	case a.Phase == backingOff, a.Phase == running && n.Wait != nil:
		setTimer(w)
	case a.inFlight(n):
		call, _ := w.capture()
		w.run(call)
	}
}

// numbered is the path of the nested run of one execution of several.
func (f *frame) elementPath(id string, number int) string {
	var room [64]byte
	path := append(append(room[:0], f.name(id)...), '[')
	return string(append(strconv.AppendInt(path, int64(number), 10), ']'))
}

// find returns the execution that an id of this frame names, nil if it has ended.
func (f *frame) find(id ID) work {
	v := f.p.Nodes[id.Node].Vertex
	if t := f.task(v); t != nil {
		return t.find(id)
	}
	return plainNode{f, v}
}

// keep sets the entry of an execution, and deletes the entry if it is empty.
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

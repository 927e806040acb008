package machine

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fanOut runs one node for each element of an array or stream. All items see the state at its
// start; their results are merged in item order when all items have ended.
//
// Of a stream, only the items from Base on are in memory: items that were read and have not
// ended, and items that ended after the first of them. Earlier items are folded.
type fanOut struct {
	f     *frame
	v     int32
	n     *plan.Node
	call  *Call
	items Items
	group group

	Pull   streamReader `json:"pull,omitzero"`  // of a stream
	Base   int          `json:"base,omitempty"` // first item that is not folded; 0 for an array
	Folded foldedItems  `json:"folded,omitzero"`

	Next     int                   `json:"next"`          // first item that was never started
	Due      []int                 `json:"due,omitempty"` // items to start or to start again, ascending
	Ranges   chunk.Ranges          `json:"ranges"`
	Phases   []phase               `json:"phases"`
	Attempts []uint8               `json:"attempts"`
	Results  itemResults           `json:"outcomes,omitzero"`
	Details  map[int]attemptDetail `json:"details,omitempty"` // by item
	// Early are the fields at which it was not yet the node's turn to commit when the run was
	// stopped.
	Early []int32 `json:"early,omitempty"`

	done        int
	endedPrefix int   // number of leading items that have ended, counted on demand
	failed      []int // items that failed, ascending
	// untold is set while an item of a range ends that does not count any more: because the start of
	// such an item is emitted with its end, it has no events. Its writes are dropped.
	untold      bool
	givenUp     int   // items from here on do not count, and were cancelled
	nestedItems []int // items with a nested run, ascending
	paused      int   // number of items that wait for a person in their pause
	// ownFailure is a failure of the node that is not the failure of an item: the list of the
	// results was rejected, or the run was stopped before all items began. unstartedAtStop counts
	// the items that had not begun.
	ownFailure      *core.Failure
	unstartedAtStop int
}

// startFanOut evaluates the source and starts the fan-out.
func (f *frame) startFanOut(v int32) {
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	x := &f.v[v]
	x.Started, x.Attempts = f.m.now, 1
	call := f.call(n, nil)
	items, failure := Items{}, f.unreadable(n, call, nil)
	if failure == nil && n.Puller == nil {
		env := Captured{For: n, Call: call, Place: -1}
		if items, failure = f.itemsAt("for_each.source", n.Source, env); failure == nil && items.Len() == 0 {
			f.warnAbsent(n.ID, "for_each.source", n.Source, env)
		}
	}
	if total := items.Len(); n.Puller == nil {
		f.emitUnitStarted(n.ID, n, "", total)
	} else {
		f.emitUnitStarted(n.ID, n, "", -1)
	}
	if failure != nil {
		x.Ended = f.m.now
		f.fail(v, failure)
		return
	}
	t := &fanOut{Ranges: chunk.Ranges{Size: 1}, Phases: make([]phase, items.Len()), Attempts: make([]uint8, items.Len())}
	t.attach(f, v, call, items)
	if items.Len() == 0 && n.Puller == nil {
		t.finish()
		return
	}
	f.refresh(v)
}

// attach makes a fan-out, new or read from a snapshot, the task of a vertex.
func (t *fanOut) attach(f *frame, v int32, call *Call, items Items) {
	t.f, t.v, t.n = f, v, &f.p.Nodes[f.p.Vertices[v].Node]
	call = call.own()
	call.Items = items
	t.call, t.items = call, items
	t.Results.n, t.Results.schema, t.Results.len = t.n, f.p.Schema, len(t.Phases)
	t.givenUp = math.MaxInt
	t.group = group{parent: &f.group, limit: t.n.Concurrency, holder: t}
	f.setTask(v, t)
}

func (t *fanOut) slotChanged()    { t.f.refresh(t.v) }
func (t *fanOut) holdsSlot() bool { return t.group.active > 0 }

// knownItems returns the number of items; of a stream, the number of items read so far.
func (t *fanOut) knownItems() int { return t.Base + len(t.Phases) }

// firstVoid returns the first item that no longer counts, or the number of items if all count.
func (t *fanOut) firstVoid() int { return min(t.cutoff(), t.knownItems()) }

// cutoff returns the item after the failure that exceeded max_failures, math.MaxInt if there is
// none.
func (t *fanOut) cutoff() int {
	if t.n.MaxFailures < 0 {
		return math.MaxInt
	}
	return cutoffAfter(t.failed, t.n.MaxFailures-t.Folded.Failed)
}

func cutoffAfter(failed []int, maxFailures int) int {
	if maxFailures >= 0 && len(failed) > maxFailures {
		return failed[maxFailures] + 1
	}
	return math.MaxInt
}

// hasUnstarted reports whether an item could start if no limit forbade it.
func (t *fanOut) hasUnstarted() bool {
	cut := t.firstVoid()
	return len(t.Due) > 0 && t.Due[0] < cut || t.Next < cut
}

func (t *fanOut) canStart() bool {
	if t.mayPull() {
		return true
	}
	if t.n.Frame != nil && t.canStartNested() {
		return true
	}
	if t.n.Wait != nil || t.n.Frame == nil && t.n.Handler == nil {
		return t.hasUnstarted()
	}
	if t.n.Frame != nil {
		return t.hasUnstarted() && !t.nestedLimitReached()
	}
	return !t.full() && (t.hasUnstarted() || t.Ranges.Withheld() >= 0)
}

func (t *fanOut) startOne() bool {
	for {
		if t.mayPull() {
			if t.pullItems() {
				return true
			}
			continue
		}
		if started := t.startItems(); started || !t.mayPull() {
			return started
		}
	}
}

// startItems starts the next item or range of items.
func (t *fanOut) startItems() bool {
	if t.n.Frame != nil {
		return t.startNestedItem()
	}
	for t.f.v[t.v].Phase == running {
		switch {
		case !t.hasUnstarted():
			if i := t.Ranges.Withheld(); i >= 0 && t.group.free() {
				t.askToYield(t.Ranges.Ask(i))
			}
			return false
		case t.n.Wait != nil, t.n.Handler == nil:
			w := item{t, int(t.takeDue(1).From)}
			begin(w)
			if w.load().Phase != running {
				t.check()
			}
		case t.full() || !t.group.free():
			return false
		case t.pausesNext():
			begin(item{t, int(t.takeDue(1).From)})
			return true
		default:
			t.startRange()
			return true
		}
	}
	return false
}

// item is the execution of an item.
type item struct {
	t *fanOut
	i int
}

func (w item) frame() *frame   { return w.t.f }
func (w item) def() *plan.Node { return w.t.n }
func (w item) group() *group   { return &w.t.group }
func (w item) path() string    { return w.t.f.elementPath(w.t.n.ID, w.i) }
func (w item) retryDue()       { w.t.requeue(w.i) }
func (w item) givenUp() bool   { return w.t.f.v[w.t.v].Phase == beingCancelled }
func (w item) withdraw()       {}
func (w item) afterAnswer()    { w.t.check() }
func (w item) mayPlace() bool  { return w.t.firstOpen() == w.i }

func (w item) load() attempt {
	at := w.i - w.t.Base
	return attempt{Phase: w.t.Phases[at], Number: int32(w.t.Attempts[at]), attemptDetail: w.t.Details[w.i]}
}

func (w item) store(a attempt) {
	at := w.i - w.t.Base
	if w.t.Phases[at] == pausing {
		w.t.paused--
	}
	if a.Phase == pausing {
		w.t.paused++
	}
	w.t.Phases[at], w.t.Attempts[at] = a.Phase, uint8(a.Number)
	w.t.Details = setDetail(w.t.Details, w.i, a.attemptDetail)
}

func (w item) begun(bool) {
	if w.t.f.m.opts.Events {
		w.t.f.emitItemStarted(w.t.n, w.id())
	}
}

func (w item) capture() (*Call, *core.Failure) {
	call := w.t.callFor(w.span())
	if w.t.n.Frame != nil {
		call = call.own()
		call.Item, call.Row = w.t.items.At(w.i), core.Nth(w.i)
	}
	return call, nil
}

// span returns the range that contains only this item.
func (w item) span() chunk.Span { return chunk.Span{From: int32(w.i), To: int32(w.i + 1)} }

func (w item) run(*Call) {
	w.t.Ranges.Add(w.span())
	w.t.issue(w.span())
}

func (w item) adopt(child *frame) {
	t, x := w.t, w.t.Details[w.i]
	x.child = child
	t.Details = setDetail(t.Details, w.i, x)
	at, ok := slices.BinarySearch(t.nestedItems, w.i)
	switch {
	case child != nil:
		child.group.parent, child.group.holder = &t.group, t
		t.nestedItems = slices.Insert(t.nestedItems, at, w.i)
	case ok:
		t.nestedItems = slices.Delete(t.nestedItems, at, at+1)
	}
}

func (w item) ended(o *Outcome, _ int64) {
	if w.givenUp() {
		w.t.Details = setDetail(w.t.Details, w.i, attemptDetail{})
		w.t.endCancelled(w.i)
		w.t.checkCancelled()
		return
	}
	w.t.itemEnded(w.i, o, false)
}

// countAttempt counts an attempt of an item of a range. It does not use the generic countAttempt,
// because building an ID would cost as much as all the rest.
func (t *fanOut) countAttempt(i int) {
	at := i - t.Base
	t.Phases[at] = running
	t.Attempts[at]++
}

// attempt returns the number of attempts of an item so far.
func (t *fanOut) attempt(i int) int32 { return int32(t.Attempts[i-t.Base]) }

// id returns the ID of the latest attempt of an item.
func (t *fanOut) id(i int) ID {
	return ID{Frame: t.f.ID, Node: t.n.Index, From: int32(i), To: int32(i + 1), Attempt: t.attempt(i)}
}

func (t *fanOut) answer(e *Event) bool {
	switch e.ID.Attempt {
	case 0:
		return t.pulledItems(e)
	case PauseAttempt:
		return t.pauseAnswered(e)
	}
	from, to := int(e.ID.From), int(e.ID.To)
	if from < t.Base || to <= from || to > t.knownItems() || t.attempt(from) != e.ID.Attempt {
		return false
	}
	if e.Kind.isTimer() {
		return !item{t, from}.givenUp() && timerEnded(item{t, from}, e)
	}
	at := t.Ranges.Find(e.ID.From)
	if at < 0 || !e.fits(to-from) {
		return false
	}
	if e.Kind == Yielded {
		t.yielded(at, to)
		return true
	}
	end := int(t.Ranges.Open()[at].To)
	to = min(to, end) // another range has the items that this one yielded
	t.f.ranOrAsked(t.n, &t.group)
	alone := t.Ranges.Open()[at].Alone
	t.Ranges.Adapt(int64(e.ID.To-e.ID.From), e.Ended-e.Started, to == end && !t.alone())
	t.requeueRange(to, end)
	ask, lost := t.askToYield, item{t, from}.givenUp()
	if lost {
		ask = func(chunk.Span) {}
	}
	t.Ranges.Ended(at, ask)
	for i := from; i < to; i++ {
		if t.n.Pause == plan.PauseAfter {
			attemptEnded(item{t, i}, e.outcomeOf(i-from, t.n), e.Ended)
			continue
		}
		if n := e.plainItems(i-from, to-from); n > 0 && !lost {
			t.plainItemsEnded(e, i, n, alone)
			i += n - 1
			continue
		}
		o := &e.Outcome
		if e.Items != nil {
			o = &e.Items[i-from]
		}
		t.untold = !alone && (lost || i >= t.cutoff())
		ended := !alone && !t.untold && t.emitRan(e, i, o, slices.ContainsFunc(o.Writes, func(w plan.Write) bool { return t.rejectable(w.Field) }))
		if t.untold && !lost && o.Claim == nil && t.f.shouldRetry(t.n, t.attempt(i), o) {
			t.requeueRange(i, i+1) // as if it had not begun
			continue
		}
		if o.Failure == nil && o.Status != core.Retry && o.Claim == nil && !lost {
			t.itemEnded(i, o, ended) // the common case
			continue
		}
		attemptEnded(item{t, i}, o, e.Ended)
		if t.Phases[i-t.Base] == placing && i >= t.cutoff() {
			if t.discardFrom(i); t.untold && t.Phases[i-t.Base] == waiting {
				t.Attempts[i-t.Base]--
			}
		}
	}
	t.f.m.instant, t.untold = t.f.m.now, false
	// The range stays open until here: an item that stops the run must not end the fan-out before
	// the items after it have been handled.
	t.Ranges.Remove(at)
	t.check()
	return true
}

// plainItemsEnded handles the outcomes of n items of an answered range, from item i on, that have
// nothing but writes in e.Writes. alone reports whether the range was a single item.
func (t *fanOut) plainItemsEnded(e *Event, i, n int, alone bool) {
	at := i - t.Base
	for k := at; k < at+n; k++ {
		t.Phases[k] = succeeded
	}
	t.done += n
	t.untold = !alone && i >= t.cutoff() // for all of them, because the item before the cutoff has failed
	if !t.untold {
		t.Results.setWrites(at, e.Writes, i-int(e.ID.From), n)
	}
	if len(t.Details) == 0 && !t.f.m.opts.Events {
		return
	}
	for end := i + n; i < end; i++ {
		t.Details = setDetail(t.Details, i, attemptDetail{})
		open := t.endOpen(i)
		ended := !alone && !t.untold && t.emitRan(e, i, &nothingElse, open)
		if !ended && !open {
			t.emitItemEnd(i, &nothingElse)
		}
	}
}

func (t *fanOut) find(id ID) work {
	if i := int(id.From); id.To == id.From+1 && i >= t.Base && i < t.knownItems() && (item{t, i}).id() == id {
		return item{t, i}
	}
	return nil
}

func (t *fanOut) requeue(i int) {
	at, _ := slices.BinarySearch(t.Due, i)
	t.Due = slices.Insert(t.Due, at, i)
}

// itemEnded handles the outcome of the last attempt of an item and stores the outcome of its
// visit. emitted reports whether the event of its end has been emitted.
func (t *fanOut) itemEnded(i int, o *Outcome, emitted bool) {
	t.Details = setDetail(t.Details, i, attemptDetail{})
	o = t.f.visitOutcome(t.n, t.attempt(i), o)
	t.Phases[i-t.Base] = succeeded
	t.done++
	if o.Failure != nil {
		t.f.voidClaims(t.id(i))
		t.Phases[i-t.Base] = failed
		at, _ := slices.BinarySearch(t.failed, i)
		t.failed = slices.Insert(t.failed, at, i)
	}
	if t.untold && len(o.Writes) > 0 { // without writes the end of the item is not open, so the merge has no event of it
		void := *o
		void.Writes = nil
		o = &void
	}
	t.Results.set(i-t.Base, o)
	if !emitted && !t.endOpen(i) {
		t.emitItemEnd(i, o)
	}
	if o.Failure != nil && (t.n.Policy == plan.PolicyFailRun || o.Failure.FailsRun) && !t.f.Stopped {
		t.f.FailedRun = true
		t.f.stop()
	}
}

// endOpen reports whether the merge may still reject an item that succeeded. The event of its end
// is emitted after the merge.
func (t *fanOut) endOpen(i int) bool {
	return t.f.p.Vertices[t.v].MayReject && t.Results.wrote(i-t.Base, t.rejectable)
}

// rejectable reports whether the merge may reject the write of an item to a field.
func (t *fanOut) rejectable(field int32) bool {
	return field != t.n.Collect && t.f.p.Schema.Fields[field].MayReject
}

// emitRan emits the events of an item that has run in a range: its start, which was not emitted
// before, and its end if it succeeded and the merge cannot reject it. It reports whether it has
// emitted the end. Events that follow get the instant at which the item ended.
func (t *fanOut) emitRan(answer *Event, i int, o *Outcome, open bool) (ended bool) {
	m := t.f.m
	if !m.opts.Events {
		return false
	}
	began, until, k := answer.Started, answer.Ended, i-int(answer.ID.From)
	e := t.f.nodeNote(itemStarted, t.n)
	e.item, e.attempt = core.Nth(i), t.attempt(i)
	if ended = plainSuccess(o) && o.Claim == nil && !open; ended {
		e.what, e.status = itemStarted|itemFinished, core.Success
	}
	if k < len(answer.Ends) {
		if k > 0 {
			began = answer.Ends[k-1]
		}
		until = answer.Ends[k]
		if ended {
			e.ends = answer.Ends[k : k+1]
		}
	} else if ended {
		e.took = until - began
	}
	m.instant = began
	m.note(e)
	m.instant = until
	return ended
}

// emitItemEnd emits the event of the end of an item.
func (t *fanOut) emitItemEnd(i int, o *Outcome) {
	if !t.untold {
		t.f.emitItemEnded(t.n, i, t.attempt(i), o)
	}
}

// check finishes the fan-out when its last item has ended, and cancels the items that no longer
// count.
func (t *fanOut) check() {
	if t.f.v[t.v].Phase == running && !t.f.Stopped {
		t.giveUp() // which may end the fan-out
	}
	switch t.f.v[t.v].Phase {
	case running:
	case beingCancelled:
		t.checkCancelled()
		return
	default:
		return
	}
	t.foldEnded()
	switch {
	case t.f.Stopped:
		t.endStopped()
	case t.complete():
		t.finish()
	default:
		t.f.refresh(t.v)
	}
}

// giveUp cancels the items after the cutoff. Later failures can only move the cutoff to an
// earlier item.
func (t *fanOut) giveUp() {
	cut := t.cutoff()
	if cut >= t.givenUp {
		return
	}
	t.givenUp = cut
	t.discardFrom(cut)
	if t.Pull.Open || t.paused > 0 || slices.ContainsFunc(t.Ranges.Open(), func(s chunk.Span) bool { return int(s.To) > cut }) {
		t.f.giveUp(ID{Frame: t.f.ID, Node: t.n.Index, From: int32(cut), To: int32(t.knownItems())})
	}
	t.haltNested(cut)
}

// haltNested stops the nested runs of the items from one on.
func (t *fanOut) haltNested(from int) {
	for _, i := range slices.Clone(t.nestedItems) { // a run that ends at once leaves the list
		if child := t.Details[i].child; i >= from && child != nil {
			child.halt()
		}
	}
}

// complete reports whether every item that can count has ended.
func (t *fanOut) complete() bool {
	if t.n.Puller != nil && (t.Pull.Open || !t.Pull.Ended && t.cutoff() == math.MaxInt) {
		return false
	}
	cut := t.firstVoid()
	if cut == t.knownItems() {
		return t.done == cut
	}
	if t.Ranges.InFlight() || len(t.nestedItems) > 0 || t.paused > 0 || slices.Contains(t.Phases, placing) {
		return false // running items are awaited, even if they no longer count
	}
	for _, p := range t.Phases[:cut-t.Base] {
		if p != succeeded && p != failed {
			return false
		}
	}
	return true
}

func (t *fanOut) stop() {
	t.haltNested(t.Base)
	t.endStopped()
}

// noteEarly is called when the run is stopped, before the stop ends any vertex.
func (t *fanOut) noteEarly() {
	for _, s := range t.f.p.Vertices[t.v].Writes {
		if t.f.p.Schema.Fields[s.Field].MayReject && t.f.ledger.Column(int(s.Field)).Cursor() < int(s.Slot) {
			t.Early = append(t.Early, s.Field)
		}
	}
}

// endStopped ends the fan-out of a stopped run when none of its handlers runs. Items that ended
// keep their writes, unless their turn at a field that can reject writes had not come: their
// writes must not take the place of the writes of a cancelled earlier node.
func (t *fanOut) endStopped() {
	f := t.f
	if t.Ranges.InFlight() || len(t.nestedItems) > 0 || t.paused > 0 || t.Pull.Open || f.v[t.v].Phase == resolved || t.discardFrom(t.Base) {
		return
	}
	f.v[t.v].Ended = f.m.now
	t.dropUnstarted()
	for at, p := range t.Phases {
		if p == waiting && t.Attempts[at] == 0 {
			t.unstartedAtStop++
			continue
		}
		early := t.Results.wrote(at, func(field int32) bool { return field != t.n.Collect && slices.Contains(t.Early, field) })
		if p != failed && (p != succeeded || early) {
			t.emitVoidEnd(t.Base+at, cancelled())
			t.Phases[at] = failed
			t.Results.fail(at, cancelled())
			t.failed = append(t.failed, t.Base+at)
		}
	}
	if t.n.Puller != nil && !t.Pull.Ended && t.failures() == 0 {
		t.Pull.Failure = cancelled()
	}
	if t.unstartedAtStop > 0 && t.failures() == 0 || slices.Contains(t.Early, t.n.Collect) {
		t.ownFailure = cancelled()
	}
	slices.Sort(t.failed)
	t.merge()
}

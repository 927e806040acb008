package machine

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fanOut runs one node for each element of an array or stream. All items see the
// state of its start; their results are merged in item order when all are done.
//
// Of a stream only the items from base on are here: those that were pulled and
// have not ended, and what ended behind the first of them. The others are settled.
type fanOut struct {
	f     *frame
	v     int32
	n     *plan.Node
	call  *Call
	items Items
	group group

	pull    puller // of a stream
	base    int    // first item that is not settled; 0 for an array
	settled settled

	next     int   // first item never started
	due      []int // items to be started (again), ascending
	ranges   chunk.Ranges
	phases   []phase
	attempts []uint8
	outcomes []Outcome // nil until an item has something to keep
	done     int
	front    int           // items that have ended without a gap, if they have been counted
	failed   []int         // items that failed, ascending
	givenUp  int           // items from here on do not count, and were cancelled
	trails   map[int]trail // of items that are waited for
	inner    []int         // items with a nested run, ascending
	// early are the refusing fields whose turn had not come when the run was
	// stopped.
	early []int32
	// fault is why the node fails although its items may have ended well: the list of
	// their results cannot be written, or the run was stopped before all of them began,
	// which unbegun counts.
	fault   *core.Failure
	unbegun int
}

// startFanOut resolves the source and begins.
func (f *frame) startFanOut(v int32) {
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	x := &f.v[v]
	x.started, x.attempts = f.m.now, 1
	call := f.call(n, nil)
	items, failure := Items{}, f.unreadable(n, call, nil)
	if failure == nil && n.Puller == nil {
		items, failure = f.itemsAt("for_each.source", n.Source, Captured{For: n, Call: call, Place: -1})
	}
	if total := items.Len(); n.Puller == nil {
		f.emitUnitStarted(n.ID, n, "", total)
	} else {
		f.emitUnitStarted(n.ID, n, "", -1)
	}
	if failure != nil {
		x.ended = f.m.now
		f.fail(v, failure)
		return
	}
	if call == nil {
		call = &Call{Path: f.path, Inputs: f.inputs}
	}
	call.Items = items
	t := &fanOut{f: f, v: v, n: n, call: call, items: items, ranges: chunk.Ranges{Size: 1},
		phases: make([]phase, items.Len()), attempts: make([]uint8, items.Len())}
	t.givenUp = math.MaxInt
	t.group = group{parent: &f.group, limit: n.Concurrency, holder: t}
	f.setTask(v, t)
	if items.Len() == 0 && n.Puller == nil {
		t.finish()
		return
	}
	f.refresh(v)
}

func (t *fanOut) slotChanged() { t.f.refresh(t.v) }
func (t *fanOut) holds() bool  { return t.group.active > 0 }

// known is how many items there are, of a stream so far.
func (t *fanOut) known() int { return t.base + len(t.phases) }

// cut is the first item that cannot count any more, or one behind the last.
func (t *fanOut) cut() int { return min(t.end(), t.known()) }

// end is the item behind the failure that was one too many, math.MaxInt for none.
func (t *fanOut) end() int {
	if t.n.MaxFailures < 0 {
		return math.MaxInt
	}
	return cutAt(t.failed, t.n.MaxFailures-t.settled.failed)
}

func cutAt(failed []int, most int) int {
	if most >= 0 && len(failed) > most {
		return failed[most] + 1
	}
	return math.MaxInt
}

// waiting reports whether an item could begin, limits aside.
func (t *fanOut) waiting() bool {
	cut := t.cut()
	return len(t.due) > 0 && t.due[0] < cut || t.next < cut
}

func (t *fanOut) canStart() bool {
	if t.mayPull() {
		return true
	}
	if t.n.Frame != nil && t.canStartNested() {
		return true
	}
	if t.n.Wait != nil || t.n.Frame == nil && t.n.Handler == nil {
		return t.waiting()
	}
	if t.n.Frame != nil {
		return t.waiting() && !t.full()
	}
	return t.group.active < t.group.limit && (t.waiting() || t.ranges.Withheld() >= 0)
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

// startItems starts the next item, or several.
func (t *fanOut) startItems() bool {
	if t.n.Frame != nil {
		return t.startNestedItem()
	}
	for t.f.v[t.v].phase == running {
		switch {
		case !t.waiting():
			if i := t.ranges.Withheld(); i >= 0 && t.group.free() {
				t.askToYield(t.ranges.Ask(i))
			}
			return false
		case t.n.Wait != nil, t.n.Handler == nil:
			w := item{t, int(t.pick(1).From)}
			begin(w)
			if w.load().Phase != running {
				t.check()
			}
		case !t.group.free():
			return false
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
func (w item) id() ID          { return w.t.id(w.i) }
func (w item) group() *group   { return &w.t.group }
func (w item) path() string    { return w.t.f.numbered(w.t.n.ID, w.i) }
func (w item) landed(*Event)   {} // a range is counted as one
func (w item) again()          { w.t.requeue(w.i) }
func (w item) givenUp() bool   { return w.t.f.v[w.t.v].phase == losing }
func (w item) withdrawn()      {}
func (w item) moved()          { w.t.check() }
func (w item) turn() bool      { return w.t.firstOpen() == w.i }

func (w item) load() attempt {
	at := w.i - w.t.base
	return attempt{Phase: w.t.phases[at], Number: int32(w.t.attempts[at]), trail: w.t.trails[w.i]}
}

func (w item) store(a attempt) {
	at := w.i - w.t.base
	w.t.phases[at], w.t.attempts[at] = a.Phase, uint8(a.Number)
	w.t.trails = keep(w.t.trails, w.i, a.trail)
}

func (w item) begun(bool) {
	if w.t.f.m.opts.Events {
		w.t.f.emitItemStarted(w.t.n, w.id())
	}
}

func (w item) capture() (*Call, *core.Failure) {
	call := w.t.callFor(w.span())
	if w.t.n.Frame != nil {
		own := *call
		own.Item, own.Row = w.t.items.At(w.i), core.Nth(w.i)
		call = &own
	}
	return call, nil
}

// span is the range of the item alone.
func (w item) span() chunk.Span { return chunk.Span{From: int32(w.i), To: int32(w.i + 1)} }

func (w item) run(*Call) {
	w.t.ranges.Add(w.span())
	w.t.issue(w.span())
}

func (w item) adopt(child *frame) {
	t, x := w.t, w.t.trails[w.i]
	x.child = child
	t.trails = keep(t.trails, w.i, x)
	at, ok := slices.BinarySearch(t.inner, w.i)
	switch {
	case child != nil:
		child.group.parent, child.group.holder = &t.group, t
		t.inner = slices.Insert(t.inner, at, w.i)
	case ok:
		t.inner = slices.Delete(t.inner, at, at+1)
	}
}

func (w item) ended(o *Outcome, _ int64) {
	if w.givenUp() {
		w.t.trails = keep(w.t.trails, w.i, trail{})
		w.t.endLost(w.i)
		w.t.checkLost()
		return
	}
	w.t.itemEnded(w.i, o)
}

// count counts an attempt of an item of a range that begins. It needs no id of its own,
// which costs as much as all the rest.
func (t *fanOut) count(i int) {
	at := i - t.base
	t.phases[at] = running
	t.attempts[at]++
	if t.f.m.opts.Events {
		t.f.emitItemStarted(t.n, t.id(i))
	}
}

// attempt returns how often an item was tried.
func (t *fanOut) attempt(i int) int32 { return int32(t.attempts[i-t.base]) }

// id names the latest attempt of an item.
func (t *fanOut) id(i int) ID {
	return ID{Frame: t.f.id, Node: t.n.Index, From: int32(i), To: int32(i + 1), Attempt: t.attempt(i)}
}

func (t *fanOut) answer(e *Event) bool {
	if e.ID.Attempt == 0 {
		return t.pulledItems(e)
	}
	from, to := int(e.ID.From), int(e.ID.To)
	if from < t.base || to <= from || to > t.known() || t.attempt(from) != e.ID.Attempt {
		return false
	}
	if e.Kind.isTimer() {
		return !item{t, from}.givenUp() && answer(item{t, from}, e)
	}
	at := t.ranges.Find(e.ID.From)
	if at < 0 || e.Items != nil && len(e.Items) != to-from {
		return false
	}
	if e.Kind == Yielded {
		t.yielded(at, to)
		return true
	}
	end := int(t.ranges.Open()[at].To)
	to = min(to, end) // what it yielded is another's
	t.f.landed(&t.group)
	t.ranges.Adapt(int64(e.ID.To-e.ID.From), e.Ended-e.Started, to == end && !t.f.m.opts.Events)
	t.handBack(to, end)
	ask, lost := t.askToYield, item{t, from}.givenUp()
	if lost {
		ask = func(chunk.Span) {}
	}
	t.ranges.Ended(at, ask)
	for i := from; i < to; i++ {
		o := &e.Outcome
		if e.Items != nil {
			o = &e.Items[i-from]
		}
		if o.Failure == nil && o.Status != core.Retry && o.Claim == nil && !lost {
			t.itemEnded(i, o) // at once: most items take this path
			continue
		}
		tried(item{t, i}, o, e.Ended)
		if t.phases[i-t.base] == placing && i >= t.end() {
			t.discardFrom(i)
		}
	}
	// Until here the range counts as in flight: an item that stops the run must not
	// end the fan-out before the items behind it have been looked at.
	t.ranges.Remove(at)
	t.check()
	return true
}

func (t *fanOut) find(id ID) work {
	if i := int(id.From); id.To == id.From+1 && i >= t.base && i < t.known() && t.attempt(i) == id.Attempt {
		return item{t, i}
	}
	return nil
}

func (t *fanOut) requeue(i int) {
	at, _ := slices.BinarySearch(t.due, i)
	t.due = slices.Insert(t.due, at, i)
}

// itemEnded takes the outcome of an item's last attempt and keeps what its visit comes
// to.
func (t *fanOut) itemEnded(i int, o *Outcome) {
	t.trails = keep(t.trails, i, trail{})
	o = t.f.verdict(t.n, t.attempt(i), o)
	t.phases[i-t.base] = succeeded
	t.done++
	if o.Failure != nil {
		t.f.voidClaims(t.id(i))
		t.phases[i-t.base] = failed
		at, _ := slices.BinarySearch(t.failed, i)
		t.failed = slices.Insert(t.failed, at, i)
	}
	if !o.Empty() {
		if t.outcomes == nil {
			t.outcomes = make([]Outcome, len(t.phases))
		}
		t.outcomes[i-t.base] = *o
	}
	if !t.open(o) {
		t.tell(i, o)
	}
	if o.Failure != nil && (t.n.Policy == plan.PolicyFailRun || o.Failure.FailsRun) && !t.f.stopped {
		t.f.failedRun = true
		t.f.stop()
	}
}

// open reports whether an item that ended well may yet be refused by the merge: how
// it ended is told when that is decided.
func (t *fanOut) open(o *Outcome) bool {
	return o.Failure == nil && t.f.p.Vertices[t.v].Refuses &&
		slices.ContainsFunc(o.Writes, func(w plan.Write) bool { return w.Field != t.n.Collect && t.f.p.Schema.Fields[w.Field].Refuses })
}

// tell issues the event of an item's end.
func (t *fanOut) tell(i int, o *Outcome) { t.f.emitItemEnded(t.n, i, t.attempt(i), o) }

// check finishes the fan-out when its last item has ended, and gives up those that
// cannot count any more.
func (t *fanOut) check() {
	if t.f.v[t.v].phase == running && !t.f.stopped {
		t.giveUp() // which may end it
	}
	switch t.f.v[t.v].phase {
	case running:
	case losing:
		t.checkLost()
		return
	default:
		return
	}
	t.settle()
	switch {
	case t.f.stopped:
		t.endStopped()
	case t.complete():
		t.finish()
	default:
		t.f.refresh(t.v)
	}
}

// giveUp cancels what runs behind the cut. Failures found later can only move the cut
// forward.
func (t *fanOut) giveUp() {
	cut := t.end()
	if cut >= t.givenUp {
		return
	}
	t.givenUp = cut
	t.discardFrom(cut)
	if t.pull.open || slices.ContainsFunc(t.ranges.Open(), func(s chunk.Span) bool { return int(s.To) > cut }) {
		id := ID{Frame: t.f.id, Node: t.n.Index, From: int32(cut), To: int32(t.known())}
		t.f.m.command(Command{Op: OpGiveUp, ID: id, Node: t.n})
	}
	t.haltNested(cut)
}

// haltNested stops the nested runs of the items from one on.
func (t *fanOut) haltNested(from int) {
	for _, i := range slices.Clone(t.inner) { // one that ends at once leaves the list
		if child := t.trails[i].child; i >= from && child != nil {
			child.halt()
		}
	}
}

// complete reports whether every item that can count has ended.
func (t *fanOut) complete() bool {
	if t.n.Puller != nil && (t.pull.open || !t.pull.ended && t.end() == math.MaxInt) {
		return false
	}
	cut := t.cut()
	if cut == t.known() {
		return t.done == cut
	}
	if t.ranges.InFlight() || len(t.inner) > 0 || slices.Contains(t.phases, placing) {
		return false // what runs is awaited, even if it cannot count any more
	}
	for _, p := range t.phases[:cut-t.base] {
		if p != succeeded && p != failed {
			return false
		}
	}
	return true
}

func (t *fanOut) stop() {
	t.haltNested(t.base)
	t.endStopped()
}

// noteTurn is called when the run is stopped, before any vertex ends by that.
func (t *fanOut) noteTurn() {
	for _, s := range t.f.p.Vertices[t.v].Writes {
		if t.f.p.Schema.Fields[s.Field].Refuses && t.f.ledger.Column(int(s.Field)).Cursor() < int(s.Slot) {
			t.early = append(t.early, s.Field)
		}
	}
}

// endStopped ends the fan-out of a stopped run once nothing of it runs. Items
// that ended keep their writes, unless their turn at a refusing field had not
// come: an earlier writer that is cancelled must not make room for them.
func (t *fanOut) endStopped() {
	f := t.f
	if t.ranges.InFlight() || len(t.inner) > 0 || t.pull.open || f.v[t.v].phase == resolved || t.discardFrom(t.base) {
		return
	}
	f.v[t.v].ended = f.m.now
	t.dropAhead()
	if t.outcomes == nil {
		t.outcomes = make([]Outcome, len(t.phases))
	}
	for at, p := range t.phases {
		if p == waiting && t.attempts[at] == 0 {
			t.unbegun++
			continue
		}
		early := slices.ContainsFunc(t.outcomes[at].Writes, func(w plan.Write) bool { return slices.Contains(t.early, w.Field) })
		if p != failed && (p != succeeded || early) {
			t.endVoid(t.base+at, cancelled())
			t.phases[at], t.outcomes[at] = failed, Outcome{Failure: cancelled()}
			t.failed = append(t.failed, t.base+at)
		}
	}
	if t.n.Puller != nil && !t.pull.ended && t.failures() == 0 {
		t.pull.failure = cancelled()
	}
	if t.unbegun > 0 && t.failures() == 0 || slices.Contains(t.early, t.n.Collect) {
		t.fault = cancelled()
	}
	slices.Sort(t.failed)
	t.merge()
}

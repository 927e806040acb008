package verify

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// fanOut tracks the items of a fan-out. It uses two bytes per item, in pages that are
// allocated on demand, because the number of items in a log cannot be trusted.
type fanOut struct {
	f     *frame
	n     *plan.Node
	total int
	group group

	pages            map[int]*page
	begun            int // the number of items whose first attempt began
	ended            int
	good             int
	lastBegun        int   // the greatest item that began
	failed           []int // the lowest failed items, at most max_failures+1
	failures         int
	partial          bool
	nestedRuns       int // the number of nested runs in progress
	asking           int // the number of items in progress that ask a person
	backoffs         map[int]backoff
	inner            map[int]*frame
	lastWriter       int // the last item that wrote
	wrote            []int32
	collectedWritten bool // the collected results were written
}

const pageSize = 4096

type page struct {
	phase   [pageSize]itemPhase
	attempt [pageSize]uint8
}

type itemPhase uint8

const (
	itemNew itemPhase = iota
	itemRuns
	itemWaits
	itemGood
	itemFailed
)

func newFanOut(f *frame, n *plan.Node, total int) *fanOut {
	t := &fanOut{f: f, n: n, total: total, pages: map[int]*page{}, lastBegun: -1, lastWriter: -1}
	t.group = group{parent: &f.group, name: f.name(n.ID), limit: n.Concurrency}
	f.noteHiddenSlots(n)
	return t
}

// at returns the phase and the attempt of an item.
func (t *fanOut) at(i int) (*itemPhase, *uint8) {
	p := t.pages[i/pageSize]
	if p == nil {
		p = &page{}
		t.pages[i/pageSize] = p
	}
	return &p.phase[i%pageSize], &p.attempt[i%pageSize]
}

// cut returns the first item that does not count: the one after the failure that
// exceeded max_failures.
func (t *fanOut) cut() int {
	if limit := t.n.MaxFailures; limit >= 0 && len(t.failed) > limit {
		return t.failed[limit] + 1
	}
	return t.total
}

// event handles the start or end of an item.
func (t *fanOut) event() {
	e := t.f.c.e
	i, ok := e.Item.Get()
	if !ok || i >= t.total {
		t.f.c.breaks(Parts, "%s of an item that is none of the %d", e.Type, t.total)
		return
	}
	if e.Type == core.ItemStarted {
		t.started(i)
		return
	}
	t.itemEnded(i, e.Type == core.ItemFinished)
}

// grouped reports whether items may run in groups. A group that is in progress when the run is stopped may
// still begin items until its driver is notified, and its events come at its end.
func (t *fanOut) grouped() bool {
	return !t.n.Asks && !t.n.Effects && t.n.Pause == plan.NoPause
}

func (t *fanOut) started(i int) {
	f, c := t.f, t.f.c
	phase, attempt := t.at(i)
	switch *phase {
	case itemNew:
		t.begun++
		if t.n.Concurrency == 1 && i <= t.lastBegun {
			c.breaks(Parts, "begins after item %d, and one item runs after the other", t.lastBegun)
		}
		t.lastBegun = max(t.lastBegun, i)
	case itemWaits:
		b := t.backoffs[i]
		f.checkWait(&b)
		delete(t.backoffs, i)
	case itemRuns:
		c.breaks(Lifecycle, "begins while it runs")
		return
	default:
		c.breaks(Parts, "begins again after its end")
		return
	}
	if i >= t.cut() {
		c.breaks(Parts, "begins after too many items before it have failed (max_failures: %d)", t.n.MaxFailures)
	}
	if f.failRun && !(*phase == itemNew && t.grouped()) {
		c.breaks(Statuses, "begins after a failure with the policy fail_run has stopped the run")
	}
	*phase, *attempt = itemRuns, uint8(min(255, f.attempt(t.n, int(*attempt))))
	t.acquire()
	if t.n.Frame != nil {
		t.nest(i)
	}
}

// acquire takes a slot for an item that begins. An item that asks a person takes none, but
// counts towards the limit of the node.
func (t *fanOut) acquire() {
	f := t.f
	switch {
	case f.visible(t.n):
		f.acquire(&t.group)
	case t.n.Asks:
		if t.asking++; t.asking > t.n.Concurrency && !t.endsLate() {
			f.c.breaks(Limits, "%s are in progress in %s, the limit is %d", count(t.asking, "question"), t.group.name, t.n.Concurrency)
		}
	}
}

// free releases the slot of an item that has ended.
func (t *fanOut) free() {
	switch {
	case t.f.visible(t.n):
		t.f.free(&t.group)
	case t.n.Asks:
		t.asking--
	}
}

// endsLate reports whether the end of an item may be reported only when all items are merged.
func (t *fanOut) endsLate() bool {
	v := &t.f.p.Vertices[t.n.Vertex]
	return v.MayReject || v.Claims
}

func (t *fanOut) nest(i int) {
	f := t.f
	if t.nestedRuns++; t.nestedRuns > t.n.Concurrency && !t.endsLate() {
		f.c.breaks(Limits, "%s are in progress in %s, the limit is %d", count(t.nestedRuns, "nested run"), t.group.name, t.n.Concurrency)
	}
	if t.inner == nil {
		t.inner = map[int]*frame{}
	}
	t.inner[i] = f.nest(t.n, partPath(f.name(t.n.ID), i), &t.group)
}

// endInner ends the nested run of an item.
func (t *fanOut) endInner(i int, fail *core.Failure) {
	if in := t.inner[i]; in != nil {
		t.nestedRuns--
		delete(t.inner, i)
		in.close(fail)
	}
}

func (t *fanOut) retrying() {
	f, e := t.f, t.f.c.e
	i, _ := e.Item.Get()
	if i >= t.total {
		f.c.breaks(Parts, "%s of an item that is none of the %d", e.Type, t.total)
		return
	}
	phase, attempt := t.at(i)
	if *phase != itemRuns {
		f.c.breaks(Lifecycle, "is to be tried again and does not run")
		return
	}
	f.failedAttempt(t.n, int(*attempt))
	t.endInner(i, failureOf(e.Error))
	t.free()
	if t.backoffs == nil {
		t.backoffs = map[int]backoff{}
	}
	*phase, t.backoffs[i] = itemWaits, backoff{e.Time, e.Delay}
}

// failureOf returns the failure of an event that must have one. If it is missing,
// failureOf returns an empty failure.
func failureOf(fail *core.Failure) *core.Failure {
	if fail == nil {
		return &core.Failure{}
	}
	return fail
}

func (t *fanOut) itemEnded(i int, good bool) {
	f, e := t.f, t.f.c.e
	phase, attempt := t.at(i)
	switch *phase {
	case itemRuns:
		t.free()
	case itemWaits:
		delete(t.backoffs, i)
		if good || e.Error == nil || e.Error.Class != core.ClassCanceled {
			f.c.breaks(Lifecycle, "ends while it waits for another attempt")
		}
	case itemNew:
		f.c.breaks(Lifecycle, "ends and never began")
		return
	default:
		f.c.breaks(Lifecycle, "ends twice")
		return
	}
	if e.Attempt != int(*attempt) {
		f.c.breaks(Retries, "attempt %d ends, but attempt %d is in progress", e.Attempt, *attempt)
	}
	status := f.endStatus(good)
	t.ended++
	*phase = itemGood
	if good {
		t.good++
		t.partial = t.partial || status == core.PartialSuccess
		t.endInner(i, nil)
		return
	}
	*phase = itemFailed
	t.failures++
	f.lastAttempt(t.n, int(*attempt))
	t.endInner(i, failureOf(e.Error))
	t.noteFailure(i)
	// If the merge rejects an item, its failure is reported when all items are merged,
	// and the run ends with the node. By then a node that reads the writes of the other
	// items may be ready.
	refused := e.Error != nil && e.Error.Class == core.ClassMerge && e.Error.Node == ""
	// The outcome of an item after the cut does not matter.
	if (t.n.Policy == plan.PolicyFailRun || failureOf(e.Error).FailsRun) && !refused && i < t.cut() && !f.v[t.n.Vertex].lostRace {
		f.failRun = true
	}
}

// noteFailure records the failures that determine the cut.
func (t *fanOut) noteFailure(i int) {
	limit := t.n.MaxFailures
	if limit < 0 || len(t.failed) > limit && i > t.failed[limit] {
		return
	}
	at, _ := slices.BinarySearch(t.failed, i)
	t.failed = slices.Insert(t.failed, at, i)
	t.failed = t.failed[:min(len(t.failed), limit+1)]
}

// finish checks the end of the fan-out.
func (t *fanOut) finish(good bool) {
	f, e := t.f, t.f.c.e
	if t.n.Puller != nil {
		t.count(good)
	}
	cut := t.cut()
	if t.begun > t.ended {
		f.c.breaks(Parts, "ends, and of its items %d began and have no end", t.begun-t.ended)
	}
	if t.begun < t.total {
		t.missing(cut)
	}
	failures := t.failuresBefore(cut)
	switch {
	case good && failures > 0:
		f.c.breaks(Statuses, "ends well, and %s failed", count(failures, "item"))
	case good && t.n.Collect >= 0 && !t.collectedWritten:
		f.c.breaks(Writes, "ends well, and has not written %s, which collects the results of its items", f.p.Schema.Fields[t.n.Collect].Name)
	case !good && t.n.Collect >= 0 && !t.collectedWritten: // the collected results were rejected
	case !good && failures == 0 && t.total > 0 && t.n.Puller == nil && (e.Error == nil || e.Error.Class != core.ClassCanceled):
		f.doubt(e.Node, Statuses, "fails, and no item failed")
	case good && t.n.Puller != nil && !t.partial: // rejected rows also make it a partial success
	case good && t.partial != (e.Status == core.PartialSuccess.String()):
		f.c.breaks(Statuses, "ends with the status %s, and of its items %s", e.Status, partialText(t.partial))
	}
}

// count reads the number of items from the end event of a fan-out over a stream. The
// event has no number if the stream could not be opened.
func (t *fanOut) count(good bool) {
	total, ok := t.f.c.e.Total.Get()
	if !ok && (good || t.begun > 0) {
		t.f.c.breaks(Parts, "ends and does not say how many items it had")
		total = t.lastBegun + 1
	}
	givenUp := t.cut() < math.MaxInt // after the cut, items may have begun without being counted
	if t.total = total; t.lastBegun >= total && !givenUp {
		t.f.c.breaks(Parts, "ends and counts %s, and item %d began", count(total, "item"), t.lastBegun)
	}
}

// missing reports items before the cut that never began. Only a run that was stopped
// may omit items.
func (t *fanOut) missing(cut int) {
	missing, first := 0, 0
	for i := 0; i < cut; {
		p := t.pages[i/pageSize]
		if p == nil {
			n := min(cut-i, pageSize-i%pageSize)
			if missing == 0 {
				first = i
			}
			missing += n
			i += n
			continue
		}
		if p.phase[i%pageSize] == itemNew {
			if missing == 0 {
				first = i
			}
			missing++
		}
		i++
	}
	if missing > 0 {
		t.f.doubt(t.f.c.e.Node, Parts, "ends, and %s never began, the first is item %d", count(missing, "item"), first)
	}
}

// failuresBefore returns the number of failures that count.
func (t *fanOut) failuresBefore(cut int) int {
	if t.n.MaxFailures >= 0 && len(t.failed) > t.n.MaxFailures {
		return len(t.failed)
	}
	return t.failures
}

package verify

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// unit tracks the rows of a pipeline or the rounds of a loop; this file calls both
// passes.
type unit struct {
	f     *frame
	i     int32
	u     *plan.Unit
	total int // the number of rows, -1 if it is not known
	group group

	next         int     // the first pass that has not begun
	live         []*pass // the passes in progress, ascending
	over         int
	failures     int
	failedAt     [2]int // the first pass that failed, and its member
	allTolerated bool   // all failures so far have the policy skip
	partial      bool
	last         struct { // the execution that ended last
		pass, place int
		good        bool
		wrote       []int32
	}
}

// pass is a row or round in progress.
type pass struct {
	n       int
	place   int // the index of the current member
	phase   phase
	attempt int
	backoff backoff
	inner   *frame
}

func newUnit(f *frame, i int32) *unit {
	t := &unit{f: f, i: i, u: f.p.Vertices[i].Unit, total: -1, allTolerated: true}
	t.group = group{parent: &f.group, name: f.name(t.u.ID)}
	t.last.pass = -1
	switch total, ok := f.c.e.Total.Get(); {
	case ok:
		t.total = total
	case !t.u.IsLoop && t.u.Puller == nil:
		f.c.breaks(Parts, "a pipeline begins and does not say how many rows it has")
	}
	if t.u.Puller != nil {
		f.c.unchecked(Limits, "the slots that reading the stream of %s takes: the log does not say when", f.name(t.u.ID))
	}
	return t
}

// what returns the word for a pass in messages.
func (t *unit) what() string {
	if t.u.IsLoop {
		return "round"
	}
	return "row"
}

// index returns the number of the pass that the event belongs to.
func (t *unit) index() (int, bool) {
	if t.u.IsLoop {
		return t.f.c.e.Round.Get()
	}
	return t.f.c.e.Item.Get()
}

func (t *unit) find(n int) *pass {
	for _, p := range t.live {
		if p.n == n {
			return p
		}
	}
	return nil
}

// event handles the start or end of an execution of a member.
func (t *unit) event(n *plan.Node) {
	c := t.f.c
	i, ok := t.index()
	if !ok {
		c.breaks(Parts, "%s of no %s", c.e.Type, t.what())
		return
	}
	if c.e.Type == core.ItemStarted {
		t.started(i, n)
		return
	}
	p := t.find(i)
	if p == nil || p.place != int(n.Member) || p.phase == undecided {
		c.breaks(Lifecycle, "ends but is not in progress in this %s", t.what())
		return
	}
	t.memberEnded(p, n, c.e.Type == core.ItemFinished)
}

func (t *unit) started(i int, n *plan.Node) {
	f, c := t.f, t.f.c
	p := t.find(i)
	if p == nil {
		if p = t.beginPass(i, n); p == nil {
			return
		}
	}
	switch {
	case p.place != int(n.Member):
		c.breaks(Parts, "begins, and %s %d is at %s", t.what(), i, t.member(p.place))
		return
	case p.phase == running:
		c.breaks(Lifecycle, "begins while it runs")
		return
	case p.phase == waiting:
		f.checkWait(&p.backoff)
	}
	if f.failRun {
		c.breaks(Statuses, "begins after a failure with the policy fail_run has stopped the run")
	}
	t.checkEarlierPasses(p, n)
	p.phase, p.attempt = running, f.attempt(n, p.attempt)
	f.noteHiddenSlots(n)
	if f.visible(n) {
		f.acquire(&t.group)
	}
	if n.Frame != nil {
		p.inner = f.nest(n, partPath(f.name(n.ID), i), &t.group)
	}
}

// member returns the id of the member with the given index.
func (t *unit) member(place int) string { return t.f.p.Nodes[t.u.Members[place]].ID }

// beginPass checks that a pass may begin, and adds it.
func (t *unit) beginPass(i int, n *plan.Node) *pass {
	c, limit := t.f.c, t.total
	if t.u.IsLoop {
		limit = t.u.MaxIters
	}
	switch {
	case i < t.next:
		c.breaks(Parts, "begins, and %s %d is over", t.what(), i)
		return nil
	case limit >= 0 && i >= limit:
		c.breaks(Parts, "%s %d begins, there are %d", t.what(), i, limit)
	case i > t.next && !t.pausesFirst():
		c.breaks(Parts, "%s %d begins, and %s %d has not begun", t.what(), i, t.what(), t.next)
	case n.Member != 0:
		c.breaks(Parts, "%s %d begins with %s, and not with %s", t.what(), i, n.ID, t.member(0))
	}
	if t.u.IsLoop && t.failures > 0 {
		c.breaks(Parts, "round %d begins after one that failed", i)
	}
	for ; t.pausesFirst() && t.next < i; t.next++ {
		t.live = append(t.live, &pass{n: t.next})
	}
	switch {
	case len(t.live) < t.u.Concurrency:
	case t.u.IsLoop:
		c.breaks(Parts, "round %d begins before round %d is over", i, t.live[0].n)
	default:
		c.breaks(Limits, "%s are in progress in %s, the limit is %d", count(len(t.live)+1, "row"), t.u.ID, t.u.Concurrency)
	}
	p := &pass{n: i, place: int(n.Member)}
	t.next = i + 1
	t.live = append(t.live, p)
	return p
}

// pausesFirst reports whether rows are in progress before their first event: they wait for a person
// first, who may let a later row continue before an earlier one.
func (t *unit) pausesFirst() bool {
	return !t.u.IsLoop && t.f.p.Nodes[t.u.Members[0]].Pause == plan.PauseBefore
}

// checkEarlierPasses checks that an execution sees the same state as if the passes ran
// one after the other. Earlier passes must have passed the members that write what it
// reads and, if it writes a field whose merge can reject values, the members that write
// this field.
func (t *unit) checkEarlierPasses(p *pass, n *plan.Node) {
	for i := range t.u.Fields {
		own := &t.u.Fields[i]
		reads := slices.ContainsFunc(n.Reads, func(r plan.Read) bool { return r.Field == own.Field })
		if !reads && !(own.MayReject && slices.Contains(own.Members, n.Member)) {
			continue
		}
		lastWriter := int(own.Members[len(own.Members)-1])
		for _, q := range t.live {
			if q.n < p.n && q.place <= lastWriter {
				t.f.c.breaks(Order, "begins in row %d before row %d has passed %s, which writes %s", p.n, q.n, t.member(lastWriter), t.f.p.Schema.Fields[own.Field].Name)
			}
		}
	}
}

func (t *unit) retrying(n *plan.Node) {
	f, e := t.f, t.f.c.e
	i, _ := t.index()
	p := t.find(i)
	if p == nil || p.place != int(n.Member) || p.phase != running {
		f.c.breaks(Lifecycle, "is to be tried again and does not run")
		return
	}
	f.failedAttempt(n, p.attempt)
	t.endInner(p, failureOf(e.Error))
	if f.visible(n) {
		f.free(&t.group)
	}
	p.phase, p.backoff = waiting, backoff{e.Time, e.Delay}
}

func (t *unit) endInner(p *pass, fail *core.Failure) {
	if p.inner != nil {
		p.inner.close(fail)
		p.inner = nil
	}
}

func (t *unit) memberEnded(p *pass, n *plan.Node, good bool) {
	f, e := t.f, t.f.c.e
	switch {
	case p.phase == running:
		if f.visible(n) {
			f.free(&t.group)
		}
	case good || e.Error == nil || e.Error.Class != core.ClassCanceled:
		f.c.breaks(Lifecycle, "ends while it waits for another attempt")
	}
	if e.Attempt != p.attempt {
		f.c.breaks(Retries, "attempt %d ends, but attempt %d is in progress", e.Attempt, p.attempt)
	}
	status := f.endStatus(good)
	t.last.pass, t.last.place, t.last.good, t.last.wrote = p.n, p.place, good, t.last.wrote[:0]
	if good {
		t.partial = t.partial || status == core.PartialSuccess
		t.endInner(p, nil)
		p.place, p.phase, p.attempt = p.place+1, undecided, 0
		if p.place == len(t.u.Members) {
			t.passOver(p)
		}
		return
	}
	f.lastAttempt(n, p.attempt)
	t.endInner(p, failureOf(e.Error))
	if at := [2]int{p.n, p.place}; t.failures == 0 || slices.Compare(at[:], t.failedAt[:]) < 0 {
		t.failedAt = at
	}
	t.failures++
	t.allTolerated = t.allTolerated && n.Policy == plan.PolicySkip
	t.passOver(p)
	if (n.Policy == plan.PolicyFailRun || failureOf(e.Error).FailsRun) && !f.v[t.i].lostRace {
		f.failRun = true
	}
}

func (t *unit) passOver(p *pass) {
	t.live = slices.DeleteFunc(t.live, func(q *pass) bool { return q == p })
	t.over++
}

// finish checks the end of the unit.
func (t *unit) finish() {
	f, e := t.f, t.f.c.e
	for _, p := range t.live {
		if p.phase == undecided {
			f.doubt(e.Unit, Parts, "ends, and %s %d stops before %s", t.what(), p.n, t.member(p.place))
			continue
		}
		f.c.breaks(Parts, "ends, and %s in %s %d has no end", t.member(p.place), t.what(), p.n)
	}
	if total, ok := e.Total.Get(); !ok || total != t.over {
		f.doubt(e.Unit, Parts, "ends and counts %s, and %d are over", count(total, t.what()), t.over)
	}
	if t.u.IsLoop {
		t.loopEnd()
	} else if t.total >= 0 && t.next < t.total {
		f.doubt(e.Unit, Parts, "ends, and of its %s %d never began", count(t.total, "row"), t.total-t.next)
	}
	t.endStatus()
	if e.Error != nil {
		f.v[t.i].class, f.v[t.i].failedNode, f.v[t.i].failsRun = e.Error.Class, e.Error.Node, e.Error.FailsRun
	}
	var s core.Status
	_ = s.UnmarshalText([]byte(e.Status)) // endStatus checks the status
	if !s.Succeeded() {
		s = core.Fail
	}
	f.resolve(t.i, s)
}

// loopEnd checks the reason for the end of a loop.
func (t *unit) loopEnd() {
	f, e := t.f, t.f.c.e
	switch e.Reason {
	case "until":
		if t.u.Until == nil {
			f.c.breaks(Parts, "ends by its condition, and has none")
		}
	case "max_iters":
		if t.over != t.u.MaxIters {
			f.c.breaks(Parts, "ends after %s by max_iters, which is %d", count(t.over, "round"), t.u.MaxIters)
		}
	case "failed":
		if t.failures == 0 {
			f.c.breaks(Statuses, "ends by a failure, and no execution failed")
		}
	default:
		f.doubt(e.Unit, Parts, "ends for a reason that ends no loop: %q", e.Reason)
	}
}

// endStatus checks the status of the unit.
func (t *unit) endStatus() {
	f, e := t.f, t.f.c.e
	failed := e.Status == core.Fail.String()
	exhausted := e.Reason == "max_iters" && t.u.FailExhausted
	switch {
	case e.Status != core.Success.String() && e.Status != core.PartialSuccess.String() && !failed:
		f.c.breaks(Statuses, "ends with the status %q", e.Status)
	case !failed && t.failures > 0:
		f.c.breaks(Statuses, "ends with the status %s, and %s failed", e.Status, count(t.failures, "execution"))
	case !failed && exhausted:
		f.c.breaks(Statuses, "ends with the status %s after its last round, and on_exhausted is fail", e.Status)
	case failed && t.failures == 0 && !exhausted && t.u.Puller == nil && !(e.Reason == "failed" && t.next == 0 && !t.u.IsLoop):
		f.doubt(e.Unit, Statuses, "fails, and no execution failed")
	case !failed && t.u.Puller == nil && t.partial != (e.Status == core.PartialSuccess.String()):
		f.c.breaks(Statuses, "ends with the status %s, and of its executions %s", e.Status, partialText(t.partial))
	}
}

func partialText(partial bool) string {
	if partial {
		return "one is a partial success"
	}
	return "none is a partial success"
}

// partPath returns the path of the nested run of an item, row or round.
func partPath(node string, i int) string { return fmt.Sprintf("%s[%d]", node, i) }

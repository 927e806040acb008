package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// unit runs a pipeline or a loop. A row of a pipeline and a round of a loop are
// the same here: a pass through the members in order. Its own writes live in
// columns with one slot per pass and writing member, so that a member sees
// exactly what it would see if the passes ran one after the other.
type unit struct {
	f     *frame
	v     int32
	u     *plan.Unit
	items Items
	group group

	pull puller // of a pipeline over a stream

	next int     // first pass not begun
	live []*pass // begun and not over, ascending
	over int     // passes that are over
	view []*state.Column
	// canon folds the writes of refusing fields onto the canonical prefix;
	// there a refusal is decided. nil for other fields.
	canon   []*state.Column
	results []memberResult // by place
	outputs [][]any        // by place and pass, nil until somebody sends
	failure *core.Failure
	failAt  [2]int // pass and place of that failure
	failed  int    // executions that failed
	ranAll  bool   // every failure so far has policy skip
	partial bool
	dropped int // round whose writes do not count, -1 for none
	reason  string
	ended   bool // a loop's condition or cap was reached, or it failed
	// interrupted tells that the run was stopped before all passes were over:
	// what did not run was not reached, rather than skipped.
	interrupted bool
}

// pass is one row or round in progress, and the execution of the member it is at.
type pass struct {
	t     *unit
	N     int `json:"n"`
	Place int `json:"place,omitempty"` // the member
	attempt
	Prev anyJSON `json:"prev"`          // what the member before sent, Missing if it sent nothing
	Item anyJSON `json:"item,omitzero"` // of a pipeline over a stream
}

func (p *pass) frame() *frame   { return p.t.f }
func (p *pass) def() *plan.Node { return p.t.node(p) }
func (p *pass) load() attempt   { return p.attempt }
func (p *pass) store(a attempt) { p.attempt = a }
func (p *pass) group() *group   { return &p.t.group }
func (p *pass) path() string    { return p.t.f.numbered(p.def().ID, p.N) }
func (p *pass) landed(*Event)   { p.t.f.landed(&p.t.group) }
func (p *pass) again()          {}
func (p *pass) givenUp() bool   { return p.t.f.v[p.t.v].phase == losing }
func (p *pass) turn() bool      { return p.t.passTurn(p.N) }
func (p *pass) run(call *Call)  { p.t.f.run(p.def(), p.id(), call.after(p.Last), &p.t.group) }

func (p *pass) id() ID {
	return ID{Frame: p.t.f.id, Node: p.def().Index, From: int32(p.N), To: int32(p.N + 1), Attempt: p.Number}
}

// item returns the row, nil for the round of a loop.
func (p *pass) item() any {
	switch {
	case p.t.u.IsLoop:
		return nil
	case p.t.u.Puller != nil:
		return p.Item.v
	}
	return p.t.items.At(p.N)
}

func (p *pass) begun(bool) {
	p.t.results[p.Place].Attempts++
	p.t.f.emitMemberStarted(p.t.u, p.def(), p.id())
}

func (p *pass) capture() (*Call, *core.Failure) {
	call := p.t.f.call(p.def(), p)
	return call, p.t.f.unreadable(p.def(), call, p.t)
}

func (p *pass) adopt(child *frame) {
	p.child = child
	if child != nil {
		child.group.parent, child.group.holder = &p.t.group, p.t
	}
}

func (p *pass) ended(o *Outcome, _ int64) {
	if p.givenUp() {
		p.t.dropLost(p)
		return
	}
	p.t.memberEnded(p, o)
}

// withdrawn takes back a pass that waits for its next member.
func (p *pass) withdrawn() {
	t := p.t
	if p.givenUp() {
		t.dropLost(p)
		return
	}
	if t.u.IsLoop {
		t.dropped = p.N // half a round counts for nothing
	}
	t.removePass(p)
	t.over--
}

func (p *pass) moved() {
	p.t.checkLost()
	p.t.f.refresh(p.t.v)
}

// memberResult is what a member did over all passes.
type memberResult struct {
	Runs     int           `json:"runs,omitempty"`
	Failed   int           `json:"failed,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Failure  *core.Failure `json:"failure,omitempty"`   // of the first row or round that failed
	FailedAt int           `json:"failed_at,omitempty"` // that row or round
	Partial  bool          `json:"partial,omitempty"`   // an execution was a partial success
	Changes  changes       `json:"changes,omitzero"`
}

// startUnit resolves the rows of a pipeline and begins.
func (f *frame) startUnit(v int32) {
	u := f.p.Vertices[v].Unit
	f.v[v].started, f.v[v].attempts = f.m.now, 1
	t := &unit{f: f, v: v, u: u, dropped: -1, ranAll: true, results: make([]memberResult, len(u.Members)), outputs: make([][]any, len(u.Members))}
	t.group = newUnitGroup(f, t)
	f.setTask(v, t)
	if u.Puller != nil {
		f.emitUnitStarted("", nil, u.ID, -1)
	} else if !u.IsLoop {
		items, failure := f.itemsAt("items", u.Items, levelEnv{f, f.p.Vertices[v].Level})
		items = items.inBatches(u.Batch)
		f.emitUnitStarted("", nil, u.ID, items.Len())
		if failure != nil {
			t.failure = failure
			t.reason, t.ranAll = "failed", false
			t.finish()
			return
		}
		t.items = items
	} else {
		f.emitUnitStarted("", nil, u.ID, -1)
	}
	t.columns()
	if !u.IsLoop && u.Puller == nil && t.items.Len() == 0 {
		t.reason = "rows"
		t.finish()
		return
	}
	f.refresh(v)
}

// newUnitGroup makes the group of a unit: rows are limited by what is under way,
// so the group itself is not.
func newUnitGroup(f *frame, t *unit) group {
	return group{parent: &f.group, limit: math.MaxInt, holder: t}
}

func (t *unit) slotChanged() { t.f.refresh(t.v) }
func (t *unit) holds() bool  { return t.group.active > 0 }

// passes is how many passes there are at most, as far as that is known.
func (t *unit) passes() int {
	switch {
	case t.u.IsLoop:
		return t.u.MaxIters
	case t.u.Puller != nil:
		return t.pull.rows
	}
	return t.items.Len()
}

// allKnown reports whether no pass is to come beyond passes.
func (t *unit) allKnown() bool { return t.u.Puller == nil || t.pull.ended }

func (t *unit) mayBegin() bool {
	return !t.ended && t.next < t.passes() && len(t.live) < t.u.Concurrency
}

func (t *unit) canStart() bool {
	return t.mayBegin() || t.mayPull() || slices.ContainsFunc(t.live, t.ready)
}

// ready reports whether the pass has something to start now.
func (t *unit) ready(p *pass) bool {
	if p.child != nil {
		return p.child.canStart() && p.child.group.freeBelow(&t.f.group)
	}
	return p.Phase == waiting && t.clear(p)
}

// clear reports whether the pass sees what it would see if all earlier passes
// were over: it waits for earlier writes of fields that its member reads, and
// of refusing fields that its member writes.
func (t *unit) clear(p *pass) bool {
	n := t.node(p)
	for i := range t.u.Own {
		own := &t.u.Own[i]
		reads := slices.ContainsFunc(n.Reads, func(r plan.Read) bool { return r.Field == own.Field })
		writes := own.Refuses && slices.Contains(own.Members, int32(p.Place))
		if (reads || writes) && t.view[i].Cursor() < t.before(own, p) {
			return false
		}
	}
	return true
}

func (t *unit) node(p *pass) *plan.Node { return &t.f.p.Nodes[t.u.Members[p.Place]] }

func (t *unit) startOne() bool {
	for t.f.v[t.v].phase == running {
		i := slices.IndexFunc(t.live, t.ready)
		if i < 0 {
			if t.mayBegin() {
				t.begin()
				continue
			}
			if !t.mayPull() {
				return false
			}
			if t.pullRow() {
				return true
			}
			continue
		}
		p := t.live[i]
		if p.child == nil {
			if begin(p) {
				return true
			}
			continue
		}
		child := p.child
		if child.startOrEnd() {
			return true
		}
		if !child.ended() && child.canStart() {
			return false
		}
	}
	return false
}

// begin begins the next pass.
func (t *unit) begin() {
	p := &pass{t: t, N: t.next, Prev: anyJSON{core.Missing}}
	t.next++
	if t.u.Puller != nil {
		p.Item.v = t.pull.take()
	}
	t.live = append(t.live, p)
}

func (t *unit) find(id ID) work {
	for _, p := range t.live {
		if p.id() == id {
			return p
		}
	}
	return nil
}

func (t *unit) answer(e *Event) bool {
	if e.ID.Attempt == 0 {
		return t.pulledRow(e)
	}
	p, ok := t.find(e.ID).(*pass)
	return ok && answer(p, e)
}

// memberEnded takes the outcome of the last attempt of one execution and commits what
// its visit comes to: it is one transaction.
func (t *unit) memberEnded(p *pass, o *Outcome) {
	if t.f.stopped {
		o, t.interrupted = &Outcome{Failure: cancelled()}, true
	}
	o = t.f.verdict(t.node(p), p.Number, o)
	if o.Failure == nil {
		if err := t.tryWrites(p, o.Writes); err != nil {
			o = &Outcome{Failure: &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}}
		}
	}
	res := &t.results[p.Place]
	res.Runs++
	t.f.emitMemberEnded(t.u, t.node(p), p.id(), o)
	if o.Failure != nil {
		t.f.voidClaims(p.id())
		t.memberFailed(p, o.Failure)
		return
	}
	res.Partial = res.Partial || o.Status == core.PartialSuccess
	res.Changes.add(p.N, o.Why)
	t.partial = t.partial || res.Partial
	t.f.note(t.node(p).Index, o.Note)
	t.write(p, o.Writes)
	t.keepOutput(p, o)
	p.Prev.v = o.sent()
	p.Place++
	p.attempt = attempt{}
	if p.Place == len(t.u.Members) {
		t.passOver(p)
	}
}

// tellRound issues the events of what a round has written, once it counts: a round
// in which a member fails writes nothing.
func (t *unit) tellRound(p *pass) {
	if !t.f.m.opts.Events {
		return
	}
	for place, m := range t.u.Members {
		n := &t.f.p.Nodes[m]
		var writes []plan.Write
		for _, field := range n.WriteFields {
			i := t.u.OwnIndex(field)
			slot := t.slot(&t.u.Own[i], p.N, place)
			if v, ok := t.view[i].Wrote(slot); ok {
				writes = append(writes, plan.Write{Field: field, Value: v})
			}
		}
		t.f.emitWrites(n, writes, 0, core.Nth(p.N))
	}
}

func (t *unit) keepOutput(p *pass, o *Outcome) {
	if !o.HasOutput {
		return
	}
	if t.u.IsLoop {
		t.outputs[p.Place] = []any{o.Output}
		return
	}
	if missing := t.passes() - len(t.outputs[p.Place]); missing > 0 {
		t.outputs[p.Place] = append(t.outputs[p.Place], make([]any, missing)...)
	}
	t.outputs[p.Place][p.N] = o.Output
}

// memberFailed ends the pass; in a loop it ends the loop, and the writes of the
// whole round do not count.
func (t *unit) memberFailed(p *pass, fail *core.Failure) {
	n := t.node(p)
	res := &t.results[p.Place]
	res.Failed++
	t.failed++
	at := [2]int{p.N, p.Place}
	if t.failure == nil || fail.FailsRun && !t.failure.FailsRun || fail.FailsRun == t.failure.FailsRun && slices.Compare(at[:], t.failAt[:]) < 0 {
		t.failure, t.failAt = fail, at
	}
	if res.Failure == nil || p.N < res.FailedAt { // rows may end in any order
		res.Failure, res.FailedAt = fail, p.N
	}
	t.ranAll = t.ranAll && n.Policy == plan.PolicySkip
	for ; p.Place < len(t.u.Members); p.Place++ {
		t.write(p, nil)
	}
	if t.u.IsLoop {
		t.dropped, t.ended, t.reason = p.N, true, "failed"
	}
	t.removePass(p)
	if (n.Policy == plan.PolicyFailRun || fail.FailsRun) && !t.f.stopped {
		t.f.failedRun = true
		t.f.stop()
		return
	}
	t.check()
}

// passOver ends a pass that went through all members.
func (t *unit) passOver(p *pass) {
	if t.u.IsLoop && !t.f.stopped {
		t.tellRound(p)
		t.roundOver(p)
	}
	t.removePass(p)
	t.check()
}

func (t *unit) removePass(p *pass) {
	t.live = slices.DeleteFunc(t.live, func(q *pass) bool { return q == p })
	t.over++
	t.forget()
}

// roundOver looks at the condition of a loop after its body.
func (t *unit) roundOver(p *pass) {
	switch {
	case t.u.Until != nil && t.f.test(t.u.Until, unitEnv{t, levelEnv{t.f, t.f.p.Vertices[t.v].Level}}):
		t.ended, t.reason = true, "until"
	case p.N+1 >= t.u.MaxIters:
		t.ended, t.reason = true, "max_iters"
		if t.u.FailExhausted {
			t.failure = &core.Failure{Class: core.ClassUnit, Permanent: true,
				Message: fmt.Sprintf("loop %s: until is still false after %d rounds", t.u.ID, t.u.MaxIters)}
			t.ranAll = false
		}
	}
}

// check ends the unit when its last pass is over.
func (t *unit) check() {
	if t.f.v[t.v].phase != running || len(t.live) > 0 || t.pull.open {
		return
	}
	if t.f.stopped || t.ended || !t.u.IsLoop && t.next >= t.passes() && t.allKnown() {
		if t.reason == "" {
			t.reason = "rows"
		}
		t.finish()
	}
}

// finish hands the unit's writes to the ledger and resolves its vertex.
func (t *unit) finish() {
	f := t.f
	f.v[t.v].ended = f.m.now
	if f.stopped && (t.u.IsLoop && !t.ended || t.over < t.passes() || !t.allKnown()) {
		t.interrupted = true
		if t.failure == nil {
			t.failure, t.ranAll = cancelled(), false
		}
	}
	switch {
	case !t.interrupted || t.failure == nil:
	case t.failure.Class == core.ClassCanceled:
		t.reason = "cancelled"
	default:
		t.reason = "failed" // its own failure has stopped the run
	}
	f.doom(t.v, t.failure)
	f.contribute(t.v, t.contribution)
	for place, m := range t.u.Members {
		f.changed(m, t.results[place].Changes.text(t.pass()))
		switch {
		case t.outputs[place] == nil:
		case t.u.IsLoop:
			f.setOutput(m, t.outputs[place][0])
		default:
			f.setOutput(m, t.outputs[place])
		}
	}
	t.view, t.canon, t.outputs = nil, nil, nil // the frame has them
	if t.failure != nil {
		fail := *t.failure
		fail.Cause = t.failure
		if t.failed > 0 {
			fail.Message = t.failureText()
		}
		f.setFailure(t.v, &fail)
		f.emitUnitFinished(t.v, core.Fail, t.reason, t.over, &fail)
		f.endFailed(t.v)
		return
	}
	status := core.Success
	if t.partial {
		status = core.PartialSuccess
	}
	f.emitUnitFinished(t.v, status, t.reason, t.over, nil)
	f.resolve(t.v, status)
}

// pass is what people call a pass of the unit.
func (t *unit) pass() string {
	if t.u.IsLoop {
		return "round"
	}
	return "row"
}

// failureText words the failure of the unit. That of a nested run names the member
// and the row or round already, in the path of the node where it began.
func (t *unit) failureText() string {
	s := t.failure.Message
	switch {
	case t.failure.Node == "":
		s = fmt.Sprintf("%s, %s %d: %s", t.f.p.Nodes[t.u.Members[t.failAt[1]]].ID, t.pass(), t.failAt[0], s)
	case t.failed > 1:
		return fmt.Sprintf("%s (%d rows failed)", s, t.failed)
	}
	if t.failed > 1 {
		s = fmt.Sprintf("%d rows failed, first %s", t.failed, s)
	}
	return s
}

// commit is never a unit's turn: it starts only when its turn has come.
func (t *unit) commit() { invariant(false, "unit %s waits for a commit", t.u.ID) }

// stop ends passes that are neither running nor nested.
func (t *unit) stop() {
	live := slices.SortedFunc(slices.Values(t.live), func(a, b *pass) int { return a.N - b.N }) // as results are put in place
	for _, p := range live {
		halt(p)
	}
	t.check()
}

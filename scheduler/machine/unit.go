package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// unit runs a pipeline or a loop. Both are passes through the members in order: a row of a
// pipeline or a round of a loop is a pass. The unit's own writes are in columns with one slot per
// pass and writing member, so that a member sees exactly what it would see if the passes ran one
// after the other.
type unit struct {
	f     *frame
	v     int32
	u     *plan.Unit
	items Items
	group group

	Pull streamReader `json:"pull,omitzero"` // of a pipeline over a stream

	Next int      `json:"next"`           // first pass that has not begun
	Live []*pass  `json:"live,omitempty"` // passes that have begun and not ended, ascending
	Done int      `json:"done,omitempty"` // number of passes that have ended
	View []column `json:"view,omitempty"` // by own field
	// Canon folds the writes to fields that can reject them, in canonical order, and decides
	// which are rejected. It has no column for other fields.
	Canon     []column       `json:"canon,omitempty"`
	Results   []memberResult `json:"results"`           // by place
	Outputs   []values       `json:"outputs,omitempty"` // by place and pass; nil until the member sends something
	Failure   *core.Failure  `json:"failure,omitempty"`
	FailAt    [2]int         `json:"fail_at"`             // pass and place of Failure
	Failed    int            `json:"failed,omitempty"`    // number of failed executions
	Tolerated bool           `json:"tolerated,omitempty"` // every failure so far has the policy skip
	Partial   bool           `json:"partial,omitempty"`
	Dropped   int            `json:"dropped"` // the round whose writes do not count, or -1 if there is none
	Reason    string         `json:"reason,omitempty"`
	Ended     bool           `json:"ended,omitempty"` // the condition of a loop is true, its limit is reached, or it failed
	// Interrupted is set if the run was stopped before all passes had ended. Members that did not
	// run were then not reached rather than skipped.
	Interrupted bool `json:"interrupted,omitempty"`
}

// pass is a row or round in progress, and the execution of its current member.
type pass struct {
	t     *unit
	N     int `json:"n"`
	Place int `json:"place,omitempty"` // of the current member
	attempt
	Prev anyJSON `json:"prev"`          // output of the previous member, Missing if it sent nothing
	Item anyJSON `json:"item,omitzero"` // of a pipeline over a stream
}

func (p *pass) frame() *frame       { return p.t.f }
func (p *pass) def() *plan.Node     { return p.t.node(p) }
func (p *pass) load() attempt       { return p.attempt }
func (p *pass) store(a attempt)     { p.attempt = a }
func (p *pass) group() *group       { return &p.t.group }
func (p *pass) path() string        { return p.t.f.elementPath(p.def().ID, p.N) }
func (p *pass) handlerEnded(*Event) { p.t.f.ranOrAsked(p.def(), &p.t.group) }
func (p *pass) retryDue()           {}
func (p *pass) givenUp() bool       { return p.t.f.v[p.t.v].Phase == beingCancelled }
func (p *pass) mayPlace() bool      { return p.t.passMayPlace(p.N) }
func (p *pass) run(call *Call) {
	p.t.f.runOrAsk(p.def(), p.id(), call.after(p.LastError), &p.t.group)
}

func (p *pass) id() ID {
	return ID{Frame: p.t.f.ID, Node: p.def().Index, From: int32(p.N), To: int32(p.N + 1), Attempt: p.number()}
}

// item returns the row, nil for a round of a loop.
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
	p.t.Results[p.Place].Attempts++
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
		p.t.dropCancelled(p)
		return
	}
	p.t.memberEnded(p, o)
}

// withdraw removes a pass that waits for its next member.
func (p *pass) withdraw() {
	t := p.t
	if p.givenUp() {
		t.dropCancelled(p)
		return
	}
	if t.u.IsLoop {
		t.Dropped = p.N // an incomplete round does not count
	}
	t.removePass(p)
	t.Done--
	if t.f.Stopped {
		t.check()
	}
}

func (p *pass) afterAnswer() {
	p.t.checkCancelled()
	p.t.f.refresh(p.t.v)
}

// memberResult sums up the executions of a member in all passes.
type memberResult struct {
	Runs     int           `json:"runs,omitempty"`
	Failed   int           `json:"failed,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Failure  *core.Failure `json:"failure,omitempty"`   // of the first row or round that failed
	FailedAt int           `json:"failed_at,omitempty"` // the first row or round that failed
	Partial  bool          `json:"partial,omitempty"`   // an execution ended with partial_success
	Changes  changes       `json:"changes,omitzero"`
}

// startUnit starts a unit. For a pipeline it evaluates the rows first.
func (f *frame) startUnit(v int32) {
	u := f.p.Vertices[v].Unit
	f.v[v].Started, f.v[v].Attempts = f.m.now, 1
	t := &unit{f: f, v: v, u: u, Dropped: -1, Tolerated: true, Results: make([]memberResult, len(u.Members)), Outputs: make([]values, len(u.Members))}
	t.group = newUnitGroup(f, t)
	f.setTask(v, t)
	if u.Puller != nil {
		f.emitUnitStarted("", nil, u.ID, -1)
	} else if !u.IsLoop {
		env := levelEnv{f, f.p.Vertices[v].Level}
		items, failure := f.itemsAt("items", u.Items, env)
		if failure == nil && items.Len() == 0 {
			f.warnAbsent(u.ID, "items", u.Items, env)
		}
		items = items.inBatches(u.Batch)
		f.emitUnitStarted("", nil, u.ID, items.Len())
		if failure != nil {
			t.Failure = failure
			t.Reason, t.Tolerated = "failed", false
			t.finish()
			return
		}
		t.items = items
	} else {
		f.emitUnitStarted("", nil, u.ID, -1)
	}
	t.columns()
	if !u.IsLoop && u.Puller == nil && t.items.Len() == 0 {
		t.Reason = "rows"
		t.finish()
		return
	}
	f.refresh(v)
}

// newUnitGroup returns the group of a unit. The group has no separate limit, because the number
// of live passes is limited.
func newUnitGroup(f *frame, t *unit) group {
	return group{parent: &f.group, limit: math.MaxInt, holder: t}
}

func (t *unit) slotChanged()    { t.f.refresh(t.v) }
func (t *unit) holdsSlot() bool { return t.group.active > 0 }

// passes returns an upper bound on the number of passes; of a stream, the number of rows read so
// far.
func (t *unit) passes() int {
	switch {
	case t.u.IsLoop:
		return t.u.MaxIters
	case t.u.Puller != nil:
		return t.Pull.Rows
	}
	return t.items.Len()
}

// passesKnown reports whether passes is final.
func (t *unit) passesKnown() bool { return t.u.Puller == nil || t.Pull.Ended }

func (t *unit) mayBegin() bool {
	return !t.Ended && t.Next < t.passes() && len(t.Live) < t.u.Concurrency
}

func (t *unit) canStart() bool {
	return t.mayBegin() || t.mayPull() || slices.ContainsFunc(t.Live, t.ready)
}

// ready reports whether the pass can start something now.
func (t *unit) ready(p *pass) bool {
	if p.child != nil {
		return p.child.canStart() && p.child.group.freeBelow(&t.f.group)
	}
	return p.Phase == waiting && t.mayRead(p)
}

// mayRead reports whether the current member of the pass sees what it would see if all earlier
// passes had ended. It waits for earlier writes to the fields that it reads, and to the fields
// that it writes and that can reject writes.
func (t *unit) mayRead(p *pass) bool {
	n := t.node(p)
	for i := range t.u.Fields {
		own := &t.u.Fields[i]
		reads := slices.ContainsFunc(n.Reads, func(r plan.Read) bool { return r.Field == own.Field })
		writes := own.MayReject && slices.Contains(own.Members, int32(p.Place))
		if (reads || writes) && t.View[i].Cursor() < t.before(own, p) {
			return false
		}
	}
	return true
}

func (t *unit) node(p *pass) *plan.Node { return &t.f.p.Nodes[t.u.Members[p.Place]] }

func (t *unit) startOne() bool {
	for t.f.v[t.v].Phase == running {
		i := slices.IndexFunc(t.Live, t.ready)
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
		p := t.Live[i]
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
	p := &pass{t: t, N: t.Next, Prev: anyJSON{value.Missing}}
	t.Next++
	if t.u.Puller != nil {
		p.Item.v = t.Pull.take()
	}
	t.Live = append(t.Live, p)
}

func (t *unit) find(id ID) work {
	for _, p := range t.Live {
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

// memberEnded handles the outcome of the last attempt of a member and commits the outcome of its
// visit. The visit is one transaction.
func (t *unit) memberEnded(p *pass, o *Outcome) {
	if t.f.Stopped {
		o, t.Interrupted = &Outcome{Failure: cancelled()}, true
	}
	o = t.f.visitOutcome(t.node(p), p.Number, o)
	if o.Failure == nil {
		if err := t.tryWrites(p, o.Writes); err != nil {
			o = &Outcome{Failure: &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}}
		}
	}
	res := &t.Results[p.Place]
	res.Runs++
	t.f.emitMemberEnded(t.u, t.node(p), p.id(), o)
	if o.Failure != nil {
		t.f.voidClaims(p.id())
		t.memberFailed(p, o.Failure)
		return
	}
	res.Partial = res.Partial || o.Status == core.PartialSuccess
	res.Changes.add(p.N, o.Why)
	if o.isCached() {
		res.Attempts--
	}
	t.Partial = t.Partial || res.Partial
	t.f.setNote(t.node(p).Index, o.Note)
	t.write(p, o.Writes)
	t.keepOutput(p, o)
	p.Prev.v = o.edgeOutput()
	p.Place++
	p.attempt = attempt{}
	if p.Place == len(t.u.Members) {
		t.passEnded(p)
	}
}

// emitRoundWrites emits the events of the writes of a round when the round counts. A round in
// which a member fails writes nothing.
func (t *unit) emitRoundWrites(p *pass) {
	if !t.f.m.opts.Events {
		return
	}
	for place, m := range t.u.Members {
		n := &t.f.p.Nodes[m]
		var writes []plan.Write
		for _, field := range n.WriteFields {
			i := t.u.FieldIndex(field)
			slot := t.slot(&t.u.Fields[i], p.N, place)
			if v, ok := t.View[i].Wrote(slot); ok {
				writes = append(writes, plan.Write{Field: field, Value: v})
			}
		}
		e := t.f.nodeNote(0, n)
		e.round = core.Nth(p.N)
		t.f.emitWrites(e, writes)
		t.f.wrote(ID{Frame: t.f.ID, Node: m, From: int32(p.N), To: int32(p.N + 1)}, writes)
	}
}

func (t *unit) keepOutput(p *pass, o *Outcome) {
	if !o.HasOutput {
		return
	}
	if t.u.IsLoop {
		t.Outputs[p.Place] = values{o.Output}
		return
	}
	if missing := t.passes() - len(t.Outputs[p.Place]); missing > 0 {
		t.Outputs[p.Place] = append(t.Outputs[p.Place], make([]any, missing)...)
	}
	t.Outputs[p.Place][p.N] = o.Output
}

// memberFailed ends the pass. In a loop it ends the loop, and the writes of the whole round do
// not count.
func (t *unit) memberFailed(p *pass, fail *core.Failure) {
	n := t.node(p)
	res := &t.Results[p.Place]
	res.Failed++
	t.Failed++
	at := [2]int{p.N, p.Place}
	if t.Failure == nil || fail.FailsRun && !t.Failure.FailsRun || fail.FailsRun == t.Failure.FailsRun && slices.Compare(at[:], t.FailAt[:]) < 0 {
		t.Failure, t.FailAt = fail, at
	}
	if res.Failure == nil || p.N < res.FailedAt { // rows may end in any order
		res.Failure, res.FailedAt = fail, p.N
	}
	t.Tolerated = t.Tolerated && n.Policy == plan.PolicySkip
	for ; p.Place < len(t.u.Members); p.Place++ {
		t.write(p, nil)
	}
	if t.u.IsLoop {
		t.Dropped, t.Ended, t.Reason = p.N, true, "failed"
	}
	t.removePass(p)
	if (n.Policy == plan.PolicyFailRun || fail.FailsRun) && !t.f.Stopped {
		t.f.FailedRun = true
		t.f.stop()
		return
	}
	t.check()
}

// passEnded ends a pass that has run all members.
func (t *unit) passEnded(p *pass) {
	if t.u.IsLoop && !t.f.Stopped {
		t.emitRoundWrites(p)
		t.roundEnded(p)
	}
	t.removePass(p)
	t.check()
}

func (t *unit) removePass(p *pass) {
	t.Live = slices.DeleteFunc(t.Live, func(q *pass) bool { return q == p })
	t.Done++
	t.forget()
}

// roundEnded evaluates the condition of a loop after its body.
func (t *unit) roundEnded(p *pass) {
	switch {
	case t.u.Until != nil && t.f.test(t.u.Until, unitEnv{t, levelEnv{t.f, t.f.p.Vertices[t.v].Level}}):
		t.Ended, t.Reason = true, "until"
	case p.N+1 >= t.u.MaxIters:
		t.Ended, t.Reason = true, "max_iters"
		if t.u.FailExhausted {
			t.Failure = &core.Failure{Class: core.ClassUnit, Permanent: true,
				Message: fmt.Sprintf("loop %s: until is still false after %d rounds", t.u.ID, t.u.MaxIters)}
			t.Tolerated = false
		}
	}
}

// check ends the unit when its last pass has ended.
func (t *unit) check() {
	if t.f.v[t.v].Phase != running || len(t.Live) > 0 || t.Pull.Open {
		return
	}
	if t.f.Stopped || t.Ended || !t.u.IsLoop && t.Next >= t.passes() && t.passesKnown() {
		if t.Reason == "" {
			t.Reason = "rows"
		}
		t.finish()
	}
}

// finish passes the unit's writes to the ledger and resolves its vertex.
func (t *unit) finish() {
	f := t.f
	f.v[t.v].Ended = f.m.now
	if f.Stopped && (t.u.IsLoop && !t.Ended || t.Done < t.passes() || !t.passesKnown()) {
		t.Interrupted = true
		if t.Failure == nil {
			t.Failure, t.Tolerated = cancelled(), false
		}
	}
	switch {
	case !t.Interrupted || t.Failure == nil:
	case t.Failure.Class == core.ClassCanceled:
		t.Reason = "cancelled"
	default:
		t.Reason = "failed" // its own failure has stopped the run
	}
	f.setStopping(t.v, t.Failure)
	f.readWritten(t.u.Members[0], &t.Pull, func(field int32) bool { return t.u.FieldIndex(field) >= 0 })
	f.contribute(t.v, t.contribution)
	for place, m := range t.u.Members {
		f.setChange(m, t.Results[place].Changes.text(t.pass()))
		switch {
		case t.Outputs[place] == nil:
		case t.u.IsLoop:
			f.setOutput(m, t.Outputs[place][0])
		default:
			f.setOutput(m, []any(t.Outputs[place]))
		}
	}
	t.View, t.Canon, t.Outputs = nil, nil, nil // the frame has them
	if t.Failure != nil {
		fail := *t.Failure
		fail.Cause = t.Failure
		if t.Failed > 0 {
			fail.Message = t.failureText()
		}
		f.setFailure(t.v, &fail)
		f.emitUnitFinished(t.v, core.Fail, t.Reason, t.Done, &fail)
		f.endFailed(t.v)
		return
	}
	status := core.Success
	if t.Partial {
		status = core.PartialSuccess
	}
	f.emitUnitFinished(t.v, status, t.Reason, t.Done, nil)
	f.resolve(t.v, status)
}

// pass returns the user's word for a pass of the unit.
func (t *unit) pass() string {
	if t.u.IsLoop {
		return "round"
	}
	return "row"
}

// failureText returns the message of the failure of the unit. The failure of a nested run already
// contains the member and the row or round, in the path of its node.
func (t *unit) failureText() string {
	s := t.Failure.Message
	switch {
	case t.Failure.Node == "":
		s = fmt.Sprintf("%s, %s %d: %s", t.f.p.Nodes[t.u.Members[t.FailAt[1]]].ID, t.pass(), t.FailAt[0], s)
	case t.Failed > 1:
		return fmt.Sprintf("%s (%d rows failed)", s, t.Failed)
	}
	if t.Failed > 1 {
		s = fmt.Sprintf("%d rows failed, first %s", t.Failed, s)
	}
	return s
}

// commit is never called: a unit starts only when it may commit.
func (t *unit) commit() { invariant(false, "unit %s waits for a commit", t.u.ID) }

// stop ends the passes that have no handler in flight.
func (t *unit) stop() {
	live := slices.SortedFunc(slices.Values(t.Live), func(a, b *pass) int { return a.N - b.N }) // the order in which results are placed
	for _, p := range live {
		halt(p)
	}
	t.check()
}

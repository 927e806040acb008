package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// skipReason is the reason why a vertex did not run.
type skipReason uint8

const (
	notSkipped  skipReason = iota
	skipFailure            // a predecessor failed, or was skipped because of a failure
	skipFalse              // the condition of an incoming edge is false
	skipAll                // every predecessor was skipped
	skipJoin               // too few of its predecessors succeeded
	skipRace               // cancelled because it lost a race
	skipAssumed            // see Options.Assume
)

// conditionResult is the result of the condition of an edge.
type conditionResult uint8

const (
	notEvaluated conditionResult = iota
	conditionFalse
	conditionTrue
)

// open sets the gates and queues the vertices that have none.
func (d dag) open() {
	f := d.f
	for i := range f.v {
		pv := &f.p.Vertices[i]
		f.v[i] = vertex{Pending: pv.Pending, Waits: pv.Waits}
		if f.barrier && pv.Level > 0 {
			f.v[i].Pending++
		}
	}
	for j := range f.ElseGates {
		f.ElseGates[j] = f.p.ElseGroups[j].Pending
	}
	for a := range f.JoinGates {
		f.JoinGates[a] = f.p.JoinBranches[a].Pending
	}
	for j := range f.Joins { // a join that needs no predecessor is decided at once
		f.queue = append(f.queue, gate{joinGate, int32(j)})
	}
	f.LevelLeft = f.p.Levels[1]
	for i := range f.v {
		if f.v[i].Pending == 0 {
			f.queue = append(f.queue, gate{decideGate, int32(i)})
		}
	}
}

// decide decides whether a vertex runs, once its predecessors are resolved. A blocking failure
// comes first, then a false edge. Otherwise the vertex runs if at least one edge is live.
func (f *frame) decide(v int32) {
	if f.Stopped || f.v[v].Phase != undecided {
		return
	}
	pv := &f.p.Vertices[v]
	if pv.Join >= 0 {
		f.decideJoin(v)
		return
	}
	in := f.p.InEdges(v)
	if len(in) == 0 || pv.AllDone {
		f.evaluateForEvents(v, in)
		f.letRun(v)
		return
	}
	if f.Clean && !pv.Conditional {
		f.letRun(v)
		return
	}
	blocked, falseEdge, live := int32(-1), int32(-1), false
	var handled []int32 // live edges that handle a failure
	for _, e := range in {
		switch f.edgeState(e) {
		case edgeBlocked:
			if blocked < 0 {
				blocked = e
			}
		case edgeFalse:
			if falseEdge < 0 {
				falseEdge = e
			}
		case edgeLive:
			live = true
			if f.p.Edges[e].Handles {
				handled = append(handled, e)
			}
		}
	}
	switch {
	case blocked >= 0:
		f.skip(v, skipFailure, blocked)
	case falseEdge >= 0:
		f.skip(v, skipFalse, falseEdge)
	case live:
		for _, e := range handled {
			f.handle(e)
		}
		f.letRun(v)
	default:
		f.skip(v, skipAll, -1)
	}
}

// evaluateForEvents evaluates the conditions of a vertex that runs in any case, to emit their
// events and to find the failures that its edges handle.
func (f *frame) evaluateForEvents(v int32, in []int32) {
	if f.p.Vertices[v].Conditional {
		f.markHandled(in)
	}
}

type edgeState uint8

const (
	edgeNeutral edgeState = iota // has no effect: its source was skipped
	edgeLive
	edgeFalse
	edgeBlocked // its source failed, or was skipped because of a failure
)

// edgeState returns the state of an edge whose source is resolved.
func (f *frame) edgeState(e int32) edgeState {
	edge := &f.p.Edges[e]
	src := &f.v[edge.From]
	failed := src.Status == core.Fail
	blocked := failed || src.Skip == skipFailure
	skipped := src.Status == core.Skipped
	switch edge.On {
	case plan.OnSuccess:
		if blocked {
			return edgeBlocked
		}
	case plan.OnFail:
		if !failed {
			return edgeFalse
		}
		skipped = false
	case plan.OnDone:
		skipped = false
	}
	switch {
	case (edge.Else || edge.When != nil) && !f.conditionHolds(e):
		return edgeFalse
	case edge.When != nil:
		return edgeLive
	case edge.Else && src.Status == core.Skipped:
		return edgeNeutral // true, but its source had no choice to make
	case skipped:
		return edgeNeutral
	}
	return edgeLive
}

// conditionHolds evaluates the condition of an edge, or returns the result that evaluateElse has
// stored.
func (f *frame) conditionHolds(e int32) bool {
	edge := &f.p.Edges[e]
	if edge.InElseGroup {
		return f.Conditions[e] == conditionTrue
	}
	env := levelEnv{f, f.p.Vertices[edge.To].Level}
	ok := f.test(edge.When, env)
	f.emitEvaluated(e, ok, env)
	return ok
}

// evaluateElse evaluates the conditions of all edges out of a source with an else edge.
func (f *frame) evaluateElse(j int32) {
	if f.Stopped {
		return
	}
	group := &f.p.ElseGroups[j]
	if f.v[group.Source].Skip == skipRace {
		return // its successors are cancelled as well
	}
	env := levelEnv{f, group.Level}
	any := false
	for _, e := range group.Edges {
		edge := &f.p.Edges[e]
		if edge.Else {
			continue
		}
		ok := f.test(edge.When, env)
		f.Conditions[e] = conditionFalse
		if ok {
			f.Conditions[e] = conditionTrue
		}
		f.emitEvaluated(e, ok, env)
		any = any || f.edgeState(e) == edgeLive
	}
	for _, e := range group.Edges {
		if f.p.Edges[e].Else {
			f.Conditions[e] = conditionTrue
			if any {
				f.Conditions[e] = conditionFalse
			}
			f.emitEvaluated(e, !any, env)
		}
	}
	for _, e := range group.Edges {
		f.openGate(f.p.EdgeGate(e))
	}
}

// markHandled marks the failures that live edges handle.
func (f *frame) markHandled(in []int32) {
	for _, e := range in {
		edge := &f.p.Edges[e]
		if edge.Handles && f.v[edge.From].Status == core.Fail && f.edgeState(e) == edgeLive {
			f.handle(e)
		}
	}
}

// handle marks the failure of the source of an edge as handled. The edge is live and has on: fail
// and handles: true.
func (f *frame) handle(e int32) {
	from := f.p.Edges[e].From
	f.v[from].Handled = true
	f.emitHandled(from, e)
}

// letRun lets a vertex run as soon as the fields that it reads are complete.
func (f *frame) letRun(v int32) {
	if f.assume(v) {
		return
	}
	f.v[v].Phase = willRun
	if f.v[v].Waits == 0 {
		f.makeStartable(v)
	}
}

func (f *frame) makeStartable(v int32) {
	f.v[v].Phase = startable
	f.emitReady(v)
	if f.p.Vertices[v].Asks {
		f.addStartable(v)
		return
	}
	f.ready.add(f.rank(v))
}

func (f *frame) skip(v int32, why skipReason, edge int32) {
	f.v[v].Skip = why
	reason := endReason{Edge: core.Ordinal(edge + 1)}
	if why == skipFailure || why == skipAll {
		if why == skipAll {
			edge = f.p.InEdges(v)[0]
		}
		from := f.p.Edges[edge].From
		if reason.Cause = f.endReason(from).Cause; reason.Cause == 0 {
			reason.Cause = core.Nth(int(from))
		}
	}
	f.setEndReason(v, reason)
	f.contribute(v, nothing)
	f.emitSkipped(v)
	f.resolve(v, core.Skipped)
}

// resolve ends a vertex whose writes, if any, are in the ledger.
func (f *frame) resolve(v int32, s core.Status) {
	x := &f.v[v]
	if x.Phase == resolved {
		panic("machine: vertex " + f.p.Vertices[v].ID + " is resolved twice")
	}
	x.Phase, x.Status = resolved, s
	f.unresolved--
	if s != core.Success {
		f.Clean = false
	}
	for _, g := range f.p.OutGates(v) {
		f.openGate(g)
	}
	if f.barrier && f.p.Vertices[v].Level == f.Level { // a vertex that lost a race may end before its level
		if f.LevelLeft--; f.LevelLeft == 0 {
			f.queue = append(f.queue, gate{levelGate, 0})
		}
	}
}

// openGate opens one gate of a vertex, of an else edge's source or of a branch of a join.
func (f *frame) openGate(g int32) {
	if n := int32(len(f.v)); g >= n {
		if g -= n; int(g) >= len(f.ElseGates) {
			f.openJoinGate(g - int32(len(f.ElseGates)))
		} else if f.ElseGates[g]--; f.ElseGates[g] == 0 {
			f.queue = append(f.queue, gate{elseGate, g})
		}
		return
	}
	x := &f.v[g]
	if x.Pending--; x.Pending > 0 {
		return
	}
	if f.Clean && x.Waits == 0 && !f.p.Vertices[g].Conditional && !f.Stopped && len(f.m.opts.Assume) == 0 {
		f.makeStartable(g) // decide would have the same result
		return
	}
	f.queue = append(f.queue, gate{decideGate, g})
}

// openLevel starts the next level of a run with barrier.
func (f *frame) openLevel() {
	f.Level++
	if int(f.Level) >= len(f.p.Levels)-1 {
		return
	}
	from, to := f.p.Levels[f.Level], f.p.Levels[f.Level+1]
	f.LevelLeft = 0
	for v := from; v < to; v++ {
		if f.v[v].Phase != resolved {
			f.LevelLeft++
			f.openGate(v)
		}
	}
	if f.LevelLeft == 0 {
		f.queue = append(f.queue, gate{levelGate, 0})
	}
}

// contribute resolves the slot of a vertex in each field that it may write.
func (f *frame) contribute(v int32, value func(field int32) (one any, many []any)) {
	for _, s := range f.p.Vertices[v].Writes {
		col := f.ledger.Column(int(s.Field))
		before := col.Cursor()
		one, many := value(s.Field)
		col.Resolve(int(s.Slot), one, many)
		if col.Cursor() > before {
			if f.m.assigned != nil && f.parent == nil {
				f.noteAssigned(s.Field, before, col.Cursor())
			}
			f.advance(s.Field, int32(col.Cursor()))
			f.forget(s.Field, col)
		}
	}
}

// forget drops the prefixes of a field that no reader can look at any more. It is called for each
// new prefix, so it passes each reader once.
func (f *frame) forget(field int32, col *state.Column) {
	readers, at := f.p.Readers[field], f.doneAt[field]
	for int(at) < len(readers) && f.readerDone(readers[at]) {
		at++
	}
	f.doneAt[field] = at
	k := col.Cursor()
	if int(at) < len(readers) {
		k = min(k, int(readers[at].Threshold))
	}
	col.Forget(k, false)
}

// readerDone reports whether a reader has seen all that it will ever see. An attempt that is
// retried, or reissued by a restored machine, reads again.
func (f *frame) readerDone(r plan.Reader) bool {
	switch r.Gate {
	case plan.GateDecide:
		return f.v[r.Vertex].Phase != undecided
	case plan.GateBranch:
		return f.v[f.p.Joins[f.p.JoinBranches[r.Vertex].Join].Vertex].Phase != undecided
	case plan.GateElse:
		return f.Conditions[f.p.ElseGroups[r.Vertex].Edges[0]] != notEvaluated
	}
	return f.v[r.Vertex].Phase == resolved
}

func nothing(int32) (any, []any) { return value.Missing, nil }

// advance releases the readers that waited for a prefix of a field, and the writer whose turn it
// is if the field can reject writes.
func (f *frame) advance(field, cursor int32) {
	readers := f.p.Readers[field]
	at := f.readersAt[field]
	for ; int(at) < len(readers) && readers[at].Threshold <= cursor; at++ {
		switch r := readers[at]; r.Gate {
		case plan.GateDecide:
			f.openGate(r.Vertex)
		case plan.GateElse:
			f.openGate(int32(len(f.v)) + r.Vertex)
		case plan.GateBranch:
			f.openJoinGate(r.Vertex)
		case plan.GateStart:
			x := &f.v[r.Vertex]
			if x.Waits--; x.Waits == 0 && x.Phase == willRun && !f.Stopped && !f.stopping {
				f.makeStartable(r.Vertex)
			}
		}
	}
	f.readersAt[field] = at
	if !f.p.Schema.Fields[field].MayReject {
		return
	}
	if writers := f.p.WriterVertex[field]; int(cursor) < len(writers) {
		if w := writers[cursor]; f.v[w].Phase == committing {
			f.queue = append(f.queue, gate{commitGate, w})
		}
	}
}

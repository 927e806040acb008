package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// cancellable is a task that a race may cancel. All tasks of a dag implement it.
type cancellable interface {
	cancelForRace()
	// reissueOpen issues the commands in flight again, and cancelInFlight cancels them.
	reissueOpen()
	cancelInFlight()
}

// cancelLosers cancels the vertices that lead only to the join at vertex to, whose race is
// decided. Their handlers are cancelled and awaited, their writes are dropped, and they end as
// skipped whatever their outcomes are. All are marked before the first one ends, so that the end
// of one starts none of the others.
func (f *frame) cancelLosers(vertices []int32, to int32) {
	type mark struct {
		v   int32
		was phase
	}
	var marks []mark
	for _, v := range vertices {
		x := &f.v[v]
		if x.Phase == resolved || x.Phase == beingCancelled {
			continue
		}
		marks = append(marks, mark{v, x.Phase})
		x.Phase = beingCancelled
		f.ready.remove(f.rank(v))
		f.hasSlot.remove(f.rank(v))
		f.setEndReason(v, endReason{Cause: core.Nth(int(to))})
	}
	for _, m := range marks {
		f.cancelVertex(m.v, m.was)
	}
}

// cancelVertex ends a vertex that lost a race, or cancels its handlers. The argument was is its
// previous phase.
func (f *frame) cancelVertex(v int32, was phase) {
	n := f.p.Vertices[v].Node
	switch t := f.task(v); {
	case t != nil && (was == running || was == committing):
		t.(cancellable).cancelForRace()
	case was == placing && !f.discard(f.plainID(v)): // the result is being placed, which is awaited
	case was == pausing, was == running && f.p.Nodes[n].Wait == nil:
		f.giveUp(f.plainID(v))
	default:
		f.endCancelled(v)
	}
}

// endCancelled ends a vertex that lost a race and has no handler in flight.
func (f *frame) endCancelled(v int32) {
	delete(f.Uncommitted, v)
	delete(f.Details, v)
	if f.tasks != nil {
		f.tasks[v] = nil
	}
	x := &f.v[v]
	x.Skip, x.Ended = skipRace, f.m.now
	f.contribute(v, nothing)
	f.emitSkipped(v)
	f.resolve(v, core.Skipped)
}

// raceFailure returns the failure of an item, row or round that began before its node lost a
// race.
func raceFailure() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up, because its node lost a race", Permanent: true}
}

// cancelInFlight cancels all items in flight.
func (t *fanOut) cancelInFlight() {
	if t.Pull.Open || t.Ranges.InFlight() || t.paused > 0 {
		t.f.giveUp(ID{Frame: t.f.ID, Node: t.n.Index, To: int32(t.knownItems())})
	}
}

func (t *fanOut) cancelForRace() {
	t.cancelInFlight()
	t.haltNested(t.Base)
	t.checkCancelled()
}

// checkCancelled ends the fan-out when none of its handlers runs.
func (t *fanOut) checkCancelled() {
	if t.Ranges.InFlight() || len(t.nestedItems) > 0 || t.paused > 0 || t.Pull.Open || t.f.v[t.v].Phase != beingCancelled {
		return
	}
	if t.discardFrom(t.Base) {
		return
	}
	for at := range t.Phases {
		t.emitVoidEnd(t.Base+at, raceFailure())
	}
	t.Details = nil
	t.f.endCancelled(t.v)
}

// endCancelled ends an item that was running.
func (t *fanOut) endCancelled(i int) {
	t.Phases[i-t.Base] = failed
	t.emitItemEnd(i, &Outcome{Failure: raceFailure()})
}

// cancelInFlight cancels all members of the unit in flight.
func (t *unit) cancelInFlight() {
	var nodes []int32
	if t.Pull.Open {
		nodes = append(nodes, t.u.Members[0]) // rows are read under the ID of the first member
	}
	for _, p := range t.Live {
		if n := t.node(p); p.inFlight(n) && !slices.Contains(nodes, n.Index) {
			nodes = append(nodes, n.Index)
		}
	}
	for _, n := range nodes {
		t.f.giveUp(ID{Frame: t.f.ID, Node: n, To: int32(t.Next + 1)})
	}
}

func (t *unit) cancelForRace() {
	t.cancelInFlight()
	for _, p := range slices.Clone(t.Live) {
		halt(p)
	}
	t.checkCancelled()
}

// dropCancelled ends a pass of a unit that lost a race.
func (t *unit) dropCancelled(p *pass) {
	if p.Number > 0 { // listeners wait for the end of what began
		t.f.emitMemberEnded(t.u, t.node(p), p.id(), &Outcome{Failure: raceFailure()})
	}
	t.Live = slices.DeleteFunc(t.Live, func(q *pass) bool { return q == p })
}

func (t *unit) checkCancelled() {
	if len(t.Live) == 0 && !t.Pull.Open && t.f.v[t.v].Phase == beingCancelled {
		t.f.endCancelled(t.v)
	}
}

// reissueCancelled issues the commands in flight of a vertex that lost a race again, and cancels
// them again.
func (f *frame) reissueCancelled(v int32) {
	if t := f.task(v); t != nil {
		t.(cancellable).reissueOpen()
		t.(cancellable).cancelInFlight()
		return
	}
	reissue(plainNode{f, v})
	if !f.placing(f.plainID(v)) {
		f.giveUp(f.plainID(v))
	}
}

package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file gives up what lies only on the way to a join that has run a race and is
// decided. What is in flight is cancelled and awaited; what it writes is dropped, and
// it ends as skipped whatever it comes to.

// runner is a task that may lose a race: all tasks of a dag.
type runner interface {
	lose()
	// reissueOpen issues again what is in flight, and giveUpAll cancels it.
	reissueOpen()
	giveUpAll()
}

// loseAll gives vertices up for the sake of a decided join. All are marked before one of
// them ends: its end must set no other off.
func (f *frame) loseAll(vertices []int32, to int32) {
	type mark struct {
		v   int32
		was phase
	}
	var marks []mark
	for _, v := range vertices {
		x := &f.v[v]
		if x.Phase == resolved || x.Phase == losing {
			continue
		}
		marks = append(marks, mark{v, x.Phase})
		x.Phase = losing
		f.ready.remove(f.rank(v))
		f.riding.remove(f.rank(v))
		f.setEndReason(v, endReason{Cause: core.Nth(int(to))})
	}
	for _, m := range marks {
		f.lose(m.v, m.was)
	}
}

// lose ends a vertex that lost, or what runs of it. was is how far it had come.
func (f *frame) lose(v int32, was phase) {
	n := f.p.Vertices[v].Node
	switch t := f.task(v); {
	case t != nil && (was == running || was == committing):
		t.(runner).lose()
	case was == placing && !f.discard(f.plainID(v)): // it is awaited
	case was == running && f.p.Nodes[n].Wait == nil:
		f.giveUpPlain(v)
	default:
		f.lost(v)
	}
}

// giveUpPlain cancels the attempt of a plain node.
func (f *frame) giveUpPlain(v int32) {
	w := plainNode{f, v}
	f.m.command(Command{Op: OpGiveUp, ID: w.id(), Node: w.def()})
}

// lost ends a vertex that lost and of which nothing runs any more.
func (f *frame) lost(v int32) {
	delete(f.Held, v)
	delete(f.Trails, v)
	if f.tasks != nil {
		f.tasks[v] = nil
	}
	x := &f.v[v]
	x.Skip, x.Ended = skipLost, f.m.now
	f.contribute(v, nothing)
	f.emitSkipped(v)
	f.resolve(v, core.Skipped)
}

// raced is the end of an item, row or round that began before its node lost.
func raced() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up, because its node lost a race", Permanent: true}
}

// giveUpAll cancels all items of a fan-out that are in flight.
func (t *fanOut) giveUpAll() {
	if t.Pull.Open || t.Ranges.InFlight() {
		t.f.m.command(Command{Op: OpGiveUp, ID: ID{Frame: t.f.ID, Node: t.n.Index, To: int32(t.known())}, Node: t.n})
	}
}

func (t *fanOut) lose() {
	t.giveUpAll()
	t.haltNested(t.Base)
	t.checkLost()
}

// checkLost ends the fan-out once nothing of it runs.
func (t *fanOut) checkLost() {
	if t.Ranges.InFlight() || len(t.inner) > 0 || t.Pull.Open || t.f.v[t.v].Phase != losing {
		return
	}
	if t.discardFrom(t.Base) {
		return
	}
	for at := range t.Phases {
		t.endVoid(t.Base+at, raced())
	}
	t.Trails = nil
	t.f.lost(t.v)
}

// endLost ends an item that was under way.
func (t *fanOut) endLost(i int) {
	t.Phases[i-t.Base] = failed
	t.tell(i, &Outcome{Failure: raced()})
}

// giveUpAll cancels what runs of a unit.
func (t *unit) giveUpAll() {
	var nodes []*plan.Node
	add := func(n *plan.Node) {
		if !slices.ContainsFunc(nodes, func(m *plan.Node) bool { return m.Index == n.Index }) {
			nodes = append(nodes, n)
		}
	}
	if t.Pull.Open {
		add(&t.f.p.Nodes[t.u.Members[0]]) // rows are fetched in its name
	}
	for _, p := range t.Live {
		if n := t.node(p); p.inFlight(n) {
			add(n)
		}
	}
	for _, n := range nodes {
		t.f.m.command(Command{Op: OpGiveUp, ID: ID{Frame: t.f.ID, Node: n.Index, To: int32(t.Next + 1)}, Node: n})
	}
}

func (t *unit) lose() {
	t.giveUpAll()
	for _, p := range slices.Clone(t.Live) {
		halt(p)
	}
	t.checkLost()
}

// dropLost ends a pass of a unit that lost.
func (t *unit) dropLost(p *pass) {
	if p.Number > 0 { // whoever listens waits for the end of what began
		t.f.emitMemberEnded(t.u, t.node(p), p.id(), &Outcome{Failure: raced()})
	}
	t.Live = slices.DeleteFunc(t.Live, func(q *pass) bool { return q == p })
}

func (t *unit) checkLost() {
	if len(t.Live) == 0 && !t.Pull.Open && t.f.v[t.v].Phase == losing {
		t.f.lost(t.v)
	}
}

// reissueLost issues again what is in flight of a vertex that lost, and gives it up
// again.
func (f *frame) reissueLost(v int32) {
	if t := f.task(v); t != nil {
		t.(runner).reissueOpen()
		t.(runner).giveUpAll()
		return
	}
	reissue(plainNode{f, v})
	if !f.placing(f.plainID(v)) {
		f.giveUpPlain(v)
	}
}

package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file gives up what lies only on the way to a join that has run a race and is
// decided. What is in flight is cancelled and awaited; what it writes is dropped, and
// it ends as skipped whatever it comes to.

// runner is a task that may lose a race: all tasks of a dag. lose ends all of it, and
// answerLost takes in an answer after that.
type runner interface {
	lose()
	answerLost(e *Event) bool
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
		if x.phase == resolved || x.phase == losing {
			continue
		}
		marks = append(marks, mark{v, x.phase})
		x.phase = losing
		f.ready.remove(f.rank(v))
		f.riding.remove(f.rank(v))
		f.setFate(v, fate{cause: to, edge: -1})
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
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	f.m.command(Command{Op: OpGiveUp, ID: ID{Frame: f.id, Node: n.Index, Attempt: f.v[v].attempts}, Node: n})
}

// lost ends a vertex that lost and of which nothing runs any more.
func (f *frame) lost(v int32) {
	delete(f.held, v)
	if f.tasks != nil {
		f.tasks[v] = nil
	}
	x := &f.v[v]
	x.skip, x.ended = skipLost, f.m.now
	f.contribute(v, nothing)
	f.emitSkipped(v)
	f.resolve(v, core.Skipped)
}

// landLost takes in the end of a nested run whose vertex lost.
func (f *frame) landLost(v int32, id ID) {
	switch t := f.task(v).(type) {
	case *fanOut:
		i := int(id.From)
		delete(t.nested, i)
		t.inner = slices.DeleteFunc(t.inner, func(j int) bool { return j == i })
		t.endLost(i)
		t.checkLost()
	case *unit:
		p := t.find(id)
		p.child = nil
		t.dropLost(p)
		t.checkLost()
	default:
		f.lost(v)
	}
}

// raced is the end of an item, row or round that began before its node lost.
func raced() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up, because its node lost a race", Permanent: true}
}

// giveUpAll cancels all items of a fan-out that are in flight.
func (t *fanOut) giveUpAll() {
	if t.pull.open || t.ranges.InFlight() {
		t.f.m.command(Command{Op: OpGiveUp, ID: ID{Frame: t.f.id, Node: t.n.Index, To: int32(t.known())}, Node: t.n})
	}
}

func (t *fanOut) lose() {
	t.giveUpAll()
	for _, i := range slices.Clone(t.inner) { // one that ends at once leaves the list
		if child := t.nested[i]; child != nil {
			child.stop()
			t.f.m.handOverStopped(child)
		}
	}
	t.checkLost()
}

func (t *fanOut) answerLost(e *Event) bool {
	if e.ID.Attempt == 0 {
		if !t.pull.open || e.Kind != Finished || e.ID != t.pullID() {
			return false
		}
		t.f.landed(&t.group)
		t.pull.open = false
		t.checkLost()
		return true
	}
	at := t.ranges.Find(e.ID.From)
	if at < 0 || e.ID.To <= e.ID.From || t.attempt(int(e.ID.From)) != e.ID.Attempt {
		return false
	}
	end := t.ranges.Open()[at].To
	to := min(e.ID.To, end)
	switch e.Kind {
	case Yielded:
		t.handBack(int(to), int(t.ranges.Yield(at, to)))
		return true
	case Finished:
		t.f.landed(&t.group)
		t.handBack(int(to), int(end))
		for i := e.ID.From; i < to; i++ {
			if e.Items == nil {
				t.f.dropClaim(t.id(int(i)), &e.Outcome)
			} else {
				t.f.dropClaim(t.id(int(i)), &e.Items[i-e.ID.From])
			}
			t.endLost(int(i))
		}
		t.ranges.Remove(at)
		t.checkLost()
		return true
	}
	return false
}

// checkLost ends the fan-out once nothing of it runs.
func (t *fanOut) checkLost() {
	if t.ranges.InFlight() || len(t.inner) > 0 || t.pull.open || t.f.v[t.v].phase != losing {
		return
	}
	if t.discardFrom(t.base) {
		return
	}
	for at, p := range t.phases {
		if p == itemRunning { // a timer
			t.endLost(t.base + at)
		} else {
			t.endVoid(t.base+at, raced())
		}
	}
	t.f.lost(t.v)
}

// endLost ends an item that was under way.
func (t *fanOut) endLost(i int) {
	t.phases[i-t.base] = itemFailed
	t.tell(i, &Outcome{Failure: raced()})
}

// flies reports whether a handler runs for the pass.
func (t *unit) flies(p *pass) bool {
	return p.phase == itemRunning && p.child == nil && t.node(p).Wait == nil
}

// giveUpAll cancels what runs of a unit.
func (t *unit) giveUpAll() {
	var nodes []*plan.Node
	add := func(n *plan.Node) {
		if !slices.ContainsFunc(nodes, func(m *plan.Node) bool { return m.Index == n.Index }) {
			nodes = append(nodes, n)
		}
	}
	if t.pull.open {
		add(&t.f.p.Nodes[t.u.Members[0]]) // rows are fetched in its name
	}
	for _, p := range t.live {
		if t.flies(p) {
			add(t.node(p))
		}
	}
	for _, n := range nodes {
		t.f.m.command(Command{Op: OpGiveUp, ID: ID{Frame: t.f.id, Node: n.Index, To: int32(t.next + 1)}, Node: n})
	}
}

func (t *unit) lose() {
	t.giveUpAll()
	for _, p := range slices.Clone(t.live) {
		switch {
		case p.child != nil:
			p.child.stop()
			t.f.m.handOverStopped(p.child)
		case t.f.placing(t.id(p)): // it is awaited
		case !t.flies(p):
			t.f.discard(t.id(p))
			t.dropLost(p)
		}
	}
	t.checkLost()
}

// dropLost ends a pass of a unit that lost.
func (t *unit) dropLost(p *pass) {
	if p.attempt > 0 { // whoever listens waits for the end of what began
		t.f.emitMemberEnded(t.u, t.node(p), t.id(p), &Outcome{Failure: raced()})
	}
	t.live = slices.DeleteFunc(t.live, func(q *pass) bool { return q == p })
}

func (t *unit) answerLost(e *Event) bool {
	if e.Kind != Finished {
		return false
	}
	if e.ID.Attempt == 0 {
		if !t.pull.open || e.ID != t.pullID() {
			return false
		}
		t.pull.open = false
	} else {
		p := t.find(e.ID)
		if p == nil || !t.flies(p) {
			return false
		}
		t.f.dropClaim(e.ID, &e.Outcome)
		t.dropLost(p)
	}
	t.f.landed(&t.group)
	t.checkLost()
	return true
}

func (t *unit) checkLost() {
	if len(t.live) == 0 && !t.pull.open && t.f.v[t.v].phase == losing {
		t.f.lost(t.v)
	}
}

func (t *nested) lose()                  { t.stop() }
func (t *nested) answerLost(*Event) bool { return false } // answers go to the child

// reissueLost issues again what is in flight of a vertex that lost, and gives it up
// again.
func (f *frame) reissueLost(v int32) {
	switch t := f.task(v).(type) {
	case *fanOut:
		t.reissueOpen()
		t.giveUpAll()
	case *unit:
		t.reissueOpen()
		t.giveUpAll()
	case nil:
		if f.placing(f.plainID(v)) {
			return
		}
		n := &f.p.Nodes[f.p.Vertices[v].Node]
		f.run(n, ID{Frame: f.id, Node: n.Index, Attempt: f.v[v].attempts}, f.call(n, nil), &f.group)
		f.giveUpPlain(v)
	}
}

package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Claim lists the targets that a result replaces.
type Claim struct {
	Target string `json:"target"`
	Name   string `json:"name"`
	// More are further targets that are replaced together with Target.
	More []Claim `json:"more,omitempty"`
	// Always is core.Placement.Always.
	Always bool `json:"always,omitempty"`
}

// ClaimOf returns the claim of a placement.
func ClaimOf(p *core.Placement) *Claim {
	c := &Claim{Target: p.Target, Name: p.Name, Always: p.Always}
	for _, m := range p.More {
		c.More = append(c.More, Claim{Target: m.Target, Name: m.Name})
	}
	return c
}

// all returns the claim of each target.
func (c *Claim) all() []Claim {
	return append([]Claim{{Target: c.Target, Name: c.Name}}, c.More...)
}

// execution identifies an execution within its frame. From is the item, row, round or visit.
type execution struct {
	Node int32 `json:"node"`
	From int32 `json:"from,omitempty"`
}

// claimant identifies an execution within the run, from the outermost frame inwards. All attempts
// of an execution are the same claimant.
type claimant []execution

// pendingPlace is a result that replaces a file or a table, and waits to be placed or is being
// placed. It waits, without a slot, until everything before it in canonical order is resolved:
// earlier items and rows, and earlier nodes that may replace the same target, including nodes of
// the runs around a nested one. Then it is placed, unless another execution has replaced the same
// target in this run and no path leads from one execution to the other. In that case the result
// fails and the target is not changed.
type pendingPlace struct {
	ID     ID                  `json:"id"`
	Claim  Claim               `json:"claim"`
	Issued bool                `json:"issued,omitempty"`
	Before map[string]claimant `json:"before,omitempty"` // by target: the claimant before this one
}

// prepare makes a result wait for its turn to be placed.
func (f *frame) prepare(v int32, id ID, c *Claim) {
	if f.pending == nil {
		f.pending = map[ID]*pendingPlace{}
	}
	f.pending[id] = &pendingPlace{ID: id, Claim: *c}
	if at, ok := slices.BinarySearch(f.pendingVertices, v); !ok {
		f.pendingVertices = slices.Insert(f.pendingVertices, at, v)
	}
	if !slices.Contains(f.m.pendingFrames, f) {
		f.m.pendingFrames = append(f.m.pendingFrames, f)
	}
}

// discard drops a result that waits, and reports whether it did; a result that is being placed is
// awaited instead. If the run was stopped, a claim with Always is placed by the same command,
// because no later execution can claim the target any more.
func (f *frame) discard(id ID) bool {
	p := f.pending[id]
	if p == nil || p.Issued {
		return false
	}
	keep := false
	if p.Claim.Always && f.Stopped {
		who := f.claimant(id)
		if _, _, taken := f.m.conflictingClaim(&p.Claim, who); !taken {
			keep = true
			f.m.claim(&p.Claim, who)
		}
	}
	f.m.command(Command{Op: OpDiscard, ID: id, Plan: f.p, Node: &f.p.Nodes[id.Node], Keep: keep})
	f.forgetPending(id)
	return true
}

// conflictingClaim returns the name of the first target that another execution has replaced
// although no path leads from one execution to the other, and that execution.
func (m *Machine) conflictingClaim(c *Claim, who claimant) (name string, by claimant, taken bool) {
	for _, t := range c.all() {
		if other, ok := m.claims[t.Target]; ok && m.conflict(other, who) {
			return t.Name, other, true
		}
	}
	return "", nil, false
}

// claim records the claims on all targets, and returns the claims that it replaces.
func (m *Machine) claim(c *Claim, who claimant) (before map[string]claimant) {
	if m.claims == nil {
		m.claims = map[string]claimant{}
	}
	for _, t := range c.all() {
		if other, ok := m.claims[t.Target]; ok {
			if before == nil {
				before = map[string]claimant{}
			}
			before[t.Target] = other
		}
		m.claims[t.Target] = who
	}
	return before
}

func (f *frame) forgetPending(id ID) {
	delete(f.pending, id)
	if len(f.pending) == 0 {
		f.pendingVertices = f.pendingVertices[:0]
		f.m.pendingFrames = slices.DeleteFunc(f.m.pendingFrames, func(g *frame) bool { return g == f })
	}
}

// placing reports whether a result is being placed.
func (f *frame) placing(id ID) bool {
	p := f.pending[id]
	return p != nil && p.Issued
}

// place decides about all results whose turn has come.
func (m *Machine) place() {
	for again := len(m.pendingFrames) > 0; again; {
		again = false
		for _, f := range slices.Clone(m.pendingFrames) {
			for _, v := range slices.Clone(f.pendingVertices) {
				for !f.Stopped {
					id, ok := f.dueToPlace(v)
					if !ok {
						break
					}
					again = true
					if f.decideClaim(id) {
						break
					}
				}
			}
		}
	}
}

// dueToPlace returns the ID of the result of a vertex whose turn to be placed has come.
func (f *frame) dueToPlace(v int32) (id ID, ok bool) {
	id, ok = f.plainID(v), true
	if t, many := f.task(v).(placer); many {
		id, ok = t.dueToPlace()
	}
	p := f.pending[id]
	return id, ok && p != nil && !p.Issued && f.mayPlaceVertex(v)
}

// placer is a task with several executions that replace targets.
type placer interface {
	// dueToPlace returns the first execution whose result waits and whose turn has come.
	dueToPlace() (ID, bool)
}

// mayPlaceVertex reports whether all claimers are resolved that a vertex has to wait for, in this
// frame and the frames around it.
func (f *frame) mayPlaceVertex(v int32) bool {
	all := f.p.Claimers
	for f.claimCursor < len(all) && f.v[all[f.claimCursor].Vertex].Phase == resolved {
		f.claimCursor++
	}
	own, found := slices.BinarySearchFunc(all, v, func(c plan.Claimer, v int32) int { return cmp.Compare(c.Vertex, v) })
	if found && f.claimCursor < int(all[own].After) {
		return false
	}
	return f.parent == nil || f.parent.executionMayPlace(f.Owner)
}

// executionMayPlace is mayPlaceVertex for an execution and what is nested in it.
func (f *frame) executionMayPlace(id ID) bool {
	return f.find(id).mayPlace() && f.mayPlaceVertex(f.p.Nodes[id.Node].Vertex)
}

// firstOpen returns the first item that has not ended.
func (t *fanOut) firstOpen() int {
	t.endedPrefix = max(t.endedPrefix, t.Base)
	for t.endedPrefix < t.knownItems() && (t.Phases[t.endedPrefix-t.Base] == succeeded || t.Phases[t.endedPrefix-t.Base] == failed) {
		t.endedPrefix++
	}
	return t.endedPrefix
}

func (t *fanOut) dueToPlace() (ID, bool) {
	i := t.firstOpen()
	if i >= t.knownItems() || t.Phases[i-t.Base] != placing {
		return ID{}, false
	}
	return t.id(i), true
}

func (t *unit) dueToPlace() (ID, bool) {
	at := slices.IndexFunc(t.Live, func(p *pass) bool { return p.Phase == placing && t.passMayPlace(p.N) && !t.f.placing(p.id()) })
	if at < 0 {
		return ID{}, false
	}
	return t.Live[at].id(), true
}

// passMayPlace reports whether all passes before n are past the last member that replaces a
// target.
func (t *unit) passMayPlace(n int) bool {
	return !slices.ContainsFunc(t.Live, func(p *pass) bool { return p.N < n && p.Place <= int(t.u.LastClaim) })
}

// decideClaim issues the command that places a result, or fails the result if another execution
// has claimed its target. It reports whether it issued the command.
func (f *frame) decideClaim(id ID) (issued bool) {
	p := f.pending[id]
	who := f.claimant(id)
	if name, other, taken := f.m.conflictingClaim(&p.Claim, who); taken {
		f.discard(id)
		fail := &core.Failure{Class: core.ClassWrite, Permanent: true,
			Message: fmt.Sprintf("%s: %s has written it in this run already", name, f.m.claimantName(other))}
		f.placed(&Event{ID: id, Ended: f.m.now, Outcome: Outcome{Failure: fail}})
		f.propagate()
		f.m.notifyParents(f)
		return false
	}
	p.Before = f.m.claim(&p.Claim, who)
	p.Issued = true
	f.issuePlace(id)
	return true
}

func (f *frame) issuePlace(id ID) {
	f.inFlight++
	f.find(id).group().acquire()
	f.m.command(Command{Op: OpPlace, ID: id, Plan: f.p, Node: &f.p.Nodes[id.Node], Call: newCall(CallContext{Path: f.Path})})
}

// placements returns the pending results, sorted by ID.
func (f *frame) placements() []*pendingPlace {
	return slices.SortedFunc(maps.Values(f.pending), func(a, b *pendingPlace) int { return a.ID.compare(b.ID) })
}

func (f *frame) restorePending(list []*pendingPlace) {
	for _, p := range list {
		f.prepare(f.p.Nodes[p.ID.Node].Vertex, p.ID, &p.Claim)
		f.pending[p.ID] = p
	}
}

// reissuePlaces issues the commands again that place results.
func (f *frame) reissuePlaces() {
	for _, p := range f.placements() {
		if p.Issued {
			f.issuePlace(p.ID)
		}
	}
}

// answerPlaced handles the answer to a command that places a result.
func (f *frame) answerPlaced(e *Event) bool {
	p := f.pending[e.ID]
	if p == nil || !p.Issued {
		return false
	}
	f.forgetPending(e.ID)
	f.inFlight--
	f.find(e.ID).group().release()
	if e.Outcome.Failure != nil || e.Kind == Gone {
		for _, c := range p.Claim.all() {
			delete(f.m.claims, c.Target)
		}
		maps.Copy(f.m.claims, p.Before)
	}
	switch {
	case e.Kind == Placed:
		f.placed(e)
	case f.Stopped || f.v[f.p.Nodes[e.ID.Node].Vertex].Phase == beingCancelled:
		f.placed(&Event{ID: e.ID, Ended: e.Ended, Outcome: Outcome{Failure: cancelled()}})
	default:
		f.prepareAgain(e.ID)
	}
	return true
}

// prepareAgain issues a handler again whose prepared result was lost, for example after a crash.
func (f *frame) prepareAgain(id ID) {
	w := f.find(id)
	a := w.load()
	a.Phase = running
	w.store(a)
	call, _ := w.capture()
	w.run(call)
}

// placed continues an execution whose result was placed, or could not be placed.
func (f *frame) placed(e *Event) {
	w := f.find(e.ID)
	invariant(w != nil, "a result of nothing, %v", e.ID)
	a := w.load()
	a.Phase = running
	w.store(a)
	attemptEnded(w, &e.Outcome, e.Ended)
	w.afterAnswer()
}

// claimant returns the claimant of an execution.
func (f *frame) claimant(id ID) claimant {
	var who claimant
	if f.parent != nil {
		who = f.parent.claimant(f.Owner)
	}
	return append(who, execution{id.Node, id.From})
}

// conflict reports whether no path leads from one execution to the other. Items of a node and
// rows of a pipeline conflict; rounds, visits and attempts do not.
func (m *Machine) conflict(a, b claimant) bool {
	p := m.root.p
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			if n := &p.Nodes[x.Node]; n.Frame != nil {
				p = n.Frame.Plan
			}
			continue
		}
		if p.Mode.Visits {
			return false
		}
		v, w := p.Nodes[x.Node].Vertex, p.Nodes[y.Node].Vertex
		switch u := p.Vertices[v].Unit; {
		case v != w:
			return !p.Precedes(min(v, w), max(v, w))
		case u == nil:
			return true
		default:
			return !u.IsLoop && x.From != y.From
		}
	}
	return false
}

// claimantName returns the path of an execution for messages.
func (m *Machine) claimantName(who claimant) string {
	p, name := m.root.p, ""
	for i, s := range who {
		n := &p.Nodes[s.Node]
		if i > 0 {
			name += "/"
		}
		name += n.ID
		if u := p.Vertices[n.Vertex].Unit; n.Source != nil || u != nil && !u.IsLoop && !p.Mode.Visits {
			name += fmt.Sprintf("[%d]", s.From)
		}
		if n.Frame != nil {
			p = n.Frame.Plan
		}
	}
	return name
}

// voidClaims drops the claims of an execution that failed, and of the executions nested in it.
// Executions that are cancelled because the frame stops keep their claims, so that no later
// execution replaces their targets.
func (f *frame) voidClaims(id ID) {
	if len(f.m.claims) == 0 || f.Stopped {
		return
	}
	who := f.claimant(id)
	for target, other := range f.m.claims {
		if len(other) >= len(who) && slices.Equal(other[:len(who)], who) {
			delete(f.m.claims, target)
		}
	}
}

// hasPending reports whether a frame, or a frame nested in it, has a pending result.
func (f *frame) hasPending() bool {
	if len(f.pending) > 0 {
		return true
	}
	return slices.ContainsFunc(f.m.pendingFrames, func(g *frame) bool {
		for ; g != nil; g = g.parent {
			if g == f {
				return true
			}
		}
		return false
	})
}

// plainID returns the ID of the latest attempt of a plain node.
func (f *frame) plainID(v int32) ID {
	id := ID{Frame: f.ID, Node: f.p.Vertices[v].Node, Attempt: f.v[v].Attempts}
	if f.pausing(v) {
		id.Attempt = PauseAttempt
	}
	return id
}

// dropClaim drops what an attempt has prepared, because its outcome no longer counts.
func (f *frame) dropClaim(id ID, o *Outcome) {
	if o.Claim != nil {
		f.m.command(Command{Op: OpDiscard, ID: id, Plan: f.p, Node: &f.p.Nodes[id.Node]})
	}
}

// discardFrom drops the pending results of the items from one on. It reports whether one is being
// placed, which is awaited.
func (t *fanOut) discardFrom(from int) (awaited bool) {
	if len(t.f.pending) == 0 {
		return false
	}
	for i := max(from, t.Base); i < t.knownItems(); i++ {
		if p := &t.Phases[i-t.Base]; *p == placing {
			if t.f.discard(t.id(i)) {
				*p = waiting
			} else {
				awaited = true
			}
		}
	}
	return awaited
}

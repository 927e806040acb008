package verify

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// changed handles an accepted change of the graph: it is made again, so that the log is
// checked against the graph of the run from there on.
func (t *walk) changed(n *plan.Node) {
	c, s := t.f.c, t.stepped
	if t.at(n) == nil {
		c.breaks(Lifecycle, "visit %d changes the graph and is not in progress", c.e.Visit)
	}
	s.accepted++
	if w := t.f.p.Walk.Steps; w.Fixed || s.accepted > w.MaxMutations {
		c.breaks(Limits, "is change %d of the graph, and the run may make %d (self_modification: %t)", s.accepted, w.MaxMutations, !w.Fixed)
	}
	if hasSecret(c.e.Values) {
		c.unchecked(Routes, "a change of the graph in which a secret is hidden, and what follows from it")
		return
	}
	if t.accepts(n) {
		return
	}
	p, err := t.f.p.Changed(t.mutation(), t.f.c.addedKinds())
	if err != nil {
		c.breaks(Routes, "the change %s was accepted, and it is not possible: %v", c.e.Step, err)
		return
	}
	t.f.p, t.w = p, p.Walk
	for len(t.visits) < len(p.Nodes) {
		t.visits, t.jumps = append(t.visits, 0), append(t.jumps, 0)
	}
}

// addedKinds returns the kinds of nodes that the run may add.
func (c *Checker) addedKinds() []string {
	if c.limits == nil {
		return nil
	}
	return c.limits.AddedKinds
}

// accepts notes a jump that was accepted. It returns false for other changes.
func (t *walk) accepts(n *plan.Node) bool {
	c, s := t.f.c, t.stepped
	switch c.e.Step {
	case core.MutationSkipTo:
		if _, ok := t.f.p.Lookup(c.e.To); !ok && c.e.To != core.EndNode {
			c.breaks(Routes, "a jump to %q was accepted, which is not a node%s", c.e.To, near(c.e.To, t.names()))
		}
	case core.MutationRetryWith:
		if s.updated = true; c.e.To != n.ID {
			c.breaks(Routes, "%s leads to %s, want %s", c.e.Step, c.e.To, n.ID)
		}
	default:
		return false
	}
	s.jump = c.e.To
	return true
}

// mutation returns the change that the current event is about.
func (t *walk) mutation() core.Mutation {
	e := t.f.c.e
	m := core.Mutation{Action: e.Step, From: e.From, To: e.To}
	node, _ := e.Values.Get("node")
	config, _ := e.Values.Get("config")
	m.Node, _ = node.(string)
	m.Config, _ = config.(*value.Object)
	return m
}

// rejected checks that a change that was rejected is not possible.
func (t *walk) rejected(n *plan.Node) {
	c, w := t.f.c, t.f.p.Walk.Steps
	if t.at(n) == nil {
		c.breaks(Lifecycle, "visit %d asks for a change of the graph and is not in progress", c.e.Visit)
	}
	if w.Fixed || t.stepped.accepted >= w.MaxMutations || hasSecret(c.e.Values) {
		return
	}
	possible := false
	switch c.e.Step {
	case core.MutationSkipTo:
		_, possible = t.f.p.Lookup(c.e.To)
		possible = possible || c.e.To == core.EndNode
	case core.MutationRetryWith:
		c.unchecked(Routes, "that the state rejects an update that was rejected: the log does not contain the state")
		return
	case core.MutationAddNode:
		m := t.mutation()
		if m.Config == nil {
			return
		}
		_, err := t.f.p.Changed(m, t.f.c.addedKinds())
		possible = err == nil
	default:
		_, err := t.f.p.Changed(t.mutation(), t.f.c.addedKinds())
		possible = err == nil
	}
	if possible {
		c.breaks(Routes, "the change %s was rejected, and it is possible: %s", c.e.Step, c.e.Reason)
	}
}

// hookWrites reports whether an event is a write outside of a visit in progress: of a hook
// before it, or of an update that came with a jump.
func (t *walk) hookWrites(n *plan.Node) bool {
	if t.stepped == nil || t.f.c.e.Type != core.StateWritten {
		return false
	}
	field, ok := t.field()
	if !ok || !t.mayUpdate(n) {
		return false
	}
	t.f.writes[field].count++
	return true
}

// mayUpdate reports whether fields may be written that the node does not declare.
func (t *walk) mayUpdate(n *plan.Node) bool {
	return t.stepped != nil && (n.Decl.Before != nil || t.stepped.updated)
}

// stepEvent handles the events that only walks by steps have.
func (t *walk) stepEvent(n *plan.Node) {
	c := t.f.c
	switch {
	case t.stepped == nil:
		c.breaks(Lifecycle, "%s in a walk that is not by steps", c.e.Type)
	case c.e.Type == core.GraphChanged:
		t.changed(n)
	case c.e.Type == core.GraphRejected:
		t.rejected(n)
	case c.e.Result == nil || *c.e.Result: // a condition that panicked
		c.breaks(Routes, "the condition on %s -> %s panicked, and the log does not say that it does not hold", c.e.From, c.e.To)
	}
}

// stepBegins checks the limits of the visits.
func (t *walk) stepBegins(v *visit) {
	c, s := t.f.c, t.stepped
	s.last = v
	if s.visits++; s.visits > t.maxVisits() {
		c.breaks(Limits, "is visit %d of the walk, which may make %d", s.visits, t.maxVisits())
	}
	if limit := t.f.p.StepsOf(v.node).Budget; v.n > limit {
		c.breaks(Limits, "is visited %s, its limit is %d", count(v.n, "time"), limit)
	}
}

// field returns the index of the field that the current event is about. An open state has one
// field, whose members the log names as if they were fields.
func (t *walk) field() (int, bool) {
	if t.f.p.Open() {
		return int(t.w.Context), true
	}
	return t.f.p.Schema.Index(t.f.c.e.Field)
}

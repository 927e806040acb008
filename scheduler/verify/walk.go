package verify

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file follows a walk visit by visit; the way on after each is checked in routes.go,
// parallel nodes in forks.go.

// walk is how far a walk has come.
type walk struct {
	f     *frame
	w     *plan.Walk
	group group

	visits []int    // by node: how many have begun
	live   []*visit // under way, the token's and those of branches
	due    int32    // the node that the token comes to next, -1 while it is at one
	left   *visit   // the token's last visit, which has ended and whose way on is not told yet
	seen   stage    // the last stage: no conditional, unless it is the first node of a walk begun anew
	gates  []gate   // goal gates in order of their first end
	jumps  []int    // by node: how often a goal gate has sent the walk back
	// blocked tells that a restart was chosen that the walk may not make, cancelled that
	// a visit ended because the run did.
	blocked, cancelled bool
	reached            bool    // the exit
	routed             *routed // of a walk that a model routes, else nil
}

// visit is a visit under way.
type visit struct {
	node    int32
	n       int // which one of the node
	parent  *visit
	phase   phase
	attempt int
	holds   bool
	backoff backoff
	inner   *frame
	fork    *fork // of a parallel node
	status  core.Status
	lifted  bool // a setting made the status what it is
}

// stage is how a stage ended, as the edges behind it see it.
type stage struct {
	status    core.Status // StatusNone before the first one
	transient bool
}

// gate is a goal gate with the status of its last visit.
type gate struct {
	node   int32
	status core.Status
}

func newWalk(f *frame) *walk {
	w := f.p.Walk
	t := &walk{f: f, w: w, visits: make([]int, len(f.p.Nodes)), jumps: make([]int, len(f.p.Nodes)), due: w.Start}
	t.group = group{parent: &f.group, name: "the walk"}
	f.writes[w.Context].count++ // the engine writes it, too
	f.v[0].phase = running
	if w.Routed {
		t.routed = newRouted(f.p)
	}
	return t
}

func (t *walk) id(node int32) string { return t.f.p.Nodes[node].ID }

// at returns the visit that an event is about, nil if none of its number is under way.
func (t *walk) at(n *plan.Node) *visit {
	i := slices.IndexFunc(t.live, func(v *visit) bool { return v.node == n.Index && v.n == t.f.c.e.Visit })
	if i < 0 {
		return nil
	}
	return t.live[i]
}

// event takes in an event of a node.
func (t *walk) event(n *plan.Node) {
	c := t.f.c
	switch c.e.Type {
	case core.NodeStarted:
		t.started(n)
		return
	case core.EdgeChosen:
		t.chosen(n)
		return
	case core.NodeSkipped:
		t.branchSkipped(n)
		return
	case core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.StateWritten, core.JoinDecided, core.NodeAsked, core.NodeAnswered:
	default:
		c.breaks(Lifecycle, "%s in a walk", c.e.Type)
		return
	}
	v := t.at(n)
	if v == nil {
		c.breaks(Lifecycle, "%s of visit %d, which is not in progress", c.e.Type, c.e.Visit)
		return
	}
	switch c.e.Type {
	case core.NodeRetrying:
		t.retrying(v, n)
	case core.NodeFinished, core.NodeFailed:
		t.ended(v, n)
	case core.StateWritten:
		t.written(v, n)
	case core.JoinDecided:
		t.decided(v)
	default:
		if !n.Asks {
			c.breaks(Lifecycle, "%s, but it asks no person", c.e.Type)
		}
	}
}

func (t *walk) started(n *plan.Node) {
	c := t.f.c
	v := t.at(n)
	switch {
	case v == nil:
		v = t.begins(n)
	case v.phase == waiting:
		t.f.waited(&v.backoff)
	default:
		c.breaks(Lifecycle, "begins visit %d again", v.n)
		return
	}
	v.phase, v.backoff = running, backoff{}
	v.attempt = t.f.attempt(n, v.attempt)
	if t.w.Nodes[n.Index].Parallel != nil {
		v.fork = &fork{}
	}
	if n.Handler != nil && n.Frame == nil && n.Wait == nil && !n.Asks {
		v.holds = true
		t.f.acquire(&t.group)
	}
}

// begins begins a visit, of the token or of a branch.
func (t *walk) begins(n *plan.Node) *visit {
	c := t.f.c
	i := n.Index
	t.visits[i]++
	v := &visit{node: i, n: c.e.Visit}
	if v.n != t.visits[i] {
		c.breaks(Lifecycle, "begins visit %d, want visit %d", v.n, t.visits[i])
		t.visits[i] = v.n
	}
	t.live = append(t.live, v)
	if c.e.Unit != "" {
		t.branchBegins(v, n)
		return v
	}
	switch {
	case t.due == i:
	case t.due >= 0:
		c.breaks(Order, "begins, and the walk is on its way to %s", t.id(t.due))
	case t.left != nil:
		c.breaks(Order, "begins, but no event shows the path from %s", t.id(t.left.node))
	default:
		c.breaks(Order, "begins while the walk is elsewhere")
	}
	if t.routed != nil {
		if t.routed.visits++; t.routed.visits > t.mostVisits() {
			c.breaks(Limits, "is visit %d of the walk, which may make %d", t.routed.visits, t.mostVisits())
		}
	}
	if most := t.w.Nodes[i].MaxVisits; most > 0 && v.n > most {
		c.breaks(Limits, "is visited %s, max_visits is %d", count(v.n, "time"), most)
	}
	if g := t.unsatisfied(); i == t.w.Exit && g >= 0 {
		c.breaks(Routes, "the walk ends although the goal gate %s ended %s", t.id(t.gates[g].node), t.gates[g].status)
	}
	t.due, t.left = -1, nil
	return v
}

func (t *walk) retrying(v *visit, n *plan.Node) {
	if v.phase != running {
		t.f.c.breaks(Lifecycle, "is to be tried again while it waits for another attempt")
		return
	}
	t.f.failedAttempt(n, v.attempt)
	t.closes(v)
	v.phase, v.backoff, v.fork = waiting, backoff{t.f.c.e.Time, t.f.c.e.Delay}, nil
}

// closes ends what an attempt has of slots and nested runs.
func (t *walk) closes(v *visit) {
	if v.holds {
		v.holds = false
		t.f.free(&t.group)
	}
	if v.inner != nil {
		fail := t.f.c.e.Error
		if fail == nil && t.f.c.e.Type != core.NodeFinished {
			fail = &core.Failure{} // one that is not told
		}
		v.inner.close(fail)
		v.inner = nil
	}
}

func (t *walk) ended(v *visit, n *plan.Node) {
	e := t.f.c.e
	failed := e.Type == core.NodeFailed
	_ = v.status.UnmarshalText([]byte(e.Status)) // an unknown status fits no end
	if ok := v.status.Succeeded() || v.status == core.Skipped; ok == failed || failed && v.status != core.Fail {
		t.f.c.breaks(Statuses, "%s with the status %q", e.Type, e.Status)
		if v.status = core.Success; failed {
			v.status = core.Fail
		}
	}
	v.lifted = !failed && e.Reason != ""
	stopped := e.Error != nil && e.Error.Class == core.ClassCanceled
	if v.phase != running && !stopped {
		t.f.c.breaks(Lifecycle, "ends while it waits for another attempt")
	}
	if stopped && !lost(v) {
		t.cancelled = true
		t.f.doubt(e.Node, Lifecycle, "is cancelled, but nothing has stopped the run")
	}
	if failed {
		t.f.lastAttempt(n, v.attempt)
	}
	if v.fork != nil {
		t.forkEnds(v, n)
	}
	t.closes(v)
	t.live = slices.DeleteFunc(t.live, func(u *visit) bool { return u == v })
	t.f.c.report.Nodes++
	if v.parent != nil {
		t.branchEnds(v)
		return
	}
	t.left = v
	t.note(v)
}

// note keeps what the way on depends on.
func (t *walk) note(v *visit) {
	if t.routed != nil {
		t.noteRouted(v)
		return
	}
	n := &t.w.Nodes[v.node]
	if n.GoalGate {
		if i := slices.IndexFunc(t.gates, func(g gate) bool { return g.node == v.node }); i >= 0 {
			t.gates[i].status = v.status
		} else {
			t.gates = append(t.gates, gate{v.node, v.status})
		}
	}
	if fail := t.f.c.e.Error; n.Role != core.RoleConditional || t.seen.status == core.StatusNone {
		t.seen = stage{v.status, fail != nil && fail.InCategory() == core.TransientInfra}
	}
	if v.node == t.w.Exit {
		t.reached = true
	}
}

// written takes in a write of a visit: of a parallel node those of its branches.
func (t *walk) written(v *visit, n *plan.Node) {
	c := t.f.c
	field, ok := t.f.p.Schema.Index(c.e.Field)
	switch {
	case !ok:
		c.breaks(Writes, "writes %s, which it does not declare%s", c.e.Field, near(c.e.Field, t.f.p.Schema.FieldNames()))
		return
	case v.parent != nil:
		c.breaks(Writes, "writes %s, and it is a branch: its parallel node writes what it leaves", c.e.Field)
	case v.phase != running:
		c.breaks(Writes, "writes %s while it waits for another attempt", c.e.Field)
	case int32(field) != t.w.Context && !t.declares(n, c.e.Field):
		c.breaks(Writes, "writes %s, which it does not declare%s", c.e.Field, near(c.e.Field, n.Writes))
	}
	w := &t.f.writes[field]
	w.count++
	if t.f.p.Schema.Fields[field].Strategy().Name != "set_once" {
		return
	}
	if w.set != "" {
		c.breaks(Writes, "writes %s, which is set once and has its value from %s", c.e.Field, w.set)
	}
	if !c.e.Null {
		w.set = c.e.Node
	}
}

// declares reports whether a node, or one of its branches, writes a field.
func (t *walk) declares(n *plan.Node, field string) bool {
	if slices.Contains(n.Writes, field) {
		return true
	}
	p := t.w.Nodes[n.Index].Parallel
	return p != nil && slices.ContainsFunc(p.Branches, func(b int32) bool { return t.declares(&t.f.p.Nodes[b], field) })
}

// nested opens the nested run of a visit at its first event: the log tells its path then.
func (t *walk) nested(outer string) *frame {
	name, _, _ := strings.Cut(outer[strings.LastIndexByte(outer, '/')+1:], "[")
	for _, v := range t.live {
		if n := &t.f.p.Nodes[v.node]; n.ID == name && n.Frame != nil && v.inner == nil && v.phase == running {
			v.inner = t.f.nest(n, outer, &t.group)
			return v.inner
		}
	}
	return nil
}

// end checks that the walk may be over as it is.
func (t *walk) end(stopped bool) {
	for _, v := range t.live {
		t.f.faultOf(t.f.name(t.id(v.node)), Lifecycle, "visit %d began and has no end", v.n)
	}
	t.f.v[0].phase = resolved
	if t.stalled() {
		t.f.doubts = nil
	}
	if stopped || t.cancelled || t.reached {
		return
	}
	if t.routed != nil {
		t.endRouted()
		return
	}
	switch {
	case t.due == t.w.Exit && t.unsatisfied() < 0 && !t.blocked:
		t.f.faultOf(t.f.name(t.id(t.due)), Routes, "the walk was on its way there when it ended")
	case t.due >= 0 && t.due != t.w.Exit && !t.blocked && !t.limited(t.due):
		t.f.faultOf(t.f.name(t.id(t.due)), Routes, "the walk was on its way there when it ended")
	case t.left != nil && t.mustGoOn(t.left):
		t.f.faultOf(t.f.name(t.id(t.left.node)), Routes, "the walk ended there although it ended %s and has an edge to follow", t.left.status)
	}
}

// stalled reports whether the walk was given up because there was no sign of life.
func (t *walk) stalled() bool {
	return t.w.StallTimeout > 0 && strings.HasSuffix(t.f.c.e.Reason, "no sign of life for "+t.w.StallTimeout.String())
}

// limited reports whether a node may not be visited any more.
func (t *walk) limited(node int32) bool {
	most := t.w.Nodes[node].MaxVisits
	return most > 0 && t.visits[node] >= most
}

// status is how the walk ended, as far as the log tells.
func (t *walk) status() core.RunStatus {
	if t.routed != nil {
		return t.routedStatus()
	}
	if t.reached {
		return core.RunSuccess
	}
	return core.RunFailed
}

package verify

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walk is the progress of a walk, from visit to visit.
type walk struct {
	f     *frame
	w     *plan.Walk
	group group

	visits    []int    // by node: the number of visits that began
	live      []*visit // the visits in progress: of the token and of branches
	next      int32    // the next node of the token, -1 while it is at a node
	pending   *visit   // the token's last visit, if it has ended and no edge has been chosen yet
	lastStage stage    // the last stage; a conditional node counts only if it is the first since the walk began or restarted
	gates     []gate   // goal gates in the order in which they first ended
	jumps     []int    // by node: how often a goal gate has sent the walk back
	// restartRejected means that a chosen loop restart is not allowed. cancelled means
	// that a visit was cancelled together with the run.
	restartRejected, cancelled bool
	reachedExit                bool     // the exit was visited
	routed                     *routed  // nil unless a model routes the walk
	stepped                    *stepped // nil unless the walk is by steps
}

// visit is a visit in progress.
type visit struct {
	node    int32
	def     *plan.Node // as it was when the visit began: a walk by steps may replace the node meanwhile
	n       int        // the number of the visit to this node, from 1
	parent  *visit
	phase   phase
	attempt int
	hasSlot bool
	backoff backoff
	inner   *frame
	fork    *fork // of a parallel node
	status  core.Status
	lifted  bool // a setting such as auto_status replaced the status
}

// stage is the result of a stage as seen by the edges that follow it.
type stage struct {
	status    core.Status // StatusNone before the first stage
	transient bool
}

// gate is a goal gate with the status of its last visit.
type gate struct {
	node   int32
	status core.Status
}

func newWalk(f *frame) *walk {
	w := f.p.Walk
	t := &walk{f: f, w: w, visits: make([]int, len(f.p.Nodes)), jumps: make([]int, len(f.p.Nodes)), next: w.Start}
	t.group = group{parent: &f.group, name: "the walk"}
	if w.Context >= 0 {
		f.writes[w.Context].count++ // the engine writes the context too
	}
	f.v[0].phase = running
	if w.Routed {
		t.routed = newRouted(f.p)
	}
	if w.Steps != nil {
		t.stepped = &stepped{}
	}
	return t
}

func (t *walk) id(node int32) string { return t.f.p.Nodes[node].ID }

// at returns the visit that an event belongs to, or nil if it is not in progress.
func (t *walk) at(n *plan.Node) *visit {
	i := slices.IndexFunc(t.live, func(v *visit) bool { return v.node == n.Index && v.n == t.f.c.e.Visit })
	if i < 0 {
		return nil
	}
	return t.live[i]
}

// event handles an event of a node.
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
	case core.GraphChanged, core.GraphRejected, core.EdgeJudged:
		t.stepEvent(n)
		return
	case core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.StateWritten, core.JoinDecided, core.NodeAsked, core.NodeAnswered:
	default:
		c.breaks(Lifecycle, "%s in a walk", c.e.Type)
		return
	}
	v := t.at(n)
	if asks := c.e.Type == core.NodeAsked || c.e.Type == core.NodeAnswered; v == nil && asks && n.Pause == plan.PauseBefore {
		return // the visit begins when a person lets it continue
	}
	if v == nil && t.hookWrites(n) {
		return
	}
	if v == nil {
		c.breaks(Lifecycle, "%s of visit %d, which is not in progress", c.e.Type, c.e.Visit)
		return
	}
	switch c.e.Type {
	case core.NodeRetrying:
		t.retrying(v)
	case core.NodeFinished, core.NodeFailed:
		t.ended(v)
	case core.StateWritten:
		t.written(v)
	case core.JoinDecided:
		t.decided(v)
	default:
		t.f.asks(n)
	}
}

func (t *walk) started(n *plan.Node) {
	c := t.f.c
	v := t.at(n)
	switch {
	case v == nil:
		v = t.begins(n)
	case v.phase == waiting:
		t.f.checkWait(&v.backoff)
	default:
		c.breaks(Lifecycle, "begins visit %d again", v.n)
		return
	}
	v.phase, v.backoff = running, backoff{}
	v.attempt = t.f.attempt(n, v.attempt)
	if t.w.Nodes[n.Index].Parallel != nil {
		v.fork = &fork{}
	}
	if holdsSlots(n) && n.Pause != plan.PauseAfter { // the log does not show when a handler before a pause releases its slot
		v.hasSlot = true
		t.f.acquire(&t.group)
	}
}

// begins begins a visit of the token or of a branch.
func (t *walk) begins(n *plan.Node) *visit {
	c := t.f.c
	i := n.Index
	t.visits[i]++
	v := &visit{node: i, def: n, n: c.e.Visit}
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
	case t.next == i:
	case t.next >= 0:
		c.breaks(Order, "begins, and the walk is on its way to %s", t.id(t.next))
	case t.pending != nil:
		c.breaks(Order, "begins, but no event shows the path from %s", t.id(t.pending.node))
	default:
		c.breaks(Order, "begins while the walk is elsewhere")
	}
	if t.routed != nil {
		if t.routed.visits++; t.routed.visits > t.maxVisits() {
			c.breaks(Limits, "is visit %d of the walk, which may make %d", t.routed.visits, t.maxVisits())
		}
	}
	if t.stepped != nil {
		t.stepBegins(v)
	}
	if limit := t.w.Nodes[i].MaxVisits; limit > 0 && v.n > limit {
		c.breaks(Limits, "is visited %s, max_visits is %d", count(v.n, "time"), limit)
	}
	if g := t.unsatisfied(); i == t.w.Exit && g >= 0 {
		c.breaks(Routes, "the walk ends although the goal gate %s ended %s", t.id(t.gates[g].node), t.gates[g].status)
	}
	t.next, t.pending = -1, nil
	return v
}

func (t *walk) retrying(v *visit) {
	if v.phase != running {
		t.f.c.breaks(Lifecycle, "is to be tried again while it waits for another attempt")
		return
	}
	t.f.failedAttempt(v.def, v.attempt)
	t.closes(v)
	v.phase, v.backoff, v.fork = waiting, backoff{t.f.c.e.Time, t.f.c.e.Delay}, nil
}

// closes releases the slot of an attempt and ends its nested run.
func (t *walk) closes(v *visit) {
	if v.hasSlot {
		v.hasSlot = false
		t.f.free(&t.group)
	}
	if v.inner != nil {
		fail := t.f.c.e.Error
		if fail == nil && t.f.c.e.Type != core.NodeFinished {
			fail = &core.Failure{} // the event lacks the failure
		}
		v.inner.close(fail)
		v.inner = nil
	}
}

func (t *walk) ended(v *visit) {
	e := t.f.c.e
	failed := e.Type == core.NodeFailed
	_ = v.status.UnmarshalText([]byte(e.Status)) // an unknown status is reported below
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
	if stopped && !abandoned(v) {
		t.cancelled = true
		t.f.doubt(e.Node, Lifecycle, "is cancelled, but nothing has stopped the run")
	}
	if failed && v.def.Decl.After == nil { // otherwise the failure may come from the hook, after which no attempt follows
		t.f.lastAttempt(v.def, v.attempt)
	}
	if v.fork != nil {
		t.forkEnds(v, v.def)
	}
	t.closes(v)
	t.live = slices.DeleteFunc(t.live, func(u *visit) bool { return u == v })
	t.f.c.report.Nodes++
	if v.parent != nil {
		t.branchEnds(v)
		return
	}
	t.pending = v
	t.note(v)
}

// note records what the rest of the walk depends on.
func (t *walk) note(v *visit) {
	if t.routed != nil {
		t.noteRouted(v)
		return
	}
	if t.stepped != nil {
		t.stepped.status = v.status
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
	if fail := t.f.c.e.Error; n.Role != core.RoleConditional || t.lastStage.status == core.StatusNone {
		t.lastStage = stage{v.status, fail != nil && fail.InCategory() == core.TransientInfra}
	}
	if v.node == t.w.Exit {
		t.reachedExit = true
	}
}

// written handles a write of a visit. A parallel node writes the fields of its
// branches.
func (t *walk) written(v *visit) {
	c := t.f.c
	field, ok := t.field()
	switch {
	case !ok:
		c.breaks(Writes, "writes %s, which it does not declare%s", c.e.Field, near(c.e.Field, t.f.p.Schema.FieldNames()))
		return
	case v.parent != nil:
		c.breaks(Writes, "writes %s, and it is a branch: its parallel node writes what it leaves", c.e.Field)
	case v.phase != running:
		c.breaks(Writes, "writes %s while it waits for another attempt", c.e.Field)
	case c.e.Field != core.ContextField && !t.declares(v.def, c.e.Field):
		c.breaks(Writes, "writes %s, which it does not declare%s", c.e.Field, near(c.e.Field, v.def.Writes))
	}
	w := &t.f.writes[field]
	w.count++
	if t.f.p.Schema.Fields[field].Strategy().Name != "set_once" {
		return
	}
	if w.setBy != "" {
		c.breaks(Writes, "writes %s, which is set once and has its value from %s", c.e.Field, w.setBy)
	}
	if !c.e.Null {
		w.setBy = c.e.Node
	}
}

// declares reports whether a node or one of its branches declares a write of a field.
func (t *walk) declares(n *plan.Node, field string) bool {
	if slices.Contains(n.Writes, field) {
		return true
	}
	p := t.w.Nodes[n.Index].Parallel
	return p != nil && slices.ContainsFunc(p.Branches, func(b int32) bool { return t.declares(&t.f.p.Nodes[b], field) })
}

// nested opens the nested run of a visit at its first event, which is the first to
// contain its path.
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

// end checks that the walk may end in its current state.
func (t *walk) end(stopped bool) {
	for _, v := range t.live {
		t.f.faultOf(t.f.name(t.id(v.node)), Lifecycle, "visit %d began and has no end", v.n)
	}
	t.f.v[0].phase = resolved
	if t.stalled() {
		t.f.doubts = nil
	}
	if stopped || t.cancelled || t.reachedExit {
		return
	}
	if t.routed != nil {
		t.endRouted()
		return
	}
	if t.stepped != nil {
		t.endStepped()
		return
	}
	switch {
	case t.next == t.w.Exit && t.unsatisfied() < 0 && !t.restartRejected:
		t.f.faultOf(t.f.name(t.id(t.next)), Routes, "the walk was on its way there when it ended")
	case t.next >= 0 && t.next != t.w.Exit && !t.restartRejected && !t.limited(t.next):
		t.f.faultOf(t.f.name(t.id(t.next)), Routes, "the walk was on its way there when it ended")
	case t.pending != nil && t.mustContinue(t.pending):
		t.f.faultOf(t.f.name(t.id(t.pending.node)), Routes, "the walk ended there although it ended %s and has an edge to follow", t.pending.status)
	}
}

// stalled reports whether the run ended because of stall_timeout.
func (t *walk) stalled() bool {
	return t.w.StallTimeout > 0 && strings.HasSuffix(t.f.c.e.Reason, "no sign of life for "+t.w.StallTimeout.String())
}

// limited reports whether a node has reached its max_visits.
func (t *walk) limited(node int32) bool {
	limit := t.w.Nodes[node].MaxVisits
	return limit > 0 && t.visits[node] >= limit
}

// status returns the expected status of the walk, as far as the log shows it.
func (t *walk) status() core.RunStatus {
	if t.routed != nil {
		return t.routedStatus()
	}
	if t.stepped != nil {
		return t.steppedStatus()
	}
	if t.reachedExit {
		return core.RunSuccess
	}
	return core.RunFailed
}

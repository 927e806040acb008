package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// walk is the planner of the mode walk: one token moves from node to node, and after each visit
// one edge is chosen. Like pipelines and loops it is a task, and its visits have attempts,
// timeouts, nested runs and slots like their members. Visits are in walkvisit.go, parallel nodes
// in fork.go.
type walk struct {
	visits
	v     int32
	w     *plan.Walk
	group group

	Live         []*visit     `json:"live,omitempty"`          // visits in progress: the visit of the token, then the visits of branches in order of their start
	Next         int32        `json:"next"`                    // number of the next visit
	Last         stage        `json:"last"`                    // the last stage that was not a conditional
	History      stageHistory `json:"history,omitzero"`        // finished stages, for briefings
	Idle         int          `json:"idle,omitempty"`          // number of consecutive nodes that did nothing
	LastActivity int64        `json:"last_activity,omitempty"` // time of the last activity
	Watches      int32        `json:"watches,omitempty"`       // number of stall timers set so far
	Due          int64        `json:"due,omitempty"`           // time at which the latest stall timer ends

	Router memory `json:"router,omitzero"` // what snapshots contain of the router
	router router
	steps  []routeStep // steps of the router
	// visited is the plan with which the current visit has begun if visits change the graph, else nil. The visit
	// may have replaced its own node: its events, the hook After and the setting critical are those of the old one.
	visited *plan.Plan
}

// stage is the outcome of a stage for the conditions of edges.
type stage struct {
	Node    int32         `json:"node"` // -1 if there is no stage
	Status  core.Status   `json:"status,omitempty"`
	Label   string        `json:"label,omitempty"`
	Failure *core.Failure `json:"failure,omitempty"`
}

// maxIdle limits the consecutive nodes that do nothing. No other limit would end a cycle of such
// nodes.
const maxIdle = 10_000

// walkPlanner implements planner for a walk.
type walkPlanner struct{ *walk }

func newWalk(f *frame) *walk {
	t := &walk{visits: newVisits(f), w: f.p.Walk, Last: stage{Node: -1}}
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: t}
	t.router = routers[t.w.Router.Name](t)
	t.steps, t.Router.of = t.router.chain(), t.router.memory()
	return t
}

// use replaces the plan of the walk.
func (t *walk) use(p *plan.Plan) { t.f.p, t.w = p, p.Walk }

// open begins the walk.
func (t walkPlanner) open() {
	t.begin(t.walk)
	t.router.begin()
	t.watch()
	t.arrive(t.w.Start, -1)
	t.f.refresh(0)
}

// answer handles an answer about the walk as a whole.
func (t walkPlanner) answer(e *Event) bool {
	if e.ID.IsWatch() {
		return t.watchExpired(e)
	}
	return e.Kind == Expired && t.f.expire()
}

func (t walkPlanner) nodes() []core.NodeReport {
	out := make([]core.NodeReport, len(t.walk.Nodes))
	for i := range out {
		out[i] = t.report(int32(i))
	}
	return out
}

func (t walkPlanner) path() []string {
	ids := make([]string, len(t.walk.Path))
	for i, n := range t.walk.Path {
		ids[i] = t.id(n)
	}
	return ids
}

func (t *walk) slotChanged()    { t.f.refresh(t.v) }
func (t *walk) holdsSlot() bool { return t.group.active > 0 }
func (t *walk) commit()         { invariant(false, "a walk waits for a commit") }

func (t *walk) canStart() bool { return slices.ContainsFunc(t.Live, t.ready) }

// ready reports whether a visit can start something now.
func (t *walk) ready(v *visit) bool {
	switch {
	case v.child != nil:
		return v.child.canStart() && v.child.group.freeBelow(&t.f.group)
	case v.Fork != nil:
		return v.Fork.mayBegin()
	}
	return v.Phase == waiting
}

func (t *walk) startOne() bool {
	for t.f.v[t.v].Phase == running {
		i := slices.IndexFunc(t.Live, t.ready)
		if i < 0 {
			return false
		}
		v := t.Live[i]
		switch {
		case v.Fork != nil:
			t.beginBranch(v)
		case v.child == nil:
			if t.startVisit(v) {
				return true
			}
		default:
			child := v.child
			if child.startOrEnd() {
				return true
			}
			if !child.ended() && child.canStart() {
				return false
			}
		}
	}
	return false
}

// optionVisits returns the limit of the visits of the walk, or 0 if there is none. It is the limit of the
// plan, or, for the outermost graph, the limit in the options of the run.
func (t *walk) optionVisits(limit int) int {
	if m := t.f.m; t.f.parent == nil && m.opts.MaxVisits > 0 {
		return m.opts.MaxVisits
	}
	return limit
}

// maxVisits returns the limit of the visits of the walk, or 0 if there is none.
func (t *walk) maxVisits() int { return t.router.maxVisits() }

// arrive moves the token to a node. via is the edge that it followed, or -1 if there is none.
func (t *walk) arrive(node, via int32) {
	if t.Idle++; t.Idle > maxIdle {
		t.fail(node, core.ClassVisitLimit, "the walk went through %d nodes in a row that do nothing", maxIdle)
		return
	}
	if !t.router.admits(node) {
		return
	}
	if limit := t.maxVisits(); limit > 0 && len(t.Path) >= limit {
		t.fail(node, core.ClassVisitLimit, "the walk has made %d visits, as many as it may", limit)
		return
	}
	if limit := t.w.Nodes[node].MaxVisits; limit > 0 && t.Nodes[node].Visits >= limit {
		t.fail(node, core.ClassVisitLimit, "%s was visited %d times, its limit", t.id(node), limit)
		return
	}
	t.Path = append(t.Path, node)
	t.enter(node, nil, 0, via)
}

// fail ends the walk at a node where it cannot continue.
func (t *walk) fail(node int32, class, format string, args ...any) {
	t.Failure = &core.Failure{Class: class, Message: fmt.Sprintf(format, args...), Permanent: true}
	t.FailAt = node
	t.finish()
}

// endAtOnce ends the walk and its branches at once because of a failure that ends the run.
func (t *walk) endAtOnce(node int32, fail *core.Failure) {
	t.Failure, t.FailAt = fail, node
	t.f.FailedRun = true
	t.f.stop()
}

// finish ends the walk when no visit is in progress, or when the run was stopped.
func (t *walk) finish() {
	f := t.f
	t.Ended = true
	f.v[t.v].Ended = f.m.now
	t.unwatch()
	if t.Failure == nil && f.Stopped {
		t.Failure = cancelled()
	}
	if t.Failure != nil {
		f.setFailure(t.v, t.Failure)
		f.resolve(t.v, core.Fail)
		return
	}
	f.resolve(t.v, core.Success)
}

// check ends a stopped walk when no visit is in progress.
func (t *walk) check() {
	if t.f.v[t.v].Phase == running && t.f.Stopped && len(t.Live) == 0 {
		t.finish()
	}
}

// stop ends the visits that have no handler in flight.
func (t *walk) stop() {
	for _, v := range slices.Clone(t.Live) {
		if v.Fork == nil || v.Phase == pausing { // a parallel node ends with its branches
			halt(v)
		}
	}
	for _, v := range slices.Clone(t.Live) { // parallel nodes whose branches have all ended
		if v.Fork != nil && v.Fork.Live == 0 && v.Phase != pausing {
			t.visitEnded(v, &Outcome{Failure: cancelled()})
		}
	}
	t.check()
}

package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// walk is the planner of the mode walk: one token goes from node to node, and after each
// visit one edge is chosen. It is a task, as pipelines and loops are, and its visits have
// attempts, timeouts, nested runs and slots like theirs. This file is where the token goes
// and how it ends; visits are in walkvisit.go, parallel nodes in fork.go.
type walk struct {
	f     *frame
	v     int32
	w     *plan.Walk
	group group

	live    []*visit // under way, the token's first, then those of branches in order of their begin
	next    int32    // number of the next visit
	nodes   []visited
	fields  []*state.Column // the live state
	start   []any           // starting values
	spoilt  map[int32]int32 // by field that could not be merged: the node whose write spoilt it
	path    []int32         // nodes in the order of the token's visits
	last    stage           // the last stage that was no conditional
	told    toldStages      // stages that have finished, for nodes that are told of them
	idle    int             // nodes in a row that did nothing
	active  int64           // time of the last sign of life
	watched int32           // watches set for a sign of life
	due     int64           // time at which the last of them ends

	way   router
	steps []routeStep // of the way

	failure *core.Failure // why the walk failed
	failAt  int32         // the node where it did
	ended   bool
}

// visited is what became of a node over its visits.
type visited struct {
	Visits   int           `json:"visits,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Status   core.Status   `json:"status,omitempty"` // of the last visit since the walk began anew
	Last     core.Status   `json:"last,omitempty"`   // of the last visit
	Failure  *core.Failure `json:"failure,omitempty"`
	Why      string        `json:"why,omitempty"` // the setting that made the status what it is
	Started  int64         `json:"started,omitempty"`
	Ended    int64         `json:"ended,omitempty"`
}

// stage is how the last stage ended, as conditions see it.
type stage struct {
	Node    int32         `json:"node"` // -1 for none
	Status  core.Status   `json:"status,omitempty"`
	Label   string        `json:"label,omitempty"`
	Failure *core.Failure `json:"failure,omitempty"`
}

// mostIdle is how many nodes in a row may do nothing: more than that, and nothing that
// could stop the walk is going to change.
const mostIdle = 10_000

// walkPlanner is a walk as the planner of its frame.
type walkPlanner struct{ *walk }

func newWalk(f *frame) *walk {
	t := &walk{f: f, v: 0, w: f.p.Walk, nodes: make([]visited, len(f.p.Nodes)), last: stage{Node: -1}, failAt: -1}
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: t}
	t.way = newRouter(t)
	t.steps = t.way.chain()
	return t
}

// open begins the walk.
func (t walkPlanner) open() {
	f := t.f
	for i := range f.p.Schema.Fields {
		t.start = append(t.start, f.ledger.Final(i))
		t.fields = append(t.fields, t.column(i))
	}
	f.v[0].phase, f.v[0].started, f.v[0].attempts = running, f.m.now, 1
	f.setTask(0, t.walk)
	t.way.begin()
	t.watch()
	t.arrive(t.w.Start, -1)
	f.refresh(0)
}

// answer handles an answer about the walk as a whole.
func (t walkPlanner) answer(e *Event) bool {
	if e.ID.IsWatch() {
		return t.quietFor(e)
	}
	return e.Kind == Expired && t.f.expire()
}

func (t walkPlanner) final(field int) any               { return t.fields[field].Last() }
func (t walkPlanner) spoiler(field int32, _ int) string { return t.id(t.spoilt[field]) }
func (t walkPlanner) units() []core.UnitReport          { return nil }

// failedNode returns the node where the walk could not continue.
func (t walkPlanner) failedNode(v int32) string {
	if t.failAt >= 0 {
		return t.id(t.failAt)
	}
	return t.f.p.Vertices[v].ID
}

func (t walkPlanner) nodes() []core.NodeReport {
	out := make([]core.NodeReport, len(t.walk.nodes))
	for i := range out {
		out[i] = t.report(int32(i))
	}
	return out
}

func (t walkPlanner) path() []string {
	ids := make([]string, len(t.walk.path))
	for i, n := range t.walk.path {
		ids[i] = t.id(n)
	}
	return ids
}

func (t walkPlanner) dump(j *frameJSON) (err error) {
	j.Walk, err = t.walk.dump()
	return err
}

func (t walkPlanner) restore(j *frameJSON) error { return t.walk.restore(j.Walk) }

func (t *walk) slotChanged() { t.f.refresh(t.v) }
func (t *walk) holds() bool  { return t.group.active > 0 }
func (t *walk) commit()      { invariant(false, "a walk waits for a commit") }

func (t *walk) canStart() bool { return slices.ContainsFunc(t.live, t.ready) }

// ready reports whether a visit has something to start now.
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
	for t.f.v[t.v].phase == running {
		i := slices.IndexFunc(t.live, t.ready)
		if i < 0 {
			return false
		}
		v := t.live[i]
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

// maxVisits limits the visits of the walk, 0 for any number.
func (t *walk) maxVisits() int { return t.way.maxVisits() }

// arrive brings the token to a node, by an edge or with -1 by a jump.
func (t *walk) arrive(node, via int32) {
	if t.idle++; t.idle > mostIdle {
		t.fail(node, core.ClassVisitLimit, "the walk went through %d nodes in a row that do nothing", mostIdle)
		return
	}
	if !t.way.admits(node) {
		return
	}
	if most := t.maxVisits(); most > 0 && len(t.path) >= most {
		t.fail(node, core.ClassVisitLimit, "the walk has made %d visits, as many as it may", most)
		return
	}
	if limit := t.w.Nodes[node].MaxVisits; limit > 0 && t.nodes[node].Visits >= limit {
		t.fail(node, core.ClassVisitLimit, "%s was visited %d times, its limit", t.id(node), limit)
		return
	}
	t.path = append(t.path, node)
	t.enter(node, nil, 0, via)
}

// fail ends the walk where it cannot go on.
func (t *walk) fail(node int32, class, format string, args ...any) {
	t.failure = &core.Failure{Class: class, Message: fmt.Sprintf(format, args...), Permanent: true}
	t.failAt = node
	t.finish()
}

// abort ends the walk at once, branches and all: the failure leaves nothing to go on with.
func (t *walk) abort(node int32, fail *core.Failure) {
	t.failure, t.failAt = fail, node
	t.f.failedRun = true
	t.f.stop()
}

// finish ends the walk. There is no visit under way any more, unless the run was stopped.
func (t *walk) finish() {
	f := t.f
	t.ended = true
	f.v[t.v].ended = f.m.now
	t.unwatch()
	if t.failure == nil && f.stopped {
		t.failure = cancelled()
	}
	if t.failure != nil {
		f.setFailure(t.v, t.failure)
		f.resolve(t.v, core.Fail)
		return
	}
	f.resolve(t.v, core.Success)
}

// check ends a walk that was stopped once nothing is under way.
func (t *walk) check() {
	if t.f.v[t.v].phase == running && t.f.stopped && len(t.live) == 0 {
		t.finish()
	}
}

// stop ends visits that are neither running nor nested.
func (t *walk) stop() {
	for _, v := range slices.Clone(t.live) {
		if v.Fork == nil { // which ends with its branches
			halt(v)
		}
	}
	for _, v := range slices.Clone(t.live) { // parallel nodes whose branches have all ended
		if v.Fork != nil && v.Fork.Live == 0 {
			t.over(v, &Outcome{Failure: cancelled()})
		}
	}
	t.check()
}

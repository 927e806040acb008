package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
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

	Live         []*visit        `json:"live,omitempty"` // under way, the token's first, then those of branches in order of their begin
	Next         int32           `json:"next"`           // number of the next visit
	Nodes        []visited       `json:"nodes"`
	Fields       []column        `json:"fields"`                  // the live state
	Start        values          `json:"start"`                   // starting values
	Unmerged     map[int32]int32 `json:"unmerged,omitempty"`      // by field that could not be merged: the node whose write spoilt it
	Path         []int32         `json:"path"`                    // nodes in the order of the token's visits
	Last         stage           `json:"last"`                    // the last stage that was no conditional
	History      stageHistory    `json:"history,omitzero"`        // stages that have finished, for nodes that are told of them
	Idle         int             `json:"idle,omitempty"`          // nodes in a row that did nothing
	LastActivity int64           `json:"last_activity,omitempty"` // time of the last sign of life
	Watches      int32           `json:"watches,omitempty"`       // watches set for a sign of life
	Due          int64           `json:"due,omitempty"`           // time at which the last of them ends

	router router
	steps  []routeStep // of the way
	outcomeMemory
	modelMemory

	Failure *core.Failure `json:"failure,omitempty"` // why the walk failed
	FailAt  int32         `json:"fail_at"`           // the node where it did
	Ended   bool          `json:"ended,omitempty"`
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
const maxIdle = 10_000

// walkPlanner is a walk as the planner of its frame.
type walkPlanner struct{ *walk }

func newWalk(f *frame) *walk {
	t := &walk{Nodes: make([]visited, len(f.p.Nodes)), Last: stage{Node: -1}, FailAt: -1}
	t.attach(f)
	return t
}

// attach makes a walk, which is new or was read from a snapshot, the walk of a frame.
func (t *walk) attach(f *frame) {
	t.f, t.w = f, f.p.Walk
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: t}
	t.router = newRouter(t)
	t.steps = t.router.chain()
}

// open begins the walk.
func (t walkPlanner) open() {
	f := t.f
	for i := range f.p.Schema.Fields {
		t.Start = append(t.Start, f.ledger.Final(i))
		t.Fields = append(t.Fields, column{Column: t.column(i)})
	}
	f.v[0].Phase, f.v[0].Started, f.v[0].Attempts = running, f.m.now, 1
	f.setTask(0, t.walk)
	t.router.begin()
	t.watch()
	t.arrive(t.w.Start, -1)
	f.refresh(0)
}

// answer handles an answer about the walk as a whole.
func (t walkPlanner) answer(e *Event) bool {
	if e.ID.IsWatch() {
		return t.watchExpired(e)
	}
	return e.Kind == Expired && t.f.expire()
}

func (t walkPlanner) final(field int) any                      { return t.Fields[field].Last() }
func (t walkPlanner) unmergedWriter(field int32, _ int) string { return t.id(t.Unmerged[field]) }
func (t walkPlanner) units() []core.UnitReport                 { return nil }

// failedNode returns the node where the walk could not continue.
func (t walkPlanner) failedNode(v int32) string {
	if t.FailAt >= 0 {
		return t.id(t.FailAt)
	}
	return t.f.p.Vertices[v].ID
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

func (t *walk) slotChanged() { t.f.refresh(t.v) }
func (t *walk) holds() bool  { return t.group.active > 0 }
func (t *walk) commit()      { invariant(false, "a walk waits for a commit") }

func (t *walk) canStart() bool { return slices.ContainsFunc(t.Live, t.ready) }

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

// maxVisits limits the visits of the walk, 0 for any number.
func (t *walk) maxVisits() int { return t.router.maxVisits() }

// arrive brings the token to a node, by an edge or with -1 by a jump.
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

// fail ends the walk where it cannot go on.
func (t *walk) fail(node int32, class, format string, args ...any) {
	t.Failure = &core.Failure{Class: class, Message: fmt.Sprintf(format, args...), Permanent: true}
	t.FailAt = node
	t.finish()
}

// abort ends the walk at once, branches and all: the failure leaves nothing to go on with.
func (t *walk) abort(node int32, fail *core.Failure) {
	t.Failure, t.FailAt = fail, node
	t.f.FailedRun = true
	t.f.stop()
}

// finish ends the walk. There is no visit under way any more, unless the run was stopped.
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

// check ends a walk that was stopped once nothing is under way.
func (t *walk) check() {
	if t.f.v[t.v].Phase == running && t.f.Stopped && len(t.Live) == 0 {
		t.finish()
	}
}

// stop ends visits that are neither running nor nested.
func (t *walk) stop() {
	for _, v := range slices.Clone(t.Live) {
		if v.Fork == nil { // which ends with its branches
			halt(v)
		}
	}
	for _, v := range slices.Clone(t.Live) { // parallel nodes whose branches have all ended
		if v.Fork != nil && v.Fork.Live == 0 {
			t.visitEnded(v, &Outcome{Failure: cancelled()})
		}
	}
	t.check()
}

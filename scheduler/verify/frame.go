package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// frame is the run of one graph: the run itself, or a nested one.
type frame struct {
	c      *Checker
	p      *plan.Plan
	path   string
	parent *frame
	walk   *walk // nil in a dag

	v        []vertex
	verdicts []verdict      // by edge
	taken    map[int32]bool // edges that handle a failure, as the log tells
	cursor   []int32        // by field: how many of its writers are resolved without a gap
	left     []int32        // by level: vertices that are not resolved
	level    int32          // the lowest with one
	writes   []writes       // by field
	group    group
	barrier  bool
	failRun  bool  // a failure has stopped it
	lenient  bool  // the node around it is a success whatever it comes to
	ordered  bool  // with a limit of 1 its vertices begin in canonical order
	lastPlan int32 // the last vertex that began
	// doubts are violations unless the frame was stopped.
	doubts []Violation
}

// vertex is how far a vertex of the plan has come.
type vertex struct {
	phase   phase
	status  core.Status
	skip    skipKind
	holds   bool // a slot
	handled bool
	settled bool    // its decision has been checked
	told    bool    // that its policy tolerates its failure
	joined  bool    // it is told which predecessors its join takes
	lost    bool    // a race that it lost is decided
	took    []int32 // edges over which its join took its predecessors
	skips   int     // members that were skipped
	cause   int32
	attempt int
	class   string // of the failure it ended with
	fatal   bool   // that failure ends the run whatever the policy says
	deepest string // the node inside where that began, "" for itself
	backoff backoff
	wrote   []int32 // fields, in the execution under way
	fan     *fanOut
	unit    *unit
	inner   *frame
}

type phase uint8

const (
	undecided phase = iota
	ready
	running
	waiting // for another attempt
	resolved
)

type verdict uint8

const (
	unjudged verdict = iota
	isFalse
	isTrue
)

// backoff is the wait before another attempt.
type backoff struct {
	since time.Time
	delay time.Duration
}

// open begins the run of a graph.
func (c *Checker) open(p *plan.Plan, path string, parent *frame) *frame {
	f := &frame{c: c, p: p, path: path, parent: parent, v: make([]vertex, len(p.Vertices)), verdicts: make([]verdict, len(p.Edges)),
		cursor: make([]int32, len(p.Schema.Fields)), left: make([]int32, len(p.Levels)), writes: make([]writes, len(p.Schema.Fields)),
		barrier: p.Barrier, ordered: parent == nil && inOrder(p), lastPlan: -1}
	for i := range f.v {
		f.v[i].cause = -1
		f.left[p.Vertices[i].Level]++
	}
	f.group.limit = p.Concurrency
	f.group.name = "the run"
	if parent != nil {
		f.group.name = path
		if f.group.limit == 0 && c.limits != nil {
			f.group.limit = c.limits.Concurrency // at least 1, or what the caller gave the run
		}
		c.frames[path] = f
	}
	f.rise()
	if p.Walk != nil {
		f.walk = newWalk(f)
	}
	return f
}

// nest begins the nested run of an execution.
func (f *frame) nest(n *plan.Node, path string, around *group) *frame {
	in := f.c.open(n.Frame.Plan, path, f)
	in.group.parent, in.lenient = around, n.AutoStatus
	return in
}

// close ends a nested run, in view of how the execution it was for ended: a failure,
// or nil for a good end.
func (f *frame) close(fail *core.Failure) {
	delete(f.c.frames, f.path)
	if f.c.last == f {
		f.c.last = f.c.root
	}
	lifted := fail == nil && f.lenient // it may have ended in any way, by a timeout too
	complete := fail == nil || f.isOver(fail)
	if lifted {
		complete = f.anythingBegan() && !slices.ContainsFunc(f.v, func(v vertex) bool { return v.class == core.ClassCanceled })
	}
	stopped := lifted && !complete || f.failRun || fail != nil && (fail.Class == core.ClassCanceled || fail.Class == core.ClassTimeout)
	f.unended(complete)
	f.tolerated()
	if !stopped {
		f.parent.doubts = append(f.parent.doubts, f.doubts...)
	}
	switch status, _ := f.status(); {
	case fail != nil, lifted:
	case status == core.RunFailed:
		f.parent.faultOf(f.path, Statuses, "ended well, and its nested run failed")
	case (status == core.RunPartial) != (f.c.e.Status == core.PartialSuccess.String()):
		f.parent.faultOf(f.path, Statuses, "ended with status %s, and its nested run with %s", f.c.e.Status, status)
	}
}

// isOver reports whether an execution failed with a nested run that was over: because
// of what happened in it, or because what it leaves behind was refused.
func (f *frame) isOver(fail *core.Failure) bool {
	if fail.Node != "" {
		return true
	}
	return f.anythingBegan() && (fail.Class == core.ClassWrite || fail.Class == core.ClassMerge)
}

func (f *frame) anythingBegan() bool {
	if f.walk != nil {
		return slices.Max(f.walk.visits) > 0
	}
	return slices.ContainsFunc(f.v, func(v vertex) bool { return v.phase != undecided })
}

// unended reports what has begun and has no end; and if the run must be complete, what
// has none and never began.
func (f *frame) unended(complete bool) {
	if f.walk != nil {
		f.walk.end(!complete)
		return
	}
	for i := range f.v {
		v := &f.v[i]
		switch {
		case v.phase == resolved:
		case v.phase == running || v.phase == waiting:
			f.faultOf(f.name(f.p.Vertices[i].ID), Lifecycle, "began and has no end")
		case complete:
			f.doubt(f.name(f.p.Vertices[i].ID), Lifecycle, "has no end")
		}
	}
}

// name returns the path of a node or unit of the frame.
func (f *frame) name(id string) string {
	if f.path == "" {
		return id
	}
	return f.path + "/" + id
}

// faultOf reports a violation by a node at the event under check.
func (f *frame) faultOf(node string, r Rule, format string, args ...any) {
	f.c.report.Violations = append(f.c.report.Violations, f.c.violation(node, r, format, args...))
}

// doubt reports a violation unless the frame turns out to have been stopped.
func (f *frame) doubt(node string, r Rule, format string, args ...any) {
	v := f.c.violation(node, r, format, args...)
	if f.c.e.Node == node {
		v.Item, v.Round, v.Attempt = f.c.e.Item, f.c.e.Round, f.c.e.Attempt
	}
	f.doubts = append(f.doubts, v)
}

// resolve ends a vertex.
func (f *frame) resolve(i int32, s core.Status) {
	v := &f.v[i]
	f.release(v)
	v.phase, v.status, v.wrote, v.fan = resolved, s, nil, nil
	f.c.report.Nodes += max(1, f.members(i))
	f.left[f.p.Vertices[i].Level]--
	f.rise()
	for _, s := range f.p.Vertices[i].Writes {
		writers := f.p.WriterVertex[s.Field]
		for k := f.cursor[s.Field]; int(k) < len(writers) && f.v[writers[k]].phase == resolved; k++ {
			f.cursor[s.Field] = k + 1
		}
	}
	if s == core.Fail && (v.fatal || f.policy(i) == plan.PolicyFailRun) {
		f.failRun = true
	}
}

func (f *frame) members(i int32) int {
	if u := f.p.Vertices[i].Unit; u != nil {
		return len(u.Members)
	}
	return 0
}

// rise moves to the lowest level that has something unresolved.
func (f *frame) rise() {
	for int(f.level) < len(f.left)-1 && f.left[f.level] == 0 {
		f.level++
	}
}

// policy is what holds for the failure of a vertex.
func (f *frame) policy(i int32) plan.Policy {
	pv := &f.p.Vertices[i]
	if pv.Unit == nil {
		return f.p.Nodes[pv.Node].Policy
	}
	switch u := f.v[i].unit; {
	case u == nil || u.failures == 0:
		return pv.Unit.Policy // for its own faults
	case u.ranAll:
		return plan.PolicySkip
	}
	return plan.PolicyDefault
}

// tolerates reports whether the policy tolerates the failure of a vertex.
func (f *frame) tolerates(i int32) bool { return f.policy(i) == plan.PolicySkip && !f.v[i].fatal }

// status decides how the frame ended if nobody stopped it from outside, and names the
// node whose failure is the run's, "" for none.
func (f *frame) status() (core.RunStatus, string) {
	if f.walk != nil {
		return f.walk.status(), ""
	}
	tolerated, first, canceled := false, -1, false
	for i := range f.v {
		switch v := &f.v[i]; {
		case v.status == core.PartialSuccess:
			tolerated = true
		case v.status != core.Fail:
		case v.handled || f.tolerates(int32(i)):
			tolerated = true
		case first < 0 || canceled && v.class != core.ClassCanceled:
			first, canceled = i, v.class == core.ClassCanceled
		}
	}
	switch {
	case first >= 0:
		return core.RunFailed, cmp.Or(f.v[first].deepest, f.name(f.p.Vertices[first].ID))
	case f.failRun:
		return core.RunFailed, ""
	case tolerated:
		return core.RunPartial, ""
	}
	return core.RunSuccess, ""
}

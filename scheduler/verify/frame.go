package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// frame is the run of one graph: the run itself or a nested run.
type frame struct {
	c      *Checker
	p      *plan.Plan
	path   string
	parent *frame
	walk   *walk // nil in other modes
	flow   *flow // nil in other modes

	v            []vertex
	verdicts     []verdict      // by edge
	taken        map[int32]bool // the edges reported to handle a failure
	cursor       []int32        // by field: the length of the prefix of resolved writers
	unresolvedAt []int32        // by level: the number of unresolved vertices
	level        int32          // the lowest level with unresolved vertices
	writes       []writes       // by field
	group        group
	barrier      bool
	failRun      bool  // a failure has stopped the run
	lenient      bool  // the outer node can succeed regardless of the outcome: by auto_status, or by its After hook
	ordered      bool  // with a limit of 1, vertices begin in canonical order
	lastPlan     int32 // the last vertex that began
	// doubts are violations unless the frame was stopped.
	doubts []Violation
}

// vertex is the progress of a vertex of the plan.
type vertex struct {
	phase              phase
	status             core.Status
	skip               skipKind
	hasSlot            bool // it holds a slot
	handled            bool
	decided            bool    // its decision has been checked
	tolerationReported bool    // an event says that its policy tolerates its failure
	joinDecided        bool    // an event says which predecessors its join takes
	lostRace           bool    // it has lost a race
	took               []int32 // the edges from the predecessors that its join took
	skips              int     // the number of skipped members
	cause              int32
	attempt            int
	class              string // the class of its failure
	failsRun           bool   // its failure ends the run regardless of the policy
	failedNode         string // the nested node where its failure began, empty if it began here
	backoff            backoff
	wrote              []int32 // the fields written by the current execution
	fan                *fanOut
	unit               *unit
	inner              *frame
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
	notEvaluated verdict = iota
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
		cursor: make([]int32, len(p.Schema.Fields)), unresolvedAt: make([]int32, len(p.Levels)), writes: make([]writes, len(p.Schema.Fields)),
		barrier: p.Barrier, ordered: parent == nil && inOrder(p), lastPlan: -1}
	for i := range f.v {
		f.v[i].cause = -1
		f.unresolvedAt[p.Vertices[i].Level]++
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
	f.advanceLevel()
	if p.Walk != nil {
		f.walk = newWalk(f)
	}
	if p.Flow != nil {
		f.flow = newFlow(f)
	}
	return f
}

// nest begins the nested run of an execution.
func (f *frame) nest(n *plan.Node, path string, around *group) *frame {
	in := f.c.open(n.Frame.Plan, path, f)
	in.group.parent, in.lenient = around, n.AutoStatus || n.Decl.After != nil
	return in
}

// close ends a nested run. fail is the failure of the execution that contains it, or
// nil if the execution succeeded.
func (f *frame) close(fail *core.Failure) {
	delete(f.c.frames, f.path)
	if f.c.last == f {
		f.c.last = f.c.root
	}
	lifted := fail == nil && f.lenient // the nested run may have ended in any way, including a timeout
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

// isOver reports whether an execution failed after its nested run had ended: because of
// a failure inside it, or because its writes were rejected.
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
	if f.flow != nil {
		return f.c.started
	}
	return slices.ContainsFunc(f.v, func(v vertex) bool { return v.phase != undecided })
}

// unended reports vertices that began and have not ended. If complete is set, it also
// reports vertices that never began.
func (f *frame) unended(complete bool) {
	if f.walk != nil {
		f.walk.end(!complete)
		return
	}
	if f.flow != nil {
		f.flow.end(!complete)
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

// faultOf reports a violation by a node, found at the current event.
func (f *frame) faultOf(node string, r Rule, format string, args ...any) {
	f.c.report.Violations = append(f.c.report.Violations, f.c.violation(node, r, format, args...))
}

// doubt reports a violation that is dropped if the frame turns out to have been
// stopped.
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
	f.unresolvedAt[f.p.Vertices[i].Level]--
	f.advanceLevel()
	for _, s := range f.p.Vertices[i].Writes {
		writers := f.p.WriterVertex[s.Field]
		for k := f.cursor[s.Field]; int(k) < len(writers) && f.v[writers[k]].phase == resolved; k++ {
			f.cursor[s.Field] = k + 1
		}
	}
	if s == core.Fail && (v.failsRun || f.policy(i) == plan.PolicyFailRun) {
		f.failRun = true
	}
}

func (f *frame) members(i int32) int {
	if u := f.p.Vertices[i].Unit; u != nil {
		return len(u.Members)
	}
	return 0
}

// advanceLevel advances level to the lowest level with unresolved vertices.
func (f *frame) advanceLevel() {
	for int(f.level) < len(f.unresolvedAt)-1 && f.unresolvedAt[f.level] == 0 {
		f.level++
	}
}

// policy returns the policy that applies to the failure of a vertex.
func (f *frame) policy(i int32) plan.Policy {
	pv := &f.p.Vertices[i]
	if pv.Unit == nil {
		return f.p.Nodes[pv.Node].Policy
	}
	switch u := f.v[i].unit; {
	case u == nil || u.failures == 0:
		return pv.Unit.Policy // for failures of the unit itself
	case u.allTolerated:
		return plan.PolicySkip
	}
	return plan.PolicyDefault
}

// tolerates reports whether the policy tolerates the failure of a vertex.
func (f *frame) tolerates(i int32) bool { return f.policy(i) == plan.PolicySkip && !f.v[i].failsRun }

// status returns the status of the frame, assuming it was not stopped from outside, and
// the node that caused its failure, or "" if there is none.
func (f *frame) status() (core.RunStatus, string) {
	if f.walk != nil {
		return f.walk.status(), ""
	}
	if f.flow != nil {
		return f.flow.status(), ""
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
		return core.RunFailed, cmp.Or(f.v[first].failedNode, f.name(f.p.Vertices[first].ID))
	case f.failRun:
		return core.RunFailed, ""
	case tolerated:
		return core.RunPartial, ""
	}
	return core.RunSuccess, ""
}

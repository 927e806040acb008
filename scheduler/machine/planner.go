package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// planner runs the graph of a frame according to its mode: it decides what begins and when the
// run is over. Vertices that consist of many executions have tasks. A mode that visits nodes has
// one vertex, whose task is set by the planner.
type planner interface {
	// open begins the run.
	open()
	// answer handles an answer about the run as a whole. It returns false if the answer does not
	// fit and is to be dropped.
	answer(e *Event) bool
	// stallTimer returns the instant at which the stall timer with an ID ends; ok is false if the
	// planner does not wait for it.
	stallTimer(id ID) (due int64, ok bool)
	// noteActivity is called when an execution inside a nested run was answered.
	noteActivity()
	// userCodeRuns reports whether a handler of the frame itself is running.
	userCodeRuns() bool
	// maxVisits returns the limit of the visits, or 0 if there is none.
	maxVisits() int
	// locate adds to the event of an attempt the execution that it belongs to.
	locate(e *core.Event, id ID)
	// final returns the final value of a field.
	final(field int) any
	// unmergedWriter returns the ID of the node whose write could not be merged into a field.
	// slot is the position of the write among the writers of the field.
	unmergedWriter(field int32, slot int) string
	// failedNode returns the ID of the node that the error names if vertex v failed.
	failedNode(v int32) string
	// nodes and units return the results of all nodes and units, and path the IDs of the visited
	// nodes in order.
	nodes() []core.NodeReport
	units() []core.UnitReport
	path() []string
	// memory returns a pointer to what snapshots contain of the planner, nil if there is nothing.
	// restore is called when the memory of a new planner was read from a snapshot.
	memory() any
	restore() error
	// extend moves the deadlines of the planner by a time without a process, extendStall only the
	// stall timer.
	extend(down int64)
	extendStall(down int64)
}

// planners create the planner of a frame, by mode.
var planners = map[core.Mode]func(f *frame) planner{
	core.ModeDAG:  func(f *frame) planner { return dag{f} },
	core.ModeWalk: func(f *frame) planner { return walkPlanner{newWalk(f)} },
	core.ModeFlow: func(f *frame) planner { return flowPlanner{newFlow(f)} },
}

// checkPlanners returns an error if the machine has no planner for the mode of the plan or of a
// nested plan.
func checkPlanners(p *plan.Plan, seen map[*plan.Plan]bool) error {
	if planners[p.Mode.Name] == nil {
		return fmt.Errorf("workflow %s: the mode %q has no planner", p.Name, p.Mode.Name)
	}
	if err := checkRouter(p); err != nil || p.Nested == 0 {
		return err
	}
	if seen == nil {
		seen = map[*plan.Plan]bool{}
	}
	seen[p] = true
	for i := range p.Nodes {
		if inner := p.Nodes[i].Frame; inner != nil && !seen[inner.Plan] {
			if err := checkPlanners(inner.Plan, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// dag is the planner of directed acyclic graphs: a vertex runs once its predecessors are
// resolved. dag.go contains the rules.
type dag struct{ f *frame }

func (d dag) answer(e *Event) bool      { return e.Kind == Expired && d.f.expire() }
func (dag) stallTimer(ID) (int64, bool) { return 0, false }
func (dag) noteActivity()               {}
func (d dag) userCodeRuns() bool        { return d.f.group.active > 0 }
func (dag) maxVisits() int              { return 0 }
func (d dag) final(field int) any       { return d.f.ledger.Final(field) }
func (d dag) failedNode(v int32) string { return d.f.p.Vertices[v].ID }
func (dag) path() []string              { return nil }
func (dag) memory() any                 { return nil }
func (dag) restore() error              { return nil }
func (dag) extend(int64)                {}
func (dag) extendStall(int64)           {}

func (d dag) unmergedWriter(field int32, slot int) string { return d.f.writer(field, slot) }

func (d dag) locate(e *core.Event, id ID) {
	f := d.f
	switch u := f.p.Vertices[f.p.Nodes[id.Node].Vertex].Unit; {
	case u != nil && u.IsLoop:
		e.Unit, e.Round = f.name(u.ID), core.Nth(int(id.From))
	case u != nil:
		e.Unit, e.Item = f.name(u.ID), core.Nth(int(id.From))
	case id.To > 0:
		e.Item = core.Nth(int(id.From))
	}
}

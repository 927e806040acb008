package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// planner runs the graph of a frame as its mode does: it decides what begins, and when the
// run is over. Vertices that consist of many executions have tasks; a mode that visits nodes
// has one vertex, whose task the planner sets.
type planner interface {
	// open begins the run.
	open()
	// answer handles an answer about the run as a whole; false drops it.
	answer(e *Event) bool
	// alive notes that an execution inside a nested run was answered.
	noteActivity()
	// working reports whether user code of the frame itself runs.
	userCodeRuns() bool
	// maxVisits limits the visits of the run, 0 for any number.
	maxVisits() int
	// locate adds to the event of an attempt which execution it belongs to.
	locate(e *core.Event, id ID)
	// final returns the value of a field at the end.
	final(field int) any
	// spoiler returns the id of the node whose write left a field without a value; slot is the
	// place of the write among the writers of the field.
	unmergedWriter(field int32, slot int) string
	// failedNode returns the id of the node to name when a vertex failed.
	failedNode(v int32) string
	// nodes and units list the results of all nodes and units, and path the visits.
	nodes() []core.NodeReport
	units() []core.UnitReport
	path() []string
	// save adds the planner to a snapshot, and restore replaces it by the planner of a
	// snapshot.
	save(j *frameJSON)
	restore(j *frameJSON) error
}

// Planner makes the planner of a frame. A mode that is not one of the engine's has it as its
// plan.Mode.Planner.
type Planner func(f *frame) planner

// newPlanner returns the planner of a frame.
func newPlanner(f *frame) planner {
	if of, ok := f.p.Mode.Planner.(Planner); ok {
		return of(f)
	}
	switch f.p.Mode.Name {
	case core.ModeDAG:
		return dag{f}
	case core.ModeWalk:
		return walkPlanner{newWalk(f)}
	}
	panic("machine: the mode " + string(f.p.Mode.Name) + " has no planner")
}

// checkPlanners returns an error if the machine has no planner for the mode of the plan or of
// a plan nested in it.
func checkPlanners(p *plan.Plan, seen map[*plan.Plan]bool) error {
	_, ok := p.Mode.Planner.(Planner)
	if !ok && p.Mode.Name != core.ModeDAG && p.Mode.Name != core.ModeWalk {
		return fmt.Errorf("workflow %s: the mode %q has no planner", p.Name, p.Mode.Name)
	}
	if p.Nested == 0 {
		return nil
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

// dag is the planner of directed acyclic graphs: each vertex runs once its predecessors are
// resolved. How is in dag.go.
type dag struct{ f *frame }

func (d dag) answer(e *Event) bool      { return e.Kind == Expired && d.f.expire() }
func (dag) noteActivity()               {}
func (d dag) userCodeRuns() bool        { return d.f.inFlight > 0 }
func (dag) maxVisits() int              { return 0 }
func (d dag) final(field int) any       { return d.f.ledger.Final(field) }
func (d dag) failedNode(v int32) string { return d.f.p.Vertices[v].ID }
func (dag) path() []string              { return nil }
func (dag) save(*frameJSON)             {}
func (dag) restore(*frameJSON) error    { return nil }

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

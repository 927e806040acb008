package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Assumption is the status that a node, pipeline or loop has without running.
type Assumption struct {
	Node   string      `json:"node"`   // its path, such as "outer/save"
	Status core.Status `json:"status"` // core.Success, core.Fail or core.Skipped
}

// reason explains the status.
func (a *Assumption) reason() string { return core.AssumedReason(a.Status.String()) }

func (a *Assumption) failure() *core.Failure {
	return &core.Failure{Class: core.ClassError, Message: a.reason(), Permanent: true}
}

// CheckAssumptions returns an error about the first assumption that a run of the plan cannot make.
func CheckAssumptions(p *plan.Plan, list []Assumption) error {
	for _, a := range list {
		if !p.HasPart(a.Node) {
			return fmt.Errorf("the status of %s cannot be assumed: the workflow has no such node", a.Node)
		}
		frame, id := plan.CutPath(a.Node)
		at, err := p.At(frame)
		if err != nil {
			return err
		}
		n, isNode := at.Node(id)
		switch {
		case at.Mode.Visits && a.Status == core.Skipped:
			return fmt.Errorf("the status skipped of %s cannot be assumed: it is in a walk, which skips no nodes", a.Node)
		case isNode && !at.Mode.Visits && at.Vertices[n.Vertex].Unit != nil:
			return fmt.Errorf("the status of %s cannot be assumed: it belongs to %s, whose status can be", a.Node, at.Vertices[n.Vertex].Unit.ID)
		}
	}
	return nil
}

// assumption returns the assumption about a node, pipeline or loop of the frame, or nil if there
// is none.
func (f *frame) assumption(id string) *Assumption {
	for i := range f.m.opts.Assume {
		a := &f.m.opts.Assume[i]
		if frame, last := plan.CutPath(a.Node); last == id && frame == plan.PartPath(f.Path) {
			return a
		}
	}
	return nil
}

// assume ends a vertex that would run with the status that is assumed, and reports whether one is.
func (f *frame) assume(v int32) bool {
	a := f.assumption(f.p.Vertices[v].ID)
	if a == nil {
		return false
	}
	switch a.Status {
	case core.Fail:
		f.fail(v, a.failure())
	case core.Skipped:
		f.v[v].Skip = skipAssumed
		f.contribute(v, nothing)
		f.emitSkipped(v)
		f.resolve(v, core.Skipped)
	default:
		if n := f.p.Vertices[v].Node; n >= 0 {
			f.setChange(n, a.reason())
		}
		f.contribute(v, nothing)
		f.emitFinished(v, core.Success)
		f.resolve(v, core.Success)
	}
	return true
}

package journal

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Unfailed returns what is kept of a run that has failed, so that what failed runs again: all but the
// failed executions, and what ran because of them. Failures that a policy tolerates or an edge handles
// stay, unless all is set. report is the report of the run. The result is nil if nothing can run
// again: a walk, for example, that has reached its end. dropped are the nodes that were decided because
// of a failure, by path without the numbers of items; what they did is decided again.
func Unfailed(p *plan.Plan, kept []Kept, report *core.Report, all bool) (rest []Kept, dropped map[string]bool) {
	if p.Mode.Final {
		return nil, nil
	}
	kept = Uncancelled(kept) // a failure may have cancelled others
	u := &unfailed{plan: p, all: all, failed: map[string]bool{}, drop: map[string]bool{}, executions: map[execution]bool{}, rows: map[execution]int32{}}
	if p.Mode.Visits {
		return u.lastVisit(kept), nil
	}
	u.findFailed(report)
	for i := range kept {
		u.note(&kept[i])
	}
	if len(u.executions) == 0 {
		return nil, nil
	}
	for path := range u.failed {
		for affected := range Affected(p, []string{path}) {
			if affected != path && !u.sameUnit(path, affected) {
				u.drop[affected] = true
			}
		}
	}
	list := make([]Kept, 0, len(kept))
	for _, x := range Without(kept, u.drop) {
		list = append(list, u.without(x)...)
	}
	return list, u.drop
}

// unfailed finds what is dropped of a run that has failed.
type unfailed struct {
	plan *plan.Plan
	all  bool
	// failed are the nodes that failed, and in nested runs of such nodes the nodes with a failed
	// execution, by path without the numbers of items. drop are the nodes that ran because of a
	// failure.
	failed, drop map[string]bool
	// executions are the failed executions.
	executions map[execution]bool
	// rows are the first failed rows of pipelines whose later rows can see the effect, by frame and
	// the first member.
	rows map[execution]int32
}

// findFailed finds the nodes of the run itself that failed.
func (u *unfailed) findFailed(report *core.Report) {
	for _, n := range report.Nodes() {
		if n.Status == core.Fail && (u.all || !n.Handled) {
			u.failed[n.ID] = true
		}
	}
	for _, r := range report.Units() {
		if r.Status != core.Fail {
			continue
		}
		for i := range u.plan.Vertices {
			if unit := u.plan.Vertices[i].Unit; unit != nil && unit.ID == r.ID {
				for _, m := range unit.Members {
					u.failed[u.plan.Nodes[m].ID] = true
				}
			}
		}
	}
}

// inFailed reports whether an event belongs to a node that failed, or to a nested run of one.
func (u *unfailed) inFailed(path string) bool {
	root, _, _ := strings.Cut(path, "/")
	return u.failed[root]
}

// note notes the failed executions of an event.
func (u *unfailed) note(x *Kept) {
	path := plan.PartPath(x.Path)
	if e := x.Event; e.Kind != machine.Finished && e.Kind != machine.Placed || e.ID.Node < 0 || !u.inFailed(path) {
		return
	}
	frame, id := plan.CutPath(path)
	p, err := u.plan.At(frame)
	if err != nil {
		return
	}
	n, _ := p.Node(id)
	if frame != "" && n.Policy == plan.PolicySkip && !u.all { // tolerated in the nested run
		return
	}
	x.eachOutcome(func(item int32, o *machine.Outcome) {
		if !failing(o) || x.retried[item] {
			return
		}
		u.failed[path] = true
		u.executions[execution{x.Event.ID.Frame, x.Event.ID.Node, item}] = true
		if unit := p.Vertices[n.Vertex].Unit; unit != nil && !unit.IsLoop && seesOwnWrites(p, unit) {
			key := execution{frame: x.Event.ID.Frame, node: unit.Members[0]}
			if first, ok := u.rows[key]; !ok || item < first {
				u.rows[key] = item
			}
		}
	})
}

// failing reports whether an outcome is a failure if no attempt follows it. An outcome that requests another
// attempt is also a failure.
func failing(o *machine.Outcome) bool { return o.Failure != nil || o.Status == core.Retry }

// seesOwnWrites reports whether a stage of a pipeline reads a field that a stage writes, so that a row
// can see the effect of the rows before it.
func seesOwnWrites(p *plan.Plan, unit *plan.Unit) bool {
	for _, m := range unit.Members {
		for _, r := range p.Nodes[m].Reads {
			if unit.FieldIndex(r.Field) >= 0 {
				return true
			}
		}
	}
	return false
}

// sameUnit reports whether two nodes are members of the same pipeline or loop, whose executions are
// dropped one by one.
func (u *unfailed) sameUnit(a, b string) bool {
	frame, id := plan.CutPath(a)
	other, id2 := plan.CutPath(b)
	p, err := u.plan.At(frame)
	if err != nil || frame != other {
		return false
	}
	n, _ := p.Node(id)
	m, ok := p.Node(id2)
	return ok && n.Vertex == m.Vertex
}

// without returns the parts of an event that are kept. It drops the parts of executions that
// failed, of nested runs whose execution failed and that are not kept in part, and of later rows.
func (u *unfailed) without(x Kept) []Kept {
	id := x.Event.ID
	if id.Node < 0 || x.Event.Kind == machine.Cancel {
		return []Kept{x}
	}
	frame, name := plan.CutPath(plan.PartPath(x.Path))
	p, err := u.plan.At(frame)
	if err != nil {
		return nil
	}
	n, ok := p.Node(name)
	if !ok {
		return nil
	}
	if unit := p.Vertices[n.Vertex].Unit; unit != nil && id.Attempt > 0 {
		if first, ok := u.rows[execution{frame: id.Frame, node: unit.Members[0]}]; ok && id.From > first {
			return nil
		}
	}
	if id.To == 0 || id.To == id.From+1 {
		if u.executions[execution{id.Frame, id.Node, id.From}] && (n.Wait == nil || x.Event.Kind != machine.TimerFired) {
			return nil
		}
		return []Kept{x}
	}
	var list []Kept
	for from := id.From; from < id.To; {
		to := from
		for to < id.To && !u.executions[execution{id.Frame, id.Node, to}] {
			to++
		}
		if to > from {
			list = append(list, x.items(from, to))
		}
		from = to + 1
	}
	return list
}

// eachOutcome calls f with the outcomes of an event.
func (x *Kept) eachOutcome(f func(item int32, o *machine.Outcome)) {
	if x.Event.Items == nil {
		f(x.Event.ID.From, &x.Event.Outcome)
		return
	}
	for i := range x.Event.Items {
		f(x.Event.ID.From+int32(i), &x.Event.Items[i])
	}
}

// lastVisit returns what is kept of a walk that a failed visit has ended: all that was recorded before
// this visit began. The result is nil if the last answer is not a failure.
func (u *unfailed) lastVisit(kept []Kept) []Kept {
	last := -1
	for i := range kept {
		if e := kept[i].Event; e.Kind == machine.Finished && e.ID.Frame == 0 && (e.ID.Attempt > 0 || e.ID.Attempt == machine.AfterAttempt && e.Outcome.Route != nil) {
			last = i
		}
	}
	if last < 0 || !failing(&kept[last].Event.Outcome) {
		return nil
	}
	id := kept[last].Event.ID
	for i := range kept {
		if e := kept[i].Event; e.ID.Frame == 0 && e.ID.Node == id.Node && e.ID.From == id.From {
			return kept[:i]
		}
	}
	return nil
}

package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// conflicts decides whether a stored run can continue with another workflow.
type conflicts struct {
	b     *rebuilding
	plan  *plan.Plan      // of now
	keep  []string        // see Recording.Keep
	again map[string]bool // what runs again
	// ended are the nodes, pipelines and loops with kept answers, and started are also the nodes,
	// pipelines and loops with work in progress. Both are by path. Both contain the nodes and units
	// around them.
	ended, started map[string]bool
}

// find returns an error if the workflow has changed where the run has been. Nodes that run again, or
// that are to be kept, may have changed.
func (c *conflicts) find(kept []journal.Kept) error {
	c.ended, c.started = map[string]bool{}, map[string]bool{}
	for i := range kept {
		c.note(c.ended, kept[i].Path)
		c.note(c.started, kept[i].Path)
	}
	for path := range c.b.misfits {
		c.note(c.ended, path)
		c.note(c.started, path)
	}
	for _, o := range c.b.inFlight {
		if o.Op == machine.OpRun && !o.Node.Asks && o.ID.Attempt != machine.PauseAttempt { // a question may change until it is answered
			c.note(c.started, o.Call.Name(o.Node))
		}
	}
	if err := c.cannotKeep(); err != nil || c.b.plan == c.plan && !c.b.foreign {
		return err
	}
	then, err := c.b.head.Recorded()
	if err != nil {
		return err
	}
	changes := c.plan.Since(then)
	hasValue, err := c.values(changes, kept)
	if err != nil {
		return err
	}
	ds := changes.Conflicts(func(path string) bool { return c.started[path] && !c.again[path] && !c.isKept(path) }, hasValue)
	if len(ds) > 0 {
		return c.changed(ds)
	}
	for _, path := range slices.Sorted(maps.Keys(c.b.misfits)) {
		if part := plan.PartPath(path); !c.again[part] && c.plan.HasPart(part) {
			return &journal.KeptError{Node: path, Err: c.b.misfits[path]}
		}
	}
	c.b.adopted = changes.Adopted(func(path string) bool { return c.started[path] })
	return nil
}

// note notes a node, the nodes with nested workflows around it, and their pipelines and loops.
func (c *conflicts) note(set map[string]bool, path string) {
	for path = plan.PartPath(path); path != "" && !set[path]; path, _ = plan.CutPath(path) {
		set[path] = true
		if unit, _ := c.place(path); unit != "" {
			set[unit] = true
		}
	}
}

// place reports whether there is a node at a path in the workflow with which the run was started, and
// returns the path of the pipeline or loop that it belongs to, or "" if there is none.
func (c *conflicts) place(path string) (unit string, isNode bool) {
	frame, id := plan.CutPath(path)
	p, err := c.b.plan.At(frame)
	if err != nil {
		return "", false
	}
	n, ok := p.Node(id)
	if !ok || p.Vertices[n.Vertex].Unit == nil {
		return "", ok
	}
	return strings.TrimPrefix(frame+"/"+p.Vertices[n.Vertex].Unit.ID, "/"), true
}

// isKept reports whether the result of a part is to be kept, alone or with a node around it.
func (c *conflicts) isKept(path string) bool {
	return slices.ContainsFunc(c.keep, func(k string) bool { return path == k || strings.HasPrefix(path, k+"/") })
}

// cannotKeep returns an error if a node that is to be kept has no result or cannot have it.
func (c *conflicts) cannotKeep() error {
	for _, path := range c.keep {
		switch {
		case c.again[path]:
			return fmt.Errorf("the result of node %s cannot be kept: the node runs again, alone or because of another one", path)
		case !c.plan.HasPart(path):
			return fmt.Errorf("the result of node %s cannot be kept: the node was removed from the workflow", path)
		case !c.ended[path]:
			return fmt.Errorf("the result of node %s cannot be kept: it has none", path)
		case c.b.misfits[path] != nil:
			return &journal.KeptError{Node: path, Err: c.b.misfits[path]}
		}
	}
	return nil
}

// values returns a function that reports whether a field has a value after the kept answers alone.
func (c *conflicts) values(changes *plan.Changes, kept []journal.Kept) (hasValue func(field string) bool, err error) {
	if len(changes.Fields) == 0 {
		return func(string) bool { return false }, nil
	}
	memo, err := journal.NewMemo(c.b.codec, c.b.head.Inputs, c.b.options(), kept)
	if err != nil {
		return nil, err
	}
	state := memo.Machine().State()
	return func(field string) bool {
		_, ok := state.Get(field)
		return ok
	}, nil
}

// changed returns the error for findings.
func (c *conflicts) changed(ds source.Diagnostics) *ChangedError {
	e := &ChangedError{Run: c.b.stored.run, Findings: ds}
	for _, d := range ds {
		if d.Code == source.CodeResumeChanged {
			e.Nodes = append(e.Nodes, d.Node)
		}
	}
	e.Kept = !slices.ContainsFunc(e.Nodes, func(path string) bool { return !c.ended[path] || !c.plan.HasPart(path) })
	for path := range affected(c.b.plan, c.plan, e.Nodes) {
		unit, isNode := c.place(path)
		if isNode && c.started[path] && !slices.Contains(e.Nodes, path) && !slices.Contains(e.Nodes, unit) {
			e.After++
		}
	}
	return e
}

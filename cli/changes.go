package cli

import (
	"context"
	"io"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
)

// maxChanges limits the changes of the graph in a summary.
const maxChanges = 20

// changes are the changes of its graph that a run has made or that were rejected. More than
// maxChanges are only counted.
type changes struct {
	list []*explain.Change
	more int
}

// changesOf returns the changes of a walk by steps, nil for other graphs.
func changesOf(p *plan.Plan) *changes {
	if !p.Conventions.Steps {
		return nil
	}
	return &changes{}
}

// listener returns a listener that records the changes and passes the events on to next, which may be nil.
func (c *changes) listener(next func(core.Event)) func(core.Event) {
	if c == nil {
		return next
	}
	return func(e core.Event) {
		if e.Type == core.GraphChanged || e.Type == core.GraphRejected {
			if len(c.list) < maxChanges {
				c.list = append(c.list, explain.ChangeOf(&e))
			} else {
				c.more++
			}
		}
		if next != nil {
			next(e)
		}
	}
}

// addedNodes returns the names of the nodes that a stored run of a walk by steps has added to its graph.
func (a *app) addedNodes(ctx context.Context, p *plan.Plan, found *storedRun) (names []string, err error) {
	if !p.Conventions.Steps {
		return nil, nil
	}
	compile := func(h *journal.Head) (*plan.Plan, error) { return a.recordedPlan(ctx, found, h) }
	err = projection.Events(ctx, found.store, found.Run, compile, func(e *core.Event) error {
		if e.Type == core.GraphChanged && e.Step == core.MutationAddNode {
			names = append(names, explain.ChangeOf(e).Subject)
		}
		return nil
	})
	return names, err
}

// print lists the changes.
func (c *changes) print(out io.Writer) {
	if c == nil {
		return
	}
	for _, x := range c.list {
		tty.Fprintf(out, "visit %d of %s asked for %s\n", x.Visit, x.Node, x.String())
	}
	if c.more > 0 {
		tty.Fprintf(out, "… and %s\n", plural(c.more, "more change"))
	}
}

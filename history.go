package wavefold

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/history"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// History reads what a stored run of the graph has written: the state after each execution, and the
// executions that wrote each value. Secrets are masked. path is the path of a nested run, such as
// "outer[3]", "" for the run itself. The run may be in progress. It must have been started with the same
// graph; the code of functions is not compared, and no function is called except reducers.
func (g *Graph) History(ctx context.Context, s store.Store, run, path string) (*history.Run, error) {
	if err := g.Compile(); err != nil {
		return nil, err
	}
	return history.Read(ctx, s, run, path, func(h *journal.Head) (*plan.Plan, error) { return samePlan(h, g) })
}

// History is Graph.History for a run of a document, which is read from the store.
func (e *Engine) History(ctx context.Context, s store.Store, run, path string) (*history.Run, error) {
	return history.Read(ctx, s, run, path, func(h *journal.Head) (*plan.Plan, error) {
		if h.File == "" {
			return nil, fmt.Errorf("run %s was not started from a document: Graph.History reads it", h.Run)
		}
		files, err := scheduler.SourceFiles(ctx, s, h)
		if err != nil {
			return nil, err
		}
		var last error
		for _, then := range []*Engine{e.From(files).LookingBack(ctx, s), e.From(files)} {
			then.Parallel = h.Options.Parallel != 0 || e.Parallel
			g, err := then.Load(documentOf(h, s))
			if err != nil {
				return nil, err
			}
			var p *plan.Plan
			if p, last = samePlan(h, g); last == nil {
				return p, nil
			}
		}
		return nil, last
	})
}

// samePlan returns the plan of a graph if the run of a head was started with it.
func samePlan(h *journal.Head, g *Graph) (*plan.Plan, error) {
	if !h.IsOf(g.plan) {
		return nil, fmt.Errorf("run %s was started with another graph", h.Run)
	}
	return g.plan, nil
}

package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// dropQuestions decides which questions still count in a new part of the journal, with the kept events.
// A question of a node that runs again does not: a person has seen a result that may be another one now. It
// is withdrawn if it is open, and an answer to it is dropped. Nor does a question of a run that has ended, if
// it was answered or withdrawn and its execution is not kept. The marks say so to later processes.
func (b *rebuilding) dropQuestions(kept []journal.Kept) error {
	r := b.run
	if len(r.gates) == 0 {
		return nil
	}
	ended := journal.Ended(kept)
	for _, name := range slices.Sorted(maps.Keys(r.gates)) {
		g := r.gates[name]
		g.outdated = g.outdated || b.plan != r.rec.codec.Plan
		if g.stale {
			continue
		}
		q := &g.question
		closed := g.hasAnswer() || g.withdrawn
		switch {
		case journal.Covers(b.again, q.Node):
		case b.stored.End == nil || !closed:
			continue
		case ended[fmt.Sprintf("%s#%d", q.Node, q.Visit)]: // of a later attempt, perhaps
			g.stale = true
			continue
		}
		if !closed {
			if err := r.rec.mark(store.MarkWithdrawn, q); err != nil {
				return err
			}
		}
		if err := r.rec.mark(store.MarkRerun, q); err != nil {
			return err
		}
		g.withdrawn, g.stale = true, true
	}
	return nil
}

// rerun returns what the event for a resumed run says about the nodes whose results or questions were dropped
// because of Recording.RerunFrom, nil if there are none.
func (b *rebuilding) rerun() *value.Object {
	if len(b.again) == 0 {
		return nil
	}
	dropped := map[string]bool{}
	note := func(execution string) {
		if journal.Covers(b.again, execution) {
			dropped[plan.PartPath(execution)] = true
		}
	}
	for i := range b.kept {
		note(b.kept[i].Path)
	}
	for _, o := range b.inFlight {
		if o.Op == machine.OpRun {
			note(o.Call.Name(o.Node))
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	var list []any
	for _, path := range slices.Sorted(maps.Keys(dropped)) {
		list = append(list, path)
	}
	return value.ObjectOf("rerun", list)
}

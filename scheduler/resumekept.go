package scheduler

import (
	"context"
	"maps"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// keep decides what is kept of a run that cannot continue with its own machine, because it was
// cancelled, has failed or has another workflow. A new machine repeats the kept answers, and a new
// part of the journal begins that refers to them.
func (b *rebuilding) keep(o Recording) error {
	r := b.run
	r.rec.seq = b.stored.last
	if !b.newPart {
		return nil
	}
	kept, err := b.remaining(o)
	if err != nil {
		return err
	}
	if r.memo, err = journal.NewMemo(r.rec.codec, b.head.Inputs, b.options(), kept); err != nil {
		return missingSecret(err)
	}
	p := r.rec.codec.Plan
	b.replay, r.m = r.memo.Replay(), r.memo.Machine()
	head := *b.head
	head.SetPlan(p, p.Recorded())
	head.Generations, head.Before = r.generations, b.seq
	if len(o.Sources) > 0 { // otherwise the workflow was compiled from the sources of the head
		head.Sources = nil
		if err := o.addSources(context.Background(), &head); err != nil {
			return storeError(err)
		}
	}
	head.Format, head.Logic, head.Cut = journal.Format, machine.Logic, machine.Cut
	data, err := r.rec.codec.AppendHead(nil, &head)
	if err != nil {
		return err
	}
	r.rec.add(store.Head, data, true)
	for _, batch := range r.memo.Batches() {
		r.rec.add(store.Batch, batch.AppendJSON(nil), false)
	}
	if err := b.dropQuestions(kept); err != nil {
		return err
	}
	if len(b.adopted) == 0 {
		return nil
	}
	paths := make([]string, len(b.adopted))
	for i, c := range b.adopted {
		if paths[i] = c.Path; o.Adopted != nil {
			o.Adopted(c)
		}
	}
	return r.rec.mark(store.MarkAdopted, map[string]any{"nodes": paths})
}

// remaining returns the answers that the new part of the journal repeats.
func (b *rebuilding) remaining(o Recording) ([]journal.Kept, error) {
	b.run.generations = maps.Clone(b.head.Generations)
	kept, err := b.unended(o)
	if err != nil {
		return nil, err
	}
	b.again = affected(b.plan, b.run.rec.codec.Plan, o.RerunFrom)
	c := conflicts{b: b, plan: b.run.rec.codec.Plan, keep: o.Keep, again: b.again}
	b.renew(c.again)
	kept = journal.Without(kept, c.again)
	return kept, c.find(kept)
}

// unended returns what is kept of a run because of how it ended.
func (b *rebuilding) unended(o Recording) ([]journal.Kept, error) {
	all := b.kept
	switch end := b.stored.End; {
	case end == nil, end.Status == string(core.RunSuccess), end.Status == string(core.RunPartial) && !o.Failed:
		return all, nil
	case end.Status == string(core.RunCancelled):
		return journal.Uncancelled(all), nil
	case len(b.lost) > 0: // what failed runs again when the run is resumed once more
		return all, nil
	}
	report := b.replay.Report()
	if report == nil {
		report = b.replay.Machine().Report()
	}
	kept, dropped := journal.Unfailed(b.plan, all, report, o.Failed)
	b.renew(dropped)
	switch {
	case kept != nil:
		return kept, nil
	case len(o.RerunFrom) > 0, len(b.misfits) > 0: // find reports the misfits
		return all, nil
	}
	return nil, ErrEnded
}

// renew gives executions of nodes that had run, or had begun, a new generation, and with it new idempotency keys.
func (b *rebuilding) renew(nodes map[string]bool) {
	ran := ran(b.kept)
	for _, o := range b.inFlight {
		if o.Op == machine.OpRun {
			ran[plan.PartPath(o.Call.Name(o.Node))] = true
		}
	}
	for n := range nodes {
		if ran[n] {
			if b.run.generations == nil {
				b.run.generations = map[string]int{}
			}
			b.run.generations[n] = max(1, b.run.generations[n]) + 1
		}
	}
}

// ran returns the paths of the nodes that have answers.
func ran(kept []journal.Kept) map[string]bool {
	set := map[string]bool{}
	for i := range kept {
		set[plan.PartPath(kept[i].Path)] = true
	}
	return set
}

// affected returns the nodes that can see the effect of the given nodes in the workflow of then or of
// now.
func affected(then, now *plan.Plan, nodes []string) map[string]bool {
	set := journal.Affected(now, nodes)
	maps.Copy(set, journal.Affected(then, nodes))
	for _, n := range nodes {
		set[n] = true
	}
	return set
}

// answerKept answers a command from what is kept of an earlier part of the journal, and reports whether
// it did. Of a range, a part may remain to be executed; it is then in c.
func (r *run) answerKept(c *machine.Command) (answered bool) {
	if r.memo == nil {
		return false
	}
	var x journal.Encoded
	e, err := r.memo.Answer(c, &x)
	if err != nil {
		r.rec.fail(err)
		return false
	}
	if e == nil {
		return false
	}
	r.tell(c, e, &x)
	r.again = true
	if e.Kind == machine.Yielded {
		c.ID.To = e.ID.To
		return false
	}
	return true
}

package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Fork says where a replay leaves the past of a stored run.
type Fork struct {
	// From is the path of the node, pipeline or loop that runs again, with everything that can see its
	// effect. In a walk it is the node whose first visit is repeated, with all that happened since.
	From string
	// Assume are nodes that have a status without running. What can see their effect runs again, too.
	Assume []machine.Assumption
	// Set gives fields of the state other values from From on: in a dag before all nodes on the level of
	// From, in a walk before its first visit. Before is not used. What reads these fields there runs
	// again, too.
	Set []machine.Assignment
}

// changed returns the paths of the nodes that have, or may have, another result than in the stored run.
func (f *Fork) changed() []string {
	list := []string{f.From}
	for _, a := range f.Assume {
		list = append(list, a.Node)
	}
	return list
}

// assignments returns what the replay sets, before From.
func (f *Fork) assignments() []machine.Assignment {
	list := slices.Clone(f.Set)
	for i := range list {
		list[i].Before = f.From
	}
	return list
}

// readers returns the nodes, pipelines and loops that can see what the replay sets.
func (f *Fork) readers(p *plan.Plan) (ids []string, err error) {
	if frame, _ := plan.CutPath(f.From); frame != "" && len(f.Set) > 0 {
		return nil, fmt.Errorf("fields can be set before nodes of the workflow itself, not inside of %s: begin the replay at %s", frame, plan.PartPath(frame))
	}
	for i, a := range f.assignments() {
		if slices.ContainsFunc(f.Set[:i], func(b machine.Assignment) bool { return a.Path == b.Path }) {
			return nil, &machine.AssignmentError{Path: a.Path, Err: errors.New("it is set twice")}
		}
		vertices, _, err := a.Reads(p)
		if err != nil {
			return nil, err
		}
		for _, v := range vertices {
			ids = append(ids, p.Vertices[v].ID)
		}
	}
	return ids, nil
}

// Replay executes a new run that shares the past of a stored one. Executions that do not run again
// because of f.From have the results of the stored run. All others run, with their effects. st is the
// result of ReadStored; p is the plan of the new run. If it is not the plan of the stored run, st.Then
// is needed as for Resume, and the shared nodes must not have changed. The new run has the inputs of
// the stored run and its options that the machine applies. It has its own journal and idempotency keys,
// and can be resumed. Run describes the rest of the behaviour and the results.
func Replay(ctx context.Context, st *Stored, p *plan.Plan, f Fork, o Options) (*core.Report, error) {
	r, err := st.fork(ctx, p, f, o)
	if err != nil {
		return nil, err
	}
	return r.finishRun()
}

// StartReplay is Replay, except that it returns as soon as the run has begun.
func StartReplay(ctx context.Context, st *Stored, p *plan.Plan, f Fork, o Options) (*Running, error) {
	return start(ctx, o, func(ctx context.Context, o Options) (*run, error) { return st.fork(ctx, p, f, o) })
}

// fork returns a run with a journal that begins with the past of the stored one.
func (st *Stored) fork(ctx context.Context, p *plan.Plan, f Fork, o Options) (*run, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case o.Recording == nil || o.Recording.Store == nil:
		return nil, errors.New("a replay needs a store for its journal")
	}
	if o.Run == "" {
		o.Run = rand.Text()
	}
	past, err := st.past(ctx, p, f, o.Recording.Adopt)
	if err != nil {
		return nil, err
	}
	if err := refused(p, &o, false); err != nil {
		return nil, err
	}
	if o.Mock != nil {
		if err := past.mockable(); err != nil {
			return nil, err
		}
	}
	head := past.b.head
	if o.Budget == (core.Budget{}) {
		o.Budget = head.Options.Budget
	}
	o.Strict = o.Strict || head.Options.Strict
	recording := *o.Recording
	recording.Head.Parent = &journal.Parent{Run: st.run, From: f.From, Kind: journal.ParentReplay}
	if o.Mock != nil {
		recording.Head.Parent.Mock = o.Mock.Name()
	}
	if head.File != "" && len(recording.Sources) == 0 { // the plan was compiled from the sources of the stored run
		recording.File, recording.Head.File, recording.Head.Sources = "", head.File, head.Sources
	}
	o.Recording = &recording
	r := newRun(ctx, p, o)
	r.guard.run = r
	if err := r.share(past); err != nil {
		r.guard.close()
		return nil, err
	}
	r.workflow, r.baseInput.Inputs = p.Name, r.m.Inputs()
	return r, nil
}

// share begins the journal of the run with a past.
func (r *run) share(past *past) error {
	settings := past.settings()
	settings.Run, settings.Events, settings.Guard = r.opts.Run, r.opts.Listener != nil, r.guard.call
	var err error
	r.memo, err = past.repeat(settings, func(list machine.Emissions) { r.past = append(r.past, list...) })
	if err != nil {
		return missingSecret(err)
	}
	b := &rebuilding{run: r, stored: past.b.stored, head: past.b.head, newPart: true, forked: true, replay: r.memo.Replay()}
	r.m = b.replay.Machine()
	r.beginNow()
	if err := r.beginJournal(past.plan, settings); err != nil {
		return err
	}
	if err = r.shareBatches(b); err != nil {
		_ = errors.Join(r.rec.own.release(), r.rec.claim.release()) // the first error counts
		return err
	}
	r.rebuilt = b
	return nil
}

// shareBatches writes the batches of the past, and opens the streams that continue.
func (r *run) shareBatches(b *rebuilding) error {
	if r.rec.resumable() {
		for _, batch := range r.memo.Batches() {
			r.rec.add(store.Batch, batch.AppendJSON(nil), false)
		}
	}
	r.rec.batch = b.replay.Batches()
	if err := b.fill(); err != nil {
		return err
	}
	m := r.rec.newMark(store.MarkForked)
	m.At, m.Kept = r.m.Now(), true
	m.Data = value.ObjectOf("run", b.stored.run, "from", r.opts.Recording.Head.Parent.From)
	if set := r.m.Assigned(); len(set) > 0 {
		paths := make([]any, len(set))
		for i := range set {
			paths[i] = set[i].Path
		}
		m.Data.Set("set", paths)
	}
	if err := r.rec.addMark(m); err != nil {
		return err
	}
	b.replay.Mark(m)
	return r.rec.flushFirst(r.ctx)
}

// past is what a replay shares with a stored run.
type past struct {
	b    *rebuilding // of the stored run
	fork Fork
	plan *plan.Plan // of the replay
	kept []journal.Kept
	// again are the nodes, pipelines and loops that run again, by path; nil in a walk.
	again map[string]bool
}

// past reads a stored run up to where a replay leaves it.
func (st *Stored) past(ctx context.Context, p *plan.Plan, f Fork, adopt bool) (*past, error) {
	if err := st.check(p, &Recording{RerunFrom: []string{f.From}}); err != nil {
		return nil, err
	}
	if !p.HasPart(f.From) {
		return nil, fmt.Errorf("a replay cannot begin at node %s: it was removed from the workflow", f.From)
	}
	if err := machine.CheckAssumptions(p, f.Assume); err != nil {
		return nil, err
	}
	readers, err := f.readers(p)
	if err != nil {
		return nil, err
	}
	then, foreign := st.before(p)
	r := newRun(ctx, p, Options{Run: st.run, Recording: &Recording{Store: st.store, Adopt: adopt}})
	r.guard.run = r
	defer r.guard.close()
	r.startRecording(p, st.holder, st.lease, core.DurabilityOff, map[string]*value.Object{})
	b := newRebuilding(r, st, then, true)
	b.foreign = foreign
	visit := &visit{b: b, nodes: f.changed(), before: -1}
	if p.Mode.Visits {
		visit.find()
	}
	if err := b.read(ctx); err != nil {
		return nil, err
	}
	visited := visit.found()
	b.inFlight = nil // it is not shared
	x := &past{b: b, fork: f, plan: p, kept: b.kept}
	switch {
	case p.Mode.Visits && visited < 0:
		return nil, fmt.Errorf("a replay cannot begin at node %s: run %s has not visited it", f.From, st.run)
	case p.Mode.Visits:
		x.kept = x.kept[:visited]
	default:
		x.again = affected(then, p, append(f.changed(), readers...))
		x.kept = journal.Without(x.kept, x.again)
	}
	if st.End != nil && st.End.Status == string(core.RunCancelled) {
		x.kept = journal.Uncancelled(x.kept)
	}
	c := conflicts{b: b, plan: p, again: x.again}
	return x, c.find(x.kept)
}

// settings returns the options of the machine of the replay.
func (x *past) settings() machine.Options {
	o := x.b.head.Machine()
	o.Events = false
	for _, a := range x.fork.Assume { // the stored run may itself be a replay with assumptions
		o.Assume = slices.DeleteFunc(slices.Clone(o.Assume), func(before machine.Assumption) bool { return before.Node == a.Node })
	}
	o.Assume = append(o.Assume, x.fork.Assume...)
	for _, a := range x.fork.assignments() {
		o.Set = slices.DeleteFunc(slices.Clone(o.Set), func(before machine.Assignment) bool { return before.Path == a.Path && before.Before == a.Before })
		o.Set = append(o.Set, a)
	}
	return o
}

// repeat returns a memo that repeats what is shared. listener may be nil.
func (x *past) repeat(o machine.Options, listener func(machine.Emissions)) (*journal.Memo, error) {
	memo, err := journal.NewFork(codecOf(x.plan, x.b.stored.store), x.b.head.Inputs, o, x.kept, listener)
	if err != nil {
		return nil, err
	}
	return memo, memo.Machine().AssignmentError()
}

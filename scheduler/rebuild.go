package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// rebuilding rebuilds a run from its journal.
type rebuilding struct {
	run      *run
	stored   *Stored
	plan     *plan.Plan // of the newest part of the journal
	codec    *journal.Codec
	newPart  bool // the run continues in a new part of the journal
	forked   bool // the run is a new one, see Replay
	head     *journal.Head
	adopted  []plan.PartChange // parts of a changed workflow that are taken over
	replay   *journal.Replay
	seq      int64            // number of the last event of earlier processes
	inMemo   bool             // the batches belong to a memo, whose events belong to an earlier part
	replayed func(core.Event) // is given these events; nil if they are not wanted
	spent    core.Usage       // of all calls of models
	// batches are the payloads of batches by their records. They are collected if events of later
	// parts may refer to them.
	batches map[uint64][]byte
	// entered is called when a node has begun for the first time or once more; nil if that is
	// not wanted. The kept answers up to then led to it.
	entered func(node string)
	// kept are the answers of the newest part, if the run continues in a new one.
	kept []journal.Kept
	// again are the nodes that run again because of Recording.RerunFrom, by path.
	again map[string]bool
	// inFlight is what was open at the end of the newest part, nil if the run has ended.
	inFlight []journal.Open
	// collects is set from the first batch that the replay cannot follow: this version of the engine
	// decides differently than the version that wrote the newest part, or the store has lost a
	// result. The run continues in a new part with all results that are left.
	collects bool
	lost     []*journal.LostError
	// foreign is set if the plan that the run was started with is not known: it is read with the plan of
	// now. misfits are the answers that this plan cannot have, by the path of their node.
	foreign bool
	misfits map[string]error
	// counts reports whether a misfit of a node matters; nil means that all do.
	counts func(path string) bool
}

// newRebuilding returns the rebuilding of a run from its journal. then is the plan of the newest part,
// nil if it is not known. newPart says that the run continues in a new part.
func newRebuilding(r *run, st *Stored, then *plan.Plan, newPart bool) *rebuilding {
	b := &rebuilding{run: r, stored: st, plan: then, codec: r.rec.codec, newPart: newPart, replayed: masked(r.rec.codec.Plan.Secrets, r.opts.Replayed)}
	if b.newPart || st.parts > 1 {
		b.batches = map[uint64][]byte{}
		r.rec.codec.Kept = b.event
	}
	return b
}

// event returns an event of an earlier part of the journal.
func (b *rebuilding) event(ref journal.Ref) ([]byte, error) {
	return journal.EventOf(b.batches[ref.Seq], ref)
}

// read replays the newest part of the journal.
func (b *rebuilding) read(ctx context.Context) error {
	r, st := b.run, b.stored
	if b.plan == nil {
		return &ChangedError{Run: st.run}
	}
	if b.plan != r.rec.codec.Plan {
		b.codec = codecOf(b.plan, st.store)
		b.codec.Kept = b.event
	}
	first := st.from
	if b.batches != nil {
		first = 1
	}
	for rec, err := range st.since(ctx, first) {
		if err == nil {
			err = b.add(rec)
		}
		if err != nil {
			return missingSecret(err)
		}
	}
	b.kept = b.replay.Kept()
	if b.stored.End == nil {
		b.inFlight = b.replay.Open()
	}
	if b.collects {
		b.seq += mostEvents(b.plan, b.kept)
		if b.stored.End != nil {
			b.kept = journal.Decided(b.kept)
		}
		o := b.options()
		if b.foreign { // a node that the run did not have must not keep a slot from what has run
			o.Concurrency, o.MaxInFlight = math.MaxInt32, math.MaxInt32
		}
		memo, err := journal.NewMemo(b.codec, b.head.Inputs, o, b.kept)
		if err != nil {
			return err
		}
		b.replay = memo.Replay()
		if b.foreign && b.stored.End == nil { // what runs next may have been in progress
			b.inFlight = b.replay.Open()
		}
	}
	r.m = b.replay.Machine()
	return nil
}

// missingSecret returns only the error about the secret if err says where its value was wanted.
func missingSecret(err error) error {
	if missing, ok := errors.AsType[*secret.MissingError](err); ok {
		return missing
	}
	return err
}

// add handles a record. Of earlier parts, only what later ones may refer to matters.
func (b *rebuilding) add(rec store.Record) error {
	current := rec.Seq >= b.stored.from
	switch rec.Type {
	case store.Head:
		if current {
			return b.start(rec.Data)
		}
	case store.Batch:
		if b.batches != nil {
			b.batches[rec.Seq] = rec.Data
		}
		if !current {
			return nil
		}
		batch, err := journal.DecodeBatch(rec.Data)
		if err != nil {
			return err
		}
		batch.Seq = rec.Seq
		return b.batch(batch)
	case store.Side:
		s, err := b.codec.DecodeSide(rec.Data)
		if err != nil {
			return err
		}
		b.side(s, current)
	case store.Mark:
		m, err := b.codec.DecodeMark(rec.Data)
		if err != nil {
			return err
		}
		if err := b.gate(m, current); err != nil {
			return err
		}
		if current && !b.collects {
			b.replay.Mark(m)
			b.inMemo = b.inMemo && !m.Kept
		}
	}
	return nil
}

// batch replays a batch of the newest part.
func (b *rebuilding) batch(batch *journal.Batch) error {
	if b.collects {
		return b.replay.Collect(batch)
	}
	err := b.replay.Batch(batch)
	if _, ok := errors.AsType[*journal.LostError](err); ok && b.run.opts.Recording.Salvage != nil {
		b.collects = true
		return b.replay.Collect(batch)
	}
	diverged, ok := errors.AsType[*journal.DivergedError](err)
	switch {
	case !ok || b.head.Logic == machine.Logic:
		return err
	case !b.run.opts.Recording.Adopt:
		return &LogicError{Engine: b.head.Engine, Err: diverged}
	}
	b.collects = true
	return nil
}

// start makes the machine of the newest head.
func (b *rebuilding) start(data []byte) (err error) {
	r := b.run
	if b.head, err = b.codec.DecodeHead(data); err != nil {
		return err
	}
	o := b.options()
	o.Events = o.Events || b.newPart // so that they are counted
	if b.replay, err = journal.NewReplay(b.codec, b.head.Inputs, o); err != nil {
		return err
	}
	if b.newPart {
		b.replay.Keep()
	}
	if b.foreign {
		b.collects, b.misfits = true, map[string]error{}
		b.replay.Misfit = func(path string, err error) {
			if b.misfits[path] == nil && (b.counts == nil || b.counts(path)) {
				b.misfits[path] = err
			}
		}
	}
	if salvage := r.opts.Recording.Salvage; salvage != nil {
		b.replay.Lost = func(e *journal.LostError) {
			b.lost = append(b.lost, e)
			salvage(e)
		}
	}
	var x core.Event
	b.seq, b.inMemo = b.head.Before, b.stored.from > 1
	b.replay.Listener = func(list machine.Emissions) {
		for i := range list {
			if !b.inMemo { // else the listeners of earlier processes were given it in another part
				b.seq += list[i].Len()
			}
			if b.entered != nil {
				list[i].Events(&x, func(e *core.Event) {
					if e.Type == core.NodeStarted {
						b.entered(e.Node)
					}
				})
			}
			if b.replayed != nil {
				e := list[i]
				e.Shift(r.origin.UnixNano())
				e.Events(&x, func(e *core.Event) { b.replayed(*e) })
			}
		}
	}
	r.origin, r.generations = b.head.Started, b.head.Generations
	r.opts.Strict = b.head.Options.Strict
	if r.opts.Budget == (core.Budget{}) {
		r.opts.Budget = b.head.Options.Budget
	}
	return nil
}

// options returns the options of the machine.
func (b *rebuilding) options() machine.Options {
	o := b.head.Machine()
	o.Events, o.Guard = b.run.opts.Listener != nil || b.replayed != nil, b.run.guard.call
	return o
}

// side handles an event of the driver. current reports whether it belongs to the newest part.
func (b *rebuilding) side(s *journal.Side, current bool) {
	switch s.Event.Type {
	case typeCheckpoint:
		key, _ := s.Event.Values.Get("key")
		position, _ := s.Event.Values.Get("position")
		name, _ := key.(string)
		b.run.rec.checkpoints[name], _ = position.(*value.Object)
	case core.ModelAnswered: // the answer of its attempt may be dropped, or not be recorded
		if s.Event.Usage != nil {
			b.spent = b.spent.Plus(*s.Event.Usage)
		}
		fallthrough
	default:
		if current {
			b.seq++
		}
		if b.replayed != nil {
			b.replayed(s.Event)
		}
	}
}

// gate handles the marks of questions and answers. current reports whether the mark belongs to the newest part.
func (b *rebuilding) gate(m *journal.Mark, current bool) error {
	switch m.Kind {
	case store.MarkAsked:
		var q core.PendingQuestion
		if err := fromObject(m.Data, &q); err != nil {
			return err
		}
		g := newGate(q)
		g.outdated = !current
		b.run.addGate(inbox.Name(&q.Question), g)
	case store.MarkWithdrawn, store.MarkRerun:
		var q core.PendingQuestion
		if err := fromObject(m.Data, &q); err != nil {
			return err
		}
		if g := b.run.gates[inbox.Name(&q.Question)]; g != nil && g.question.Generation == q.Generation {
			g.withdrawn = true
			g.stale = g.stale || m.Kind == store.MarkRerun
		}
	case store.MarkAnswered:
		var a inbox.Answer
		if err := fromObject(m.Data, &a); err != nil {
			return err
		}
		if g := b.run.gates[inbox.Name(a.Question())]; g != nil && !g.hasAnswer() && g.question.Generation == a.Generation {
			g.answer = a
			close(g.answered)
		}
	}
	return nil
}

// fromObject decodes the content of a mark.
func fromObject(o *value.Object, to any) error {
	text, err := value.AppendJSON(nil, o)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// resume continues the run at the current time.
func (b *rebuilding) resume() error {
	r := b.run
	r.spent.used = b.spent
	last := r.m.Now()
	now := max(last, int64(time.Since(r.origin))) // if the clock was set back, the time does not change
	r.started, r.resumed = time.Now().Add(-time.Duration(now)), time.Now()
	down := time.Duration(now - last)
	if err := b.fill(); err != nil {
		return err
	}
	if b.head.Logic != machine.Logic {
		if err := r.rec.mark(store.MarkUpgraded, map[string]any{"engine": b.head.Engine, "logic": b.head.Logic}); err != nil {
			return err
		}
	}
	r.rec.flushed, r.rec.batch = b.stored.last, b.replay.Batches()
	m := r.rec.newMark(store.MarkResumed)
	m.At, m.Down, m.Kept = now, down, r.memo != nil
	if err := r.rec.addMark(m); err != nil {
		return err
	}
	b.replay.Mark(m)
	r.seqBefore, r.rebuilt = b.seq, b
	return nil
}

// repeats returns the reason why an open command is executed once more, "" if it is executed for the
// first time or continues to wait for an answer.
func (b *rebuilding) repeats(o *journal.Open) string {
	const inProgress = "it was in progress when the process ended"
	switch {
	case o.Op != machine.OpRun, b.forked:
		return ""
	case !b.newPart:
		return b.unlessAsked(o, inProgress)
	}
	path := o.Call.Name(o.Node)
	same := func(id machine.ID) bool {
		return id.From < max(o.ID.To, o.ID.From+1) && o.ID.From < max(id.To, id.From+1) && id.Attempt != 0
	}
	if slices.ContainsFunc(b.lost, func(x *journal.LostError) bool { return x.Path == path && same(x.ID) }) {
		return "its result was lost"
	}
	if slices.ContainsFunc(b.inFlight, func(x journal.Open) bool { return x.Op == machine.OpRun && x.Call.Name(x.Node) == path && same(x.ID) }) {
		return b.unlessAsked(o, inProgress)
	}
	for i := len(b.kept) - 1; i >= 0; i-- {
		x := &b.kept[i]
		if x.Event.Kind != machine.Finished || x.Path != path || !same(x.Event.ID) {
			continue
		}
		switch f := x.Failure(o.ID.From); {
		case f == nil:
			return "it had ended, and its result is dropped"
		case f.Class == core.ClassCanceled:
			return "it was cancelled"
		}
		return "it had failed"
	}
	return ""
}

// unlessAsked returns why, or "" for a command that asks a person: the question waits.
func (b *rebuilding) unlessAsked(o *journal.Open, why string) string {
	if o.Node.Asks || o.ID.Attempt == machine.PauseAttempt {
		return ""
	}
	return why
}

// fill reads the rows again that were read before and that stages in flight still need, and leaves the
// streams open for the next rows.
func (b *rebuilding) fill() error {
	for _, x := range b.replay.Readers() {
		r, s := b.run, &rowSource{}
		c := machine.Command{Op: machine.OpRun, ID: x.ID, Plan: x.Plan, Node: x.Node, Call: x.Call}
		e := executor{run: r, w: r.makeWorker(), p: x.Plan, ctx: r.ctx, c: &c, item: -1}
		_, err := guarded(func() (any, error) { return nil, b.reread(&e, &x, s) })
		if err != nil {
			s.close()
			return err
		}
		if !x.Continues {
			s.close()
			continue
		}
		s.next = int(x.ID.From)
		r.keepSource(sourceKey{x.ID.Frame, x.ID.Node}, s)
	}
	return nil
}

// reread opens the stream of a reader, at the recorded position or at its first row, and reads it up
// to where the earlier process was. The rows must be the same.
func (b *rebuilding) reread(e *executor, x *journal.Reader, s *rowSource) error {
	if err := s.openAt(e, x.Position); err != nil {
		return err
	}
	skipped := x.Skipped
	if x.Position != nil {
		skipped = x.After
	}
	var sum journal.RowSum
	for sum.Len() < skipped.Len() {
		rows, err := s.takeRows(e.ctx, skipped.Len()-sum.Len())
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := sum.Add(row); err != nil {
				return err
			}
		}
	}
	if sum != skipped {
		return x.Changed()
	}
	var list []any
	for int64(len(list)) < x.Rows.Len() {
		rows, err := s.takeRows(e.ctx, x.Rows.Len()-int64(len(list)))
		if err == io.EOF {
			break // Fill finds that rows are missing
		}
		if err != nil {
			return err
		}
		list = append(list, rows...)
	}
	return b.replay.Fill(x, list)
}

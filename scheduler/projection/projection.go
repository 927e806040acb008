// Package projection derives the events of a stored run from its journal. A journal has no events of
// the machine: it has what the machine was told. Replaying that emits the events that a listener of
// the run was given, whether or not it had one.
package projection

import (
	"context"
	"errors"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// typeCheckpoint is the type of side events that no listener gets.
const typeCheckpoint core.EventType = "checkpoint"

// Events calls f with the events of a stored run in order, with the times and numbers that they had,
// except log records and progress, which are not stored. The events of a run that is in progress end
// with those that are stored so far. An event is valid until f returns. An error of f ends the call.
//
// compile returns the plan of a part of the journal from its head, in which secrets are sealed. A run has
// one part unless it was resumed after it had failed, was cancelled, or its workflow had changed.
// Secrets are masked in the events. Their values are needed only if a condition depends on them.
func Events(ctx context.Context, s store.Store, run string, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) error {
	return newProjection(ctx, s, compile, f).read(run)
}

// Newest is Events for the newest part of the journal alone, from its beginning: the events are those of a
// run in which what was kept of earlier parts ended as it is kept. They are numbered from 1.
func Newest(ctx context.Context, s store.Store, run string, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) error {
	p := newProjection(ctx, s, compile, f)
	for rec, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return err
		}
		if rec.Type == store.Head {
			p.from = rec.Seq
		}
	}
	return p.read(run)
}

func newProjection(ctx context.Context, s store.Store, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) *projection {
	return &projection{ctx: ctx, store: s, compile: compile, f: f, batches: map[uint64][]byte{}}
}

// read reads the journal.
func (p *projection) read(run string) error {
	for rec, err := range p.store.Read(p.ctx, run, 1) {
		switch {
		case err != nil:
		case rec.Seq >= p.from:
			err = p.add(rec)
		case rec.Type == store.Batch:
			p.batches[rec.Seq] = rec.Data
		}
		if err == nil {
			err = p.err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// projection is the state of a call of Events.
type projection struct {
	ctx     context.Context
	store   store.Store
	compile func(*journal.Head) (*plan.Plan, error)
	f       func(*core.Event) error

	codec  *journal.Codec
	mask   secret.Masker
	replay *journal.Replay
	start  int64 // of the run, in nanoseconds since the Unix epoch
	// repeats is set at the beginning of a later part of the journal, while the machine repeats what is
	// kept of an earlier part. Listeners are not given the events of that.
	repeats bool
	batches map[uint64][]byte // the payloads of batches, to which those of later parts may refer
	from    uint64            // the first record whose events are wanted
	seq     int64
	event   core.Event
	err     error // of f
}

func (p *projection) add(rec store.Record) error {
	if p.replay == nil && rec.Type != store.Head {
		return errors.New("the journal does not begin with a head")
	}
	switch rec.Type {
	case store.Head:
		return p.head(rec)
	case store.Batch:
		p.batches[rec.Seq] = rec.Data
		b, err := journal.DecodeBatch(rec.Data)
		if err != nil {
			return err
		}
		b.Seq = rec.Seq
		return p.replay.Batch(b)
	case store.Side:
		side, err := p.codec.DecodeSide(rec.Data)
		if err == nil && side.Event.Type != typeCheckpoint {
			p.tell(&side.Event)
		}
		return err
	case store.Mark:
		m, err := p.codec.DecodeMark(rec.Data)
		if err != nil {
			return err
		}
		p.repeats = p.repeats && m.Kind != store.MarkResumed
		p.replay.Mark(m)
	}
	return nil
}

// head begins a part of the journal.
func (p *projection) head(rec store.Record) error {
	sealed, err := journal.SealedHead(rec.Data)
	if err != nil {
		return err
	}
	if err := sealed.Check(); err != nil {
		return err
	}
	compiled, err := p.compile(sealed)
	if err != nil {
		return err
	}
	p.mask = secret.MaskerOf(compiled.Secrets)
	p.codec = &journal.Codec{Plan: compiled, Secrets: secret.OpenerOf(compiled.Secrets), Kept: p.kept,
		Get: func(sum string) ([]byte, error) { return p.store.Get(p.ctx, sum) }}
	h, err := p.codec.DecodeHead(rec.Data)
	if err != nil {
		return err
	}
	o := h.Machine()
	o.Events = true
	if p.replay, err = journal.NewReplay(p.codec, h.Inputs, o); err != nil {
		return err
	}
	p.replay.Listener = p.emit
	p.start, p.repeats = h.Started.UnixNano(), rec.Seq > max(1, p.from)
	return nil
}

// kept returns an event of an earlier part of the journal.
func (p *projection) kept(ref journal.Ref) ([]byte, error) {
	return journal.EventOf(p.batches[ref.Seq], ref)
}

// emit handles what the machine emits.
func (p *projection) emit(list machine.Emissions) {
	if p.repeats {
		return
	}
	for _, e := range list {
		e.Shift(p.start)
		e.Events(&p.event, p.tell)
	}
}

func (p *projection) tell(e *core.Event) {
	if p.err != nil {
		return
	}
	p.seq++
	masked := p.mask.Event(*e)
	masked.Seq = p.seq
	p.err = p.f(&masked)
}

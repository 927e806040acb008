// Package projection derives the events of a stored run from its journal. A journal does not have
// the events that the machine emitted. It has the input of the machine, and a replay of this input
// emits the events that a listener of the run would have received.
package projection

import (
	"context"

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
// except log records and progress, which are not stored. If the run is in progress, only the events
// so far are passed. An event is valid until f returns. An error of f ends the call.
//
// compile returns the plan of a part of the journal from its head, in which secrets are sealed. A run has
// one part unless it was resumed after it had failed, was cancelled, or its workflow had changed.
// Secrets are masked in the events. Their values are needed only if a condition depends on them.
func Events(ctx context.Context, s store.Store, run string, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) error {
	return newProjection(ctx, s, compile, f).read(ctx, s, run)
}

// Newest is like Events, but only for the newest part of the journal, from its beginning. The events are
// the events of a run whose first executions have the results that were kept of earlier parts. They are
// numbered from 1.
func Newest(ctx context.Context, s store.Store, run string, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) error {
	p := newProjection(ctx, s, compile, f)
	head, records, err := journal.Newest(ctx, s, run)
	if err != nil {
		return err
	}
	p.parts.From = head
	for rec := range records {
		if err = p.add(rec); err == nil {
			err = p.err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newProjection(ctx context.Context, s store.Store, compile func(*journal.Head) (*plan.Plan, error), f func(*core.Event) error) *projection {
	return &projection{f: f, parts: journal.Parts{Compile: compile, Get: func(sum string) ([]byte, error) { return s.Get(ctx, sum) },
		Options: func(o *machine.Options) { o.Events = true }}}
}

// read reads the journal.
func (p *projection) read(ctx context.Context, s store.Store, run string) error {
	for rec, err := range s.Read(ctx, run, 1) {
		if err == nil {
			err = p.add(rec)
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
	f     func(*core.Event) error
	parts journal.Parts
	mask  secret.Masker
	start int64 // of the run, in nanoseconds since the Unix epoch
	seq   int64
	event core.Event
	err   error // of f
}

func (p *projection) add(rec store.Record) error {
	err := p.parts.Add(rec)
	switch {
	case err != nil:
		return err
	case rec.Seq < p.parts.From:
	case rec.Type == store.Head:
		p.mask = secret.MaskerOf(p.parts.Codec.Plan.Secrets)
		p.start = p.parts.Head.Started.UnixNano()
		p.parts.Replay.Listener = p.emit
		if p.parts.From == 0 {
			p.seq = max(p.seq, p.parts.Head.Before)
		}
	case rec.Type == store.Side:
		side, err := p.parts.Codec.DecodeSide(rec.Data)
		if err == nil && p.parts.From > 0 && side.Event.Type == core.RunResumed {
			side.Event.Values = nil // what was dropped is not among the events
		}
		if err == nil && side.Event.Type != typeCheckpoint {
			p.tell(&side.Event)
		}
		return err
	}
	return nil
}

// emit handles what the machine emits.
func (p *projection) emit(list machine.Emissions) {
	if p.parts.Repeats {
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

package journal

import (
	"context"
	"errors"
	"iter"

	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Parts replays the records of a run for readers of its journal. A journal has one part unless the
// run was resumed after it had failed, was cancelled, or its workflow had changed: each part begins
// with a head and has its own machine, which first applies the kept answers of the parts before.
type Parts struct {
	// Compile returns the plan of a part from its head, in which secrets are sealed.
	Compile func(*Head) (*plan.Plan, error)
	// Get returns a blob of the store.
	Get func(sum string) ([]byte, error)
	// Options changes the options of the machine of a part, if it is not nil.
	Options func(*machine.Options)
	// From is the number of the head of the only part that is replayed, see Newest. Records before
	// it are only kept for references. 0 means all parts.
	From uint64

	// Head, Codec and Replay belong to the latest part. The inputs and assignments of the head are opened;
	// secrets in other members stay sealed, and Nodes are not decoded, see Head.Recorded.
	Head   *Head
	Codec  *Codec
	Replay *Replay
	// Repeats reports whether the machine repeats what is kept of an earlier part. Listeners of the
	// run were not given the events of that.
	Repeats bool

	batches map[uint64][]byte // the payloads of batches, to which batches of later parts may refer
}

// Newest reads the newest part of a journal, whose machine ends with the state of the run. It returns the number of
// the head of this part, for Parts.From, and the records to add: those from the head on, and the batches of earlier
// parts, to which it may refer. They can be added once.
func Newest(ctx context.Context, s store.Store, run string) (head uint64, records iter.Seq[store.Record], err error) {
	var full [][]store.Record // of a fixed length, so that a long journal is not copied while it is read
	list := make([]store.Record, 0, recordsRead)
	for rec, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return 0, nil, err
		}
		if rec.Type == store.Head {
			head = rec.Seq
		}
		if len(list) == recordsRead {
			full, list = append(full, list), make([]store.Record, 0, recordsRead)
		}
		list = append(list, rec)
	}
	full = append(full, list)
	return head, func(yield func(store.Record) bool) {
		for i, list := range full {
			full[i] = nil
			for j, rec := range list {
				list[j].Data = nil
				if (rec.Seq >= head || rec.Type == store.Batch) && !yield(rec) {
					return
				}
			}
		}
	}, nil
}

// recordsRead is the number of records that Newest keeps in one piece.
const recordsRead = 1000

// Add replays a record. It does nothing for side records and ends.
func (p *Parts) Add(rec store.Record) error {
	switch {
	case rec.Seq < p.From && rec.Type == store.Batch:
		p.keep(rec)
		fallthrough
	case rec.Seq < p.From:
		return nil
	case p.Replay == nil && rec.Type != store.Head:
		return errors.New("the journal does not begin with a head")
	}
	switch rec.Type {
	case store.Head:
		return p.head(rec)
	case store.Batch:
		if p.From == 0 { // else no part follows
			p.keep(rec)
		}
		b, err := DecodeBatch(rec.Data)
		if err != nil {
			return err
		}
		b.Seq = rec.Seq
		return p.Replay.Batch(b)
	case store.Mark:
		m, err := p.Codec.DecodeMark(rec.Data)
		if err != nil {
			return err
		}
		p.Repeats = p.Repeats && m.Kind != store.MarkResumed
		p.Replay.Mark(m)
	}
	return nil
}

// keep keeps a batch for references of later parts.
func (p *Parts) keep(rec store.Record) {
	if p.batches == nil {
		p.batches = map[uint64][]byte{}
	}
	p.batches[rec.Seq] = rec.Data
}

// head begins a part of the journal.
func (p *Parts) head(rec store.Record) error {
	sealed, inputs, err := sealedHead(rec.Data)
	if err != nil {
		return err
	}
	if err := sealed.Check(); err != nil {
		return err
	}
	compiled, err := p.Compile(sealed)
	if err != nil {
		return err
	}
	p.Codec = &Codec{Plan: compiled, Secrets: secret.OpenerOf(compiled.Secrets), Kept: p.kept, Get: p.Get}
	p.Head = sealed
	if p.Head.Inputs, err = p.Codec.openInputs(inputs); err != nil {
		return err
	}
	if err := p.Codec.openAssignments(p.Head.Options.Set); err != nil {
		return err
	}
	o := p.Head.Machine()
	if p.Options != nil {
		p.Options(&o)
	}
	p.Repeats = rec.Seq > max(1, p.From)
	p.Replay, err = NewReplay(p.Codec, p.Head.Inputs, o)
	return err
}

// kept returns an event of an earlier part of the journal.
func (p *Parts) kept(ref Ref) ([]byte, error) { return EventOf(p.batches[ref.Seq], ref) }

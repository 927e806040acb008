// Package torture kills runs and checks that they can be resumed. The tests run the examples and the
// correct documents of the corpus in child processes that die of SIGKILL after a record of their
// journals, in the middle of a record, or at any moment.
//
// Package schedulertest does the same for generated graphs, in one process and in virtual time.
package torture

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Execution identifies one attempt. Node is the path of the node; Item is -1 outside of fan-outs and
// pipelines, Round and Visit are 0 outside of loops and walks.
type Execution struct {
	Node                        string
	Item, Round, Visit, Attempt int
}

// Key returns the idempotency key of the execution in a run.
func (e Execution) Key(run string) string {
	key := run + "/" + e.Node
	if e.Item >= 0 {
		key += fmt.Sprintf("[%d]", e.Item)
	}
	if n := e.Round + e.Visit; n > 0 {
		key += fmt.Sprintf("#%d", n)
	}
	return key
}

// Witness is what a journal says about the executions of a run.
type Witness struct {
	Records int
	Issued  map[Execution]bool // the executions that may have begun
	Ended   map[Execution]bool // the executions whose answers are recorded
	// Cancelled has the executions that were cancelled while they were in progress, such as the losers
	// of a race.
	Cancelled map[Execution]bool
	Events    []core.Event // of the machine
}

// Read replays the journal of a run. The error is store.ErrNotFound if there is none.
func Read(ctx context.Context, p *plan.Plan, s store.Store, run string) (*Witness, error) {
	w := &Witness{Issued: map[Execution]bool{}, Ended: map[Execution]bool{}, Cancelled: map[Execution]bool{}}
	codec := &journal.Codec{Plan: p, Get: func(sum string) ([]byte, error) { return s.Get(ctx, sum) }}
	var r *journal.Replay
	for rec, err := range s.Read(ctx, run, 1) {
		if err != nil {
			return nil, err
		}
		w.Records++
		switch rec.Type {
		case store.Head:
			r, err = w.begin(codec, rec.Data)
		case store.Batch:
			var b *journal.Batch
			if b, err = journal.DecodeBatch(rec.Data); err == nil {
				err = r.Batch(b)
			}
			w.issue(r.Open())
		case store.Mark:
			var m *journal.Mark
			if m, err = codec.DecodeMark(rec.Data); err == nil {
				r.Mark(m)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", rec.Seq, err)
		}
	}
	return w, nil
}

func (w *Witness) begin(codec *journal.Codec, data []byte) (*journal.Replay, error) {
	head, err := codec.DecodeHead(data)
	if err != nil {
		return nil, err
	}
	o := head.Machine()
	o.Events = true
	r, err := journal.NewReplay(codec, head.Inputs, o)
	if err == nil {
		r.Listener = func(list machine.Emissions) { list.Events(new(core.Event), w.take) }
	}
	return r, err
}

func (w *Witness) take(e *core.Event) {
	w.Events = append(w.Events, *e)
	switch e.Type {
	case core.NodeFinished, core.NodeFailed, core.NodeRetrying, core.ItemFinished, core.ItemFailed:
		x := Execution{Node: e.Node, Item: -1, Visit: e.Visit, Attempt: e.Attempt}
		if item, ok := e.Item.Get(); ok {
			x.Item = item
		}
		x.Round, _ = e.Round.Get()
		w.Ended[x] = true
	}
}

// issue notes the executions that are in progress.
func (w *Witness) issue(list []journal.Open) {
	for i := range list {
		o := &list[i]
		if o.Op != machine.OpRun || o.ID.Attempt == machine.PauseAttempt || o.Call != nil && o.Call.Route != nil {
			continue
		}
		e := Execution{Node: o.Call.Name(o.Node), Item: -1, Attempt: int(o.ID.Attempt)}
		if o.Call != nil {
			if row, ok := o.Call.Row.Get(); ok {
				e.Item = row
			}
			if e.Visit = o.Call.Visit; o.Call.Loop != "" {
				e.Round, _ = o.Call.Round.Get()
			}
		}
		from, to := int32(e.Item), int32(e.Item+1)
		if o.Node.Source != nil {
			from, to = o.ID.From, o.ID.To
		}
		for item := from; item < to; item++ {
			e.Item = int(item)
			w.Issued[e] = true
			if o.Cancelled {
				w.Cancelled[e] = true
			}
		}
	}
}

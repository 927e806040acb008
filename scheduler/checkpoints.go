package scheduler

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/store"
)

// checkpoint records how far an execution has come.
func (rec *recording) checkpoint(ctx context.Context, in core.Input, position *value.Object) error {
	r := rec.run
	r.mu.Lock()
	if rec.failure != nil {
		defer r.mu.Unlock()
		return rec.failure
	}
	data, err := rec.codec.AppendSide(nil, &journal.Side{After: rec.batch, Event: checkpointEvent(in, position)})
	if err != nil {
		r.mu.Unlock()
		return err
	}
	seq := rec.add(store.Side, data, true)
	flushed := make(chan struct{})
	rec.held = append(rec.held, heldCommand{after: seq, flushed: flushed})
	r.mu.Unlock()
	select {
	case <-flushed:
		r.mu.Lock()
		defer r.mu.Unlock()
		return rec.failure
	case <-ctx.Done():
		return ctx.Err()
	}
}

// typeCheckpoint is the type of the side events that hold checkpoints. No listener gets them.
const typeCheckpoint core.EventType = "checkpoint"

func checkpointEvent(in core.Input, position *value.Object) core.Event {
	return core.Event{V: core.EventVersion, Type: typeCheckpoint, Run: in.Run(), Node: in.Node(), Attempt: in.Attempt(),
		Values: value.ObjectOf("key", in.IdempotencyKey(), "position", position)}
}

// checkpointed returns the last checkpoint of an execution in an earlier process.
func (rec *recording) checkpointed(in core.Input) *value.Object {
	return rec.checkpoints[in.IdempotencyKey()]
}

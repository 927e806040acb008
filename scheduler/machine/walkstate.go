package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// column returns a new column of a field, with its starting value. Only its last value is read.
func (t *walk) column(field int) *state.Column {
	c := state.NewColumn(&t.f.p.Schema.Fields[field], t.Start[field], t.f.m.opts.Guard)
	c.SetReads(func(int) bool { return false })
	return c
}

// store adds the writes of a visit to the state, or none of them if a field rejects one. It
// returns the outcome, which is a failure in that case.
func (t *walk) store(v *visit, o *Outcome) *Outcome {
	if fail := t.rejection(o.Writes); fail != nil {
		o = &Outcome{Failure: fail}
	}
	t.write(v, o.Writes)
	return o
}

// rejection returns the failure if the state rejects one of the writes. Branches of a parallel
// node may write the same field, so each write is tried on top of the writes before it.
func (t *walk) rejection(writes []plan.Write) *core.Failure {
	var before map[int32]*state.Column
	for i, w := range writes {
		field := &t.f.p.Schema.Fields[w.Field]
		if !field.MayReject {
			continue
		}
		c := t.Fields[w.Field].Column
		if b, ok := before[w.Field]; ok {
			c = b
		}
		if err := c.Try(w.Value); err != nil {
			return &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}
		}
		if !slices.ContainsFunc(writes[i+1:], func(o plan.Write) bool { return o.Field == w.Field }) {
			continue
		}
		if c == t.Fields[w.Field].Column {
			c = state.NewColumn(field, c.Last(), t.f.m.opts.Guard)
			if before == nil {
				before = map[int32]*state.Column{}
			}
			before[w.Field] = c
		}
		c.Resolve(c.Cursor(), w.Value, nil)
	}
	return nil
}

// write merges writes into the state.
func (t *walk) write(v *visit, writes []plan.Write) {
	for _, w := range writes {
		t.set(v, w.Field, w.Value)
		if _, ok := t.Fields[w.Field].Last().(*state.FailedMerge); ok {
			t.noteUnmerged(w.Field, v.Node)
		}
	}
	t.f.emitVisitWrites(t, v, writes)
}

// noteUnmerged stores the first node whose write could not be merged into a field.
func (t *walk) noteUnmerged(field, node int32) {
	if _, ok := t.Unmerged[field]; ok {
		return
	}
	if t.Unmerged == nil {
		t.Unmerged = map[int32]int32{}
	}
	t.Unmerged[field] = node
}

// set merges a write of a visit, or of the walk itself if v is nil.
func (t *walk) set(v *visit, field int32, value any) {
	c := t.Fields[field]
	c.Resolve(c.Cursor(), value, nil)
	c.Forget(c.Cursor(), false)
	t.f.wroteIn(v, plan.Write{Field: field, Value: value})
}

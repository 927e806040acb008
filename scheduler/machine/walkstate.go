package machine

import "github.com/wavefold/wavefold/scheduler/plan"

// store adds the writes of a visit to the state, or none of them if a field rejects one. It
// returns the outcome, which is a failure in that case.
func (t *walk) store(v *visit, o *Outcome) *Outcome {
	if fail := t.rejection(o.Writes); fail != nil {
		o = &Outcome{Failure: fail}
	}
	t.write(v, o.Writes)
	return o
}

// write merges writes into the state.
func (t *walk) write(v *visit, writes []plan.Write) {
	for _, w := range writes {
		t.set(v, w.Field, w.Value)
	}
	t.f.emitVisitWrites(t, v, writes)
}

// set merges a write of a visit, or of the walk itself if v is nil.
func (t *walk) set(v *visit, field int32, value any) {
	w, node := plan.Write{Field: field, Value: value}, int32(-1)
	if v != nil {
		node = v.Node
	}
	t.merge(node, w)
	t.f.wroteIn(v, w)
}

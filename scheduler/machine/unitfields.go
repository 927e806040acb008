package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// columns creates the columns of the unit's own writes, with one slot for each pass and member.
// They become one contribution to the ledger of the frame when the unit ends.
func (t *unit) columns() {
	level := t.f.p.Vertices[t.v].Level
	guard := t.f.m.opts.Guard
	for _, own := range t.u.Fields {
		field := &t.f.p.Schema.Fields[own.Field]
		view := state.NewRecord(field)
		if slices.ContainsFunc(t.u.Reads, func(r plan.Read) bool { return r.Field == own.Field }) {
			view = state.NewColumn(field, t.f.ledger.At(int(own.Field), int(t.f.p.Threshold(own.Field, level))), guard)
		}
		var canon column
		if own.MayReject {
			canon.Column = state.NewColumn(field, t.f.ledger.At(int(own.Field), int(t.f.slot(t.v, own.Field))), guard)
		}
		t.View = append(t.View, column{Column: view})
		t.Canon = append(t.Canon, canon)
	}
}

// before returns the number of slots of an own field before the current member of a pass: slots
// of earlier passes, and of earlier members of the same pass.
func (t *unit) before(own *plan.UnitField, p *pass) int { return t.slot(own, p.N, p.Place) }

// slot returns the slot that the member at a place has in a pass, or would have if it wrote the
// field.
func (t *unit) slot(own *plan.UnitField, pass, place int) int {
	at, _ := slices.BinarySearch(own.Members, int32(place))
	return pass*len(own.Members) + at
}

func (t *unit) tryWrites(p *pass, writes []plan.Write) error {
	for _, w := range writes {
		if i := t.u.FieldIndex(w.Field); t.Canon[i].Column != nil {
			if err := t.Canon[i].Try(w.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// write resolves the slots of the current member of a pass.
func (t *unit) write(p *pass, writes []plan.Write) {
	for i := range t.u.Fields {
		own := &t.u.Fields[i]
		if !slices.Contains(own.Members, int32(p.Place)) {
			continue
		}
		val := value.Missing
		for _, w := range writes {
			if w.Field == own.Field {
				val = w.Value
			}
		}
		slot := t.before(own, p)
		t.View[i].Resolve(slot, val, nil)
		if t.Canon[i].Column != nil {
			t.Canon[i].Resolve(slot, val, nil)
		}
	}
	if !t.u.IsLoop {
		e := t.f.nodeNote(0, t.node(p))
		e.item = core.Nth(p.N)
		t.f.emitWrites(e, writes)
		t.f.wrote(p.id(), writes)
	}
}

// forget drops the values that only ended passes could see. Values before a dropped round are not
// folded with the round.
func (t *unit) forget() {
	pass := t.Next
	if len(t.Live) > 0 {
		pass = t.Live[0].N
	}
	if t.Dropped >= 0 {
		pass = min(pass, t.Dropped)
	}
	for i := range t.View {
		k := t.slot(&t.u.Fields[i], pass, 0)
		t.View[i].Forget(k, true)
		if t.Canon[i].Column != nil {
			t.Canon[i].Forget(k, false)
		}
	}
}

// contribution returns what the unit as a whole writes to a field.
func (t *unit) contribution(field int32) (any, []any) {
	i := t.u.FieldIndex(field)
	switch {
	case i < 0:
		return t.Pull.written(field), nil
	case i >= len(t.View):
		return value.Missing, nil
	}
	last := t.Next
	if t.Dropped >= 0 { // the dropped round is always the last one
		last = t.Dropped
	}
	k := t.slot(&t.u.Fields[i], last, 0)
	writes := t.View[i].Writes(k)
	if len(writes) == 0 {
		return value.Missing, nil
	}
	if c := t.Canon[i]; c.Column != nil { // no other node writes such a field before its turn
		t.f.ledger.Column(int(field)).Expect(c.At(min(k, c.Cursor())))
	}
	return nil, writes
}

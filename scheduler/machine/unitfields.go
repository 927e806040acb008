package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// This file is what a unit writes: columns with one slot for each pass and member,
// which are handed to the ledger of the frame as one contribution at the end.

// columns opens the ledger of the unit's own writes.
func (t *unit) columns() {
	level := t.f.p.Vertices[t.v].Level
	guard := t.f.m.opts.Guard
	for _, own := range t.u.Own {
		field := &t.f.p.Schema.Fields[own.Field]
		view := state.NewRecord(field)
		if slices.ContainsFunc(t.u.Reads, func(r plan.Read) bool { return r.Field == own.Field }) {
			view = state.NewColumn(field, t.f.ledger.At(int(own.Field), int(t.f.p.Threshold(own.Field, level))), guard)
		}
		var canon *state.Column
		if own.Refuses {
			canon = state.NewColumn(field, t.f.ledger.At(int(own.Field), int(t.f.slot(t.v, own.Field))), guard)
		}
		t.view = append(t.view, view)
		t.canon = append(t.canon, canon)
	}
}

// before returns how many slots of an own field come before the member of a
// pass: those of earlier passes and of earlier members of the same pass.
func (t *unit) before(own *plan.OwnField, p *pass) int { return t.slot(own, p.N, p.Place) }

// slot returns the slot of an own field that the member at a place has in a pass, or
// would have.
func (t *unit) slot(own *plan.OwnField, pass, place int) int {
	at, _ := slices.BinarySearch(own.Members, int32(place))
	return pass*len(own.Members) + at
}

func (t *unit) tryWrites(p *pass, writes []plan.Write) error {
	for _, w := range writes {
		if i := t.u.OwnIndex(w.Field); t.canon[i] != nil {
			if err := t.canon[i].Try(w.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// write resolves the slots of the member a pass is at.
func (t *unit) write(p *pass, writes []plan.Write) {
	for i := range t.u.Own {
		own := &t.u.Own[i]
		if !slices.Contains(own.Members, int32(p.Place)) {
			continue
		}
		value := core.Missing
		for _, w := range writes {
			if w.Field == own.Field {
				value = w.Value
			}
		}
		slot := t.before(own, p)
		t.view[i].Resolve(slot, value, nil)
		if t.canon[i] != nil {
			t.canon[i].Resolve(slot, value, nil)
		}
	}
	if !t.u.IsLoop {
		t.f.emitWrites(t.node(p), writes, core.Nth(p.N), 0)
	}
}

// forget drops what only passes that are over could see of the unit's fields. Of a
// round that does not count nothing is mixed with what does.
func (t *unit) forget() {
	pass := t.next
	if len(t.live) > 0 {
		pass = t.live[0].N
	}
	if t.dropped >= 0 {
		pass = min(pass, t.dropped)
	}
	for i := range t.view {
		k := t.slot(&t.u.Own[i], pass, 0)
		t.view[i].Forget(k, true)
		if t.canon[i] != nil {
			t.canon[i].Forget(k, false)
		}
	}
}

// contribution is what the unit as a whole writes to a field.
func (t *unit) contribution(field int32) (any, []any) {
	i := t.u.OwnIndex(field)
	switch {
	case i < 0:
		return t.pull.of(field), nil
	case i >= len(t.view):
		return core.Missing, nil
	}
	last := t.next
	if t.dropped >= 0 { // the round that does not count is the last one there was
		last = t.dropped
	}
	k := t.slot(&t.u.Own[i], last, 0)
	writes := t.view[i].Writes(k)
	if len(writes) == 0 {
		return core.Missing, nil
	}
	if c := t.canon[i]; c != nil { // nobody writes such a field out of turn
		t.f.ledger.Column(int(field)).Expect(c.At(min(k, c.Cursor())))
	}
	return nil, writes
}

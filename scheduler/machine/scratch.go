package machine

import (
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// scratch folds the writes of a fan-out's items onto the refusing fields before
// anything is committed, to see which items are refused.
type scratch struct {
	f       *frame
	columns map[int32]*state.Column
}

func (f *frame) newScratch(v int32) *scratch {
	s := &scratch{f: f, columns: map[int32]*state.Column{}}
	for _, w := range f.p.Vertices[v].Writes {
		if field := &f.p.Schema.Fields[w.Field]; field.Refuses && f.ledger.Column(int(w.Field)).Cursor() >= int(w.Slot) {
			s.columns[w.Field] = state.NewColumn(field, f.ledger.At(int(w.Field), int(w.Slot)), f.m.opts.Guard)
		}
	}
	return s
}

// try folds the writes of one item, all or none.
func (s *scratch) try(writes []plan.Write) error {
	for _, w := range writes {
		if c := s.columns[w.Field]; c != nil {
			if err := c.Try(w.Value); err != nil {
				return err
			}
		}
	}
	for _, w := range writes {
		if c := s.columns[w.Field]; c != nil {
			c.Resolve(c.Cursor(), w.Value, nil)
			c.Forget(c.Cursor(), false)
		}
	}
	return nil
}

// expect tells the ledger what the writes that were tried make of the fields.
func (s *scratch) expect(v int32) {
	for _, w := range s.f.p.Vertices[v].Writes {
		if c := s.columns[w.Field]; c != nil {
			s.f.ledger.Column(int(w.Field)).Expect(c.Last())
		}
	}
}

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
	next    map[int32]int
}

func (f *frame) newScratch(v int32) *scratch {
	s := &scratch{f: f, columns: map[int32]*state.Column{}, next: map[int32]int{}}
	for _, w := range f.p.Vertices[v].Writes {
		if field := &f.p.Schema.Fields[w.Field]; field.Refuses && f.ledger.Column(int(w.Field)).Cursor() >= int(w.Slot) {
			s.columns[w.Field] = state.NewColumn(field, f.ledger.At(int(w.Field), int(w.Slot)))
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
			c.Resolve(s.next[w.Field], w.Value, nil)
			s.next[w.Field]++
		}
	}
	return nil
}

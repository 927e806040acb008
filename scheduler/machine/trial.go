package machine

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// trial folds the writes of a fan-out's items onto the fields that can reject writes, before
// anything is committed, to find out which items are rejected. It only uses copies of what the
// machine knows.
type trial struct {
	columns     map[int32]*state.Column
	writes      [][]plan.Write // by item, none for failed items
	failed      []int          // items that failed, ascending
	maxFailures int            // allowed failures, -1 for any number
	rejected    map[int]error
}

// rejections returns the rejected items and the columns of the trial. All items are tried in one
// guarded call. If it does not complete, each reducer is called in a separate guarded call, so
// that only the item that caused the problem is rejected.
func (t *fanOut) rejections() *trial {
	f := t.f
	s := t.newTrial(nil)
	if len(s.columns) == 0 {
		return s
	}
	var foreign []string
	for _, w := range f.p.Vertices[t.v].Writes {
		if code := f.p.Schema.Fields[w.Field].Code(); code != "" {
			foreign = append(foreign, code)
		}
	}
	if foreign == nil || f.m.opts.Guard == nil {
		s.run()
		return s
	}
	all := s
	if err := f.m.opts.Guard(strings.Join(foreign, " or "), func() { all.run() }); err != nil {
		s = t.newTrial(f.m.opts.Guard)
		s.run()
	}
	return s
}

func (t *fanOut) newTrial(guard state.Guard) *trial {
	f := t.f
	s := &trial{columns: map[int32]*state.Column{}}
	for _, w := range f.p.Vertices[t.v].Writes {
		if field := &f.p.Schema.Fields[w.Field]; field.MayReject && w.Field != t.n.Collect && f.ledger.Column(int(w.Field)).Cursor() >= int(w.Slot) {
			s.columns[w.Field] = state.NewColumn(field, f.ledger.At(int(w.Field), int(w.Slot)), guard)
		}
	}
	if len(s.columns) > 0 {
		s.failed, s.maxFailures, s.rejected = slices.Clone(t.failed), t.n.MaxFailures, map[int]error{}
		s.writes = make([][]plan.Write, t.Results.len)
		var all []plan.Write
		for i := range s.writes {
			from := len(all)
			all = t.Results.appendWrites(all, i)
			s.writes[i] = all[from:len(all):len(all)]
		}
	}
	return s
}

// run tries the items in order, up to the cutoff. A rejected item counts as failed.
func (s *trial) run() {
	for i := 0; i < min(len(s.writes), s.cutoff()); i++ {
		if err := s.try(s.writes[i]); err != nil {
			s.rejected[i] = err
			at, _ := slices.BinarySearch(s.failed, i)
			s.failed = slices.Insert(s.failed, at, i)
		}
	}
}

// cutoff returns the first item that no longer counts.
func (s *trial) cutoff() int { return cutoffAfter(s.failed, s.maxFailures) }

// try folds all writes of an item, or none if one is rejected.
func (s *trial) try(writes []plan.Write) error {
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

// expect tells the ledger the values that the fields will have after the writes.
func (s *trial) expect(f *frame, v int32) {
	for _, w := range f.p.Vertices[v].Writes {
		if c := s.columns[w.Field]; c != nil {
			f.ledger.Column(int(w.Field)).Expect(c.Last())
		}
	}
}

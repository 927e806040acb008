package state

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// A Ledger keeps the writes of a run. Each field has one slot per static
// writer, in canonical order. Writers resolve in any order, with writes or
// without; a cursor moves over the prefix of resolved slots and folds their
// writes. The value a reader may see is the fold of a prefix, so it does not
// depend on the order of arrival.
//
// All operations are O(1) plus the merges themselves: nothing is sorted and no
// prefix is folded twice.
type Ledger struct {
	schema  *Schema
	columns []Column
}

// Column is the ledger of one field: a row of slots, the cursor, and the folded
// value of every resolved prefix. What nobody will ask for any more can be
// forgotten from the front.
type Column struct {
	field  *Field
	guard  Guard
	start  any
	base   int    // slots forgotten
	slots  []slot // from slot base on
	cursor int
	folded []any // folded[k] is the value after the first base+k slots
	// own tells that the last folded value came out of a merge of this column.
	// The chain of folds is linear, so the spare room behind a list that the
	// column made is the column's; the room behind a starting value is not.
	own bool
	// tried is what the write that was tried last makes of the value.
	tried    any
	hasTried bool
	// unread tells that nobody sees the field here: its writes are only kept.
	unread bool
	// kept are the writes of the forgotten slots, joined where that makes no
	// difference; keptOwn is own for the last of them.
	kept    []any
	keptOwn bool
}

// Guard calls code of the user's while the run stands still, and returns an error
// when the call did not come to its end. What names the code, such as the reducer
// of field "x"; the error begins with it. The call touches nothing but its own
// values: it may go on after it was given up. A nil Guard calls in place.
type Guard func(what string, call func()) error

// Spoiled is the value of a field from the first merge on that failed although
// the write was accepted: a sum that does not fit its type, or a Go type that
// does not take the merged JSON form. There is no value to go on with, and the
// old one would be a write lost in silence. Nobody is given it: whoever would
// read the field fails, and so does the run.
type Spoiled struct {
	Slot int // whose write it was
	Err  error
}

// slot holds what one writer contributed: nil before it is resolved, Missing for
// nothing, a null or a batch, or one write itself. A run has one for each of its
// writers, and most are touched once, so they are as small as they can be.
type slot any

type (
	null  struct{} // one write, which is null
	batch []any    // many writes
)

func slotOf(one any, many []any) slot {
	switch {
	case many != nil:
		return batch(many)
	case one == nil:
		return null{}
	}
	return one
}

// appendWrites appends the writes of a slot, in order.
func appendWrites(list []any, s slot) []any {
	switch s := s.(type) {
	case nil:
		return list
	case batch:
		return append(list, s...)
	case null:
		return append(list, nil)
	}
	if core.IsMissing(s) {
		return list
	}
	return append(list, s)
}

// NewLedger returns a ledger with the given number of writers per field and
// starting values; a Missing start means that the field has no value.
func NewLedger(s *Schema, writers []int, start []any, guard Guard) *Ledger {
	total := 0
	for _, n := range writers {
		total += n
	}
	slots, folded := make([]slot, total), make([]any, total+len(writers))
	l := &Ledger{schema: s, columns: make([]Column, len(s.Fields))}
	for i := range l.columns {
		n := writers[i]
		l.columns[i] = Column{field: &s.Fields[i], guard: guard, start: start[i], slots: slots[:n:n], folded: folded[: 1 : n+1]}
		l.columns[i].folded[0] = start[i]
		slots, folded = slots[n:], folded[n+1:]
	}
	return l
}

// Column returns the ledger of one field.
func (l *Ledger) Column(field int) *Column { return &l.columns[field] }

// At returns the value of a field after its first k writers. They must be
// resolved and not forgotten.
func (l *Ledger) At(field, k int) any { return l.columns[field].At(k) }

// Final returns the value after all writers resolved so far.
func (l *Ledger) Final(field int) any { return l.columns[field].Last() }

// NewColumn returns the ledger of a field whose number of writers is not known
// in advance, as for the rows of a pipeline. start is its value before them.
func NewColumn(f *Field, start any, guard Guard) *Column {
	return &Column{field: f, guard: guard, start: start, folded: []any{start}}
}

// NewRecord returns a column for writes that nobody sees in it: they are kept in
// order and never folded.
func NewRecord(f *Field) *Column {
	return &Column{field: f, start: core.Missing, unread: true, folded: []any{core.Missing}}
}

// Cursor returns how many slots are resolved without a gap.
func (c *Column) Cursor() int { return c.cursor }

// At returns the value after the first k slots, k <= Cursor. Shorter prefixes
// than Forget was told are gone, except for the starting value.
func (c *Column) At(k int) any {
	if k == 0 {
		return c.start
	}
	return c.folded[k-c.base]
}

// Last returns the value after the resolved prefix.
func (c *Column) Last() any { return c.folded[len(c.folded)-1] }

// Try reports the error that a write would meet at the cursor. If that write is
// what is resolved next, it is not merged again.
func (c *Column) Try(v any) error {
	merged, err := c.field.merge(c.Last(), v, false, c.guard)
	c.tried, c.hasTried = merged, err == nil
	return err
}

// Expect tells what the writes that are resolved next, at the cursor, make of
// the value, so that they need not be merged once more.
func (c *Column) Expect(value any) { c.tried, c.hasTried = value, true }

// Resolve records that the writer of slot k contributes one write, or many when
// many is not nil, or nothing when one is Missing; and moves the cursor. Writes
// of refusing fields must have been tried at the cursor.
func (c *Column) Resolve(k int, one any, many []any) {
	i := k - c.base
	for i >= len(c.slots) {
		c.slots = append(c.slots, nil)
	}
	c.slots[i] = slotOf(one, many)
	if c.hasTried {
		if k == c.cursor && (many != nil || !core.IsMissing(one)) {
			c.own = true
			c.push(c.tried)
		}
		c.tried, c.hasTried = nil, false
	}
	for i = c.cursor - c.base; i < len(c.slots) && c.slots[i] != nil; i++ {
		c.push(c.fold(c.slots[i]))
	}
}

func (c *Column) push(v any) {
	c.folded = append(c.folded, v)
	c.cursor++
}

func (c *Column) fold(s slot) any {
	v := c.folded[len(c.folded)-1]
	if c.unread {
		return v
	}
	switch s := s.(type) {
	case batch:
		return c.mergeAll(v, s)
	case null:
		return c.merge(v, nil)
	}
	if core.IsMissing(s) {
		return v
	}
	return c.merge(v, s)
}

// mergeAll folds the writes of a fan-out at the cursor.
func (c *Column) mergeAll(v any, writes []any) any {
	if all := c.field.strategy.mergeAll; all != nil {
		if merged, ok := all(v, writes, c.own); ok {
			c.own = true
			return merged
		}
	}
	for _, w := range writes {
		v = c.merge(v, w)
	}
	return v
}

// merge folds one write of the slot at the cursor.
func (c *Column) merge(old, new any) any {
	if _, ok := old.(*Spoiled); ok {
		return old
	}
	merged, err := c.field.merge(old, new, c.own, c.guard)
	if err != nil {
		return &Spoiled{Slot: c.cursor, Err: err}
	}
	c.own = true
	return merged
}

// Forget drops what nobody needs who asks for no prefix shorter than k any more,
// except for the starting value. If keep is set, the writes of the slots before
// k stay, joined where that makes no difference. Unresolved slots stay.
func (c *Column) Forget(k int, keep bool) {
	n := min(k, c.cursor) - c.base
	if n <= 0 {
		return
	}
	for i := range n {
		if keep {
			c.keep(c.slots[i])
		}
		c.slots[i], c.folded[i] = nil, nil
	}
	c.slots, c.folded = c.slots[n:], c.folded[n:]
	c.base += n
}

func (c *Column) keep(s slot) {
	switch s := s.(type) {
	case null:
		c.keepOne(nil)
	case batch:
		for _, w := range s {
			c.keepOne(w)
		}
	default:
		if !core.IsMissing(s) {
			c.keepOne(s)
		}
	}
}

func (c *Column) keepOne(w any) {
	if last := len(c.kept) - 1; last >= 0 && c.field.strategy.joins {
		if joined, err := c.field.merge(c.kept[last], w, c.keptOwn, nil); err == nil {
			c.kept[last], c.keptOwn = joined, true
			return
		}
	}
	c.kept = append(c.kept, w)
}

// Wrote returns the write of slot k, which was not forgotten and holds no batch; ok
// is false if there is none.
func (c *Column) Wrote(k int) (v any, ok bool) {
	s := c.slots[k-c.base]
	if _, isNull := s.(null); isNull {
		return nil, true
	}
	return s, s != nil && !core.IsMissing(s)
}

// Writes returns the writes of the first k slots in order; of those that were
// forgotten, what was kept.
func (c *Column) Writes(k int) []any {
	out := slices.Clone(c.kept)
	for _, s := range c.slots[:min(len(c.slots), max(0, k-c.base))] {
		out = appendWrites(out, s)
	}
	return out
}

package state

import "github.com/wavefold/wavefold/core"

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
// value of every resolved prefix.
type Column struct {
	field  *Field
	slots  []slot
	cursor int
	folded []any // folded[k] is the value after the first k slots
	// own tells that the last folded value came out of a merge of this column.
	// The chain of folds is linear, so the spare room behind a list that the
	// column made is the column's; the room behind a starting value is not.
	own bool
}

// slot holds what one writer contributed: nothing, one write, or many.
type slot struct {
	resolved bool
	one      any // a single write, or Missing
	many     []any
}

// NewLedger returns a ledger with the given number of writers per field and
// starting values; a Missing start means that the field has no value.
func NewLedger(s *Schema, writers []int, start []any) *Ledger {
	total := 0
	for _, n := range writers {
		total += n
	}
	slots, folded := make([]slot, total), make([]any, total+len(writers))
	l := &Ledger{schema: s, columns: make([]Column, len(s.Fields))}
	for i := range l.columns {
		n := writers[i]
		l.columns[i] = Column{field: &s.Fields[i], slots: slots[:n:n], folded: folded[: 1 : n+1]}
		l.columns[i].folded[0] = start[i]
		slots, folded = slots[n:], folded[n+1:]
	}
	return l
}

// Column returns the ledger of one field.
func (l *Ledger) Column(field int) *Column { return &l.columns[field] }

// At returns the value of a field after its first k writers. They must be
// resolved.
func (l *Ledger) At(field, k int) any { return l.columns[field].folded[k] }

// Final returns the value after all writers resolved so far.
func (l *Ledger) Final(field int) any { return l.columns[field].Last() }

// NewColumn returns the ledger of a field whose number of writers is not known
// in advance, as for the rows of a pipeline. start is its value before them.
func NewColumn(f *Field, start any) *Column {
	return &Column{field: f, folded: []any{start}}
}

// Field returns the field.
func (c *Column) Field() *Field { return c.field }

// Cursor returns how many slots are resolved without a gap.
func (c *Column) Cursor() int { return c.cursor }

// At returns the value after the first k slots, k <= Cursor.
func (c *Column) At(k int) any { return c.folded[k] }

// Last returns the value after the resolved prefix.
func (c *Column) Last() any { return c.folded[c.cursor] }

// Try reports the error that a write would meet at the cursor.
func (c *Column) Try(v any) error {
	_, err := c.field.Merge(c.Last(), v, false)
	return err
}

// Resolve records that the writer of slot k contributes one write, or many when
// many is not nil, or nothing when one is Missing; and moves the cursor. Writes of refusing fields must have been tried at
// the cursor; a merge that fails here leaves the value as it was.
func (c *Column) Resolve(k int, one any, many []any) {
	for k >= len(c.slots) {
		c.slots = append(c.slots, slot{})
	}
	c.slots[k] = slot{resolved: true, one: one, many: many}
	for c.cursor < len(c.slots) && c.slots[c.cursor].resolved {
		c.folded = append(c.folded, c.fold(&c.slots[c.cursor]))
		c.cursor++
	}
}

func (c *Column) fold(s *slot) any {
	v := c.Last()
	if s.many == nil {
		if core.IsMissing(s.one) {
			return v
		}
		return c.merge(v, s.one)
	}
	for _, w := range s.many {
		v = c.merge(v, w)
	}
	return v
}

// merge folds one write.
func (c *Column) merge(old, new any) any {
	merged, err := c.field.Merge(old, new, c.own)
	if err != nil {
		return old
	}
	c.own = true
	return merged
}

// Contribution returns the writes of slot k in order, nil for none.
func (c *Column) Contribution(k int) []any {
	if k >= len(c.slots) {
		return nil
	}
	s := &c.slots[k]
	if s.many != nil {
		return s.many
	}
	if !s.resolved || core.IsMissing(s.one) {
		return nil
	}
	return []any{s.one}
}

// Resolved reports whether slot k is resolved.
func (c *Column) Resolved(k int) bool { return k < len(c.slots) && c.slots[k].resolved }

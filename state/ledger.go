package state

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// A Ledger keeps the writes of a run. Each field has one slot per static writer, in
// canonical order. Writers may resolve in any order, with or without writes. A cursor
// advances over the prefix of resolved slots and folds their writes. Readers see only
// the fold of a prefix, so the result does not depend on the order of arrival.
//
// All operations take constant time, apart from the merges: nothing is sorted and no
// prefix is folded twice. A merge takes time in proportion to the write, not to the value:
// the column keeps the identities of the elements of a union, and records which objects of
// a value no reader can see, so that it can change them in place.
type Ledger struct {
	columns []Column
}

// Column is the ledger of one field: its slots, the cursor, and the folded value of
// every resolved prefix. Prefixes that are no longer needed can be dropped with Forget.
type Column struct {
	field  *Field
	guard  Guard
	start  any
	slots  []slot // the slots from number base on
	folded []any  // folded[k] is the value after the first base+k slots
	base   int32  // the number of forgotten slots
	cursor int32
	// writers is the number of slots, -1 if it is not known.
	writers int32
	// seen is set if a reader has the last folded value, or may request it.
	seen bool
	// unread is set if the column has no readers. Its writes are kept but not folded.
	unread bool
	rare   *rareColumn // nil until it is needed
}

// rareColumn is the part of a column that most columns, which are overwritten, do not
// need.
type rareColumn struct {
	own owned // describes the last folded value
	// reads reports whether a reader may request the value after the first k slots later
	// than Last. If it is nil, readers may request every prefix.
	reads func(k int) bool
	// tried is the value that the write passed to Try would produce.
	tried    any
	hasTried bool
	kept     *keptWrites // nil if there are none
	changes  []*Change   // ascending by At and Level
}

func (c *Column) setRare() *rareColumn {
	if c.rare == nil {
		c.rare = &rareColumn{}
	}
	return c.rare
}

// hasReads reports whether SetReads was called.
func (c *Column) hasReads() bool { return c.rare != nil && c.rare.reads != nil }

// keptWrites are the writes of the forgotten slots, merged with each other if the
// strategy allows it.
type keptWrites struct {
	list []any
	own  owned // describes the last of them
}

// Guard calls user code while the run waits for it. It returns an error if the call did
// not complete. The argument what describes the code, for example the reducer of field
// "x", and begins the error message. The call may continue after Guard has returned, so
// it must use only its own values. With a nil Guard, user code is called directly.
type Guard func(what string, call func()) error

// FailedMerge is the value of a field after an accepted write could not be merged: for
// example, a sum overflowed its type, or the merged JSON could not be decoded into a Go
// type. Keeping the previous value would lose the write silently, so there is no value
// to continue with. Handlers never receive a FailedMerge: a node that would read the
// field fails, and the run fails.
type FailedMerge struct {
	Slot int // the slot of the write
	Err  error
}

// slot holds the contribution of one writer: nil before it is resolved, value.Missing if
// it wrote nothing, a null, a batch, or a single write. A run has a slot for each of
// its writers, and most slots are used only once, so the type is kept small.
type slot any

type (
	null  struct{} // a single write of null
	batch []any    // several writes
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

// appendWrites appends the writes of a slot in order.
func appendWrites(list []any, s slot) []any {
	switch s := s.(type) {
	case nil:
		return list
	case batch:
		return append(list, s...)
	case null:
		return append(list, nil)
	}
	if value.IsMissing(s) {
		return list
	}
	return append(list, s)
}

// NewLedger returns a ledger with the given number of writers and starting value for
// each field. A field whose starting value is value.Missing has no value.
func NewLedger(s *Schema, writers []int, start []any, guard Guard) Ledger {
	total := 0
	for _, n := range writers {
		total += n
	}
	slots, folded := make([]slot, total), make([]any, total+len(writers))
	l := Ledger{columns: make([]Column, len(s.Fields))}
	for i := range l.columns {
		n := writers[i]
		c := &l.columns[i] // assigned by parts: copying a whole Column takes longer
		c.field, c.guard, c.start, c.writers = &s.Fields[i], guard, start[i], int32(n)
		c.slots, c.folded = slots[:n:n], folded[:1:n+1]
		c.folded[0] = start[i]
		slots, folded = slots[n:], folded[n+1:]
	}
	return l
}

// Column returns the column of a field.
func (l Ledger) Column(field int) *Column { return &l.columns[field] }

// At returns the value of a field after its first k writers. These must be resolved,
// and the prefix must not be forgotten.
func (l Ledger) At(field, k int) any { return l.columns[field].At(k) }

// Final returns the value of a field after all writers in the resolved prefix.
func (l Ledger) Final(field int) any { return l.columns[field].Last() }

// NewColumn returns a column whose number of writers is not known in advance, as for
// the rows of a pipeline. start is the value before the first write.
func NewColumn(f *Field, start any, guard Guard) *Column {
	return &Column{field: f, guard: guard, start: start, folded: []any{start}, writers: -1}
}

// SetReads declares which prefixes readers may look at: the last value at any time, and the
// value after the first k slots if reads(k) is true. The merges may then change other
// values in place, so a long sequence of writes to an object takes linear time. Values
// that were handed out are never changed. It is only needed if Field.MergesInPlace.
func (c *Column) SetReads(reads func(k int) bool) { c.setRare().reads = reads }

// NewRecord returns a column without readers, which keeps its writes in order and never
// folds them.
func NewRecord(f *Field) *Column {
	return &Column{field: f, start: value.Missing, unread: true, folded: []any{value.Missing}, writers: -1}
}

// Cursor returns the length of the prefix of resolved slots.
func (c *Column) Cursor() int { return int(c.cursor) }

// At returns the value after the first k slots, k <= Cursor. Prefixes shorter than the
// k passed to Forget are no longer available, except the starting value.
func (c *Column) At(k int) any {
	if k == int(c.cursor) && (k > 0 || c.rare != nil && c.rare.changes != nil) {
		return c.Last()
	}
	if k == 0 {
		return c.startFor(math.MaxInt32)
	}
	return c.folded[k-int(c.base)]
}

// Last returns the value after the resolved prefix.
func (c *Column) Last() any {
	c.seen = true
	return c.folded[len(c.folded)-1]
}

// Failed reports whether the last value is a FailedMerge. Unlike Last, it does not count as a read, so the next
// merge may still change the value in place.
func (c *Column) Failed() bool {
	_, failed := c.folded[len(c.folded)-1].(*FailedMerge)
	return failed
}

// Try merges a write at the cursor and returns the error. If the same write is resolved
// next, Resolve does not merge it again.
func (c *Column) Try(v any) error {
	merged, err := c.field.merge(c.Last(), v, nil, c.guard)
	r := c.setRare()
	r.tried, r.hasTried = merged, err == nil
	return err
}

// Expect sets the value that results from the next writes resolved at the cursor, so
// that Resolve does not merge them.
func (c *Column) Expect(value any) {
	r := c.setRare()
	r.tried, r.hasTried = value, true
}

// Resolve records the writes of slot k and advances the cursor. If many is not nil, it
// holds the writes; otherwise one is the only write, or value.Missing if there is none.
// If the field's strategy can reject writes, they must have been tried at the cursor.
func (c *Column) Resolve(k int, one any, many []any) {
	i := k - int(c.base)
	for i >= len(c.slots) {
		c.slots = append(c.slots, nil)
	}
	c.slots[i] = slotOf(one, many)
	if r := c.rare; r != nil && r.hasTried {
		if k == int(c.cursor) && (many != nil || !value.IsMissing(one)) {
			r.own = owned{array: true}
			c.push(r.tried)
		}
		r.tried, r.hasTried = nil, false
	}
	for i = int(c.cursor - c.base); i < len(c.slots) && c.slots[i] != nil; i++ {
		c.push(c.fold(c.slots[i]))
	}
}

func (c *Column) push(v any) {
	c.folded = append(c.folded, v)
	c.cursor++
	if c.rare == nil {
		return
	}
	if c.rare.changes != nil {
		c.change()
	}
	if reads := c.rare.reads; reads != nil && reads(int(c.cursor)) {
		c.seen = true
	}
	if c.cursor == c.writers {
		c.rare.own = owned{} // there are no more merges
	}
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
	if value.IsMissing(s) {
		return v
	}
	return c.merge(v, s)
}

// merge folds one write of the slot at the cursor.
func (c *Column) merge(old, new any) any {
	if _, ok := old.(*FailedMerge); ok {
		return old
	}
	own := c.owned()
	if c.field.strategy.inPlace && !c.hasReads() {
		own = nil // there is nothing to reuse
	}
	merged, err := c.field.merge(old, new, own, c.guard)
	return c.merged(merged, err)
}

// mergeAll folds the writes of a fan-out at the cursor.
func (c *Column) mergeAll(old any, writes []any) any {
	if _, ok := old.(*FailedMerge); ok || len(writes) == 0 {
		return old
	}
	merged, err := c.field.mergeAll(old, writes, c.owned(), c.guard)
	return c.merged(merged, err)
}

// owned returns what the next merge may change and is to describe, nil if the strategy does
// not make use of it.
func (c *Column) owned() *owned {
	if s := c.field.strategy; s.mergeAll == nil && !s.inPlace {
		return nil
	}
	own := &c.setRare().own
	if c.seen || !c.hasReads() {
		own.dropObjects()
	}
	return own
}

// merged returns the value of a merge, or a FailedMerge.
func (c *Column) merged(v any, err error) any {
	if err != nil {
		if c.rare != nil {
			c.rare.own = owned{}
		}
		return &FailedMerge{Slot: int(c.cursor), Err: err}
	}
	if c.seen = false; c.rare != nil {
		c.rare.own.array = true
	}
	return v
}

// Forget drops all prefixes shorter than k except the starting value. If keep is set,
// it keeps the writes of the slots before k, merged with each other if the strategy
// allows it. Unresolved slots are not affected.
func (c *Column) Forget(k int, keep bool) {
	n := min(k, int(c.cursor)) - int(c.base)
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
	c.base += int32(n)
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
		if !value.IsMissing(s) {
			c.keepOne(s)
		}
	}
}

func (c *Column) keepOne(w any) {
	r := c.setRare()
	if r.kept == nil {
		r.kept = new(keptWrites)
	}
	k := r.kept
	if last := len(k.list) - 1; last >= 0 && c.field.strategy.associative {
		if joined, err := c.field.merge(k.list[last], w, &k.own, nil); err == nil {
			k.list[last], k.own.array = joined, true
			return
		}
	}
	k.list = append(k.list, w)
}

// Wrote returns the write of slot k. The slot must not be forgotten or hold a batch. ok
// is false if there is no write.
func (c *Column) Wrote(k int) (v any, ok bool) {
	s := c.slots[k-int(c.base)]
	if _, isNull := s.(null); isNull {
		return nil, true
	}
	return s, s != nil && !value.IsMissing(s)
}

// Writes returns the writes of the first k slots in order. For forgotten slots it
// returns the writes that were kept.
func (c *Column) Writes(k int) []any {
	var out []any
	if c.rare != nil && c.rare.kept != nil {
		out = slices.Clone(c.rare.kept.list)
	}
	for _, s := range c.slots[:min(len(c.slots), max(0, k-int(c.base)))] {
		out = appendWrites(out, s)
	}
	return out
}

package rows

import "hash/maphash"

// A memo begins with firstMemo slots and grows up to lastMemo, if values do not
// come again often. Both are powers of two.
const (
	firstMemo = 256
	lastMemo  = 4096
)

// Memo remembers a column's recent values as interfaces, so that a value that
// comes again (an airport code, a small number) is neither boxed nor kept a
// second time. It changes where a value is stored, never what it is.
type Memo struct {
	seed   maphash.Seed
	slots  []any
	misses int
}

// slot returns the place of a hash.
func (m *Memo) slot(hash uint64) *any { return &m.slots[hash&uint64(len(m.slots)-1)] }

// ready makes the slots before the first value.
func (m *Memo) ready() {
	if m.slots == nil {
		m.slots, m.seed = make([]any, firstMemo), maphash.MakeSeed()
	}
}

// miss counts a value that was not there, and makes room after many of them.
func (m *Memo) miss() {
	if m.misses++; m.misses > 4*len(m.slots) && len(m.slots) < lastMemo {
		m.slots, m.misses = make([]any, 4*len(m.slots)), 0
	}
}

// Bytes returns the text of b.
func (m *Memo) Bytes(b []byte) any {
	m.ready()
	slot := m.slot(maphash.Bytes(m.seed, b))
	if old, ok := (*slot).(string); ok && old == string(b) {
		return *slot
	}
	var v any = string(b)
	*slot = v
	m.miss()
	return v
}

// Integer returns i.
func (m *Memo) Integer(i int64) any {
	m.ready()
	slot := m.slot(uint64(i))
	if old, ok := (*slot).(int64); ok && old == i {
		return *slot
	}
	var v any = i
	*slot = v
	m.miss()
	return v
}

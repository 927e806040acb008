package dataset

import "hash/maphash"

// memoSize is the number of recent values a column remembers. It is a power of
// two.
const memoSize = 256

// memo remembers a column's recent values as interfaces, so that a value that
// comes again (an airport code, a small number) is neither boxed nor kept a
// second time. It changes where a value is stored, never what it is.
type memo struct {
	seed  maphash.Seed
	slots []any
}

// slot returns the place of a hash; the first call makes them.
func (m *memo) slot(hash uint64) *any {
	if m.slots == nil {
		m.slots = make([]any, memoSize)
	}
	return &m.slots[hash%memoSize]
}

func (m *memo) text(s string) any {
	if m.slots == nil {
		m.seed = maphash.MakeSeed()
	}
	slot := m.slot(maphash.String(m.seed, s))
	if old, ok := (*slot).(string); ok && old == s {
		return *slot
	}
	*slot = s
	return *slot
}

// bytes is text for a string that has to be copied if it is new.
func (m *memo) bytes(b []byte) any {
	if m.slots == nil {
		m.seed = maphash.MakeSeed()
	}
	slot := m.slot(maphash.Bytes(m.seed, b))
	if old, ok := (*slot).(string); ok && old == string(b) {
		return *slot
	}
	*slot = string(b)
	return *slot
}

func (m *memo) integer(i int64) any {
	slot := m.slot(uint64(i))
	if old, ok := (*slot).(int64); ok && old == i {
		return *slot
	}
	*slot = i
	return *slot
}

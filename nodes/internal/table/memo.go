package table

import (
	"hash/maphash"
	"math"
	"math/bits"
)

// A memo begins with firstMemo slots and grows up to lastMemo slots while values are
// rarely repeated. Both are powers of two.
const (
	firstMemo = 256
	lastMemo  = 4096
)

// patience is the average number of misses per slot after which the memo grows or is
// turned off.
const patience = 4

// Memo caches a column's recent values as interfaces, so that a repeated value (an
// airport code, a month, a small number) is neither boxed nor stored again. It changes
// where a value is stored, never the value. If values are rarely repeated, the memo
// turns itself off. The zero Memo is ready to use. It must be used by one goroutine.
type Memo struct {
	seed  maphash.Seed
	slots []any
	shift int // shift of a hash that gives its slot
	// left is the number of misses until the memo is resized or turned off, hits the
	// number of hits since the last time.
	left, hits int
	off        bool
}

// enabled makes sure that there are slots. It returns false if the memo is off.
func (m *Memo) enabled() bool { return m.left > 0 || m.adjust() }

// adjust resizes the memo or turns it off. It is called after many misses.
func (m *Memo) adjust() bool {
	n := len(m.slots)
	switch {
	case m.off:
		return false
	case n == 0:
		m.resize(firstMemo)
	case n < lastMemo:
		m.resize(4 * n)
	case m.hits < patience*n/3: // less than a quarter were hits
		m.slots, m.off = nil, true
		return false
	}
	m.left, m.hits = patience*len(m.slots), 0
	return true
}

func (m *Memo) resize(n int) {
	if m.slots == nil {
		m.seed = maphash.MakeSeed()
	}
	m.slots, m.shift = make([]any, n), 64-bits.TrailingZeros(uint(n))
}

// slot returns the slot of a hash, which its leading bits select.
func (m *Memo) slot(hash uint64) *any { return &m.slots[hash>>(m.shift&63)] }

// Bytes returns b as a string value.
func (m *Memo) Bytes(b []byte) any {
	if !m.enabled() {
		return string(b)
	}
	slot := m.slot(maphash.Bytes(m.seed, b))
	if old, ok := (*slot).(string); ok && old == string(b) {
		m.hits++
		return *slot
	}
	*slot = string(b)
	m.left--
	return *slot
}

// Text returns a string as a value.
func (m *Memo) Text(s string) any {
	if !m.enabled() {
		return s
	}
	slot := m.slot(maphash.String(m.seed, s))
	if old, ok := (*slot).(string); ok && old == s {
		m.hits++
		return *slot
	}
	*slot = s
	m.left--
	return *slot
}

// Integer returns an integer as a value.
func (m *Memo) Integer(i int64) any {
	if uint64(i) < 256 || !m.enabled() {
		return i // boxing small integers does not allocate
	}
	slot := m.slot(spread(uint64(i)))
	if old, ok := (*slot).(int64); ok && old == i {
		m.hits++
		return *slot
	}
	*slot = i
	m.left--
	return *slot
}

// Float returns a float as a value.
func (m *Memo) Float(f float64) any {
	if !m.enabled() {
		return f
	}
	slot := m.slot(spread(math.Float64bits(f)))
	if old, ok := (*slot).(float64); ok && math.Float64bits(old) == math.Float64bits(f) {
		m.hits++
		return *slot
	}
	*slot = f
	m.left--
	return *slot
}

// spread hashes a number so that adjacent numbers get different slots.
func spread(n uint64) uint64 { return n * 0x9E3779B97F4A7C15 }

package table

import (
	"hash/maphash"
	"math"
	"math/bits"
)

const (
	// memoSize is the number of recent values a memo remembers. It is a power of
	// two.
	memoSize = 256
	// trial is how many values a memo takes before it looks whether it is of use.
	trial = 4 * memoSize
)

// Memo remembers a column's recent values as interfaces, so that a value that
// comes again (an airport code, a month, a small number) is neither boxed nor kept
// a second time. It changes where a value is stored, never what it is. Where
// values hardly ever come again it stops looking. The zero Memo is ready to use, by
// one goroutine.
type Memo struct {
	seed       maphash.Seed
	slots      []any
	asked, hit int
}

// slot returns the place for a hash.
func (m *Memo) slot(hash uint64) *any {
	if m.asked == trial {
		m.asked, m.hit = 0, 0
	}
	m.asked++
	return &m.slots[hash%memoSize]
}

// useful makes sure of the slots; it reports false when the memo has given up.
func (m *Memo) useful() bool {
	if m.slots == nil {
		m.slots, m.seed = make([]any, memoSize), maphash.MakeSeed()
	}
	return m.asked < trial || m.hit >= trial/4
}

// Text returns a text as a value.
func (m *Memo) Text(s string) any {
	if !m.useful() {
		return s
	}
	slot := m.slot(maphash.String(m.seed, s))
	if old, ok := (*slot).(string); ok && old == s {
		m.hit++
		return *slot
	}
	*slot = s
	return *slot
}

// Integer returns an integer as a value.
func (m *Memo) Integer(i int64) any {
	if uint64(i) < 256 || !m.useful() {
		return i // Go keeps the smallest itself
	}
	slot := m.slot(spread(uint64(i)))
	if old, ok := (*slot).(int64); ok && old == i {
		m.hit++
		return *slot
	}
	*slot = i
	return *slot
}

// Float returns a float as a value.
func (m *Memo) Float(f float64) any {
	if !m.useful() {
		return f
	}
	slot := m.slot(spread(math.Float64bits(f)))
	if old, ok := (*slot).(float64); ok && math.Float64bits(old) == math.Float64bits(f) {
		m.hit++
		return *slot
	}
	*slot = f
	return *slot
}

// spread mixes the bits of a number.
func spread(n uint64) uint64 {
	high, low := bits.Mul64(n^0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
	return high ^ low
}

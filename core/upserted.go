package core

import "iter"

// Upserted describes the rows that an attempt has stored by key in one table.
type Upserted struct {
	// Target identifies the table, in a form that is equal for equal tables. Name is its
	// name in messages.
	Target, Name string
	// Keys contains the hashes of Target and key.
	Keys KeyMap[struct{}]
}

// maxKeys limits the number of keys in a KeyMap.
const maxKeys = 1 << 20

// KeyMap maps hashes of keys to values. If it gets more than maxKeys keys, it keeps only a
// sample, which depends on the keys alone and not on their order or on how they were
// distributed over other maps. The zero KeyMap is empty.
type KeyMap[V any] struct {
	share uint8 // only hashes that end in this number of zero bits are kept
	of    map[uint64]V
}

// Set sets the value of a hash. All bits of the hash must depend on the whole key.
func (m *KeyMap[V]) Set(hash uint64, v V) {
	if !m.keeps(hash) {
		return
	}
	if m.of == nil {
		m.of = map[uint64]V{}
	}
	m.of[hash] = v
	for len(m.of) > maxKeys {
		m.share++
		for h := range m.of {
			if !m.keeps(h) {
				delete(m.of, h)
			}
		}
	}
}

func (m *KeyMap[V]) keeps(hash uint64) bool { return hash&(1<<m.share-1) == 0 }

// Get returns the value of a hash.
func (m *KeyMap[V]) Get(hash uint64) (v V, ok bool) {
	v, ok = m.of[hash]
	return v, ok
}

// Share returns n if the map keeps one in n keys, and 1 if it keeps all.
func (m *KeyMap[V]) Share() int { return 1 << m.share }

// Len returns the number of hashes in the map.
func (m *KeyMap[V]) Len() int { return len(m.of) }

// All yields the hashes and values, in no order.
func (m *KeyMap[V]) All() iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for h, v := range m.of {
			if !yield(h, v) {
				return
			}
		}
	}
}

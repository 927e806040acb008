package transform

import (
	"hash/maphash"
	"math"
	"math/bits"
)

// index numbers distinct keys in the order in which they first appear. A key consists
// of width values. Two keys are the same if value.Equal reports that their values are
// equal; NaN is equal to itself. The index is a hash table whose slots hold numbers, so
// the only memory allocated for a key is the space for its values.
type index struct {
	width int
	n     int    // number of keys
	keys  []any  // width values for each number
	slots []slot // length is a power of two
	seed  maphash.Seed
	buf   []byte
}

// slot is one slot of the hash table: part of the hash, and the number of the key plus
// one. number is 0 if the slot is empty.
type slot struct{ hash, number uint32 }

func newIndex(width int) *index {
	return &index{width: width, slots: make([]slot, 16), seed: maphash.MakeSeed()}
}

// key returns the values of the key with this number.
func (x *index) key(number int) []any { return x.keys[number*x.width:][:x.width] }

// find returns the number of a key, or -1 if the index does not contain it.
func (x *index) find(key []any) int {
	number, _ := x.look(key, x.hash(key))
	return number
}

// number returns the number of a key, and adds the key if it is new.
func (x *index) number(key []any) (number int, added bool) { return x.hashed(key, x.hash(key)) }

// numbered is like number, but also accepts keys without values, which are all the same
// key.
func (x *index) numbered(key []any) (number int, added bool) {
	if x.width > 0 {
		return x.number(key)
	}
	added, x.n = x.n == 0, 1
	return 0, added
}

func (x *index) hashed(key []any, hash uint32) (number int, added bool) {
	number, at := x.look(key, hash)
	if number >= 0 {
		return number, false
	}
	number = x.n
	x.n++
	x.keys = append(x.keys, key...)
	x.slots[at] = slot{hash, uint32(x.n)}
	if 4*x.n > 3*len(x.slots) {
		x.grow()
	}
	return number, true
}

// look returns the number of a key, or -1 and the empty slot where it belongs.
func (x *index) look(key []any, hash uint32) (number int, at uint32) {
	mask := uint32(len(x.slots) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s.number == 0 {
			return -1, at
		}
		if s.hash == hash && sameKey(x.key(int(s.number-1)), key) {
			return int(s.number - 1), at
		}
	}
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	mask := uint32(len(x.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := s.hash & mask
		for x.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = s
	}
}

func (x *index) hash(key []any) uint32 {
	h := uint64(0)
	for _, v := range key {
		h = (bits.RotateLeft64(h, 23) ^ x.hashValue(v)) * 0x9E3779B97F4A7C15
	}
	return uint32(h >> 32)
}

func (x *index) hashValue(v any) uint64 {
	switch v := v.(type) {
	case string:
		return maphash.String(x.seed, v)
	case int64:
		return hashInteger(v)
	case float64:
		if v == math.Trunc(v) && v >= -(1<<63) && v < 1<<63 {
			return hashInteger(int64(v)) // 1.0 equals 1
		}
		if math.IsNaN(v) {
			return 1
		}
		return hashInteger(int64(math.Float64bits(v)))
	}
	x.buf = appendKey(x.buf[:0], v)
	return maphash.Bytes(x.seed, x.buf)
}

// hashInteger spreads neighbouring integers over all bits of the hash.
func hashInteger(i int64) uint64 {
	high, low := bits.Mul64(uint64(i)^0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
	return high ^ low
}

func sameKey(a, b []any) bool {
	for i := range b {
		if !sameValue(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case int64:
		if y, ok := b.(int64); ok {
			return x == y
		}
	}
	return compare(a, b) == 0
}

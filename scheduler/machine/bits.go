package machine

import "math/bits"

// bitset is a set of small integers. It finds its least member in a few steps whatever its size:
// each bit of a level says whether a word of the level below is non-zero.
type bitset struct {
	levels [][]uint64
}

func newBitset(n int) bitset {
	var b bitset
	for {
		words := (n + 63) / 64
		b.levels = append(b.levels, make([]uint64, max(words, 1)))
		if words <= 1 {
			return b
		}
		n = words
	}
}

func (b *bitset) add(i int32) {
	for l := range b.levels {
		w := &b.levels[l][i>>6]
		was := *w
		*w |= 1 << (uint(i) & 63)
		if was != 0 {
			return
		}
		i >>= 6
	}
}

func (b *bitset) remove(i int32) {
	for l := range b.levels {
		w := &b.levels[l][i>>6]
		*w &^= 1 << (uint(i) & 63)
		if *w != 0 {
			return
		}
		i >>= 6
	}
}

// first returns the least member, -1 if the set is empty.
func (b *bitset) first() int32 {
	top := len(b.levels) - 1
	if b.levels[top][0] == 0 {
		return -1
	}
	i := int32(0)
	for l := top; l >= 0; l-- {
		i = i<<6 | int32(bits.TrailingZeros64(b.levels[l][i]))
	}
	return i
}

func (b *bitset) empty() bool { return b.levels[len(b.levels)-1][0] == 0 }

func (b *bitset) clear() {
	for l := range b.levels {
		clear(b.levels[l])
	}
}

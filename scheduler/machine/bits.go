package machine

import "math/bits"

// bitset is a set of small integers. It finds its least member in a few steps whatever its size:
// each bit of a level says whether a word of the level below is non-zero.
type bitset struct {
	words []uint64  // of all levels, the lowest first
	word  [1]uint64 // the space of words if there is only one
	from  [6]int32  // where each level begins
	top   int
}

// init makes the set, which must be zero, one for the integers below n. The set must not be copied.
func (b *bitset) init(n int) {
	size := int32(0)
	for {
		words := int32(max((n+63)/64, 1))
		b.from[b.top] = size
		size += words
		if words == 1 {
			if b.words = b.word[:]; size > 1 {
				b.words = make([]uint64, size)
			}
			return
		}
		n = int(words)
		b.top++
	}
}

func (b *bitset) add(i int32) {
	for l := 0; l <= b.top; l++ {
		w := &b.words[b.from[l]+i>>6]
		was := *w
		*w |= 1 << (uint(i) & 63)
		if was != 0 {
			return
		}
		i >>= 6
	}
}

func (b *bitset) remove(i int32) {
	if b.words == nil {
		return
	}
	for l := 0; l <= b.top; l++ {
		w := &b.words[b.from[l]+i>>6]
		*w &^= 1 << (uint(i) & 63)
		if *w != 0 {
			return
		}
		i >>= 6
	}
}

// first returns the least member, -1 if the set is empty.
func (b *bitset) first() int32 {
	if b.empty() {
		return -1
	}
	i := int32(0)
	for l := b.top; l >= 0; l-- {
		i = i<<6 | int32(bits.TrailingZeros64(b.words[b.from[l]+i]))
	}
	return i
}

func (b *bitset) empty() bool { return len(b.words) == 0 || b.words[len(b.words)-1] == 0 }

func (b *bitset) clear() { clear(b.words) }

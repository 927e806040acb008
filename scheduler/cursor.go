package scheduler

import "sync/atomic"

// cursor is how far a worker has come with its range: the next item in the low
// half, the end of the range in the high one. The worker claims items without a
// lock; whoever holds the run's lock takes those away that it has not begun.
type cursor struct{ v atomic.Uint64 }

func split(v uint64) (next, to int32) { return int32(v), int32(v >> 32) }

func join(next, to int32) uint64 { return uint64(uint32(next)) | uint64(to)<<32 }

func (c *cursor) set(from, to int32) { c.v.Store(join(from, to)) }

// claim gives the worker its next item; ok is false when there is none.
func (c *cursor) claim() (item int32, ok bool) {
	next, to := split(c.v.Add(1))
	return next - 1, next <= to
}

// yield takes away the items from least on that have not begun. It returns the end
// of what is left.
func (c *cursor) yield(least int32) int32 {
	for {
		v := c.v.Load()
		next, to := split(v)
		end := max(next, least)
		if end >= to {
			return to
		}
		if c.v.CompareAndSwap(v, join(next, end)) {
			return end
		}
	}
}

// seal takes away all items that have not begun, except for the first of the range.
// It returns the end of what is left and the item the worker is at, which is the
// end when it has done all of them.
func (c *cursor) seal(from int32) (at, to int32) {
	to = c.yield(from + 1)
	next, _ := split(c.v.Load())
	return max(next-1, from), to
}

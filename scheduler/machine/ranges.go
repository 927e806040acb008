package machine

import (
	"slices"
)

// This file is how the items of a fan-out are handed out: in ranges while they are
// quick, and never so that one waits for another while a slot is free.

// span is a range of items in flight. It is small, because there may be many.
type span struct {
	from, to int32
	passed   uint8 // ranges that were handed out later and ended earlier
	asked    bool  // to yield; once is enough
}

// wide reports whether the range may have something to yield.
func (s *span) wide() bool { return s.to-s.from > 1 && !s.asked }

const (
	maxChunk = 256
	// patience is how many later ranges may end before a range is taken to be
	// held up by one of its items. The items behind that one then come first
	// again, as they would had each been handed out alone.
	patience = 4
	// quick is the time per item below which several are handed out at once:
	// far less than it takes to wake another worker.
	quick = 10_000
)

// withheld returns the first range whose items others could begin now, while it is
// being worked off one item at a time; -1 for none. One range is asked at a time:
// it may give more than there are slots.
func (t *fanOut) withheld() int {
	first := -1
	if t.wide > 0 && !t.asked {
		for i := range t.flying {
			if t.flying[i].wide() && (first < 0 || t.flying[i].from < t.flying[first].from) {
				first = i
			}
		}
	}
	return first
}

// askToYield asks for the items of a range that have not begun.
func (t *fanOut) askToYield(s *span) {
	s.asked = true
	t.wide--
	t.f.m.command(Command{Op: OpYield, ID: t.rangeID(*s), Node: t.n})
}

// sent notes that a range is in flight.
func (t *fanOut) sent(s span) {
	t.flying = append(t.flying, s)
	if s.wide() {
		t.wide++
	}
}

func (t *fanOut) rangeID(s span) ID {
	return ID{Frame: t.f.id, Node: t.n.Index, From: s.from, To: s.to, Attempt: t.attempt(int(s.from))}
}

// startRange hands out the next items, several while they proved quick.
func (t *fanOut) startRange() {
	s := t.pick(t.chunk)
	for i := s.from; i < s.to; i++ {
		t.count(int(i))
	}
	t.sent(s)
	t.f.run(t.n, t.rangeID(s), t.callFor(s), &t.group)
}

// pick removes the next items to start from what waits: items to be tried again
// or handed back first, then new ones. Items of one range are at the same attempt.
func (t *fanOut) pick(most int) span {
	cut := t.cut()
	most = max(1, min(most, (len(t.due)+cut-t.next)/(2*t.group.limit)))
	if len(t.due) == 0 || t.due[0] >= cut {
		from := t.next
		t.next += most
		return span{from: int32(from), to: int32(t.next)}
	}
	from, n := t.due[0], 1
	for n < min(most, len(t.due), cut-from) && t.due[n] == from+n && t.attempt(from+n) == t.attempt(from) {
		n++
	}
	t.due = t.due[n:]
	return span{from: int32(from), to: int32(from + n)}
}

// pass notes that a range ended before those that were handed out earlier.
func (t *fanOut) pass(at int) {
	for i := 0; i < at && t.wide > 0; i++ {
		if s := &t.flying[i]; s.wide() {
			if s.passed++; s.passed >= patience {
				t.askToYield(s)
			}
		}
	}
}

// yielded takes back what a range in flight does not hold any more.
func (t *fanOut) yielded(s *span, to int) {
	t.asked = false
	if to < int(s.to) {
		wide := s.wide()
		t.handBack(to, int(s.to))
		s.to, t.chunk = int32(to), 1
		if wide && !s.wide() {
			t.wide--
		}
	}
	t.f.refresh(t.v)
}

// handBack lets items that were handed out and not begun wait again.
func (t *fanOut) handBack(from, to int) {
	at, _ := slices.BinarySearch(t.due, from)
	t.due = slices.Insert(t.due, at, make([]int, to-from)...)
	for i := from; i < to; i++ {
		w := i - t.base
		t.phases[w] = itemWaiting
		if t.attempts[w]--; t.attempts[w] > 0 {
			t.phases[w] = itemDue
		}
		t.due[at+i-from] = i
	}
}

// adapt grows the range handed out while items are quick and falls back to one
// item as soon as they are not, so that no short item waits behind a slow one.
func (t *fanOut) adapt(e *Event, whole bool) {
	n := int64(e.ID.To - e.ID.From)
	if whole && !t.f.m.opts.Events && (e.Ended-e.Started)/n < quick {
		t.chunk = min(2*t.chunk, maxChunk)
	} else {
		t.chunk = 1
	}
}

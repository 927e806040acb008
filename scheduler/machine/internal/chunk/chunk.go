// Package chunk decides how many items of a fan-out are handed out together: several while
// they prove quick, and never so that an item waits for another while a slot is free. It knows
// the places of items only; what an item is, and how it ends, is the caller's.
package chunk

import (
	"encoding/json"
	"slices"
)

const (
	// Max limits the items of one range.
	Max = 256
	// Patience limits the later ranges that may end before a range is taken to be held up by
	// one of its items. The items after that one are then asked back and come first again, as
	// they would if each had been handed out alone.
	Patience = 4
	// Quick is the time per item, in nanoseconds, below which several are handed out at once:
	// far less than it takes to wake another worker.
	Quick = 10_000
)

// Span is a range of items in flight, without To. It is small, because there may be many.
type Span struct {
	From   int32 `json:"from"`
	To     int32 `json:"to"`
	passed uint8 // ranges that were handed out later and ended earlier
	asked  bool  // to yield; once is enough
}

// wide reports whether the range may have something to yield.
func (s *Span) wide() bool { return s.To-s.From > 1 && !s.asked }

// Ranges are the ranges of one fan-out that are in flight, in the order they were handed out.
// The zero value hands out single items.
type Ranges struct {
	// Size is how many items the next range may have; 0 is one.
	Size  int
	open  []Span
	wide  int  // ranges that may yield
	asked bool // one of them was asked to because slots were free
}

// rangesJSON is the JSON form of Ranges. Whether a range was asked to yield is not in it.
type rangesJSON struct {
	Size int    `json:"size"`
	Open []Span `json:"open,omitempty"`
}

// MarshalJSON returns the size and the ranges in flight.
func (r Ranges) MarshalJSON() ([]byte, error) { return json.Marshal(rangesJSON{r.Size, r.open}) }

// UnmarshalJSON reads what MarshalJSON has written.
func (r *Ranges) UnmarshalJSON(data []byte) error {
	var j rangesJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Ranges{Size: j.Size}
	for _, s := range j.Open {
		r.Add(s)
	}
	return nil
}

// Open returns the ranges in flight, to be read only.
func (r *Ranges) Open() []Span { return r.open }

// InFlight reports whether a range is in flight.
func (r *Ranges) InFlight() bool { return len(r.open) > 0 }

// Next returns how many items to hand out, with as many waiting and at most limit in flight:
// at least one, and no more than half of what each of the others could get.
func (r *Ranges) Next(waiting, limit int) int { return max(1, min(r.Size, waiting/(2*limit))) }

// Add notes that a range is in flight.
func (r *Ranges) Add(s Span) {
	r.open = append(r.open, s)
	if s.wide() {
		r.wide++
	}
}

// Find returns the place of the range that begins with an item, -1 if there is none.
func (r *Ranges) Find(from int32) int {
	return slices.IndexFunc(r.open, func(s Span) bool { return s.From == from })
}

// Withheld returns the place of the first range whose items others could begin now, while it
// is worked off one item at a time; -1 if there is none. One range is asked at a time: it may
// give more than there are slots.
func (r *Ranges) Withheld() int {
	first := -1
	if r.wide > 0 && !r.asked {
		for i := range r.open {
			if r.open[i].wide() && (first < 0 || r.open[i].From < r.open[first].From) {
				first = i
			}
		}
	}
	return first
}

// Ask notes that the range Withheld named is asked to yield, and returns it. No other range is
// withheld until one has yielded or ended.
func (r *Ranges) Ask(at int) Span {
	r.asked = true
	return r.ask(at)
}

func (r *Ranges) ask(at int) Span {
	r.open[at].asked = true
	r.wide--
	return r.open[at]
}

// Yield takes what lies behind an item off a range in flight, and returns the end that the
// range had. Items that had to be taken back are not quick: single ones follow.
func (r *Ranges) Yield(at int, to int32) int32 {
	r.asked = false
	s := &r.open[at]
	end := s.To
	if to < end {
		wide := s.wide()
		s.To, r.Size = to, 1
		if wide && !s.wide() {
			r.wide--
		}
	}
	return end
}

// Ended notes that a range has ended, before those that were handed out earlier; ask is called
// for each of them that is asked to yield because of it. The range is among the open ones
// until it is removed.
func (r *Ranges) Ended(at int, ask func(Span)) {
	r.asked = false
	if r.open[at].wide() {
		r.wide--
	}
	for i := 0; i < at && r.wide > 0; i++ {
		if s := &r.open[i]; s.wide() {
			if s.passed++; s.passed >= Patience {
				ask(r.ask(i))
			}
		}
	}
}

// Remove forgets a range.
func (r *Ranges) Remove(at int) { r.open = slices.Delete(r.open, at, at+1) }

// Adapt doubles the size while items are quick and falls back to one item as soon as they are
// not, so that no short item waits for a slow one. A range of n items took so many
// nanoseconds; growing is false if it was cut short, or if each item is to be told of singly.
func (r *Ranges) Adapt(n, took int64, growing bool) {
	if growing && took/n < Quick {
		r.Size = min(2*r.Size, Max)
	} else {
		r.Size = 1
	}
}

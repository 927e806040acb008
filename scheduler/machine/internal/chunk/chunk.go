// Package chunk decides how many items of a fan-out are issued together: several if items are
// quick, and never so that an item waits for another one while a slot is free. It knows only the
// indexes of items.
package chunk

import (
	"encoding/json"
	"slices"
)

const (
	// Max limits the items of one range.
	Max = 256
	// Patience limits the number of later ranges that may end before a range. After that, one of
	// its items is assumed to hold it up. The items after that one are asked back and issued
	// first, as if each item had been issued alone.
	Patience = 4
	// Quick is the time per item, in nanoseconds, below which several items are issued together.
	// It is far less than the time to wake another worker.
	Quick = 10_000
)

// Span is a range of items in flight, excluding To. It is small because there may be many.
type Span struct {
	From int32 `json:"from"`
	To   int32 `json:"to"`
	// Alone reports whether it was issued with a single item.
	Alone  bool  `json:"alone,omitempty"`
	passed uint8 // number of ranges that were issued later and ended earlier
	asked  bool  // whether it was asked to yield, which happens once
}

// wide reports whether the range may have items to yield.
func (s *Span) wide() bool { return s.To-s.From > 1 && !s.asked }

// Ranges are the ranges in flight of one fan-out, in the order of their issue. The zero value
// issues single items.
type Ranges struct {
	// Size limits the items of the next range; 0 means one.
	Size  int
	open  []Span
	wide  int  // number of ranges that may yield
	asked bool // a range was asked to yield because slots were free
}

// rangesJSON is the JSON form of Ranges. It does not contain whether a range was asked to yield.
type rangesJSON struct {
	Size int    `json:"size"`
	Open []Span `json:"open,omitempty"`
}

// MarshalJSON returns the size and the ranges in flight.
func (r Ranges) MarshalJSON() ([]byte, error) { return json.Marshal(rangesJSON{r.Size, r.open}) }

// UnmarshalJSON decodes the form of MarshalJSON.
func (r *Ranges) UnmarshalJSON(data []byte) error {
	var j rangesJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Ranges{Size: j.Size}
	for _, s := range j.Open {
		r.add(s)
	}
	return nil
}

// Open returns the ranges in flight. The caller must not modify them.
func (r *Ranges) Open() []Span { return r.open }

// InFlight reports whether a range is in flight.
func (r *Ranges) InFlight() bool { return len(r.open) > 0 }

// Next returns the number of items to issue, given the number of waiting items and the limit of
// ranges in flight: at least one, and at most half of an equal share for each slot.
func (r *Ranges) Next(waiting, limit int) int { return max(1, min(r.Size, waiting/(2*limit))) }

// Add adds a range that was issued.
func (r *Ranges) Add(s Span) {
	s.Alone = s.To == s.From+1
	r.add(s)
}

func (r *Ranges) add(s Span) {
	r.open = append(r.open, s)
	if s.wide() {
		r.wide++
	}
}

// Find returns the index of the range that begins with an item, or -1 if there is none.
func (r *Ranges) Find(from int32) int {
	return slices.IndexFunc(r.open, func(s Span) bool { return s.From == from })
}

// Withheld returns the index of the first range with items that free slots could run, or -1 if
// there is none. Only one range is asked to yield at a time, because it may yield more items than
// there are slots.
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

// Ask marks the range that Withheld has returned as asked to yield, and returns it. Withheld then
// returns -1 until a range has yielded or ended.
func (r *Ranges) Ask(at int) Span {
	r.asked = true
	return r.ask(at)
}

func (r *Ranges) ask(at int) Span {
	r.open[at].asked = true
	r.wide--
	return r.open[at]
}

// Yield removes the items from to on from a range in flight, and returns the previous end of the
// range. Items that have to be taken back are not quick, so the next range is a single item.
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

// Ended notes that a range has ended. It calls ask for each earlier range that has to yield
// because too many later ones have ended. The range itself stays open until Remove.
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

// Remove removes a range.
func (r *Ranges) Remove(at int) { r.open = slices.Delete(r.open, at, at+1) }

// Adapt doubles the size while items are quick, and resets it to one item as soon as they are
// not, so that no short item waits for a slow one. n items took the given number of nanoseconds.
// growing is false if the range was cut short or if ranges are not wanted.
func (r *Ranges) Adapt(n, took int64, growing bool) {
	if growing && took/n < Quick {
		r.Size = min(2*r.Size, Max)
	} else {
		r.Size = 1
	}
}

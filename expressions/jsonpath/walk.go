package jsonpath

import (
	"slices"

	"github.com/ohler55/ojg/jp"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// stepKind determines what a step selects.
type stepKind uint8

const (
	nameStep    stepKind = iota // a member
	indexStep                   // an element
	anyStep                     // all members or elements
	sliceStep                   // a range of elements
	unionStep                   // several members or elements, in the order written
	filterStep                  // the members or elements that satisfy a condition
	descentStep                 // matches of the next step at any depth
)

// step is one step of a path.
type step struct {
	kind   stepKind
	cost   int // of visiting one value, see walker.spend
	name   string
	index  int
	slice  jp.Slice
	union  []step // names and indexes
	filter *expressions.Program
}

// All returns the values that the path selects from root, an object that contains the
// state field Root. The matches are in document order: elements by index, members in
// the order of their keys, and with ".." each value before the values inside it. A
// union, and a slice with a negative step, define their own order. The values are
// shared with root.
//
// If stop is not nil, All calls it regularly and returns ErrStopped once it returns
// true. If the path exceeds MaxMatches or MaxWork, All returns a *LimitError.
func (p *Path) All(root any, stop func() bool) ([]any, error) {
	o, ok := plain(root).(*value.Object)
	if !ok {
		return []any{}, nil
	}
	v, ok := o.Get(p.root)
	if !ok {
		return []any{}, nil
	}
	return p.From(v, stop)
}

// From is like All but takes the value of the field itself.
func (p *Path) From(field any, stop func() bool) ([]any, error) {
	return p.from(field, stop, MaxMatches, MaxWork)
}

func (p *Path) from(field any, stop func() bool, matches, work int) ([]any, error) {
	w := walker{out: []any{}, maxMatches: matches, maxWork: work, work: work, stop: stop}
	if value.IsMissing(field) || w.walk(field, p.steps) {
		return w.out, nil
	}
	return nil, w.failure(p)
}

// plain returns v as a plain value, or value.Missing if it has no plain form.
func plain(v any) any {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
		return v
	}
	c, err := value.Canonical(v)
	if err != nil {
		return value.Missing
	}
	return c
}

// walker collects the matches of one evaluation. It is also the Env of the filters,
// with the current element as item.
type walker struct {
	out        []any
	item       any
	maxMatches int // the maximum number of matches
	maxWork    int // the maximum work
	work       int // the remaining work, excluding paid
	paid       int // the work remaining until the next check of the limit and of stop
	stop       func() bool
	stopped    bool // stop returned true
	tooMany    bool // there are more matches than allowed
}

// Field, Node, Input, Index and Extra are never called, because a filter reads only its
// element.

func (w *walker) Field(int) any                     { return value.Missing }
func (w *walker) Node(int) (status, output any)     { return value.Missing, value.Missing }
func (w *walker) Input(string) any                  { return value.Missing }
func (w *walker) Item() any                         { return w.item }
func (w *walker) Index() any                        { return value.Missing }
func (w *walker) Extra(expressions.Root) any        { return value.Missing }
func (w *walker) satisfies(s *step, child any) bool { w.item = child; return s.filter.Test(w) }

// walk collects the values that the steps select from v. Like all methods that follow
// steps, it returns false if the evaluation ended early.
func (w *walker) walk(v any, steps []step) bool {
	for i := range steps {
		s := &steps[i]
		if s.kind != nameStep && s.kind != indexStep {
			return w.spend(i) && w.branch(plain(v), s, steps[i+1:])
		}
		var ok bool
		if v, ok = member(v, s); !ok {
			return w.spend(i)
		}
	}
	if w.tooMany = len(w.out) == w.maxMatches; w.tooMany {
		return false
	}
	w.out = append(w.out, v)
	return w.spend(len(steps))
}

// member returns the value that a name or an index selects.
func member(v any, s *step) (any, bool) {
	if s.kind == nameStep {
		if o, ok := plain(v).(*value.Object); ok {
			return o.Get(s.name)
		}
		return nil, false
	}
	a, ok := plain(v).([]any)
	n := s.index
	if n < 0 {
		n += len(a)
	}
	if !ok || n < 0 || n >= len(a) {
		return nil, false
	}
	return a[n], true
}

// branch follows a step that may select several values.
func (w *walker) branch(v any, s *step, rest []step) bool {
	switch s.kind {
	case anyStep, filterStep:
		return w.children(v, s, rest)
	case sliceStep:
		a, ok := v.([]any)
		return !ok || w.slice(a, s.slice, rest)
	case unionStep:
		for i := range s.union {
			if !w.spend(1) {
				return false
			}
			if e, ok := member(v, &s.union[i]); ok && !w.walk(e, rest) {
				return false
			}
		}
	case descentStep:
		return w.descend(v, &rest[0], rest[1:])
	}
	return true
}

// children follows a wildcard or filter.
func (w *walker) children(v any, s *step, rest []step) bool {
	switch v := v.(type) {
	case []any:
		if s.kind == anyStep && len(rest) == 0 {
			return w.addAll(v)
		}
		if s.kind == anyStep {
			w.out = slices.Grow(w.out, min(len(v), w.maxMatches-len(w.out)))
		}
		for _, e := range v {
			if !w.spend(s.cost) || (s.kind == anyStep || w.satisfies(s, e)) && !w.walk(e, rest) {
				return false
			}
		}
	case *value.Object:
		for _, e := range v.All() {
			if !w.spend(s.cost) || (s.kind == anyStep || w.satisfies(s, e)) && !w.walk(e, rest) {
				return false
			}
		}
	}
	return true
}

// addAll collects all elements of an array.
func (w *walker) addAll(v []any) bool {
	if w.tooMany = len(v) > w.maxMatches-len(w.out); w.tooMany {
		return false
	}
	w.out = append(w.out, v...)
	return w.spend(len(v))
}

// descend applies step s to v and to everything inside it. It handles each child first
// as a match and then as a container, which gives document order.
func (w *walker) descend(v any, s *step, rest []step) bool {
	switch v := plain(v).(type) {
	case []any:
		for i, e := range v {
			if !w.spend(s.cost) || w.selects(s, len(v), i, "", e) && !w.walk(e, rest) || !w.descend(e, s, rest) {
				return false
			}
		}
	case *value.Object:
		for k, e := range v.All() {
			if !w.spend(s.cost) || w.selects(s, -1, -1, k, e) && !w.walk(e, rest) || !w.descend(e, s, rest) {
				return false
			}
		}
	}
	return true
}

// selects reports whether a step selects element i of size elements or, if size is
// negative, the member with the given name.
func (w *walker) selects(s *step, size, i int, name string, child any) bool {
	switch s.kind {
	case nameStep:
		return size < 0 && s.name == name
	case indexStep:
		return size >= 0 && (s.index == i || s.index == i-size)
	case anyStep:
		return true
	case filterStep:
		return w.satisfies(s, child)
	case sliceStep:
		from, to, by := bounds(s.slice, size)
		return by > 0 && i >= from && i < to && (i-from)%by == 0 || by < 0 && i <= from && i > to && (from-i)%-by == 0
	case unionStep:
		for k := range s.union {
			if w.selects(&s.union[k], size, i, name, child) {
				return true
			}
		}
	}
	return false
}

func (w *walker) slice(a []any, s jp.Slice, rest []step) bool {
	from, to, by := bounds(s, len(a))
	for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
		if !w.spend(1) || !w.walk(a[i], rest) {
			return false
		}
	}
	return true
}

// bounds returns the first index of a slice, the index before which it ends, and the
// increment, as defined by RFC 9535. A slice with step 0 selects nothing.
func bounds(s jp.Slice, size int) (from, to, by int) {
	by = 1
	if s[2] != jp.SliceNotSet {
		by = s[2]
	}
	place := func(n, missing, low, high int) int {
		if n == jp.SliceNotSet {
			return missing
		}
		if n < 0 {
			n += size
		}
		return min(max(n, low), high)
	}
	if by >= 0 {
		return place(s[0], 0, 0, size), place(s[1], size, 0, size), by
	}
	return place(s[0], size-1, -1, size-1), place(s[1], -1, -1, size-1), by
}

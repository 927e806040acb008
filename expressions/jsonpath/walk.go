package jsonpath

import (
	"slices"

	"github.com/ohler55/ojg/jp"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// stepKind says what a step selects.
type stepKind uint8

const (
	nameStep    stepKind = iota // a member
	indexStep                   // an element
	anyStep                     // all members or elements
	sliceStep                   // a range of elements
	unionStep                   // several members or elements, in the order written
	filterStep                  // the members or elements that satisfy a condition
	descentStep                 // whatever the next step selects, at any depth
)

// step is one step of a path.
type step struct {
	kind   stepKind
	name   string
	index  int
	slice  jp.Slice
	union  jp.Union
	filter *expressions.Program
}

// All returns what the path leads to in root, an object that holds the state
// field Root. The matches are in document order: elements by index, members in
// the order of their keys, after ".." each before what is inside it; a union or
// a slice that runs backwards gives its own order. The values are shared.
func (p *Path) All(root any) []any {
	o, ok := plain(root).(*core.Object)
	if !ok {
		return []any{}
	}
	v, ok := o.Get(p.root)
	if !ok {
		return []any{}
	}
	return p.From(v)
}

// From is All for the value of the field itself.
func (p *Path) From(field any) []any {
	if core.IsMissing(field) {
		return []any{}
	}
	w := walker{out: []any{}}
	w.walk(field, p.steps)
	return w.out
}

// plain returns a value of one of the plain types; what has none is Missing.
func plain(v any) any {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *core.Object:
		return v
	}
	c, err := core.Canonical(v)
	if err != nil {
		return core.Missing
	}
	return c
}

// walker collects the matches of one walk. It is also the environment of the
// filters: item is the element they look at.
type walker struct {
	out  []any
	item any
}

// Field, Node, Input, Index and Extra are never asked for: a filter reads
// nothing but its element.

func (w *walker) Field(int) any                 { return core.Missing }
func (w *walker) Node(int) (core.Status, any)   { return core.StatusNone, core.Missing }
func (w *walker) Input(string) any              { return core.Missing }
func (w *walker) Item() any                     { return w.item }
func (w *walker) Index() any                    { return core.Missing }
func (w *walker) Extra(expressions.Root) any    { return core.Missing }
func (w *walker) keeps(s *step, child any) bool { w.item = child; return s.filter.Test(w) }

// walk adds what the steps select in v.
func (w *walker) walk(v any, steps []step) {
	for i := range steps {
		s := &steps[i]
		switch s.kind {
		case nameStep:
			o, ok := plain(v).(*core.Object)
			if !ok {
				return
			}
			if v, ok = o.Get(s.name); !ok {
				return
			}
		case indexStep:
			a, ok := plain(v).([]any)
			n := s.index
			if n < 0 {
				n += len(a)
			}
			if !ok || n < 0 || n >= len(a) {
				return
			}
			v = a[n]
		default:
			w.branch(plain(v), s, steps[i+1:])
			return
		}
	}
	w.out = append(w.out, v)
}

// branch follows a step that may select several values.
func (w *walker) branch(v any, s *step, rest []step) {
	switch s.kind {
	case anyStep, filterStep:
		w.children(v, s, rest)
	case sliceStep:
		if a, ok := v.([]any); ok {
			w.slice(a, s.slice, rest)
		}
	case unionStep:
		for _, u := range s.union {
			one := [1]step{unionMember(u)}
			w.walk(v, append(one[:], rest...))
		}
	case descentStep:
		w.descend(v, &rest[0], rest[1:])
	}
}

func unionMember(u any) step {
	if name, ok := u.(string); ok {
		return step{kind: nameStep, name: name}
	}
	n, _ := u.(int64)
	return step{kind: indexStep, index: int(n)}
}

// children follows a wildcard or filter.
func (w *walker) children(v any, s *step, rest []step) {
	switch v := v.(type) {
	case []any:
		if s.kind == anyStep {
			w.out = slices.Grow(w.out, len(v))
		}
		for _, e := range v {
			if s.kind == anyStep || w.keeps(s, e) {
				w.walk(e, rest)
			}
		}
	case *core.Object:
		for _, e := range v.All() {
			if s.kind == anyStep || w.keeps(s, e) {
				w.walk(e, rest)
			}
		}
	}
}

// descend follows step s in v and everything inside it. Looking at each child in
// turn, first as a match and then inside, gives document order.
func (w *walker) descend(v any, s *step, rest []step) {
	switch v := plain(v).(type) {
	case []any:
		for i, e := range v {
			if w.selects(s, len(v), i, "", e) {
				w.walk(e, rest)
			}
			w.descend(e, s, rest)
		}
	case *core.Object:
		for k, e := range v.All() {
			if w.selects(s, -1, -1, k, e) {
				w.walk(e, rest)
			}
			w.descend(e, s, rest)
		}
	}
}

// selects reports whether a step selects the i-th of size elements, or, when
// size is negative, the member of that name.
func (w *walker) selects(s *step, size, i int, name string, child any) bool {
	switch s.kind {
	case nameStep:
		return size < 0 && s.name == name
	case indexStep:
		return size >= 0 && (s.index == i || s.index == i-size)
	case anyStep:
		return true
	case filterStep:
		return w.keeps(s, child)
	case sliceStep:
		from, to, by := bounds(s.slice, size)
		return by > 0 && i >= from && i < to && (i-from)%by == 0 || by < 0 && i <= from && i > to && (from-i)%-by == 0
	case unionStep:
		return slices.ContainsFunc(s.union, func(u any) bool {
			m := unionMember(u)
			return w.selects(&m, size, i, name, child)
		})
	}
	return false
}

func (w *walker) slice(a []any, s jp.Slice, rest []step) {
	from, to, by := bounds(s, len(a))
	for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
		w.walk(a[i], rest)
	}
}

// bounds returns where a slice of an array starts, before which index it ends
// and by how much it advances, as RFC 9535 has it. A step of 0 selects nothing.
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

package history

import (
	"maps"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// Blame is a value and who wrote it.
type Blame struct {
	Value any `json:"value"`
	// By is the latest execution that contributed to the value.
	By Author `json:"by"`
	// All lists all that contributed to a value that cannot be divided, such as a sum, in the order of
	// their writes. It is nil if there is only one.
	All []Author `json:"all,omitempty"`
	// Parts are the elements or members of the value, if not all of them have the same author.
	Parts []Part `json:"parts,omitempty"`
}

// Part is a part of a value.
type Part struct {
	// Path leads to the part from the value: "[3]", ".totals.eu".
	Path string `json:"path"`
	Blame
}

// FieldBlame is the blame of a field, or of a value inside it.
type FieldBlame struct {
	Path string
	Blame
}

// Blame returns who wrote the values of all fields that have one, or with a path as for Lookup who wrote
// that value. The rule depends on the merge strategy of the field: the last write counts if it
// overwrites, elements and members have authors of their own if it appends, unites or merges, all
// writes count if it adds up, and the write that attained it counts for a minimum or maximum.
func (s *State) Blame(path string) ([]FieldBlame, error) {
	if path != "" {
		field, steps, err := s.parse(path)
		if err != nil {
			return nil, err
		}
		v, err := lookup(s.value(field), steps, path)
		if err != nil {
			return nil, err
		}
		o := s.origin(field)
		return []FieldBlame{{path, s.r.blame(v, o.at(steps), s.r.placeIn(o, steps))}}, nil
	}
	var list []FieldBlame
	for f := range s.upTo {
		if v := s.value(f); !value.IsMissing(v) {
			list = append(list, FieldBlame{s.r.fieldAt(f).Name, s.r.blame(v, s.origin(f), nil)})
		}
	}
	return list, nil
}

// blame describes the origin of a value. at is its place in what its latest write has written.
func (r *Run) blame(v any, o *origin, at []step) Blame {
	by := r.author(o.latest)
	if o.elements != nil || o.members != nil || len(o.all) > 1 {
		by = r.innerAuthor(o.latest, nil)
	} else if b, ok := r.innerBlame(v, o.latest, at); ok {
		return b
	}
	b := Blame{Value: r.mask.Value(v), By: by}
	if len(o.all) > 1 {
		b.All = make([]Author, len(o.all))
		for i, w := range o.all {
			b.All[i] = r.innerAuthor(w, nil)
		}
	}
	switch v := v.(type) {
	case []any:
		if len(o.elements) == len(v) && slices.ContainsFunc(o.elements, func(i int32) bool { return i != o.elements[0] }) {
			b.Parts = r.elementParts(v, o)
		}
	case *value.Object:
		if o.members == nil {
			break
		}
		same := true
		for k, m := range v.All() {
			x := o.member(k)
			sub, prefix := r.blame(m, x, append(slices.Clip(at), step{Key: k, Index: -1})), step{Key: k, Index: -1}.String()
			same = same && sub.Parts == nil && x.latest == o.latest && sub.By == b.By
			if sub.Parts == nil {
				b.Parts = append(b.Parts, Part{prefix, sub})
			}
			for _, p := range sub.Parts {
				b.Parts = append(b.Parts, Part{prefix + p.Path, p.Blame})
			}
		}
		if same {
			b.Parts = nil
		}
	}
	return b
}

// elementParts describes the origin of the elements of a list. It is nil if all have the same author.
func (r *Run) elementParts(v []any, o *origin) (parts []Part) {
	same := !slices.ContainsFunc(o.elements, func(w int32) bool { return w != o.elements[0] })
	if same && r.inner == nil {
		return nil
	}
	of := map[int32]int{} // the elements of each write so far
	for i, e := range v {
		w := o.elements[i]
		b := r.blame(e, &origin{by: w, latest: w}, []step{{Index: of[w]}})
		of[w]++
		same = same && b.Parts == nil && (i == 0 || b.By == parts[0].By)
		parts = append(parts, Part{step{Index: i}.String(), b})
	}
	if same {
		return nil
	}
	return parts
}

// origin says which writes a value comes from. Writes are indexes in Run.writes, -1 is the start.
type origin struct {
	// by is the write of the parts that are not in elements or members. latest is the last write that
	// contributed.
	by, latest int32
	all        []int32 // of a value that cannot be divided; nil if there is only one
	elements   []int32
	members    map[string]*origin
	written    any // the value that was written by by, for merges of objects
}

// at returns the origin of a value inside the value.
func (o *origin) at(steps []step) *origin {
	for _, s := range steps {
		switch {
		case s.Index >= 0 && s.Index < len(o.elements):
			o = &origin{by: o.elements[s.Index], latest: o.elements[s.Index]}
		case s.Index < 0:
			o = o.member(s.Key)
		default:
			o = &origin{by: o.by, latest: o.by, all: o.all}
		}
	}
	return o
}

// member returns the origin of a member.
func (o *origin) member(key string) *origin {
	if m := o.members[key]; m != nil {
		return m
	}
	m := &origin{by: o.by, latest: o.by, all: o.all}
	if in, ok := o.written.(*value.Object); ok {
		m.written, _ = in.Get(key)
	}
	return m
}

// merge merges a write of an object. Members of objects are merged too if deep is set.
func (o *origin) merge(w int32, v any, deep bool) *origin {
	add, ok := v.(*value.Object)
	before, isObject := o.written.(*value.Object)
	if !ok || !isObject {
		return &origin{by: w, latest: w, written: v}
	}
	for k, x := range add.All() {
		m := &origin{by: w, latest: w, written: x}
		_, had := before.Get(k)
		if known := o.members[k]; deep && (had || known != nil) {
			m = o.member(k).merge(w, x, deep)
		}
		if o.members == nil {
			o.members = map[string]*origin{}
		}
		o.members[k], o.latest = m, w
	}
	return o
}

// base is a value with which later writes are merged, and its origin.
type base struct {
	value any
	*origin
	next int // the index of the first later write of the field
}

// origin returns the origin of the value of a field.
func (s *State) origin(field int) *origin { return s.r.originAfter(field, s.upTo[field]) }

// originAfter returns the origin of the value of a field after its first n writes.
func (r *Run) originAfter(field, n int) *origin {
	from, list := r.base(field, n), r.fields[field][:n]
	if list = list[from.next:]; len(list) == 0 {
		return from.origin
	}
	switch name := r.fieldAt(field).Strategy().Name; name {
	case "array_append":
		return r.appended(from, list)
	case "union":
		return r.united(field, from, n)
	case "object_merge", "stream", "members":
		o := from.origin
		o.written = from.value
		for _, i := range list {
			if v := r.writes[i].value; value.IsMissing(v) { // the walk begins again
				o = &origin{by: -1, latest: -1, written: canonical(r.graph.Start(field))}
			} else {
				o = o.merge(i, v, name != "members")
			}
		}
		return o
	case "min", "max":
		return r.attained(field, from, n)
	case "sum", "count", "custom":
		last := list[len(list)-1]
		o := &origin{by: last, latest: last}
		if zero, ok := from.value.(int64); from.by >= 0 || !empty(from.value) && !(ok && zero == 0) {
			o.all = append(o.all, from.by)
		}
		o.all = append(o.all, list...)
		return o
	}
	w := list[len(list)-1]
	return &origin{by: w, latest: w, elements: r.writes[w].elements}
}

// base returns the value of a field with which its first n writes are merged: the value that a replay has set
// last, or the starting value.
func (r *Run) base(field, n int) base {
	for k := n - 1; k >= 0; k-- {
		i := r.fields[field][k]
		if w := &r.writes[i]; w.set {
			o := &origin{by: i, latest: i}
			if len(w.steps) > 0 {
				o = r.originAfter(field, k)
				o.set(w.steps, i, w.value)
			}
			o.written = w.value
			return base{w.value, o, k + 1}
		}
	}
	return base{canonical(r.graph.Start(field)), &origin{by: -1, latest: -1}, 0}
}

// set notes that a write has set what is at the end of some steps. v is the value afterwards.
func (o *origin) set(steps []step, w int32, v any) {
	if len(steps) == 0 {
		*o = origin{by: w, latest: w, written: v}
		return
	}
	s := steps[0]
	in, _ := s.Inside(v)
	if o.latest = w; o.all != nil {
		o.all = append(slices.Clip(o.all), w)
	}
	if s.Index >= 0 {
		o.elements = slices.Clone(o.elementsOf(v))
		o.elements[s.Index] = w
		return
	}
	m := *o.member(s.Key)
	m.members = maps.Clone(m.members)
	m.set(steps[1:], w, in)
	if o.members = maps.Clone(o.members); o.members == nil {
		o.members = map[string]*origin{}
	}
	o.members[s.Key] = &m
}

// elementsOf returns the writes of the elements of a list.
func (o *origin) elementsOf(v any) []int32 {
	list, _ := v.([]any)
	if len(o.elements) == len(list) {
		return o.elements
	}
	return slices.Repeat([]int32{o.by}, len(list))
}

// list returns the origin of the list to which writes add elements. first is the first of them.
func (b base) list(first int32) *origin {
	o := &origin{by: first, latest: first, elements: slices.Clip(b.elementsOf(b.value))}
	if len(o.elements) > 0 {
		o.latest = b.latest
	}
	return o
}

func empty(v any) bool { return v == nil || value.IsMissing(v) }

// appended returns the origin of a list to which others were appended.
func (r *Run) appended(from base, list []int32) *origin {
	o := from.list(list[0])
	for _, i := range list {
		w := &r.writes[i]
		l, _ := w.value.([]any)
		if len(l) > 0 && len(w.elements) == len(l) {
			for _, e := range w.elements {
				o.add(e, 1)
			}
			o.latest = i
			continue
		}
		o.add(i, len(l))
	}
	return o
}

// add adds elements that a write has added.
func (o *origin) add(w int32, n int) {
	if n > 0 {
		o.latest = w
		o.elements = append(o.elements, slices.Repeat([]int32{w}, n)...)
	}
}

// united returns the origin of a list to which the missing elements of others were added. The
// elements of a starting value are not compared with each other.
func (r *Run) united(field int, from base, n int) *origin {
	list := r.fields[field]
	o := from.list(list[from.next])
	r.fold(field, n, func(k int, v any) bool {
		if k >= from.next {
			o.add(list[k], length(v)-len(o.elements))
		}
		return true
	})
	return o
}

// attained returns the origin of a minimum or maximum.
func (r *Run) attained(field int, from base, n int) *origin {
	list, by, now := r.fields[field], from.by, from.value
	r.fold(field, n, func(k int, v any) bool {
		if c := canonical(v); k >= from.next && (!value.Equal(c, now) || empty(now)) {
			by, now = list[k], c
		}
		return true
	})
	return &origin{by: by, latest: by}
}

package history

import (
	"reflect"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// Write is a write to a field, or to a value inside it.
type Write struct {
	Author
	At time.Time
	// Value is what was written. It is value.Missing if a walk began again with the starting value.
	Value any
	// After is the value after the write. It is value.Missing for values with many elements or
	// members.
	After any
}

// maxAfter limits the elements or members of a value that is shown after each write.
const maxAfter = 20

// Writes returns the writes to a field, in the order in which they were merged. With a path inside the
// field, as for Lookup, it returns the writes that wrote the value at the path, reduced to that value.
func (s *State) Writes(path string) ([]Write, error) {
	field, steps, err := s.parse(path)
	if err != nil {
		return nil, err
	}
	r, n := s.r, s.upTo[field]
	after := make([]any, n)
	for i := range after {
		after[i] = value.Missing
	}
	r.fold(field, n, func(k int, v any) bool {
		if length(v) > maxAfter {
			return r.fieldAt(field).Strategy().Name == "last_wins"
		}
		after[k] = canonical(v)
		return true
	})
	element, added := s.element(field, steps)
	var list []Write
	for k, i := range r.fields[field][:n] {
		v, shown := inPath(r.writes[i].value, steps), inPath(after[k], steps)
		at := steps
		if added { // the element is at another place in what was written
			v = value.Missing
			if in, err := lookup(s.value(field), steps, path); err == nil && (element == i || slices.Contains(r.writes[i].elements, element)) {
				v, i = in, element
				at = r.placeIn(s.origin(field), steps)
			}
		} else if in := r.writes[i].elements; len(steps) > 0 && len(in) > 0 && !value.IsMissing(v) {
			i = in[steps[0].Index]
		}
		if w := &r.writes[i]; w.set && !overlap(w.steps, steps) {
			v = value.Missing
		}
		if len(steps) == 0 || !value.IsMissing(v) {
			list = append(list, r.writeOf(i, at, v, shown))
		}
	}
	return list, nil
}

// overlap reports whether one of two paths leads to the end of the other, or into it.
func overlap(a, b []step) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// element returns the write that the element of a list comes from, or the part of it that one item of a
// fan-out has written. It reports false if the value is not in a list to which writes add elements.
func (s *State) element(field int, steps []step) (int32, bool) {
	name := s.r.fieldAt(field).Strategy().Name
	if len(steps) == 0 || name != "array_append" && name != "union" {
		return 0, false
	}
	return s.origin(field).at(steps[:1]).latest, true
}

// writeOf describes the write of a value. at is the place of the value in the written value.
func (r *Run) writeOf(i int32, at []step, v, after any) Write {
	return Write{Author: r.innerAuthor(i, at), At: r.timeOf(&r.writes[i]), Value: r.masked(v), After: r.masked(after)}
}

// masked returns a value without secrets.
func (r *Run) masked(v any) any {
	if value.IsMissing(v) {
		return v
	}
	return r.mask.Value(v)
}

// inPath returns the value at a path, or value.Missing if there is none.
func inPath(v any, steps []step) any {
	for _, s := range steps {
		in, ok := s.Inside(v)
		if !ok {
			return value.Missing
		}
		v = in
	}
	return v
}

// length returns the number of elements or members of a value, 0 for others.
func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case *value.Object:
		return v.Len()
	}
	switch l := reflect.ValueOf(v); l.Kind() {
	case reflect.Slice, reflect.Map:
		return l.Len()
	}
	return 0
}

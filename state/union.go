package state

import (
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

func mergeUnion(f *Field, old, new any, own *owned) (any, error) {
	if add, ok := new.([]any); ok {
		list, keys := unionStart(f, old, own, len(add))
		return keys.addAll(f, list, add), nil
	}
	u, err := startUnionGo(f, old, reflect.TypeOf(new), own, 1)
	if err == nil {
		err = u.add(f, reflect.ValueOf(new))
	}
	if err != nil {
		return nil, err
	}
	return u.list.Interface(), nil
}

// unionAll adds the elements of all items of a fan-out.
func unionAll(f *Field, old any, writes []any, own *owned) (any, bool, error) {
	t := reflect.TypeOf(writes[0])
	if slices.ContainsFunc(writes, func(w any) bool { return reflect.TypeOf(w) != t }) {
		return nil, false, nil
	}
	if _, ok := writes[0].([]any); ok {
		list, keys := unionStart(f, old, own, len(writes))
		for _, w := range writes {
			list = keys.addAll(f, list, w.([]any))
		}
		return list, true, nil
	}
	u, err := startUnionGo(f, old, t, own, len(writes))
	for i := 0; i < len(writes) && err == nil; i++ {
		err = u.add(f, reflect.ValueOf(writes[i]))
	}
	if err != nil {
		return nil, true, err
	}
	return u.list.Interface(), true, nil
}

// unionStart returns the list that a union adds elements to, and its keys.
func unionStart(f *Field, old any, own *owned, extra int) ([]any, *keySet) {
	list, ok := old.([]any)
	keys := own.keySet(ok)
	switch {
	case list == nil:
		list = []any{}
	case !own.ownsArray():
		list = slices.Clip(list)
	}
	if !keys.known {
		keys.known, keys.size = true, len(list)+extra
		for _, e := range list {
			keys.add(f, e)
		}
	}
	return list, keys
}

// keySet returns the keys of the previous value, which are still to be computed if there
// are none. known is false if own does not describe that value.
func (o *owned) keySet(known bool) *keySet {
	if o == nil {
		return &keySet{}
	}
	if o.keys == nil || !known {
		o.keys = &keySet{}
	}
	return o.keys
}

// unionGo adds elements to a slice of a Go type. Only their keys are computed from the
// JSON form; the elements themselves are not converted.
type unionGo struct {
	list reflect.Value
	keys *keySet
	// integers is set if the elements are of one of Go's signed integer types.
	integers bool
}

func startUnionGo(f *Field, old any, t reflect.Type, own *owned, extra int) (*unionGo, error) {
	// The list is assigned to a variable, because growing it then costs less.
	u := &unionGo{list: reflect.New(t).Elem(), keys: own.keySet(!empty(old)), integers: t.Elem().PkgPath() == "" && reflect.Zero(t.Elem()).CanInt()}
	if empty(old) {
		u.list.Set(reflect.MakeSlice(t, 0, 0))
	} else {
		u.list.Set(reflect.ValueOf(old))
		if !own.ownsArray() {
			u.list.SetCap(u.list.Len())
		}
	}
	if !u.keys.known {
		u.keys.known, u.keys.size = true, u.list.Len()+extra
		for i := range u.list.Len() {
			if _, err := u.isNew(f, u.list.Index(i)); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

func (u *unionGo) add(f *Field, elements reflect.Value) error {
	for i := range elements.Len() {
		e := elements.Index(i)
		isNew, err := u.isNew(f, e)
		if err != nil {
			return err
		}
		if isNew {
			n := u.list.Len()
			if n == u.list.Cap() {
				u.list.Grow(1)
			}
			u.list.SetLen(n + 1)
			u.list.Index(n).Set(e)
		}
	}
	return nil
}

// isNew adds the key of an element and reports whether it was not there yet.
func (u *unionGo) isNew(f *Field, e reflect.Value) (bool, error) {
	if u.integers {
		return u.keys.addInteger(e.Int()), nil
	}
	c, err := value.Canonical(e.Interface())
	return err == nil && u.keys.add(f, c), err
}

// keySet holds the keys by which union compares the elements of a list: the member `key` of
// an element, or its whole content. Elements that are value.Equal have the same key. Integers
// and strings, which are the most frequent keys, are stored directly, and other keys in their
// JSON form.
type keySet struct {
	known    bool // whether it holds the keys of all elements
	size     int  // the expected number of keys
	integers map[int64]struct{}
	strings  map[string]struct{}
	others   map[string]struct{}
	buf      []byte
}

// addAll appends the elements whose keys are not there yet.
func (s *keySet) addAll(f *Field, list, add []any) []any {
	for _, e := range add {
		if s.add(f, e) {
			list = append(list, e)
		}
	}
	return list
}

// add adds the key of an element and reports whether it was not there yet.
func (s *keySet) add(f *Field, e any) bool {
	if o, ok := e.(*value.Object); ok && f.key != "" {
		if k, ok := o.Get(f.key); ok {
			e = k
		}
	}
	switch e.(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
	default:
		if c, err := value.Canonical(e); err == nil {
			e = c
		}
	}
	e = normalize(e)
	switch k := e.(type) {
	case int64:
		return s.addInteger(k)
	case string:
		if utf8.ValidString(k) {
			if _, ok := s.strings[k]; ok {
				return false
			}
			s.strings = s.insert(s.strings, k)
			return true
		}
	}
	return s.addOther(e)
}

func (s *keySet) addOther(e any) bool {
	var err error
	if s.buf, err = value.AppendJSON(s.buf[:0], e); err != nil {
		s.buf = append(s.buf[:0], value.JSON(e)...) // the error
	}
	if _, ok := s.others[string(s.buf)]; ok {
		return false
	}
	s.others = s.insert(s.others, string(s.buf))
	return true
}

func (s *keySet) addInteger(n int64) bool {
	if s.integers == nil {
		s.integers = make(map[int64]struct{}, s.size)
	}
	before := len(s.integers)
	s.integers[n] = struct{}{}
	return len(s.integers) > before
}

func (s *keySet) insert(set map[string]struct{}, key string) map[string]struct{} {
	if set == nil {
		set = make(map[string]struct{}, s.size)
	}
	set[key] = struct{}{}
	return set
}

// normalize returns a value whose JSON encoding is the same for all values that are
// equal to it: numbers with an integral value become integers, and keys are sorted, at
// any depth.
func normalize(v any) any {
	switch v := v.(type) {
	case float64:
		if v >= -(1<<63) && v < 1<<63 && v == math.Trunc(v) {
			return int64(v)
		}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = normalize(e)
		}
		return out
	case *value.Object:
		out := value.NewObject(v.Len())
		for _, k := range slices.Sorted(slices.Values(v.Keys())) {
			e, _ := v.Get(k)
			out.Set(k, normalize(e))
		}
		return out
	}
	return v
}

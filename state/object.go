package state

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

func mergeObject(f *Field, old, new any, own *owned) (any, error) {
	if f.goType != nil {
		return mergeObjectGo(f, old, new, own)
	}
	before, ok := old.(*value.Object)
	add, isObject := new.(*value.Object)
	if !ok || !isObject {
		return new, nil
	}
	return deepMerge(before, add, own), nil
}

// deepMerge returns a merged object. Along changed paths, it changes the objects that the
// column owns and copies the others.
func deepMerge(old, add *value.Object, own *owned) *value.Object {
	out := own.object(old, add.Len())
	for k, v := range add.All() {
		if a, ok := v.(*value.Object); ok {
			if before, _ := out.Get(k); before != nil {
				if b, ok := before.(*value.Object); ok {
					v = deepMerge(b, a, own)
				}
			}
		}
		out.Set(k, v)
	}
	return out
}

func mergeMembers(_ *Field, old, new any, own *owned) (any, error) {
	before, ok := old.(*value.Object)
	add, isObject := new.(*value.Object)
	if !ok || !isObject {
		return new, nil
	}
	out := own.object(before, add.Len())
	for k, v := range add.All() {
		out.Set(k, v)
	}
	return out, nil
}

// mergeObjectGo merges maps and structs of a Go type by their JSON members. A map that the
// column owns is changed in place.
func mergeObjectGo(f *Field, old, new any, own *owned) (any, error) {
	if merged, ok := mergePlainMap(f, old, new, own); ok {
		return merged, nil
	}
	if f.isMap && own.ownsMaps() && f.goType.Holds(new) {
		into, add := reflect.ValueOf(old), reflect.ValueOf(new)
		if part, ok := membersOf(into, add); ok {
			merged, made, err := mergeJSON(f, part.Interface(), new)
			if !made {
				own.maps = false
				return merged, err
			}
			setMembers(into, reflect.ValueOf(merged), false)
			return old, nil
		}
	}
	merged, made, err := mergeJSON(f, old, new)
	if own != nil {
		own.maps = made && f.isMap
	}
	return merged, err
}

// mergeJSON merges the JSON forms of two values of a Go type. made reports whether it made a
// new value.
func mergeJSON(f *Field, old, new any) (merged any, made bool, err error) {
	if empty(old) || new == nil {
		return new, false, nil
	}
	before, err := value.Canonical(old)
	if err != nil {
		return nil, false, err
	}
	after, err := value.Canonical(new)
	if err != nil {
		return nil, false, err
	}
	a, ok1 := before.(*value.Object)
	b, ok2 := after.(*value.Object)
	if !ok1 || !ok2 {
		return new, false, nil
	}
	merged, err = f.decode(deepMerge(a, b, nil))
	return merged, err == nil, err
}

// isJSONMap reports whether the JSON form of a map of the type has a member for each entry.
func isJSONMap(t reflect.Type) bool {
	if t.Kind() != reflect.Map || hasOwnJSON(t) || hasOwnJSON(t.Key()) {
		return false
	}
	switch t.Key().Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

var ownJSON = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// hasOwnJSON reports whether encoding/json treats the type differently from its kind.
func hasOwnJSON(t reflect.Type) bool {
	if t.PkgPath() == "" { // not a defined type; a pointer or struct may have methods of others
		return t.Kind() == reflect.Pointer || t.Kind() == reflect.Struct
	}
	if t == reflect.TypeFor[json.Number]() {
		return true
	}
	for _, m := range ownJSON {
		if reflect.PointerTo(t).Implements(m) {
			return true
		}
	}
	return false
}

// bothMaps returns two maps of one type with JSON members, which may be in interfaces.
func bothMaps(a, b reflect.Value) (x, y reflect.Value, ok bool) {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Map || b.Kind() != reflect.Map || a.Type() != b.Type() || a.IsNil() || b.IsNil() || !isJSONMap(a.Type()) {
		return a, b, false
	}
	return a, b, true
}

// membersOf returns a map with the members of m that a merge of changes can affect. It
// returns false if the keys of changes differ from the keys of its JSON form.
func membersOf(m, changes reflect.Value) (part reflect.Value, ok bool) {
	part = reflect.MakeMapWithSize(m.Type(), changes.Len())
	for it := changes.MapRange(); it.Next(); {
		k := it.Key()
		if k.Kind() == reflect.String && !utf8.ValidString(k.String()) {
			return part, false
		}
		old := m.MapIndex(k)
		if !old.IsValid() {
			continue
		}
		if a, b, ok := bothMaps(old, it.Value()); ok {
			if old, ok = membersOf(a, b); !ok {
				return part, false
			}
		}
		part.SetMapIndex(k, old)
	}
	return part, true
}

// setMembers merges the members of a map into a map. With copies, maps are copied before they
// become part of it.
func setMembers(m, changes reflect.Value, copies bool) {
	for it := changes.MapRange(); it.Next(); {
		k, v := it.Key(), it.Value()
		if old := m.MapIndex(k); old.IsValid() {
			if a, b, ok := bothMaps(old, v); ok {
				setMembers(a, b, copies)
				continue
			}
		}
		if copies && v.Kind() == reflect.Map && !v.IsNil() {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			setMembers(c, v, true)
			v = c
		}
		m.SetMapIndex(k, v)
	}
}

// mergePlainMap merges a map into a map that the column owns if its JSON form, read again, is
// the map itself, so that no conversion is needed. Otherwise it reports false, and may have
// merged some of the members.
func mergePlainMap(f *Field, old, new any, own *owned) (any, bool) {
	if !f.isMap || !own.ownsMaps() || !f.goType.Holds(new) {
		return nil, false
	}
	if m, ok := old.(map[string]any); ok {
		add := new.(map[string]any)
		return old, add != nil && mergeMap(f, m, add)
	}
	add := reflect.ValueOf(new)
	if add.IsNil() || !isPlain(add) {
		return nil, false
	}
	setMembers(reflect.ValueOf(old), add, true)
	return old, true
}

// mergeMap merges a map into a map. It stops and reports false at a member that reading its JSON
// form would change. Merging all members again has the same result as merging them once.
func mergeMap(f *Field, m, changes map[string]any) bool {
	for k, v := range changes {
		if n, ok := v.(map[string]any); ok && n != nil {
			if before, ok := m[k].(map[string]any); ok {
				if !mergeMap(f, before, n) {
					return false
				}
				continue
			}
		}
		v, ok := plainCopy(f, v)
		if !ok || !utf8.ValidString(k) {
			return false
		}
		m[k] = v
	}
	return true
}

// plainCopy returns what reading the JSON form of a value would return. ok is false if that
// takes more than a copy.
func plainCopy(f *Field, v any) (c any, ok bool) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int64:
		return v, f.goType.KeepsIntegers
	case int:
		return int64(v), f.goType.KeepsIntegers
	case map[string]any:
		if v == nil {
			return nil, false
		}
		m := make(map[string]any, len(v))
		return m, mergeMap(f, m, v)
	case []any:
		if v == nil {
			return nil, false
		}
		list := make([]any, len(v))
		for i, e := range v {
			if list[i], ok = plainCopy(f, e); !ok {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// isPlain reports whether a value of a type without interfaces and references other than maps
// is the same after it was written as JSON and read again.
func isPlain(v reflect.Value) bool {
	switch k := v.Kind(); {
	case k == reflect.Map:
		return isPlainEntries(v)
	case k == reflect.Bool || v.CanInt():
		return true
	case k == reflect.String:
		return utf8.ValidString(v.String())
	case v.CanUint():
		return v.Uint() <= math.MaxInt64
	case v.CanFloat():
		f := v.Float()
		return math.Abs(f) < 1<<63 && !(f == 0 && math.Signbit(f))
	}
	return false
}

func isPlainEntries(m reflect.Value) bool {
	if !isJSONMap(m.Type()) || hasOwnJSON(m.Type().Elem()) {
		return false
	}
	for it := m.MapRange(); it.Next(); {
		if !isPlain(it.Key()) || !isPlain(it.Value()) {
			return false
		}
	}
	return true
}

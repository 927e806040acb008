package expressions

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// The functions in this file accept values of any Go type. They handle the seven plain
// types first and without allocation, Go scalars by reflection, and all other types
// through their JSON form.

// canonical returns v as a plain value, or value.Missing if it has no JSON form. The
// result is always plain, so functions that call themselves with it terminate.
func canonical(v any) any {
	c, err := value.Canonical(v)
	if err != nil {
		return value.Missing
	}
	return c
}

// plain reports whether v has one of the seven plain types or is value.Missing.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
		return true
	}
	return value.IsMissing(v)
}

// scalar returns the Go scalar in v. ok is false if v is not a scalar or implements
// json.Marshaler.
func scalar(v any) (rv reflect.Value, ok bool) {
	rv = reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		_, own := v.(json.Marshaler)
		return rv, !own
	}
	return rv, false
}

// list returns the Go slice or array in v. ok is false if its JSON form is not the
// array of its elements.
func list(v any) (rv reflect.Value, ok bool) {
	rv = reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Slice:
		if rv.IsNil() || rv.Type().Elem().Kind() == reflect.Uint8 {
			return rv, false
		}
	case reflect.Array:
	default:
		return rv, false
	}
	switch v.(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return rv, false
	}
	return rv, true
}

// truthy returns the truth of a value: false, zero, the empty string, null and missing
// are false, everything else is true.
func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
		return false
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return float(v).truthy()
	case []any:
		return true
	case *value.Object:
		return v != nil
	}
	return truthyGo(v)
}

func truthyGo(v any) bool {
	if value.IsMissing(v) {
		return false
	}
	if rv, ok := scalar(v); ok {
		switch rv.Kind() {
		case reflect.Bool, reflect.String:
			return !rv.IsZero()
		}
		return numberOfGo(v).truthy()
	}
	if _, ok := list(v); ok {
		return true
	}
	return truthy(canonical(v))
}

// present reports whether v is a value. Something without a JSON form, such as NaN or a
// function, is not.
func present(v any) bool {
	if f, ok := v.(float64); ok {
		return float(f).kind != noNumber
	}
	if plain(v) {
		return !value.IsMissing(v)
	}
	return !value.IsMissing(canonical(v))
}

// differ implements != for any two values: they are not equal, and at least one of them
// is present.
func differ(v, w any) bool { return !value.Equal(v, w) && (present(v) || present(w)) }

// numberOf returns v as a number, or no number if v is of another type.
func numberOf(v any) number {
	switch v := v.(type) {
	case float64:
		return float(v)
	case int64:
		return whole(v)
	}
	if plain(v) {
		return number{}
	}
	return numberOfGo(v)
}

func numberOfGo(v any) number {
	rv, ok := scalar(v)
	if !ok {
		return numberOf(canonical(v))
	}
	switch {
	case rv.CanInt():
		return whole(rv.Int())
	case rv.CanUint() && rv.Uint() < 1<<63:
		return whole(int64(rv.Uint()))
	case rv.CanFloat():
		return float(rv.Float())
	}
	return number{}
}

// stringOf returns v as a string. ok is false if v is of another type.
func stringOf(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	if plain(v) {
		return "", false
	}
	if rv, ok := scalar(v); ok {
		if rv.Kind() == reflect.String {
			return rv.String(), true
		}
		return "", false
	}
	s, ok := canonical(v).(string)
	return s, ok
}

// lengthOf returns the number of elements of an array or characters of a string, and 0
// for everything else. It does not convert a Go slice to count its elements.
func lengthOf(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case string:
		return utf8.RuneCountInString(v)
	}
	if plain(v) {
		return 0
	}
	if rv, ok := list(v); ok {
		return rv.Len()
	}
	if s, ok := stringOf(v); ok {
		return utf8.RuneCountInString(s)
	}
	return lengthOf(canonical(v))
}

// element returns element i of an array. A negative i counts from the end.
func element(v any, i int64) any {
	if a, ok := v.([]any); ok {
		if i < 0 {
			i += int64(len(a))
		}
		if i < 0 || i >= int64(len(a)) {
			return value.Missing
		}
		return a[i]
	}
	if plain(v) {
		return value.Missing
	}
	if rv, ok := list(v); ok {
		return elementOf(rv, i)
	}
	return element(canonical(v), i)
}

// elementOf converts one element of a Go slice. It uses the element's address if there
// is one, as encoding/json does.
func elementOf(rv reflect.Value, i int64) any {
	if i < 0 {
		i += int64(rv.Len())
	}
	if i < 0 || i >= int64(rv.Len()) {
		return value.Missing
	}
	e := rv.Index(int(i))
	if e.CanAddr() {
		e = e.Addr()
	}
	return canonical(e.Interface())
}

// member returns a member of an object, or value.Missing if there is none.
func member(v any, name string) any {
	o, ok := v.(*value.Object)
	if !ok {
		if plain(v) {
			return value.Missing
		}
		if o, ok = canonical(v).(*value.Object); !ok {
			return value.Missing
		}
	}
	if m, ok := o.Get(name); ok {
		return m
	}
	return value.Missing
}

// contains reports whether a container contains e: an array an equal element, a string a
// substring, an object a key.
func contains(container, e any) bool {
	if value.IsMissing(e) {
		return false
	}
	switch c := container.(type) {
	case []any:
		for _, x := range c {
			if value.Equal(x, e) {
				return true
			}
		}
		return false
	case string, *value.Object:
		s, ok := stringOf(e)
		return ok && containsString(c, s)
	}
	if plain(container) {
		return false
	}
	return contains(canonical(container), e)
}

// containsString is contains for a string.
func containsString(container any, s string) bool {
	switch c := container.(type) {
	case string:
		return strings.Contains(c, s)
	case *value.Object:
		_, ok := c.Get(s)
		return ok
	case []any:
		for _, x := range c {
			if t, ok := stringOf(x); ok && t == s {
				return true
			}
		}
		return false
	}
	if plain(container) {
		return false
	}
	return containsString(canonical(container), s)
}

// containsNumber is contains for a number.
func containsNumber(container any, n number) bool {
	if n.kind == noNumber {
		return false
	}
	if a, ok := container.([]any); ok {
		for _, x := range a {
			if m := numberOf(x); m.kind != noNumber && compareNumbers(m, n) == 0 {
				return true
			}
		}
		return false
	}
	if plain(container) {
		return false
	}
	c, ok := canonical(container).([]any)
	return ok && containsNumber(c, n)
}

// numberIn parses a number as number() does: an optional minus sign and a number of the
// language, with optional white space around it. It returns no number for anything else
// and for numbers that are out of range.
func numberIn(s string) number {
	s = strings.TrimFunc(s, func(r rune) bool { return r < utf8.RuneSelf && isSpace(byte(r)) })
	unsigned := strings.TrimPrefix(s, "-")
	if n := numberLength(unsigned); n == 0 || n != len(unsigned) {
		return number{}
	}
	if !strings.ContainsAny(s, ".eE") {
		i, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return number{}
		}
		return whole(i)
	}
	f, err := strconv.ParseFloat(s, 64)
	return floatIf(err == nil, f)
}

// Member returns a member of an object, or value.Missing if v is not an object or has no
// such member, as a step of a path does.
func Member(v any, name string) any { return member(v, name) }

// Text returns a value converted as by the function string(): a string unchanged, any
// other value as compact JSON. ok is false if the value is missing.
func Text(v any) (s string, ok bool) { return toString(v) }

func toString(v any) (string, bool) {
	if s, ok := stringOf(v); ok {
		return s, true
	}
	v = canonical(v)
	if value.IsMissing(v) {
		return "", false
	}
	b, err := value.AppendJSON(nil, v)
	return string(b), err == nil
}

package expressions

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
)

// The functions of this file look at a value that may be of a Go type. The
// seven types of plain values are handled first and without allocation; Go's
// scalars by reflection; everything else through its JSON form.

// canonical returns v as a plain value, Missing when it has no such form. What
// it returns is always plain, so looking again does not go round in circles.
func canonical(v any) any {
	c, err := core.Canonical(v)
	if err != nil {
		return core.Missing
	}
	return c
}

// plain reports whether the value's own type is one of the seven, or Missing.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, *core.Object:
		return true
	}
	return core.IsMissing(v)
}

// scalar returns the Go scalar inside v, unless v writes its own JSON.
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

// list returns the Go slice or array inside v if its JSON form is an array of
// its elements.
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

// truthy is the truth of a value: false, zero, the empty text, null and missing
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
	case *core.Object:
		return v != nil
	}
	return truthyOther(v)
}

func truthyOther(v any) bool {
	if core.IsMissing(v) {
		return false
	}
	if rv, ok := scalar(v); ok {
		switch rv.Kind() {
		case reflect.Bool, reflect.String:
			return !rv.IsZero()
		}
		return numberOther(v).truthy()
	}
	if _, ok := list(v); ok {
		return true
	}
	return truthy(canonical(v))
}

// present reports whether there is a value. What has no JSON form, such as NaN
// or a function, is none.
func present(v any) bool {
	if f, ok := v.(float64); ok {
		return float(f).kind != noNumber
	}
	if plain(v) {
		return !core.IsMissing(v)
	}
	return !core.IsMissing(canonical(v))
}

// differ is the operator != for any two values: one of them at least is there,
// and they are not equal.
func differ(v, w any) bool { return !core.Equal(v, w) && (present(v) || present(w)) }

// numberOf returns the number v is.
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
	return numberOther(v)
}

func numberOther(v any) number {
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

// textOf returns the text v is.
func textOf(v any) (string, bool) {
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

// lengthOf counts the elements of an array or the characters of a text; it is 0
// for everything else. A Go slice is not converted to be counted.
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
	if s, ok := textOf(v); ok {
		return utf8.RuneCountInString(s)
	}
	return lengthOf(canonical(v))
}

// element returns the i-th element of an array, counting from the end when i is
// negative.
func element(v any, i int64) any {
	if a, ok := v.([]any); ok {
		if i < 0 {
			i += int64(len(a))
		}
		if i < 0 || i >= int64(len(a)) {
			return core.Missing
		}
		return a[i]
	}
	if plain(v) {
		return core.Missing
	}
	if rv, ok := list(v); ok {
		return elementOf(rv, i)
	}
	return element(canonical(v), i)
}

// elementOf converts one element of a Go slice. It goes by the element's
// address where there is one, as encoding/json does.
func elementOf(rv reflect.Value, i int64) any {
	if i < 0 {
		i += int64(rv.Len())
	}
	if i < 0 || i >= int64(rv.Len()) {
		return core.Missing
	}
	e := rv.Index(int(i))
	if e.CanAddr() {
		e = e.Addr()
	}
	return canonical(e.Interface())
}

// member returns a member of an object.
func member(v any, name string) any {
	o, ok := v.(*core.Object)
	if !ok {
		if plain(v) {
			return core.Missing
		}
		if o, ok = canonical(v).(*core.Object); !ok {
			return core.Missing
		}
	}
	if m, ok := o.Get(name); ok {
		return m
	}
	return core.Missing
}

// holds reports whether a container holds an element: an array one that is
// equal, a text a part, an object a key.
func holds(container, e any) bool {
	if core.IsMissing(e) {
		return false
	}
	switch c := container.(type) {
	case []any:
		for _, x := range c {
			if core.Equal(x, e) {
				return true
			}
		}
		return false
	case string, *core.Object:
		s, ok := textOf(e)
		return ok && holdsText(c, s)
	}
	if plain(container) {
		return false
	}
	return holds(canonical(container), e)
}

// holdsText is holds for an element that is a text.
func holdsText(container any, s string) bool {
	switch c := container.(type) {
	case string:
		return strings.Contains(c, s)
	case *core.Object:
		_, ok := c.Get(s)
		return ok
	case []any:
		for _, x := range c {
			if t, ok := textOf(x); ok && t == s {
				return true
			}
		}
		return false
	}
	if plain(container) {
		return false
	}
	return holdsText(canonical(container), s)
}

// holdsNumber is holds for an element that is a number.
func holdsNumber(container any, n number) bool {
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
	return ok && holdsNumber(c, n)
}

// numberIn reads a number out of a text, as number() does: an optional minus
// sign and a number of the language, with white space around. Anything else, and
// what does not fit, is none.
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
	return pick(err == nil, f)
}

// Member returns a member of an object, core.Missing when v is no object or
// lacks it. It is what a step of a path does.
func Member(v any, name string) any { return member(v, name) }

// Text returns a value as the function string() writes it: a text as it is,
// everything else as compact JSON. A missing value has none.
func Text(v any) (s string, ok bool) { return stringOf(v) }

func stringOf(v any) (string, bool) {
	if s, ok := textOf(v); ok {
		return s, true
	}
	v = canonical(v)
	if core.IsMissing(v) {
		return "", false
	}
	b, err := core.AppendJSON(nil, v)
	return string(b), err == nil
}

package value

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Canonical converts any Go value to a run-time value: integers become int64, floats
// float64, slices []any, and maps with string keys and structs *Object (the keys of a map
// are sorted; the fields of a struct keep their order and have their JSON names). Values
// that are already canonical are returned without a copy. Canonical returns an error for
// values without a JSON form: functions, channels, NaN and infinities, integers above
// int64, values nested deeper than ParseJSON allows, including values that contain
// themselves, and types whose own MarshalJSON fails or panics.
func Canonical(v any) (any, error) { return canonical(v, 0) }

// errTooDeep is returned without the path to the place, which would be as long as the value
// is deep.
var errTooDeep = fmt.Errorf("the value is nested deeper than %d: does it hold itself?", MaxJSONDepth)

// canonical is Canonical at a nesting depth. The limit is essential: a stack overflow ends
// the process, and recover cannot catch it.
func canonical(v any, depth int) (any, error) {
	switch x := v.(type) {
	case nil, bool, int64, string, missing:
		return v, nil
	case float64:
		return v, finite(x)
	case int:
		return int64(x), nil
	}
	if depth > MaxJSONDepth {
		return nil, errTooDeep
	}
	switch x := v.(type) {
	case []any:
		out, err := canonicalSlice(x, depth+1)
		switch {
		case err != nil:
			return nil, err
		case out == nil:
			return v, nil // returning x would allocate
		}
		return out, nil
	case *Object:
		return canonicalObject(x, depth+1)
	case map[string]any:
		return canonicalMap(x, depth+1)
	}
	return canonicalReflect(v, depth)
}

// within adds the place in a value to an error.
func within(place string, err error) error {
	if errors.Is(err, errTooDeep) {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}

func finite(f float64) error {
	if f-f != 0 { // infinite or NaN
		return fmt.Errorf("%v has no JSON form", f)
	}
	return nil
}

// canonicalSlice returns a copy of the slice if an element changes, otherwise nil.
func canonicalSlice(v []any, depth int) (out []any, err error) {
	for i, e := range v {
		c, err := canonical(e, depth)
		if err != nil {
			return nil, within("["+strconv.Itoa(i)+"]", err)
		}
		if out == nil && !same(c, e) {
			out = slices.Clone(v)
		}
		if out != nil {
			out[i] = c
		}
	}
	return out, nil
}

func canonicalObject(o *Object, depth int) (any, error) {
	if o == nil {
		return nil, nil
	}
	var out *Object
	for i, e := range o.values {
		switch e := e.(type) {
		case nil, bool, int64, string:
			continue // the most frequent types in tables
		case float64:
			if finite(e) == nil {
				continue
			}
		}
		c, err := canonical(e, depth)
		if err != nil {
			return nil, within(o.keys[i], err)
		}
		if same(c, e) {
			continue
		}
		if out == nil {
			out = o.Copy(0)
		}
		out.values[i] = c
	}
	if out == nil {
		return o, nil
	}
	return out, nil
}

func canonicalMap(m map[string]any, depth int) (any, error) {
	if m == nil {
		return nil, nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := NewObject(len(keys))
	for _, k := range keys {
		c, err := canonical(m[k], depth)
		if err != nil {
			return nil, within(k, err)
		}
		out.Set(k, c)
	}
	return out, nil
}

// same reports whether c is the same value as e, which means that e needed no conversion.
// It does not compare contents.
func same(c, e any) bool {
	switch e := e.(type) {
	case []any:
		s, ok := c.([]any)
		return ok && len(s) == len(e) && (len(s) == 0 || &s[0] == &e[0])
	case *Object:
		o, ok := c.(*Object)
		return ok && o == e
	case nil, bool, int64, float64, string, missing:
		return true
	}
	return false
}

// canonicalReflect converts values of other Go types. Structs and types with a JSON form of
// their own are converted by encoding/json and parsed again, which keeps the order of
// fields.
func canonicalReflect(v any, depth int) (any, error) {
	rv := reflect.ValueOf(v)
	if _, ok := v.(json.Marshaler); !ok {
		switch rv.Kind() {
		case reflect.Bool:
			return rv.Bool(), nil
		case reflect.String:
			return rv.String(), nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return rv.Int(), nil
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			if rv.Uint() > math.MaxInt64 {
				return nil, fmt.Errorf("%d is above the largest 64-bit integer", rv.Uint())
			}
			return int64(rv.Uint()), nil
		case reflect.Float32:
			// Use the shortest decimal that is this float32, as encoding/json does.
			f, err := strconv.ParseFloat(strconv.FormatFloat(rv.Float(), 'g', -1, 32), 64)
			return f, cmp.Or(finite(rv.Float()), err)
		case reflect.Float64:
			return rv.Float(), finite(rv.Float())
		}
	}
	var data []byte
	if err := guarded(v, func() (err error) { data, err = json.Marshal(v); return err }); err != nil {
		return nil, err
	}
	c, err := parseJSON(data, depth)
	if errors.Is(err, errJSONDepth) {
		return nil, errTooDeep
	}
	return c, err
}

package gotype

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// checker returns an error if a value has no JSON form. It inspects only the parts that may
// have none: floats that are not finite, interfaces, types that implement their own JSON,
// and parts that may refer to themselves.
type checker func(v reflect.Value, depth int) error

// checkers builds checkers.
type checkers map[reflect.Type]*checked

type checked struct {
	check checker
	done  bool // if false, the type is being built: it contains itself
}

var timeType = reflect.TypeFor[time.Time]()

// of returns the checker of a type, nil if every value has a JSON form.
func (cs checkers) of(t reflect.Type) checker {
	known, ok := cs[t]
	switch {
	case !ok:
		known = &checked{}
		cs[t] = known
		known.check = cs.build(t)
		known.done = true
		return known.check
	case known.done:
		return known.check
	}
	return func(v reflect.Value, depth int) error {
		if depth >= value.MaxJSONDepth {
			return deepError{t, value.MaxJSONDepth}
		}
		return known.check(v, depth)
	}
}

func (cs checkers) build(t reflect.Type) checker {
	switch {
	case t == timeType:
		return checkTime
	case t.Kind() == reflect.Pointer && t.Elem() != objectType:
		return cs.pointer(t)
	case t.Kind() == reflect.Pointer || t == numberType || ownJSON(t) || t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler):
		return checkJSON
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return checkFloat
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return checkUint
	case reflect.Interface:
		return checkInterface
	case reflect.Slice, reflect.Array:
		return cs.list(t)
	case reflect.Map:
		return cs.mapping(t)
	case reflect.Struct:
		return cs.structure(t)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return func(reflect.Value, int) error { return usableError(t) }
	}
	return nil
}

// checkJSON encodes the value, for types that implement their own JSON.
func checkJSON(v reflect.Value, _ int) error {
	if v.CanAddr() && v.Kind() != reflect.Pointer { // like encoding/json, which finds more methods this way
		v = v.Addr()
	}
	_, err := value.Canonical(v.Interface())
	return err
}

// checkTime checks the condition under which MarshalJSON of a time succeeds.
func checkTime(v reflect.Value, _ int) error {
	t := v.Interface().(time.Time)
	if _, offset := t.Zone(); t.Year() < 0 || t.Year() > 9999 || offset <= -24*3600 || offset >= 24*3600 {
		return fmt.Errorf("the time %v has no JSON form", t)
	}
	return nil
}

func checkFloat(v reflect.Value, _ int) error {
	if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v has no JSON form", f)
	}
	return nil
}

func checkUint(v reflect.Value, _ int) error {
	if n := v.Uint(); n > math.MaxInt64 {
		return fmt.Errorf("%d is above the largest 64-bit integer", n)
	}
	return nil
}

// checkInterface checks the value in an interface.
func checkInterface(v reflect.Value, depth int) error {
	if v.IsNil() {
		return nil
	}
	if depth >= value.MaxJSONDepth {
		return deepError{v.Elem().Type(), value.MaxJSONDepth}
	}
	switch x := v.Interface().(type) {
	case bool, int64, int, string:
		return nil
	case float64:
		return checkFloat(v.Elem(), depth)
	case []any:
		return checkList(checkInterface, v.Elem(), depth)
	case map[string]any:
		return checkObject(x, depth)
	}
	if check := (checkers{}).of(v.Elem().Type()); check != nil {
		return check(v.Elem(), depth)
	}
	return nil
}

func (cs checkers) pointer(t reflect.Type) checker {
	element := cs.of(t.Elem())
	if element == nil {
		return nil
	}
	deeper := 0
	if t.Elem().Kind() == reflect.Pointer { // a pointer to itself is infinite, too
		deeper = 1
	}
	return func(v reflect.Value, depth int) error {
		if v.IsNil() {
			return nil
		}
		return element(v.Elem(), depth+deeper)
	}
}

func (cs checkers) list(t reflect.Type) checker {
	element := cs.of(t.Elem())
	if element == nil {
		return nil
	}
	if t == reflect.TypeFor[[]float64]() { // the usual column of numbers
		return func(v reflect.Value, _ int) error { return checkFloats(v.Interface().([]float64)) }
	}
	return func(v reflect.Value, depth int) error { return checkList(element, v, depth) }
}

func checkList(element checker, v reflect.Value, depth int) error {
	for i := range v.Len() {
		if err := element(v.Index(i), depth+1); err != nil {
			return addPath(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

func checkFloats(list []float64) error {
	for i, f := range list {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("[%d]: %v has no JSON form", i, f)
		}
	}
	return nil
}

func (cs checkers) mapping(t reflect.Type) checker {
	if !plainKey(t.Key()) {
		return checkJSON
	}
	element := cs.of(t.Elem())
	switch {
	case element == nil:
		return nil
	case t == reflect.TypeFor[map[string]any]():
		return func(v reflect.Value, depth int) error { return checkObject(v.Interface().(map[string]any), depth) }
	}
	return func(v reflect.Value, depth int) error { return checkMap(element, v, depth) }
}

// checkMap checks the entries of a map. If several are invalid, it reports the one with the
// smallest key.
func checkMap(element checker, v reflect.Value, depth int) error {
	at, first := "", error(nil)
	for it := v.MapRange(); it.Next(); {
		if err := element(it.Value(), depth+1); err != nil {
			if k := fmt.Sprint(it.Key()); first == nil || k < at {
				at, first = k, err
			}
		}
	}
	if first != nil {
		return addPath(at, first)
	}
	return nil
}

// checkObject is checkMap for the usual map.
func checkObject(m map[string]any, depth int) error {
	at, first := "", error(nil)
	for k, v := range m {
		if err := checkMember(v, depth+1); err != nil && (first == nil || k < at) {
			at, first = k, err
		}
	}
	if first != nil {
		return addPath(at, first)
	}
	return nil
}

// checkMember is checkInterface, without reflection for the usual values.
func checkMember(v any, depth int) error {
	if depth < value.MaxJSONDepth {
		switch v := v.(type) {
		case nil, bool, int64, int, string:
			return nil
		case map[string]any:
			return checkObject(v, depth)
		}
	}
	held := v
	return checkInterface(reflect.ValueOf(&held).Elem(), depth)
}

// plainKey reports whether encoding/json accepts every key of the type.
func plainKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return !t.Implements(textMarshaler)
	}
	return false
}

func (cs checkers) structure(t reflect.Type) checker {
	type part struct {
		member
		check checker
	}
	var parts []part
	for _, m := range members(t) {
		if m.ambiguous || m.index == nil {
			return checkJSON
		}
		if c := cs.of(m.typ); c != nil {
			parts = append(parts, part{m, c})
		}
	}
	if parts == nil {
		return nil
	}
	return func(v reflect.Value, depth int) error {
		for i := range parts {
			p, f := &parts[i], v.Field(parts[i].index[0])
			if len(p.index) > 1 {
				f = f.FieldByIndex(p.index[1:])
			}
			if err := p.check(f, depth+1); err != nil {
				return addPath(p.name, err)
			}
		}
		return nil
	}
}

// addPath adds the position in a value to an error.
func addPath(place string, err error) error {
	if _, ok := err.(deepError); ok {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}

package state

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Strategy defines how writes are merged into a field.
type Strategy struct {
	Name string
	// Wants describes what the strategy merges.
	Wants string
	// MayReject reports whether a merge can fail even if the value has the right type.
	MayReject bool
	// anyType means that the strategy merges values of any type, regardless of the
	// declared type.
	anyType bool
	// associative means that merging is associative: consecutive writes may be merged
	// with each other before they are merged into the value. asJSON means that values
	// of Go types are merged in their JSON form.
	associative, asJSON bool
	// joins means that a list has the same effect as consecutive writes of its parts.
	joins bool
	// OrderSensitive means that the result depends on the order of two writes, and one
	// of them is discarded or rejected.
	OrderSensitive bool
	// collects means that the field may collect the results of a fan-out's items as one
	// write.
	collects bool

	kinds []value.TypeKind // the declared types it supports; nil means all
	// start checks starting values and accept checks writes. If one is nil, only the
	// declared type is checked.
	start, accept func(f *Field, v any) (any, error)
	merge         func(f *Field, old, new any, own *owned) (any, error)
	// mergeAll merges consecutive writes at a lower cost than merge. If ok is false, it
	// did nothing and the caller must use merge.
	mergeAll func(f *Field, old any, writes []any, own *owned) (merged any, ok bool, err error)
	// mergePlain merges a write without calling user code. If ok is false, the caller must
	// use merge.
	mergePlain func(f *Field, old, new any, own *owned) (merged any, ok bool)
	// inPlace means that merging may change objects of the old value instead of copying
	// them, if they are in own.
	inPlace bool
}

// strategies is the table of merge strategies. The first one is the default.
var strategies = []Strategy{
	{Name: "last_wins", Wants: "any type: the new value replaces the old one", collects: true, OrderSensitive: true, associative: true, merge: mergeLast},
	{Name: "array_append", Wants: "arrays: the new elements follow the old ones", collects: true, joins: true, kinds: []value.TypeKind{value.ArrayType}, associative: true, accept: acceptArray, merge: mergeAppend, mergeAll: appendAll},
	{Name: "set_once", Wants: "any type: only the first value is accepted", collects: true, MayReject: true, OrderSensitive: true, merge: mergeOnce},
	{Name: "object_merge", Wants: "objects: members are merged deeply, the new one wins", kinds: []value.TypeKind{value.ObjectType}, asJSON: true, accept: acceptObject, merge: mergeObject, mergePlain: mergePlainMap, inPlace: true},
	{Name: "union", Wants: "arrays: elements that are not there yet are added", collects: true, joins: true, kinds: []value.TypeKind{value.ArrayType}, asJSON: true, accept: acceptArray, merge: mergeUnion, mergeAll: unionAll},
	{Name: "sum", Wants: "numbers: they are added up", kinds: numeric, start: acceptNumber, accept: acceptNumber, merge: mergeSum},
	{Name: "min", Wants: "numbers and strings: keeps the least", kinds: ordered, start: acceptOrdered, accept: acceptOrdered, associative: true, merge: mergeMin},
	{Name: "max", Wants: "numbers and strings: keeps the greatest", kinds: ordered, start: acceptOrdered, accept: acceptOrdered, associative: true, merge: mergeMax},
	{Name: "count", Wants: "integers: each write adds one, whatever it writes", kinds: numeric, anyType: true, start: acceptNumber, accept: acceptAny, merge: mergeCount},
}

// custom is the strategy of fields with a user-defined reducer.
var custom = Strategy{Name: "custom", Wants: "what the reducer wants", MayReject: true,
	merge: func(f *Field, old, new any, _ *owned) (any, error) { return f.callReducer(old, new) }}

// stream is the strategy of streams.
var stream = Strategy{Name: "stream", Wants: "what a node reports about its rows", accept: acceptDescription, merge: mergeObject, inPlace: true}

// members is the strategy of the context of a walk.
var members = Strategy{Name: "members", Wants: "objects: each member replaces the one of its name", accept: acceptObject, merge: mergeMembers, inPlace: true}

var (
	numeric = []value.TypeKind{value.NumberType, value.IntegerType}
	ordered = []value.TypeKind{value.NumberType, value.IntegerType, value.StringType}
)

// Strategies returns the strategies that documents can name.
func Strategies() []Strategy { return slices.Clone(strategies) }

func strategyNamed(name string) *Strategy {
	if name == "" {
		return &strategies[0]
	}
	for i := range strategies {
		if strategies[i].Name == name {
			return &strategies[i]
		}
	}
	return nil
}

func hintStrategy(name string) string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.Name)
	}
	if near := source.DidYouMean(name, names); near != "" {
		return near
	}
	return fmt.Sprintf("one of %v", names)
}

// fits reports whether the strategy can be used with a declared type.
func (s *Strategy) fits(k value.TypeKind) bool {
	return s.kinds == nil || k == value.AnyType || slices.Contains(s.kinds, k)
}

func empty(v any) bool { return v == nil || value.IsMissing(v) }

func mergeLast(_ *Field, _, new any, _ *owned) (any, error) { return new, nil }

func mergeOnce(f *Field, old, new any, _ *owned) (any, error) {
	if empty(old) {
		return new, nil
	}
	return old, fmt.Errorf("field %q already has a value and merges set_once", f.Name)
}

func acceptArray(f *Field, v any) (any, error) {
	if v == nil {
		return nil, errors.New("want array, got null")
	}
	v, err := f.fit(v, f.Type)
	if err != nil {
		return nil, err
	}
	if _, ok := v.([]any); ok || reflect.ValueOf(v).Kind() == reflect.Slice {
		return v, nil
	}
	return nil, fmt.Errorf("want array, got %s", value.TypeName(v))
}

func acceptObject(f *Field, v any) (any, error) {
	v, err := f.fit(v, f.Type)
	if err != nil || v == nil || f.goType != nil {
		return v, err
	}
	if _, ok := v.(*value.Object); !ok {
		return nil, fmt.Errorf("want object, got %s", value.TypeName(v))
	}
	return v, nil
}

func acceptDescription(_ *Field, v any) (any, error) {
	c, err := value.Canonical(v)
	if err != nil {
		return nil, err
	}
	if _, ok := c.(*value.Object); !ok {
		return nil, fmt.Errorf("want the description of a stream, an object, got %s", value.TypeName(c))
	}
	return c, nil
}

func acceptNumber(f *Field, v any) (any, error) {
	c, err := f.fit(v, f.Type)
	if err != nil || c == nil {
		return c, err
	}
	if n, ok := numberOf(c); !ok || f.integer && !n.isInt {
		return nil, fmt.Errorf("want a number, got %s", value.TypeName(c))
	}
	return c, nil
}

func acceptOrdered(f *Field, v any) (any, error) {
	c, err := f.fit(v, f.Type)
	if err != nil || c == nil {
		return c, err
	}
	if _, ok := stringOf(c); ok {
		return c, nil
	}
	if _, ok := numberOf(c); !ok {
		return nil, fmt.Errorf("want a number or a string, got %s", value.TypeName(c))
	}
	return c, nil
}

func acceptAny(_ *Field, v any) (any, error) { return v, nil }

func mergeAppend(_ *Field, old, new any, own *owned) (any, error) {
	add, ok := new.([]any)
	if !ok {
		return appendGo(old, new, own.ownsArray()), nil
	}
	if len(add) == 0 {
		if list, ok := old.([]any); ok {
			return slices.Clip(list), nil
		}
		return []any{}, nil
	}
	list, _ := old.([]any)
	if !own.ownsArray() {
		list = slices.Clip(list)
	}
	return append(list, add...), nil
}

// appendGo appends slices of a Go type.
func appendGo(old, new any, owned bool) any {
	add := reflect.ValueOf(new)
	if empty(old) || reflect.TypeOf(old) != add.Type() {
		return add.Slice3(0, add.Len(), add.Len()).Interface()
	}
	list := reflect.ValueOf(old)
	if !owned {
		list = list.Slice3(0, list.Len(), list.Len())
	}
	return reflect.AppendSlice(list, add).Interface()
}

// appendAll appends the arrays of all items of a fan-out at once. It allocates the
// result once, because each growth of a slice in an interface costs an allocation.
func appendAll(_ *Field, old any, writes []any, own *owned) (any, bool, error) {
	if len(writes) == 0 {
		return nil, false, nil
	}
	if _, ok := writes[0].([]any); !ok {
		list, ok := appendAllGo(old, writes, own.ownsArray())
		return list, ok, nil
	}
	total := 0
	for _, w := range writes {
		add, ok := w.([]any)
		if !ok {
			return nil, false, nil
		}
		total += len(add)
	}
	list, ok := old.([]any)
	if total == 0 || !ok && !empty(old) {
		return nil, false, nil
	}
	if !own.ownsArray() {
		list = slices.Clip(list)
	}
	list = slices.Grow(list, total)
	for _, w := range writes {
		list = append(list, w.([]any)...)
	}
	return list, true, nil
}

// appendAllGo is appendAll for slices of a Go type.
func appendAllGo(old any, writes []any, owned bool) (any, bool) {
	t, total := reflect.TypeOf(writes[0]), 0
	for _, w := range writes {
		if w == nil || reflect.TypeOf(w) != t {
			return nil, false
		}
		total += reflect.ValueOf(w).Len()
	}
	if total == 0 || !empty(old) && reflect.TypeOf(old) != t {
		return nil, false
	}
	list := reflect.New(t).Elem()
	if !empty(old) {
		list.Set(reflect.ValueOf(old))
		if !owned {
			list.SetCap(list.Len())
		}
	}
	n := list.Len()
	list.Grow(total)
	list.SetLen(n + total)
	for _, w := range writes {
		add := reflect.ValueOf(w)
		k := add.Len()
		if k == 1 { // the most common case; slicing would allocate
			list.Index(n).Set(add.Index(0))
		} else if k > 1 {
			reflect.Copy(list.Slice(n, n+k), add)
		}
		n += k
	}
	return list.Interface(), true
}

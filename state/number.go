package state

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	"github.com/wavefold/wavefold/core/value"
)

// num is a number of any type, for the strategies sum, count, min and max. Integers are never
// rounded, neither in additions nor in comparisons. A float with an integral value that fits in 64
// bits is also an integer.
type num struct {
	i              int64
	f              float64
	isInt, isFloat bool // i is the exact value; the value was a float
}

// numberOf returns a value as a number. ok is false if it is not one. A uint64 that
// exceeds the range of int64 is not a number, because no run-time value can hold it.
func numberOf(v any) (num, bool) {
	switch v := v.(type) {
	case int64:
		return wholeNum(v), true
	case float64:
		return floatNum(v), true
	}
	switch rv := reflect.ValueOf(v); {
	case !rv.IsValid():
	case rv.CanInt():
		return wholeNum(rv.Int()), true
	case rv.CanUint() && rv.Uint() <= math.MaxInt64:
		return wholeNum(int64(rv.Uint())), true
	case rv.CanFloat():
		return floatNum(rv.Float()), true
	}
	return num{}, false
}

func wholeNum(i int64) num { return num{i: i, f: float64(i), isInt: true} }

func floatNum(f float64) num {
	n := num{f: f, isFloat: true}
	if f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63 {
		n.i, n.isInt = int64(f), true
	}
	return n
}

// compare orders two numbers exactly.
func (n num) compare(m num) int {
	switch {
	case n.isInt && m.isInt:
		return cmp.Compare(n.i, m.i)
	case n.isInt:
		return value.CompareIntFloat(n.i, m.f)
	case m.isInt:
		return -value.CompareIntFloat(m.i, n.f)
	}
	return cmp.Compare(n.f, m.f)
}

// String returns the number as JSON represents it.
func (n num) String() string {
	if n.isFloat {
		return value.JSON(n.f)
	}
	return value.JSON(n.i)
}

func mergeSum(f *Field, old, new any, _ *owned) (any, error) {
	if new == nil {
		return old, nil
	}
	return f.add(old, new)
}

func mergeCount(f *Field, old, _ any, _ *owned) (any, error) { return f.add(old, int64(1)) }

// add returns the sum in the form the field stores. In an integer field the sum is an
// integer. In other fields the sum of two integers is an integer if it fits in 64 bits.
func (f *Field) add(old, new any) (any, error) {
	b, ok := numberOf(new)
	a, ok2 := numberOf(old)
	if empty(old) {
		a, ok2 = num{isInt: true, isFloat: b.isFloat}, true
	}
	if !ok || !ok2 {
		return nil, fmt.Errorf("%s and %s cannot be added", value.TypeName(old), value.TypeName(new))
	}
	sum := num{f: a.f + b.f, isFloat: true}
	if f.integer || !a.isFloat && !b.isFloat {
		if i := a.i + b.i; (i > a.i) == (b.i > 0) {
			sum = wholeNum(i)
		}
	}
	if v, ok := f.storedNumber(sum); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s + %s does not fit %s", a, b, f.numberName())
}

// storedNumber returns a number in the form the field stores. ok is false if it does not
// fit.
func (f *Field) storedNumber(n num) (v any, ok bool) {
	if f.goType == nil {
		if n.isFloat {
			return n.f, !f.integer && !math.IsInf(n.f, 0)
		}
		return n.i, true
	}
	x := reflect.New(f.goType.Type).Elem()
	switch {
	case x.CanInt() && !n.isFloat && !x.OverflowInt(n.i):
		x.SetInt(n.i)
	case x.CanUint() && !n.isFloat && n.i >= 0 && !x.OverflowUint(uint64(n.i)):
		x.SetUint(uint64(n.i))
	case x.CanFloat() && !math.IsInf(n.f, 0) && !x.OverflowFloat(n.f):
		x.SetFloat(n.f)
	default:
		return nil, false
	}
	return x.Interface(), true
}

// numberName describes the numbers that the field holds.
func (f *Field) numberName() string {
	switch {
	case f.goType != nil:
		return f.goType.Type.String()
	case f.integer:
		return "a 64-bit integer"
	}
	return "a 64-bit float"
}

func mergeMin(f *Field, old, new any, _ *owned) (any, error) { return smallestOrLargest(old, new, -1) }
func mergeMax(f *Field, old, new any, _ *owned) (any, error) { return smallestOrLargest(old, new, 1) }

// smallestOrLargest returns the smaller (side -1) or larger (side 1) value. Numbers
// sort before strings.
func smallestOrLargest(old, new any, side int) (any, error) {
	switch {
	case new == nil:
		return old, nil
	case empty(old) || order(new, old) == side:
		return new, nil
	}
	return old, nil
}

func order(x, y any) int {
	a, isNum := numberOf(x)
	b, isNum2 := numberOf(y)
	switch {
	case isNum && isNum2:
		return a.compare(b)
	case isNum:
		return -1
	case isNum2:
		return 1
	}
	s, _ := stringOf(x)
	t, _ := stringOf(y)
	return cmp.Compare(s, t)
}

// stringOf returns a value as a string. ok is false if it is not one.
func stringOf(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, true
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.String {
		return rv.String(), true
	}
	return "", false
}

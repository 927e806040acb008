package expressions

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/wavefold/wavefold/core"
)

// number is a number in two words: an int64, a finite float64, or none. It
// travels in registers, so arithmetic allocates nothing.
type number struct {
	raw  uint64
	kind numberKind
}

type numberKind uint8

const (
	noNumber numberKind = iota
	wholeNumber
	floatNumber
)

func whole(i int64) number { return number{uint64(i), wholeNumber} }

// float returns f, or none when f is not finite: neither infinity nor NaN ever
// becomes a value.
func float(f float64) number {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	return number{math.Float64bits(f), floatNumber}
}

func (n number) int() int64 { return int64(n.raw) }

// float returns the number as a float64; a large integer is rounded.
func (n number) float() float64 {
	if n.kind == wholeNumber {
		return float64(int64(n.raw))
	}
	return math.Float64frombits(n.raw)
}

func (n number) truthy() bool {
	switch n.kind {
	case wholeNumber:
		return n.raw != 0
	case floatNumber:
		return math.Float64frombits(n.raw) != 0
	}
	return false
}

// compareNumbers orders two numbers by value, exactly: an integer is never
// rounded to be compared with a float.
func compareNumbers(a, b number) int {
	switch {
	case a.kind == wholeNumber && b.kind == wholeNumber:
		return cmp.Compare(a.int(), b.int())
	case a.kind == wholeNumber:
		return core.CompareIntFloat(a.int(), b.float())
	case b.kind == wholeNumber:
		return -core.CompareIntFloat(b.int(), a.float())
	}
	return cmp.Compare(a.float(), b.float())
}

// add, subtract, multiply, divide and remainder compute with two integers
// exactly and otherwise in floating point. A result that overflows, or that
// does not exist, is none.

func add(a, b number) number {
	if a.kind != wholeNumber || b.kind != wholeNumber {
		x, y, ok := floats(a, b)
		return pick(ok, x+y)
	}
	x, y := a.int(), b.int()
	s := x + y
	if (s > x) != (y > 0) {
		return number{}
	}
	return whole(s)
}

func subtract(a, b number) number {
	if a.kind != wholeNumber || b.kind != wholeNumber {
		x, y, ok := floats(a, b)
		return pick(ok, x-y)
	}
	x, y := a.int(), b.int()
	d := x - y
	if (d < x) != (y > 0) {
		return number{}
	}
	return whole(d)
}

func multiply(a, b number) number {
	if a.kind != wholeNumber || b.kind != wholeNumber {
		x, y, ok := floats(a, b)
		return pick(ok, x*y)
	}
	x, y := a.int(), b.int()
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	negative := (x < 0) != (y < 0)
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative {
		return number{}
	}
	if negative {
		lo = -lo
	}
	return whole(int64(lo))
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// divide gives an integer when two integers divide without a remainder, so that
// 6 / 2 stays exact whatever its size, and a float otherwise.
func divide(a, b number) number {
	if !b.truthy() {
		return number{}
	}
	if a.kind == wholeNumber && b.kind == wholeNumber && a.int()%b.int() == 0 {
		if a.int() == math.MinInt64 && b.int() == -1 {
			return number{}
		}
		return whole(a.int() / b.int())
	}
	x, y, ok := floats(a, b)
	return pick(ok, x/y)
}

// remainder has the sign of its left operand.
func remainder(a, b number) number {
	if !b.truthy() {
		return number{}
	}
	if a.kind == wholeNumber && b.kind == wholeNumber {
		return whole(a.int() % b.int())
	}
	x, y, ok := floats(a, b)
	return pick(ok, math.Mod(x, y))
}

// floats returns two numbers for an operation in floating point.
func floats(a, b number) (x, y float64, ok bool) {
	return a.float(), b.float(), a.kind != noNumber && b.kind != noNumber
}

func pick(ok bool, f float64) number {
	if !ok {
		return number{}
	}
	return float(f)
}

func absolute(n number) number {
	switch {
	case n.kind == floatNumber:
		return float(math.Abs(n.float()))
	case n.kind == wholeNumber && n.int() < 0:
		return subtract(whole(0), n)
	}
	return n
}

// round gives the nearest integer, halves away from zero; none when that does
// not fit 64 bits.
func round(n number) number {
	if n.kind != floatNumber {
		return n
	}
	f := math.Round(n.float())
	if f < -(1<<63) || f >= 1<<63 {
		return number{}
	}
	return whole(int64(f))
}

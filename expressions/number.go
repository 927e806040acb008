package expressions

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/wavefold/wavefold/core/value"
)

// number is an int64, a finite float64 or no number, in two words. It is passed in
// registers, so arithmetic does not allocate.
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

// float returns f as a number, or no number if f is infinite or NaN.
func float(f float64) number {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	return number{math.Float64bits(f), floatNumber}
}

func (n number) int() int64 { return int64(n.raw) }

// float returns the number as a float64. A large integer is rounded.
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

// compareNumbers orders two numbers exactly: it does not round an integer to compare it
// with a float.
func compareNumbers(a, b number) int {
	switch {
	case a.kind == wholeNumber && b.kind == wholeNumber:
		return cmp.Compare(a.int(), b.int())
	case a.kind == wholeNumber:
		return value.CompareIntFloat(a.int(), b.float())
	case b.kind == wholeNumber:
		return -value.CompareIntFloat(b.int(), a.float())
	}
	return cmp.Compare(a.float(), b.float())
}

// add, subtract, multiply, divide and remainder are exact on two integers and use
// floating point otherwise. If the result overflows or does not exist, they return no
// number.

func add(a, b number) number {
	if a.kind != wholeNumber || b.kind != wholeNumber {
		x, y, ok := floats(a, b)
		return floatIf(ok, x+y)
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
		return floatIf(ok, x-y)
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
		return floatIf(ok, x*y)
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

// divide returns an integer if two integers divide without a remainder, so that 6 / 2
// is exact for operands of any size, and a float otherwise.
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
	return floatIf(ok, x/y)
}

// remainder returns the remainder, with the sign of its left operand.
func remainder(a, b number) number {
	if !b.truthy() {
		return number{}
	}
	if a.kind == wholeNumber && b.kind == wholeNumber {
		return whole(a.int() % b.int())
	}
	x, y, ok := floats(a, b)
	return floatIf(ok, math.Mod(x, y))
}

// floats returns two numbers as floats for a floating-point operation.
func floats(a, b number) (x, y float64, ok bool) {
	return a.float(), b.float(), a.kind != noNumber && b.kind != noNumber
}

func floatIf(ok bool, f float64) number {
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

// round returns the nearest integer, with halves rounded away from zero, or no number
// if the result overflows int64.
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

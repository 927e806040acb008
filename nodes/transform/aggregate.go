package transform

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// function is what an aggregate does.
type function uint8

const (
	countRows function = iota
	countIf
	countDistinct
	sum
	minimum
	maximum
	mean
	first
	last
	list
	percentile
)

// functions lists the words of documents; pNN is a percentile.
var functions = []struct {
	word string
	f    function
	// argument is how many arguments the function takes; -1 for none or one.
	argument int
	numbers  bool // the argument must be a number
}{
	{"count", countRows, -1, false},
	{"count_if", countIf, 1, false},
	{"count_distinct", countDistinct, 1, false},
	{"sum", sum, 1, true},
	{"min", minimum, 1, false},
	{"max", maximum, 1, false},
	{"mean", mean, 1, true},
	{"median", percentile, 1, true},
	{"first", first, 1, false},
	{"last", last, 1, false},
	{"list", list, 1, false},
}

// percent reads the NN of pNN.
func percent(word string) (int, bool) {
	digits, ok := strings.CutPrefix(word, "p")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && n <= 100 && strconv.Itoa(n) == digits
}

// accumulator holds one aggregate of one group. Which fields are used depends on
// the function.
type accumulator struct {
	count    int64
	integers wide
	floats   exactFloat
	value    any
	values   []any
	seen     map[string]struct{}
}

// add takes the value of a row. Nulls count for count (without an argument),
// first, last and list only. buf is scratch space that the caller keeps.
func (a *accumulator) add(f function, v any, buf *[]byte) error {
	switch f {
	case first:
		if a.count++; a.count == 1 {
			a.value = v
		}
		return nil
	case last:
		a.value = v
		return nil
	case list:
		a.values = append(a.values, v)
		return nil
	}
	if v == nil {
		return nil
	}
	switch f {
	case sum, mean, percentile:
		return a.addNumber(f, v)
	case minimum:
		if a.value == nil || compare(v, a.value) < 0 {
			a.value = v
		}
	case maximum:
		if a.value == nil || compare(v, a.value) > 0 {
			a.value = v
		}
	case countDistinct:
		if a.seen == nil {
			a.seen = map[string]struct{}{}
		}
		*buf = short(appendKey((*buf)[:0], v))
		a.seen[string(*buf)] = struct{}{}
	}
	a.count++
	return nil
}

func (a *accumulator) addNumber(f function, v any) error {
	switch n := v.(type) {
	case int64:
		a.integers.add(n)
	case float64:
		a.floats.add(n)
	default:
		return fmt.Errorf("want a number, got %s %s", core.TypeName(v), core.JSON(v))
	}
	if a.count++; f == percentile {
		a.values = append(a.values, v)
	}
	return nil
}

// result returns the aggregate of all rows of a group.
func (a *accumulator) result(f function, percent int) (any, error) {
	switch f {
	case countRows, countIf:
		return a.count, nil
	case countDistinct:
		return int64(len(a.seen)), nil
	case list:
		return slices.Clip(a.values), nil
	case sum:
		return a.total()
	case mean:
		if a.count == 0 {
			return nil, nil
		}
		return finite((a.integers.float() + a.floats.sum()) / float64(a.count))
	case percentile:
		return nearestRank(a.values, percent), nil
	}
	return a.value, nil
}

// total is an integer when all numbers were, and exact.
func (a *accumulator) total() (any, error) {
	if !a.floats.used {
		n, ok := a.integers.int64()
		if !ok {
			return nil, fmt.Errorf("the sum of integers does not fit 64 bits")
		}
		return n, nil
	}
	return finite(a.integers.float() + a.floats.sum())
}

func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("the result is beyond the range of numbers")
	}
	return f, nil
}

// nearestRank returns the smallest value that at least p percent of the values
// do not exceed: always one of them, so integers stay integers.
func nearestRank(values []any, p int) any {
	if len(values) == 0 {
		return nil
	}
	slices.SortFunc(values, compare)
	rank := (p*len(values) + 99) / 100
	return values[max(rank, 1)-1]
}

// wide is a 128-bit sum of 64-bit integers. It cannot overflow with fewer than
// 2^63 of them, so the order of the summands makes no difference.
type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(n int64) {
	low, carry := bits.Add64(w.low, uint64(n), 0)
	w.low = low
	w.high += n>>63 + int64(carry)
}

// int64 returns the sum if it fits.
func (w *wide) int64() (int64, bool) {
	n := int64(w.low)
	return n, w.high == n>>63
}

func (w *wide) float() float64 {
	if n, ok := w.int64(); ok {
		return float64(n)
	}
	return float64(w.high)*(1<<64) + float64(w.low)
}

// exactFloat adds floats and keeps what each addition rounds away (Neumaier's
// method), so that a long column of small numbers loses nothing that matters.
type exactFloat struct {
	used       bool
	total, off float64
}

func (e *exactFloat) add(f float64) {
	e.used = true
	t := e.total + f
	if math.Abs(e.total) >= math.Abs(f) {
		e.off += (e.total - t) + f
	} else {
		e.off += (f - t) + e.total
	}
	e.total = t
}

func (e *exactFloat) sum() float64 {
	if math.IsInf(e.total, 0) {
		return e.total
	}
	return e.total + e.off
}

package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// cellKind is what the text of one cell could be. The kinds are bits, so that a
// column can remember all it has seen.
type cellKind uint8

const (
	integerCell cellKind = 1 << iota // a 64-bit integer that a float holds exactly
	longCell                         // a 64-bit integer that a float would change
	numberCell                       // a number with a point or exponent
	booleanCell
	textCell

	noCell cellKind = 0 // an empty cell says nothing
)

// exactDigits is the number of digits up to which every integer is a float.
const exactDigits = 15

// classify says what a cell could be. Integers and numbers are those of JSON,
// with the point allowed to come first: "007" and "+49" are text, because a
// number would lose what they say.
func classify(s string) cellKind {
	if s == "" {
		return noCell
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '.':
		return classifyNumber(s)
	case c == 't', c == 'T', c == 'f', c == 'F':
		if _, ok := plainBoolean(s); ok {
			return booleanCell
		}
	}
	return textCell
}

func classifyNumber(s string) cellKind {
	rest := strings.TrimPrefix(s, "-")
	whole := digits(rest)
	if whole > 1 && rest[0] == '0' {
		return textCell
	}
	if whole == len(rest) {
		return classifyInteger(s, rest)
	}
	rest = rest[whole:]
	if rest[0] == '.' {
		n := digits(rest[1:])
		if n == 0 {
			return textCell
		}
		whole += n
		rest = rest[1+n:]
	}
	if whole == 0 {
		return textCell
	}
	if rest != "" && !exponent(rest) {
		return textCell
	}
	if f, err := strconv.ParseFloat(s, 64); err != nil || math.IsInf(f, 0) {
		return textCell // out of range
	}
	return numberCell
}

func classifyInteger(s, unsigned string) cellKind {
	switch {
	case unsigned == "":
		return textCell // a lone minus
	case s == "-0":
		return numberCell // no integer has this sign
	case len(unsigned) <= exactDigits:
		return integerCell
	}
	i, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return textCell // beyond 64 bits
	case float64(i) < 1<<63 && int64(float64(i)) == i:
		return integerCell
	}
	return longCell
}

// digits counts the decimal digits s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// exponent reports whether s is e, an optional sign and digits.
func exponent(s string) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// plainBoolean reads the spellings that inference takes for a boolean.
func plainBoolean(s string) (value, ok bool) {
	switch s {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// column is one column of a delimited file.
type column struct {
	name string
	// declared is the type the document gives, AnyType for none.
	declared core.TypeKind
	// infer is whether the cells decide the type.
	infer bool
	seen  cellKind
	memo  memo
}

// look takes note of a cell that says something.
func (c *column) look(s string) {
	if c.infer && c.seen&textCell == 0 {
		c.seen |= classify(s)
	}
}

// kind returns the column's type once all cells have been seen. Every
// non-empty cell must be read without loss, otherwise the column is text: a
// number column holds floats, so it has no room for integers a float would
// change.
func (c *column) kind() core.TypeKind {
	switch {
	case c.declared != core.AnyType:
		return c.declared
	case c.seen == noCell:
		return core.StringType
	case c.seen&^(integerCell|longCell) == 0:
		return core.IntegerType
	case c.seen&^(integerCell|numberCell) == 0:
		return core.NumberType
	case c.seen == booleanCell:
		return core.BooleanType
	}
	return core.StringType
}

// fits reports whether a non-empty cell can be read as a declared type. A
// declaration reads more generously than inference: leading zeros, a plus sign
// and the usual words for yes and no are accepted.
func fits(s string, t core.TypeKind) bool {
	switch t {
	case core.IntegerType:
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	case core.NumberType:
		_, ok := parseNumber(s)
		return ok
	case core.BooleanType:
		_, ok := parseBoolean(s)
		return ok
	}
	return true
}

func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	ok := err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) && !strings.ContainsAny(s, "xXpP_")
	return f, ok
}

var (
	yesWords = []string{"true", "t", "yes", "y", "1"}
	noWords  = []string{"false", "f", "no", "n", "0"}
)

func parseBoolean(s string) (value, ok bool) {
	if v, ok := plainBoolean(s); ok {
		return v, true
	}
	s = strings.ToLower(s)
	if slices.Contains(yesWords, s) {
		return true, true
	}
	return false, slices.Contains(noWords, s)
}

// value turns a cell that look accepted into a value of the column's kind.
func (c *column) value(s string, null bool, kind core.TypeKind) any {
	if null || s == "" && kind != core.StringType {
		return nil
	}
	switch kind {
	case core.IntegerType:
		i, _ := strconv.ParseInt(s, 10, 64)
		return c.memo.integer(i)
	case core.NumberType:
		f, _ := parseNumber(s)
		return f
	case core.BooleanType:
		b, _ := parseBoolean(s)
		return b
	}
	return c.memo.text(s)
}

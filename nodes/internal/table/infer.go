package table

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// cellKind is a possible type of a cell. The kinds are bits, so that a column can
// record all kinds that it has seen.
type cellKind uint8

const (
	integerCell cellKind = 1 << iota // a 64-bit integer that a float holds exactly
	longCell                         // a 64-bit integer that a float would change
	numberCell                       // a number with a point or exponent
	booleanCell
	textCell

	noCell cellKind = 0 // an empty cell has no kind
)

// exactDigits is the maximum number of digits for which a float holds every integer
// exactly.
const exactDigits = 15

// classify returns the kind of a cell. Numbers have the syntax of JSON, except that
// they may begin with a point. "007" and "+49" are strings, because converting them to
// numbers would lose information.
func classify(s []byte) cellKind {
	if len(s) == 0 {
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

// surelyFinite is the maximum length of a number without an exponent that cannot
// overflow to infinity.
const surelyFinite = 300

func classifyNumber(s []byte) cellKind {
	rest := s
	if rest[0] == '-' {
		rest = rest[1:]
	}
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
	if len(rest) == 0 && len(s) <= surelyFinite {
		return numberCell
	}
	if len(rest) > 0 && !exponent(rest) {
		return textCell
	}
	if f, err := strconv.ParseFloat(string(s), 64); err != nil || math.IsInf(f, 0) {
		return textCell // out of range
	}
	return numberCell
}

func classifyInteger(s, unsigned []byte) cellKind {
	switch {
	case len(unsigned) == 0:
		return textCell // a minus sign without digits
	case len(unsigned) <= exactDigits:
		if string(s) == "-0" {
			return numberCell // integers have no negative zero
		}
		return integerCell
	}
	i, err := strconv.ParseInt(string(s), 10, 64)
	switch {
	case err != nil:
		return textCell // exceeds 64 bits
	case float64(i) < 1<<63 && int64(float64(i)) == i:
		return integerCell
	}
	return longCell
}

// digits counts the leading decimal digits of s.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// exponent reports whether s is e, an optional sign and digits.
func exponent(s []byte) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return len(s) > 0 && digits(s) == len(s)
}

// plainBoolean parses the spellings that inference accepts as a boolean.
func plainBoolean(s []byte) (value, ok bool) {
	switch string(s) {
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
	// declared is the type that the document declares, AnyType if there is none.
	declared value.TypeKind
	// infer reports whether the type is inferred from the cells.
	infer bool
	seen  cellKind
	// kind is the type of the values, once it is known.
	kind value.TypeKind
	memo Memo
}

// look records the kind of a cell.
func (c *column) look(s []byte) {
	if c.infer && c.seen&textCell == 0 {
		c.seen |= classify(s)
	}
}

// decide sets the type once all cells of the window have been seen. The column is a
// string column unless every non-empty cell can be converted without loss: a number
// column holds floats, so it cannot hold integers that a float would change.
func (c *column) decide() {
	switch {
	case c.declared != value.AnyType:
		c.kind = c.declared
	case c.seen == noCell:
		c.kind = value.StringType
	case c.seen&^(integerCell|longCell) == 0:
		c.kind = value.IntegerType
	case c.seen&^(integerCell|numberCell) == 0:
		c.kind = value.NumberType
	case c.seen == booleanCell:
		c.kind = value.BooleanType
	default:
		c.kind = value.StringType
	}
}

// value converts a non-empty cell to the column's type. For a declared type it also
// accepts leading zeros, a plus sign and the usual words for yes and no. For an
// inferred type it accepts only what inference accepts.
func (c *column) value(s []byte) (v any, ok bool) {
	switch c.kind {
	case value.IntegerType:
		return c.integer(s)
	case value.NumberType:
		return c.float(s)
	case value.BooleanType:
		b, ok := plainBoolean(s)
		if !ok && c.declared != value.AnyType {
			b, ok = parseBoolean(s)
		}
		return b, ok
	}
	return c.memo.Bytes(s), true
}

func (c *column) integer(s []byte) (any, bool) {
	if i, ok := shortInteger(s); ok {
		return c.memo.Integer(i), true
	}
	if c.declared == value.AnyType && classify(s)&(integerCell|longCell) == 0 {
		return nil, false
	}
	i, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		return nil, false
	}
	return c.memo.Integer(i), true
}

func (c *column) float(s []byte) (any, bool) {
	if c.declared == value.AnyType && classify(s)&(integerCell|numberCell) == 0 {
		return nil, false
	}
	return parseNumber(s)
}

func parseNumber(s []byte) (any, bool) {
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || bytes.ContainsAny(s, "xXpP_") {
		return nil, false
	}
	return f, true
}

var (
	yesWords = []string{"true", "t", "yes", "y", "1"}
	noWords  = []string{"false", "f", "no", "n", "0"}
)

func parseBoolean(s []byte) (value, ok bool) {
	word := strings.ToLower(string(s))
	if slices.Contains(yesWords, word) {
		return true, true
	}
	return false, slices.Contains(noWords, word)
}

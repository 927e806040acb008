package expressions

import "strings"

// Op is an operator between two operands.
type Op uint8

// Operators, loosest first. The comparisons share one level.
const (
	Or Op = iota
	And
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	In
	Contains
	Matches
	Add
	Subtract
	Multiply
	Divide
	Remainder
)

// Levels of precedence. A higher one binds tighter; prefix is that of "!", and
// primary that of everything that is one piece.
const (
	precOr = iota + 1
	precAnd
	precCompare
	precSum
	precProduct
	precPrefix
	precPrimary
)

// operators is the table of operators, indexed by Op.
var operators = [...]struct {
	text string
	prec int
}{
	Or:           {"||", precOr},
	And:          {"&&", precAnd},
	Equal:        {"==", precCompare},
	NotEqual:     {"!=", precCompare},
	Less:         {"<", precCompare},
	LessEqual:    {"<=", precCompare},
	Greater:      {">", precCompare},
	GreaterEqual: {">=", precCompare},
	In:           {"in", precCompare},
	Contains:     {"contains", precCompare},
	Matches:      {"matches", precCompare},
	Add:          {"+", precSum},
	Subtract:     {"-", precSum},
	Multiply:     {"*", precProduct},
	Divide:       {"/", precProduct},
	Remainder:    {"%", precProduct},
}

// String returns the operator as it is written.
func (o Op) String() string { return operators[o].text }

func (o Op) prec() int { return operators[o].prec }

// isOrder reports whether the operator asks for the order of two values.
func (o Op) isOrder() bool { return o >= Less && o <= GreaterEqual }

// isArithmetic reports whether the operator computes a number.
func (o Op) isArithmetic() bool { return o >= Add }

// mirrored returns the operator that holds for b, a when o holds for a, b. Only
// equality and order have one.
func (o Op) mirrored() Op {
	switch o {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	}
	return o
}

// holds reports whether an order operator accepts the outcome of a comparison,
// which is negative, zero or positive.
func (o Op) holds(c int) bool {
	switch o {
	case Less:
		return c < 0
	case LessEqual:
		return c <= 0
	case Greater:
		return c > 0
	default:
		return c >= 0
	}
}

// signOp finds the operator made of signs that a text, which begins with no
// letter, begins with; n is its length, 0 when there is none. "<" must not win
// over "<=".
func signOp(s string) (op Op, n int) {
	for o := range operators {
		if t := operators[o].text; t[0] == s[0] && len(t) > n && strings.HasPrefix(s, t) {
			op, n = Op(o), len(t)
		}
	}
	return op, n
}

// wordOp finds the operator that is spelt as a word.
func wordOp(word string) (Op, bool) {
	switch word {
	case "in":
		return In, true
	case "contains":
		return Contains, true
	case "matches":
		return Matches, true
	}
	return 0, false
}

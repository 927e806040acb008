package expressions

import "strings"

// Op is a binary operator.
type Op uint8

// Operators in order of increasing precedence. The comparisons have the same
// precedence, as do + and -, and *, / and %.
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

// Precedence levels. A higher level binds tighter. precPrefix is the level of "!", and
// precPrimary the level of literals, paths, calls and parentheses.
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

// String returns the operator as written in an expression.
func (o Op) String() string { return operators[o].text }

func (o Op) prec() int { return operators[o].prec }

// isOrder reports whether the operator is <, <=, > or >=.
func (o Op) isOrder() bool { return o >= Less && o <= GreaterEqual }

// isArithmetic reports whether the operator computes a number.
func (o Op) isArithmetic() bool { return o >= Add }

// mirrored returns the operator that holds for (b, a) exactly when o holds for (a, b).
// It is defined for equality and order operators.
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

// holds reports whether an order operator is satisfied by the result of a comparison,
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

// signOp returns the longest operator made of punctuation at the start of s, and its
// length, which is 0 if there is none. s must not begin with a letter. The longest
// match matters because "<" is a prefix of "<=".
func signOp(s string) (op Op, n int) {
	for o := range operators {
		if t := operators[o].text; t[0] == s[0] && len(t) > n && strings.HasPrefix(s, t) {
			op, n = Op(o), len(t)
		}
	}
	return op, n
}

// wordOp returns the operator that is written as the given word.
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

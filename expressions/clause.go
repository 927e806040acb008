package expressions

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Clause compares the string form of a value with a string. The grammar of this package
// has no syntax for it. Parsers of condition languages whose only type is string create
// clauses and build their trees with NewTree.
//
// The string form of a string is the string itself. The form of null and of a missing
// value is empty. A number with an integral value, including a float, is written
// without a decimal point. The form of any other value is its compact JSON. Equal and
// NotEqual compare forms bytewise. The order operators parse both sides as 64-bit
// floats and are false if either side is not a number. Contains looks for an element
// with the given form if the value is an array, and for a substring of the form
// otherwise. Matches reports whether the pattern matches anywhere in the form.
//
// Evaluating a clause allocates only for the forms of arrays and objects, and for the
// forms of large numbers under Contains and Matches.
type Clause struct {
	Span
	// Key is the name of the value in the source. Explain reports the value under this
	// name.
	Key string
	// Paths are tried in order; the first one that leads to a value is used.
	Paths []*Path
	// IsTruthTest marks a clause without an operator. It holds unless the form is empty,
	// "false" or "0".
	IsTruthTest bool
	// Op is Equal, NotEqual, an order operator, Contains or Matches. Value is its right
	// operand.
	Op    Op
	At    int // offset of the operator
	Value string
}

func malformedClause(n *Clause) *SyntaxError {
	if len(n.Paths) == 0 {
		return syntaxError(n.From, "a clause needs a path", "")
	}
	if n.IsTruthTest || n.Op == Equal || n.Op == NotEqual || n.Op.isOrder() || n.Op == Contains || n.Op == Matches {
		return nil
	}
	return syntaxError(n.At, quoteCode(n.Op.String())+" does not compare strings", "")
}

// clause checks the paths of a clause and compiles its pattern.
func (c *checker) clause(n *Clause) info {
	out := info{kind: value.BooleanType}
	for _, p := range n.Paths {
		c.check(p)
	}
	if n.Op == Matches && !n.IsTruthTest {
		rx, err := regexp.Compile(n.Value)
		if err != nil {
			c.errorf(source.CodeExprSyntax, n.At, "%s", err)
		}
		out.rx = rx
	}
	return out
}

func (m *compiler) clause(n *Clause) code {
	get, value := m.firstPresent(n.Paths), n.Value
	if n.IsTruthTest {
		return code{test: func(env Env) bool {
			v := get(env)
			return !hasForm(v, "") && !hasForm(v, "false") && !hasForm(v, "0")
		}}
	}
	switch n.Op {
	case Equal:
		return code{test: func(env Env) bool { return hasForm(get(env), value) }}
	case NotEqual:
		return code{test: func(env Env) bool { return !hasForm(get(env), value) }}
	case Contains:
		return code{test: func(env Env) bool { return containsForm(get(env), value) }}
	case Matches:
		rx := m.infos[n.id].rx
		return code{test: func(env Env) bool { return rx.MatchString(form(get(env))) }}
	}
	op := n.Op
	limit, ok := floatIn(value)
	if !ok {
		return code{test: func(Env) bool { return false }, verdict: alwaysFalse, hint: quoteCode(value) + " is not a number"}
	}
	return code{test: func(env Env) bool {
		f, ok := floatOf(get(env))
		return ok && ordered(op, f, limit)
	}}
}

// firstPresent returns a function that reads the value of the first path that has one.
func (m *compiler) firstPresent(paths []*Path) func(Env) any {
	first := &m.refs[paths[0].index]
	if len(paths) == 1 {
		return first.get
	}
	next := m.firstPresent(paths[1:])
	return func(env Env) any {
		if v := first.get(env); !value.IsMissing(v) {
			return v
		}
		return next(env)
	}
}

// ordered applies an order operator to two floats. It is false if either is NaN.
func ordered(op Op, x, y float64) bool {
	switch op {
	case Less:
		return x < y
	case LessEqual:
		return x <= y
	case Greater:
		return x > y
	default:
		return x >= y
	}
}

// form returns the string form of a value.
func form(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var room [32]byte
	if b, ok := appendScalar(room[:0], v); ok {
		return string(b)
	}
	if !plain(v) {
		return form(canonical(v))
	}
	s, _ := toString(v)
	return s
}

// hasForm reports whether the string form of v is text. The form of a scalar is built
// on the stack.
func hasForm(v any, text string) bool {
	if s, ok := v.(string); ok {
		return s == text
	}
	var room [32]byte
	if b, ok := appendScalar(room[:0], v); ok {
		return string(b) == text
	}
	return form(v) == text
}

// appendScalar appends the string form of a value that is not a string, array, object
// or Go type; for those, ok is false.
func appendScalar(b []byte, v any) (form []byte, ok bool) {
	switch v := v.(type) {
	case nil:
		return b, true
	case bool:
		return strconv.AppendBool(b, v), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return b, true
		}
		format := byte('f')
		if a := math.Abs(v); a != 0 && a < 1e-6 || a >= 1e21 {
			format = 'e' // JSON switches to exponents at the same limits
		}
		return strconv.AppendFloat(b, v+0, format, -1, 64), true // adding 0 turns -0 into 0
	}
	return b, value.IsMissing(v)
}

func containsForm(v any, text string) bool {
	if !plain(v) {
		v = canonical(v)
	}
	list, ok := v.([]any)
	if !ok {
		return strings.Contains(form(v), text)
	}
	for _, e := range list {
		if hasForm(e, text) {
			return true
		}
	}
	return false
}

// floatOf returns the number that the string form of a value represents.
func floatOf(v any) (float64, bool) {
	if s, ok := stringOf(v); ok {
		return floatIn(s)
	}
	n := numberOf(v)
	return n.float(), n.kind != noNumber
}

// floatIn parses a decimal number: an optional sign, digits with an optional decimal
// point and an optional exponent; or inf, infinity or nan. Numbers that are too large
// become infinite.
func floatIn(s string) (float64, bool) {
	digits := strings.TrimLeft(s, "+-.")
	if digits == "" || strings.ContainsAny(digits, "xX_") || !isDigit(digits[0]) && !isNonFinite(digits) {
		return 0, false // rejects most other strings without allocating an error
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		return 0, false
	}
	return f, true
}

func isNonFinite(s string) bool {
	return strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity") || strings.EqualFold(s, "nan")
}

// appendClause appends a clause in the syntax of these condition languages.
func appendClause(b []byte, n *Clause) []byte {
	b = append(b, n.Key...)
	if n.IsTruthTest {
		return b
	}
	if n.Op == Equal {
		b = append(b, " = "...)
	} else {
		b = appendOp(b, n.Op)
	}
	if isWord(n.Value) {
		return append(b, n.Value...)
	}
	b = append(b, '"')
	b = append(b, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.Value)...)
	return append(b, '"')
}

// isWord reports whether the right operand of a clause can be written without quotes.
func isWord(s string) bool {
	for i := range len(s) {
		if !isName(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

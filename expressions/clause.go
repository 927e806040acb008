package expressions

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Clause compares the text form of a value with a text. The grammar of this package has
// none: it is for condition languages that know texts only, whose parsers build their
// trees with NewTree.
//
// The text form of a text is the text itself; of null, and of a value that is not there,
// it is empty; of a number that is whole, also of a float, it has no point; of anything
// else it is the compact JSON. Equal and NotEqual compare texts by their bytes. The orders compare two
// numbers as 64-bit floats, and are false when the form of a side is none. Contains
// looks for an element of an array whose form is the text, and otherwise for a part of
// the form. Matches asks whether the pattern occurs in it.
//
// A test of a clause allocates only for the forms of arrays and objects, and for those
// of large numbers under Contains and Matches.
type Clause struct {
	Span
	// Key is what the text calls the value. Explain shows the value under it.
	Key string
	// Paths lead to the value: it is that of the first one that is there.
	Paths []*Path
	// Bare makes it a question without operator: is the form anything but empty,
	// "false" and "0"?
	Bare bool
	// Op is Equal, NotEqual, an order, Contains or Matches, and Value its right side.
	Op    Op
	At    int // offset of the operator
	Value string
}

func malformedClause(n *Clause) *SyntaxError {
	if len(n.Paths) == 0 {
		return syntaxError(n.From, "a clause needs a path", "")
	}
	if n.Bare || n.Op == Equal || n.Op == NotEqual || n.Op.isOrder() || n.Op == Contains || n.Op == Matches {
		return nil
	}
	return syntaxError(n.At, quoteCode(n.Op.String())+" does not compare strings", "")
}

// clause checks the paths of a clause and compiles its pattern.
func (c *checker) clause(n *Clause) info {
	out := info{kind: core.BooleanType}
	for _, p := range n.Paths {
		c.check(p)
	}
	if n.Op == Matches && !n.Bare {
		rx, err := regexp.Compile(n.Value)
		if err != nil {
			c.errorf(core.CodeExprSyntax, n.At, "%s", err)
		}
		out.rx = rx
	}
	return out
}

func (m *compiler) clause(n *Clause) code {
	get, value := m.firstThere(n.Paths), n.Value
	if n.Bare {
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
		return code{test: func(Env) bool { return false }, verdict: alwaysFalse, hint: quoteCode(value) + " is no number"}
	}
	return code{test: func(env Env) bool {
		f, ok := floatOf(get(env))
		return ok && ordered(op, f, limit)
	}}
}

// firstThere returns what reads the first of some paths that leads to a value.
func (m *compiler) firstThere(paths []*Path) func(Env) any {
	first := &m.refs[paths[0].index]
	if len(paths) == 1 {
		return first.get
	}
	next := m.firstThere(paths[1:])
	return func(env Env) any {
		if v := first.get(env); !core.IsMissing(v) {
			return v
		}
		return next(env)
	}
}

// ordered compares two floats; none is in order with NaN.
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

// form returns the text form of a value.
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
	s, _ := stringOf(v)
	return s
}

// hasForm reports whether a value has a text form. That of a scalar is made on the stack.
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

// appendScalar appends the text form of a value that is neither a text nor made of
// others; ok is false for those.
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
			format = 'e' // where JSON changes, too
		}
		return strconv.AppendFloat(b, v+0, format, -1, 64), true // + 0 makes -0 a 0
	}
	return b, core.IsMissing(v)
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

// floatOf returns the number that the form of a value spells.
func floatOf(v any) (float64, bool) {
	if s, ok := textOf(v); ok {
		return floatIn(s)
	}
	n := numberOf(v)
	return n.float(), n.kind != noNumber
}

// floatIn reads a decimal number: an optional sign, digits with a point anywhere, an
// exponent, or inf, infinity or nan. What is too large is infinite.
func floatIn(s string) (float64, bool) {
	digits := strings.TrimLeft(s, "+-.")
	if digits == "" || strings.ContainsAny(digits, "xX_") || !isDigit(digits[0]) && !isNonFinite(digits) {
		return 0, false // most texts that are no number are told apart without an error being made
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

// appendClause writes a clause as condition languages do.
func appendClause(b []byte, n *Clause) []byte {
	b = append(b, n.Key...)
	if n.Bare {
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

// isWord reports whether a value of a clause needs no quotes.
func isWord(s string) bool {
	for i := range len(s) {
		if !isName(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

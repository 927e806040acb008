package expressions

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// equality compiles == and !=. A missing value equals nothing and differs from every
// value that is present.
func (m *compiler) equality(n *Binary, x, y *code) code {
	c := equal(n.Op, x, y)
	never, hint := m.neverEqual(n, x, y)
	if !never {
		return c
	}
	if n.Op == Equal {
		c.verdict = alwaysFalse
	} else if x.fixed && !value.IsMissing(x.konst) || y.fixed && !value.IsMissing(y.konst) {
		c.verdict = alwaysTrue // the constant is present, so it differs even from a missing value
	}
	c.hint = hint
	return c
}

// neverEqual reports whether the types of two operands rule out that they are equal.
// Every declared type also admits null, so one of the operands must be known not to be
// null.
func (m *compiler) neverEqual(n *Binary, x, y *code) (never bool, hint string) {
	if !x.computed() && !y.computed() {
		return false, ""
	}
	a, b := m.infos[n.X.span().id], m.infos[n.Y.span().id]
	if y.fixed {
		return notAmong(a, y.konst)
	}
	if x.fixed {
		return notAmong(b, x.konst)
	}
	return a.kind.Disjoint(b.kind), ""
}

// notAmong reports whether a constant is not a value of a type, with a hint for the
// message.
func notAmong(i info, v any) (bool, string) {
	if value.IsMissing(v) {
		return true, ""
	}
	if i.kind.Disjoint(kindOf(v)) {
		return true, "the other side is " + article(i.kind)
	}
	if i.typ == nil || len(i.typ.Enum) == 0 || slices.ContainsFunc(i.typ.Enum, func(e any) bool { return value.Equal(e, v) }) {
		return false, ""
	}
	var names []string
	for _, e := range i.typ.Enum {
		if s, ok := e.(string); ok {
			names = append(names, s)
		}
	}
	if s, ok := v.(string); ok {
		if hint := source.DidYouMean(s, names); hint != "" {
			return true, hint
		}
	}
	return true, "the values are " + value.JSON(i.typ.Enum)
}

// equal compiles == and != for two operands of any form.
func equal(op Op, x, y *code) code {
	if x.fixed {
		x, y = y, x
	}
	if y.fixed {
		return equalConstant(op, x, y.konst)
	}
	if x.num == nil && x.size == nil && x.str == nil {
		x, y = y, x
	}
	switch {
	case x.num != nil || x.size != nil:
		return equalNumber(op, x.asNumber(), y.asNumber(), y.asPresence())
	case x.str != nil:
		return equalString(op, x.str, y.asString(), y.asPresence())
	}
	a, b := x.asValue(), y.asValue()
	if op == NotEqual {
		return code{test: func(env Env) bool { return differ(a(env), b(env)) }}
	}
	return code{test: func(env Env) bool {
		v := a(env)
		return value.Equal(v, b(env)) && !value.IsMissing(v)
	}}
}

// equalNumber compares a computed number with an operand without boxing it.
func equalNumber(op Op, x, y func(Env) number, present func(Env) bool) code {
	want := op == Equal
	return code{test: func(env Env) bool {
		a, b := x(env), y(env)
		if a.kind != noNumber && b.kind != noNumber {
			return (compareNumbers(a, b) == 0) == want
		}
		return !want && (a.kind != noNumber || present(env))
	}}
}

// equalString compares a computed string with an operand without boxing it.
func equalString(op Op, x, y func(Env) (string, bool), present func(Env) bool) code {
	want := op == Equal
	return code{test: func(env Env) bool {
		a, aok := x(env)
		b, bok := y(env)
		if aok && bok {
			return (a == b) == want
		}
		return !want && (aok || present(env))
	}}
}

// equalConstant compares an operand with a constant. If the constant is present, != is
// the negation of ==. If it is missing, as in 1 / 0, == is false and != reports whether
// the other operand is present.
func equalConstant(op Op, x *code, k any) code {
	if value.IsMissing(k) {
		if op == Equal {
			return code{test: func(Env) bool { return false }}
		}
		return code{test: x.asPresence()}
	}
	if r := x.ref; r != nil && r.isField() {
		if test := equalField(op, r.slot, k); test != nil {
			return code{test: test}
		}
	}
	test := isConstant(x, k)
	if op == Equal {
		return code{test: test}
	}
	return code{test: func(env Env) bool { return !test(env) }}
}

// equalField is equalConstant for a state field and a boolean or string constant, the
// most common case. It returns nil for other constants.
func equalField(op Op, slot int, k any) func(Env) bool {
	want := op == Equal
	switch k := k.(type) {
	case bool:
		if !k {
			return func(env Env) bool { return isFalse(env.Field(slot)) == want }
		}
		return func(env Env) bool { return isTrue(env.Field(slot)) == want }
	case string:
		return func(env Env) bool { return isString(env.Field(slot), k) == want }
	}
	return nil
}

// isConstant returns a function that reports whether the operand is present and equals
// k. The constant k must be present.
func isConstant(x *code, k any) func(Env) bool {
	switch k := k.(type) {
	case int64, float64:
		n, num := numberOf(k), x.asNumber()
		return func(env Env) bool {
			m := num(env)
			return m.kind != noNumber && compareNumbers(m, n) == 0
		}
	case string:
		if x.ref != nil {
			r := x.ref
			return func(env Env) bool { return isString(r.get(env), k) }
		}
		text := x.asString()
		return func(env Env) bool {
			s, ok := text(env)
			return ok && s == k
		}
	}
	if x.num != nil || x.size != nil || x.str != nil || k == nil && x.test != nil {
		return func(Env) bool { return false } // a computed value of another type
	}
	val := x.asValue()
	if k == nil {
		return func(env Env) bool { return isNull(val(env)) }
	}
	return func(env Env) bool { return value.Equal(val(env), k) }
}

func isTrue(v any) bool {
	if b, ok := v.(bool); ok {
		return b
	}
	return !plain(v) && value.Equal(v, true)
}

func isFalse(v any) bool {
	if b, ok := v.(bool); ok {
		return !b
	}
	return !plain(v) && value.Equal(v, false)
}

func isString(v any, k string) bool {
	s, ok := v.(string)
	if !ok {
		s, ok = stringOf(v)
	}
	return ok && s == k
}

func isNull(v any) bool { return v == nil || !plain(v) && canonical(v) == nil }

// order compiles the order operators. Two numbers are ordered by value and two strings
// by code point; every other comparison is false.
func (m *compiler) order(op Op, x, y *code) code {
	if x.fixed {
		x, y, op = y, x, op.mirrored()
	}
	c := code{}
	switch {
	case y.fixed && numberOf(y.konst).kind != noNumber:
		c.test = orderNumber(op, x, numberOf(y.konst))
	case y.fixed || x.str != nil || y.str != nil:
		c.test = orderStrings(op, x.asString(), y.asString())
	case x.num != nil || x.size != nil || y.num != nil || y.size != nil:
		c.test = orderNumbers(op, x.asNumber(), y.asNumber())
	default:
		c.test = orderValues(op, x.asValue(), y.asValue())
	}
	if x.unordered() || y.unordered() {
		c.verdict = alwaysFalse
	}
	return c
}

// unordered reports whether an operand is known to be neither a number nor a string.
func (c *code) unordered() bool {
	if !c.fixed {
		return c.test != nil
	}
	_, text := c.konst.(string)
	return !text && numberOf(c.konst).kind == noNumber
}

func orderStrings(op Op, x, y func(Env) (string, bool)) func(Env) bool {
	return func(env Env) bool {
		a, ok := x(env)
		if !ok {
			return false
		}
		b, ok := y(env)
		return ok && op.holds(strings.Compare(a, b))
	}
}

func orderNumbers(op Op, x, y func(Env) number) func(Env) bool {
	return func(env Env) bool {
		a, b := x(env), y(env)
		return a.kind != noNumber && b.kind != noNumber && op.holds(compareNumbers(a, b))
	}
}

func orderValues(op Op, x, y func(Env) any) func(Env) bool {
	return func(env Env) bool {
		v, w := x(env), y(env)
		if a, b := numberOf(v), numberOf(w); a.kind != noNumber && b.kind != noNumber {
			return op.holds(compareNumbers(a, b))
		}
		a, ok := stringOf(v)
		if !ok {
			return false
		}
		b, ok := stringOf(w)
		return ok && op.holds(strings.Compare(a, b))
	}
}

// orderNumber compares an operand with a constant number. Both thresholds are computed
// in advance: a float to compare floats with, and an integer to compare integers with.
func orderNumber(op Op, x *code, k number) func(Env) bool {
	f, i, ok := bounds(op, k)
	if !ok {
		return orderNumbers(op, x.asNumber(), func(Env) number { return k })
	}
	switch {
	case x.size != nil:
		size := x.size
		return func(env Env) bool { return op.holds(cmp.Compare(int64(size(env)), i)) }
	case x.ref == nil:
		num := x.asNumber()
		return func(env Env) bool { return num(env).inOrder(op, f, i) }
	case x.ref.isField():
		slot := x.ref.slot
		return func(env Env) bool { return inOrder(op, env.Field(slot), f, i) }
	}
	r := x.ref
	return func(env Env) bool { return inOrder(op, r.get(env), f, i) }
}

// bounds returns the thresholds for orderNumber. ok is false if one of them does not
// exist: an integer constant without an equal float, or a float constant outside the
// range of integers.
func bounds(op Op, k number) (f float64, i int64, ok bool) {
	if k.kind == wholeNumber {
		f = k.float()
		return f, k.int(), value.CompareIntFloat(k.int(), f) == 0
	}
	f = k.float()
	edge := math.Floor(f) // x > 2.5 and x <= 2.5 have the threshold 2
	if op == Less || op == GreaterEqual {
		edge = math.Ceil(f) // x < 2.5 and x >= 2.5 have the threshold 3
	}
	if edge < -(1<<63) || edge >= 1<<63 {
		return f, 0, false
	}
	return f, int64(edge), true
}

func inOrder(op Op, v any, f float64, i int64) bool {
	switch x := v.(type) {
	case float64:
		switch op {
		case Less:
			return x < f
		case LessEqual:
			return x <= f
		case Greater:
			return x > f
		default:
			return x >= f
		}
	case int64:
		switch op {
		case Less:
			return x < i
		case LessEqual:
			return x <= i
		case Greater:
			return x > i
		default:
			return x >= i
		}
	}
	return numberOf(v).inOrder(op, f, i)
}

// inOrder compares the number with the thresholds that bounds returned.
func (n number) inOrder(op Op, f float64, i int64) bool {
	switch n.kind {
	case floatNumber:
		return op.holds(cmp.Compare(n.float(), f))
	case wholeNumber:
		return op.holds(cmp.Compare(n.int(), i))
	}
	return false
}

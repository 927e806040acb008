package expressions

import (
	"github.com/wavefold/wavefold/core/value"
)

// verdict is what is known about the truth of a node at compile time.
type verdict uint8

const (
	depends verdict = iota
	alwaysTrue
	alwaysFalse
)

func verdictOf(b bool) verdict {
	if b {
		return alwaysTrue
	}
	return alwaysFalse
}

func (v verdict) not() verdict {
	switch v {
	case alwaysTrue:
		return alwaysFalse
	case alwaysFalse:
		return alwaysTrue
	}
	return depends
}

// code is a compiled node. Exactly one of fixed, ref, test, num, size, str and value
// is set: the most specific one that applies, so that a parent can use the result
// without boxing it. The as... methods convert between the forms.
type code struct {
	fixed bool // the node is the constant konst
	konst any

	ref   *ref                         // reads a path
	test  func(env Env) bool           // returns a boolean
	num   func(env Env) number         // returns a number or missing
	size  func(env Env) int            // returns a number that is never missing
	str   func(env Env) (string, bool) // returns a string or missing
	value func(env Env) any            // returns any value

	verdict verdict
	hint    string // explains a verdict that is based on declared types
}

func constant(v any) code {
	return code{fixed: true, konst: v, verdict: verdictOf(truthy(v))}
}

// computed reports whether the code yields only values of one known type, or missing.
// Such code never yields null.
func (c *code) computed() bool {
	return c.test != nil || c.num != nil || c.size != nil || c.str != nil || c.fixed && c.konst != nil
}

// asTest returns a function that evaluates the truth of the value.
func (c *code) asTest() func(Env) bool {
	switch {
	case c.fixed:
		b := truthy(c.konst)
		return func(Env) bool { return b }
	case c.test != nil:
		return c.test
	case c.num != nil:
		num := c.num
		return func(env Env) bool { return num(env).truthy() }
	case c.size != nil:
		size := c.size
		return func(env Env) bool { return size(env) > 0 }
	case c.str != nil:
		text := c.str
		return func(env Env) bool { s, _ := text(env); return s != "" }
	case c.value != nil:
		value := c.value
		return func(env Env) bool { return truthy(value(env)) }
	}
	return c.ref.asTest()
}

func (r *ref) asTest() func(Env) bool {
	if r.isField() {
		slot := r.slot
		return func(env Env) bool {
			v := env.Field(slot)
			if b, ok := v.(bool); ok {
				return b
			}
			return truthy(v)
		}
	}
	return func(env Env) bool { return truthy(r.get(env)) }
}

// isField reports whether the path is a state field or a column without further steps.
// This common case has specialized closures.
func (r *ref) isField() bool { return r.field && len(r.steps) == 0 }

// asNumber returns a function that evaluates the code as a number.
func (c *code) asNumber() func(Env) number {
	switch {
	case c.fixed:
		n := numberOf(c.konst)
		return func(Env) number { return n }
	case c.num != nil:
		return c.num
	case c.size != nil:
		size := c.size
		return func(env Env) number { return whole(int64(size(env))) }
	case c.test != nil, c.str != nil:
		return func(Env) number { return number{} }
	case c.value != nil:
		value := c.value
		return func(env Env) number { return numberOf(value(env)) }
	}
	r := c.ref
	if slot := r.slot; r.isField() {
		return func(env Env) number { return numberOf(env.Field(slot)) }
	}
	return func(env Env) number { return numberOf(r.get(env)) }
}

// asString returns a function that evaluates the code as a string.
func (c *code) asString() func(Env) (string, bool) {
	switch {
	case c.fixed:
		s, ok := stringOf(c.konst)
		return func(Env) (string, bool) { return s, ok }
	case c.str != nil:
		return c.str
	case c.num != nil, c.size != nil, c.test != nil:
		return func(Env) (string, bool) { return "", false }
	case c.value != nil:
		value := c.value
		return func(env Env) (string, bool) { return stringOf(value(env)) }
	}
	r := c.ref
	return func(env Env) (string, bool) { return stringOf(r.get(env)) }
}

// asValue returns a function that evaluates the code as a value of any type. It boxes
// computed numbers and strings, which allocates.
func (c *code) asValue() func(Env) any {
	switch {
	case c.ref != nil:
		return c.ref.get
	case c.value != nil:
		return c.value
	}
	own := *c
	return own.eval
}

// eval evaluates the code.
func (c *code) eval(env Env) any {
	switch {
	case c.test != nil:
		return c.test(env)
	case c.fixed:
		return c.konst
	case c.num != nil:
		return c.num(env).value()
	case c.size != nil:
		return int64(c.size(env))
	case c.str != nil:
		if s, ok := c.str(env); ok {
			return s
		}
		return value.Missing
	case c.value != nil:
		return c.value(env)
	}
	return c.ref.get(env)
}

// asPresence returns a function that reports whether the value is present.
func (c *code) asPresence() func(Env) bool {
	switch {
	case c.num != nil:
		num := c.num
		return func(env Env) bool { return num(env).kind != noNumber }
	case c.str != nil:
		text := c.str
		return func(env Env) bool { _, ok := text(env); return ok }
	case c.test != nil, c.size != nil:
		return func(Env) bool { return true }
	case c.value != nil:
		val := c.value
		return func(env Env) bool { return present(val(env)) }
	}
	if c.fixed {
		there := !value.IsMissing(c.konst)
		return func(Env) bool { return there }
	}
	r := c.ref
	return func(env Env) bool { return present(r.get(env)) }
}

// value returns the number as a value, or value.Missing if there is no number.
func (n number) value() any {
	switch n.kind {
	case wholeNumber:
		return n.int()
	case floatNumber:
		return n.float()
	}
	return value.Missing
}

// fold evaluates code whose operands are all constants at compile time.
func fold(c code, operands ...*code) code {
	for _, o := range operands {
		if !o.fixed {
			return c
		}
	}
	return constant(c.eval(nil))
}

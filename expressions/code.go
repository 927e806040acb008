package expressions

import (
	"github.com/wavefold/wavefold/core"
)

// verdict is what is known about the truth of a node before it is evaluated.
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

// code is a compiled node. Exactly one of fixed, ref, test, num, size, text and
// value says how it is evaluated; the most specific one, so that a parent can
// build on it without boxing. The methods convert from it.
type code struct {
	fixed bool // the constant
	konst any

	ref   *ref                         // reads a path
	test  func(env Env) bool           // a boolean
	num   func(env Env) number         // a number or missing
	size  func(env Env) int            // a number that is always there
	text  func(env Env) (string, bool) // a text or missing
	value func(env Env) any            // anything

	verdict verdict
	hint    string // for a verdict that rests on declared types
}

func constant(v any) code {
	return code{fixed: true, konst: v, verdict: verdictOf(truthy(v))}
}

// computed reports whether a value, if there is one, has the type that the form
// of the code says: such a code never gives null.
func (c *code) computed() bool {
	return c.test != nil || c.num != nil || c.size != nil || c.text != nil || c.fixed && c.konst != nil
}

// asTest returns the truth of the value.
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
	case c.text != nil:
		text := c.text
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

// isField reports whether the path is a state field or a column and nothing
// more: the case that is worth a closure of its own.
func (r *ref) isField() bool { return r.field && len(r.steps) == 0 }

// asNumber returns the number the value is.
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
	case c.test != nil, c.text != nil:
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

// asText returns the text the value is.
func (c *code) asText() func(Env) (string, bool) {
	switch {
	case c.fixed:
		s, ok := textOf(c.konst)
		return func(Env) (string, bool) { return s, ok }
	case c.text != nil:
		return c.text
	case c.num != nil, c.size != nil, c.test != nil:
		return func(Env) (string, bool) { return "", false }
	case c.value != nil:
		value := c.value
		return func(env Env) (string, bool) { return textOf(value(env)) }
	}
	r := c.ref
	return func(env Env) (string, bool) { return textOf(r.get(env)) }
}

// asValue returns the value itself. A computed number or text is boxed, which
// allocates.
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
	case c.text != nil:
		if s, ok := c.text(env); ok {
			return s
		}
		return core.Missing
	case c.value != nil:
		return c.value(env)
	}
	return c.ref.get(env)
}

// asPresence tells whether there is a value.
func (c *code) asPresence() func(Env) bool {
	switch {
	case c.num != nil:
		num := c.num
		return func(env Env) bool { return num(env).kind != noNumber }
	case c.text != nil:
		text := c.text
		return func(env Env) bool { _, ok := text(env); return ok }
	case c.test != nil, c.size != nil:
		return func(Env) bool { return true }
	case c.value != nil:
		value := c.value
		return func(env Env) bool { return present(value(env)) }
	}
	if c.fixed {
		there := !core.IsMissing(c.konst)
		return func(Env) bool { return there }
	}
	r := c.ref
	return func(env Env) bool { return present(r.get(env)) }
}

// value returns the number as a value, Missing for none.
func (n number) value() any {
	switch n.kind {
	case wholeNumber:
		return n.int()
	case floatNumber:
		return n.float()
	}
	return core.Missing
}

// folded evaluates code whose operands are all constant.
func folded(c code, operands ...*code) code {
	for _, o := range operands {
		if !o.fixed {
			return c
		}
	}
	return constant(c.eval(nil))
}

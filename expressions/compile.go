package expressions

import (
	"errors"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Compile parses, checks and compiles an expression. The findings have positions in the
// document, where src.Pos is the position of the expression's first character. Their
// messages begin with subject, such as "edge build -> test: when". The program is nil
// if any finding is an error.
func Compile(src source.Text, scope Scope, subject string) (*Program, source.Diagnostics) {
	t, err := Parse(src.Value)
	if err != nil {
		var ds source.Diagnostics
		if e, ok := errors.AsType[*SyntaxError](err); ok {
			report(&ds, e, src, subject)
		}
		return nil, ds
	}
	return CompileTree(t, src, scope, subject)
}

// CompileTree checks and compiles a tree. src is the source from which it was parsed.
func CompileTree(t *Tree, src source.Text, scope Scope, subject string) (*Program, source.Diagnostics) {
	c := checker{src: src, subject: subject, scope: &scope}
	c.prepare(t)
	kind := c.check(t.root).kind
	if c.diags.Failed(false) {
		return nil, c.diags
	}
	p := &Program{tree: t, src: src, subject: subject, refs: c.refs, kind: kind}
	if c.open != nil {
		p.slots, p.nodes = slices.Clip(c.open.fields), slices.Clip(c.open.nodes)
	} else {
		p.slots, p.nodes = scope.Fields.FieldNames(), scope.Nodes
	}
	m := compiler{infos: c.infos, refs: p.refs}
	p.code = m.compile(t.root)
	p.test = p.code.asTest()
	p.verdicts = m.verdicts
	return p, c.diags
}

// MustCompile compiles an expression that is known to be valid, for tests and tables.
// It panics if there is an error.
func MustCompile(src string, scope Scope) *Program {
	p, ds := Compile(source.Text{Value: src}, scope, "")
	if p == nil {
		panic("expressions: " + src + ": " + ds.Error())
	}
	return p
}

// compiler turns checked nodes into closures.
type compiler struct {
	infos    []info
	refs     []ref
	verdicts []finding
}

// finding is a part of a condition that is always true or always false.
type finding struct {
	node    Node
	verdict verdict
	hint    string
}

func (m *compiler) compile(n Node) code {
	c := m.node(n)
	if c.verdict != depends {
		m.verdicts = append(m.verdicts, finding{n, c.verdict, c.hint})
	}
	return c
}

func (m *compiler) node(n Node) code {
	switch n := n.(type) {
	case *Literal:
		return constant(n.Value)
	case *Path:
		return code{ref: &m.refs[n.index]}
	case *Not:
		return m.not(n)
	case *Logic:
		return m.logic(n)
	case *Binary:
		return m.binary(n)
	case *Call:
		return m.call(n)
	case *Clause:
		return m.clause(n)
	}
	return constant(value.Missing)
}

func (m *compiler) not(n *Not) code {
	x := m.compile(n.X)
	c := code{verdict: x.verdict.not()}
	if r := x.ref; r != nil && r.isField() {
		slot := r.slot
		c.test = func(env Env) bool {
			v := env.Field(slot)
			if b, ok := v.(bool); ok {
				return !b
			}
			return !truthy(v)
		}
		return c
	}
	test := x.asTest()
	c.test = func(env Env) bool { return !test(env) }
	return fold(c, &x)
}

func (m *compiler) logic(n *Logic) code {
	decisive := verdictOf(n.Op == Or) // one term with this verdict decides the whole chain
	indecisive, fixed := 0, 0
	tests := make([]func(Env) bool, len(n.Terms))
	c := code{}
	for i, t := range n.Terms {
		x := m.compile(t)
		tests[i] = x.asTest()
		if x.fixed {
			fixed++
		}
		switch x.verdict {
		case decisive:
			c.verdict = decisive
		case decisive.not():
			indecisive++
		}
	}
	if indecisive == len(tests) {
		c.verdict = decisive.not()
	}
	if fixed == len(tests) {
		return constant(c.verdict == alwaysTrue)
	}
	if n.Op == Or {
		c.test = anyOf(tests)
	} else {
		c.test = allOf(tests)
	}
	return c
}

func anyOf(tests []func(Env) bool) func(Env) bool {
	a, b := tests[0], tests[1]
	if len(tests) == 2 {
		return func(env Env) bool { return a(env) || b(env) }
	}
	if c := tests[2]; len(tests) == 3 {
		return func(env Env) bool { return a(env) || b(env) || c(env) }
	}
	return func(env Env) bool {
		for _, t := range tests {
			if t(env) {
				return true
			}
		}
		return false
	}
}

func allOf(tests []func(Env) bool) func(Env) bool {
	a, b := tests[0], tests[1]
	if len(tests) == 2 {
		return func(env Env) bool { return a(env) && b(env) }
	}
	if c := tests[2]; len(tests) == 3 {
		return func(env Env) bool { return a(env) && b(env) && c(env) }
	}
	return func(env Env) bool {
		for _, t := range tests {
			if !t(env) {
				return false
			}
		}
		return true
	}
}

func (m *compiler) binary(n *Binary) code {
	x, y := m.compile(n.X), m.compile(n.Y)
	var c code
	switch {
	case n.Op == Equal || n.Op == NotEqual:
		c = m.equality(n, &x, &y)
	case n.Op.isOrder():
		c = m.order(n.Op, &x, &y)
	case n.Op == In:
		c = code{test: containment(&y, &x)}
	case n.Op == Contains:
		c = code{test: containment(&x, &y)}
	case n.Op == Matches:
		c = m.matching(n, &x)
	default:
		c = arithmetic(n.Op, &x, &y)
	}
	return fold(c, &x, &y)
}

func (m *compiler) matching(n *Binary, x *code) code {
	rx, text := m.infos[n.id].rx, x.asString()
	return code{test: func(env Env) bool {
		s, ok := text(env)
		return ok && rx.MatchString(s)
	}}
}

func arithmetic(op Op, x, y *code) code {
	a, b := x.asNumber(), y.asNumber()
	switch op {
	case Add:
		return code{num: func(env Env) number { return add(a(env), b(env)) }}
	case Subtract:
		return code{num: func(env Env) number { return subtract(a(env), b(env)) }}
	case Multiply:
		return code{num: func(env Env) number { return multiply(a(env), b(env)) }}
	case Divide:
		return code{num: func(env Env) number { return divide(a(env), b(env)) }}
	default:
		return code{num: func(env Env) number { return remainder(a(env), b(env)) }}
	}
}

// containment compiles "container contains element" without boxing the element.
func containment(container, e *code) func(Env) bool {
	in := container.asValue()
	switch {
	case e.fixed:
		v := e.konst
		if s, ok := v.(string); ok {
			return func(env Env) bool { return containsString(in(env), s) }
		}
		return func(env Env) bool { return contains(in(env), v) }
	case e.num != nil || e.size != nil:
		n := e.asNumber()
		return func(env Env) bool { return containsNumber(in(env), n(env)) }
	case e.str != nil:
		text := e.str
		return func(env Env) bool {
			s, ok := text(env)
			return ok && containsString(in(env), s)
		}
	}
	v := e.asValue()
	return func(env Env) bool { return contains(in(env), v(env)) }
}

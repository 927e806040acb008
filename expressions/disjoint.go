package expressions

import (
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// maxCases limits the number of alternatives that Disjoint considers for a condition.
const maxCases = 64

// Disjoint reports whether two conditions can never hold together when they are
// evaluated on the same values. It considers only comparisons with constants and
// logical operators, so two conditions are found to be disjoint if they require
// different constants, if one negates the other, or if they leave no number in a range.
// If the result is false, the conditions may or may not be disjoint.
func Disjoint(a, b *Program) bool {
	return allClash(alternatives(a.tree.root, true), alternatives(b.tree.root, true))
}

// Implies reports whether b holds whenever a does. It has the same limits as Disjoint.
func Implies(a, b *Program) bool {
	return allClash(alternatives(a.tree.root, true), alternatives(b.tree.root, false))
}

func allClash(left, right [][]fact) bool {
	for _, x := range left {
		for _, y := range right {
			if !clash(x, y) {
				return false
			}
		}
	}
	return true
}

// fact is a constraint that a condition imposes on an expression. The subject is the
// expression in canonical form.
type fact struct {
	subject string
	op      Op // Equal, NotEqual, In or an order operator; Or means the truth of the subject
	value   any
	holds   bool // for Or and In
	// noNumber means that the subject of an order may also be a value that is not a
	// number.
	noNumber bool
}

// alternatives returns sets of facts. Whenever n evaluates to holds, all facts of at
// least one set are true. A set may be weaker than the condition. If no set is
// returned, n never evaluates to holds.
func alternatives(n Node, holds bool) [][]fact {
	switch n := n.(type) {
	case *Literal:
		if v, ok := n.Value.(bool); ok && v != holds {
			return nil
		}
		return [][]fact{nil}
	case *Not:
		return alternatives(n.X, !holds)
	case *Logic:
		if (n.Op == And) == holds {
			return combinations(n.Terms, holds)
		}
		var out [][]fact
		for _, term := range n.Terms {
			if out = append(out, alternatives(term, holds)...); len(out) > maxCases {
				return [][]fact{nil}
			}
		}
		return out
	}
	return [][]fact{factsOf(n, holds)}
}

func combinations(terms []Node, holds bool) [][]fact {
	out := [][]fact{nil}
	for _, term := range terms {
		next := alternatives(term, holds)
		if len(out)*len(next) > maxCases {
			continue // too many combinations; keep the facts of the other terms
		}
		var product [][]fact
		for _, x := range out {
			for _, y := range next {
				product = append(product, append(x[:len(x):len(x)], y...))
			}
		}
		out = product
	}
	return out
}

// factsOf returns the facts that a condition without logical operators imposes.
func factsOf(n Node, holds bool) []fact {
	facts := []fact{{subject: Print(n), op: Or, holds: holds}}
	b, ok := n.(*Binary)
	if !ok {
		if holds {
			facts = append(facts, lengths(n)...)
		}
		return facts
	}
	x, y, op := b.X, b.Y, b.Op
	if _, ok := x.(*Literal); ok {
		x, y, op = y, x, mirrored(op)
	}
	c, ok := y.(*Literal)
	if !ok {
		return facts
	}
	switch op {
	case Equal, NotEqual:
		if !holds {
			op = Equal + NotEqual - op
		}
		facts = []fact{{subject: Print(x), op: op, value: c.Value}}
		if op == Equal {
			facts = append(facts, lengths(x)...)
		}
		return facts
	case In:
		if _, isText := c.Value.(string); isText && b.Op == In {
			return append(facts, fact{subject: Print(x), op: In, value: c.Value, holds: holds})
		}
	case Less, LessEqual, Greater, GreaterEqual:
		if _, isText := c.Value.(string); !isText {
			if !holds {
				op = Less + GreaterEqual - op // < and >= are each other's negation, as are <= and >; both pairs have the same sum
			}
			facts = append(facts, fact{subject: Print(x), op: op, value: c.Value, noNumber: !holds})
			if holds {
				facts = append(facts, lengths(x)...)
			}
			return facts
		}
	}
	return facts
}

// lengths returns lower bounds for the lengths of the arrays that a path indexes, which
// hold if the path leads to a value.
func lengths(n Node) []fact {
	p, ok := n.(*Path)
	if !ok {
		return nil
	}
	var facts []fact
	for i, s := range p.Steps {
		if s.IsIndex {
			array := &Path{Root: p.Root, Steps: p.Steps[:i]}
			count := s.Index + 1
			if s.Index < 0 {
				count = -s.Index
			}
			facts = append(facts, fact{subject: Print(&Call{Func: FuncLength, Args: []Node{array}}), op: GreaterEqual, value: count})
		}
	}
	return facts
}

// mirrored returns the operator for exchanged operands.
func mirrored(op Op) Op {
	switch op {
	case In:
		return Contains
	}
	return op.mirrored()
}

func clash(a, b []fact) bool {
	for i := range a {
		for j := range b {
			if a[i].subject == b[j].subject && (a[i].excludes(&b[j]) || b[j].excludes(&a[i])) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether two facts about one subject cannot both be true. Callers
// must try both orders, because the result is not symmetric.
func (f *fact) excludes(g *fact) bool {
	switch f.op {
	case Or:
		truth, ok := g.value.(bool)
		return g.op == Or && f.holds != g.holds || g.op == Equal && ok && truth != f.holds
	case Equal:
		return f.equalExcludes(g)
	case Less, LessEqual, Greater, GreaterEqual:
		return f.orderExcludes(g)
	}
	return false
}

func (f *fact) equalExcludes(g *fact) bool {
	switch g.op {
	case Equal:
		return !value.Equal(f.value, g.value)
	case NotEqual:
		return value.Equal(f.value, g.value)
	case In:
		s, ok := f.value.(string)
		return ok && strings.Contains(g.value.(string), s) != g.holds
	case Less, LessEqual, Greater, GreaterEqual:
		x, y := numberOf(f.value), numberOf(g.value)
		return x.kind != noNumber && y.kind != noNumber && !ordered(g.op, x.float(), y.float())
	}
	return false
}

// orderExcludes reports whether f is an upper bound and g a lower bound that leave no
// number between them.
func (f *fact) orderExcludes(g *fact) bool {
	below := f.op == Less || f.op == LessEqual
	above := g.op == Greater || g.op == GreaterEqual
	if !below || !above || f.noNumber && g.noNumber {
		return false
	}
	x, y := numberOf(f.value), numberOf(g.value)
	if x.kind == noNumber || y.kind == noNumber {
		return false
	}
	both := f.op == LessEqual && g.op == GreaterEqual
	return x.float() < y.float() || x.float() == y.float() && !both
}

package expressions

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	tree    *Tree
	src     core.Text
	subject string
	kind    core.TypeKind
	refs    []ref

	code code
	test func(Env) bool // of code

	verdicts []finding

	slots []string // the names of the slots that Env.Field is asked for
	nodes []string // the ids that Env.Node is asked for
}

// Value evaluates the expression; core.Missing means that there is no value.
// The result is shared with the Env and must not be changed. Reading a path
// allocates nothing; a number or text that is computed is boxed.
func (p *Program) Value(env Env) any { return p.code.eval(env) }

// Boxer makes values of numbers and texts.
type Boxer interface {
	Integer(int64) any
	Float(float64) any
	Text(string) any
}

// Boxed is Value for callers who evaluate the expression many times: what is
// computed is boxed by b, which may know the value already.
func (p *Program) Boxed(env Env, b Boxer) any {
	switch c := &p.code; {
	case c.num != nil:
		switch n := c.num(env); n.kind {
		case wholeNumber:
			return b.Integer(n.int())
		case floatNumber:
			return b.Float(n.float())
		}
		return core.Missing
	case c.text != nil:
		if s, ok := c.text(env); ok {
			return b.Text(s)
		}
		return core.Missing
	}
	return p.code.eval(env)
}

// Test evaluates the expression as a condition: false, zero, the empty text,
// null and missing are false, everything else is true. It allocates nothing,
// unless a function or a value of a Go type makes a new text.
func (p *Program) Test(env Env) bool { return p.test(env) }

// Source returns the text the program was compiled from.
func (p *Program) Source() string { return p.src.Value }

// Place returns the place in the document of a byte of the text.
func (p *Program) Place(offset int) core.Position { return core.Inside(p.src, offset) }

// Tree returns the parsed text.
func (p *Program) Tree() *Tree { return p.tree }

// Type returns the type of the value when it is known, AnyType otherwise. A
// value of a known type may still be null or missing.
func (p *Program) Type() core.TypeKind { return p.kind }

// Fields lists the state fields the expression reads, by first use.
func (p *Program) Fields() []string { return p.tree.Fields() }

// FieldSlots lists the slots of Fields, in the same order.
func (p *Program) FieldSlots() []int {
	return p.distinct(func(r *ref) bool { return r.root == RootState })
}

// Nodes lists the ids that $nodes refers to, by first use.
func (p *Program) Nodes() []int {
	return p.distinct(func(r *ref) bool { return r.root == RootNodes })
}

// distinct lists the slots of some paths, each once.
func (p *Program) distinct(keep func(*ref) bool) []int {
	var out []int
	seen := map[int]bool{}
	for i := range p.refs {
		if r := &p.refs[i]; keep(r) && !seen[r.slot] {
			seen[r.slot] = true
			out = append(out, r.slot)
		}
	}
	return out
}

// Roots returns the roots the expression reads from.
func (p *Program) Roots() Root {
	var set Root
	for i := range p.refs {
		set |= p.refs[i].root
	}
	return set
}

// SlotNames lists the names of the slots that Env.Field is asked for, in order.
// It must not be changed.
func (p *Program) SlotNames() []string { return p.slots }

// NodeNames lists the ids that Env.Node is asked for, in order. It must not be
// changed.
func (p *Program) NodeNames() []string { return p.nodes }

// Constant returns the value of an expression that reads nothing; ok is false
// for any other.
func (p *Program) Constant() (value any, ok bool) { return p.code.konst, p.code.fixed }

// Explain returns what the expression read: each path of the text with its
// value in env. A path whose length alone is asked for appears as length(path), and
// the paths of a Clause as its key.
// A missing value is core.Missing, which JSON shows as null.
func (p *Program) Explain(env Env) *core.Object {
	out := core.NewObject(len(p.refs))
	p.explain(p.tree.root, env, out)
	return out
}

func (p *Program) explain(n Node, env Env, out *core.Object) {
	switch n := n.(type) {
	case *Path:
		out.Set(Print(n), explained(p.refs[n.index].get(env)))
		return
	case *Clause:
		v := core.Missing
		for _, path := range n.Paths {
			if core.IsMissing(v) {
				v = p.refs[path.index].get(env)
			}
		}
		out.Set(n.Key, explained(v))
		return
	case *Call:
		if path, ok := n.Args[0].(*Path); ok && n.Func == FuncLength {
			out.Set(Print(n), int64(lengthOf(p.refs[path.index].get(env))))
			return
		}
	}
	for _, c := range children(n) {
		p.explain(c, env, out)
	}
}

// explained returns a value as a plain one.
func explained(v any) any {
	if !plain(v) {
		v = canonical(v)
	}
	return v
}

// ConstantFindings warns when the expression, used as a condition, is always
// true or always false, or when a part of it is and could be left out. It judges
// by constants, by declared types and by enums; the values of the state are not
// known to it. Compile does not report this, because a text may be more than a
// condition.
func (p *Program) ConstantFindings() core.Diagnostics {
	var ds core.Diagnostics
	p.constants(&ds, p.tree.root)
	return ds
}

func (p *Program) constants(ds *core.Diagnostics, n Node) {
	for _, f := range p.verdicts {
		if f.node != n {
			continue
		}
		what := "the condition"
		if n != p.tree.root {
			what = quoteCode(Print(n))
		}
		ds.Warnf(core.CodeExprConstant, core.Inside(p.src, n.Start()), "%s",
			about(p.subject, fmt.Sprintf("%s is always %t", what, f.verdict == alwaysTrue))).WithHint("%s", f.hint)
		return
	}
	switch n.(type) {
	case *Not, *Logic:
		for _, c := range children(n) {
			p.constants(ds, c)
		}
	}
}

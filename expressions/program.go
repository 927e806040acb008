package expressions

import (
	"fmt"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	tree    *Tree
	src     source.Text
	subject string
	kind    value.TypeKind
	refs    []ref

	code code
	test func(Env) bool // code as a condition

	verdicts []finding

	slots []string // the names of the slots passed to Env.Field
	nodes []string // the ids passed to Env.Node, by index
}

// Value evaluates the expression. It returns value.Missing if there is no value. The
// result is shared with the Env and must not be changed. Reading a path does not
// allocate; a computed number or string is boxed.
func (p *Program) Value(env Env) any { return p.code.eval(env) }

// Boxer converts numbers and strings to values.
type Boxer interface {
	Integer(int64) any
	Float(float64) any
	Text(string) any
}

// Boxed is like Value, but boxes computed numbers and strings with b, which can cache
// them. It is intended for callers that evaluate the expression many times.
func (p *Program) Boxed(env Env, b Boxer) any {
	switch c := &p.code; {
	case c.num != nil:
		switch n := c.num(env); n.kind {
		case wholeNumber:
			return b.Integer(n.int())
		case floatNumber:
			return b.Float(n.float())
		}
		return value.Missing
	case c.str != nil:
		if s, ok := c.str(env); ok {
			return b.Text(s)
		}
		return value.Missing
	}
	return p.code.eval(env)
}

// Test evaluates the expression as a condition: false, zero, the empty string, null and
// missing are false, everything else is true. It does not allocate unless a function or
// a value of a Go type creates a new string.
func (p *Program) Test(env Env) bool { return p.test(env) }

// Source returns the source of the expression.
func (p *Program) Source() string { return p.src.Value }

// Place returns the position in the document of a byte offset in the source.
func (p *Program) Place(offset int) source.Position { return source.Inside(p.src, offset) }

// Tree returns the syntax tree of the expression.
func (p *Program) Tree() *Tree { return p.tree }

// Type returns the type of the value, or AnyType if it is not known. A value of a known
// type may still be null or missing.
func (p *Program) Type() value.TypeKind { return p.kind }

// Fields returns the state fields the expression reads, each once, in order of first use. A
// name that denotes a member of a field (value.MemberSchema) counts as that field.
func (p *Program) Fields() []string {
	slots := p.FieldSlots()
	out := make([]string, 0, len(slots))
	for _, slot := range slots {
		if slot < 0 || slot >= len(p.slots) { // of a schema that is not known in full
			return p.tree.Fields()
		}
		out = append(out, p.slots[slot])
	}
	return out
}

// FieldSlots returns the slots of Fields, in the same order.
func (p *Program) FieldSlots() []int {
	return p.distinct(func(r *ref) bool { return r.root == RootState })
}

// Nodes returns the indexes of the nodes that $nodes refers to, each once, in order of
// first use.
func (p *Program) Nodes() []int {
	return p.distinct(func(r *ref) bool { return r.root == RootNodes })
}

// distinct returns the slots of the paths that keep accepts, each once.
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

// SlotNames returns the names of the slots passed to Env.Field, in order. The slice
// must not be changed.
func (p *Program) SlotNames() []string { return p.slots }

// NodeNames returns the ids of the nodes passed to Env.Node, in order. The slice must
// not be changed.
func (p *Program) NodeNames() []string { return p.nodes }

// Constant returns the value of a constant expression. ok is false if the expression is
// not constant.
func (p *Program) Constant() (value any, ok bool) { return p.code.konst, p.code.fixed }

// Explain returns what the expression reads: each path with its value in env. If only
// the length of a path is used, the key is length(path); for a Clause, the key is
// Clause.Key. A missing value is value.Missing, which JSON encodes as null.
func (p *Program) Explain(env Env) *value.Object {
	out := value.NewObject(len(p.refs))
	p.explain(p.tree.root, env, out)
	return out
}

func (p *Program) explain(n Node, env Env, out *value.Object) {
	switch n := n.(type) {
	case *Path:
		out.Set(Print(n), explained(p.refs[n.index].get(env)))
		return
	case *Clause:
		v := value.Missing
		for _, path := range n.Paths {
			if value.IsMissing(v) {
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

// explained returns v as a plain value.
func explained(v any) any {
	if !plain(v) {
		v = canonical(v)
	}
	return v
}

// ConstantFindings warns if the expression, used as a condition, is always true or
// always false, or if a part of it is and could be removed. The check is based on
// constants, declared types and enums; it does not know the values of the state.
// Compile does not report this because an expression may also be used as a value.
func (p *Program) ConstantFindings() source.Diagnostics {
	var ds source.Diagnostics
	p.constants(&ds, p.tree.root)
	return ds
}

func (p *Program) constants(ds *source.Diagnostics, n Node) {
	for _, f := range p.verdicts {
		if f.node != n {
			continue
		}
		what := "the condition"
		if n != p.tree.root {
			what = quoteCode(Print(n))
		}
		ds.Warnf(source.CodeExprConstant, source.Inside(p.src, n.Start()), "%s",
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

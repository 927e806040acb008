package expressions

import (
	"fmt"
	"regexp"

	"github.com/wavefold/wavefold/core"
)

// info is the inferred type of a node.
type info struct {
	kind core.TypeKind // AnyType if unknown
	typ  *core.Type    // the declared type of a path, nil if unknown
	rx   *regexp.Regexp
}

// checker resolves every path to its slot, infers the type of every node, and reports
// type errors and unknown names.
type checker struct {
	src     core.Text
	subject string
	scope   *Scope
	open    *Open // set if there is no schema
	infos   []info
	refs    []ref // indexed by Path.index
	needed  []*Path
	diags   core.Diagnostics
}

// prepare allocates the tables for the nodes and paths of a tree.
func (c *checker) prepare(t *Tree) {
	c.infos = make([]info, t.nodes)
	c.refs = make([]ref, len(t.paths))
	if c.scope.Item.Closed || c.scope.Item.OnRead != nil || c.scope.Rows != nil {
		c.needed = t.Needed()
	}
	if !c.scope.untyped() {
		return
	}
	c.open, _ = c.scope.Fields.(*Open)
	if c.open == nil {
		c.open = &Open{}
	}
	for _, id := range c.scope.Nodes {
		c.open.node(id)
	}
}

func (c *checker) errorf(code core.Code, offset int, format string, args ...any) *core.Diagnostic {
	return c.diags.Errorf(code, core.Inside(c.src, offset), "%s", about(c.subject, fmt.Sprintf(format, args...)))
}

func (c *checker) warnf(code core.Code, offset int, format string, args ...any) *core.Diagnostic {
	return c.diags.Warnf(code, core.Inside(c.src, offset), "%s", about(c.subject, fmt.Sprintf(format, args...)))
}

// check infers the type of a node and of its descendants.
func (c *checker) check(n Node) info {
	i := c.typeOf(n)
	c.infos[n.span().id] = i
	return i
}

func (c *checker) typeOf(n Node) info {
	switch n := n.(type) {
	case *Literal:
		return info{kind: kindOf(n.Value)}
	case *Path:
		return c.path(n)
	case *Not:
		c.check(n.X)
	case *Logic:
		for _, t := range n.Terms {
			c.check(t)
		}
	case *Binary:
		return c.binary(n)
	case *Call:
		return c.call(n)
	case *Clause:
		return c.clause(n)
	}
	return info{kind: core.BooleanType}
}

// kindOf returns the type of a constant.
func kindOf(v any) core.TypeKind {
	switch v.(type) {
	case nil:
		return core.NullType
	case bool:
		return core.BooleanType
	case int64:
		return core.IntegerType
	case float64:
		return core.NumberType
	case string:
		return core.StringType
	}
	return core.AnyType
}

func isNumber(k core.TypeKind) bool { return k == core.NumberType || k == core.IntegerType }

func (c *checker) binary(n *Binary) info {
	x, y := c.check(n.X), c.check(n.Y)
	out := info{kind: core.BooleanType}
	switch {
	case n.Op == Matches:
		out.rx = c.pattern(n, x)
	case n.Op.isArithmetic():
		c.numeric(n, n.X, x.kind)
		c.numeric(n, n.Y, y.kind)
		out.kind = core.NumberType
		if x.kind == core.IntegerType && y.kind == core.IntegerType && n.Op != Divide {
			out.kind = core.IntegerType
		}
	case c.open != nil:
	case n.Op.isOrder():
		c.order(n, x.kind, y.kind)
	case n.Op == In:
		c.container(n, n.Y, y, x.kind)
	case n.Op == Contains:
		c.container(n, n.X, x, y.kind)
	}
	return out
}

// order rejects two known types that cannot be ordered relative to each other.
func (c *checker) order(n *Binary, x, y core.TypeKind) {
	if x == core.AnyType || y == core.AnyType {
		return
	}
	if isNumber(x) && isNumber(y) || x == core.StringType && y == core.StringType {
		return
	}
	d := c.errorf(core.CodeExprType, n.At, "%q has no order for %s and %s", n.Op, x, y)
	for _, side := range []Node{n.X, n.Y} {
		if l, ok := side.(*Literal); ok && (isNumber(x) || isNumber(y)) {
			if s, ok := l.Value.(string); ok && numberIn(s).kind != noNumber {
				d.WithHint("write %v without quotes", numberIn(s).value())
			}
		}
	}
}

// numeric rejects an operand of arithmetic whose known type is not numeric.
func (c *checker) numeric(n *Binary, operand Node, k core.TypeKind) {
	if c.open == nil && k != core.AnyType && !isNumber(k) {
		c.errorf(core.CodeExprType, operand.Start(), "%q needs numbers, and this is %s", n.Op, article(k))
	}
}

// container rejects a known type that is not a container, and an element type that the
// container cannot hold.
func (c *checker) container(n *Binary, holder Node, h info, element core.TypeKind) {
	switch h.kind {
	case core.AnyType, core.ArrayType:
		return
	case core.StringType, core.ObjectType:
		if element != core.StringType && element != core.AnyType {
			c.errorf(core.CodeExprType, n.At, "%q looks for a string in %s, not for %s", n.Op, article(h.kind), article(element))
		}
		return
	}
	c.errorf(core.CodeExprType, holder.Start(), "%q needs an array, a string or an object, and this is %s", n.Op, article(h.kind))
}

// pattern compiles the right operand of matches.
func (c *checker) pattern(n *Binary, x info) *regexp.Regexp {
	if c.open == nil && x.kind != core.AnyType && x.kind != core.StringType {
		c.errorf(core.CodeExprType, n.X.Start(), `"matches" needs a string, and this is %s`, article(x.kind))
	}
	l, _ := n.Y.(*Literal)
	if l == nil {
		c.errorf(core.CodeExprSyntax, n.Y.Start(), `the pattern of "matches" must be a string in quotes`)
		return nil
	}
	s, ok := l.Value.(string)
	if !ok {
		c.errorf(core.CodeExprSyntax, n.Y.Start(), `the pattern of "matches" must be a string in quotes`)
		return nil
	}
	rx, err := regexp.Compile(s)
	if err != nil {
		c.errorf(core.CodeExprSyntax, n.Y.Start(), "%s", err)
		return nil
	}
	return rx
}

func (c *checker) call(n *Call) info {
	f := functions[n.Func]
	args := make([]info, len(n.Args))
	integers := true
	for i, a := range n.Args {
		x := c.check(a)
		args[i] = x
		integers = integers && (x.kind == core.IntegerType ||
			x.kind == core.ArrayType && x.typ != nil && x.typ.Items != nil && x.typ.Items.Kind == core.IntegerType)
		if c.open == nil {
			c.argument(n, i, x)
		}
	}
	switch {
	case n.Func == FuncCoalesce:
		return info{kind: commonKind(args)}
	case f.result == core.NumberType && n.Func != FuncNumber && integers:
		return info{kind: core.IntegerType}
	}
	return info{kind: f.result}
}

// commonKind returns the type shared by all values that are not null, or AnyType if
// there is none.
func commonKind(list []info) core.TypeKind {
	kind := core.NullType
	for _, x := range list {
		switch {
		case x.kind == kind || x.kind == core.NullType:
		case kind == core.NullType:
			kind = x.kind
		case isNumber(x.kind) && isNumber(kind):
			kind = core.NumberType
		default:
			return core.AnyType
		}
	}
	return kind
}

// argument rejects argument i if its known type is not one the function accepts.
func (c *checker) argument(n *Call, at int, i info) {
	if i.kind == core.AnyType {
		return
	}
	a := n.Args[at]
	want := ""
	switch n.Func.accepts(at) {
	case anything:
		if n.Func == FuncLength && i.kind != core.StringType && i.kind != core.ArrayType {
			c.warnf(core.CodeExprType, a.Start(), "the length of %s is always 0", article(i.kind))
		}
		return
	case stringArg:
		if i.kind != core.StringType {
			want = "a string"
		}
	case numberArg:
		if !isNumber(i.kind) {
			want = "a number"
		}
	case numberOrStringArg:
		if !isNumber(i.kind) && i.kind != core.StringType {
			want = "a number or a string"
		}
	case numbersArg:
		if !isNumber(i.kind) && !mayHoldNumbers(i) {
			want = "numbers or arrays of numbers"
		}
	}
	if want != "" {
		c.errorf(core.CodeExprType, a.Start(), "%s needs %s, and this is %s", n.Func, want, article(i.kind))
	}
}

func mayHoldNumbers(i info) bool {
	if i.kind != core.ArrayType {
		return false
	}
	if i.typ == nil || i.typ.Items == nil {
		return true
	}
	k := i.typ.Items.Kind
	return k == core.AnyType || isNumber(k)
}

// article returns the name of a type with its article, for use in a sentence.
func article(k core.TypeKind) string {
	switch k {
	case core.StringType:
		return "a string"
	case core.ArrayType, core.ObjectType, core.IntegerType:
		return "an " + k.String()
	case core.NullType:
		return "null"
	}
	return "a " + k.String()
}

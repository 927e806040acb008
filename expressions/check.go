package expressions

import (
	"fmt"
	"regexp"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// info is the inferred type of a node.
type info struct {
	kind value.TypeKind // AnyType if unknown
	typ  *value.Type    // the declared type of a path, nil if unknown
	rx   *regexp.Regexp
}

// checker resolves every path to its slot, infers the type of every node, and reports
// type errors and unknown names.
type checker struct {
	src     source.Text
	subject string
	scope   *Scope
	open    *Open // set if there is no schema
	infos   []info
	refs    []ref // indexed by Path.index
	needed  []*Path
	guarded []*Path // of an expression over rows
	diags   source.Diagnostics
}

// prepare allocates the tables for the nodes and paths of a tree.
func (c *checker) prepare(t *Tree) {
	c.infos = make([]info, t.nodes)
	c.refs = make([]ref, len(t.paths))
	if c.scope.Item.Closed || c.scope.Item.OnRead != nil || c.scope.Rows != nil || c.scope.InputRows != nil {
		c.needed = t.Needed()
		if c.scope.Columns != nil {
			c.guarded = t.Guarded()
		}
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

func (c *checker) errorf(code source.Code, offset int, format string, args ...any) *source.Diagnostic {
	return c.diags.Errorf(code, source.Inside(c.src, offset), "%s", about(c.subject, fmt.Sprintf(format, args...)))
}

func (c *checker) warnf(code source.Code, offset int, format string, args ...any) *source.Diagnostic {
	return c.diags.Warnf(code, source.Inside(c.src, offset), "%s", about(c.subject, fmt.Sprintf(format, args...)))
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
	return info{kind: value.BooleanType}
}

// kindOf returns the type of a constant.
func kindOf(v any) value.TypeKind {
	switch v.(type) {
	case nil:
		return value.NullType
	case bool:
		return value.BooleanType
	case int64:
		return value.IntegerType
	case float64:
		return value.NumberType
	case string:
		return value.StringType
	}
	return value.AnyType
}

func isNumber(k value.TypeKind) bool { return k == value.NumberType || k == value.IntegerType }

func (c *checker) binary(n *Binary) info {
	x, y := c.check(n.X), c.check(n.Y)
	out := info{kind: value.BooleanType}
	switch {
	case n.Op == Matches:
		out.rx = c.pattern(n, x)
	case n.Op.isArithmetic():
		c.numeric(n, n.X, x.kind)
		c.numeric(n, n.Y, y.kind)
		out.kind = value.NumberType
		if x.kind == value.IntegerType && y.kind == value.IntegerType && n.Op != Divide {
			out.kind = value.IntegerType
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
func (c *checker) order(n *Binary, x, y value.TypeKind) {
	if x == value.AnyType || y == value.AnyType {
		return
	}
	if isNumber(x) && isNumber(y) || x == value.StringType && y == value.StringType {
		return
	}
	d := c.errorf(source.CodeExprType, n.At, "%q has no order for %s and %s", n.Op, x, y)
	for _, side := range []Node{n.X, n.Y} {
		if l, ok := side.(*Literal); ok && (isNumber(x) || isNumber(y)) {
			if s, ok := l.Value.(string); ok && numberIn(s).kind != noNumber {
				d.WithHint("write %v without quotes", numberIn(s).value())
			}
		}
	}
}

// numeric rejects an operand of arithmetic whose known type is not numeric.
func (c *checker) numeric(n *Binary, operand Node, k value.TypeKind) {
	if c.open == nil && k != value.AnyType && !isNumber(k) {
		c.errorf(source.CodeExprType, operand.Start(), "%q needs numbers, and this is %s", n.Op, article(k))
	}
}

// container rejects a known type that is not a container, and an element type that the
// container cannot hold.
func (c *checker) container(n *Binary, holder Node, h info, element value.TypeKind) {
	switch h.kind {
	case value.AnyType, value.ArrayType:
		return
	case value.StringType, value.ObjectType:
		if element != value.StringType && element != value.AnyType {
			c.errorf(source.CodeExprType, n.At, "%q looks for a string in %s, not for %s", n.Op, article(h.kind), article(element))
		}
		return
	}
	c.errorf(source.CodeExprType, holder.Start(), "%q needs an array, a string or an object, and this is %s", n.Op, article(h.kind))
}

// pattern compiles the right operand of matches.
func (c *checker) pattern(n *Binary, x info) *regexp.Regexp {
	if c.open == nil && x.kind != value.AnyType && x.kind != value.StringType {
		c.errorf(source.CodeExprType, n.X.Start(), `"matches" needs a string, and this is %s`, article(x.kind))
	}
	l, _ := n.Y.(*Literal)
	if l == nil {
		c.errorf(source.CodeExprSyntax, n.Y.Start(), `the pattern of "matches" must be a string in quotes`)
		return nil
	}
	s, ok := l.Value.(string)
	if !ok {
		c.errorf(source.CodeExprSyntax, n.Y.Start(), `the pattern of "matches" must be a string in quotes`)
		return nil
	}
	rx, err := regexp.Compile(s)
	if err != nil {
		c.errorf(source.CodeExprSyntax, n.Y.Start(), "%s", err)
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
		integers = integers && (x.kind == value.IntegerType ||
			x.kind == value.ArrayType && x.typ != nil && x.typ.Items != nil && x.typ.Items.Kind == value.IntegerType)
		if c.open == nil {
			c.argument(n, i, x)
		}
	}
	switch {
	case n.Func == FuncCoalesce:
		return info{kind: commonKind(args)}
	case f.result == value.NumberType && n.Func != FuncNumber && integers:
		return info{kind: value.IntegerType}
	}
	return info{kind: f.result}
}

// commonKind returns the type shared by all values that are not null, or AnyType if
// there is none.
func commonKind(list []info) value.TypeKind {
	kind := value.NullType
	for _, x := range list {
		switch {
		case x.kind == kind || x.kind == value.NullType:
		case kind == value.NullType:
			kind = x.kind
		case isNumber(x.kind) && isNumber(kind):
			kind = value.NumberType
		default:
			return value.AnyType
		}
	}
	return kind
}

// argument rejects argument i if its known type is not one the function accepts.
func (c *checker) argument(n *Call, at int, i info) {
	if i.kind == value.AnyType {
		return
	}
	a := n.Args[at]
	want := ""
	switch n.Func.accepts(at) {
	case anything:
		if n.Func == FuncLength && i.kind != value.StringType && i.kind != value.ArrayType {
			c.warnf(source.CodeExprType, a.Start(), "the length of %s is always 0", article(i.kind))
		}
		return
	case stringArg:
		if i.kind != value.StringType {
			want = "a string"
		}
	case numberArg:
		if !isNumber(i.kind) {
			want = "a number"
		}
	case numberOrStringArg:
		if !isNumber(i.kind) && i.kind != value.StringType {
			want = "a number or a string"
		}
	case numbersArg:
		if !isNumber(i.kind) && !mayHoldNumbers(i) {
			want = "numbers or arrays of numbers"
		}
	}
	if want != "" {
		c.errorf(source.CodeExprType, a.Start(), "%s needs %s, and this is %s", n.Func, want, article(i.kind))
	}
}

func mayHoldNumbers(i info) bool {
	if i.kind != value.ArrayType {
		return false
	}
	if i.typ == nil || i.typ.Items == nil {
		return true
	}
	k := i.typ.Items.Kind
	return k == value.AnyType || isNumber(k)
}

// article returns the name of a type with its article, for use in a sentence.
func article(k value.TypeKind) string {
	switch k {
	case value.StringType:
		return "a string"
	case value.ArrayType, value.ObjectType, value.IntegerType:
		return "an " + k.String()
	case value.NullType:
		return "null"
	}
	return "a " + k.String()
}

package expressions

import (
	"fmt"

	"github.com/wavefold/wavefold/core/source"
)

// Tree is the syntax tree of an expression. It is immutable.
type Tree struct {
	src   string
	root  Node
	paths []*Path // in source order
	nodes int     // the number of nodes; ids start at 0
	steps int     // the total number of steps of the paths
}

// Node is a node of a tree: *Literal, *Path, *Not, *Logic, *Binary, *Call or *Clause.
type Node interface {
	// Start and End return the byte offsets of the node in the source: its first byte,
	// and the byte after its last. Parentheses around a node belong to its parent.
	Start() int
	End() int
	span() *Span
}

// Span is the position of a node in the source.
type Span struct {
	From, To int
	id       int // the index of the node in a preorder traversal, from 0
}

// Start returns the offset of the first byte.
func (s *Span) Start() int { return s.From }

// End returns the offset after the last byte.
func (s *Span) End() int { return s.To }

func (s *Span) span() *Span { return s }

// Literal is a constant: nil, bool, int64, float64 or string.
type Literal struct {
	Span
	Value any
}

// Path reads a value: a root, followed by steps into it.
type Path struct {
	Span
	Root Root
	// Steps lead to the value. The first step of RootState is the name of a field, and
	// the first step of RootInput the name of an input. The first steps of RootNodes
	// are the id of a node and "status" or "output".
	Steps []Step
	index int // in the tree's paths
}

// Step is one step of a path: a member of an object, or an element of an array if
// IsIndex is set. A negative index counts from the end.
type Step struct {
	Name    string
	Index   int64
	IsIndex bool
	From    int // offset of the name or index in the source
}

// Not is a negation.
type Not struct {
	Span
	X Node
}

// Logic is a chain of one operator, Or or And, with at least two terms.
type Logic struct {
	Span
	Op    Op
	Terms []Node
}

// Binary is any other binary operator with its operands.
type Binary struct {
	Span
	Op   Op
	At   int // offset of the operator
	X, Y Node
}

// Call is a function call.
type Call struct {
	Span
	Func Func
	Args []Node
}

// NewTree returns a tree of nodes that a parser of another syntax built from src. It
// checks the limits that Parse guarantees, and that every node except a Clause can be
// written in this language.
func NewTree(src string, root Node) (*Tree, error) {
	t := &Tree{src: src, root: root}
	if err := t.enter(root, 1); err != nil {
		return nil, err
	}
	return t, nil
}

// enter numbers a node and its descendants. It stops at the limits, so the recursion is
// at most MaxNodes deep.
func (t *Tree) enter(n Node, depth int) error {
	if depth > MaxDepth+1 { // the operand inside MaxDepth levels of nesting is itself one level deeper
		return tooDeep(n.Start())
	}
	n.span().id = t.nodes
	t.nodes++
	if p, ok := n.(*Path); ok {
		p.index = len(t.paths)
		t.paths = append(t.paths, p)
		t.steps += len(p.Steps)
	}
	if t.nodes+t.steps > MaxNodes {
		return &SyntaxError{Offset: n.Start(), Code: source.CodeLimit,
			Message: fmt.Sprintf("the expression has more than %d parts", MaxNodes)}
	}
	if err := malformed(n); err != nil {
		return err
	}
	return t.enterAll(n, depth+1)
}

// enterAll enters the children of n.
func (t *Tree) enterAll(n Node, depth int) error {
	switch n := n.(type) {
	case *Not:
		return t.enter(n.X, depth)
	case *Binary:
		left := depth
		if x, ok := n.X.(*Binary); ok && x.Op.prec() == n.Op.prec() {
			left-- // a flat chain of one precedence is one level regardless of its length
		}
		if err := t.enter(n.X, left); err != nil {
			return err
		}
		return t.enter(n.Y, depth)
	default:
		for _, c := range children(n) {
			if err := t.enter(c, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func tooDeep(offset int) *SyntaxError {
	return &SyntaxError{Offset: offset, Code: source.CodeLimit,
		Message: fmt.Sprintf("the expression is nested deeper than %d", MaxDepth)}
}

// children returns the children of n in source order.
func children(n Node) []Node {
	switch n := n.(type) {
	case *Not:
		return []Node{n.X}
	case *Logic:
		return n.Terms
	case *Binary:
		return []Node{n.X, n.Y}
	case *Call:
		return n.Args
	case *Clause:
		paths := make([]Node, len(n.Paths))
		for i, p := range n.Paths {
			paths[i] = p
		}
		return paths
	}
	return nil
}

// Root returns the root node of the tree.
func (t *Tree) Root() Node { return t.root }

// Source returns the source of the expression.
func (t *Tree) Source() string { return t.src }

// Path returns the path if the whole expression is a single path.
func (t *Tree) Path() (*Path, bool) {
	p, ok := t.root.(*Path)
	return p, ok
}

// Paths returns all paths in source order. The slice must not be changed.
func (t *Tree) Paths() []*Path { return t.paths }

// Needed returns the paths whose values are required: all Paths except the arguments of
// coalesce, which supplies a replacement for a missing value.
func (t *Tree) Needed() []*Path {
	var out []*Path
	var walk func(n Node)
	walk = func(n Node) {
		if p, ok := n.(*Path); ok {
			out = append(out, p)
			return
		}
		call, ok := n.(*Call)
		for _, c := range children(n) {
			if _, isPath := c.(*Path); !isPath || !ok || call.Func != FuncCoalesce {
				walk(c)
			}
		}
	}
	walk(t.root)
	return out
}

// Guarded returns the paths in the terms of an && after the first one. They matter only
// where the terms before them hold.
func (t *Tree) Guarded() []*Path {
	var out []*Path
	var walk func(n Node, guarded bool)
	walk = func(n Node, guarded bool) {
		if p, ok := n.(*Path); ok && guarded {
			out = append(out, p)
		}
		logic, ok := n.(*Logic)
		for i, c := range children(n) {
			walk(c, guarded || ok && logic.Op == And && i > 0)
		}
	}
	walk(t.root, false)
	return out
}

// NullTest is a comparison of a path with null by == or, if Not is set, by !=.
type NullTest struct {
	Path *Path
	Not  bool
}

// NullTests returns the comparisons of paths with null.
func (t *Tree) NullTests() []NullTest {
	var out []NullTest
	var walk func(n Node)
	walk = func(n Node) {
		if b, ok := n.(*Binary); ok && (b.Op == Equal || b.Op == NotEqual) {
			for _, sides := range [][2]Node{{b.X, b.Y}, {b.Y, b.X}} {
				path, isPath := sides[0].(*Path)
				if null, ok := sides[1].(*Literal); ok && isPath && null.Value == nil {
					out = append(out, NullTest{path, b.Op == NotEqual})
				}
			}
		}
		for _, c := range children(n) {
			walk(c)
		}
	}
	walk(t.root)
	return out
}

// Fields returns the state fields the expression reads, each once, in order of first
// use.
func (t *Tree) Fields() []string {
	var out []string
	for _, p := range t.paths {
		if p.Root == RootState {
			out = appendOnce(out, p.Steps[0].Name)
		}
	}
	return out
}

// appendOnce appends a name that is not yet in the list.
func appendOnce(list []string, name string) []string {
	for _, n := range list {
		if n == name {
			return list
		}
	}
	return append(list, name)
}

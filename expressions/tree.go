package expressions

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// Tree is a parsed expression. It is immutable.
type Tree struct {
	src   string
	root  Node
	paths []*Path // in order of appearance
	nodes int     // how many nodes there are; ids run from 0
	steps int     // how many steps their paths have
}

// Node is a part of a tree: *Literal, *Path, *Not, *Logic, *Binary, *Call or *Clause.
type Node interface {
	// Start and End are the byte offsets of the node in the text: its first
	// byte and the one after its last. Parentheses around a node belong to the
	// node around it.
	Start() int
	End() int
	span() *Span
}

// Span is where a node stands in its text.
type Span struct {
	From, To int
	id       int // the place of the node in the tree, from 0, depth first
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

// Path reads a value: a root, then steps into it.
type Path struct {
	Span
	Root Root
	// Steps lead to the value. Those of RootState begin with the name of a
	// field, those of RootInput with the name of an input, those of RootNodes
	// with the id of a node and "status" or "output".
	Steps []Step
	index int // among the tree's paths
}

// Step is one step of a path: the member of an object, or, when IsIndex, the
// element of an array. A negative index counts from the end.
type Step struct {
	Name    string
	Index   int64
	IsIndex bool
	From    int // offset of the name or index in the text
}

// Not is a negation.
type Not struct {
	Span
	X Node
}

// Logic is a chain of one operator, Or or And, with two or more terms.
type Logic struct {
	Span
	Op    Op
	Terms []Node
}

// Binary is any other operator with its two operands.
type Binary struct {
	Span
	Op   Op
	At   int // offset of the operator
	X, Y Node
}

// Call is a call of a function.
type Call struct {
	Span
	Func Func
	Args []Node
}

// NewTree makes a tree of nodes that a parser of another syntax built; src is
// the text they were read from. It checks what Parse guarantees: the limits,
// and that every part can be written in this language, a Clause excepted.
func NewTree(src string, root Node) (*Tree, error) {
	t := &Tree{src: src, root: root}
	if err := t.enter(root, 1); err != nil {
		return nil, err
	}
	return t, nil
}

// enter numbers a node and those below it. It stops at the limits, so it runs at most
// MaxNodes deep.
func (t *Tree) enter(n Node, depth int) error {
	if depth > MaxDepth+1 { // what is nested MaxDepth deep is on the level below
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
		return &SyntaxError{Offset: n.Start(), Code: core.CodeLimit,
			Message: fmt.Sprintf("the expression has more than %d parts", MaxNodes)}
	}
	if err := malformed(n); err != nil {
		return err
	}
	return t.enterAll(n, depth+1)
}

// enterAll enters the nodes directly below n.
func (t *Tree) enterAll(n Node, depth int) error {
	switch n := n.(type) {
	case *Not:
		return t.enter(n.X, depth)
	case *Binary:
		left := depth
		if x, ok := n.X.(*Binary); ok && x.Op.prec() == n.Op.prec() {
			left-- // a flat chain of one precedence is one level however long it is
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
	return &SyntaxError{Offset: offset, Code: core.CodeLimit,
		Message: fmt.Sprintf("the expression is nested deeper than %d", MaxDepth)}
}

// children returns the nodes directly below n, in order of the text.
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

// Root returns the outermost node.
func (t *Tree) Root() Node { return t.root }

// Source returns the text the tree was read from.
func (t *Tree) Source() string { return t.src }

// Path returns the tree's path if the whole text is nothing but one.
func (t *Tree) Path() (*Path, bool) {
	p, ok := t.root.(*Path)
	return p, ok
}

// Paths returns all paths in order of the text. The slice must not be changed.
func (t *Tree) Paths() []*Path { return t.paths }

// Needed returns the paths of Paths whose value matters when it is missing: all but
// the arguments of coalesce, which says what stands in for them.
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

// Fields returns the state fields the text reads, by first use, each once.
func (t *Tree) Fields() []string {
	var out []string
	for _, p := range t.paths {
		if p.Root == RootState {
			out = appendOnce(out, p.Steps[0].Name)
		}
	}
	return out
}

// appendOnce appends a name that is not in the list yet.
func appendOnce(list []string, name string) []string {
	for _, n := range list {
		if n == name {
			return list
		}
	}
	return append(list, name)
}

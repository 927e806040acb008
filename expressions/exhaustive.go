package expressions

import "fmt"

// maxAtoms limits the number of distinct tests that OneHolds considers.
const maxAtoms = 8

// OneHolds reports whether at least one of several conditions holds for all values. It
// considers only logical operators, which tests are equal or opposite, and whether the
// conditions cover all outcomes. If the result is false, the conditions may or may not
// be exhaustive.
func OneHolds(conditions []*Program) bool {
	c := cases{index: map[Node]int{}}
	names := map[string]int{}
	for _, p := range conditions {
		c.collect(p.tree.root, names)
	}
	if len(names) > maxAtoms {
		return false
	}
	for _, c.outcome = range statusNames {
		for c.truths = range 1 << len(names) {
			if !c.anyHolds(conditions) {
				return false
			}
		}
	}
	return true
}

// cases is one assignment of truth values to all tests.
type cases struct {
	index   map[Node]int // the index of the test that a node is or negates
	truths  int          // one bit per test
	outcome string
}

func (c *cases) collect(n Node, names map[string]int) {
	switch n := n.(type) {
	case *Not, *Logic:
		for _, child := range children(n) {
			c.collect(child, names)
		}
	default:
		if _, ok := outcomeTest(n); ok {
			return
		}
		name := testName(n)
		if _, ok := names[name]; !ok {
			names[name] = len(names)
		}
		c.index[n] = names[name]
	}
}

// testName returns a name that is the same for equal tests and for opposite tests.
func testName(n Node) string {
	clause, ok := n.(*Clause)
	if !ok {
		return Print(n)
	}
	op := clause.Op
	if op == NotEqual {
		op = Equal
	}
	return fmt.Sprintf("%q %t %d %q", clause.Key, clause.IsTruthTest, op, clause.Value)
}

// outcomeTest reports whether n is a clause that compares the outcome with a word, and
// returns it.
func outcomeTest(n Node) (*Clause, bool) {
	c, ok := n.(*Clause)
	return c, ok && c.Paths[0].Root == RootOutcome && (c.Op == Equal || c.Op == NotEqual) && !c.IsTruthTest
}

func (c *cases) anyHolds(conditions []*Program) bool {
	for _, p := range conditions {
		if c.holds(p.tree.root) {
			return true
		}
	}
	return false
}

func (c *cases) holds(n Node) bool {
	switch n := n.(type) {
	case *Not:
		return !c.holds(n.X)
	case *Logic:
		for _, term := range n.Terms {
			if c.holds(term) == (n.Op == Or) {
				return n.Op == Or
			}
		}
		return n.Op != Or
	}
	denies := false
	if clause, ok := n.(*Clause); ok {
		denies = clause.Op == NotEqual && !clause.IsTruthTest
	}
	if clause, ok := outcomeTest(n); ok {
		return (clause.Value == c.outcome) != denies
	}
	return (c.truths>>c.index[n]&1 == 1) != denies
}

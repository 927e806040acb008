package expressions

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// maxAtoms is how many different tests the conditions may have that OneHolds looks at.
const maxAtoms = 8

// chosenOutcomes are the words that an outcome can be when an edge is chosen.
var chosenOutcomes = []string{core.Success.String(), core.PartialSuccess.String(), core.Fail.String(), core.Skipped.String()}

// OneHolds reports whether one of several conditions holds whatever the values are, as far
// as their logic tells: one says what another denies, or together they name all outcomes.
// Of tests it knows only which are the same, so false means that nothing is known.
func OneHolds(conditions []*Program) bool {
	c := cases{index: map[Node]int{}}
	names := map[string]int{}
	for _, p := range conditions {
		c.collect(p.tree.root, names)
	}
	if len(names) > maxAtoms {
		return false
	}
	for _, c.outcome = range chosenOutcomes {
		for c.truths = range 1 << len(names) {
			if !c.anyHolds(conditions) {
				return false
			}
		}
	}
	return true
}

// cases is a guess at what all tests come to.
type cases struct {
	index   map[Node]int // of the test that a node is, or denies
	truths  int          // a bit for each test
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

// testName is the same for two tests that ask for the same or for the opposite.
func testName(n Node) string {
	clause, ok := n.(*Clause)
	if !ok {
		return Print(n)
	}
	op := clause.Op
	if op == NotEqual {
		op = Equal
	}
	return fmt.Sprintf("%q %t %d %q", clause.Key, clause.Bare, op, clause.Value)
}

// outcomeTest returns a clause that asks which word the outcome is.
func outcomeTest(n Node) (*Clause, bool) {
	c, ok := n.(*Clause)
	return c, ok && c.Paths[0].Root == RootOutcome && (c.Op == Equal || c.Op == NotEqual) && !c.Bare
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
		denies = clause.Op == NotEqual && !clause.Bare
	}
	if clause, ok := outcomeTest(n); ok {
		return (clause.Value == c.outcome) != denies
	}
	return (c.truths>>c.index[n]&1 == 1) != denies
}

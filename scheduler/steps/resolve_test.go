package steps_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// chain is a graph of nodes that each lead to the next one, by an edge without a condition after one
// whose condition does not hold.
type chain struct {
	nodes []steps.Node
	index map[string]int32
}

func newChain(n int) *chain {
	c := &chain{nodes: make([]steps.Node, n), index: make(map[string]int32, n)}
	for i := range c.nodes {
		at, next := int32(i), int32((i+1)%n)
		c.index["n"+strconv.Itoa(i)] = at
		c.nodes[i] = steps.Node{Index: at, Transitions: []core.Transition{{Key: source.Text{Value: "done"}, To: source.Text{Value: core.EndNode}}}, Default: core.EndNode,
			Edges: []steps.Edge{{Index: 2 * at, To: steps.ToEnd, Test: steps.Output, Key: "ok", Value: true}, {Index: 2*at + 1, To: next}}}
		steps.Sort(c.nodes[i].Edges)
	}
	return c
}

func (c *chain) Lookup(name string) (int32, bool) { i, ok := c.index[name]; return i, ok }
func (c *chain) Holds(int32) bool                 { return false }

// TestResolveTakesNoAllocation checks that a decision allocates nothing, whichever step decides.
func TestResolveTakesNoAllocation(t *testing.T) {
	c := newChain(10)
	for step, r := range map[steps.Step]steps.Result{
		steps.Jump: {Jump: "n3"}, steps.ToolLoop: {ToolCalls: 1, ToolLoop: true}, steps.Route: {Output: value.ObjectOf("route", "ghost", "goto", "n3")},
		steps.NextNode: {Next: "n3"}, steps.Edges: {Output: value.ObjectOf("ok", false)},
	} {
		if got := steps.Resolve(c, &c.nodes[0], &r); got.Step != step {
			t.Errorf("%s: decided by %s", step, got.Step)
		}
		if n := testing.AllocsPerRun(100, func() { steps.Resolve(c, &c.nodes[0], &r) }); n > 0 {
			t.Errorf("%s: %v allocations", step, n)
		}
	}
}

// BenchmarkResolve measures a decision by an edge, in graphs of different sizes.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		c := newChain(n)
		for _, at := range []struct {
			name string
			r    steps.Result
		}{{"edge", steps.Result{Output: value.ObjectOf("ok", false)}}, {"route", steps.Result{Output: value.ObjectOf("goto", "n3")}}} {
			b.Run(fmt.Sprintf("%s/%d", at.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					steps.Resolve(c, &c.nodes[n/2], &at.r)
				}
			})
		}
	}
}

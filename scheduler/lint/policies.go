package lint

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// unusedPolicies reports retry policies that are never used.
func (c *checker) unusedPolicies() {
	for _, p := range c.w.RetryPolicies {
		if !c.f.PolicyUsed(p) && !c.f.Invalid().Nodes {
			c.ds.Warnf(source.CodeUnused, p.Name.Pos, "retry policy %q is never used", p.Name.Value)
		}
	}
}

// waits reports timeouts that are shorter than the wait of their node.
func (c *checker) waits() {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Wait != nil && n.Timeout > 0 && n.Timeout < n.Wait.Duration {
			c.ds.Warnf(source.CodeBadValue, n.Decl.Timeout.Pos, "%s: timeout: the wait of %s is longer than %s, so it always fails", message.Node(n.ID), n.Wait.Duration, n.Timeout)
		}
	}
}

// manyNested is the largest number of nested runs that causes no warning.
const manyNested = 1_000_000

// manyRuns reports a workflow that nests others so often that it will practically never end. The
// plans of nested workflows are shared, so the number is known without following each run.
func (c *checker) manyRuns() {
	if c.f.Nested() || c.p.Nested <= manyNested {
		return
	}
	var most *plan.Node
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Frame != nil && (most == nil || n.Frame.Plan.Nested > most.Frame.Plan.Nested) {
			most = n
		}
	}
	c.ds.Warnf(source.CodeLimit, most.Decl.Pos, "node %s: running this workflow means %s runs of nested workflows, because they include one another several times", most.ID, plan.NestedText(c.p.Nested)).
		WithHint("wavefold plan FILE shows the number for each of them")
}

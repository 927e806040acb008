// Package lint reports what a compiled workflow can run and probably does not mean: reads in no
// order with the writes, conditions that decide nothing, files that two nodes replace, names
// that are never used. It reads the plan and the facts that the compiler hands over, and
// changes neither. Findings about parts that are invalid are left out: the error that made
// them invalid is reported already.
package lint

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Check returns the findings about a workflow. It is meant for plan.Options.Lint.
func Check(f *plan.Facts) source.Diagnostics {
	c := &checker{f: f, p: f.Plan(), w: f.Plan().Workflow}
	c.nodes()
	switch {
	case !c.p.Mode.Visits:
		c.graph()
		c.state()
	case c.p.Walk != nil:
		c.walk()
	}
	return c.ds
}

// checker collects the findings about one workflow.
type checker struct {
	f  *plan.Facts
	p  *plan.Plan
	w  *core.Workflow
	ds source.Diagnostics
	// conditions and failEdges report whether there are edges with a condition, or on: fail.
	conditions, failEdges bool
	choice                []bool              // by vertex: see unclear
	chained               []bool              // by field: each writer comes before the next
	needed                map[int32][][]int32 // see needs
}

// nodes checks what nodes say on their own.
func (c *checker) nodes() {
	c.missingSkills()
	c.nodeWarnings()
	c.waits()
	c.unusedPolicies()
	c.manyRuns()
}

// graph checks edges, phases and the ends of loops.
func (c *checker) graph() {
	c.checkPhases()
	c.checkDuplicateEdges()
	c.checkConditions()
	c.checkHandles()
	c.idleHandles()
	c.checkUntils()
}

// state checks in which order nodes write and read the state and files.
func (c *checker) state() {
	for i := range c.p.Edges {
		e := &c.p.Edges[i]
		c.conditions = c.conditions || e.When != nil
		c.failEdges = c.failEdges || e.On == plan.OnFail
	}
	visits := plan.MaxVisits
	c.checkWrites(&visits)
	c.checkSkips()
	c.checkItems()
	c.checkReads(&visits)
	c.checkJoins()
	c.checkUnusedFields()
	c.checkTargets()
}

// walk checks where the edges of a walk by outcomes lead.
func (c *checker) walk() {
	if c.p.Walk.Routed {
		return
	}
	c.allConditional()
	c.goalGates()
	c.branches()
	c.gatesOfBranches()
	c.reachable()
	c.noWayOut()
}

// nodesOf returns the nodes of a vertex.
func (c *checker) nodesOf(v int32) []int32 {
	x := &c.p.Vertices[v]
	if x.Unit != nil {
		return x.Unit.Members
	}
	return []int32{x.Node}
}

// hint suggests a name while there are few findings.
func (c *checker) hint(d *source.Diagnostic, word string, names []string) {
	if len(c.ds) <= message.MaxHinted {
		d.WithHint("%s", message.Near(word, names))
	}
}

// writesValid reports whether all fields are known that nodes write.
func (c *checker) writesValid() bool {
	for n := range c.p.Nodes {
		if !c.f.WritesValid(int32(n)) {
			return false
		}
	}
	return true
}

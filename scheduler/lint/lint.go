// Package lint reports what a compiled workflow can run but was probably not meant: reads that are
// not ordered with the writes, conditions without effect, files that two nodes replace, names that
// are never used. It reads the plan and the facts from the compiler, and changes neither. It
// reports nothing about invalid parts, because the error that made them invalid has been reported.
package lint

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Check returns the findings about a workflow. It is used as plan.Options.Lint.
func Check(f *plan.Facts) source.Diagnostics {
	c := &checker{f: f, p: f.Plan(), w: f.Plan().Workflow}
	c.nodes()
	switch {
	case !c.p.Mode.Visits:
		c.graph()
		c.state()
	case c.p.Conventions.Exit:
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
	// conditions and failEdges report whether any edge has a condition, or on: fail.
	conditions, failEdges bool
	choice                []bool              // by vertex: see unclear
	chained               []bool              // by field: each writer comes before the next one
	needed                map[int32][][]int32 // see needs
}

// nodes checks the nodes one by one.
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

// state checks the order in which nodes write and read the state and files.
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
	c.checkUnusedInputs()
	c.checkTargets()
}

// walk checks where the edges lead in a graph whose runs must reach the exit.
func (c *checker) walk() {
	c.allConditional()
	c.goalGates()
	c.branches()
	c.gatesOfBranches()
	c.reachable()
	c.deadEnds()
}

// nodesOf returns the nodes of a vertex.
func (c *checker) nodesOf(v int32) []int32 {
	x := &c.p.Vertices[v]
	if x.Unit != nil {
		return x.Unit.Members
	}
	return []int32{x.Node}
}

// hint adds a suggested name while there are few findings.
func (c *checker) hint(d *source.Diagnostic, word string, names []string) {
	if len(c.ds) <= message.MaxHinted {
		d.WithHint("%s", message.Near(word, names))
	}
}

// writesValid reports whether all fields that nodes write are known.
func (c *checker) writesValid() bool {
	for n := range c.p.Nodes {
		if !c.f.WritesValid(int32(n)) {
			return false
		}
	}
	return true
}

package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkJoins reports joins that have no effect, and joins that wait for all of some predecessors
// because their node reads what these write.
func (c *checker) checkJoins() {
	for i := range c.p.Joins {
		j := &c.p.Joins[i]
		c.countJoin(j)
		if j.Race || j.Certain() || j.Need == 0 {
			continue
		}
		for _, f := range c.f.Reads(j.Vertex) {
			if names := c.branchesThatWrite(j, f); len(names) > 0 {
				d := c.joinOf(j.Vertex)
				c.ds = append(c.ds, source.Diagnostic{Code: source.CodeJoin, Severity: source.Hint, Pos: d.Pos,
					Message: fmt.Sprintf("node %s: join: it waits for %s in any case, because it reads %s", c.p.Vertices[j.Vertex].ID, strings.Join(names, ", "), c.p.Schema.Fields[f].Name),
					Hint:    "what a predecessor sends as its edge output is there at once"})
				break
			}
		}
	}
}

// countJoin reports a join that has no effect.
func (c *checker) countJoin(j *plan.Join) {
	if !c.f.Valid(j.Vertex) {
		return // there may be further predecessors
	}
	d, n := c.joinOf(j.Vertex), j.Count()
	id, word := c.p.Vertices[j.Vertex].ID, d.Word()
	if word == core.JoinQuorum && d.Fraction != nil && d.Fraction.Value > 1 {
		c.ds.Warnf(source.CodeJoin, d.Fraction.Pos, "node %s: join: a quorum of %v is more than all, so %s never runs", id, d.Fraction.Value, id).
			WithHint("a share is a number from 0 to 1, such as 0.5")
		return
	}
	switch {
	case n == 0:
		c.ds.Warnf(source.CodeJoin, d.Pos, "node %s: join: %s has no predecessors to join", id, id).WithHint("leave the join out, or add edges to %s", id)
	case j.Need > n:
		c.ds.Warnf(source.CodeJoin, d.Pos, "node %s: join: takes %d predecessors and has %d, so %s never runs", id, j.Need, n, id)
	case j.Need == 0:
		c.ds.Warnf(source.CodeJoin, d.Pos, "node %s: join: takes no predecessor, so %s runs at once, however they end", id, id).
			WithHint("join: all_done waits for them all")
	}
}

// branchesThatWrite returns the ids of the first few predecessors of a join that may write a field.
func (c *checker) branchesThatWrite(j *plan.Join, field int32) []string {
	var names []string
	for a := j.From; a < j.To && len(names) < maxWriters; a++ {
		v := &c.p.Vertices[c.p.JoinBranches[a].Source]
		if slices.ContainsFunc(v.Writes, func(s plan.Slot) bool { return s.Field == field }) {
			names = append(names, v.ID)
		}
	}
	return names
}

// joinOf returns the join of a vertex that takes some of its predecessors.
func (c *checker) joinOf(v int32) *core.Join {
	for _, n := range c.nodesOf(v) {
		switch j := c.w.Nodes[n].Join; j.Word() {
		case core.JoinAny, core.JoinKOfN, core.JoinQuorum:
			return j
		}
	}
	return nil
}

// maxWriters limits the number of writers that a finding names.
const maxWriters = 10

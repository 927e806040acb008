package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// Join is the join of a vertex that does not need all of its predecessors. It takes predecessors
// from which an edge holds. The join is decided before the vertex.
type Join struct {
	Vertex int32
	// Need is the number of predecessors that it takes: the first ones in canonical order or, in a
	// race, in time.
	Need int
	Race bool
	// Policy is the policy in the document.
	Policy string
	// From and To are the range of its branches in JoinBranches.
	From, To int32
	// Losers are, in a race, the vertices from which all paths lead into the join, in canonical
	// order. Those in flight when the race is decided are cancelled.
	Losers []int32
}

// JoinBranch is a branch of a join: one predecessor with its edges. The branches of a join are in
// canonical order.
type JoinBranch struct {
	Join   int32
	Source int32
	// Edges are the edges from the predecessor to the join, in declared order.
	Edges []int32
	// Pending is the number of things that must be resolved before the edges can be evaluated.
	Pending int32
}

// Count returns the number of predecessors.
func (j *Join) Count() int { return int(j.To - j.From) }

// Certain reports whether the vertex comes after all of its predecessors.
func (j *Join) Certain() bool { return j.Need >= j.Count() }

// BranchGate returns the gate of a branch of a join.
func (p *Plan) BranchGate(branch int32) int32 {
	return int32(len(p.Vertices)+len(p.ElseGroups)) + branch
}

// EdgeGate returns the gate that opens when the condition of an edge can be evaluated.
func (p *Plan) EdgeGate(e int32) int32 {
	if edge := &p.Edges[e]; edge.JoinBranch == 0 {
		return edge.To
	}
	return p.BranchGate(p.Edges[e].JoinBranch - 1)
}

// joinWords are the join policies of a dag.
var joinWords = []string{core.JoinAll, core.JoinAllDone, core.JoinAny, core.JoinKOfN, core.JoinQuorum}

// join checks the join of a node, as far as that does not depend on the number of predecessors.
func (c *compiler) join(d *core.Node, at place) {
	j := d.Join
	if j == nil {
		return
	}
	switch word := j.Word(); {
	case !slices.Contains(joinWords, word) && word != "":
		c.ds.Errorf(source.CodeBadValue, j.Pos, "%s: join: unknown word %q", at, word).WithHint("%s", message.Near(word, joinWords))
	case j.Race && !takesSome(j):
		pos := j.Pos
		if word == "" {
			pos = d.ID.Pos
		}
		c.ds.Errorf(source.CodeBadValue, pos, "%s: race: needs a join that does not wait for all predecessors", at).
			WithHint("write join: any, or {k_of_n: 2}, or {quorum: 0.5} next to it")
	case word == core.JoinKOfN && j.Count == nil:
		c.ds.Errorf(source.CodeMissingKey, j.Pos, "%s: join: k_of_n needs a number", at).WithHint("write {k_of_n: 2}")
	case word == core.JoinKOfN && j.Count.Value < 0:
		c.ds.Errorf(source.CodeBadValue, j.Count.Pos, "%s: join.k_of_n: want a whole number of at least 0, got %d", at, j.Count.Value)
	case word == core.JoinQuorum && (j.Fraction == nil || math.IsNaN(j.Fraction.Value)):
		c.ds.Errorf(source.CodeMissingKey, j.Pos, "%s: join: quorum needs a number", at).WithHint("write {quorum: 0.5}")
	}
}

// takesSome reports whether a join takes some of the predecessors.
func takesSome(j *core.Join) bool {
	switch j.Word() {
	case core.JoinAny, core.JoinKOfN, core.JoinQuorum:
		return true
	}
	return false
}

// joinOf returns the join of a declared vertex that takes some of its predecessors, nil if it takes
// all. The join of a unit is the join of its members.
func (c *compiler) joinOf(decl int32) *core.Join {
	for _, n := range c.nodesOf(decl) {
		if j := c.w.Nodes[n].Join; takesSome(j) {
			return j
		}
	}
	return nil
}

// nodesOf returns the nodes of a declared vertex.
func (c *compiler) nodesOf(decl int32) []int32 {
	if d := &c.decl[decl]; d.unit == nil {
		return []int32{d.node}
	}
	return c.decl[decl].unit.Members
}

// memberJoins reports members of a unit with different joins.
func (c *compiler) memberJoins(decl int32) {
	var first *core.Node
	for _, n := range c.nodesOf(decl) {
		d := c.w.Nodes[n]
		switch {
		case d.Join.Word() == "":
		case first == nil:
			first = d
		case (takesSome(first.Join) || takesSome(d.Join)) && !sameJoin(first.Join, d.Join):
			message.PointTo(c.ds.Errorf(source.CodeBadValue, d.Join.Pos, "node %s: join: %s runs as one, and node %s wants another join", d.ID.Value, c.decl[decl].id, first.ID.Value),
				"that is", first.Join.Pos)
		}
	}
}

func sameJoin(a, b *core.Join) bool {
	return a.Word() == b.Word() && a.Race == b.Race && numberOf(a.Count) == numberOf(b.Count) && fractionOf(a) == fractionOf(b)
}

func numberOf(n *source.Int) int {
	if n == nil {
		return 0
	}
	return n.Value
}

func fractionOf(j *core.Join) float64 {
	if j.Fraction == nil {
		return 0
	}
	return j.Fraction.Value
}

// need returns how many of n predecessors a join takes.
func need(j *core.Join, n int) int {
	switch j.Word() {
	case core.JoinKOfN:
		return max(0, numberOf(j.Count))
	case core.JoinQuorum:
		return share(fractionOf(j), n)
	}
	return 1
}

// roundingSlack is the amount by which a product of a share may exceed a whole number and still be
// rounded down to it, because products of floating-point numbers are not exact.
const roundingSlack = 1e-9

// share returns a fraction of n, rounded up.
func share(f float64, n int) int {
	k := math.Ceil(f*float64(n) - roundingSlack)
	switch {
	case !(k > 0):
		return 0
	case k > float64(n):
		return n + 1 // more than there are
	}
	return int(k)
}

// joinText formats a join that has a number.
func joinText(j *core.Join) string {
	switch {
	case j.Count != nil && j.Word() == core.JoinKOfN:
		return fmt.Sprintf("%s(%d)", core.JoinKOfN, j.Count.Value)
	case j.Fraction != nil && j.Word() == core.JoinQuorum:
		return fmt.Sprintf("%s(%v)", core.JoinQuorum, j.Fraction.Value)
	}
	return j.Word()
}

// joins finds the vertices that take some of their predecessors.
func (c *compiler) joins() {
	for i := range c.decl {
		d := int32(i)
		if j := c.joinOf(d); j != nil {
			c.memberJoins(d)
			c.p.Vertices[c.at[i]].Join = int32(len(c.p.Joins))
			c.p.Joins = append(c.p.Joins, Join{Vertex: c.at[i], Race: j.Race, Policy: j.Word()})
		}
	}
}

// joinBranches lists the branches of the joins.
func (c *compiler) joinBranches() {
	p := c.p
	if len(p.Joins) == 0 {
		return
	}
	edges := make([][]int32, len(p.Joins))
	for i := range p.Edges {
		if j := p.Vertices[p.Edges[i].To].Join; j >= 0 {
			edges[j] = append(edges[j], int32(i))
		}
	}
	for j := range p.Joins {
		list := edges[j]
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(p.Edges[a].From, p.Edges[b].From) })
		join := &p.Joins[j]
		join.From = int32(len(p.JoinBranches))
		for len(list) > 0 {
			n := 1
			for n < len(list) && p.Edges[list[n]].From == p.Edges[list[0]].From {
				n++
			}
			p.JoinBranches = append(p.JoinBranches, JoinBranch{Join: int32(j), Source: p.Edges[list[0]].From, Edges: list[:n:n], Pending: int32(n)})
			for _, e := range list[:n] {
				p.Edges[e].JoinBranch = int32(len(p.JoinBranches))
			}
			list = list[n:]
		}
		join.To = int32(len(p.JoinBranches))
		join.Need = need(c.joinOf(c.declAt[join.Vertex]), join.Count())
	}
}

// losers finds, for each race, the vertices from which all paths lead into it. A reference through
// $nodes counts as a path; a field that a vertex writes and another reads does not.
func (c *compiler) losers() {
	p := c.p
	for j := range p.Joins {
		join := &p.Joins[j]
		if !join.Race {
			continue
		}
		leads := map[int32]bool{join.Vertex: true}
		before := map[int32]bool{}
		for a := join.From; a < join.To; a++ {
			before[p.JoinBranches[a].Source] = true
		}
		for v := join.Vertex - 1; v >= 0; v-- {
			if !before[v] {
				continue
			}
			for _, e := range p.InEdges(v) {
				before[p.Edges[e].From] = true
			}
			if leads[v] = !slices.ContainsFunc(p.OutGates(v), func(g int32) bool { return !p.leadsInto(g, leads) }); leads[v] {
				join.Losers = append(join.Losers, v)
				c.mayLose(&p.Vertices[v])
			}
		}
		slices.Reverse(join.Losers)
		p.Races = p.Races || len(join.Losers) > 0
	}
}

// leadsInto reports whether all vertices that a gate leads to are in the set. The order of the
// units without edges does not count.
func (p *Plan) leadsInto(gate int32, set map[int32]bool) bool {
	return !slices.ContainsFunc(p.Behind(gate), func(v int32) bool { return !set[v] && !p.Vertices[v].Last })
}

func (c *compiler) mayLose(v *Vertex) {
	if v.Unit == nil {
		n := &c.p.Nodes[v.Node]
		n.Cancellable = true
		if n.Puller != nil {
			n.Puller.Cancellable = true
		}
		return
	}
	for _, m := range v.Unit.Members {
		c.p.Nodes[m].Cancellable = true
	}
	if v.Unit.Puller != nil {
		v.Unit.Puller.Cancellable = true
	}
}

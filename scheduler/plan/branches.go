package plan

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// branches checks parallel nodes and finds where their branches meet.
func (c *compiler) branches() {
	w := c.p.Walk
	m := meeting{plan: c.p, seen: make([]sighting, len(c.p.Nodes))}
	m.out, m.start = group(len(c.p.Nodes), len(c.p.Edges), func(i int) int32 { return c.p.Edges[i].FromNode }, func(i int) int32 { return c.p.Edges[i].ToNode })
	for i := range w.Nodes {
		p := w.Nodes[i].Parallel
		if p == nil {
			continue
		}
		d, at := c.w.Nodes[i], nodePlace(c.p.Nodes[i].ID)
		c.parallel(p, d, at)
		if len(p.Branches) == 0 {
			continue
		}
		p.Meet = m.of(int32(i), p)
		for _, b := range p.Branches {
			c.p.Nodes[b].Cancellable = true
		}
	}
	s := nestedSearch{c: c, state: make([]searchState, len(w.Nodes))}
	for i := range w.Nodes {
		s.from(int32(i))
	}
}

// parallel compiles the join of the branches of a parallel node.
func (c *compiler) parallel(p *Parallel, d *core.Node, at place) {
	p.Meet, p.MaxParallel = -1, core.DefaultMaxParallel
	if d.Parallel != nil {
		if m := d.Parallel.MaxParallel; m != nil {
			p.MaxParallel = max(1, m.Value)
		}
		switch word := d.Parallel.ErrorPolicy; word.Value {
		case "", "continue":
		case "fail_fast":
			p.FailFast = true
		case "ignore":
			p.Ignore = true
		default:
			c.ds.Errorf(source.CodeBadValue, word.Pos, "%s: error_policy: unknown word %q", at, word.Value).
				WithHint("%s", message.Near(word.Value, []string{"continue", "fail_fast", "ignore"}))
		}
	}
	n := len(p.Branches)
	switch word := d.Join.Word(); word {
	case "", core.JoinWaitAll:
		p.WaitAll, p.Join = true, core.JoinWaitAll
	case core.JoinFirstSuccess:
		p.Need, p.Join = 1, word
	case core.JoinKOfN:
		p.Need, p.Join = c.atLeast(d.Join, n, at), joinText(d.Join)
	case core.JoinQuorum:
		p.Need, p.Join = c.quorum(d.Join, n, at), joinText(d.Join)
	default:
		c.ds.Errorf(source.CodeBadValue, d.Join.Policy.Pos, "%s: join_policy: unknown word %q", at, word).
			WithHint("%s", message.Near(word, []string{core.JoinWaitAll, core.JoinFirstSuccess, core.JoinKOfN, core.JoinQuorum}))
	}
}

// atLeast returns the k of k_of_n for n branches.
func (c *compiler) atLeast(j *core.Join, n int, at place) int {
	if j.Count == nil {
		c.ds.Errorf(source.CodeMissingKey, j.Pos, "%s: k_of_n: needs a number", at).WithHint("such as k_of_n(2)")
		return 0
	}
	if j.Count.Value > n {
		c.ds.Warnf(source.CodeJoin, j.Count.Pos, "%s: k_of_n(%d) can never be reached with %d", at, j.Count.Value, n)
	}
	return max(0, j.Count.Value)
}

// quorum returns the number of branches that a share of n branches is.
func (c *compiler) quorum(j *core.Join, n int, at place) int {
	if j.Fraction == nil {
		c.ds.Errorf(source.CodeMissingKey, j.Pos, "%s: quorum: needs a number", at).WithHint("such as quorum(0.5)")
		return 0
	}
	if f := j.Fraction.Value; f < 0 || f > 1 || math.IsNaN(f) {
		c.ds.Warnf(source.CodeJoin, j.Fraction.Pos, "%s: quorum(%v): want a share from 0 to 1", at, f)
	}
	return share(j.Fraction.Value, n)
}

// meeting finds the nodes where branches meet.
type meeting struct {
	plan       *Plan
	out, start []int32 // targets of the edges that leave each node
	seen       []sighting
}

// sighting counts how many of the first branches of a parallel node lead to a node.
type sighting struct {
	of       int32 // the parallel node plus 1
	branches int
}

// of returns the node that can be reached from every branch and whose id sorts first; -1 if there
// is none.
func (m *meeting) of(node int32, p *Parallel) int32 {
	first := int32(-1)
	for n, b := range p.Branches {
		for _, to := range m.out[m.start[b]:m.start[b+1]] {
			s := &m.seen[to]
			if s.of != node+1 {
				*s = sighting{of: node + 1}
			}
			if s.branches != n {
				continue
			}
			s.branches++
			if s.branches == len(p.Branches) && (first < 0 || m.plan.Nodes[to].ID < m.plan.Nodes[first].ID) {
				first = to
			}
		}
	}
	return first
}

// nestedSearch finds parallel nodes that are branches of themselves. It searches each node once,
// because a graph of n nodes may have 2^n paths from branch to branch.
type nestedSearch struct {
	c     *compiler
	state []searchState
	path  []int32
}

type searchState uint8

const (
	unsearched searchState = iota
	searching              // on the current path
	searched
)

func (s *nestedSearch) from(node int32) {
	p := s.c.p.Walk.Nodes[node].Parallel
	if p == nil || s.state[node] != unsearched {
		return
	}
	s.state[node] = searching
	s.path = append(s.path, node)
	for _, b := range p.Branches {
		if s.state[b] == searching {
			s.report(b)
			continue
		}
		s.from(b)
	}
	s.path = s.path[:len(s.path)-1]
	s.state[node] = searched
}

// report reports that the last node of the path has a branch that is itself on the path.
func (s *nestedSearch) report(node int32) {
	nodes := s.c.p.Nodes
	names := []string{nodes[node].ID}
	for i := len(s.path) - 1; s.path[i] != node; i-- {
		names = append(names, nodes[s.path[i]].ID)
	}
	names = append(names, nodes[node].ID)
	slices.Reverse(names)
	s.c.ds.Errorf(source.CodeCycle, s.c.w.Nodes[node].ID.Pos, "node %s: is a branch of itself: %s", nodes[node].ID, message.Arrows(names, maxNames))
}

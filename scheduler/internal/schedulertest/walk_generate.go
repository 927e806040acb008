package schedulertest

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// GenerateWalk returns a random valid walk graph; the same seed gives the same graph.
func GenerateWalk(seed uint64) *Graph {
	m := &walkMaker{branches: map[*Node][]*Node{}}
	m.maker = newMaker(seed, 0x77616c6b, permits{routing: true, term: m.walkTerm,
		failures: func(n *Node) []*int { return []*int{&n.Fail, &n.Error, &n.Again, &n.Skip} }})
	m.g.Walk = &WalkSettings{}
	m.stops()
	m.edges()
	m.settings()
	m.declare()
	return m.g
}

// walkMaker generates the stops, edges and settings of a walk.
type walkMaker struct {
	*maker
	// start, line and exit are in an order that most edges follow; branches are reached
	// only through their parallel node.
	start, exit *Node
	line        []*Node
	branches    map[*Node][]*Node
}

// walkFailing is the chance of each kind of failure of a stage in percent.
const walkFailing = 17

// stops generates the nodes.
func (m *walkMaker) stops() {
	m.start, m.exit = m.add(core.RoleStart), m.add(core.RoleExit)
	limit := 5 + m.rng.IntN(19)
	for len(m.g.Nodes) < limit {
		var n *Node
		switch roll := m.rng.IntN(100); {
		case roll < 25 && limit-len(m.g.Nodes) > 3:
			n = m.parallel()
		case roll < 39:
			n = m.add(core.RoleConditional)
		case roll < 48:
			n = m.human()
		default:
			n = m.node(walkFailing)
		}
		m.line = append(m.line, n)
	}
}

// parallel generates a parallel node with its branches.
func (m *walkMaker) parallel() *Node {
	n := m.add(core.RoleParallel)
	count := 1 + m.rng.IntN(5)
	n.Join = one(m.maker, core.JoinWaitAll, core.JoinFirstSuccess, core.JoinKOfN, core.JoinQuorum)
	n.Take, n.Share = 1+m.rng.IntN(count), one(m.maker, 0.25, 0.5, 0.6, 1)
	if m.chance(8) {
		n.Take, n.Share = one(m.maker, 0, count+1), 0
	}
	n.MaxParallel = one(m.maker, 0, 0, 1, 2, 3)
	n.ErrorPolicy = one(m.maker, "", "", "continue", "fail_fast", "ignore")
	for range count {
		m.branches[n] = append(m.branches[n], m.branch(n))
	}
	return n
}

// branch generates a branch, usually a stage. It generates a parallel node only if all
// branches of the outer node are waited for; otherwise the result would depend on timing.
func (m *walkMaker) branch(of *Node) *Node {
	switch roll := m.rng.IntN(100); {
	case roll < 6:
		return m.add(core.RoleConditional)
	case roll < 12:
		return m.human()
	case roll < 24 && of.Join == core.JoinWaitAll && of.ErrorPolicy != "fail_fast":
		n := m.add(core.RoleParallel)
		n.Join, n.Take, n.Share = core.JoinKOfN, 1, 0.5
		for range 2 {
			m.branches[n] = append(m.branches[n], m.node(walkFailing))
		}
		return n
	}
	return m.node(walkFailing)
}

func (m *walkMaker) human() *Node {
	n := m.add(core.RoleHuman)
	n.Label, n.Fail, n.Transient = 90, one(m.maker, 0, 25, 60), 40
	n.AutoStatus = m.chance(4)
	return n
}

func (m *walkMaker) edge(from, to *Node) *Edge {
	e := &Edge{From: from.ID, To: to.ID, Weight: one(m.maker, 0, 0, 0, 1, 5, -1)}
	m.g.Edges = append(m.g.Edges, e)
	return e
}

// after picks a stop after the i-th, usually one of the next, or the exit.
func (m *walkMaker) after(i int) *Node {
	if j := i + 1 + m.rng.IntN(2); j < len(m.line) {
		return m.line[j]
	}
	return m.exit
}

// anywhere picks a stop, before or after the i-th.
func (m *walkMaker) anywhere(i int) *Node {
	if m.chance(35) {
		return m.line[m.rng.IntN(len(m.line))]
	}
	return m.after(i)
}

// edges connects each stop with some later ones and, less often, with earlier ones.
func (m *walkMaker) edges() {
	m.edge(m.start, m.after(-1))
	for i, n := range m.line {
		if n.Role == core.RoleParallel {
			m.forkEdges(i, n)
			continue
		}
		if m.chance(95) {
			m.edge(n, m.after(i)).Label = m.label(40)
		}
		for range one(m.maker, 0, 1, 1, 2, 3) {
			to := m.anywhere(i)
			e := m.edge(n, to)
			if e.Label = m.label(60); m.chance(55) {
				e.When = m.condition()
			}
			e.Restart = m.chance(25) && to.Role != core.RoleExit && (to.Role != core.RoleConditional || m.chance(25))
		}
	}
}

func (m *walkMaker) label(percent int) string {
	if !m.chance(percent) {
		return ""
	}
	word := words[m.rng.IntN(len(words))]
	return one(m.maker, word, word, "["+word[:1]+"] "+word, word[:1]+") "+word, word[:1]+" - "+word, "["+word)
}

// forkEdges adds edges to the branches, and from every branch to the same nodes.
func (m *walkMaker) forkEdges(i int, n *Node) {
	join, other := m.after(i), m.after(i)
	both := m.chance(30)
	for _, b := range m.branches[n] {
		m.edge(n, b)
		for _, inner := range m.branches[b] {
			m.edge(b, inner)
		}
		m.rejoin(b, join)
		if both && other != join {
			m.rejoin(b, other)
		}
		if m.chance(20) {
			m.edge(b, m.anywhere(i)).When = m.condition()
		}
	}
	for range one(m.maker, 0, 0, 1, 2) {
		m.edge(n, m.anywhere(i)).When = one(m.maker, "outcome == 'fail'", m.condition())
	}
}

// rejoin adds an edge from a branch to the node where the branches meet. If the branch is a
// parallel node, the edge needs a condition; otherwise its target would be one of its
// branches.
func (m *walkMaker) rejoin(b, at *Node) {
	if e := m.edge(b, at); b.Role == core.RoleParallel {
		e.When = "outcome == 'fail'"
	}
}

// walkTerm generates a term on the stage that ran or on the context.
func (m *walkMaker) walkTerm() string {
	key := one(m.maker, "k0", "k1", "['k2.x']")
	if key[0] != '[' {
		key = "." + key
	}
	switch m.rng.IntN(9) {
	case 0, 1:
		return "outcome " + one(m.maker, "==", "!=") + " '" + one(m.maker, "success", "fail", "partial_success", "skipped", "retry") + "'"
	case 2:
		return fmt.Sprintf("$.context%s %s %d", key, one(m.maker, "==", "!=", "<", ">="), m.rng.IntN(4))
	case 3:
		return "$.context.k3 == '" + one(m.maker, "yes", "no") + "'"
	case 4:
		return "$.context.failure_class == '" + one(m.maker, "deterministic", "transient_infra", "structural") + "'"
	case 5, 6:
		return fmt.Sprintf("$.context['internal.node_visit_count'] %s %d", one(m.maker, "<", ">=", "=="), 1+m.rng.IntN(3))
	case 7:
		return one(m.maker, "preferred_label == '", "$.context.preferred_label == '") + words[m.rng.IntN(3)] + "'"
	}
	return fmt.Sprintf("$.context.try > %d", 1+m.rng.IntN(2))
}

// settings sets gates, targets and limits. Every cycle has a limit, of the graph or of each
// node.
func (m *walkMaker) settings() {
	target := func(percent int) string {
		switch {
		case !m.chance(percent):
			return ""
		case m.chance(6):
			return "nobody"
		case m.chance(6):
			return m.exit.ID
		}
		for {
			if n := one(m.maker, m.line...); n.Role != core.RoleConditional {
				return n.ID
			}
		}
	}
	if slices.IndexFunc(m.line, func(n *Node) bool { return n.Role != core.RoleConditional }) < 0 {
		target = func(int) string { return "" }
	}
	perNode := m.chance(25)
	if !perNode {
		m.g.Walk.MaxVisits = one(m.maker, 3, 3, 4, 8)
	}
	for _, n := range m.g.Nodes {
		if perNode || m.chance(6) {
			n.MaxVisits = one(m.maker, 1, 2, 3, 3, 5)
		}
	}
	for _, list := range m.branches {
		for _, b := range list {
			b.MaxVisits = 1000
		}
	}
	for _, n := range m.line {
		n.Gate = m.chance(60)
		n.RetryTarget, n.Fallback = target(60), target(15)
	}
	m.g.Walk.RetryTarget, m.g.Walk.Fallback = target(30), target(15)
	if m.chance(40) {
		m.g.Walk.MaxRetries = 1 + m.rng.IntN(3)
		for _, n := range m.g.Nodes {
			if n.Role == core.RoleStage && n.Policy == "" {
				n.Flaky = one(m.maker, 0, 30, 60)
			}
		}
	}
	if m.chance(40) {
		m.g.Walk.MaxJumps = 1 + m.rng.IntN(2)
	}
	if m.chance(70) {
		m.g.Walk.RepeatLimit = one(m.maker, 2, 2, 4, 8)
	}
}

// declare declares all nodes in a random order and names them accordingly.
func (m *walkMaker) declare() {
	ids := m.shuffle()
	ids["nobody"] = "nobody"
	for _, n := range m.g.Nodes {
		n.RetryTarget, n.Fallback = ids[n.RetryTarget], ids[n.Fallback]
		n.pause(m.g.Seed)
	}
	w := m.g.Walk
	w.RetryTarget, w.Fallback = ids[w.RetryTarget], ids[w.Fallback]
}

package schedulertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Shape configures Generate. The zero Shape generates the usual mix.
type Shape struct {
	// Elements is the maximum number of nodes and units together; 0 means 10.
	Elements int
	// NoUnits excludes pipelines and loops, NoNested nested runs.
	NoUnits, NoNested bool
	// Expire generates nested runs that time out. Only a hostile driver can simulate that.
	Expire bool
	// FailRun generates nodes that stop the run. How far such a run gets depends on timing,
	// so its result need not equal the oracle's.
	FailRun bool
	// Long lets arrays to iterate over start with 30 to 89 elements.
	Long bool
	// Race generates joins that are races. Their results depend on timing, too.
	Race bool

	depth int // depth of nesting
}

// Generate returns a random valid graph; the same seed and shape give the same graph.
func Generate(seed uint64, shape Shape) *Graph {
	if shape.Elements == 0 {
		shape.Elements = 10
	}
	may := permits{overflow: true, long: shape.Long, inputs: true, skip: true, failRun: shape.FailRun, expire: shape.Expire,
		failures: func(n *Node) []*int { return []*int{&n.Fail} }}
	if shape.depth < 2 && !shape.NoNested {
		inner := shape
		inner.Elements, inner.depth = 5, shape.depth+1
		may.nested = func(seed uint64) *Graph { return Generate(seed, inner) }
	}
	m := &dagMaker{maker: newMaker(seed, 0x7761766566, may), shape: shape}
	m.elements()
	m.edges()
	m.joins()
	m.collects()
	m.elseEdges()
	m.declare()
	m.statuses()
	m.gates()
	return m.g
}

// element is a node or unit with a position in a hidden order. All edges follow that order,
// so there is no cycle. The order of declaration is another one.
type element struct {
	nodes []*Node
	unit  *Unit
	loop  bool
	alone bool // gets no edges
}

// dagMaker generates the units, fan-outs, edges and joins of a dag.
type dagMaker struct {
	*maker
	shape Shape
	all   []*element
}

// source picks the array of a fan-out or pipeline. It rarely picks an array that grows:
// iterating over it and extending it repeatedly would grow exponentially.
func (m *dagMaker) source() string {
	if m.chance(10) {
		if grown := m.names(1, func(f Field) bool { return f.Merge == "union" }); len(grown) > 0 {
			return "$." + grown[0]
		}
	}
	return "$." + m.names(1, isList)[0]
}

func (m *dagMaker) elements() {
	for range 2 + m.rng.IntN(m.shape.Elements-1) {
		e := &element{}
		switch roll := m.rng.IntN(100); {
		case roll < 11 && !m.shape.NoUnits:
			m.pipeline(e)
		case roll < 20 && !m.shape.NoUnits:
			m.loop(e)
		default:
			n := m.node(20)
			e.nodes = []*Node{n}
			n.AllDone = m.chance(6)
			if m.chance(28) {
				m.fanOut(n)
			}
		}
		m.all = append(m.all, e)
	}
}

func (m *dagMaker) fanOut(n *Node) {
	n.Source, n.Concurrency = m.source(), m.rng.IntN(4)
	if n.Fail == 0 && m.chance(20) {
		n.Fail = 30
	}
	if n.Fail > 0 && m.chance(70) {
		n.Fail = min(n.Fail, 50)
		n.MaxFailures = m.rng.IntN(2)
	}
	name := "a0"
	if n.Sub != nil {
		name = n.Sub.Fields[0].Name // a number, like most items
	}
	if m.chance(30) {
		n.Args = append(slices.DeleteFunc(n.Args, func(a Arg) bool { return a.Name == name }), Arg{name, "$item"})
	}
	// Usually, a fan-out does not write the array that it iterates over.
	if source := strings.TrimPrefix(n.Source, "$."); m.chance(70) {
		n.Writes = slices.DeleteFunc(n.Writes, func(w string) bool { return w == source })
		n.Outputs = slices.DeleteFunc(n.Outputs, func(o Output) bool { return o.Outer == source })
	}
}

func (m *dagMaker) pipeline(e *element) {
	e.unit = &Unit{Items: m.source(), Concurrency: m.rng.IntN(4), Policy: one(m.maker, "", "", "skip")}
	for range 1 + m.rng.IntN(3) {
		e.nodes = append(e.nodes, m.member())
	}
}

func (m *dagMaker) loop(e *element) {
	e.loop = true
	e.unit = &Unit{MaxIters: 1 + m.rng.IntN(4), OnExhausted: one(m.maker, "", "", "continue", "fail"), Policy: one(m.maker, "", "", "skip")}
	for range 1 + m.rng.IntN(2) {
		e.nodes = append(e.nodes, m.member())
	}
	if m.chance(65) {
		e.unit.Until = m.condition()
	}
}

// member generates a stage or body node. Nodes in units have many executions, so each of
// these fails less often.
func (m *dagMaker) member() *Node {
	n := m.node(12)
	if n.Fail == 100 {
		n.Fail = 25
	}
	return n
}

// edges generates edges from earlier elements to later ones.
func (m *dagMaker) edges() {
	for i, to := range m.all {
		if to.alone = to.unit != nil && m.chance(20); to.alone || i == 0 {
			continue
		}
		for range one(m.maker, 0, 1, 1, 1, 2, 2, 3) {
			from := m.all[max(0, i-1-m.rng.IntN(1+m.rng.IntN(i)))]
			if from.alone {
				continue
			}
			m.edge(one(m.maker, from.nodes...), one(m.maker, to.nodes...))
		}
	}
	for _, e := range m.all {
		if e.unit != nil && !e.loop && len(e.nodes) > 1 && m.chance(20) {
			m.g.Edges = append(m.g.Edges, m.inner(e.nodes))
		}
	}
}

func (m *dagMaker) edge(from, to *Node) {
	e := &Edge{From: from.ID, To: to.ID}
	switch {
	case from.Fail > 0 && m.chance(40):
		e.On = "fail"
	case m.chance(8):
		e.On = one(m.maker, "fail", "done", "done", "success")
	}
	e.Handles = e.On == "fail" && m.chance(65)
	if m.chance(40) {
		e.When = m.condition()
	}
	m.g.Edges = append(m.g.Edges, e)
}

// joins gives elements joins that need only some of their predecessors.
func (m *dagMaker) joins() {
	for _, e := range m.all {
		before := 0
		for _, edge := range m.g.Edges {
			if slices.ContainsFunc(e.nodes, func(n *Node) bool { return n.ID == edge.To }) {
				before++
			}
		}
		if !m.chance(min(10+25*before, 60)) {
			continue
		}
		n := one(m.maker, e.nodes...)
		n.AllDone, n.Join = false, one(m.maker, core.JoinAny, core.JoinAny, core.JoinKOfN, core.JoinQuorum)
		n.Take, n.Share = m.rng.IntN(4), float64(m.rng.IntN(6))/5
		if n.Race = m.shape.Race && m.chance(70); n.Race && m.chance(80) { // a race that needs no predecessor is decided at once
			n.Take, n.Share = max(1, n.Take), max(0.2, n.Share)
		}
	}
}

// collects makes fan-outs write the results of their items as one array.
func (m *dagMaker) collects() {
	for _, e := range m.all {
		n := e.nodes[0]
		if n.Source == "" || !m.chance(40) {
			continue
		}
		var list []string
		for _, w := range n.Writes {
			if f := m.g.field(w); isList(f) || f.Type == value.ArrayType {
				list = append(list, w)
			}
		}
		if len(list) > 0 && m.chance(70) {
			n.Collect = one(m.maker, list...)
		} else if n.Sub == nil {
			n.Collect = m.collected()
			n.Writes = append(n.Writes, n.Collect)
		}
	}
}

// collected returns the field, shared by all fan-outs, that they write arrays of results
// to.
func (m *dagMaker) collected() string {
	const name = "collected"
	if !slices.ContainsFunc(m.g.Fields, func(f Field) bool { return f.Name == name }) {
		f := Field{Name: name, Merge: one(m.maker, "last_wins", "set_once", "set_once", "array_append", "union"), Default: value.Missing}
		if f.Merge == "array_append" || f.Merge == "union" {
			f.Type = value.ArrayType
		}
		m.g.Fields = append(m.g.Fields, f)
	}
	return name
}

// inner generates an edge between two stages in stage order, which has no effect.
func (m *dagMaker) inner(nodes []*Node) *Edge {
	i := m.rng.IntN(len(nodes) - 1)
	j := i + 1 + m.rng.IntN(len(nodes)-i-1)
	return &Edge{From: nodes[i].ID, To: nodes[j].ID}
}

// elseEdges turns an unconditional edge into an else edge if its source also has a
// conditional edge.
func (m *dagMaker) elseEdges() {
	for _, el := range m.all {
		if el.unit != nil {
			continue // the source of a unit's edges is one of its members
		}
		var plain, conditional []*Edge
		for _, e := range m.g.Edges {
			switch {
			case e.From != el.nodes[0].ID:
			case e.When != "":
				conditional = append(conditional, e)
			default:
				plain = append(plain, e)
			}
		}
		if len(plain) > 0 && len(conditional) > 0 && m.chance(50) {
			one(m.maker, plain...).Else = true
		}
	}
}

// declare declares all elements in a random order and names them accordingly.
func (m *dagMaker) declare() {
	m.shuffle()
	for _, i := range m.rng.Perm(len(m.all)) {
		u := m.all[i].unit
		if u == nil {
			continue
		}
		for _, n := range m.all[i].nodes {
			u.Members = append(u.Members, n.ID)
		}
		letter, list := "p", &m.g.Pipelines
		if m.all[i].loop {
			letter, list = "l", &m.g.Loops
		}
		u.ID = fmt.Sprint(letter, len(*list))
		*list = append(*list, u)
	}
}

// gates makes nodes ask a person, which must not change what a run computes. It draws from the seed
// of the graph, so that the rest of the graph does not depend on it.
func (m *dagMaker) gates() {
	for _, n := range m.g.Nodes {
		if n.Sub == nil && chance(digest(m.g.Seed, "gate", n.ID), 10) {
			n.Role = core.RoleHuman
		}
		n.pause(m.g.Seed)
	}
}

// pause makes a node wait for a person, which must not change what a run computes either.
func (n *Node) pause(seed uint64) {
	if h := digest(seed, "pause", n.ID); !n.AutoStatus && chance(h, 12) {
		n.Pause = []string{core.PauseBefore, core.PauseAfter}[h>>32%2]
	}
}

// statuses adds conditions on the status of a node at a lower level.
func (m *dagMaker) statuses() {
	w, _ := m.g.Workflow(&Recorder{})
	o := newOracle(w, nil)
	for i, e := range m.g.Edges {
		if e.When != "" || e.Else || o.of[e.From] == o.of[e.To] || !m.chance(15) {
			continue
		}
		at := o.conditionLevel(w.Edges[i], o.of[e.To])
		for _, j := range m.rng.Perm(len(m.g.Nodes)) {
			if id := m.g.Nodes[j].ID; o.of[id].level < at {
				e.When = fmt.Sprintf("$nodes.%s.status %s '%s'", id, one(m.maker, "==", "!="), one(m.maker, "success", "fail", "skipped", "partial_success"))
				break
			}
		}
	}
}

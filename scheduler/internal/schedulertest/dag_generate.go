package schedulertest

import (
	"fmt"
	"math/rand/v2"
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
	m := &maker{rng: rand.New(rand.NewPCG(seed, 0x7761766566)), shape: shape, g: &Graph{Seed: seed}}
	m.fields()
	m.elements()
	m.edges()
	m.joins()
	m.collects()
	m.elseEdges()
	m.handles()
	m.declare()
	m.statuses()
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

type maker struct {
	rng   *rand.Rand
	shape Shape
	g     *Graph
	all   []*element
	made  int // number of nodes so far, which provides their names until they are declared
}

func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// one returns a random element of a list.
func one[T any](m *maker, list ...T) T { return list[m.rng.IntN(len(list))] }

// fields declares few fields, so that nodes often share fields.
func (m *maker) fields() {
	kinds := []Field{
		{Merge: "last_wins", Type: value.IntegerType},
		{Merge: "last_wins", Type: value.AnyType},
		{Merge: "array_append", Type: value.ArrayType},
		{Merge: "set_once", Type: value.IntegerType},
		{Merge: "sum", Type: value.IntegerType},
		{Merge: "max", Type: value.IntegerType},
		{Merge: "cap", Type: value.IntegerType},
		{Merge: "union", Type: value.ArrayType},
		{Merge: "object_merge", Type: value.ObjectType},
	}
	picked := []Field{kinds[0], kinds[1], one(m, kinds[2], kinds[3])}
	for range 1 + m.rng.IntN(4) {
		picked = append(picked, one(m, kinds...))
	}
	if m.chance(40) {
		picked = append(picked, one(m, kinds[3], kinds[6])) // fields that can reject writes require commits in order
	}
	if m.chance(30) {
		picked = append(picked, Field{Merge: "sum", Type: value.IntegerType, Large: true})
	}
	for i, f := range picked {
		f.Name, f.Default = fmt.Sprint("f", i), value.Missing
		start := f.start(m.rng.Uint64())
		switch {
		case isList(f) && m.shape.Long:
			f.Default = numbers(m.rng.Uint64(), 30+m.rng.IntN(60))
		case f.Merge == "set_once" && m.chance(80): // an initial value would reject every write
		case m.chance(f.startChance()):
			f.Default = start
		case m.chance(f.startChance()):
			m.g.Inputs = append(m.g.Inputs, Input{f.Name, start})
		}
		m.g.Fields = append(m.g.Fields, f)
	}
}

// startChance returns the chance of an initial value in percent. It is high for arrays to
// iterate over, because otherwise too many fan-outs would have no items, and for sums that
// should overflow.
func (f Field) startChance() int {
	if isList(f) || f.Large {
		return 50
	}
	return 15
}

// start returns an initial value, preferably an array to iterate over.
func (f Field) start(h uint64) any {
	switch {
	case f.Type == value.AnyType:
		return numbers(h, int(h%6))
	case f.Merge == "set_once":
		return int64(h % 1000)
	}
	return f.value(h)
}

// names returns up to n names of fields that fit.
func (m *maker) names(n int, fit func(Field) bool) []string {
	var list []string
	for _, i := range m.rng.Perm(len(m.g.Fields)) {
		if f := m.g.Fields[i]; len(list) < n && fit(f) {
			list = append(list, f.Name)
		}
	}
	return list
}

func anyField(Field) bool { return true }

func isList(f Field) bool { return f.Merge == "last_wins" && f.Type == value.AnyType }

func isNumber(f Field) bool { return f.Type == value.IntegerType }

// source picks the array of a fan-out or pipeline. It rarely picks an array that grows:
// iterating over it and extending it repeatedly would grow exponentially.
func (m *maker) source() string {
	if m.chance(10) {
		if grown := m.names(1, func(f Field) bool { return f.Merge == "union" }); len(grown) > 0 {
			return "$." + grown[0]
		}
	}
	return "$." + m.names(1, isList)[0]
}

func (m *maker) elements() {
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

// node generates a node. It prefers writers of arrays, which fan-outs need.
func (m *maker) node(failing int) *Node {
	m.made++
	n := &Node{ID: fmt.Sprint("made", m.made), MaxFailures: -1, Reads: m.names(m.rng.IntN(4), anyField), Writes: m.names(m.rng.IntN(3), anyField), Send: 50, Silent: 15}
	if m.chance(40) {
		n.Writes = append(n.Writes, m.names(1, func(f Field) bool { return isList(f) && !slices.Contains(n.Writes, f.Name) })...)
	}
	for i := range one(m, 0, 0, 0, 1, 2) {
		n.Args = append(n.Args, Arg{fmt.Sprint("a", i), "$." + m.names(1, anyField)[0]})
	}
	if m.chance(10) {
		n.Priority = m.rng.IntN(5) - 2
	}
	if m.shape.depth < 2 && !m.shape.NoNested && m.chance(8) {
		m.nested(n)
		return n
	}
	if m.chance(failing) {
		n.Fail = one(m, 10, 40, 100)
	}
	if m.chance(15) {
		n.Partial = 30
	}
	m.policy(n)
	m.retryOptions(n)
	return n
}

// retryOptions sets the options of a node that can change the status of its attempts.
func (m *maker) retryOptions(n *Node) {
	n.AllowPartial = m.chance(25)
	n.AutoStatus = m.chance(8)
	n.OnlyTransient = n.Policy == "retry" && m.chance(25)
}

// nested makes the node a nested run of a smaller graph. It is retried only if it expires
// before anything inside it begins: otherwise the executions of two attempts could not be
// distinguished.
func (m *maker) nested(n *Node) {
	shape := m.shape
	shape.Elements, shape.depth = 5, shape.depth+1
	n.Sub = Generate(m.rng.Uint64(), shape)
	n.Timeout = n.Sub.Seed%2 == 0
	n.Sub.Concurrency = m.rng.IntN(3)
	n.Send, n.Silent, n.Args, n.Writes = 0, 0, nil, nil
	if m.chance(20) {
		n.Policy = "skip"
	}
	n.AutoStatus = m.chance(15)
	if m.shape.Expire && m.chance(60) {
		m.expires(n)
	}
	if m.chance(8) { // an array is not a number: the nested run rejects its input
		n.Args = append(n.Args, Arg{n.Sub.Fields[0].Name, "$." + m.names(1, isList)[0]})
	}
	for _, inner := range n.Sub.Fields {
		same := m.names(1, func(f Field) bool {
			return f.Type == inner.Type && f.Type != value.AnyType || isList(f) && isList(inner)
		})
		if len(same) > 0 && m.chance(40) && !n.gives(inner.Name) {
			n.Args = append(n.Args, Arg{inner.Name, "$." + same[0]})
		}
		// A number may be null, which not every strategy accepts.
		if len(same) > 0 && m.g.field(same[0]).takesNull() && !slices.Contains(n.Writes, same[0]) && m.chance(50) {
			n.Writes = append(n.Writes, same[0])
			n.Outputs = append(n.Outputs, Output{same[0], inner.Name})
		}
	}
}

// expires makes the first attempts of a nested run time out, all of them or all but the
// last. An additional node without predecessors keeps the nested run from ending at once.
func (m *maker) expires(n *Node) {
	n.Expires = 1 + m.rng.IntN(3)
	n.Policy, n.Attempts, n.Then = "retry", n.Expires+m.rng.IntN(2), one(m, "", "", "skip")
	n.Sub.Nodes = append(n.Sub.Nodes, &Node{ID: "first", MaxFailures: -1})
}

func (f Field) takesNull() bool {
	return f.Type != value.IntegerType || f.Merge == "last_wins" || f.Merge == "set_once"
}

// gives reports whether a nested run gets an input for a field.
func (n *Node) gives(field string) bool {
	return slices.ContainsFunc(n.Args, func(a Arg) bool { return a.Name == field })
}

func (m *maker) policy(n *Node) {
	switch roll := m.rng.IntN(100); {
	case roll < 10:
		n.Policy = "skip"
	case roll < 40:
		n.Policy, n.Attempts, n.Flaky = "retry", 1+m.rng.IntN(4), 60
		n.Then = one(m, "", "", "skip")
	case roll < 50 && m.shape.FailRun:
		n.Policy = "fail_run"
	}
}

func (m *maker) fanOut(n *Node) {
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

func (m *maker) pipeline(e *element) {
	e.unit = &Unit{ID: "p", Items: m.source(), Concurrency: m.rng.IntN(4), Policy: one(m, "", "", "skip")}
	for range 1 + m.rng.IntN(3) {
		e.nodes = append(e.nodes, m.member())
	}
}

func (m *maker) loop(e *element) {
	e.loop = true
	e.unit = &Unit{ID: "l", MaxIters: 1 + m.rng.IntN(4), OnExhausted: one(m, "", "", "continue", "fail"), Policy: one(m, "", "", "skip")}
	for range 1 + m.rng.IntN(2) {
		e.nodes = append(e.nodes, m.member())
	}
	if m.chance(65) {
		e.unit.Until = m.condition()
	}
}

// member generates a stage or body node. Nodes in units have many executions, so each of
// these fails less often.
func (m *maker) member() *Node {
	n := m.node(12)
	if n.Fail == 100 {
		n.Fail = 25
	}
	return n
}

// condition generates a condition whose value varies.
func (m *maker) condition() string { return m.combined(m.term) }

// combined generates a condition of one or two terms.
func (m *maker) combined(next func() string) string {
	term := next()
	switch m.rng.IntN(6) {
	case 0:
		return term + " && " + next()
	case 1:
		return term + " || " + next()
	case 2:
		return "!(" + term + ")"
	}
	return term
}

func (m *maker) term() string {
	list := m.names(1, func(f Field) bool { return f.Type == value.ArrayType || isList(f) })[0]
	number := m.names(1, isNumber)[0]
	switch m.rng.IntN(6) {
	case 0:
		return fmt.Sprintf("length($.%s) > %d", list, m.rng.IntN(3))
	case 1:
		return fmt.Sprintf("$.%s %% %d == 0", number, 2+m.rng.IntN(2))
	case 2:
		return fmt.Sprintf("$.%s != %d", number, m.rng.IntN(6))
	case 3:
		return fmt.Sprintf("$.%s < %d", number, one(m, 5, 300, 700))
	case 4:
		return fmt.Sprintf("$.%s >= %d", number, one(m, 0, 3, 500))
	default:
		return "$." + number
	}
}

// edges generates edges from earlier elements to later ones.
func (m *maker) edges() {
	for i, to := range m.all {
		if to.alone = to.unit != nil && m.chance(20); to.alone || i == 0 {
			continue
		}
		for range one(m, 0, 1, 1, 1, 2, 2, 3) {
			from := m.all[max(0, i-1-m.rng.IntN(1+m.rng.IntN(i)))]
			if from.alone {
				continue
			}
			m.edge(one(m, from.nodes...), one(m, to.nodes...))
		}
	}
	for _, e := range m.all {
		if e.unit != nil && !e.loop && len(e.nodes) > 1 && m.chance(20) {
			m.g.Edges = append(m.g.Edges, m.inner(e.nodes))
		}
	}
}

func (m *maker) edge(from, to *Node) {
	e := &Edge{From: from.ID, To: to.ID}
	switch {
	case from.Fail > 0 && m.chance(40):
		e.On = "fail"
	case m.chance(8):
		e.On = one(m, "fail", "done", "done", "success")
	}
	if m.chance(40) {
		e.When = m.condition()
	}
	m.g.Edges = append(m.g.Edges, e)
}

// joins gives elements joins that need only some of their predecessors. It uses a random
// source of its own, so that the rest of a graph does not depend on it.
func (m *maker) joins() {
	rng := m.rng
	defer func() { m.rng = rng }()
	m.rng = rand.New(rand.NewPCG(m.g.Seed, 0x6a6f696e))
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
		n := one(m, e.nodes...)
		n.AllDone, n.Join = false, one(m, core.JoinAny, core.JoinAny, core.JoinKOfN, core.JoinQuorum)
		n.Take, n.Share = m.rng.IntN(4), float64(m.rng.IntN(6))/5
		if n.Race = m.shape.Race && m.chance(70); n.Race && m.chance(80) { // a race that needs no predecessor is decided at once
			n.Take, n.Share = max(1, n.Take), max(0.2, n.Share)
		}
	}
}

// handles makes most edges with `on: fail` handle the failure. It uses a random source of
// its own, so that the rest of a graph does not depend on it.
func (m *maker) handles() {
	rng := m.rng
	defer func() { m.rng = rng }()
	m.rng = rand.New(rand.NewPCG(m.g.Seed, 0x68616e64))
	for _, e := range m.g.Edges {
		e.Handles = e.On == "fail" && m.chance(65)
	}
}

// collects makes fan-outs write the results of their items as one array. It uses a random
// source of its own, like joins.
func (m *maker) collects() {
	rng := m.rng
	defer func() { m.rng = rng }()
	m.rng = rand.New(rand.NewPCG(m.g.Seed, 0x636f6c6c))
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
			n.Collect = one(m, list...)
		} else if n.Sub == nil {
			n.Collect = m.collected()
			n.Writes = append(n.Writes, n.Collect)
		}
	}
}

// collected returns the field, shared by all fan-outs, that they write arrays of results
// to.
func (m *maker) collected() string {
	const name = "collected"
	if !slices.ContainsFunc(m.g.Fields, func(f Field) bool { return f.Name == name }) {
		f := Field{Name: name, Merge: one(m, "last_wins", "set_once", "set_once", "array_append", "union"), Default: value.Missing}
		if f.Merge == "array_append" || f.Merge == "union" {
			f.Type = value.ArrayType
		}
		m.g.Fields = append(m.g.Fields, f)
	}
	return name
}

// inner generates an edge between two stages in stage order, which has no effect.
func (m *maker) inner(nodes []*Node) *Edge {
	i := m.rng.IntN(len(nodes) - 1)
	j := i + 1 + m.rng.IntN(len(nodes)-i-1)
	return &Edge{From: nodes[i].ID, To: nodes[j].ID}
}

// elseEdges turns an unconditional edge into an else edge if its source also has a
// conditional edge.
func (m *maker) elseEdges() {
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
			one(m, plain...).Else = true
		}
	}
}

// declare declares all elements in a random order and names them accordingly.
func (m *maker) declare() {
	var nodes []*Node
	for _, i := range m.rng.Perm(len(m.all)) {
		e := m.all[i]
		nodes = append(nodes, e.nodes...)
		switch {
		case e.unit == nil:
		case e.loop:
			e.unit.ID = fmt.Sprint("l", len(m.g.Loops))
			m.g.Loops = append(m.g.Loops, e.unit)
		default:
			e.unit.ID = fmt.Sprint("p", len(m.g.Pipelines))
			m.g.Pipelines = append(m.g.Pipelines, e.unit)
		}
	}
	m.shuffle(nodes)
	for _, e := range m.all {
		for _, n := range e.nodes {
			if e.unit != nil {
				e.unit.Members = append(e.unit.Members, n.ID)
			}
		}
	}
}

// shuffle declares the nodes and edges in a random order, names the nodes accordingly, and
// returns the new names by the old ones.
func (m *maker) shuffle(nodes []*Node) map[string]string {
	m.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	ids := map[string]string{}
	for i, n := range nodes {
		ids[n.ID] = fmt.Sprint("n", i)
		n.ID = ids[n.ID]
	}
	m.g.Nodes = nodes
	for _, e := range m.g.Edges {
		e.From, e.To = ids[e.From], ids[e.To]
	}
	m.rng.Shuffle(len(m.g.Edges), func(i, j int) { m.g.Edges[i], m.g.Edges[j] = m.g.Edges[j], m.g.Edges[i] })
	return ids
}

// statuses adds conditions on the status of a node at a lower level.
func (m *maker) statuses() {
	w, _ := m.g.Workflow(&Recorder{})
	o := newOracle(w, nil)
	for i, e := range m.g.Edges {
		if e.When != "" || e.Else || o.of[e.From] == o.of[e.To] || !m.chance(15) {
			continue
		}
		at := o.conditionLevel(w.Edges[i], o.of[e.To])
		for _, j := range m.rng.Perm(len(m.g.Nodes)) {
			if id := m.g.Nodes[j].ID; o.of[id].level < at {
				e.When = fmt.Sprintf("$nodes.%s.status %s '%s'", id, one(m, "==", "!="), one(m, "success", "fail", "skipped", "partial_success"))
				break
			}
		}
	}
}

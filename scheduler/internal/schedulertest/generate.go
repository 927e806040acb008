package schedulertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// permits lists what a mode permits in its fields, nodes and conditions in addition to what
// every mode permits. These are generated here for all modes; a mode generates its edges and
// its routing itself.
type permits struct {
	overflow bool // sums that overflow
	long     bool // arrays to iterate over start with 30 to 89 elements
	inputs   bool // arguments, edge outputs and priorities
	routing  bool // answers that select an edge
	skip     bool // nodes that are skipped after a failure
	failRun  bool // nodes that stop the run
	expire   bool // nested runs that time out
	// failures returns the chances of a node that are kinds of failures.
	failures func(*Node) []*int
	// nested generates a nested run, term a term of a condition that does not test a field. They
	// are nil if the mode has no such thing.
	nested func(seed uint64) *Graph
	term   func() string
}

// maker generates a graph of any mode.
type maker struct {
	rng *rand.Rand
	may permits
	g   *Graph
}

// newMaker returns a maker that has generated the fields. The random numbers follow from the
// seed and the stream, which is the mode's own.
func newMaker(seed, stream uint64, may permits) *maker {
	m := &maker{rng: rand.New(rand.NewPCG(seed, stream)), may: may, g: &Graph{Seed: seed}}
	m.fields()
	return m
}

func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// one returns a random element of a list.
func one[T any](m *maker, list ...T) T { return list[m.rng.IntN(len(list))] }

// fields declares few fields, so that nodes often share fields. There is at least one number
// and one array to iterate over.
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
	if m.may.overflow && m.chance(30) {
		picked = append(picked, Field{Merge: "sum", Type: value.IntegerType, Large: true})
	}
	for i, f := range picked {
		f.Name, f.Default = fmt.Sprint("f", i), value.Missing
		start := f.start(m.rng.Uint64())
		switch {
		case isList(f) && m.may.long:
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

// add adds a node that has nothing but a role.
func (m *maker) add(role core.Role) *Node {
	n := &Node{ID: fmt.Sprint("made", len(m.g.Nodes)), Role: role, MaxFailures: -1}
	m.g.Nodes = append(m.g.Nodes, n)
	return n
}

// node adds a node with a random behaviour; failing is the chance of each kind of failure in
// percent. It prefers writers of arrays, which fan-outs need.
func (m *maker) node(failing int) *Node {
	n := m.add(core.RoleStage)
	n.Reads, n.Writes, n.Silent = m.names(m.rng.IntN(4), anyField), m.names(m.rng.IntN(3), anyField), 15
	if m.chance(40) {
		n.Writes = append(n.Writes, m.names(1, func(f Field) bool { return isList(f) && !slices.Contains(n.Writes, f.Name) })...)
	}
	if m.may.inputs {
		n.Send = 50
		for i := range one(m, 0, 0, 0, 1, 2) {
			n.Args = append(n.Args, Arg{fmt.Sprint("a", i), "$." + m.names(1, anyField)[0]})
		}
		if m.chance(10) {
			n.Priority = m.rng.IntN(5) - 2
		}
	}
	if m.may.nested != nil && m.chance(8) {
		m.nested(n)
		return n
	}
	if m.may.routing {
		n.Label, n.Suggest, n.Transient = one(m, 0, 30, 80), one(m, 0, 0, 50), one(m, 0, 30, 80)
	}
	for _, percent := range m.may.failures(n) {
		if m.chance(failing) {
			*percent = one(m, 10, 40, 100)
		}
	}
	if m.chance(15) {
		n.Partial = 30
	}
	m.policy(n)
	n.AllowPartial, n.AutoStatus = m.chance(25), m.chance(8)
	return n
}

// policy sets what happens after a failure.
func (m *maker) policy(n *Node) {
	switch roll := m.rng.IntN(100); {
	case roll < 10 && m.may.skip:
		n.Policy = "skip"
	case roll < 40:
		n.Policy, n.Flaky, n.OnlyTransient = "retry", 60, m.chance(25)
		if m.chance(25) {
			n.Preset, n.Waits = one(m, "none", "standard", "aggressive", "linear", "patient"), m.chance(50)
		} else {
			n.Attempts = 1 + m.rng.IntN(4)
		}
		if m.may.skip {
			n.Then = one(m, "", "", "skip")
		}
	case roll < 50 && m.may.failRun:
		n.Policy = "fail_run"
	}
}

// nested makes the node a nested run. It is retried only if it expires before anything inside
// it begins: otherwise the executions of two attempts could not be distinguished.
func (m *maker) nested(n *Node) {
	n.Sub = m.may.nested(m.rng.Uint64())
	n.Timeout = n.Sub.Seed%2 == 0
	n.Sub.Concurrency = m.rng.IntN(3)
	n.Send, n.Silent, n.Args, n.Writes = 0, 0, nil, nil
	if m.chance(20) {
		n.Policy = "skip"
	}
	n.AutoStatus = m.chance(15)
	if m.may.expire && m.chance(60) {
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

// condition generates a condition of one or two terms whose value varies.
func (m *maker) condition() string {
	term := m.term()
	switch m.rng.IntN(6) {
	case 0:
		return term + " && " + m.term()
	case 1:
		return term + " || " + m.term()
	case 2:
		return "!(" + term + ")"
	}
	return term
}

func (m *maker) term() string {
	if m.may.term != nil && m.chance(85) {
		return m.may.term()
	}
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

// shuffle declares the nodes and edges in a random order, names the nodes accordingly, and
// returns the new names by the old ones.
func (m *maker) shuffle() map[string]string {
	nodes, edges, ids := m.g.Nodes, m.g.Edges, map[string]string{}
	m.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for i, n := range nodes {
		ids[n.ID] = fmt.Sprint("n", i)
		n.ID = ids[n.ID]
	}
	for _, e := range edges {
		e.From, e.To = ids[e.From], ids[e.To]
	}
	m.rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return ids
}

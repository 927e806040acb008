package plan

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// routedWorkflow builds a walk whose edges a model picks from lines such as "a -> b when it is so,
// max 2". Positions are those in the string.
func routedWorkflow(nodes, entry, edges string) *core.Workflow {
	w := &core.Workflow{Mode: core.ModeWalk, Walk: &core.Walk{
		Router: source.Text{Value: core.RouterModel}, Entry: source.At(entry, source.Position{Line: 1, Column: 1})}}
	for i, id := range strings.Fields(nodes) {
		pos := source.Position{Line: 2, Column: int32(i + 1)}
		w.Nodes = append(w.Nodes, &core.Node{ID: source.At(id, pos), Handler: core.HandlerFunc(nothing), Pos: pos})
	}
	bound := regexp.MustCompile(`,? max (\d+)$`)
	for i, line := range strings.Split(strings.TrimSpace(edges), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		pos := source.Position{Line: int32(i + 3), Column: 1}
		e := &core.Edge{Pos: pos}
		if m := bound.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			e.MaxIterations = &source.Int{Value: n, Pos: pos}
			line = strings.TrimSuffix(line, m[0])
		}
		ends, when, conditional := strings.Cut(line, " when")
		if conditional {
			t := source.At(strings.TrimPrefix(when, " "), pos)
			e.When = &t
		}
		from, to, _ := strings.Cut(ends, " -> ")
		e.From, e.To = source.At(from, pos), source.At(to, pos)
		w.Edges = append(w.Edges, e)
	}
	return w
}

func routedFindings(w *core.Workflow) source.Diagnostics {
	c := newCompiler(w, registry(), Options{Lint: lint}, &common{})
	c.p.nodeIndex = map[string]int32{}
	c.p.Nodes = make([]Node, len(w.Nodes))
	c.sections()
	for i, n := range w.Nodes {
		c.nodeID(int32(i), n)
		c.p.Nodes[i].ID = n.ID.Value
	}
	c.checkRouted()
	return c.ds
}

// short formats findings as "line CODE message".
func short(ds source.Diagnostics) []string {
	out := []string{}
	for _, d := range ds.Sorted() {
		out = append(out, fmt.Sprintf("%d %s %s", d.Pos.Line, d.Code, d.Message))
	}
	return out
}

func TestRouted(t *testing.T) {
	const unbounded, unreached = "UNBOUNDED_CYCLE the ring ", ": no way leads to it from the entry a"
	tests := []struct {
		name         string
		nodes, entry string
		edges        string
		want         []string
	}{
		{"one node", "a", "a", "", nil},
		{"a line", "a b c", "a", "a -> b\nb -> c", nil},
		{"diamond", "a b c d", "a", "a -> b when x\na -> c when y\nb -> d\nc -> d", nil},

		// Rules 8 and 14: several edges between the same two nodes.
		{"twins with bounds", "t f", "t", "t -> f when x, max 1\nt -> f when y, max 3\nf -> t", nil},
		{"one twin without a bound keeps the ring", "a b", "a", "a -> b\nb -> a when x, max 2\nb -> a when y",
			[]string{"3 " + unbounded + "a -> b -> a has no bound"}},

		// Rules 9 and 16: an edge from a node to itself.
		{"bounded self-loop", "tick", "tick", "tick -> tick max 3", nil},
		{"self-loop", "a", "a", "a -> a when again", []string{"3 SELF_LOOP edge a -> a: leads from a node to itself and has no bound"}},
		{"self-loop is not a ring as well", "a b", "a", "a -> b\nb -> b when x\nb -> a when y, max 1",
			[]string{"4 SELF_LOOP edge b -> b: leads from a node to itself and has no bound"}},

		// Rule 10: the limit is on the way back.
		{"bound on the way back", "draft judge refine publish", "draft",
			"draft -> judge\njudge -> refine when poor\nrefine -> judge max 2\njudge -> publish when good",
			[]string{"5 DEAD_END node refine: when the edges back are used up the run ends here, in the middle of the ring"}},
		{"bound on the way back, and a way out", "judge refine publish", "judge",
			"judge -> refine when poor\nrefine -> judge when better, max 2\nrefine -> publish\njudge -> publish when good", nil},

		// Rule 11: every node may have outgoing edges.
		{"ring without a leaf", "a b", "a", "a -> b max 2\nb -> a max 2", nil},

		// Rule 12: any edge of the cycle may have the limit.
		{"bound on the first edge", "a b c", "a", "a -> b max 1\nb -> c\nc -> a", nil},
		{"bound on an edge with a condition", "a b c", "a", "a -> b when x, max 1\nb -> c\nc -> a", nil},

		// Rule 13: conditions are not limits.
		{"ring of conditions", "a b", "a", "a -> b when x\nb -> a when y", []string{"3 " + unbounded + "a -> b -> a has no bound"}},

		// Rule 15: cycles from every node, one report for each group; nodes that lead out of a
		// cycle are not a cycle.
		{"ring behind a bounded edge", "a b c", "a", "a -> b when x, max 1\nb -> c\nc -> b when y",
			[]string{"4 " + unbounded + "b -> c -> b has no bound"}},
		{"ring that is not reached", "a b c", "a", "b -> c\nc -> b", []string{
			"2 UNREACHABLE_NODE node b" + unreached, "2 UNREACHABLE_NODE node c" + unreached, "3 " + unbounded + "b -> c -> b has no bound"}},
		{"two rings in one group", "a b c d", "a", "a -> b\nb -> a when x\nb -> c when y\nc -> b when z\nc -> d when z",
			[]string{"3 " + unbounded + "a -> b -> a has no bound"}},
		{"two groups", "a b c d", "a", "a -> b\nb -> a when x\nb -> c when y\nc -> d\nd -> c when z",
			[]string{"3 " + unbounded + "a -> b -> a has no bound", "6 " + unbounded + "c -> d -> c has no bound"}},
		{"a ring through a diamond", "a b c d", "a", "a -> b when x\na -> c when y\nb -> d\nc -> d\nd -> a",
			[]string{"3 " + unbounded + "a -> b -> d -> a has no bound"}},

		// Rule 17: reachability.
		{"second node without in-edges", "a b c", "a", "a -> b\nc -> b", []string{"2 UNREACHABLE_NODE node c" + unreached}},
		{"reached by conditions and bounds alone", "a b c", "a", "a -> b when never, max 1\nb -> c when never", nil},

		// Rule 18: all findings of a phase are reported together, and each fault once.
		{"references, self-loop and ambiguity at once", "a b", "nobody", "a -> c\nd -> b\na -> a\na -> b", []string{
			`1 MISSING_ENTRY entry: there is no node "nobody"`,
			`3 UNKNOWN_EDGE_TARGET edge a -> c: to: there is no node "c"`,
			`4 UNKNOWN_EDGE_SOURCE edge d -> b: from: there is no node "d"`,
			"5 AMBIGUOUS_EDGES node a: 3 edges out of it have no condition, to c, a, b, and only one can be followed",
			"5 SELF_LOOP edge a -> a: leads from a node to itself and has no bound"}},
		{"wrong at both ends", "a", "a", "x -> y", []string{
			`3 UNKNOWN_EDGE_SOURCE edge x -> y: from: there is no node "x"`,
			`3 UNKNOWN_EDGE_TARGET edge x -> y: to: there is no node "y"`}},
		{"a misspelt target does not make its node unreachable", "gather report", "gather", "gather -> repotr",
			[]string{`3 UNKNOWN_EDGE_TARGET edge gather -> repotr: to: there is no node "repotr"`}},
		{"ring and reachability together", "a b c", "a", "a -> b\nb -> a when x", []string{
			"2 UNREACHABLE_NODE node c" + unreached, "3 " + unbounded + "a -> b -> a has no bound"}},

		{"bounded edges count as unconditional ones", "a b c", "a", "a -> b max 1\na -> c",
			[]string{"4 AMBIGUOUS_EDGES node a: 2 edges out of it have no condition, to b, c, and only one can be followed"}},
		{"one edge without a condition is the fallback", "a b c", "a", "a -> b when x\na -> c", nil},
		{"a blank condition is none", "a b c", "a", "a -> b when   \na -> c",
			[]string{"4 AMBIGUOUS_EDGES node a: 2 edges out of it have no condition, to b, c, and only one can be followed"}},
		{"dashes in names", "check-env 2nd", "check-env", "check-env -> 2nd", nil},
		{"other characters in names", "a x.y", "a", "a -> x.y",
			[]string{`2 BAD_ID node "x.y": a name is letters, digits, underscore and dash`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := short(routedFindings(routedWorkflow(tt.nodes, tt.entry, tt.edges))); !slices.Equal(got, tt.want) {
				t.Errorf("%s\ngot:  %q\nwant: %q", tt.edges, got, tt.want)
			}
		})
	}
}

// TestRoutedLost checks that no finding follows from a part that could not be read.
func TestRoutedLost(t *testing.T) {
	w := routedWorkflow("a b", "a", "a -> b")
	w.Edges[0].Lost, w.Edges[0].To.Value = source.Lost{"to"}, ""
	if got := short(routedFindings(w)); len(got) > 0 {
		t.Errorf("an end that was not read: got %q", got)
	}
	w = routedWorkflow("a b", "", "a -> b")
	w.Lost = source.Lost{"entry"}
	if got := short(routedFindings(w)); len(got) > 0 {
		t.Errorf("an entry that was not read: got %q", got)
	}
	w = routedWorkflow("a b", "a", "a -> b\nb -> a")
	w.Edges[1].Lost = source.Lost{"max_iterations"}
	if got := short(routedFindings(w)); len(got) > 0 {
		t.Errorf("a bound that was not read: got %q", got)
	}
}

// TestRoutedOracle compares cycles and reachability in random graphs with the definition: a node is
// on a cycle if it can reach itself along edges without a limit.
func TestRoutedOracle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 8))
	ringed, unreached := 0, 0
	for range 2000 {
		n := 1 + rnd.IntN(6)
		var nodes []string
		for i := range n {
			nodes = append(nodes, fmt.Sprintf("n%d", i))
		}
		w := routedWorkflow(strings.Join(nodes, " "), "n0", "")
		free, any := newReach(n), newReach(n)
		for range rnd.IntN(9) {
			from, to := rnd.IntN(n), rnd.IntN(n)
			e := &core.Edge{From: source.Text{Value: nodes[from]}, To: source.Text{Value: nodes[to]}, When: &source.Text{Value: "x"}}
			if rnd.IntN(3) == 0 || from == to {
				e.MaxIterations = &source.Int{Value: 1}
			} else {
				free.add(from, to)
			}
			any.add(from, to)
			w.Edges = append(w.Edges, e)
		}
		free.close()
		any.close()
		wantRings, wantUnreached := 0, 0
		for i := range n {
			first := true // of its group
			for j := range i {
				first = first && !(free[i][j] && free[j][i])
			}
			if free[i][i] && first {
				wantRings++
			}
			if i > 0 && !any[0][i] {
				wantUnreached++
			}
		}
		ds := routedFindings(w)
		rings, lost := 0, 0
		for _, d := range ds {
			switch d.Code {
			case source.CodeUnboundedCycle:
				rings++
			case source.CodeUnreachableNode:
				lost++
			}
		}
		if rings != wantRings || lost != wantUnreached {
			t.Fatalf("%v\nwant %d rings and %d nodes that are not reached", ds, wantRings, wantUnreached)
		}
		ringed, unreached = ringed+min(rings, 1), unreached+min(lost, 1)
	}
	if ringed < 300 || unreached < 300 {
		t.Errorf("of 2000 graphs %d had rings and %d nodes that are not reached: too few to prove anything", ringed, unreached)
	}
}

type reach [][]bool

func newReach(n int) reach {
	r := make(reach, n)
	for i := range r {
		r[i] = make([]bool, n)
	}
	return r
}

func (r reach) add(from, to int) { r[from][to] = true }

func (r reach) close() {
	for k := range r {
		for i := range r {
			for j := range r {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
}

// TestRoutedLong checks that long walks need neither too much stack nor too much time.
func TestRoutedLong(t *testing.T) {
	const n = 50_000
	w := &core.Workflow{Mode: core.ModeWalk, Walk: &core.Walk{Router: source.Text{Value: core.RouterModel}, Entry: source.Text{Value: "n0"}}}
	for i := range n {
		id := source.Text{Value: fmt.Sprintf("n%d", i)}
		w.Nodes = append(w.Nodes, &core.Node{ID: id})
		w.Edges = append(w.Edges, &core.Edge{From: id, To: source.Text{Value: fmt.Sprintf("n%d", (i+1)%n)}})
	}
	got := routedFindings(w)
	if len(got) != 1 || got[0].Code != source.CodeUnboundedCycle {
		t.Errorf("got %d findings, want one ring", len(got))
	}
}

// TestAddedRouter compiles walks that name routers that the engine does not have.
func TestAddedRouter(t *testing.T) {
	compile := func(name string, routers ...*Router) (*Plan, source.Diagnostics) {
		w := routedWorkflow("a b", "", "a -> b")
		w.Walk.Router = source.Text{Value: name}
		return Compile(w, registry(), Options{Routers: routers})
	}
	added := func(name string) *Router {
		return &Router{Name: name, Conventions: core.Conventions{Skips: true}, Compile: func(b *Build) {
			b.WalkEdges()
			b.Plan().Walk.Start = 1
		}}
	}
	turns, best := added("turns"), added("best")
	p, ds := compile("turns", best, turns)
	if p == nil {
		t.Fatal(ds)
	}
	if w := p.Walk; w.Router != turns || w.Start != 1 || w.Exit != -1 || len(w.Nodes[0].Out) != 1 || p.Conventions != (core.Conventions{Context: true, Skips: true}) {
		t.Errorf("compiled to %+v, conventions %+v", w, p.Conventions)
	}
	if d := p.Describe().Routing; d.Start != "b" || d.Exit != "" || d.Router != "" {
		t.Errorf("described as %+v", d)
	}
	other, _ := compile("best", best, turns)
	again, _ := compile("turns", turns)
	if p.Fingerprint() == other.Fingerprint() || p.Fingerprint() != again.Fingerprint() {
		t.Error("the fingerprint does not depend on the name of the router alone")
	}
	if p, ds := compile("trns", best, turns); p != nil || !strings.Contains(fmt.Sprint(ds[0].Hint), "turns") {
		t.Errorf("got %v", ds)
	}
}

// TestRouterWord: a misspelt router once made the walk a walk by outcomes, and none of the findings
// was about the router.
func TestRouterWord(t *testing.T) {
	for word, want := range map[string]string{
		core.RouterModel:    "",
		core.RouterOutcomes: "start_node",
		"":                  "start_node",
		"modle":             `1:1 BAD_VALUE router: unknown word "modle" (did you mean "model"?)`,
	} {
		w := routedWorkflow("a b", "a", "a -> b")
		w.Walk.Router = source.At(word, source.Position{Line: 1, Column: 1})
		_, ds := Compile(w, registry(), Options{Lint: lint})
		var got []string
		for _, d := range ds {
			got = append(got, fmt.Sprintf("%s %s %s (%s)", d.Pos, d.Code, d.Message, d.Hint))
		}
		if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("router %q: got %s, want %s", word, all, want)
		}
	}
}

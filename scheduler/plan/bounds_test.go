package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
)

func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, nodes, edges, visits, calls string }{
		{"no edge", "a", "", "a1", "0"},
		{"plain edges need no model", "a b c", "a -> b\nb -> c", "a1 b1 c1", "0"},
		{"a lone condition costs a call", "a b", "a -> b when so", "a1? b1", "1"},
		{"ways that meet are one visit", "a b c d e", "a -> b when x\na -> c\nb -> d\nc -> d\nd -> e when y", "a1? b1 c1 d1? e1", "2"},
		{"a bound on the way back", "draft judge refine publish",
			"draft -> judge\njudge -> refine when poor\njudge -> publish when good\nrefine -> judge, max 2", "draft1 judge3? refine3 publish1", "3"},
		{"what is used up is not asked about", "judge refine publish drop", "judge -> refine when poor, max 2\njudge -> publish\nrefine -> judge\npublish -> drop when bad", "judge3? refine2 publish1? drop1", "3"},
		{"who follows a twin of the fallback does not come back", "judge refine publish",
			"judge -> refine when poor, max 2\njudge -> publish when sure, max 3\njudge -> publish\nrefine -> refine when again, max 50\nrefine -> judge", "judge53? refine52? publish1", "55"},
		{"a way back from the fallback is asked about again", "judge refine publish", "judge -> refine when poor, max 2\njudge -> publish\nrefine -> judge\npublish -> judge when bad, max 4", "judge7? refine2 publish7?", "14"},
		{"a loop of a node to itself", "tick", "tick -> tick, max 3", "tick4", "0"},
		{"a ring all of whose edges are bounded", "a b", "a -> b, max 2\nb -> a, max 2", "a3 b2", "0"},
		{"a bound is no more than what its source allows", "a b c", "a -> b when x, max 9\na -> c when y, max 9\nb -> c, max 9", "a1? b1 c1", "1"},
		{"bounds out of one node share its visits", "a b c d", "a -> b when x, max 5\na -> c when y, max 5\nb -> d\nc -> d", "a1? b1 c1 d1", "1"},
		{"twins count together, and one without a bound frees them", "t f", "t -> f, max 1\nt -> f when x, max 3\nf -> t when y, max 9", "t4? f3?", "7"},
		{"the cap on visits", "a", "a -> a when x, max 1000", "a200?", "200"},
		{"huge bounds do not overflow", "a b", "a -> b when x, max 9223372036854775807\nb -> a, max 9223372036854775807\nb -> b when y, max 9223372036854775807",
			"a200? b200?", "200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := routedWorkflow(c.nodes, strings.Fields(c.nodes)[0], c.edges)
			p, ds := Compile(w, registry(), Options{Lint: lint})
			if p == nil {
				t.Fatal(ds)
			}
			b := p.Bounds()
			var got []string
			for i := range p.Nodes {
				text := fmt.Sprint(p.Nodes[i].ID, b.Visits[i])
				if b.Decisions[i] > 0 {
					text += "?"
				}
				got = append(got, text)
			}
			if g := strings.Join(got, " "); g != c.visits || fmt.Sprint(b.Calls) != c.calls {
				t.Errorf("visits %s and %d calls, want %s and %s", g, b.Calls, c.visits, c.calls)
			}
		})
	}
}

// TestBoundsHold walks random graphs at random and never exceeds the bounds. In small graphs, the
// bounds of most nodes are exact.
func TestBoundsHold(t *testing.T) {
	exact, all := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := randomRouted(r)
		p, ds := Compile(w, registry(), Options{Lint: lint})
		if p == nil {
			t.Fatalf("seed %d: %v", seed, ds)
		}
		b := p.Bounds()
		seen := make([]int, len(p.Nodes))
		for range 300 {
			visits, decisions := walkAtRandom(p, r)
			total := 0
			for i := range visits {
				seen[i] = max(seen[i], visits[i])
				total += decisions[i]
				if visits[i] > b.Visits[i] || decisions[i] > b.Decisions[i] {
					t.Fatalf("seed %d: %s visited %d times with %d decisions, bounds %d and %d", seed, p.Nodes[i].ID, visits[i], decisions[i], b.Visits[i], b.Decisions[i])
				}
			}
			if total > b.Calls {
				t.Fatalf("seed %d: %d calls, at most %d", seed, total, b.Calls)
			}
		}
		for i := range seen {
			all++
			if seen[i] == b.Visits[i] {
				exact++
			}
		}
	}
	if exact*100 < all*90 {
		t.Errorf("the bounds of %d of %d nodes are what was seen: they are too far off", exact, all)
	}
}

// randomRouted returns a graph that compiles: edges forward, with and without limits and
// conditions, and edges back, which all have limits.
func randomRouted(r *rand.Rand) *core.Workflow {
	n := 2 + r.IntN(5)
	var nodes, edges []string
	plain := map[int]bool{}
	edge := func(from, to int, bounded bool) {
		text := fmt.Sprintf("n%d -> n%d", from, to)
		if plain[from] || r.IntN(2) == 0 {
			text += fmt.Sprintf(" when c%d", len(edges))
		} else {
			plain[from] = true
		}
		if bounded {
			text += fmt.Sprintf(", max %d", 1+r.IntN(3))
		}
		edges = append(edges, text)
	}
	for i := range n {
		nodes = append(nodes, fmt.Sprintf("n%d", i))
		if i > 0 {
			edge(r.IntN(i), i, r.IntN(6) == 0)
		}
	}
	for range r.IntN(4) {
		from, to := r.IntN(n), r.IntN(n)
		edge(from, to, to <= from || r.IntN(4) == 0)
	}
	return routedWorkflow(strings.Join(nodes, " "), "n0", strings.Join(edges, "\n"))
}

// walkAtRandom follows random edges that have not reached their limits, and counts visits and
// decisions.
func walkAtRandom(p *Plan, r *rand.Rand) (visits, decisions []int) {
	w := p.Walk
	visits, decisions = make([]int, len(p.Nodes)), make([]int, len(p.Nodes))
	followed := make([]int, w.Pairs)
	for at := w.Start; ; {
		visits[at]++
		var open []int32
		for _, e := range w.Nodes[at].Out {
			if x := &w.Edges[e]; x.MaxFollows == 0 || followed[x.Pair] < x.MaxFollows {
				open = append(open, e)
			}
		}
		if len(open) == 0 {
			return visits, decisions
		}
		if len(open) > 1 || w.Edges[open[0]].Condition != "" {
			decisions[at]++
		}
		e := open[r.IntN(len(open))]
		followed[w.Edges[e].Pair]++
		at = p.Edges[e].ToNode
	}
}

package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// TestGapsEqualSearch compares the answers, which follow 256 writers at a time, with a search
// backwards from each gate, in many small graphs and in a few with more writers than fit into one
// block.
func TestGapsEqualSearch(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		compareGaps(t, randomGraph(t, rnd, 1+rnd.IntN(60), 1+rnd.IntN(3)), rnd.IntN(6))
	}
	for seed := range uint64(4) {
		compareGaps(t, randomGraph(t, rand.New(rand.NewPCG(seed, 2)), 600, 2), 2)
	}
}

// randomGraph compiles a graph in which every node writes and reads a field, and judges evaluate
// some edges.
func randomGraph(t *testing.T, rnd *rand.Rand, nodes, fields int) *Plan {
	w := &core.Workflow{}
	for f := range fields {
		w.Fields = append(w.Fields, core.FieldDecl{Name: fieldName(f), Default: value.Missing})
	}
	for i := range nodes {
		n := &core.Node{ID: text(fmt.Sprint("n", i)), Handler: core.HandlerFunc(nothing), Writes: []source.Text{fieldName(i * 7 % fields)}, Reads: []source.Text{fieldName(i % fields)}}
		w.Nodes = append(w.Nodes, n)
		if i == 0 {
			continue
		}
		for range rnd.IntN(3) {
			e := &core.Edge{From: w.Nodes[max(0, i-1-rnd.IntN(min(i, 40)))].ID, To: n.ID}
			switch rnd.IntN(6) {
			case 0:
				when := text("$.f0 == 1")
				e.When = &when
			case 1:
				when := text("$.f0 == 1")
				w.Edges = append(w.Edges, &core.Edge{From: e.From, To: n.ID, When: &when})
				e.Else = true
			}
			w.Edges = append(w.Edges, e)
		}
	}
	p, ds := Compile(w, nil, Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func text(s string) source.Text { return source.Text{Value: s} }

func compareGaps(t *testing.T, p *Plan, limit int) {
	checkPending(t, p)
	var questions []Question
	for f := range p.Schema.Fields {
		for slot, v := range p.WriterVertex[f] {
			questions = append(questions, Question{Gate: v, Field: int32(f), Last: int32(slot)}, Question{Gate: v, Field: int32(f), First: int32(slot / 2), Last: int32(slot)})
		}
		for j := range p.ElseGroups {
			questions = append(questions, Question{Gate: int32(len(p.Vertices) + j), Field: int32(f), Last: p.Threshold(int32(f), p.ElseGroups[j].Level)})
		}
	}
	gaps, left := p.Gaps(questions, nil, limit, MaxVisits)
	if left < 0 {
		t.Fatal("the search gave up")
	}
	for i, q := range questions {
		before := p.before(q.Gate)
		var want []int32
		for slot := q.First; slot < q.Last; slot++ {
			if !before[p.WriterVertex[q.Field][slot]] {
				want = append(want, slot)
			}
		}
		if int(gaps[i].Count) != len(want) || !slices.Equal(gaps[i].Slots, want[:min(limit, len(want))]) {
			t.Fatalf("%+v: got %+v, want %v", q, gaps[i], want)
		}
		if i%97 != 0 || int(q.Gate) >= len(p.Vertices) {
			continue
		}
		for v := range min(q.Gate, 30) { // each call visits the whole graph
			if p.Follows(q.Gate, v) != before[v] {
				t.Fatalf("%d follows %d: want %t", q.Gate, v, before[v])
			}
		}
	}
}

// before returns all vertices that come before a gate, by a search backwards.
func (p *Plan) before(gate int32) []bool {
	n := int32(len(p.Vertices))
	opened := make([][]int32, int(n)+len(p.ElseGroups))
	for v := range n {
		for _, g := range p.OutGates(v) {
			opened[g] = append(opened[g], v)
		}
	}
	for j := range p.ElseGroups {
		for _, e := range p.ElseGroups[j].Edges {
			opened[p.Edges[e].To] = append(opened[p.Edges[e].To], n+int32(j))
		}
	}
	seen := make([]bool, len(opened))
	stack := []int32{gate}
	for len(stack) > 0 {
		g := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range opened[g] {
			if !seen[v] {
				seen[v] = true
				stack = append(stack, v)
			}
		}
	}
	return seen[:n]
}

// A search that runs out of visits returns what it has found and reports that.
func TestGapsGiveUp(t *testing.T) {
	w := fielded(layered(30, 30), "", func(i int) int { return i % 30 }, func(i int) []int { return nil })
	p, ds := Compile(w, nil, Options{Lint: lint})
	if p == nil {
		t.Fatal(ds)
	}
	last := int32(len(p.Vertices) - 1)
	f := p.Vertices[last].Writes[0]
	q := []Question{{Gate: last, Field: f.Field, Last: f.Slot}}
	all, left := p.Gaps(q, nil, 100, MaxVisits)
	if left < 0 || all[0].Count > f.Slot {
		t.Fatalf("%+v, %d visits left", all, left)
	}
	if some, left := p.Gaps(q, nil, 100, 10); left >= 0 || some[0].Count > all[0].Count {
		t.Errorf("with 10 visits: %+v, %d left", some, left)
	}
}

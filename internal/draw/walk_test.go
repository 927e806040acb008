package draw_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestAnyWalk checks that every node and edge of a random walk is drawn, whatever its
// cycles, and that the drawing of a run has all of its edges.
func TestAnyWalk(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := &plan.Description{Name: "any", Levels: [][]plan.VertexDescription{nil}, Mode: plan.ModeDescription{Visits: true, Start: "n0", Exit: "n1"}, Routing: &plan.WalkDescription{Start: "n0", Exit: "n1"}}
		n := 2 + r.IntN(8)
		for i := range n {
			id := fmt.Sprintf("n%d", i)
			d.Levels[0] = append(d.Levels[0], plan.VertexDescription{ID: id, Shape: "node", Nodes: []plan.NodeDescription{{ID: id, Kind: "k"}}})
			role := []core.Role{core.RoleStage, core.RoleConditional, core.RoleHuman}[r.IntN(3)]
			d.Routing.Nodes = append(d.Routing.Nodes, plan.WalkNodeDescription{ID: id, Role: role.String()})
		}
		run := &draw.Run{Taken: map[draw.EdgeKey]int{{From: "n0", To: "n1"}: 2, {From: "n1", To: "gone"}: 1}}
		for i := range r.IntN(3 * n) {
			e := plan.EdgeDescription{From: fmt.Sprintf("n%d", r.IntN(n)), To: fmt.Sprintf("n%d", r.IntN(n)), Label: fmt.Sprintf("e%d", i)}
			d.Edges = append(d.Edges, e)
			run.Taken[draw.EdgeKey{From: e.From, To: e.To, Label: e.Label}] = i
		}
		for _, f := range draw.Formats {
			picture := f.Draw(d, draw.Options{})
			for i := range n {
				if !strings.Contains(picture, fmt.Sprintf("n%d", i)) {
					t.Errorf("seed %d, %s: node n%d is not drawn", seed, f.Name, i)
				}
			}
			for i := range d.Edges {
				if !strings.Contains(picture, d.Edges[i].Label) {
					t.Errorf("seed %d, %s: edge %d is not drawn", seed, f.Name, i)
				}
			}
		}
		if plain, ran := strings.Count(draw.SVG(d, draw.Options{}), `class="edge`), strings.Count(draw.SVG(d, draw.Options{Run: run}), `class="edge`); plain != len(d.Edges) || ran < plain {
			t.Errorf("seed %d: %d edges are drawn and %d of a run, want %d", seed, plain, ran, len(d.Edges))
		}
	}
}

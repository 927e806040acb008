package draw

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// addedColor is the colour of what a run has added to its graph.
const addedColor = "#8a4fd3"

// addedText says in words what addedColor says.
const addedText = "added by the run"

// addedFrom returns a line of text for each edge that a run has added to a node.
func (r *Run) addedFrom(id string) (lines []string) {
	if r == nil {
		return nil
	}
	for _, e := range r.AddedEdges {
		if e[0] != id {
			continue
		}
		text := "to " + e[1] + ", " + addedText
		if n := r.taken(&plan.EdgeDescription{From: e[0], To: e[1]}); n > 0 {
			text += fmt.Sprintf(" ×%d", n)
		}
		lines = append(lines, text)
	}
	return lines
}

// withAdded returns the description of a walk by steps with the nodes and edges that a run has added.
func withAdded(d *plan.Description, r *Run) *plan.Description {
	if r == nil || d.Routing == nil || len(r.AddedNodes)+len(r.AddedEdges) == 0 {
		return d
	}
	c, routing := *d, *d.Routing
	c.Routing, c.Edges, c.Levels, routing.Nodes = &routing, slices.Clone(d.Edges), slices.Clone(d.Levels), slices.Clone(d.Routing.Nodes)
	for _, id := range r.AddedNodes {
		routing.Nodes = append(routing.Nodes, plan.WalkNodeDescription{ID: id, Role: core.RoleStage.String()})
		c.Levels = append(c.Levels, []plan.VertexDescription{{ID: id, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: id, Kind: id}}}})
	}
	for _, e := range r.AddedEdges {
		c.Edges = append(c.Edges, plan.EdgeDescription{From: e[0], To: e[1]})
	}
	return &c
}

// added reports whether a run has added an edge.
func (r *Run) added(e *plan.EdgeDescription) bool {
	return r != nil && e.When == "" && e.Label == "" && slices.Contains(r.AddedEdges, [2]string{e.From, e.To})
}

// addedNode reports whether a run has added a node.
func (r *Run) addedNode(id string) bool { return r != nil && slices.Contains(r.AddedNodes, id) }

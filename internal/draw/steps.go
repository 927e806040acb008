package draw

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Labels of the edges that withSteps adds.
const (
	transitionLabel = "transition"
	defaultLabel    = "default"
	nextLabel       = "next" // the configuration of the node lets its result name the node
)

// withSteps returns the description of a walk by steps with edges for the transitions and
// defaults of its nodes, and with the end of the walk as a node if anything leads there.
func withSteps(d *plan.Description) *plan.Description {
	if d.Routing == nil || d.Routing.Router != core.RouterSteps {
		return d
	}
	c := *d
	c.Edges = slices.Clone(d.Edges)
	for _, n := range d.Routing.Nodes {
		if n.Steps == nil {
			continue
		}
		for _, t := range n.Steps.Transitions {
			c.Edges = append(c.Edges, plan.EdgeDescription{From: n.ID, To: t.To, Label: transitionLabel, When: "output." + t.Key})
		}
		for _, to := range n.Steps.Next {
			if !slices.ContainsFunc(c.Edges, func(e plan.EdgeDescription) bool { return e.From == n.ID && e.To == to }) {
				c.Edges = append(c.Edges, plan.EdgeDescription{From: n.ID, To: to, Label: nextLabel})
			}
		}
		if n.Steps.Default != "" {
			c.Edges = append(c.Edges, plan.EdgeDescription{From: n.ID, To: n.Steps.Default, Label: defaultLabel})
		}
	}
	if slices.ContainsFunc(c.Edges, func(e plan.EdgeDescription) bool { return e.To == core.EndNode }) {
		end := plan.VertexDescription{ID: core.EndNode, Shape: plan.Plain.String(), Nodes: []plan.NodeDescription{{ID: core.EndNode}}}
		c.Levels = append(slices.Clone(d.Levels), []plan.VertexDescription{end})
		routing := *d.Routing
		routing.Nodes = append(slices.Clone(routing.Nodes), plan.WalkNodeDescription{ID: core.EndNode, Role: core.RoleExit.String()})
		c.Routing, c.Mode.Exit = &routing, core.EndNode
	}
	return &c
}

// stepsText describes the settings of a node in a walk by steps, except the nodes to
// which it leads.
func stepsText(s *plan.StepDescription) []string {
	var parts []string
	if s.Critical {
		parts = append(parts, "critical")
	}
	if s.Budget != core.DefaultNodeBudget {
		parts = append(parts, "at most "+plural(s.Budget, "visit"))
	}
	if s.Before || s.After {
		parts = append(parts, "hooks")
	}
	return parts
}

// leaving describes where a walk by steps continues after a node, in the order in which it
// is tried.
func leaving(d *plan.Description, s *plan.StepDescription, run *Run) []string {
	var lines []string
	for _, i := range s.Edges {
		e := &d.Edges[i]
		text := "to " + e.To
		if label := edgeLabel(e); label != "" {
			text += ", " + label
		}
		if n := run.taken(e); n > 0 {
			text += fmt.Sprintf(" ×%d", n)
		}
		lines = append(lines, text)
	}
	for _, t := range s.Transitions {
		lines = append(lines, "to "+t.To+", "+transitionLabel+": output."+t.Key)
	}
	if s.Default != "" {
		lines = append(lines, "to "+s.Default+", "+defaultLabel)
	}
	if s.Exit != "" {
		lines = append(lines, "to "+s.Exit+" after "+plural(s.Budget, "visit"))
	}
	return lines
}

// priorityText describes the priority of an edge, "" if it is 0.
func priorityText(e *plan.EdgeDescription) string {
	if e.Priority == 0 {
		return ""
	}
	return "(priority " + strconv.Itoa(e.Priority) + ")"
}

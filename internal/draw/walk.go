package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// drawable returns the description that pictures show: see withSteps. In modes that visit nodes, each node
// is below all nodes that lead to it, except by back edges, and there are additional edges
// from the exit to the nodes to which goal gates send the walk.
func drawable(d *plan.Description, r *Run) *plan.Description {
	if !d.Mode.Visits {
		return d
	}
	d = withSteps(withAdded(d, r))
	c := *d
	c.Levels, c.Edges = layers(&c), slices.Clone(d.Edges)
	for _, n := range d.Visited() {
		at := slices.IndexFunc(n.Targets, func(id string) bool { return id != d.Mode.Exit })
		if !n.GoalGate || at < 0 {
			continue
		}
		known := slices.IndexFunc(c.Edges, func(e plan.EdgeDescription) bool {
			return isGateEdge(&e) && e.From == d.Mode.Exit && e.To == n.Targets[at]
		})
		if known >= 0 {
			c.Edges[known].Label += ", " + n.ID
			continue
		}
		c.Edges = append(c.Edges, plan.EdgeDescription{From: d.Mode.Exit, To: n.Targets[at], Label: gateLabel + n.ID})
	}
	return &c
}

// gateLabel is the prefix of the labels of edges that drawable adds.
const gateLabel = "not satisfied: "

// isGateEdge reports whether drawable has added an edge: other edges never leave an exit.
func isGateEdge(e *plan.EdgeDescription) bool {
	return strings.HasPrefix(e.Label, gateLabel) && e.When == "" && !e.Branch && !e.Freeform
}

// layers returns the nodes of a walk by level: the length of the longest path from the
// start without back edges. The exit comes last.
func layers(d *plan.Description) [][]plan.VertexDescription {
	var vertices []plan.VertexDescription
	index := map[string]int{}
	for _, level := range d.Levels {
		for _, v := range level {
			index[v.ID] = len(vertices)
			vertices = append(vertices, v)
		}
	}
	out := make([][]int, len(vertices))
	for i := range d.Edges {
		from := index[d.Edges[i].From]
		out[from] = append(out[from], index[d.Edges[i].To])
	}
	order := descending(out)
	level := make([]int, len(vertices))
	place := make([]int, len(vertices)) // index in the order
	for i, v := range order {
		place[v] = i
	}
	deepest := 0
	for _, v := range order {
		for _, to := range out[v] {
			if place[to] > place[v] {
				level[to] = max(level[to], level[v]+1)
			}
		}
		deepest = max(deepest, level[v])
	}
	if at, ok := index[d.Mode.Exit]; ok && len(out[at]) == 0 {
		level[at] = deepest
	}
	levels := make([][]plan.VertexDescription, deepest+1)
	for v := range vertices {
		x := vertices[v]
		x.Level = level[v]
		levels[x.Level] = append(levels[x.Level], x)
	}
	return slices.DeleteFunc(levels, func(l []plan.VertexDescription) bool { return len(l) == 0 })
}

// descending orders the vertices so that edges lead to later ones, except for edges that
// close a cycle, in a depth-first search from the first vertex.
func descending(out [][]int) []int {
	var order []int
	seen := make([]bool, len(out))
	type step struct{ v, next int }
	for root := range out {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack := []step{{v: root}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(out[top.v]) {
				order = append(order, top.v)
				stack = stack[:len(stack)-1]
				continue
			}
			to := out[top.v][top.next]
			top.next++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, step{v: to})
			}
		}
	}
	slices.Reverse(order)
	return order
}

// visitedNodes returns the descriptions of the visited nodes by id. In every mode, the
// first node of a run has the role of a start, and the last one the role of an exit, even
// if the mode has no such roles.
func visitedNodes(d *plan.Description) map[string]*plan.WalkNodeDescription {
	nodes := map[string]*plan.WalkNodeDescription{}
	for _, n := range d.Visited() {
		switch n.ID {
		case d.Mode.Start:
			n.Role = core.RoleStart.String()
		case d.Mode.Exit:
			n.Role = core.RoleExit.String()
		}
		nodes[n.ID] = &n
	}
	return nodes
}

// walkText describes the properties of a node in its walk: "goal gate", "k_of_n(2)".
func walkText(n *plan.WalkNodeDescription) []string {
	var parts []string
	if n == nil {
		return nil
	}
	if n.Label != "" && !strings.EqualFold(n.Label, n.ID) {
		parts = append(parts, strconv.Quote(n.Label))
	}
	if n.GoalGate {
		parts = append(parts, "goal gate")
	}
	if n.Parallel != nil && n.Parallel.Join != core.JoinWaitAll {
		parts = append(parts, n.Parallel.Join)
	}
	if n.Steps != nil {
		parts = append(parts, stepsText(n.Steps)...)
	}
	return parts
}

// conditional reports whether an edge has a condition.
func conditional(e *plan.EdgeDescription) bool { return e.When != "" || e.Else || e.On != "" }

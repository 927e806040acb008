package draw

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2/tree"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// Text draws a tree by levels: nodes that may run at the same time form a group, and below
// each node are its predecessors. A walk is drawn by the distance from its start, and below
// each node of a walk by steps is where the walk continues. With a
// run, nodes show their statuses and edges show how often a walk took them.
func Text(d *plan.Description, o Options) string {
	edges := map[string][]*plan.EdgeDescription{}
	for i := range d.Edges {
		e := &d.Edges[i]
		edges[e.To] = append(edges[e.To], e)
	}
	t, walk, name := tree.New(), visitedNodes(d), o.title(d)
	root := fmt.Sprintf("%s: %s in %s, up to %d at the same time", name, plural(countNodes(d), "node"), plural(len(d.Levels), "level"), d.Width)
	if d.Mode.Visits {
		root = fmt.Sprintf("%s: a %s of %s", name, d.Mode.Graph, plural(countNodes(d), "node"))
	}
	for i, level := range d.Levels {
		group := branch(d.Mode.LevelName(i))
		for j := range level {
			v, about := &level[j], walk[level[j].ID]
			if about != nil && about.Steps != nil {
				group.Child(stepTree(d, v, about, o.Run))
				continue
			}
			group.Child(vertexTree(v, edges, about, o.Run))
		}
		t.Child(group)
	}
	if run := o.Run; run != nil && d.Routing != nil && len(run.AddedNodes) > 0 {
		group := branch(addedText)
		for _, id := range run.AddedNodes {
			group.Child(withLines(nodeTree(id, &plan.NodeDescription{ID: id}, nil, run), run.addedFrom(id)))
		}
		t.Child(group)
	}
	t.Root(safe(root))
	return t.String() + "\n"
}

func countNodes(d *plan.Description) (n int) {
	for _, level := range d.Levels {
		for i := range level {
			n += len(level[i].Nodes)
		}
	}
	return n
}

// branch returns a subtree with the given label. Its children must be branches or safe
// strings.
func branch(label string) *tree.Tree { return tree.Root(safe(label)) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stepTree draws a node of a walk by steps. Below it is where the walk continues.
func stepTree(d *plan.Description, v *plan.VertexDescription, about *plan.WalkNodeDescription, run *Run) *tree.Tree {
	label := nodeLabel(&v.Nodes[0])
	if about := walkText(about); len(about) > 0 {
		label += ": " + strings.Join(about, ", ")
	}
	return withLines(nodeTree(label, &v.Nodes[0], nil, run), append(leaving(d, about.Steps, run), run.addedFrom(v.ID)...))
}

// withLines adds lines below a node.
func withLines(t *tree.Tree, lines []string) *tree.Tree {
	for _, line := range lines {
		t.Child(safe(line))
	}
	return t
}

func vertexTree(v *plan.VertexDescription, edges map[string][]*plan.EdgeDescription, walk *plan.WalkNodeDescription, run *Run) *tree.Tree {
	if !isUnit(v) {
		label := mark(v) + nodeLabel(&v.Nodes[0])
		if about := walkText(walk); len(about) > 0 {
			label += ": " + strings.Join(about, ", ")
		}
		if v.Shape == plan.FanOut.String() {
			label += " " + runsText(v)
		}
		return nodeTree(label, &v.Nodes[0], edges, run)
	}
	t := branch(mark(v) + v.Shape + " " + v.ID + ": " + runsText(v))
	for i := range v.Nodes {
		t.Child(nodeTree(nodeLabel(&v.Nodes[i]), &v.Nodes[i], edges, run))
	}
	return t
}

// mark returns the symbol of a vertex: for a fan-out, a pipeline or a loop.
func mark(v *plan.VertexDescription) string {
	switch v.Shape {
	case plan.FanOut.String():
		return "⇉ "
	case plan.Pipeline.String():
		return "⇶ "
	case plan.Loop.String():
		return "↻ "
	}
	return ""
}

func nodeLabel(n *plan.NodeDescription) string {
	label := n.ID
	if n.Inner != nil {
		label = "⊞ " + label
	}
	if a := kindText(n); a != "" {
		label += " (" + a + ")"
	}
	return label
}

func nodeTree(label string, n *plan.NodeDescription, edges map[string][]*plan.EdgeDescription, run *Run) *tree.Tree {
	if run != nil {
		label += ": " + strings.ReplaceAll(run.class(n.ID), "_", " ")
		if text := run.mark(n.ID).Text; text != "" {
			label += ", " + text
		}
	}
	t := branch(label)
	for _, e := range edges[n.ID] {
		text := "after " + e.From
		switch {
		case e.Delegates:
			text = "sub-agent of " + e.From
		case e.Else:
			text += ", " + edgeLabel(e)
		case e.When != "" && e.On == "":
			text += " when " + edgeLabel(e)
		case edgeLabel(e) != "":
			text += ", " + edgeLabel(e)
		}
		if e.Implied {
			text += " (implied)"
		}
		if e.Branch {
			text += " (a branch)"
		}
		if n := run.taken(e); n > 0 {
			text += fmt.Sprintf(" ×%d", n)
		}
		t.Child(safe(text))
	}
	return t
}

package draw

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// DOT draws a graph for Graphviz. Fan-outs are stacked boxes, nested workflows are
// components, and pipelines and loops are clusters (dashed for loops); parts that depend on
// a condition are dashed. In a walk, the start and the exit are ellipses, conditional nodes
// diamonds, human gates hexagons and parallel nodes trapezia; goal gates have a thick
// outline. In a flow, edges to sub-agents are dotted and end in a circle. With a run, nodes have the
// colours of their statuses, and edges that a walk took are green and labelled with how often they
// were taken.
func DOT(d *plan.Description, o Options) string {
	d = drawable(d, o.Run)
	g := &dot{walk: visitedNodes(d), run: o.Run, placed: o.Positions}
	g.line(0, "digraph %s {", quote(d.Name))
	if o.Direction != "" {
		g.line(1, "rankdir=%s;", o.Direction)
	}
	if o.Title != "" || o.Run != nil {
		g.line(1, `label=%s; labelloc=t; fontname="sans-serif";`, quote(o.title(d)))
	}
	if o.Positions {
		g.line(1, "layout=neato; inputscale=72; splines=true;")
	}
	g.line(1, `node [shape=box, style=rounded, fontname="sans-serif"];`)
	g.line(1, `edge [fontname="sans-serif", fontsize=10];`)
	for _, level := range d.Levels {
		for i := range level {
			g.vertex(&level[i])
		}
	}
	for i := range d.Edges {
		g.edge(&d.Edges[i])
	}
	g.line(0, "}")
	return g.b.String()
}

type dot struct {
	b    strings.Builder
	walk map[string]*plan.WalkNodeDescription
	run  *Run
	// placed draws nodes where the document does.
	placed bool
}

// dotColors maps statuses to attributes of nodes.
var dotColors = map[string]string{
	core.Success.String():        `, color="#2f9e55", penwidth=2`,
	core.PartialSuccess.String(): `, color="#c98a12", penwidth=2`,
	core.Fail.String():           `, color="#d13c3c", penwidth=2`,
	core.Skipped.String():        `, color=gray, fontcolor=gray`,
	running:                      `, color="#2f78c4", penwidth=2`,
	unreached:                    `, color=gray, fontcolor=gray`,
}

func (g *dot) line(depth int, format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *dot) vertex(v *plan.VertexDescription) {
	if !isUnit(v) {
		g.node(1, &v.Nodes[0], v)
		return
	}
	g.line(1, "subgraph %s {", quote("cluster_"+v.ID))
	style := "rounded"
	if v.Shape == plan.Loop.String() {
		style = `"rounded,dashed"`
	}
	g.line(2, "label=%s; style=%s; fontname=\"sans-serif\";", quote(v.Shape+" "+v.ID, runsText(v)), style)
	for i := range v.Nodes {
		g.node(2, &v.Nodes[i], v)
	}
	for i := 1; i < len(v.Nodes); i++ {
		g.line(2, "%s -> %s [penwidth=2];", quote(v.Nodes[i-1].ID), quote(v.Nodes[i].ID))
	}
	if v.Shape == plan.Loop.String() {
		first, last := v.Nodes[0].ID, v.Nodes[len(v.Nodes)-1].ID
		g.line(2, `%s -> %s [style=dotted, constraint=false, label="again"];`, quote(last), quote(first))
	}
	g.line(1, "}")
}

func (g *dot) node(depth int, n *plan.NodeDescription, v *plan.VertexDescription) {
	label := []string{n.ID}
	if a := kindText(n); a != "" {
		label = append(label, a)
	}
	attributes := ""
	switch {
	case v.Shape == plan.FanOut.String():
		label = append(label, runsText(v))
		attributes = ", shape=box3d, style=solid"
	case n.Inner != nil:
		attributes = ", shape=component, style=solid"
	}
	if w := g.walk[n.ID]; w != nil {
		label = append(label, walkText(w)...)
		attributes += dotShapes[w.Role]
		if w.GoalGate {
			attributes += ", penwidth=3"
		}
		if g.placed && w.Place != nil {
			attributes += fmt.Sprintf(`, pos="%g,%g!"`, w.Place.X, -w.Place.Y)
		}
	}
	if text := g.run.mark(n.ID).Text; text != "" {
		label = append(label, text)
	}
	if attributes += dotColors[g.run.class(n.ID)]; g.run.addedNode(n.ID) {
		attributes += `, color="` + addedColor + `", penwidth=3`
	}
	g.line(depth, "%s [label=%s%s];", quote(n.ID), quote(label...), attributes)
}

// dotShapes maps the roles of nodes in a walk to shapes.
var dotShapes = map[string]string{
	core.RoleStart.String():       ", shape=ellipse, style=solid",
	core.RoleExit.String():        ", shape=ellipse, style=solid, peripheries=2",
	core.RoleConditional.String(): ", shape=diamond, style=solid",
	core.RoleParallel.String():    ", shape=trapezium, style=solid",
	core.RoleHuman.String():       ", shape=hexagon, style=solid",
}

func (g *dot) edge(e *plan.EdgeDescription) {
	var list []string
	switch {
	case isGateEdge(e):
		list = append(list, "style=dotted")
	case e.Delegates:
		list = append(list, "style=dotted", "arrowhead=odot")
	case conditional(e):
		list = append(list, "style=dashed")
	case e.Branch:
		list = append(list, "penwidth=2")
	}
	if g.run.added(e) {
		list = append(list, `color="`+addedColor+`"`, "penwidth=2")
	} else if g.run.taken(e) > 0 {
		list = append(list, `color="#2f9e55"`, "penwidth=2")
	}
	if label := g.run.edgeLabel(e); label != "" {
		list = append(list, "label="+quote(label))
	}
	attributes := ""
	if len(list) > 0 {
		attributes = " [" + strings.Join(list, ", ") + "]"
	}
	g.line(1, "%s -> %s%s;", quote(e.From), quote(e.To), attributes)
}

// dotEscapes escapes the characters that are special inside quotes. In labels a backslash
// begins a replacement, such as \N for the name of the node.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quote formats one or more lines as a quoted string.
func quote(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = dotEscapes.Replace(safe(line))
	}
	return `"` + strings.Join(out, `\n`) + `"`
}

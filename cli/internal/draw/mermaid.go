package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Mermaid draws a flowchart: fan-outs are hexagons, nested workflows boxes with
// double sides, pipelines and loops frames; what depends on a condition is
// dotted. Of a walk the start and the exit are round, conditional nodes rhombs, human gates
// hexagons, parallel nodes trapezia with thick edges to their branches; goal gates have a
// thick rim.
func Mermaid(d *plan.Description) string {
	d = asDrawn(d)
	m := &mermaid{walk: walkNodes(d)}
	m.line(0, "flowchart TD")
	for _, level := range d.Levels {
		for i := range level {
			m.vertex(&level[i])
		}
	}
	for i := range d.Edges {
		m.edge(&d.Edges[i])
	}
	return m.b.String()
}

type mermaid struct {
	b    strings.Builder
	walk map[string]*plan.WalkNodeDescription
}

func (m *mermaid) line(depth int, format string, args ...any) {
	m.b.WriteString(strings.Repeat("    ", depth))
	fmt.Fprintf(&m.b, format, args...)
	m.b.WriteByte('\n')
}

func (m *mermaid) vertex(v *plan.VertexDescription) {
	if !isUnit(v) {
		m.node(1, &v.Nodes[0], v)
		return
	}
	m.line(1, `subgraph %s["%s"]`, mermaidID(v.ID), mermaidText(v.Shape+" "+v.ID+": "+runs(v)))
	for i := range v.Nodes {
		m.node(2, &v.Nodes[i], v)
	}
	for i := 1; i < len(v.Nodes); i++ {
		m.line(2, "%s ==> %s", mermaidID(v.Nodes[i-1].ID), mermaidID(v.Nodes[i].ID))
	}
	if v.Shape == plan.Loop.String() {
		first, last := v.Nodes[0].ID, v.Nodes[len(v.Nodes)-1].ID
		m.line(2, `%s -. "again" .-> %s`, mermaidID(last), mermaidID(first))
	}
	m.line(1, "end")
}

func (m *mermaid) node(depth int, n *plan.NodeDescription, v *plan.VertexDescription) {
	label := mermaidText(n.ID)
	if a := about(n); a != "" {
		label += "<br/>" + mermaidText(a)
	}
	from, to := "[", "]"
	switch {
	case v.Shape == plan.FanOut.String():
		label += "<br/>" + mermaidText(runs(v))
		from, to = "{{", "}}"
	case n.Inner != nil:
		from, to = "[[", "]]"
	}
	w := m.walk[n.ID]
	if w != nil {
		for _, line := range aboutWalk(w) {
			label += "<br/>" + mermaidText(line)
		}
		if shape, ok := mermaidShapes[w.Role]; ok {
			from, to = shape[0], shape[1]
		}
	}
	m.line(depth, `%s%s"%s"%s`, mermaidID(n.ID), from, label, to)
	if w != nil && w.GoalGate {
		m.line(depth, "style %s stroke-width:4px", mermaidID(n.ID))
	}
}

// mermaidShapes are the shapes of nodes with a role in a walk.
var mermaidShapes = map[string][2]string{
	core.RoleStart.String():       {"([", "])"},
	core.RoleExit.String():        {"([", "])"},
	core.RoleConditional.String(): {"{", "}"},
	core.RoleParallel.String():    {`[/`, `\]`},
	core.RoleHuman.String():       {"{{", "}}"},
}

func (m *mermaid) edge(e *plan.EdgeDescription) {
	from, to, label := mermaidID(e.From), mermaidID(e.To), mermaidText(edgeLabel(e))
	switch {
	case conditional(e) || isGateEdge(e):
		m.line(1, `%s -. "%s" .-> %s`, from, label, to)
	case e.Branch:
		m.line(1, "%s ==> %s", from, to)
	case label != "":
		m.line(1, `%s -- "%s" --> %s`, from, label, to)
	default:
		m.line(1, "%s --> %s", from, to)
	}
}

// reserved are words that Mermaid does not take as ids. Ids of nodes have no
// hyphen, so the replacement collides with none.
var reserved = []string{"end", "graph", "flowchart", "subgraph", "style", "class", "classdef", "click", "linkstyle", "default", "direction", "call", "href"}

func mermaidID(id string) string {
	if slices.Contains(reserved, strings.ToLower(id)) {
		return "node-" + id
	}
	return id
}

// mermaidEscapes are the signs that would end a quoted label or mean something
// inside of it: HTML, Markdown (after a backtick) and entities. Directives,
// %%{init: …}%%, are looked for in the whole text of a diagram.
var mermaidEscapes = strings.NewReplacer("&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "`", "#96;", "%", "#37;")

// mermaidText writes a text for a quoted label.
func mermaidText(s string) string { return mermaidEscapes.Replace(safe(s)) }

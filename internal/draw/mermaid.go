package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Mermaid draws a flowchart. Fan-outs are hexagons, nested workflows boxes with double
// sides, and pipelines and loops frames; parts that depend on a condition are dotted. In a
// walk, the start and the exit are round, conditional nodes rhombs, human gates hexagons,
// and parallel nodes trapezia with thick edges to their branches; goal gates have a thick
// outline. With a run, nodes have the colours of their statuses, and edges that a walk took
// are thick and labelled with how often they were taken.
func Mermaid(d *plan.Description, o Options) string {
	d = drawable(d, o.Run)
	m := &mermaid{walk: visitedNodes(d), run: o.Run}
	if o.Title != "" || o.Run != nil {
		m.line(0, "---\ntitle: %s\n---", strconv.Quote(strings.ReplaceAll(safe(o.title(d)), "%%", "%")))
	}
	m.line(0, "flowchart %s", cmp.Or(o.Direction, "TD"))
	for _, level := range d.Levels {
		for i := range level {
			m.vertex(&level[i])
		}
	}
	for i := range d.Edges {
		m.edge(&d.Edges[i])
	}
	m.colors(d)
	return m.b.String()
}

type mermaid struct {
	b    strings.Builder
	walk map[string]*plan.WalkNodeDescription
	run  *Run
	// edges counts the edges written so far, because styles refer to their indexes; taken
	// lists the indexes of edges that the walk took.
	edges int
	taken []string
	added []string // indexes of edges that the run has added
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
	m.line(1, `subgraph %s["%s"]`, mermaidID(v.ID), mermaidText(v.Shape+" "+v.ID+": "+runsText(v)))
	for i := range v.Nodes {
		m.node(2, &v.Nodes[i], v)
	}
	for i := 1; i < len(v.Nodes); i++ {
		m.edges++
		m.line(2, "%s ==> %s", mermaidID(v.Nodes[i-1].ID), mermaidID(v.Nodes[i].ID))
	}
	if v.Shape == plan.Loop.String() {
		first, last := v.Nodes[0].ID, v.Nodes[len(v.Nodes)-1].ID
		m.edges++
		m.line(2, `%s -. "again" .-> %s`, mermaidID(last), mermaidID(first))
	}
	m.line(1, "end")
}

func (m *mermaid) node(depth int, n *plan.NodeDescription, v *plan.VertexDescription) {
	label := mermaidText(n.ID)
	if a := kindText(n); a != "" {
		label += "<br/>" + mermaidText(a)
	}
	from, to := "[", "]"
	switch {
	case v.Shape == plan.FanOut.String():
		label += "<br/>" + mermaidText(runsText(v))
		from, to = "{{", "}}"
	case n.Inner != nil:
		from, to = "[[", "]]"
	}
	if text := m.run.mark(n.ID).Text; text != "" {
		label += "<br/>" + mermaidText(text)
	}
	w := m.walk[n.ID]
	if w != nil {
		for _, line := range walkText(w) {
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

// mermaidShapes maps the roles of nodes in a walk to shapes.
var mermaidShapes = map[string][2]string{
	core.RoleStart.String():       {"([", "])"},
	core.RoleExit.String():        {"([", "])"},
	core.RoleConditional.String(): {"{", "}"},
	core.RoleParallel.String():    {`[/`, `\]`},
	core.RoleHuman.String():       {"{{", "}}"},
}

func (m *mermaid) edge(e *plan.EdgeDescription) {
	from, to, label := mermaidID(e.From), mermaidID(e.To), mermaidText(m.run.edgeLabel(e))
	if m.run.added(e) {
		m.added = append(m.added, strconv.Itoa(m.edges))
	} else if m.run.taken(e) > 0 {
		m.taken = append(m.taken, strconv.Itoa(m.edges))
	}
	m.edges++
	switch {
	case e.Delegates:
		m.line(1, `%s -- "%s" --o %s`, from, label, to)
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

// mermaidColors lists the styles of nodes by status, for light and dark pages alike.
var mermaidColors = []struct{ status, style string }{
	{core.Success.String(), "fill:#2f9e55,stroke:#2f9e55,color:#fff"},
	{core.PartialSuccess.String(), "fill:#c98a12,stroke:#c98a12,color:#fff"},
	{core.Fail.String(), "fill:#d13c3c,stroke:#d13c3c,color:#fff"},
	{core.Skipped.String(), "stroke-dasharray:4 3,opacity:0.7"},
	{running, "fill:#2f78c4,stroke:#2f78c4,color:#fff"},
	{unreached, "opacity:0.5"},
}

// colors writes the styles for the results of a run.
func (m *mermaid) colors(d *plan.Description) {
	if m.run == nil {
		return
	}
	for _, c := range mermaidColors {
		var ids []string
		for _, level := range d.Levels {
			for i := range level {
				for j := range level[i].Nodes {
					if id := level[i].Nodes[j].ID; m.run.class(id) == c.status {
						ids = append(ids, mermaidID(id))
					}
				}
			}
		}
		if ids != nil {
			m.line(1, "classDef %s %s", c.status, c.style)
			m.line(1, "class %s %s", strings.Join(ids, ","), c.status)
		}
	}
	for _, id := range m.run.AddedNodes {
		m.line(1, "style %s stroke:%s,stroke-width:4px", mermaidID(id), addedColor)
	}
	if m.added != nil {
		m.line(1, "linkStyle %s stroke:%s,stroke-width:3px", strings.Join(m.added, ","), addedColor)
	}
	if m.taken != nil {
		m.line(1, "linkStyle %s stroke:#2f9e55,stroke-width:3px", strings.Join(m.taken, ","))
	}
}

// reserved lists words that Mermaid does not accept as ids.
var reserved = []string{"end", "graph", "flowchart", "subgraph", "style", "class", "classdef", "click", "linkstyle", "default", "direction", "call", "href"}

// mermaidPlain matches ids that Mermaid accepts unchanged: two hyphens in a row begin an
// arrow.
var mermaidPlain = lazyregexp.New(`^[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*$`)

// mermaidID formats an id. An id that Mermaid does not accept is replaced by a unique name.
func mermaidID(id string) string {
	switch {
	case slices.Contains(reserved, strings.ToLower(id)):
		return "node-" + id
	case mermaidPlain.MatchString(id) && !strings.HasPrefix(id, "node-"):
		return id
	}
	var b strings.Builder
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "_%x_", r)
		}
	}
	return "node-_" + b.String()
}

// mermaidEscapes escapes the characters that would end a quoted label or are special inside
// it: HTML, Markdown (after a backtick) and entities. Mermaid looks for directives,
// %%{init: …}%%, in the whole source of a diagram.
var mermaidEscapes = strings.NewReplacer("&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "`", "#96;", "%", "#37;")

// mermaidText formats a string for a quoted label.
func mermaidText(s string) string { return mermaidEscapes.Replace(safe(s)) }

package draw

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/lazyregexp"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Mark is the result of a node in a run. It determines the colour of the node.
type Mark struct {
	Status string // success, partial_success, fail, skipped, running; "" if the run did not reach the node
	Text   string // a line for the box, such as "1.2s, 3 of 64 items failed"
	Why    string // tooltip of the box
}

// Run holds the results of a run, by the ids of nodes and units.
type Run struct {
	Title string
	Marks map[string]Mark
	// Evaluated holds the results of conditions, by the ends of their edges.
	Evaluated map[[2]string]bool
	// Taken counts how often a walk took each edge.
	Taken map[EdgeKey]int
	// AddedNodes and AddedEdges are what a walk by steps has added to its graph.
	AddedNodes []string
	AddedEdges [][2]string
}

// Classes of nodes in addition to their statuses.
const (
	running   = "running"
	unreached = "unreached"
)

// mark returns the result of a node; the zero Mark without a run.
func (r *Run) mark(id string) Mark {
	if r == nil {
		return Mark{}
	}
	return r.Marks[id]
}

// class returns the status of a node, running, or unreached; "" without a run.
func (r *Run) class(id string) string {
	switch m := r.mark(id); {
	case r == nil:
		return ""
	case m.Status != "":
		return m.Status
	}
	return unreached
}

// notTaken reports whether an edge of a dag was not taken: its condition was false, or it does
// not accept the status of its source. A condition that was true ends a chain of skipped
// nodes.
func (r *Run) notTaken(e *plan.EdgeDescription) bool {
	if evaluated, ok := r.Evaluated[[2]string{e.From, e.To}]; ok {
		return !evaluated
	}
	switch r.class(e.From) {
	case core.Success.String(), core.PartialSuccess.String():
		return e.On == core.Fail.String()
	case core.Fail.String():
		return e.On == ""
	case core.Skipped.String():
		return e.On != "done"
	case unreached:
		return true
	}
	return false // the source is running
}

// taken returns how often a walk took an edge, 0 without a run.
func (r *Run) taken(e *plan.EdgeDescription) int {
	switch {
	case r == nil:
		return 0
	case isGateEdge(e):
		return r.Taken[EdgeKey{From: e.From, To: e.To}]
	case e.To == core.EndNode:
		return r.Taken[EdgeKey{e.From, core.End, e.Label, e.When}]
	}
	return r.Taken[EdgeKey{e.From, e.To, e.Label, e.When}]
}

// edgeLabel returns the label of an edge. With a run, it includes how often the edge was
// taken if that was more than once.
func (r *Run) edgeLabel(e *plan.EdgeDescription) string {
	label := edgeLabel(e)
	if n := r.taken(e); n > 1 {
		label = strings.TrimSpace(fmt.Sprintf("%s ×%d", label, n))
	}
	return label
}

// EdgeKey identifies an edge of a walk; two nodes may have several edges between them. A jump
// has no label and no condition.
type EdgeKey struct{ From, To, Label, When string }

// SVG draws a self-contained picture: it opens in any browser, on light or dark pages.
// Levels go from top to bottom. A fan-out is a stack, a pipeline a box of stages, a loop a
// box with a back edge, and a nested workflow has a double frame; edges with a condition
// are dashed. In a walk, the start and the exit are round, conditional nodes have pointed
// sides, human gates slanted sides, and back edges lead from below to above.
func SVG(d *plan.Description, o Options) string {
	d = drawable(d, o.Run)
	s := &svg{d: d, run: o.Run, walk: visitedNodes(d), title: o.title(d)}
	s.jumps()
	s.measure()
	s.place()
	s.write()
	return s.b.String()
}

// Measures in pixels.
const (
	lineHeight = 16.0
	padX, padY = 14.0, 10.0
	headHeight = 24.0 // of a pipeline or loop
	levelsX    = 72.0 // space for the names of levels
	margin     = 24.0
	stackShift = 5.0 // of a fan-out's second and third sheet
	maxLine    = 46  // cells of text in a box
)

// svgNode is a node with its lines; its position is relative to its vertex.
type svgNode struct {
	n          *plan.NodeDescription
	lines      []string
	x, y, w, h float64
	slant      float64
}

// svgVertex is a vertex with its nodes.
type svgVertex struct {
	v     *plan.VertexDescription
	nodes []svgNode
	head  string // of a unit
}

// The back edge of a loop passes below its members, and its label is below the line.
const (
	backLabel = "again"
	backDepth = 14.0
	backInset = padX
)

type svg struct {
	b        strings.Builder
	d        *plan.Description
	run      *Run
	title    string
	vertices []svgVertex
	boxes    []box
	owner    map[string][2]int // node id -> vertex, node
	walk     map[string]*plan.WalkNodeDescription
	ends     [][2]int      // of edges, the upper vertex first
	back     []bool        // edges that lead to a higher vertex, or to the same one
	jumped   int           // index of the first edge that is a jump of the run
	chains   [][]int       // the boxes that each edge passes; nil for an edge to its own node
	loops    map[int][]int // by vertex: its edges to its own node
	rows     []int         // the rows of the levels; rows of labels are between them
	l        *layout
	w, h     float64
}

// measure computes the size of each box.
func (s *svg) measure() {
	s.owner = map[string][2]int{}
	for level := range s.d.Levels {
		for i := range s.d.Levels[level] {
			v := &s.d.Levels[level][i]
			vertex := svgVertex{v: v}
			for j := range v.Nodes {
				s.owner[v.Nodes[j].ID] = [2]int{len(s.vertices), j}
				vertex.nodes = append(vertex.nodes, s.node(v, &v.Nodes[j]))
			}
			b := box{level: level}
			if isUnit(v) {
				b.w, b.h = vertex.line(s)
			} else {
				b.w, b.h = vertex.nodes[0].w, vertex.nodes[0].h
				if v.Shape == plan.FanOut.String() {
					b.w, b.h = b.w+2*stackShift, b.h+2*stackShift
				}
			}
			s.vertices, s.boxes = append(s.vertices, vertex), append(s.boxes, b)
		}
	}
}

// node returns a node with the lines of its box.
func (s *svg) node(v *plan.VertexDescription, n *plan.NodeDescription) svgNode {
	lines := []string{n.ID}
	if a := kindText(n); a != "" {
		lines = append(lines, a)
	}
	if v.Shape == plan.FanOut.String() {
		lines = append(lines, runsText(v))
	}
	if m := s.mark(n.ID); m.Text != "" {
		lines = append(lines, m.Text)
	}
	if w := s.walk[n.ID]; w != nil {
		lines = slices.Insert(lines, min(len(lines), 2), walkText(w)...)
	}
	out := svgNode{n: n, h: 2*padY + float64(len(lines))*lineHeight - 4}
	for i, line := range lines {
		line = clipped(safe(line), maxLine)
		out.lines = append(out.lines, line)
		font := noteFont
		if i == 0 {
			font = titleFont
		}
		out.w = max(out.w, font.width(line)+2*padX)
	}
	if w := s.walk[n.ID]; w != nil {
		out.slant = slantWidths[w.Role]
		out.w += 2 * out.slant
	}
	return out
}

// slantWidths maps the roles of nodes in a walk to the width by which their sides project.
var slantWidths = map[string]float64{
	core.RoleStart.String(): 6, core.RoleExit.String(): 6, core.RoleConditional.String(): 16, core.RoleHuman.String(): 10, core.RoleParallel.String(): 0,
}

func clipped(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && lipgloss.Width(string(r)) >= width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// line places the members of a unit side by side, below its head.
func (v *svgVertex) line(s *svg) (w, h float64) {
	v.head = clipped(safe(v.v.Shape+" "+v.v.ID+": "+runsText(v.v)), 2*maxLine)
	if m := s.mark(v.v.ID); m.Text != "" {
		v.head += "  ·  " + clipped(safe(m.Text), maxLine)
	}
	const arrow = 30.0
	x, height := padX, 0.0
	for i := range v.nodes {
		n := &v.nodes[i]
		n.x, n.y = x, headHeight+4
		x += n.w + arrow
		height = max(height, n.h)
	}
	foot := padY
	if v.v.Shape == plan.Loop.String() {
		foot += backDepth + lineHeight
	}
	return max(x-arrow+padX, headFont.width(v.head)+2*padX, backInset+noteFont.width(backLabel)+padX), headHeight + 4 + height + foot
}

func (s *svg) mark(id string) Mark { return s.run.mark(id) }

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// text escapes a string of a document.
func text(t string) string { return html.EscapeString(safe(t)) }

func (s *svg) write() {
	title := s.title
	const top = 36.0
	left := levelsX
	if s.d.Mode.Visits {
		left = 0
	}
	w, h := s.w+left+2*margin, s.h+top+2*margin
	w = max(w, nameFont.width(safe(title))+2*margin)
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", w, h, w, h)
	s.printf("<title>%s</title>\n", text(title))
	s.printf("<style>%s</style>\n", plainFirst(svgStyle))
	s.printf(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>` + "\n")
	if s.run != nil && len(s.run.AddedNodes)+len(s.run.AddedEdges) > 0 {
		s.printf(`<style>.added { stroke: %s; stroke-width: 2.4 }</style>`+"\n", addedColor)
	}
	s.printf(`<rect class="page" width="100%%" height="100%%"/>` + "\n")
	s.printf(`<text class="name" x="%.1f" y="%.1f">%s</text>`+"\n", margin, margin+12, text(title))
	s.printf(`<g transform="translate(%.1f,%.1f)">`+"\n", margin+left, margin+top)
	if !s.d.Mode.Visits {
		s.levels()
	}
	var labels []string
	for i := range s.d.Edges {
		labels = append(labels, s.edge(i))
	}
	for i := range s.vertices {
		s.vertex(i)
	}
	for _, l := range labels { // on top of everything
		s.b.WriteString(l)
	}
	s.printf("</g>\n</svg>\n")
}

// levels draws the bands of the levels, every other one shaded, and their names.
func (s *svg) levels() {
	for r, row := range s.rows {
		y, bottom := s.l.bounds(row)
		if r%2 == 0 {
			s.printf(`<rect class="level" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/>`+"\n", -levelsX, y-14, s.w+levelsX+margin/2, bottom-y+28)
		}
		s.printf(`<text class="note" x="%.1f" y="%.1f">%s</text>`+"\n", 10-levelsX, (y+bottom)/2+4, text(s.d.Mode.LevelName(r)))
	}
}

func (s *svg) vertex(i int) {
	v, b := &s.vertices[i], &s.boxes[i]
	s.printf(`<g transform="translate(%.1f,%.1f)">`+"\n", b.x, b.y)
	if !isUnit(v.v) {
		s.single(v)
	} else {
		s.unit(v, b)
	}
	s.printf("</g>\n")
}

// single draws a node, or the sheets of a fan-out.
func (s *svg) single(v *svgVertex) {
	n := &v.nodes[0]
	class := s.class(n.n.ID)
	if v.v.Shape == plan.FanOut.String() {
		for shift := 2; shift > 0; shift-- {
			s.printf(`<rect class="box sheet %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`+"\n", class, float64(shift)*stackShift, float64(shift)*stackShift, n.w, n.h)
		}
	}
	s.box(n)
}

// unit draws a pipeline or loop with its members.
func (s *svg) unit(v *svgVertex, b *box) {
	loop := v.v.Shape == plan.Loop.String()
	class := "unit " + s.class(v.v.ID)
	if loop {
		class += " loop"
	}
	s.printf(`<rect class="%s" width="%.1f" height="%.1f" rx="10"/>`+"\n", class, b.w, b.h)
	s.printf(`<text class="head-line" x="%.1f" y="17">%s</text>`+"\n", padX, html.EscapeString(v.head))
	for j := range v.nodes {
		n := &v.nodes[j]
		if j > 0 {
			before := &v.nodes[j-1]
			y := n.y + min(n.h, before.h)/2
			s.printf(`<path class="edge thick" marker-end="url(#head)" d="M%.1f,%.1f H%.1f"/>`+"\n", before.x+before.w, y, n.x-2)
		}
		s.printf(`<g transform="translate(%.1f,%.1f)">`+"\n", n.x, n.y)
		s.box(n)
		s.printf("</g>\n")
	}
	if !loop || len(v.nodes) == 0 {
		return
	}
	first, last := &v.nodes[0], &v.nodes[len(v.nodes)-1]
	from, to := last.x+last.w*0.7, first.x+first.w*0.3
	y := first.y + max(first.h, last.h) + backDepth
	s.printf(`<path class="edge again" marker-end="url(#head)" d="M%.1f,%.1f V%.1f Q%.1f,%.1f %.1f,%.1f H%.1f Q%.1f,%.1f %.1f,%.1f V%.1f"/>`+"\n",
		from, last.y+last.h, y-6, from, y, from-6, y, to+6, to, y, to, y-6, first.y+first.h+2)
	s.printf(`<text class="note" x="%.1f" y="%.1f">%s</text>`+"\n", backInset, y+lineHeight-3, backLabel)
}

// class returns the CSS class for the status of a node in the run.
func (s *svg) class(id string) string {
	if s.run.addedNode(id) {
		return s.run.class(id) + " added"
	}
	return s.run.class(id)
}

// box draws the box of one node at the origin.
func (s *svg) box(n *svgNode) {
	s.printf("<g><title>%s</title>\n", text(s.hint(n.n)))
	s.frame(n)
	if n.n.Inner != nil {
		s.printf(`<rect class="inner" x="3.5" y="3.5" width="%.1f" height="%.1f" rx="4"/>`+"\n", n.w-7, n.h-7)
	}
	for i, line := range n.lines {
		class := "note"
		if i == 0 {
			class = "title"
		}
		s.printf(`<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, padX+n.slant, padY+lineHeight*float64(i)+11, html.EscapeString(line))
	}
	s.printf("</g>\n")
}

// frame draws the outline of a node, which shows its role in a walk.
func (s *svg) frame(n *svgNode) {
	class, round, w := "box "+s.class(n.n.ID), 6.0, s.walk[n.n.ID]
	if w != nil && w.GoalGate {
		class += " gate"
	}
	shape := func(class string, in, w, h float64) {
		s.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`+"\n", class, in, in, w-2*in, h-2*in, max(0, round-in))
	}
	switch {
	case w == nil:
		s.printf(`<rect class="%s" width="%.1f" height="%.1f" rx="6"/>`+"\n", class, n.w, n.h)
		return
	case w.Role == core.RoleConditional.String():
		s.printf(`<path class="%s" d="M0,%.1f L%.1f,0 H%.1f L%.1f,%.1f L%.1f,%.1f H%.1f z"/>`+"\n", class, n.h/2, n.slant, n.w-n.slant, n.w, n.h/2, n.w-n.slant, n.h, n.slant)
		return
	case w.Role == core.RoleHuman.String():
		s.printf(`<path class="%s" d="M%.1f,0 H%.1f L%.1f,%.1f H0 z"/>`+"\n", class, n.slant, n.w, n.w-n.slant, n.h)
		return
	case w.Role == core.RoleStart.String(), w.Role == core.RoleExit.String():
		round = n.h / 2
	}
	shape(class, 0, n.w, n.h)
	switch w.Role {
	case core.RoleExit.String():
		shape("inner", 3.5, n.w, n.h)
	case core.RoleParallel.String():
		s.printf(`<path class="bar" d="M0,%.1f H%.1f"/>`+"\n", n.h, n.w)
	}
}

// hint returns the tooltip of a node.
func (s *svg) hint(n *plan.NodeDescription) string {
	parts := []string{n.ID}
	if n.Description != "" {
		parts = append(parts, n.Description)
	}
	if len(n.Reads) > 0 {
		parts = append(parts, "reads "+strings.Join(n.Reads, ", "))
	}
	if len(n.Writes) > 0 {
		parts = append(parts, "writes "+strings.Join(n.Writes, ", "))
	}
	if m := s.mark(n.ID); m.Why != "" {
		parts = append(parts, m.Why)
	}
	return strings.Join(parts, "; ")
}

var (
	colorName = lazyregexp.New(`(--[a-z-]+): (#[0-9a-f]+)`)
	colorUse  = lazyregexp.New(`(fill|stroke): (var\((--[a-z-]+)\))`)
)

// plainFirst inserts the colour for a light page before each use of a variable. Renderers
// that do not support variables use it, and would draw black otherwise.
func plainFirst(style string) string {
	bright := map[string]string{}
	for _, m := range colorName.FindAllStringSubmatch(style, -1) {
		if bright[m[1]] == "" { // the dark theme comes second
			bright[m[1]] = m[2]
		}
	}
	return colorUse.ReplaceAllStringFunc(style, func(use string) string {
		m := colorUse.FindStringSubmatch(use)
		return m[1] + ": " + bright[m[3]] + "; " + use
	})
}

// svgStyle is kept small: colours for light and dark pages.
const svgStyle = `
svg { color-scheme: light dark; font-family: ui-sans-serif, system-ui, sans-serif;
  --page: #fff; --ink: #1f2430; --soft: #667085; --line: #98a2b3; --fill: #fff; --level: #f4f6f9; --unit: #eef2fb;
  --good: #e3f6e8; --good-line: #2f9e55; --part: #fdf3d8; --part-line: #c98a12; --bad: #fde7e7; --bad-line: #d13c3c; --off: #f0f1f3; --busy: #e2effd; --busy-line: #2f78c4; }
@media (prefers-color-scheme: dark) { svg {
  --page: #14171d; --ink: #e8eaf0; --soft: #9aa3b2; --line: #667085; --fill: #1e232c; --level: #191d24; --unit: #1b2231;
  --good: #16301f; --good-line: #48b872; --part: #352a10; --part-line: #d9a33a; --bad: #391a1c; --bad-line: #e8686a; --off: #1a1d23; --busy: #152a40; --busy-line: #5a9fe6; } }
.page { fill: var(--page) } .level { fill: var(--level) }
text { fill: var(--ink) } .name { font-size: 16px; font-weight: 600 } .title { font-size: 13px; font-weight: 600 }
.note, .head-line { font-size: 11px; fill: var(--soft) } .head-line { font-weight: 600 } .code { font-size: 10.5px; font-family: ui-monospace, monospace }
.box { fill: var(--fill); stroke: var(--line); stroke-width: 1.3 } .inner { fill: none; stroke: var(--line) }
.unit { fill: var(--unit); stroke: var(--line); stroke-width: 1.3 } .loop { stroke-dasharray: 7 4 }
.edge { fill: none; stroke: var(--line); stroke-width: 1.4 } .thick { stroke-width: 2.4 } .condition { stroke-dasharray: 5 4 } .again { stroke-dasharray: 2 3 } .taken { stroke: var(--good-line); stroke-width: 2 } .bar { fill: none; stroke: var(--ink); stroke-width: 4 } .box.gate { stroke-width: 3 }
.on-fail { stroke: var(--bad-line) } .dead { opacity: .35 } .head { fill: var(--line) }
.pill { fill: var(--page); stroke: var(--line) } .pill.true { fill: var(--good); stroke: var(--good-line) } .pill.false { fill: var(--off); stroke-dasharray: 3 3 }
.success { fill: var(--good); stroke: var(--good-line) } .partial_success { fill: var(--part); stroke: var(--part-line) }
.fail { fill: var(--bad); stroke: var(--bad-line) } .running { fill: var(--busy); stroke: var(--busy-line) }
.skipped { fill: var(--off); stroke-dasharray: 4 3 } .unreached { fill: var(--off); opacity: .6 }
`

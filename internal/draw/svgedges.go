package draw

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// port returns the point where edges leave or enter a node: the middle of its side, or of
// the side of its unit.
func (s *svg) port(id string, down bool) (x, y float64) {
	at := s.owner[id]
	v, b := &s.vertices[at[0]], &s.boxes[at[0]]
	n := &v.nodes[at[1]]
	x, y = b.x+n.x+n.w/2, b.y
	if down {
		y += b.h
	}
	return x, y
}

// edge draws an edge and returns its label, which is drawn later.
func (s *svg) edge(i int) string {
	e := &s.d.Edges[i]
	class := "edge"
	if conditional(e) || s.walk[e.From] == nil && edgeLabel(e) != "" {
		class += " condition"
	}
	switch {
	case e.On == "fail":
		class += " on-fail"
	case e.Branch:
		class += " thick"
	case e.Delegates, isGateEdge(e), s.jumped > 0 && i >= s.jumped:
		class += " again"
	}
	switch {
	case s.run == nil:
	case s.walk[e.From] != nil:
		if s.taken(i) > 0 {
			class += " taken"
		} else {
			class += " dead"
		}
		if s.run.added(&s.d.Edges[i]) {
			class += " added"
		}
	default:
		if s.run.notTaken(e) {
			class += " dead"
		}
	}
	if s.chains[i] == nil {
		return s.loop(i, class)
	}
	points, end := s.route(i), "marker-end"
	if s.back[i] {
		end = "marker-start"
	}
	s.printf(`<path class="%s" %s="url(#head)" d="M%.1f,%.1f`, class, end, points[0][0], points[0][1])
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		if a[0] == b[0] {
			s.printf(" V%.1f", b[1])
			continue
		}
		bow := (b[1] - a[1]) * 0.45
		s.printf(" C%.1f,%.1f %.1f,%.1f %.1f,%.1f", a[0], a[1]+bow, b[0], b[1]-bow, b[0], b[1])
	}
	s.printf(`"/>` + "\n")
	if s.edgeText(i) == "" {
		return ""
	}
	chain := s.chains[i]
	b := &s.boxes[chain[len(chain)-2]]
	return s.pill(i, b.center(), b.y+labelHeight/2)
}

// route returns the points that an edge passes. The edge is vertical where it passes a row:
// from a node to the lower side of its row, through the rows between, and from the upper
// side of the row of the other node. Between two nodes of one row it turns in the row
// below.
func (s *svg) route(i int) [][2]float64 {
	e := &s.d.Edges[i]
	upper, lower, aside, gap := e.From, e.To, 0.0, 3.0
	if s.back[i] {
		upper, lower, aside, gap = e.To, e.From, sideways, 0
	}
	chain := s.chains[i]
	first, last := s.boxes[chain[0]].level, s.boxes[chain[len(chain)-1]].level
	x, y := s.port(upper, true)
	_, bottom := s.l.bounds(first)
	points := [][2]float64{{x + aside, y + 3 - gap}, {x + aside, bottom + 4}}
	if first == last {
		turn := &s.boxes[chain[1]]
		points = append(points, [2]float64{turn.center() - 4, turn.y}, [2]float64{turn.center() + 4, turn.y})
		x, y = s.port(lower, true)
		return append(points, [2]float64{x + aside, bottom + 4}, [2]float64{x + aside, y + gap})
	}
	for _, bend := range chain[1 : len(chain)-1] {
		b := &s.boxes[bend]
		top, bottom := s.l.bounds(b.level)
		points = append(points, [2]float64{b.center(), top - 4}, [2]float64{b.center(), bottom + 4})
	}
	x, y = s.port(lower, false)
	top, _ := s.l.bounds(last)
	return append(points, [2]float64{x + aside, top - 4}, [2]float64{x + aside, y - gap})
}

// sideways is the distance of back edges from the center of nodes.
const sideways = 18.0

// loop draws an edge from a node to itself, at the right side of the node.
func (s *svg) loop(i int, class string) string {
	v := s.ends[i][0]
	b, n, loops := &s.boxes[v], &s.vertices[v].nodes[s.owner[s.d.Edges[i].From][1]], s.loops[v]
	part := n.h / float64(len(loops))
	x, y := b.x+n.x+n.w, b.y+n.y+part*(float64(slices.Index(loops, i))+0.5)
	s.printf(`<path class="%s" marker-end="url(#head)" d="M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
		class, x, y-8, x+loopReach, y-14, x+loopReach, y+14, x+2, y+8)
	if s.edgeText(i) == "" {
		return ""
	}
	return s.pill(i, x+loopReach+s.labelWidth(i)/2, y)
}

// edgeText returns the label of an edge. With a run, it includes how often the edge was
// taken.
func (s *svg) edgeText(i int) string {
	return s.run.edgeLabel(&s.d.Edges[i])
}

// labelWidth returns the width of the label of an edge, or 0 if it has none.
func (s *svg) labelWidth(i int) float64 {
	label := s.edgeText(i)
	if label == "" {
		return 0
	}
	return codeFont.width(clipped(safe(label), maxLine)) + 16
}

// pill draws the label of an edge around a point.
func (s *svg) pill(i int, x, y float64) string {
	label, w := s.edgeText(i), s.labelWidth(i)
	class := "pill"
	if e := &s.d.Edges[i]; s.run != nil {
		if evaluated, ok := s.run.Evaluated[[2]string{e.From, e.To}]; ok {
			class += map[bool]string{true: " true", false: " false"}[evaluated]
		}
		if s.taken(i) > 0 {
			class += " true"
		}
	}
	return fmt.Sprintf(`<g><title>%s</title><rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="9"/><text class="code" text-anchor="middle" x="%.1f" y="%.1f">%s</text></g>`+"\n",
		text(label), class, x-w/2, y-9, w, labelHeight, x, y+4, html.EscapeString(clipped(safe(label), maxLine)))
}

// taken returns how often a walk took an edge, 0 without a run.
func (s *svg) taken(i int) int {
	return s.run.taken(&s.d.Edges[i])
}

// jumps adds edges for the jumps of a run that no edge of the drawing represents.
func (s *svg) jumps() {
	if s.run == nil || !s.d.Mode.Visits {
		return
	}
	s.jumped = len(s.d.Edges)
	for _, w := range slices.SortedFunc(maps.Keys(s.run.Taken), func(a, b EdgeKey) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	}) {
		known := slices.ContainsFunc(s.d.Edges, func(e plan.EdgeDescription) bool {
			return e.From == w.From && e.To == w.To && (isGateEdge(&e) || e.Label == w.Label && e.When == w.When)
		})
		if !known && s.walkHas(w.From) && s.walkHas(w.To) {
			s.d.Edges = append(s.d.Edges, plan.EdgeDescription{From: w.From, To: w.To})
		}
	}
}

func (s *svg) walkHas(id string) bool { return s.walk[id] != nil }

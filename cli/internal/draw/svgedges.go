package draw

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// port is where edges leave or enter a node: the middle of its side, which for a
// member is that of its unit.
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
	case isGateEdge(e), s.jumped > 0 && i >= s.jumped:
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
	default:
		if s.run.dead(e) {
			class += " dead"
		}
	}
	if s.chains[i] == nil {
		return s.loop(i, class)
	}
	points, end := s.way(i), "marker-end"
	if s.back[i] {
		end = "marker-start"
	}
	s.printf(`<path class="%s" %s="url(#head)" d="M%.1f,%.1f`, class, end, points[0][0], points[0][1])
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		bow := (b[1] - a[1]) * 0.45
		s.printf(" C%.1f,%.1f %.1f,%.1f %.1f,%.1f", a[0], a[1]+bow, b[0], b[1]-bow, b[0], b[1])
	}
	s.printf(`"/>` + "\n")
	if s.edgeText(i) == "" {
		return ""
	}
	return s.label(i, points)
}

// way returns the points an edge passes: its ends, and for a long one the upper and
// lower end of its stretch through each row between.
func (s *svg) way(i int) [][2]float64 {
	e := &s.d.Edges[i]
	upper, lower, aside, gap := e.From, e.To, 0.0, 3.0
	if s.back[i] {
		upper, lower, aside, gap = e.To, e.From, sideways, 0
	}
	x, y := s.port(upper, true)
	points := [][2]float64{{x + aside, y + 3 - gap}}
	chain := s.chains[i]
	for _, bend := range chain[1 : len(chain)-1] {
		b := &s.boxes[bend]
		top, bottom := b.y, b.y
		for _, other := range s.l.rows[b.level] {
			top, bottom = min(top, s.boxes[other].y), max(bottom, s.boxes[other].y+s.boxes[other].h)
		}
		points = append(points, [2]float64{b.x, top - 4}, [2]float64{b.x, bottom + 4})
	}
	x, y = s.port(lower, false)
	return append(points, [2]float64{x + aside, y - gap})
}

// sideways is how far from the middle of nodes the edges lie that go back.
const sideways = 18.0

// loop draws an edge from a node to itself, at its right side.
func (s *svg) loop(i int, class string) string {
	at := s.owner[s.d.Edges[i].From]
	b, n := &s.boxes[at[0]], &s.vertices[at[0]].nodes[at[1]]
	x, y := b.x+n.w, b.y+n.h/2
	s.printf(`<path class="%s" marker-end="url(#head)" d="M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
		class, x, y-8, x+loopRoom, y-18, x+loopRoom, y+18, x+2, y+8)
	if s.edgeText(i) == "" {
		return ""
	}
	return s.pill(i, x+loopRoom+s.labelWidth(i)/2, y)
}

// loopRoom is how far the edge from a node to itself reaches out.
const loopRoom = 30.0

func (s *svg) loopWidth(i int) float64 {
	if s.edgeText(i) == "" {
		return loopRoom
	}
	return loopRoom + s.labelWidth(i)
}

// edgeText is the label of an edge and, of a run, how often it was taken.
func (s *svg) edgeText(i int) string {
	return s.run.edgeLabel(&s.d.Edges[i])
}

func (s *svg) labelWidth(i int) float64 {
	return textWidth(clipped(safe(s.edgeText(i)), maxLine), textSize) + 14
}

// label returns a condition in a pill on the last stretch of its edge, at the first
// place where it covers no other.
func (s *svg) label(i int, points [][2]float64) string {
	a, b := points[len(points)-2], points[len(points)-1]
	w, left := s.labelWidth(i), wavesX/2
	if s.d.Walk != nil {
		left = margin / 2
	}
	var x, y float64
	for _, t := range []float64{0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75} {
		x, y = bezier(a, b, t)
		x = max(x, w/2-left)
		if r := (rect{x - w/2, y - 9, w, 18}); !slices.ContainsFunc(s.pills, r.overlaps) {
			s.pills = append(s.pills, r)
			break
		}
	}
	return s.pill(i, x, y)
}

// pill returns the label of an edge around a point.
func (s *svg) pill(i int, x, y float64) string {
	label, w := s.edgeText(i), s.labelWidth(i)
	class := "pill"
	if e := &s.d.Edges[i]; s.run != nil {
		if judged, ok := s.run.Judged[[2]string{e.From, e.To}]; ok {
			class += map[bool]string{true: " true", false: " false"}[judged]
		}
		if s.taken(i) > 0 {
			class += " true"
		}
	}
	return fmt.Sprintf(`<g><title>%s</title><rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="18" rx="9"/><text class="code" text-anchor="middle" x="%.1f" y="%.1f">%s</text></g>`+"\n",
		text(label), class, x-w/2, y-9, w, x, y+4, html.EscapeString(clipped(safe(label), maxLine)))
}

// taken is how often a walk took an edge, 0 without a run.
func (s *svg) taken(i int) int {
	return s.run.taken(&s.d.Edges[i])
}

// jumps adds the jumps of a run as edges, where no edge of the drawing stands for them.
func (s *svg) jumps() {
	if s.run == nil || s.d.Walk == nil {
		return
	}
	s.jumped = len(s.d.Edges)
	for _, w := range slices.SortedFunc(maps.Keys(s.run.Taken), func(a, b Way) int {
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

type rect struct{ x, y, w, h float64 }

func (r rect) overlaps(o rect) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

// bezier returns a point of the curve that edge draws between two points.
func bezier(a, b [2]float64, t float64) (x, y float64) {
	bow := (b[1] - a[1]) * 0.45
	p := [][2]float64{a, {a[0], a[1] + bow}, {b[0], b[1] - bow}, b}
	u := 1 - t
	weights := []float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
	for i := range p {
		x, y = x+weights[i]*p[i][0], y+weights[i]*p[i][1]
	}
	return x, y
}

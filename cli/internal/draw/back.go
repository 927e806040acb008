package draw

import (
	"slices"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// course tells where an edge leads: edges of a dag go down, those of a walk also back
// up, or to a node of the same row.
type course uint8

const (
	down course = iota
	up
	level
)

// backShift keeps an edge that leads back off the one that leads there.
const backShift = 14

// route notes the ends of an edge and where it leads.
func (s *svg) route(e *plan.EdgeDescription) {
	from, to := s.owner[e.From][0], s.owner[e.To][0]
	way := down
	switch a, b := s.boxes[from].level, s.boxes[to].level; {
	case a == b:
		way = level
	case a > b:
		way, from, to = up, to, from
	}
	s.ends, s.courses = append(s.ends, [2]int{from, to}), append(s.courses, way)
}

// rising returns the edges that take part in the layout, the upper end first.
func (s *svg) rising() [][2]int {
	var out [][2]int
	for i, e := range s.ends {
		if s.courses[i] == level {
			s.chains = append(s.chains, -1)
			continue
		}
		s.chains = append(s.chains, len(out))
		out = append(out, e)
	}
	return out
}

// labelRow returns the row above which the label of an edge stands.
func (s *svg) labelRow(i int) int {
	row := s.boxes[s.ends[i][1]].level
	if s.courses[i] == level {
		row++
	}
	return row
}

// wayBack is way for an edge that leads up.
func (s *svg) wayBack(i int) [][2]float64 {
	e := &s.d.Edges[i]
	x, y := s.port(e.From, false)
	points := [][2]float64{{x + backShift, y}}
	chain := s.l.chains[s.chains[i]]
	for _, bend := range slices.Backward(chain[1 : len(chain)-1]) {
		x, top, bottom := s.stretch(bend)
		points = append(points, [2]float64{x, bottom}, [2]float64{x, top})
	}
	x, y = s.port(e.To, true)
	return append(points, [2]float64{x + backShift, y + 3})
}

// sideways draws an edge to a node of the same row as a bow below it, and one from a
// node to itself as a loop at its side. It returns the label.
func (s *svg) sideways(i int, class, label string) string {
	e := &s.d.Edges[i]
	x, y := s.port(e.From, true)
	points := [][2]float64{{x, y + 20}}
	if e.From == e.To {
		b := &s.boxes[s.owner[e.From][0]]
		right, middle := b.x+b.w, b.y+b.h/2
		points = append(points, [2]float64{right + 20, y + 20})
		s.printf(`<path class="%s" marker-end="url(#head)" d="M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
			class, x, y, x, y+36, right+44, middle+8, right+3, middle)
	} else {
		tox, toy := s.port(e.To, true)
		points = append(points, [2]float64{tox, toy + 20})
		s.printf(`<path class="%s" marker-end="url(#head)" d="M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
			class, x, y, x, y+32, tox+backShift, toy+32, tox+backShift, toy+3)
	}
	if label == "" {
		return ""
	}
	return s.label(i, label, points)
}

package draw

import "slices"

// place computes all positions.
func (s *svg) place() {
	spans := s.spans()
	s.l = arrange(s.boxes, spans)
	s.boxes = s.l.boxes
	chains := s.l.chains
	for _, e := range s.ends {
		if e[0] == e[1] {
			s.chains = append(s.chains, nil)
			continue
		}
		s.chains, chains = append(s.chains, chains[0]), chains[1:]
	}
	// The space between two rows grows with the distance that edges move sideways there, so
	// that no edge becomes flat.
	shifts := s.l.shifts()
	s.h = s.l.assignY(func(row int) float64 {
		if row == 0 {
			return 0
		}
		least := rowGap
		if !s.isLevel(row) || !s.isLevel(row-1) {
			least = labelGap
		}
		return max(least, labelGap+min(shifts[row]/8, rowGap))
	})
	s.w = s.l.width()
}

// Distances between rows in pixels, the second one to a row of labels.
const (
	rowGap   = 52.0
	labelGap = 32.0
)

// isLevel reports whether a row holds nodes rather than labels.
func (s *svg) isLevel(row int) bool { return slices.Contains(s.rows, row) }

// spans returns the edges between different vertices. It reserves space for edges from a
// node to itself, and assigns each box to its row: labels have rows of their own between
// the levels.
func (s *svg) spans() []span {
	var spans []span
	labels := make([]bool, len(s.d.Levels)+1) // above each level, and below the last one
	s.loops = map[int][]int{}
	for i := range s.d.Edges {
		e := &s.d.Edges[i]
		from, to := s.owner[e.From][0], s.owner[e.To][0]
		back := s.walk[e.From] != nil && s.boxes[from].level >= s.boxes[to].level
		if back {
			from, to = to, from
		}
		s.ends, s.back = append(s.ends, [2]int{from, to}), append(s.back, back)
		if from == to {
			s.loops[from] = append(s.loops[from], i)
			continue
		}
		spans = append(spans, s.span(i))
		switch level := s.boxes[to].level; {
		case s.boxes[from].level == level:
			labels[level+1] = true
		case s.edgeText(i) != "":
			labels[level] = true
		}
	}
	for v, loops := range s.loops {
		s.loopRoom(v, loops)
	}
	row := 0
	for level := range s.d.Levels {
		if labels[level] {
			row++
		}
		s.rows = append(s.rows, row)
		row++
	}
	for i := range s.boxes {
		s.boxes[i].level = s.rows[s.boxes[i].level]
	}
	return spans
}

// span returns the span of an edge between different vertices.
func (s *svg) span(i int) span {
	upper, lower, aside := s.d.Edges[i].From, s.d.Edges[i].To, 0.0
	if s.back[i] {
		upper, lower, aside = lower, upper, sideways
	}
	return span{s.ends[i][0], s.ends[i][1], s.labelWidth(i), s.portShift(upper) + aside, s.portShift(lower) + aside}
}

// portShift returns the offset of the port of a node to the right of the center of its
// vertex.
func (s *svg) portShift(id string) float64 {
	x, _ := s.port(id, true)
	b := &s.boxes[s.owner[id][0]]
	return x - b.center()
}

// loopRoom reserves space at the right of a vertex for edges from its node to itself, one
// below the other.
func (s *svg) loopRoom(v int, loops []int) {
	b := &s.boxes[v]
	for _, i := range loops {
		b.tail = max(b.tail, loopReach+s.labelWidth(i))
	}
	b.w += b.tail
	if h := loopHeight * float64(len(loops)); h > b.h {
		s.vertices[v].nodes[0].h += h - b.h
		b.h = h
	}
}

// Measures of an edge from a node to itself: how far it extends, and its height.
const (
	loopReach  = 30.0
	loopHeight = 28.0
)

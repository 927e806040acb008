package plan

import (
	"cmp"
	"math/bits"
	"slices"
)

// Question asks which of a field's writers, from slot First up to but not including Last, do not
// come before a gate. A vertex comes before another along edges (but not along the edges into a join
// that takes only some of its predecessors, since it does not wait for each of them), along references
// to nodes, and if the other is a unit without edges, which comes last. A vertex that waits for the
// writer of a field that it reads does not count as coming after it, because the questions are about
// these waits.
type Question struct {
	Gate        int32 // a vertex, or an else group as len(Vertices)+j
	Field       int32
	First, Last int32
}

// Gap is the answer to a question: the number of writers that do not come before the gate, and the
// slots of the first few of them.
type Gap struct {
	Count int32
	Slots []int32
}

// Writers are followed through the graph 256 at a time, one bit each, which is half a cache line
// per vertex. With 64 at a time, a graph with 100,000 writers that are read everywhere took three
// times as long, because the edges were followed four times as often.
const (
	laneWords = 4
	laneCount = laneWords * 64
)

type lanes [laneWords]uint64

// MaxVisits limits the edges followed for all questions together. Graphs reach the limit if tens of
// thousands of writers of fields meet as many distant readers; 100,000 nodes that all write and
// read one field stay below it.
const MaxVisits = 400_000_000

// search answers questions about a plan.
type search struct {
	p         *Plan
	questions []Question
	gaps      []Gap
	ask       func(vertex int32) bool // writers that count; nil for all
	limit     int                     // number of slots that a gap names
	visits    int                     // visits left
	certain   bool                    // edges into joins that take only some of their predecessors do not count

	lanes  []lanes // by gate: the writers of the block that come before it or are it
	passed lanes   // writers of the block that do not count
	blocks []segment
}

// segment is a range of writers of one field, and the questions about them.
type segment struct {
	field       int32
	first, last int32
	asking      []int32 // indexes of questions
}

// Gaps answers questions about the writers that ask accepts, or about all if ask is nil. Each
// answer names at most limit slots. Gaps follows at most visits edges and returns how many are
// left. If that is negative, the search was cut off: gaps may be missing, but the ones in the
// answers are correct.
func (p *Plan) Gaps(questions []Question, ask func(vertex int32) bool, limit, visits int) (gaps []Gap, left int) {
	s := &search{p: p, questions: questions, ask: ask, limit: limit, visits: visits}
	return s.answers()
}

func (s *search) answers() (gaps []Gap, left int) {
	s.gaps = make([]Gap, len(s.questions))
	s.segments(s.indirect())
	s.run()
	return s.gaps, s.visits
}

// indirect returns the questions that direct predecessors alone do not answer. In most graphs these
// are few.
func (s *search) indirect() []int32 {
	order := make([]int32, len(s.questions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.questions[a].Gate, s.questions[b].Gate) })
	stamp := make([]int32, len(s.p.Vertices)) // by vertex: the last gate of which it is a direct predecessor, plus 1
	stamped := int32(-1)
	rest := order[:0]
	for _, i := range order {
		q := &s.questions[i]
		if q.Gate != stamped {
			stamped = q.Gate
			s.stampDirect(stamp, q.Gate)
		}
		if !s.direct(q, stamp) {
			rest = append(rest, i)
		}
	}
	return rest
}

func (s *search) stampDirect(stamp []int32, gate int32) {
	if n := int32(len(s.p.Vertices)); gate >= n {
		stamp[s.p.ElseGroups[gate-n].Source] = gate + 1
		return
	}
	if s.certain && !s.p.Certain(gate) {
		return
	}
	for _, e := range s.p.InEdges(gate) {
		stamp[s.p.Edges[e].From] = gate + 1
	}
}

// direct reports whether all writers in question are direct predecessors.
func (s *search) direct(q *Question, stamp []int32) bool {
	writers := s.p.WriterVertex[q.Field][q.First:q.Last]
	if int(q.Gate) < len(s.p.Vertices) && len(writers) > len(s.p.InEdges(q.Gate)) {
		return false // more writers than predecessors
	}
	for _, w := range writers {
		if stamp[w] != q.Gate+1 {
			return false
		}
	}
	return true
}

// segments groups questions by field and sorts the fields by their first writer, so that the
// writers of a block are close together in the graph.
func (s *search) segments(questions []int32) {
	byField := map[int32]int{}
	for _, i := range questions {
		q := &s.questions[i]
		at, ok := byField[q.Field]
		if !ok {
			at = len(s.blocks)
			byField[q.Field] = at
			s.blocks = append(s.blocks, segment{field: q.Field, first: q.First, last: q.Last})
		}
		b := &s.blocks[at]
		b.first, b.last = min(b.first, q.First), max(b.last, q.Last)
		b.asking = append(b.asking, i)
	}
	slices.SortFunc(s.blocks, func(a, b segment) int {
		return cmp.Or(cmp.Compare(s.writer(a.field, a.first), s.writer(b.field, b.first)), cmp.Compare(a.field, b.field))
	})
}

func (s *search) writer(field, slot int32) int32 { return s.p.WriterVertex[field][slot] }

// run follows the graph once for each block of writers, while visits are left.
func (s *search) run() {
	var block []segment
	room := int32(laneCount)
	for _, g := range s.blocks {
		for g.first < g.last {
			part := g
			part.last = min(g.last, g.first+room)
			block = append(block, part)
			room -= part.last - part.first
			g.first = part.last
			if room == 0 {
				if !s.block(block) {
					return
				}
				block, room = block[:0], laneCount
			}
		}
	}
	if len(block) > 0 {
		s.block(block)
	}
}

// block follows the writers of some segments to the gates that ask about them. It reports whether
// enough visits were left.
func (s *search) block(block []segment) bool {
	if s.lanes == nil {
		s.lanes = make([]lanes, len(s.p.Vertices)+len(s.p.ElseGroups))
	}
	clear(s.lanes)
	s.passed = lanes{}
	lane := 0
	from, to := int32(len(s.p.Vertices)), int32(0)
	for _, g := range block {
		for slot := g.first; slot < g.last; slot++ {
			v := s.writer(g.field, slot)
			s.lanes[v][lane/64] |= 1 << (lane % 64)
			if s.ask != nil && !s.ask(v) {
				s.passed[lane/64] |= 1 << (lane % 64)
			}
			from = min(from, v)
			lane++
		}
		for _, i := range g.asking {
			if q := &s.questions[i]; q.First < g.last && q.Last > g.first {
				to = max(to, s.end(q.Gate))
			}
		}
	}
	if !s.spread(from, to) {
		return false
	}
	lane = 0
	for _, g := range block {
		for _, i := range g.asking {
			s.answer(i, g, lane)
		}
		lane += int(g.last - g.first)
	}
	return true
}

// end returns the first vertex that cannot come before a gate.
func (s *search) end(gate int32) int32 {
	n := int32(len(s.p.Vertices))
	if gate < n {
		return gate
	}
	level := s.p.ElseGroups[gate-n].Level // an else group comes after a level, so vertices above it do not count
	return s.p.Levels[min(int(level), len(s.p.Levels)-1)]
}

// spread passes the bits of the vertices in a range on to the gates that they open. Edges lead
// forward in the order of vertices, so one pass is enough.
func (s *search) spread(from, to int32) bool {
	n := int32(len(s.p.Vertices))
	for v := from; v < to; v++ {
		reached := &s.lanes[v]
		if *reached == (lanes{}) {
			continue
		}
		gates := s.p.OutGates(v)
		s.visits -= len(gates) + 1
		for _, g := range gates {
			if g >= n+int32(len(s.p.ElseGroups)) {
				s.enter(s.p.Joins[s.p.JoinBranches[g-s.p.BranchGate(0)].Join].Vertex, reached)
				continue
			}
			s.lanes[g].add(reached)
			if g < n {
				continue
			}
			edges := s.p.ElseGroups[g-n].Edges
			s.visits -= len(edges)
			for _, e := range edges {
				s.enter(s.p.Edges[e].To, reached)
			}
		}
		if s.visits < 0 {
			return false
		}
	}
	return true
}

// enter adds bits to a vertex to which an edge leads.
func (s *search) enter(v int32, reached *lanes) {
	if !s.certain || s.p.Certain(v) {
		s.lanes[v].add(reached)
	}
}

func (l *lanes) add(more *lanes) {
	for i := range l {
		l[i] |= more[i]
	}
}

// answer adds the writers of a segment, whose bits begin at lane, that did not reach the gate of a
// question.
func (s *search) answer(i int32, g segment, lane int) {
	q := &s.questions[i]
	first, last := max(q.First, g.first), min(q.Last, g.last)
	if first >= last {
		return
	}
	reached := &s.lanes[q.Gate]
	from, to := lane+int(first-g.first), lane+int(last-g.first) // range of bits
	for w := from / 64; w <= (to-1)/64; w++ {
		asked := ^uint64(0)
		if low := from - 64*w; low > 0 {
			asked <<= low
		}
		if high := 64*(w+1) - to; high > 0 {
			asked = asked << high >> high
		}
		if missing := asked &^ reached[w] &^ s.passed[w]; missing != 0 {
			s.note(&s.gaps[i], missing, g.first+int32(64*w-lane))
		}
	}
}

// note adds the slots of the bits in missing, the lowest of which is the bit of slot.
func (s *search) note(x *Gap, missing uint64, slot int32) {
	x.Count += int32(bits.OnesCount64(missing))
	for ; missing != 0 && len(x.Slots) < s.limit; missing &= missing - 1 {
		x.Slots = append(x.Slots, slot+int32(bits.TrailingZeros64(missing)))
	}
}

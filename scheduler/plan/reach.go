package plan

import (
	"cmp"
	"math/bits"
	"slices"
)

// Who comes before whom: over edges (of which those into a join that takes some of its
// predecessors do not make it wait for each), over references to nodes and, for units
// that no edge touches, over the rule that they come last. That a vertex waits
// for the writer of a field it reads does not count: those waits are what the
// questions below are about.

// Question asks which of a field's writers, from slot first up to but excluding
// last, do not come before a gate.
type Question struct {
	Gate        int32 // a vertex, or a judge as len(Vertices)+j
	Field       int32
	First, Last int32
}

// Gap is the answer to a question: how many writers do not come before the
// gate, and the slots of the first few.
type Gap struct {
	Count int32
	Slots []int32
}

// Writers are followed through the graph 256 at a time, one bit each: half a
// cache line per vertex. With 64 at a time 100,000 writers read everywhere took
// three times as long, because the edges were walked four times as often.
const (
	laneWords = 4
	laneCount = laneWords * 64
)

type lanes [laneWords]uint64

// MaxVisits bounds the edges walked for all questions together. It is reached
// where tens of thousands of writers of fields meet as many readers far away;
// 100,000 nodes that all write and read one field stay below it.
const MaxVisits = 400_000_000

// search answers questions about one plan.
type search struct {
	p         *Plan
	questions []Question
	gaps      []Gap
	ask       func(vertex int32) bool // writers that count; nil: all
	limit     int                     // slots to name in a gap
	visits    int                     // left
	certain   bool                    // edges into joins that need not wait do not count

	lanes  []lanes // by gate: which writers of the block come before it or are it
	passed lanes   // writers of the block that do not count
	blocks []segment
}

// segment is a run of writers of one field, and who asks about them.
type segment struct {
	field       int32
	first, last int32
	asking      []int32 // questions
}

// Gaps answers questions about the writers that ask admits, all when it is nil,
// naming at most limit slots in each answer, within a number of visits, of which it returns what is left. When that is negative the
// search was ended by the bound: the answers may lack gaps then, those they name
// are real.
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

// indirect returns the questions that the direct predecessors do not settle. In
// most graphs these are few.
func (s *search) indirect() []int32 {
	order := make([]int32, len(s.questions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.questions[a].Gate, s.questions[b].Gate) })
	stamp := make([]int32, len(s.p.Vertices)) // the gate a vertex was last seen directly before, +1
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
		stamp[s.p.Judges[gate-n].Source] = gate + 1
		return
	}
	if s.certain && !s.p.Certain(gate) {
		return
	}
	for _, e := range s.p.InEdges(gate) {
		stamp[s.p.Edges[e].From] = gate + 1
	}
}

// direct reports whether all writers asked about are direct predecessors.
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

// segments groups questions by field, the fields by their first writer, so that
// a block of writers spans little of the graph.
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

// run walks the graph once for each block of writers, as long as visits are left.
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

// block follows the writers of some segments to whoever asks about them. It
// reports whether there were visits enough.
func (s *search) block(block []segment) bool {
	if s.lanes == nil {
		s.lanes = make([]lanes, len(s.p.Vertices)+len(s.p.Judges))
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

// end is the first vertex that cannot come before a gate.
func (s *search) end(gate int32) int32 {
	n := int32(len(s.p.Vertices))
	if gate < n {
		return gate
	}
	level := s.p.Judges[gate-n].Level // a judge comes after a level: no vertex above it counts
	return s.p.Levels[min(int(level), len(s.p.Levels)-1)]
}

// spread hands the bits of the vertices in a range to whom they open. Vertices
// stand in an order in which edges lead forward, so one pass is enough.
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
			if g >= n+int32(len(s.p.Judges)) {
				s.enter(s.p.Joins[s.p.Arms[g-s.p.ArmGate(0)].Join].Vertex, reached)
				continue
			}
			s.lanes[g].add(reached)
			if g < n {
				continue
			}
			judged := s.p.Judges[g-n].Edges
			s.visits -= len(judged)
			for _, e := range judged {
				s.enter(s.p.Edges[e].To, reached)
			}
		}
		if s.visits < 0 {
			return false
		}
	}
	return true
}

// enter hands bits to a vertex that an edge leads to.
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

// answer notes the writers of a segment, whose bits begin at lane, that did not
// reach the gate of a question.
func (s *search) answer(i int32, g segment, lane int) {
	q := &s.questions[i]
	first, last := max(q.First, g.first), min(q.Last, g.last)
	if first >= last {
		return
	}
	reached := &s.lanes[q.Gate]
	from, to := lane+int(first-g.first), lane+int(last-g.first) // bits
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

// note adds the slots of a word of bits, of which the lowest stands for slot.
func (s *search) note(x *Gap, missing uint64, slot int32) {
	x.Count += int32(bits.OnesCount64(missing))
	for ; missing != 0 && len(x.Slots) < s.limit; missing &= missing - 1 {
		x.Slots = append(x.Slots, slot+int32(bits.TrailingZeros64(missing)))
	}
}

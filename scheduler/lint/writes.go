package lint

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// maxPairs limits the number of pairs of writers that a finding names.
const maxPairs = 3

// checkWrites reports fields that keep only one write (last_wins, set_once) and have two writers
// that no path connects: only their order in the document determines which write is kept. Writers
// that exclude each other are not reported.
func (c *checker) checkWrites(visits *int) {
	c.chained = make([]bool, len(c.p.Schema.Fields))
	pairs := map[int32][]pair{}
	var broken []int32
	questions := c.neighbours()
	gaps := c.gapsOf(questions, nil, 0, visits)
	for i := range gaps {
		f := questions[i].Field
		if gaps[i].Count == 0 {
			continue
		}
		if c.chained[f] {
			c.chained[f] = false
			broken = append(broken, f)
		}
		c.addPair(pairs, f, pair{c.p.WriterVertex[f][questions[i].First], questions[i].Gate})
	}
	c.farPairs(broken, pairs, visits)
	for _, f := range broken {
		if len(pairs[f]) > 0 {
			c.unorderedWrites(f, pairs[f])
		}
	}
}

type pair struct{ first, second int32 }

// neighbours returns, for every writer, the question whether the writer before it in canonical
// order comes before it in the graph. If that is so for all writers of a field, they are all
// ordered: they are a chain.
func (c *checker) neighbours() []plan.Question {
	var out []plan.Question
	for f := range c.p.Schema.Fields {
		if !c.plain(int32(f)) || !c.p.Schema.Fields[f].Strategy().OrderSensitive {
			continue
		}
		for slot, v := range c.p.WriterVertex[f] {
			if slot > 0 {
				c.chained[f] = true
				out = append(out, plan.Question{Gate: v, Field: int32(f), First: int32(slot) - 1, Last: int32(slot)})
			}
		}
	}
	return out
}

// addPair adds two writers that no path connects, unless they exclude each other. One pair more
// than maxPairs is kept, to know that there are more.
func (c *checker) addPair(pairs map[int32][]pair, field int32, p pair) {
	if len(pairs[field]) <= maxPairs && c.mayBothRun(p.first, p.second) && !c.exclusive(p.first, p.second) {
		pairs[field] = append(pairs[field], p)
	}
}

// farPairs looks for pairs among the writers of those fields whose neighbours all exclude each
// other, because writers further apart may not.
func (c *checker) farPairs(fields []int32, pairs map[int32][]pair, visits *int) {
	var questions []plan.Question
	for _, f := range fields {
		if len(pairs[f]) > 0 {
			continue
		}
		for slot, v := range c.p.WriterVertex[f] {
			if slot > 1 {
				questions = append(questions, plan.Question{Gate: v, Field: f, Last: int32(slot) - 1})
			}
		}
	}
	for i, gap := range c.gapsOf(questions, c.f.Placed, 16, visits) {
		for _, slot := range gap.Slots {
			c.addPair(pairs, questions[i].Field, pair{c.p.WriterVertex[questions[i].Field][slot], questions[i].Gate})
		}
	}
}

// gapsOf answers questions about the writers that ask accepts, or about all if ask is nil. It uses
// the visits that are left for the checks of this plan, and reports once when they are used up.
func (c *checker) gapsOf(questions []plan.Question, ask func(vertex int32) bool, limit int, visits *int) []plan.Gap {
	if len(questions) == 0 || *visits < 0 {
		return nil
	}
	gaps, left := c.p.Gaps(questions, ask, limit, *visits)
	if *visits = left; left < 0 {
		clear(c.chained) // fields that were not checked may not be ordered
		c.ds = append(c.ds, source.Diagnostic{Code: source.CodeLimit, Severity: source.Hint, Pos: c.w.Pos,
			Message: "the graph is too large to check the order of all reads and writes of the state"})
	}
	return gaps
}

func (c *checker) unorderedWrites(field int32, pairs []pair) {
	f := &c.p.Schema.Fields[field]
	a, aPos := c.f.Writer(pairs[0].first, field)
	b, bPos := c.f.Writer(pairs[0].second, field)
	outcome := "wins only because it comes later in the order of levels and declarations"
	if f.MayReject {
		outcome = "is rejected only because it comes later in the order of levels and declarations"
	}
	text := fmt.Sprintf("state field %q: %s and %s write it, and neither comes before the other%s; %s %s",
		f.Name, c.named(a, aPos), c.named(b, bPos), c.paths(pairs[0].first, pairs[0].second), c.p.Nodes[b].ID, outcome)
	if others := c.otherPairs(field, pairs[1:]); others != "" {
		text += "; the same holds for " + others
	}
	c.ds.Warnf(source.CodeUnorderedWrites, bPos, "%s", text).
		WithHint("add an edge from %s to %s, or a merge strategy that keeps both", c.p.Nodes[a].ID, c.p.Nodes[b].ID)
}

// otherPairs lists further pairs. If there are more than maxPairs, it only says so.
func (c *checker) otherPairs(field int32, pairs []pair) string {
	var out []string
	for i, p := range pairs {
		if i+1 == maxPairs {
			return strings.Join(out, ", ") + " and more"
		}
		a, aPos := c.f.Writer(p.first, field)
		b, bPos := c.f.Writer(p.second, field)
		out = append(out, c.named(a, aPos)+" and "+c.named(b, bPos))
	}
	return strings.Join(out, ", ")
}

// named returns the id of a node with a position in its document.
func (c *checker) named(node int32, pos source.Position) string {
	id := c.p.Nodes[node].ID
	if !pos.IsValid() {
		return id
	}
	return id + " (" + pos.String() + ")"
}

// maxPathNodes limits the number of nodes of a path that are printed.
const maxPathNodes = 8

// paths formats the paths to two vertices, from the vertex where they part; "" if there are none. It
// does nothing if there are so many findings that this one will be left out.
func (c *checker) paths(a, b int32) string {
	if len(c.ds) > 2*source.MaxFindings {
		return ""
	}
	x, y := longestPath(c.p, a), longestPath(c.p, b)
	if len(x) == 1 && len(y) == 1 {
		return ""
	}
	for len(x) > 1 && len(y) > 1 && x[1] == y[1] {
		x, y = x[1:], y[1:]
	}
	return " (" + message.Arrows(vertexIDs(c.p, x), maxPathNodes) + "; " + message.Arrows(vertexIDs(c.p, y), maxPathNodes) + ")"
}

// longestPath returns a longest path from a root to a vertex.
func longestPath(p *plan.Plan, v int32) []int32 {
	path := make([]int32, p.Vertices[v].Level+1)
	for at := len(path) - 1; ; at-- {
		path[at] = v
		next := int32(-1)
		for _, e := range p.InEdges(v) {
			if from := p.Edges[e].From; p.Vertices[from].Level == p.Vertices[v].Level-1 {
				next = from
				break
			}
		}
		if next < 0 {
			return path[at:]
		}
		v = next
	}
}

func vertexIDs(p *plan.Plan, vertices []int32) []string {
	out := make([]string, len(vertices))
	for i, v := range vertices {
		out[i] = p.Vertices[v].ID
	}
	return out
}

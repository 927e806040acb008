package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// read is a reference of a vertex or judge to a field. Its position in the document is looked up
// only when there is something to report.
type read struct {
	gate      int32 // a vertex, or an else group as len(Vertices)+j
	field     int32
	threshold int32
	edge      int32 // the edge in whose condition it is, or -1 if there is none
	live      bool  // sees the writes of its own unit
}

// checkReads reports reads of fields that no node writes, that are written only later, or whose
// writers no path connects with the reader.
func (c *checker) checkReads(visits *int) {
	reads := c.reads()
	var questions []plan.Question
	var asked []int
	never := map[int32]bool{}
	for i, r := range reads {
		switch {
		case !c.plain(r.field):
		case r.threshold > 0 && !c.f.KnowsBefore(c.seenFrom(&r)):
		case r.threshold > 0:
			q := plan.Question{Gate: r.gate, Field: r.field, Last: r.threshold}
			if c.chained[r.field] { // what comes after the last writer comes after all of them
				q.First = q.Last - 1
			}
			questions = append(questions, q)
			asked = append(asked, i)
		case r.live && c.unitField(r.gate, r.field), c.filled(r.field), c.f.Invalid().Nodes || !c.writesValid():
		case c.p.Writers[r.field] > 0:
			c.readBefore(&r)
		case !never[r.field]:
			never[r.field] = true
			c.neverWritten(&r)
		}
	}
	count := map[int32]int{}
	for i, gap := range c.gapsOf(questions, c.f.Placed, maxPairs, visits) {
		if gap.Count == 0 {
			continue
		}
		r := &reads[asked[i]]
		if count[r.field]++; count[r.field] <= maxReads {
			c.readUnordered(r, &gap)
		}
	}
	c.moreReads(count)
}

// plain reports whether a field holds a value about which everything is known. A stream does not:
// it has one writer and one reader, and plan checks their order.
func (c *checker) plain(field int32) bool {
	f := &c.p.Schema.Fields[field]
	return !f.Invalid && !f.IsStream()
}

// seenFrom returns the vertex whose position determines what a read sees. For conditions that are
// evaluated together, that is their source.
func (c *checker) seenFrom(r *read) int32 {
	if n := int32(len(c.p.Vertices)); r.gate >= n {
		return c.p.ElseGroups[r.gate-n].Source
	}
	return r.gate
}

// maxReads limits the number of unordered reads of a field that are reported.
const maxReads = 20

// moreReads reports the number of unordered reads that were left out.
func (c *checker) moreReads(count map[int32]int) {
	for f := range c.p.Schema.Fields {
		if n := count[int32(f)] - maxReads; n > 0 {
			last := c.ds[len(c.ds)-1]
			c.ds = append(c.ds, source.Diagnostic{Code: source.CodeReadUnordered, Severity: source.Warning, Pos: last.Pos,
				Message: fmt.Sprintf("state field %q: %s see writes by their level only", c.p.Schema.Fields[f].Name, message.More(n, "read"))})
		}
	}
}

// reads lists the reads of vertices and else groups, each field of a vertex once.
func (c *checker) reads() []read {
	p := c.p
	var out []read
	stamp, seen := int32(0), make([]int32, len(p.Schema.Fields)) // by field: the stamp of its last occurrence
	first := func(f int32) bool {
		was := seen[f]
		seen[f] = stamp
		return was != stamp
	}
	for v := range int32(len(p.Vertices)) {
		d := &p.Vertices[v]
		stamp++
		add := func(f, edge int32, live bool) {
			if first(f) {
				out = append(out, read{gate: v, field: f, threshold: p.Threshold(f, d.Level), edge: edge, live: live})
			}
		}
		if d.Unit != nil {
			items, _ := c.f.Unit(v)
			for _, f := range items.Fields {
				add(f, -1, false)
			}
		}
		for _, f := range c.f.Reads(v) {
			add(f, -1, d.Unit != nil)
		}
		if !p.Vertices[v].Conditional {
			continue
		}
		for _, e := range p.InEdges(v) {
			if use, ok := c.f.Condition(e); ok && !p.Edges[e].InElseGroup {
				for _, f := range use.Fields {
					add(f, e, false)
				}
			}
		}
	}
	for j := range p.ElseGroups {
		stamp++
		for _, e := range p.ElseGroups[j].Edges {
			use, _ := c.f.Condition(e)
			for _, f := range use.Fields {
				if first(f) {
					out = append(out, read{gate: int32(len(p.Vertices) + j), field: f, threshold: p.Threshold(f, p.ElseGroups[j].Level), edge: e})
				}
			}
		}
	}
	return out
}

func (c *checker) unitField(v, field int32) bool { return c.p.Vertices[v].Unit.FieldIndex(field) >= 0 }

// filled reports whether a field may have a value before any write: a default, an input, or an
// argument of the node around a nested workflow. A document without an inputs section accepts a
// value for every field, but nothing shows that it is given one. So that counts only for graphs
// built in Go, whose callers pass values along with the fields.
func (c *checker) filled(field int32) bool {
	f := &c.p.Schema.Fields[field]
	return c.f.IsInput(f.Name) || c.f.Invalid().Inputs || !value.IsMissing(f.Default) || c.f.Given(f.Name) || c.f.AnyStart() && !c.w.Document
}

// spot returns the place of a read in the document.
func (c *checker) spot(r *read) plan.Spot {
	if r.edge >= 0 {
		return c.f.EdgeSpot(r.edge, r.field)
	}
	return c.f.VertexSpot(r.gate, r.field)
}

// reader returns the vertex to which a read belongs, and the node of it that a suggested edge
// should lead to.
func (c *checker) reader(r *read) (vertex, node int32) {
	n := int32(len(c.p.Vertices))
	switch {
	case r.gate >= n: // evaluated when the source has ended, so the edge must lead to the source
		vertex = c.p.ElseGroups[r.gate-n].Source
		return vertex, c.p.Edges[r.edge].FromNode
	case r.edge >= 0:
		return r.gate, c.p.Edges[r.edge].ToNode
	}
	if node = c.p.Vertices[r.gate].Node; node >= 0 {
		return r.gate, node
	}
	members := c.p.Vertices[r.gate].Unit.Members
	for _, m := range members {
		if c.f.NodeReads(m, r.field) {
			return r.gate, m
		}
	}
	return r.gate, members[0]
}

func (c *checker) neverWritten(r *read) {
	if c.supplied(r) {
		return
	}
	s, name := c.spot(r), c.p.Schema.Fields[r.field].Name
	text := "%s: no node writes state field %q"
	if c.f.AnyStart() {
		text += ", so only a starting value can fill it"
	} else {
		text += ", and it is not an input, so it has no value"
	}
	c.ds.Warnf(source.CodeNeverWritten, s.Pos, text, s.At, name).
		WithHint("declare it under inputs, give it a default, or add it to the writes of a node")
}

// supplied reports whether the args of the node that reads a field have a member of its name, so
// that the node takes the value from args.
func (c *checker) supplied(r *read) bool {
	if r.edge >= 0 || int(r.gate) >= len(c.p.Vertices) {
		return false
	}
	node := c.p.Vertices[r.gate].Node
	if node < 0 {
		members := c.p.Vertices[r.gate].Unit.Members
		i := slices.IndexFunc(members, func(m int32) bool { return c.f.NodeReads(m, r.field) })
		if i < 0 {
			return false
		}
		node = members[i]
	}
	return c.f.Supplies(node, r.field)
}

// readBefore reports a read of a field all of whose writers are on the same level or a later one.
func (c *checker) readBefore(r *read) {
	unknown := func(w int32) bool { return !c.f.Placed(w) }
	if !c.f.KnowsBefore(c.seenFrom(r)) || slices.ContainsFunc(c.p.WriterVertex[r.field], unknown) {
		return
	}
	s, name := c.spot(r), c.p.Schema.Fields[r.field].Name
	reader, target := c.reader(r)
	writers := c.p.WriterVertex[r.field]
	node, pos := c.f.Writer(writers[0], r.field)
	by := c.named(node, pos)
	if len(writers) > 1 {
		by += " and " + message.More(len(writers)-1, "node")
	}
	text := fmt.Sprintf("%s: state field %q is written only by %s, and not before it is read here", s.At, name, by)
	if writers[0] == reader && len(writers) == 1 {
		text = fmt.Sprintf("%s: state field %q is written only by %s itself", s.At, name, c.p.Nodes[node].ID)
	}
	if c.f.AnyStart() {
		text += ", so only a starting value can fill it"
	}
	d := c.ds.Warnf(source.CodeReadBefore, s.Pos, "%s", text)
	if writer, ok := c.couldPrecede(writers, reader); ok {
		from, _ := c.f.Writer(writer, r.field)
		d.WithHint("add an edge from %s to %s", c.p.Nodes[from].ID, c.p.Nodes[target].ID)
		return
	}
	d.WithHint("give the field a default, or declare it under inputs")
}

// maxFollowed limits the number of writers for which Follows is called.
const maxFollowed = 5

// couldPrecede returns a writer that an edge can put before the reader without a cycle.
func (c *checker) couldPrecede(writers []int32, reader int32) (int32, bool) {
	for i, w := range writers {
		if i == maxFollowed || len(c.ds) > message.MaxHinted {
			break
		}
		if w != reader && !c.p.Follows(w, reader) {
			return w, true
		}
	}
	return -1, false
}

// readUnordered reports a read that sees writes only because the writers are on a lower level. A
// change elsewhere in the graph can move them.
func (c *checker) readUnordered(r *read, x *plan.Gap) {
	s := c.spot(r)
	reader, target := c.reader(r)
	writers := c.p.WriterVertex[r.field]
	var by []string
	for _, slot := range x.Slots {
		node, pos := c.f.Writer(writers[slot], r.field)
		by = append(by, c.named(node, pos))
	}
	if n := int(x.Count) - len(by); n > 0 {
		by = append(by, message.More(n, "node"))
	}
	first := writers[x.Slots[0]]
	from, _ := c.f.Writer(first, r.field)
	d := c.ds.Warnf(source.CodeReadUnordered, s.Pos, "%s: state field %q is written by %s on a lower level, but no path leads from there to %s%s",
		s.At, c.p.Schema.Fields[r.field].Name, strings.Join(by, ", "), c.p.Nodes[target].ID, c.paths(first, reader))
	if first != reader {
		d.WithHint("add an edge from %s to %s", c.p.Nodes[from].ID, c.p.Nodes[target].ID)
	}
}

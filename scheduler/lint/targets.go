package lint

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Fields have merge strategies, but files have none. If two nodes write one file, the later write
// wins, and unless the graph orders the nodes, it depends on timing which one that is.

// Limits of the comparisons, for workflows in which thousands of nodes write one file. The first
// findings show what is wrong with all of them.
const (
	maxCompared = 16      // earlier writers with which a writer is compared
	maxMatched  = 1 << 20 // names with which patterns are compared
	maxOrdered  = 1000    // pairs whose order is searched for in the graph
)

// checkTargets reports files and tables written by two nodes that may both run, and files written
// and read by nodes in no order.
func (c *checker) checkTargets() {
	ordered := maxOrdered
	written := map[string][]plan.Target{}
	for _, t := range c.f.Outputs() {
		earlier := written[t.Key]
		written[t.Key] = append(earlier, t)
		for _, e := range slices.Backward(earlier[max(0, len(earlier)-maxCompared):]) {
			if c.writtenTwice(e, t, &ordered) {
				break
			}
		}
	}
	matched := maxMatched
	for _, in := range c.f.Inputs() {
		for _, t := range written[in.Key] {
			c.readAndWritten(in, t, &ordered)
		}
		if !in.Pattern {
			continue
		}
		if matched -= len(c.f.Outputs()); matched < 0 {
			return
		}
		for _, t := range c.f.Outputs() {
			if t.Key != in.Key && core.MatchPath(in.Key, t.Key) {
				c.readAndWritten(in, t, &ordered)
			}
		}
	}
}

// writtenTwice reports two writers of a target, and returns whether there was something to report.
func (c *checker) writtenTwice(a, b plan.Target, ordered *int) bool {
	if a.Adds && b.Adds || a.Table != b.Table && a.Table != "" && b.Table != "" {
		return false
	}
	if a.Node == b.Node {
		if a.Nested {
			return false // reported in the nested workflow
		}
		message.PointTo(c.ds.Errorf(source.CodeOverwrite, b.Pos, "node %s: writes %s twice", c.p.Nodes[b.Node].ID, b), "first", a.Pos)
		return true
	}
	known, first := c.ordered(&a, &b, ordered)
	switch {
	case !known || first && (b.Adds || c.handles(a, b)):
		return false
	case first && (c.p.Vertices[c.p.Nodes[b.Node].Vertex].Conditional || c.between(a, b, ordered)):
		c.ds.Warnf(source.CodeOverwrite, b.Pos, "node %s: replaces %s, which node %s writes before it", c.p.Nodes[b.Node].ID, b, c.writerOf(a)).
			WithHint("let one of them write something else")
		return true
	case first:
		c.ds.Errorf(source.CodeOverwrite, b.Pos, "node %s: replaces %s, which node %s writes before it, and no node between them could have read it", c.p.Nodes[b.Node].ID, b, c.writerOf(a)).
			WithHint("let one of them write something else")
		return true
	}
	const unordered = "node %s: writes %s, as node %s does, and neither comes before the other: which one wins is a matter of time"
	if c.mayNotRun(a) && c.mayNotRun(b) {
		c.ds.Warnf(source.CodeOverwrite, b.Pos, unordered+", if both run", c.p.Nodes[b.Node].ID, b, c.writerOf(a)).
			WithHint("if only one of them ever runs, say so: write when: else on the edge to one of them")
		return true
	}
	d := c.ds.Errorf(source.CodeOverwrite, b.Pos, unordered, c.p.Nodes[b.Node].ID, b, c.writerOf(a))
	switch {
	case b.Table != "" && (a.Adds || b.Adds):
		d.WithHint("add an edge from the node that replaces the table to the other one")
	case b.Table != "":
		d.WithHint("let both add to the table, or one of them write another one")
	default:
		d.WithHint("let one of them write another file")
	}
	return true
}

// mayNotRun reports whether a when condition, at the node or before it, may keep the node from
// running. Whether the conditions of two nodes can hold together is not known here.
func (c *checker) mayNotRun(t plan.Target) bool {
	v := c.p.Nodes[t.Node].Vertex
	for {
		in := c.p.InEdges(v)
		if slices.ContainsFunc(in, func(e int32) bool { return c.p.Edges[e].When != nil }) {
			return true
		}
		if len(in) != 1 {
			return false
		}
		v = c.p.Edges[in[0]].From
	}
}

// readAndWritten reports a file that a node reads and that it or another node writes. A node that
// reads one file may be followed by a node that replaces it. If it reads all files of a folder, a
// file that is written there adds rows to the next run.
func (c *checker) readAndWritten(in, out plan.Target, ordered *int) {
	if in.Node == out.Node {
		if !in.Nested {
			message.PointTo(c.ds.Errorf(source.CodeOverwrite, out.Pos, "node %s: writes %s, which is a file that it reads", c.p.Nodes[in.Node].ID, out), "read", in.Pos)
		}
		return
	}
	reader, writer := in, out
	known, first := c.ordered(&in, &out, ordered)
	switch {
	case known && first && in.Node == reader.Node && reader.Pattern && c.p.Nodes[reader.Node].Vertex != c.p.Nodes[writer.Node].Vertex:
		c.ds.Warnf(source.CodeOverwrite, writer.Pos, "node %s: writes %s, which is one of the files of %s, so node %s (%s) reads it in the next run",
			c.p.Nodes[writer.Node].ID, writer, reader, c.p.Nodes[reader.Node].ID, reader.Pos).
			WithHint("write to another folder")
	case known && !first:
		c.ds.Warnf(source.CodeOverwrite, reader.Pos, "node %s: reads %s, which node %s writes, and neither comes before the other: what is read is a matter of time",
			c.p.Nodes[reader.Node].ID, writer, c.writerOf(writer)).
			WithHint("%s", c.orderHint(writer, reader))
	}
}

func (c *checker) writerOf(t plan.Target) string { return c.named(t.Node, t.Pos) }

// ordered puts two nodes in canonical order and reports whether the first comes before the second.
// The order is not known if at most one of them runs, or if their place in the graph is not known.
func (c *checker) ordered(a, b *plan.Target, left *int) (known, first bool) {
	v, w := c.p.Nodes[a.Node].Vertex, c.p.Nodes[b.Node].Vertex
	if v > w || v == w && c.p.Nodes[a.Node].Member > c.p.Nodes[b.Node].Member {
		*a, *b, v, w = *b, *a, w, v
	}
	if v == w {
		return true, true // members of a unit run one after another
	}
	if *left--; *left < 0 || !c.mayBothRun(v, w) || c.exclusive(v, w) {
		return false, false
	}
	return true, c.p.Precedes(v, w)
}

// between reports whether a node may run after a and before b, where b comes after a. The rows of a
// stream that a makes have been written when the reader of the stream has ended.
func (c *checker) between(a, b plan.Target, left *int) bool {
	first, last := &c.p.Nodes[a.Node], &c.p.Nodes[b.Node]
	if first.Vertex == last.Vertex {
		return last.Member-first.Member > 1
	}
	if first.StreamTo >= 0 && len(last.Streams()) > 0 {
		return false
	}
	on := func(v int32) bool {
		*left--
		return v != last.Vertex && (*left < 0 || c.p.Follows(last.Vertex, v))
	}
	for _, g := range c.p.OutGates(first.Vertex) {
		if slices.ContainsFunc(c.p.Behind(g), on) {
			return true
		}
	}
	return false
}

// handles reports whether b runs only if a has failed, so that a has written nothing.
func (c *checker) handles(a, b plan.Target) bool {
	v := c.p.Nodes[a.Node].Vertex
	return !slices.ContainsFunc(c.needs(c.p.Nodes[b.Node].Vertex), func(way []int32) bool {
		return !slices.ContainsFunc(way, func(e int32) bool { return c.p.Edges[e].From == v && c.p.Edges[e].On == plan.OnFail })
	})
}

// orderHint returns a hint that says how to make a reader wait for a writer. There may be an edge
// already, into a join that need not wait for it.
func (c *checker) orderHint(writer, reader plan.Target) string {
	w, r := &c.p.Nodes[writer.Node], &c.p.Nodes[reader.Node]
	if c.p.Follows(r.Vertex, w.Vertex) {
		return fmt.Sprintf("a join on the way from %s to %s does not wait for all of its predecessors", w.ID, r.ID)
	}
	return fmt.Sprintf("add an edge from %s to %s", w.ID, r.ID)
}

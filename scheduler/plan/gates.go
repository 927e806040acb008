package plan

import (
	"cmp"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// adjacency lays the edges out flat: what each vertex opens when it is
// resolved, and which edges lead into it. Conditions of a source with an else
// edge go through its judge.
func (c *compiler) adjacency() {
	p := c.p
	n := len(p.Vertices)
	out := make([][]int32, n)
	in := make([][]int32, n)
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Else && p.Vertices[e.From].Judge < 0 {
			p.Vertices[e.From].Judge = int32(len(p.Judges))
			p.Judges = append(p.Judges, Judge{Source: e.From, Level: p.Vertices[e.From].Level + 1})
		}
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		in[e.To] = append(in[e.To], int32(i))
		target := &p.Vertices[e.To]
		target.Pending++
		if e.When != nil || e.Else || e.On != OnSuccess {
			target.Conditional = true
		}
		if e.On == OnFail {
			p.Vertices[e.From].HandlesFailure = true
		}
		if j := p.Vertices[e.From].Judge; j >= 0 && (e.When != nil || e.Else) {
			e.Judged = true
			p.Judges[j].Edges = append(p.Judges[j].Edges, int32(i))
			continue
		}
		out[e.From] = append(out[e.From], e.To)
	}
	for j := range p.Judges {
		judge := &p.Judges[j]
		judge.Pending++
		out[judge.Source] = append(out[judge.Source], int32(n+j))
	}
	c.lastOrdering(out)
	c.nodeOrdering(out)
	p.Out, p.OutStart = flatten(out)
	p.In, p.InStart = flatten(in)
}

// lastOrdering chains the units that run after the main graph behind its ends.
func (c *compiler) lastOrdering(out [][]int32) {
	previous := int32(-1)
	for i := range c.decl {
		if !c.decl[i].last {
			continue
		}
		v := c.at[i]
		if previous >= 0 {
			c.orderEdge(out, previous, v)
		} else {
			for j := range c.decl {
				if !c.decl[j].last && len(c.decl[j].succ) == 0 {
					c.orderEdge(out, c.at[j], v)
				}
			}
		}
		previous = v
	}
}

// orderEdge makes v wait for u without being an edge between them.
func (c *compiler) orderEdge(out [][]int32, u, v int32) {
	out[u] = append(out[u], v)
	if n := int32(len(c.p.Vertices)); v >= n {
		c.p.Judges[v-n].Pending++
	} else {
		c.p.Vertices[v].Pending++
	}
}

// nodeOrdering makes whoever refers to $nodes.X wait for X.
func (c *compiler) nodeOrdering(out [][]int32) {
	n := int32(len(c.p.Vertices))
	for i := range c.decl {
		v := c.at[i]
		for _, ref := range c.decl[i].nodeRef {
			if c.lower(ref, c.p.Vertices[v].Level, c.decl[i].pos, c.decl[i].id) {
				c.orderEdge(out, c.p.Nodes[ref].Vertex, v)
			}
		}
	}
	for i := range c.p.Edges {
		e := &c.p.Edges[i]
		for _, ref := range c.edgeUse[i].nodes {
			gate, level := e.To, c.p.Vertices[e.To].Level
			if e.Judged {
				j := c.p.Vertices[e.From].Judge
				gate, level = n+j, c.p.Judges[j].Level
			}
			pos := core.Position{}
			if e.When != nil {
				pos = c.edgePos(i)
			}
			if c.lower(ref, level, pos, "edge "+c.p.Nodes[e.FromNode].ID+" -> "+c.p.Nodes[e.ToNode].ID) {
				c.orderEdge(out, c.p.Nodes[ref].Vertex, gate)
			}
		}
	}
}

// lower checks that a node that is referred to lies below the reader's level.
func (c *compiler) lower(ref, level int32, pos core.Position, subject string) bool {
	n := &c.p.Nodes[ref]
	if c.p.Vertices[n.Vertex].Level < level {
		return true
	}
	c.ds.Errorf(core.CodeNodeOrder, pos, "%s: $nodes.%s is not known yet: it is not on a lower level", subject, n.ID).
		WithHint("add an edge from %s", n.ID)
	return false
}

func flatten(lists [][]int32) (flat, start []int32) {
	start = make([]int32, len(lists)+1)
	total := 0
	for i, l := range lists {
		total += len(l)
		start[i+1] = int32(total)
	}
	flat = make([]int32, 0, total)
	for _, l := range lists {
		flat = append(flat, l...)
	}
	return flat, start
}

// gates numbers the ledger slots of all writers and tells every reader which
// prefix of which field it waits for.
func (c *compiler) gates() {
	p := c.p
	fields := len(p.Schema.Fields)
	p.writerLevels, p.WriterVertex, p.Readers = make([][]int32, fields), make([][]int32, fields), make([][]Reader, fields)
	byVertex := make([]int32, len(c.decl))
	for d, v := range c.at {
		byVertex[v] = int32(d)
	}
	for i := range p.Vertices {
		v := &p.Vertices[i]
		for _, f := range c.decl[byVertex[i]].writes {
			v.Writes = append(v.Writes, Slot{Field: f, Slot: int32(len(p.WriterVertex[f]))})
			p.WriterVertex[f] = append(p.WriterVertex[f], int32(i))
			p.writerLevels[f] = append(p.writerLevels[f], v.Level)
			v.Refuses = v.Refuses || p.Schema.Fields[f].Refuses
		}
	}
	for f := range p.Writers {
		p.Writers[f] = len(p.WriterVertex[f])
	}
	for i := range p.Vertices {
		c.vertexGates(int32(i), &c.decl[byVertex[i]])
	}
	for j := range p.Judges {
		var fields []int32
		for _, e := range p.Judges[j].Edges {
			fields = append(fields, c.edgeUse[e].fields...)
		}
		for _, f := range dedupe(fields) {
			p.Judges[j].Pending += c.wait(f, p.Threshold(f, p.Judges[j].Level), int32(j), GateJudge)
		}
	}
	for f := range p.Readers {
		slices.SortStableFunc(p.Readers[f], func(a, b Reader) int { return cmp.Compare(a.Threshold, b.Threshold) })
	}
	for i := range p.Nodes {
		c.nodeReads(&p.Nodes[i])
	}
}

// vertexGates sets what the decision and the start of a vertex wait for.
func (c *compiler) vertexGates(i int32, d *vertexDecl) {
	p, v := c.p, &c.p.Vertices[i]
	var when []int32
	for _, e := range p.InEdges(i) {
		if !p.Edges[e].Judged {
			when = append(when, c.edgeUse[e].fields...)
		}
	}
	for _, f := range dedupe(when) {
		v.Pending += c.wait(f, p.Threshold(f, v.Level), i, GateDecide)
	}
	for _, f := range d.reads {
		v.Waits += c.wait(f, p.Threshold(f, v.Level), i, GateStart)
	}
	if v.Unit == nil {
		return
	}
	for _, f := range d.reads {
		v.Unit.Reads = append(v.Unit.Reads, Read{Field: f, Threshold: p.Threshold(f, v.Level)})
	}
	// A unit decides refusals at its writes, so it starts only after every
	// earlier writer of its refusing fields.
	for _, s := range v.Writes {
		if p.Schema.Fields[s.Field].Refuses {
			v.Waits += c.wait(s.Field, s.Slot, i, GateStart)
		}
	}
}

func (c *compiler) wait(field, threshold, who int32, gate Gate) int32 {
	if threshold == 0 {
		return 0
	}
	c.p.Readers[field] = append(c.p.Readers[field], Reader{Threshold: threshold, Vertex: who, Gate: gate})
	return 1
}

// nodeReads fixes what is captured for an attempt of the node.
func (c *compiler) nodeReads(n *Node) {
	use := &c.nodeUse[n.Index]
	level := c.p.Vertices[n.Vertex].Level
	for _, f := range use.view {
		n.Reads = append(n.Reads, Read{f, c.p.Threshold(f, level)})
	}
	for _, f := range append(slices.Clone(use.args.fields), use.extra...) {
		if !slices.ContainsFunc(n.Reads, func(r Read) bool { return r.Field == f }) {
			n.Reads = append(n.Reads, Read{f, c.p.Threshold(f, level)})
		}
	}
	for _, f := range use.extra {
		at := slices.IndexFunc(n.Reads, func(r Read) bool { return r.Field == f })
		n.ExtraAt = append(n.ExtraAt, int32(at))
	}
	n.NodeRefs = dedupe(append(slices.Clone(use.args.nodes), use.nodes...))
	n.Bare = n.Handler != nil && n.Member < 0 && n.Source == nil && n.Args == nil && n.Timeout == 0 && !n.Retry.Jitter &&
		len(n.Reads) == 0 && len(n.NodeRefs) == 0
}

package plan

import (
	"cmp"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/items"
)

// gates numbers the ledger slots of all writers, and determines for every reader how many writers
// of each field it waits for. Because the levels are handled in order, the threshold of a read is
// the number of writers so far, and no search is needed.
func (c *compiler) gates() {
	p := c.p
	fields := len(p.Schema.Fields)
	c.layLedger()
	p.Readers = make([][]Reader, fields)
	g := gater{c: c, below: make([]int32, fields), next: make([]int32, fields)}
	for level := 0; level+1 < len(p.Levels); level++ {
		first, last := p.Levels[level], p.Levels[level+1]
		for v := first; v < last; v++ {
			g.vertex(v, &c.decl[c.declAt[v]])
		}
		for v := first; v < last; v++ {
			for _, s := range p.Vertices[v].Writes {
				g.below[s.Field] = s.Slot + 1
			}
		}
	}
	for j := range p.ElseGroups {
		g.elseGroup(int32(j))
	}
	for f, list := range p.Readers {
		if !slices.IsSortedFunc(list, byThreshold) {
			slices.SortStableFunc(p.Readers[f], byThreshold)
		}
	}
}

func byThreshold(a, b Reader) int { return cmp.Compare(a.Threshold, b.Threshold) }

// layLedger allocates the lists of writers of each field.
func (c *compiler) layLedger() {
	p := c.p
	total := 0
	for i := range c.decl {
		total += len(c.decl[i].writes)
		for _, f := range c.decl[i].writes {
			p.Writers[f]++
		}
	}
	p.WriterVertex, p.writerLevels = make([][]int32, len(p.Writers)), make([][]int32, len(p.Writers))
	vertices, levels := make([]int32, total), make([]int32, total)
	for f, n := range p.Writers {
		p.WriterVertex[f], vertices = vertices[:0:n], vertices[n:]
		p.writerLevels[f], levels = levels[:0:n], levels[n:]
	}
}

// gater visits the vertices in canonical order.
type gater struct {
	c     *compiler
	below []int32 // by field: its writers on lower levels
	next  []int32 // by field: its next slot
	slots arena[Slot]
	reads arena[Read]
	tmp   []Read
}

// vertex numbers the writes of a vertex, and sets what the vertex waits for before it is decided
// and before it starts.
func (g *gater) vertex(i int32, d *vertexDecl) {
	c, p, v := g.c, g.c.p, &g.c.p.Vertices[i]
	var few [8]Slot
	slots := few[:0]
	for _, f := range d.writes {
		slots = append(slots, Slot{Field: f, Slot: g.next[f]})
		g.next[f]++
		p.WriterVertex[f] = append(p.WriterVertex[f], i)
		p.writerLevels[f] = append(p.writerLevels[f], v.Level)
		v.MayReject = v.MayReject || p.Schema.Fields[f].MayReject
	}
	v.Writes = g.slots.keep(slots)
	g.decision(i, v)
	for _, f := range d.reads {
		v.Waits += c.wait(f, g.below[f], i, GateStart)
	}
	if v.Unit == nil {
		n := &p.Nodes[v.Node]
		g.node(n)
		if n.Puller != nil {
			g.puller(n.Puller, i)
		}
		return
	}
	v.Unit.Reads = g.thresholds(d.reads)
	for _, m := range v.Unit.Members {
		g.node(&p.Nodes[m])
	}
	if v.Unit.Puller != nil {
		g.puller(v.Unit.Puller, i)
	}
	// A unit finds out at each write whether the merge rejects it, so the unit starts only after
	// every earlier writer of its rejecting fields.
	for _, s := range v.Writes {
		if p.Schema.Fields[s.Field].MayReject {
			v.Waits += c.wait(s.Field, s.Slot, i, GateStart)
		}
	}
}

// decision makes a vertex wait for the fields of the conditions that are evaluated for it.
func (g *gater) decision(i int32, v *Vertex) {
	if !v.Conditional {
		return
	}
	c, p := g.c, g.c.p
	if v.Join >= 0 {
		g.joinBranches(&p.Joins[v.Join])
		return
	}
	c.fieldSeen.reset(len(p.Schema.Fields))
	for _, e := range p.InEdges(i) {
		if p.Edges[e].InElseGroup || c.edgeUse[e] == nil {
			continue
		}
		for _, f := range c.edgeUse[e].Fields {
			if c.fieldSeen.first(f) {
				v.Pending += c.wait(f, g.below[f], i, GateDecide)
			}
		}
	}
}

// joinBranches makes each branch of a join wait for the fields of its own conditions.
func (g *gater) joinBranches(j *Join) {
	c, p := g.c, g.c.p
	for a := j.From; a < j.To; a++ {
		c.fieldSeen.reset(len(p.Schema.Fields))
		for _, e := range p.JoinBranches[a].Edges {
			if p.Edges[e].InElseGroup || c.edgeUse[e] == nil {
				continue
			}
			for _, f := range c.edgeUse[e].Fields {
				if c.fieldSeen.first(f) {
					p.JoinBranches[a].Pending += c.wait(f, g.below[f], a, GateBranch)
				}
			}
		}
	}
}

// elseGroup makes an else group wait for the fields of its conditions.
func (g *gater) elseGroup(j int32) {
	c, group := g.c, &g.c.p.ElseGroups[j]
	c.fieldSeen.reset(len(c.p.Schema.Fields))
	for _, e := range group.Edges {
		if c.edgeUse[e] == nil {
			continue
		}
		for _, f := range c.edgeUse[e].Fields {
			if c.fieldSeen.first(f) {
				group.Pending += c.wait(f, c.p.Threshold(f, group.Level), j, GateElse)
			}
		}
	}
}

// node determines what is captured for an attempt of the node.
func (g *gater) node(n *Node) {
	use := &g.c.nodeUse[n.Index]
	n.Reads = g.thresholds(use.reads)
	for _, f := range use.extra {
		rare := n.setRare()
		rare.extraAt = append(rare.extraAt, int32(slices.Index(use.reads, f)))
	}
	if len(use.nodes) > 0 {
		n.setRare().nodeRefs = use.nodes
	}
	g.captureStreams(n)
	g.c.cacheStreams(n)
	if h, ok := n.Handler.(core.ValueHandler); ok && !g.c.p.Conventions.Steps && len(n.Writes) == 1 && h.ValueField() == n.Writes[0] {
		n.Value = h
	}
	if h := g.c.itemsHandler(n); h != nil {
		n.setRare().items = h
	}
	n.FieldsOnly = n.Handler != nil && !n.Claims && !n.Upserts && !n.Cancellable && !n.Models && n.Member < 0 && n.Source == nil && n.Args == nil && n.Timeout == 0 &&
		len(n.Reads) == len(n.View) && len(use.extra) == 0 && len(n.Streams()) == 0 && len(n.NodeRefs()) == 0 && !n.Asks && n.Pause == NoPause && n.Cache() == nil
	if v := &g.c.p.Vertices[n.Vertex]; n.Member < 0 {
		v.FieldsOnly, v.HasReads, v.Asks = n.FieldsOnly && v.Shape == Plain, len(n.Reads) > 0, (n.Asks || n.Pause == PauseBefore) && v.Shape == Plain
	}
}

// itemsHandler returns the handler of a fan-out that may be called through an items.Range, nil if it
// may not.
func (c *compiler) itemsHandler(n *Node) items.Handler {
	h, ok := n.Handler.(items.Handler)
	if !ok || n.Source == nil || n.Args != nil || n.Models || n.Claims || n.Cache() != nil || len(n.Streams()) > 0 {
		return nil
	}
	switch t, ok := h.ItemValues(); {
	case !ok:
	case t == nil && len(n.Writes) == 0:
		return h
	case t != nil && n.Value != nil && n.Collect != n.WriteFields[0] && c.p.Schema.Fields[n.WriteFields[0]].TakesItems(t):
		return h
	}
	return nil
}

func (g *gater) thresholds(fields []int32) []Read {
	g.tmp = g.tmp[:0]
	for _, f := range fields {
		g.tmp = append(g.tmp, Read{Field: f, Threshold: g.below[f]})
	}
	return g.reads.keep(g.tmp)
}

func (c *compiler) wait(field, threshold, who int32, gate Gate) int32 {
	if threshold == 0 {
		return 0
	}
	c.p.Readers[field] = append(c.p.Readers[field], Reader{Threshold: threshold, Vertex: who, Gate: gate})
	return 1
}

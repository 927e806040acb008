package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// A stream is a field whose rows are never in the state. The node that makes it
// writes a description. Another node reads the rows while it runs, and adds to the
// description what was read, above all the number of rows. A node may read a stream
// and make another one from it. Then it does nothing when it runs, and its work is
// done when the node at the end of the chain reads the rows.
//
// The rows are computed when they are read, but from the values that the maker of
// the stream read: the reader captures, after its own reads, the reads of the maker,
// as they were at the maker's place in the order.

// StreamRead is a stream that a node reads.
type StreamRead struct {
	Field int32
	Maker int32 // node
	// The reads of the maker are in Node.Reads from this index on.
	Captured int32
}

// streamUse describes a stream while a workflow is compiled.
type streamUse struct {
	maker   int32
	reader  string // such as "node save"; "" if none is known yet
	puller  *Node  // the reader, if it reads the rows while it runs and is not a fan-out or pipeline
	at      source.Position
	misread bool // another part needs its rows, which is reported
	twice   bool // another node makes it, too, which is reported
}

// kindStreams records the streams that a kind makes and reads, until they are connected to their
// readers.
func (c *compiler) kindStreams(n *Node, to source.Text, from []source.Text) {
	if to.Value != "" {
		if c.makes == nil {
			c.makes = map[int32]source.Text{}
		}
		c.makes[n.Index] = to
	}
	if len(from) > 0 {
		if c.takes == nil {
			c.takes = map[int32][]string{}
		}
		c.takes[n.Index] = source.Strings(from)
	}
}

// repeated reports whether a node may run more than once: for items, rows or rounds.
func (c *compiler) repeated(n *Node) bool { return n.Source != nil || c.memberRoots[n.ID] != 0 }

// streams finds the fields that are streams and connects each to its reader.
func (c *compiler) streams() {
	if len(c.makes) == 0 {
		return
	}
	for i := range c.p.Nodes {
		if n := &c.p.Nodes[i]; c.makes[n.Index].Value != "" {
			c.makesStream(n)
		}
	}
	if len(c.streamUse) == 0 {
		return
	}
	for i := range c.p.Nodes {
		c.readsStreams(&c.p.Nodes[i])
	}
	for i := range c.p.Nodes {
		c.soleWriter(&c.p.Nodes[i])
	}
	for i := range c.p.Nodes {
		switch n := &c.p.Nodes[i]; {
		case n.Puller != nil:
			c.reports(n.Puller, n.Puller)
		case n.StreamTo < 0 && len(n.Streams()) > 0:
			c.reports(n, n)
		}
	}
}

// makesStream makes the field to which a node streams a stream.
func (c *compiler) makesStream(n *Node) {
	at := nodePlace(n.ID)
	f, ok := c.p.Schema.Index(c.makes[n.Index].Value)
	if !ok || c.p.Schema.Fields[f].Invalid {
		return // reported with the node's writes, or where it is declared
	}
	if first := c.streamUse[int32(f)]; first != nil {
		first.twice = true
		message.PointTo(c.ds.Errorf(source.CodeStream, c.makes[n.Index].Pos, "%s: two nodes make a stream of field %q", at, c.makes[n.Index].Value), "first", c.makes[first.maker].Pos)
		return
	}
	if c.repeated(n) {
		c.ds.Errorf(source.CodeStream, c.makes[n.Index].Pos, "%s: a node with for_each, or of a pipeline or loop, cannot make a stream", at)
		return
	}
	if err := c.p.Schema.Fields[f].MakeStream(); err != nil {
		c.ds.Errorf(source.CodeStream, c.makes[n.Index].Pos, "%s: %v", at, err)
		return
	}
	if c.streamUse == nil {
		c.streamUse = map[int32]*streamUse{}
	}
	c.streamUse[int32(f)] = &streamUse{maker: n.Index}
	n.StreamTo = int32(f)
}

// readsStreams connects a node to the streams that it reads. Any other kind of read is an error.
func (c *compiler) readsStreams(n *Node) {
	use := &c.nodeUse[n.Index]
	own := len(use.reads)
	for _, f := range use.reads[:own] {
		u := c.streamUse[f]
		if u == nil || n.Index == u.maker {
			continue
		}
		name := c.p.Schema.Fields[f].Name
		s := c.nodeSpot(n, expressions.RootState, name)
		if c.invalid.nodes[n.Index] { // it is not known which streams its kind reads
			u.misread = true
			continue
		}
		if src, ok := n.Source.Whole(); ok && src == int(f) {
			c.itemStream(n, u, name)
			continue
		}
		if !slices.Contains(c.takes[n.Index], name) {
			c.streamRead(s, name)
			continue
		}
		if c.repeated(n) {
			u.misread = true
			c.ds.Errorf(source.CodeStream, s.pos, "%s: state field %q is a stream, which is read once, and this node runs many times", s.at, name)
			continue
		}
		if !c.soleReader(u, s, "node "+n.ID, name) {
			continue
		}
		u.puller = n
		rare := n.setRare()
		rare.streams = append(rare.streams, StreamRead{Field: f, Maker: u.maker})
		use.nodes = c.distinct(slices.Concat(use.nodes, c.nodeUse[u.maker].nodes), &c.nodeSeen, len(c.w.Nodes))
	}
}

// itemStream lets a fan-out whose source is a whole stream fetch its items: the puller is captured
// and called like a node, whenever items are needed.
func (c *compiler) itemStream(n *Node, u *streamUse, name string) {
	other := *n
	other.Source = nil
	if s, ok := c.findInNode(&other, expressions.RootState, name); ok {
		c.streamRead(s, name)
		return
	}
	s := c.nodeSpot(n, expressions.RootState, name)
	if !c.soleReader(u, s, "node "+n.ID, name) {
		return
	}
	f, _ := c.p.Schema.Index(name)
	n.Puller = c.newPuller(n.ID, n.Index, n.Source.Text.Pos, int32(f), u)
	n.Puller.MaxFailures = n.MaxFailures // it need not wait for items that are cancelled
	use := &c.nodeUse[n.Index]
	use.nodes = c.distinct(slices.Concat(use.nodes, c.nodeUse[u.maker].nodes), &c.nodeSeen, len(c.w.Nodes))
}

// newPuller returns the node that fetches the rows of a stream for a pipeline or fan-out.
func (c *compiler) newPuller(id string, index int32, pos source.Position, field int32, u *streamUse) *Node {
	n := &Node{ID: id, Index: index, Member: -1, StreamTo: -1, Collect: -1, Concurrency: 1, MaxFailures: -1, Pull: true,
		Decl: &core.Node{ID: source.At(id, pos), Pos: pos}, Retry: once}
	n.setRare().streams = []StreamRead{{Field: field, Maker: u.maker}}
	return n
}

// soleReader records the reader of a stream and reports a second one.
func (c *compiler) soleReader(u *streamUse, s spot, reader, name string) bool {
	if u.reader != "" {
		d := c.ds.Errorf(source.CodeStream, s.pos, "%s: the stream %q has a reader already, %s", s.at, name, u.reader).
			WithHint("a stream is read once; leave stream: true out, so that it is an ordinary array")
		message.PointTo(d, "first", u.at)
		return false
	}
	u.reader, u.at = reader, s.pos
	return true
}

// streamRead reports a read that needs the rows of a stream as a value.
func (c *compiler) streamRead(s spot, name string) {
	f, _ := c.p.Schema.Index(name)
	c.streamUse[int32(f)].misread = true
	d := c.ds.Errorf(source.CodeStream, s.pos, "%s: state field %q is a stream, its rows are not in the state", s.at, name)
	if c.w.Document {
		d.WithHint("only one transform, sink, for_each or pipeline reads a stream, as a whole; leave stream: true out, so that it is an ordinary array")
	} else {
		d.WithHint("read it with a StreamFold, a StreamSink or another part for streams, or with a transform, a sink or a pipeline")
	}
}

// soleWriter reports writers of a stream other than its maker.
func (c *compiler) soleWriter(n *Node) {
	for i, f := range n.WriteFields {
		if u := c.streamUse[f]; u != nil && u.maker != n.Index && c.makes[n.Index].Value != n.Writes[i] {
			c.ds.Errorf(source.CodeStream, writePos(n, n.Writes[i]), "%s: writes: field %q is a stream of node %s, which alone writes it",
				nodePlace(n.ID), n.Writes[i], c.p.Nodes[u.maker].ID)
		}
	}
}

// reports makes the node at the end of a chain of streams a writer of the descriptions of all
// streams in the chain.
func (c *compiler) reports(end, n *Node) {
	for _, r := range n.Streams() {
		end.WriteFields = append(slices.Clip(end.WriteFields), r.Field)
		end.Writes = append(slices.Clip(end.Writes), c.p.Schema.Fields[r.Field].Name)
		c.reports(end, &c.p.Nodes[r.Maker])
	}
}

// unitStream lets a pipeline whose items are a whole stream fetch its rows: the puller is captured
// and called like a node, once for each row.
func (c *compiler) unitStream(v *vertexDecl) {
	u := v.unit
	if u.Items == nil || len(u.Members) == 0 {
		return
	}
	field, ok := u.Items.Whole()
	use := c.streamUse[int32(field)]
	if !ok || use == nil {
		if u.Flush > 0 && !u.Items.broken() {
			c.ds.Warnf(source.CodeIgnored, v.use.pipeline.Flush.Pos, "pipeline %s: flush: has no effect on an array, which is there as a whole", u.ID)
		}
		return
	}
	name := c.p.Schema.Fields[field].Name
	if !c.soleReader(use, c.vertexSpot(v, expressions.RootState, name), "pipeline "+u.ID, name) {
		v.use.itemsTaken = true
		return
	}
	u.Puller = c.newPuller(u.ID, u.Members[0], u.Items.Text.Pos, int32(field), use)
	c.reports(u.Puller, u.Puller)
	v.writes = append(v.writes, u.Puller.WriteFields...)
}

// checkStreams reports conditions and units that read the rows of a stream, and streams without a
// reader.
func (c *compiler) checkStreams() {
	if len(c.streamUse) == 0 {
		return
	}
	for e, use := range c.edgeUse {
		if use == nil {
			continue
		}
		for _, f := range use.Fields {
			if c.streamUse[f] != nil {
				name := c.p.Schema.Fields[f].Name
				c.streamRead(c.edgeSpot(e, expressions.RootState, name), name)
			}
		}
	}
	for i := range c.decl {
		d := &c.decl[i]
		if d.unit == nil || d.use.itemsTaken {
			continue
		}
		for _, f := range slices.Concat(d.use.items.Fields, d.use.until.Fields) {
			if c.streamUse[f] != nil && (d.unit.Puller == nil || d.unit.Puller.Streams()[0].Field != f) {
				name := c.p.Schema.Fields[f].Name
				c.streamRead(c.vertexSpot(d, expressions.RootState, name), name)
			}
		}
	}
	for i := range c.p.Nodes {
		if n := &c.p.Nodes[i]; n.StreamTo >= 0 {
			c.streamAttempts(n)
		}
	}
	for f := range c.p.Schema.Fields { // in declared order
		if u := c.streamUse[int32(f)]; u != nil && u.reader == "" && !u.misread && !c.invalid.references {
			n := &c.p.Nodes[u.maker]
			c.ds.Warnf(source.CodeUnused, c.makes[n.Index].Pos, "%s: no node reads the stream %q, so no row is ever read", nodePlace(n.ID), c.makes[n.Index].Value).
				WithHint("let a transform, a sink, a for_each or a pipeline read it, or leave stream out")
		}
	}
}

// streamAttempts reports settings for the attempts of a node that makes a stream: its rows are made
// in the attempts of the reader.
func (c *compiler) streamAttempts(n *Node) {
	report := func(key string, pos source.Position) {
		end := c.endOfChain(n)
		d := c.ds.Errorf(source.CodeStream, pos, "%s: %s: the rows of a stream are made while its reader runs, not in an attempt of this node", nodePlace(n.ID), key)
		switch {
		case end.puller != nil:
			d.WithHint("put it on node %s, whose next attempt begins with the first row again", end.puller.ID)
		case end.reader != "":
			d.WithHint("leave it out: %s reads each row once; or leave stream: true out", end.reader)
		default:
			d.WithHint("put it on the node that reads the stream")
		}
	}
	if e := n.Decl.OnError; e != nil && e.Policy.Value == "retry" {
		report("on_error", e.Policy.Pos)
	}
	if t := n.Decl.Timeout; t != nil {
		report("timeout", t.Pos)
	}
}

// endOfChain returns the stream at the end of the chain that begins at a node.
func (c *compiler) endOfChain(n *Node) *streamUse {
	u := c.streamUse[n.StreamTo]
	for range c.p.Nodes { // a cycle is reported elsewhere
		if u.puller == nil || u.puller.StreamTo < 0 {
			break
		}
		u = c.streamUse[u.puller.StreamTo]
	}
	return u
}

// streamOrder reports readers of streams that do not come after the maker.
func (c *compiler) streamOrder() {
	if len(c.streamUse) == 0 {
		return
	}
	for i := range c.decl {
		d := &c.decl[i]
		switch {
		case !c.invalid.knowsBefore(c.at[i]):
		case d.unit == nil:
			c.makersBefore(d, &c.p.Nodes[d.node])
			if puller := c.p.Nodes[d.node].Puller; puller != nil {
				c.makersBefore(d, puller)
			}
		case d.unit.Puller != nil:
			c.makersBefore(d, d.unit.Puller)
		}
	}
}

func (c *compiler) makersBefore(d *vertexDecl, reader *Node) {
	for _, r := range reader.Streams() {
		maker := &c.p.Nodes[r.Maker]
		if c.decl[c.declAt[maker.Vertex]].level < d.level || !c.invalid.placed(maker.Vertex) || c.streamUse[r.Field].twice {
			continue
		}
		name := c.p.Schema.Fields[r.Field].Name
		s := c.vertexSpot(d, expressions.RootState, name)
		c.ds.Errorf(source.CodeStream, s.pos, "%s: the stream %q is made by %s, which does not come before", s.at, name, maker.ID).
			WithHint("add an edge from %s to %s", maker.ID, c.p.Nodes[reader.Index].ID)
	}
}

// captureStreams adds the reads of the makers of a node's streams to the reads of the node. The
// makers are on lower levels, so their reads are known.
func (g *gater) captureStreams(n *Node) {
	for i := range n.Streams() {
		s := &n.rare.streams[i]
		s.Captured = int32(len(n.Reads))
		makers := g.c.p.Nodes[s.Maker].Reads
		n.Reads = append(slices.Clip(n.Reads), makers...)
		for _, r := range makers {
			if r.Threshold > 0 {
				g.c.p.Readers[r.Field] = append(g.c.p.Readers[r.Field], Reader{Threshold: r.Threshold, Vertex: n.Vertex, Gate: GateKeep})
			}
		}
	}
}

// puller determines what is captured for fetching the rows of a pipeline or fan-out.
func (g *gater) puller(n *Node, vertex int32) {
	n.Vertex = vertex
	stream := n.Streams()[0]
	n.Reads = g.thresholds([]int32{stream.Field})
	n.setRare().nodeRefs = g.c.nodeUse[stream.Maker].nodes
	g.captureStreams(n)
}

// OwnReads returns the reads of the node itself, without the reads of the makers of its streams.
func (n *Node) OwnReads() []Read {
	if streams := n.Streams(); len(streams) > 0 {
		return n.Reads[:streams[0].Captured]
	}
	return n.Reads
}

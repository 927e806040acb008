package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
)

// tables is what kinds say of the rows they write. A reader may stand before the
// writer in the document, whose kind is then asked out of turn.
type tables struct {
	writers map[string]int32 // by field, the node that alone writes it, or severalWriters
	known   map[int32]map[string]core.Columns
	reads   map[int32][]core.ColumnRead
	depth   int
}

const (
	severalWriters = -1
	// maxTables bounds how many writers are asked out of turn, one for the other. Of
	// what lies beyond nothing is known, which is no error.
	maxTables = 100
)

// note keeps what a kind said of the rows of a node.
func (t *tables) note(node int32, made core.Compiled, ds core.Diagnostics) {
	if ds.Failed(false) || made.Columns == nil {
		return
	}
	if t.known == nil {
		t.known = map[int32]map[string]core.Columns{}
	}
	t.known[node] = made.Columns
}

// columns returns what is known of the rows of a field: what the only node that writes
// it says, when the field has rows of no other origin.
func (c *compiler) columns(field string) core.Columns {
	at, ok := c.onlyWriter(field)
	if !ok {
		return core.Columns{}
	}
	t := &c.tables
	if _, asked := t.known[at]; !asked && t.depth < maxTables {
		d := c.w.Nodes[at]
		k, ok := c.reg.Kind(d.Kind.Value)
		if !ok || !seen(d) {
			return core.Columns{}
		}
		t.note(at, core.Compiled{Columns: map[string]core.Columns{}}, nil) // in a circle nothing is known
		t.depth++
		made, ds := k.Compile(d, c.env)
		t.depth--
		t.note(at, made, ds)
	}
	known, ok := t.known[at][field]
	if ok {
		known.OnRead = func(r core.ColumnRead) { t.read(at, r) }
	}
	return known
}

// read notes that an expression reads a column of the rows that a node makes. An expression
// may be compiled more than once.
func (t *tables) read(node int32, r core.ColumnRead) {
	if t.reads == nil {
		t.reads = map[int32][]core.ColumnRead{}
	}
	if !slices.ContainsFunc(t.reads[node], func(have core.ColumnRead) bool {
		return have.By == r.By && have.Column.Value == r.Column.Value && have.Column.Pos.String() == r.Column.Pos.String()
	}) {
		t.reads[node] = append(t.reads[node], r)
	}
}

// columnReads tells the handlers of tables which columns expressions read of their rows.
func (c *compiler) columnReads() {
	for at, reads := range c.tables.reads {
		n := &c.p.Nodes[at]
		if h, ok := n.Handler.(core.ColumnReader); ok {
			n.Handler = h.WithReads(reads)
		}
	}
}

// itemColumns returns what is known of $item in a node: the columns of the field whose
// elements are its items, or the rows of the pipeline of which it is a stage.
func (c *compiler) itemColumns(d *core.Node) core.Columns {
	field, ok := c.memberItems[d.ID.Value]
	if d.ForEach != nil {
		field, ok = c.rowsField(d.ForEach.Source)
		ok = ok && !d.ForEach.Lost.Has("source")
	}
	if !ok || d.Lost.Has("for_each") {
		return core.Columns{}
	}
	return c.columns(field)
}

// rowsField returns the field of whose rows a source is a list, such as $.rows and
// $.rows[?@.price > 1].
func (c *compiler) rowsField(source core.Text) (field string, ok bool) {
	t, err := expressions.Parse(source.Value)
	if err == nil {
		p, ok := t.Path()
		if !ok || p.Root != expressions.RootState || len(p.Steps) != 1 {
			return "", false
		}
		return p.Steps[0].Name, true
	}
	p, _ := jsonpath.Compile(source)
	if p == nil || !p.Rows() {
		return "", false
	}
	// The values of one row are no rows.
	typ, ok := c.env.Schema.FieldType(p.Root())
	return p.Root(), ok && (typ == nil || typ.Kind != core.ObjectType)
}

// onlyWriter returns the node whose result is the value of a field.
func (c *compiler) onlyWriter(field string) (node int32, ok bool) {
	if c.tables.writers == nil {
		c.collectWriters()
	}
	node, ok = c.tables.writers[field]
	return node, ok && node >= 0
}

// collectWriters finds the fields that hold what one node makes and nothing else: not
// the merge of several results, a starting value or a part of a fan-out.
func (c *compiler) collectWriters() {
	writers := map[string]int32{}
	c.tables.writers = writers
	for i, d := range c.w.Nodes {
		if d.Lost.Has("writes") {
			clear(writers)
			return
		}
		whole := d.Handler == nil && d.ForEach == nil && !d.Lost.Has("for_each") && (c.memberRoots[d.ID.Value]|c.invalid.members)&itemRoots == 0
		for _, w := range d.Writes {
			if _, taken := writers[w.Value]; taken || !whole {
				writers[w.Value] = severalWriters
			} else {
				writers[w.Value] = int32(i)
			}
		}
	}
	for _, f := range c.w.Fields {
		list, isList := f.Default.([]any)
		started := !core.IsMissing(f.Default) && f.Default != nil && !(isList && len(list) == 0)
		if plain := f.Merge.Value == "" || f.Merge.Value == "last_wins"; !plain || started || f.Reduce != nil || f.Go != nil || len(f.Lost) > 0 || c.given[f.Name.Value] {
			delete(writers, f.Name.Value)
		}
	}
	for _, in := range c.w.Inputs {
		delete(writers, in.Name.Value)
	}
}

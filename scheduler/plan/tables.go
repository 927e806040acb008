package plan

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/jsonpath"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// tables holds what kinds know about the rows that they write. A reader may appear in the document
// before the writer. Then the kind of the writer compiles its node early.
type tables struct {
	writers map[string]int32 // by field: the only node that writes it, or severalWriters
	known   map[int32]map[string]source.Columns
	reads   []columnRead
	depth   int
}

// columnRead is a column of the rows of a field that an expression reads.
type columnRead struct {
	source.ColumnRead
	field string
	node  int32 // the only writer of the field; fromOutside for an input
	// anywhere reports whether the column may be a member of any value in the rows.
	anywhere bool
}

// fromOutside is the writer of a field that the node around a nested workflow fills.
const fromOutside = -2

const (
	severalWriters = -1
	// maxTables limits how many nodes are compiled early, each for the next one. Beyond that,
	// nothing is known about the rows, which is not an error.
	maxTables = 100
)

// note records what a kind knows about the rows of a node.
func (t *tables) note(node int32, made core.Compiled, ds source.Diagnostics) {
	if ds.Failed(false) || made.Columns == nil {
		return
	}
	if t.known == nil {
		t.known = map[int32]map[string]source.Columns{}
	}
	t.known[node] = made.Columns
}

// columns returns what is known about the rows of a field, from the only node that writes it.
// Nothing is known if the field also has rows from elsewhere.
func (c *compiler) columns(field string) source.Columns {
	t := &c.tables
	at, ok := c.onlyWriter(field)
	if !ok {
		return source.Columns{}
	}
	if at == fromOutside {
		return c.inputColumns(field)
	}
	if _, asked := t.known[at]; !asked && t.depth < maxTables {
		d := c.w.Nodes[at]
		k, ok := c.reg.Kind(d.Kind.Value)
		if !ok || d.Incomplete() {
			return source.Columns{}
		}
		t.note(at, core.Compiled{Columns: map[string]source.Columns{}}, nil) // in a cycle nothing is known
		t.depth++
		made, ds := k.Compile(d, c.env)
		t.depth--
		t.note(at, made, ds)
	}
	known := t.known[at][field]
	known.OnRead = func(r source.ColumnRead) { t.read(columnRead{r, field, at, false}) }
	return known
}

// read records that an expression reads a column of the rows of a field. An expression may be
// compiled more than once.
func (t *tables) read(r columnRead) {
	if !slices.ContainsFunc(t.reads, func(have columnRead) bool {
		return have.field == r.field && have.By == r.By && have.Column.Value == r.Column.Value && have.Column.Pos.String() == r.Column.Pos.String()
	}) {
		t.reads = append(t.reads, r)
	}
}

// readAnywhere records that an expression reads a member of any value in the rows of a field.
func (c *compiler) readAnywhere(field string, r source.ColumnRead) {
	if at, ok := c.onlyWriter(field); ok {
		c.tables.read(columnRead{r, field, at, true})
	}
}

// columnReads passes to each node the columns of its rows that expressions read. A kind that knows
// the columns of its rows checks them itself, if its handler can. The rows of other nodes are
// checked when their results are accepted or their streams are read.
func (c *compiler) columnReads() {
	own := map[int32][]source.ColumnRead{}
	for _, r := range c.tables.reads {
		if r.node == fromOutside {
			continue // see frameReads
		}
		n := &c.p.Nodes[r.node]
		if _, placeholder := n.Handler.(Placeholder); placeholder {
			continue
		}
		_, known := c.tables.known[r.node][r.field]
		_, looks := n.Handler.(core.ColumnReader)
		if known && looks && !r.anywhere {
			own[r.node] = append(own[r.node], r.ColumnRead)
		} else {
			c.look(n, r)
		}
	}
	for at, reads := range own {
		n := &c.p.Nodes[at]
		n.Handler = n.Handler.(core.ColumnReader).WithReads(reads)
	}
}

// Placeholder is the handler of a node that a test answers instead of running it. Its rows are not
// checked for the columns that expressions read: a mock file writes only what the test needs.
type Placeholder struct{ core.HandlerFunc }

// look makes a node check its rows for a column, unless the node runs more than once: an interim
// result, such as the job that a loop waits for, may lack members that the last result has. Columns
// that the type of the field or the kind declares as optional may be absent.
func (c *compiler) look(n *Node, r columnRead) {
	i, ok := c.p.Schema.Index(r.field)
	if !ok || c.runsAgain(n) {
		return
	}
	rare := n.setRare()
	at := slices.IndexFunc(rare.rows, func(f fieldRows) bool { return f.field == int32(i) })
	if at < 0 {
		at = len(rare.rows)
		rare.rows = append(rare.rows, fieldRows{field: int32(i)})
		if t := c.p.Schema.Fields[i].Type; t != nil {
			rare.rows[at].optional = t.Items.Optional()
		}
		rare.rows[at].optional = append(rare.rows[at].optional, c.tables.known[n.Index][r.field].Optional...)
	}
	f := &rare.rows[at]
	if r.anywhere {
		f.members = append(f.members, r.ColumnRead)
	} else {
		f.reads = append(f.reads, r.ColumnRead)
	}
}

// runsAgain reports whether a node may run more than once in a run.
func (c *compiler) runsAgain(n *Node) bool {
	return c.again || c.p.Mode.Visits || n.Decl.ForEach != nil || c.memberRoots[n.ID] != 0
}

// fieldRows holds the columns that expressions read of the rows that a node writes to a field.
type fieldRows struct {
	field    int32
	reads    []source.ColumnRead
	members  []source.ColumnRead // at any depth of the rows
	optional []string            // columns that no row needs to have
}

// Wanted returns the columns that expressions read of the rows that the node writes to a field,
// unless its handler checks them. optional lists the columns that may be absent.
func (n *Node) Wanted(field int32) (reads columncheck.Reads, optional []string) {
	if f := n.fieldRows(field); f != nil {
		return columncheck.NewReads(f.reads), f.optional
	}
	return columncheck.Reads{}, nil
}

func (n *Node) fieldRows(field int32) *fieldRows {
	rows := n.rareData().rows
	for i := range rows {
		if f := &rows[i]; f.field == field {
			return f
		}
	}
	return nil
}

// Lacks returns the failure of a node that writes rows none of which has a column that an
// expression reads; nil if there is no such column.
func (p *Plan) Lacks(n *Node, field int32, v any) *core.Failure {
	f := n.fieldRows(field)
	rows, _ := v.([]any)
	if f == nil || len(rows) == 0 {
		return nil
	}
	reads := columncheck.NewReads(f.reads)
	reads.Look(rows)
	err := reads.Missing(f.optional)
	if err == nil {
		err = columncheck.Anywhere(rows, f.members)
	}
	if err == nil {
		return nil
	}
	return &core.Failure{Class: core.ClassWrite, Message: fmt.Sprintf("write of %q: %v", p.Schema.Fields[field].Name, err), Permanent: true}
}

// itemColumns returns what is known about $item in a node: the columns of the field whose elements
// are its items, or of the rows of the pipeline of which it is a stage.
func (c *compiler) itemColumns(d *core.Node) source.Columns {
	rows, ok := c.memberItems[d.ID.Value]
	if d.ForEach != nil {
		rows, ok = c.itemRowsOf(d.ForEach.Source)
		ok = ok && !d.ForEach.Lost.Has("source")
	}
	if !ok || d.Lost.Has("for_each") {
		return source.Columns{}
	}
	if rows.input {
		return c.inputColumns(rows.name)
	}
	known := c.columns(rows.name)
	if t, _ := c.env.Schema.FieldType(rows.name); known.Type == nil && t != nil {
		known.Type = t.Items
	}
	if rows.filtered {
		return known.Selected()
	}
	return known
}

// itemRows is the field or input whose rows are the items of a fan-out or pipeline.
type itemRows struct {
	name     string
	input    bool
	filtered bool // the items are only the rows for which a condition holds
}

// itemRowsOf returns the table whose rows a source lists, such as $.rows, $input.rows or
// $.rows[?@.price > 1].
func (c *compiler) itemRowsOf(src source.Text) (rows itemRows, ok bool) {
	t, err := expressions.Parse(src.Value)
	if err == nil {
		p, ok := t.Path()
		if !ok || len(p.Steps) != 1 || p.Root != expressions.RootState && p.Root != expressions.RootInput {
			return itemRows{}, false
		}
		return itemRows{name: p.Steps[0].Name, input: p.Root == expressions.RootInput}, true
	}
	p, _ := jsonpath.Compile(src)
	if p == nil || !p.Rows() {
		return itemRows{}, false
	}
	// The values of a single row are not rows.
	typ, ok := c.env.Schema.FieldType(p.Root())
	return itemRows{name: p.Root(), filtered: p.Filtered()}, ok && (typ == nil || typ.Kind != value.ObjectType)
}

// inputColumns describes the rows of an input: the rows of the field of the outer workflow that is
// passed to it; see frameReads.
func (c *compiler) inputColumns(input string) source.Columns {
	t := &c.tables
	return source.Columns{OnRead: func(r source.ColumnRead) { t.read(columnRead{r, input, fromOutside, false}) }}
}

// onlyWriter returns the only node that writes a field.
func (c *compiler) onlyWriter(field string) (node int32, ok bool) {
	if c.tables.writers == nil {
		c.collectWriters()
	}
	node, ok = c.tables.writers[field]
	return node, ok && node != severalWriters
}

// collectWriters finds the fields whose value comes from one node only: they have no merge of
// several results, no starting value, and no parts from a fan-out.
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
	for name := range c.given {
		c.fromOutside(name)
	}
	for _, in := range c.w.Inputs {
		c.fromOutside(in.Name.Value)
	}
	for _, f := range c.w.Fields {
		list, isList := f.Default.([]any)
		started := !value.IsMissing(f.Default) && f.Default != nil && !(isList && len(list) == 0)
		if plain := f.Merge.Value == "" || f.Merge.Value == "last_wins"; !plain || started || f.Reduce != nil || f.Go != nil || len(f.Lost) > 0 {
			delete(writers, f.Name.Value)
		}
	}
}

// fromOutside records that a field has a starting value. If no node writes the field as well, its
// rows come from the node around a nested workflow.
func (c *compiler) fromOutside(field string) {
	if at, written := c.tables.writers[field]; written && at != fromOutside {
		c.tables.writers[field] = severalWriters
	} else {
		c.tables.writers[field] = fromOutside
	}
}

// frameReads passes the columns that a nested workflow reads of an input on to the field or
// input of this workflow that is given for it.
func (c *compiler) frameReads(s *Source, inner *frame, in input) {
	if s.program == nil {
		return
	}
	path, ok := s.program.Tree().Path()
	if !ok || len(path.Steps) != 1 {
		return
	}
	var known source.Columns
	name := path.Steps[0].Name
	switch path.Root {
	case expressions.RootState:
		known = c.columns(name)
	case expressions.RootInput:
		known = c.inputColumns(name)
	default:
		return
	}
	for _, r := range inner.tables.reads {
		switch {
		case r.node != fromOutside || r.field != in.name || slices.Contains(in.optional(), r.Column.Value):
		case r.anywhere && path.Root == expressions.RootInput:
			c.tables.read(columnRead{r.ColumnRead, name, fromOutside, true})
		case r.anywhere:
			c.readAnywhere(name, r.ColumnRead)
		case !known.Closed:
			known.Read(r.ColumnRead)
		case !known.Has(r.Column.Value):
			expressions.NoColumn(&c.nestedDs, r.Column.Pos, r.By, r.Column.Value, known.Names)
		}
	}
}

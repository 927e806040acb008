package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
)

// Table is the beginning of what a dataset loads.
type Table struct {
	Files   []string
	Format  string
	Columns []Column
	// Rows are the first rows that could be read. Checks were not run.
	Rows []*core.Object
	// Bad describes the first rows that could not be read.
	Bad []string
	// Count is the number of rows of the table if Whole; otherwise that of the rows
	// that were looked at, and there are more.
	Count int64
	Whole bool
}

// Column is a column of a Table, as the rows that were looked at show it.
type Column struct {
	Name string
	// Type is string, integer, number, boolean, array or object; any for values of
	// several types, null where there is no value.
	Type     string
	Declared bool // by the document or the state schema
	Nulls    int64
	Example  any // a value, shortened; nil for none
}

// previewRows is how many rows Preview looks at.
const previewRows = 10_000

// Preview reads the beginning of what a dataset node loads: the schema, the first
// rows, at most so many, and how many there are. It looks at 10,000 rows at most,
// runs no checks and writes nothing. in is what the node would be given; a source
// that depends on state needs the fields of Compiled.Reads. An error of the node
// is a core.Diagnostics.
func Preview(ctx context.Context, n *core.Node, env core.Env, in core.Input, rows int) (*Table, error) {
	made, ds := Kind{}.Compile(n, env)
	if ds.Failed(false) {
		return nil, ds
	}
	h := made.Handler.(*handler)
	if h.stdin != nil {
		return nil, core.Permanent(errors.New("standard input can be read once and is left to the run"))
	}
	s := in.Shared()
	names, err := h.resolve(s, h.place(s))
	if err != nil {
		return nil, err
	}
	r, src, err := h.reader(h.place(s), names, false)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	t := &Table{Files: names, Format: string(r.Format())}
	return t, t.read(ctx, h, r, rows)
}

// read fills the table.
func (t *Table) read(ctx context.Context, h *handler, r reader, rows int) error {
	p := h.profile(nil)
	for t.Count < previewRows {
		b, err := r.Next(ctx)
		if err == io.EOF {
			t.Whole = true
			break
		}
		if err != nil {
			return err
		}
		t.Count += int64(len(b.Rows) + len(b.Bad))
		p.Add(b.Rows)
		for _, row := range b.Rows[:min(len(b.Rows), max(rows-len(t.Rows), 0))] {
			t.Rows = append(t.Rows, row.(*core.Object))
		}
		for _, bad := range b.Bad[:min(len(b.Bad), maxBad-min(len(t.Bad), maxBad))] {
			t.Bad = append(t.Bad, describe(bad))
		}
	}
	if f, ok := r.(*parquet.Reader); ok && len(t.Files) == 1 && h.options.Limit == 0 {
		t.Count, t.Whole = f.Total(), true
	}
	h.schema(r, p)
	for _, c := range p.Columns() {
		t.Columns = append(t.Columns, Column{c.Name, c.Type, c.Declared, c.Nulls, c.Example})
	}
	return nil
}

// maxBad is how many bad rows Preview shows.
const maxBad = 3

func describe(b checks.Bad) string {
	s := fmt.Sprintf("row %d", b.Row)
	if b.Line > 0 {
		s += fmt.Sprintf(", line %d", b.Line)
	}
	if b.File != "" {
		s += " of " + b.File
	}
	return s + ": " + b.Reason
}

package dataset

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Table is the beginning of what a dataset loads.
type Table struct {
	Files  []string
	Format string
	// Bytes is the size of the files as they lie on the disk, -1 when it is not
	// known, as of standard input.
	Bytes   int64
	Columns []Column
	// Rows are the first rows that could be read. Checks were not run.
	Rows []*value.Object
	// Bad are the first rows that could not be read, BadRows is how many of the
	// rows that were looked at they are.
	Bad     []BadRow
	BadRows int64
	// Looked is how many rows were looked at for the columns.
	Looked int64
	// Count is the number of rows of the table, bad ones included, if Whole;
	// otherwise there are more than those that were looked at, which it counts.
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

// BadRow is a row that could not be read.
type BadRow struct {
	File   string // "" if the table is one file
	Row    int64  // its number in the table, from 1
	Line   int64  // the line it begins on, 0 when it has none
	Reason string
}

// FormatOf returns the format that the name of a file ends in, "" when it tells
// none. A compressed file has another ending in front of its own.
func FormatOf(name string) string { return string(formatOf(name)) }

// PreviewOptions say how much Preview reads.
type PreviewOptions struct {
	// Rows is how many rows are returned, at most 10,000.
	Rows int
	// Count reads on to the end where the number of rows is not known otherwise.
	// The columns and the bad rows are still those of the first 10,000 rows.
	Count bool
	// Stdin allows to read standard input, of which a run then gets nothing.
	Stdin bool
}

// previewRows is how many rows Preview looks at.
const previewRows = 10_000

// Preview reads the beginning of what a dataset node loads: the schema, the first
// rows, and how many there are, which a Parquet file says and others tell when
// they are short. It looks at 10,000 rows at most, by which it also finds the types
// of columns, runs no checks and writes nothing. in is what the node would be given;
// a source that depends on state needs the fields of Compiled.Reads. An error of the
// node is a source.Diagnostics.
func Preview(ctx context.Context, n *core.Node, env core.Env, in core.Input, o PreviewOptions) (*Table, error) {
	made, ds := Kind.Compile(n, env)
	if ds.Failed(false) {
		return nil, ds
	}
	h := made.Handler.(*handler)
	if h.stdin != nil && !o.Stdin {
		return nil, core.Permanent(errors.New("standard input can be read once and is left to the run"))
	}
	if w := &h.options.Cells.Window; *w == 0 || *w > previewRows {
		*w = previewRows
	}
	h.options.GiveUp, h.options.AllowEmpty = -1, true
	s := in.Shared()
	place := h.place(s)
	names, err := h.resolve(ctx, s)
	if err != nil {
		return nil, err
	}
	r, src, err := h.reader(place, names, false)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	t := &Table{Files: names, Format: string(r.Format())}
	if err := t.read(ctx, h, r, o); err != nil {
		return nil, err
	}
	return t, t.measure(h, place)
}

// read fills the table.
func (t *Table) read(ctx context.Context, h *handler, r reader, o PreviewOptions) error {
	p := h.profile(nil)
	total := r.Format() == parquet.Format && h.options.Limit == 0
	for t.Count <= previewRows || o.Count && !total {
		b, err := r.Next(ctx)
		if err == io.EOF {
			t.Whole = true
			break
		}
		if err != nil {
			return err
		}
		if t.Count <= previewRows {
			t.look(b, o.Rows)
			p.Add(b.Rows)
			t.Looked += int64(len(b.Rows))
		}
		t.Count += int64(len(b.Rows) + len(b.Bad))
	}
	h.schema(r, p)
	for _, c := range p.Columns() {
		t.Columns = append(t.Columns, Column{c.Name, c.Type, c.Declared, c.Nulls, c.Example})
	}
	return nil
}

// maxBad is how many bad rows Preview shows.
const maxBad = 3

// look takes the first rows, good and bad.
func (t *Table) look(b table.Batch, rows int) {
	for _, row := range b.Rows[:min(len(b.Rows), max(rows-len(t.Rows), 0))] {
		t.Rows = append(t.Rows, row.(*value.Object))
	}
	for _, bad := range b.Bad[:min(len(b.Bad), maxBad-min(len(t.Bad), maxBad))] {
		t.Bad = append(t.Bad, BadRow{bad.File, bad.Row, bad.Line, bad.Reason})
	}
	t.BadRows += int64(len(b.Bad))
}

// measure finds the size of the files, and the number of rows where the files say
// it.
func (t *Table) measure(h *handler, place files.Place) error {
	count := int64(0)
	for _, name := range t.Files {
		info, err := t.stat(name, place)
		switch {
		case errors.Is(err, fs.ErrNotExist) && h.optional:
			continue
		case err != nil:
			return err
		case info == nil:
			t.Bytes = -1
			return nil
		}
		t.Bytes += info.Size()
		if t.Format != string(parquet.Format) || t.Whole || h.options.Limit > 0 {
			continue
		}
		n, err := countParquet(place, name, info.Size())
		if err != nil {
			return err
		}
		count += n
	}
	if count > 0 {
		t.Count, t.Whole = count, true
	}
	return nil
}

// stat describes a regular file; it returns nil for what is none.
func (t *Table) stat(name string, place files.Place) (fs.FileInfo, error) {
	if name == standardInput {
		return nil, nil
	}
	info, err := place.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	return info, err
}

// countParquet returns the number of rows that the footer of a file says.
func countParquet(place files.Place, name string, size int64) (int64, error) {
	f, err := place.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return parquet.Count(parquet.File{Name: name, Size: size, ReaderAt: f})
}

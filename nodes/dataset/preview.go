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

// Table is the beginning of the table that a dataset loads.
type Table struct {
	Files  []string
	Format string
	// Bytes is the size of the files on disk, or -1 if it is not known, as for standard
	// input.
	Bytes   int64
	Columns []Column
	// Rows are the first rows that could be read. Checks were not run.
	Rows []*value.Object
	// Bad are the first rows that could not be read, and BadRows is the number of such rows
	// among those examined.
	Bad     []BadRow
	BadRows int64
	// Looked is the number of rows that were examined for the columns.
	Looked int64
	// If Whole is true, Count is the number of rows of the table, including bad ones.
	// Otherwise the table has more rows, and Count is the number of rows that were
	// examined.
	Count int64
	Whole bool
}

// Column describes a column of a Table, according to the rows that were examined.
type Column struct {
	Name string
	// Type is string, integer, number, boolean, array or object. It is any if the values
	// have several types, and null if there is no value.
	Type     string
	Declared bool // in the document or the state schema
	Nulls    int64
	Example  any // a shortened value; nil if there is none
}

// BadRow is a row that could not be read.
type BadRow struct {
	File   string // "" if the table has only one file
	Row    int64  // its number in the table, from 1
	Line   int64  // the line where it begins, or 0 if it has none
	Reason string
}

// FormatOf returns the format that the name of a file ends in, or "" if there is none. In
// the name of a compressed file, the ending of the format precedes the ending of the
// compression.
func FormatOf(name string) string { return string(formatOf(name)) }

// PreviewOptions limit what Preview reads.
type PreviewOptions struct {
	// Rows is the number of rows to return, at most 10,000.
	Rows int
	// Count makes Preview read to the end if the number of rows is not known otherwise. The
	// columns and the bad rows are still taken from the first 10,000 rows.
	Count bool
	// Stdin allows Preview to read standard input, which is then not available to a run.
	Stdin bool
}

// previewRows is the number of rows that Preview examines.
const previewRows = 10_000

// Preview reads the beginning of the table that a dataset node loads: the schema, the first
// rows, and the number of rows, which is known for Parquet files and for short tables. It
// examines at most 10,000 rows, from which it also infers the types of columns. It runs no
// checks and writes nothing. in is the input of the node; a source that depends on state
// needs the fields of Compiled.Reads. If the node has errors, Preview returns a
// source.Diagnostics.
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
	r, src, err := h.reader(in, place, names, false)
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

// read fills in the table.
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

// maxBad limits the bad rows that Preview shows.
const maxBad = 3

// look adds rows, good and bad, up to the limits.
func (t *Table) look(b table.Batch, rows int) {
	for _, row := range b.Rows[:min(len(b.Rows), max(rows-len(t.Rows), 0))] {
		t.Rows = append(t.Rows, row.(*value.Object))
	}
	for _, bad := range b.Bad[:min(len(b.Bad), maxBad-min(len(t.Bad), maxBad))] {
		t.Bad = append(t.Bad, BadRow{bad.File, bad.Row, bad.Line, bad.Reason})
	}
	t.BadRows += int64(len(b.Bad))
}

// measure determines the size of the files, and the number of rows if the files contain it.
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

// stat describes a regular file. It returns nil if the name is not one.
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

// countParquet returns the number of rows according to the footer of a file.
func countParquet(place files.Place, name string, size int64) (int64, error) {
	f, err := place.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return parquet.Count(parquet.File{Name: name, Size: size, ReaderAt: f})
}

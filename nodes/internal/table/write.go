package table

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core"
)

// checkEvery is after how many rows a loop looks whether it was cancelled.
const checkEvery = 256

// Tick returns ctx's error at every 256th i, so that a loop over rows notices a
// cancellation at no cost per row.
func Tick(ctx context.Context, i int) error {
	if i%checkEvery != 0 {
		return nil
	}
	return ctx.Err()
}

// Layout says how rows become lines of cells.
type Layout struct {
	Format Format
	// Columns are the columns in order; nil means all that the rows have.
	Columns []string
	// Delimiter separates cells; 0 means that of the format.
	Delimiter rune
	// NoHeader leaves out the line of column names.
	NoHeader bool
}

// Write writes all rows of a table in a format of rows. Without named columns it
// takes all that the rows have.
func Write(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	if l.Format.Delimited() && l.Columns == nil {
		l.Columns = Columns(rows)
	}
	out := NewWriter(w, l)
	if err := out.Write(ctx, rows); err != nil {
		return err
	}
	return out.End()
}

// Writer writes a table batch by batch. One goroutine uses it at a time.
type Writer struct {
	w      *bufio.Writer
	layout Layout
	rows   int
	encode func(buf []byte, v any) ([]byte, error) // JSON formats
	cells  *cellWriter                             // delimited ones, once the columns are known
}

// NewWriter returns a writer; nothing is written before the first call of Write
// or End. A delimited format without named columns takes those of the first
// batch, and a later row with another column is an error.
func NewWriter(w *bufio.Writer, l Layout) *Writer {
	t := &Writer{w: w, layout: l}
	if !l.Format.Delimited() {
		t.encode = rowEncoder(l.Columns)
	}
	return t
}

// Write writes the next rows.
func (t *Writer) Write(ctx context.Context, rows []any) error {
	for i, r := range rows {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		if i == 0 && t.cells == nil && t.layout.Format.Delimited() {
			if err := t.begin(rows); err != nil {
				return err
			}
		}
		t.rows++
		if err := t.row(r); err != nil {
			return err
		}
	}
	return nil
}

// begin fixes the columns and writes the line of their names.
func (t *Writer) begin(rows []any) error {
	names := t.layout.Columns
	if names == nil {
		names = Columns(rows)
	}
	t.cells = newCellWriter(t.w, names, t.layout)
	return t.cells.header()
}

func (t *Writer) row(r any) error {
	switch t.layout.Format {
	case CSV, TSV:
		if err := t.cells.row(r.(*core.Object)); err != nil {
			return fmt.Errorf("row %d%w", t.rows, err)
		}
		return nil
	case JSONL:
		return t.text(r, "", "\n")
	}
	// A JSON array has one row on a line, so that the file can be read by people
	// and compared line by line.
	if t.rows == 1 {
		return t.text(r, "[\n", "")
	}
	return t.text(r, ",\n", "")
}

// text writes the JSON of a row between two texts.
func (t *Writer) text(r any, before, after string) error {
	b, err := t.encode(append(t.w.AvailableBuffer(), before...), r)
	if err != nil {
		return fmt.Errorf("row %d: %w", t.rows, err)
	}
	_, err = t.w.Write(append(b, after...))
	return err
}

// End writes what stands behind the last row, and the header of a table that has
// none.
func (t *Writer) End() error {
	if t.layout.Format.Delimited() {
		if t.cells == nil {
			return t.begin(nil)
		}
		return nil
	}
	if t.layout.Format == JSONL {
		return nil
	}
	end := "\n]\n"
	if t.rows == 0 {
		end = "[]\n"
	}
	_, err := t.w.WriteString(end)
	return err
}

// cellWriter writes lines of cells.
type cellWriter struct {
	w       *bufio.Writer
	csv     *csv.Writer
	layout  Layout
	names   []string
	columns []Column
	record  []string
	known   []string // the last keys that were found to be among the columns
}

func newCellWriter(w *bufio.Writer, names []string, l Layout) *cellWriter {
	// csv.Writer uses a bufio.Writer it is given as it is, so writing to w
	// between two records keeps the order.
	c := &cellWriter{w: w, csv: csv.NewWriter(w), layout: l, names: names, columns: columnsOf(names), record: make([]string, len(names))}
	if c.csv.Comma = l.Delimiter; c.csv.Comma == 0 {
		c.csv.Comma = l.Format.Delimiter()
	}
	return c
}

func (c *cellWriter) header() error {
	if len(c.names) == 0 || c.layout.NoHeader {
		return nil
	}
	copy(c.record, c.names)
	return writeRecord(c.csv, c.w, c.record)
}

// row writes a row; its error begins with what stands between the row's number
// and the reason.
func (c *cellWriter) row(row *core.Object) error {
	if err := c.unknown(row); err != nil {
		return err
	}
	for j := range c.columns {
		v, _ := c.columns[j].Of(row)
		cell, err := Cell(v)
		if err != nil {
			return fmt.Errorf(", column %s: %w", c.names[j], err)
		}
		c.record[j] = cell
	}
	return writeRecord(c.csv, c.w, c.record)
}

// unknown refuses a row with a column that is not written, unless the columns
// were chosen.
func (c *cellWriter) unknown(row *core.Object) error {
	if c.layout.Columns != nil || SameKeys(row.Keys(), c.known) {
		return nil
	}
	c.known = row.Keys()
	for _, k := range c.known {
		if !slices.Contains(c.names, k) {
			return fmt.Errorf(": the column %q is not in the header, which has the columns of the first rows; name the columns", k)
		}
	}
	return nil
}

// writeRecord writes one line. A lone empty cell is quoted: the blank line
// encoding/csv writes for it would be skipped by every reader.
func writeRecord(out *csv.Writer, w *bufio.Writer, record []string) error {
	if len(record) == 1 && record[0] == "" {
		_, err := w.WriteString("\"\"\n")
		return err
	}
	return out.Write(record)
}

// Cell returns the text of a value in a delimited file: nothing for null,
// floats always with a point or exponent, arrays and objects as JSON.
func Cell(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	}
	b, err := core.AppendJSON(nil, v)
	return string(b), err
}

// rowEncoder returns the function that appends the JSON of a value; with
// columns it takes exactly these of an object, in this order, null for those
// the row lacks.
func rowEncoder(names []string) func(buf []byte, v any) ([]byte, error) {
	if names == nil {
		return core.AppendJSON
	}
	columns := columnsOf(names)
	heads := make([][]byte, len(names))
	for i, n := range names {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		heads[i], _ = core.AppendJSON([]byte{sep}, n) // text always has a JSON form
		heads[i] = append(heads[i], ':')
	}
	return func(buf []byte, v any) ([]byte, error) {
		row, ok := v.(*core.Object)
		if !ok || len(names) == 0 {
			return core.AppendJSON(buf, v)
		}
		for i := range columns {
			var err error
			buf, err = core.AppendJSON(append(buf, heads[i]...), columns[i].Value(row))
			if err != nil {
				return buf, fmt.Errorf("%s: %w", names[i], err)
			}
		}
		return append(buf, '}'), nil
	}
}

func columnsOf(names []string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}

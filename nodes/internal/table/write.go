package table

import (
	"bufio"
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core/value"
)

// checkEvery is the number of rows between two checks for cancellation.
const checkEvery = 256

// Tick returns ctx.Err() at every 256th i. So a loop over rows notices a cancellation
// at almost no cost per row.
func Tick(ctx context.Context, i int) error {
	if i%checkEvery != 0 {
		return nil
	}
	return ctx.Err()
}

// Layout describes how rows are written to a file.
type Layout struct {
	Format Format
	// Columns lists the columns in order; nil means all columns of the rows.
	Columns []string
	// Closed makes a row with another column an error. Otherwise other columns are
	// dropped.
	Closed bool
	// Delimiter separates cells. 0 means the default of the format.
	Delimiter rune
	// NoHeader omits the line of column names.
	NoHeader bool
	// After is the number of rows that the file has already, with their header. It is for
	// formats in which each row is a line.
	After int64
}

// Write writes all rows of a table in a format of rows. If the layout lists no columns,
// it writes all columns of the rows.
func Write(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	out := NewWriter(w, l)
	if err := out.Write(ctx, rows); err != nil {
		return err
	}
	return out.End()
}

// Writer writes a table batch by batch. It is used by one goroutine at a time.
type Writer struct {
	w      *bufio.Writer
	layout Layout
	encode func(buf []byte, row any) ([]byte, error) // nil until the columns are known
	guard  *Guard                                    // nil if other columns are dropped
	rows   int64                                     // so far
	lead   string                                    // written before the next row
}

// NewWriter returns a writer to w; the caller must flush w. A delimited format without
// listed columns takes the columns of the first batch, and a later row with another
// column is an error.
func NewWriter(w *bufio.Writer, l Layout) *Writer {
	t := &Writer{w: w, layout: l, rows: l.After}
	if l.Columns != nil || !l.Format.Delimited() {
		t.begin()
	}
	return t
}

// begin sets up the writer once the columns are known.
func (t *Writer) begin() {
	if t.layout.Closed {
		t.guard = NewGuard(t.layout.Columns)
	}
	switch {
	case t.layout.Format.Delimited():
		t.encode, t.lead = lineEncoder(t.layout), headerLine(t.layout)
	case t.layout.Format == JSON:
		// Write one row per line, so that the file is readable and can be compared line
		// by line.
		t.encode, t.lead = objectEncoder(t.layout.Columns), "[\n"
	default:
		t.encode = objectEncoder(t.layout.Columns)
	}
	if t.layout.After > 0 {
		t.lead = ""
	}
}

// Write writes the next rows.
func (t *Writer) Write(ctx context.Context, rows []any) error {
	if t.encode == nil && len(rows) > 0 {
		t.layout.Columns, t.layout.Closed = Columns(rows), true
		t.begin()
	}
	for i, r := range rows {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		if t.guard != nil {
			if err := t.guard.Check(r.(*value.Object)); err != nil {
				return fmt.Errorf("row %d: %w", t.rows+1, err)
			}
		}
		buf, err := t.encode(append(t.w.AvailableBuffer(), t.lead...), r)
		if err != nil {
			return fmt.Errorf("row %d: %w", t.rows+1, err)
		}
		t.rows++
		if t.layout.Format == JSON {
			t.lead = ",\n"
		} else {
			t.lead = ""
			buf = append(buf, '\n')
		}
		if _, err := t.w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// End writes what follows the last row. If there are no rows, it writes the header.
func (t *Writer) End() error {
	end := ""
	switch {
	case t.layout.Format == JSON && t.rows == 0:
		end = "[]\n"
	case t.layout.Format == JSON:
		end = "\n]\n"
	default:
		end = t.lead // a header without rows
	}
	_, err := t.w.WriteString(end)
	return err
}

// objectEncoder returns a function that appends the JSON of a value. If columns are
// listed, it writes exactly these columns of an object in this order, and null for
// columns that the row lacks.
func objectEncoder(names []string) func(buf []byte, v any) ([]byte, error) {
	if names == nil {
		return value.AppendJSON
	}
	columns := columnsOf(names)
	heads := make([][]byte, len(names))
	for i, n := range names {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		heads[i], _ = value.AppendJSON([]byte{sep}, n) // encoding a string cannot fail
		heads[i] = append(heads[i], ':')
	}
	return func(buf []byte, v any) ([]byte, error) {
		row, ok := v.(*value.Object)
		if !ok || len(names) == 0 {
			return value.AppendJSON(buf, v)
		}
		for i := range columns {
			var err error
			buf, err = value.AppendJSON(append(buf, heads[i]...), columns[i].Value(row))
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

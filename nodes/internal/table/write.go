package table

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
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

// Write writes rows in a format of rows.
func Write(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	switch l.Format {
	case CSV, TSV:
		return writeCells(ctx, w, rows, l)
	case JSONL:
		return writeLines(ctx, w, rows, l)
	default:
		return writeArray(ctx, w, rows, l)
	}
}

func writeCells(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	names := l.Columns
	if names == nil {
		names = Columns(rows)
	}
	// csv.Writer uses a bufio.Writer it is given as it is, so writing to w
	// between two records keeps the order.
	out := csv.NewWriter(w)
	if out.Comma = l.Delimiter; out.Comma == 0 {
		out.Comma = l.Format.Delimiter()
	}
	record := make([]string, len(names))
	if len(names) > 0 && !l.NoHeader {
		copy(record, names)
		if err := writeRecord(out, w, record); err != nil {
			return err
		}
	}
	columns := columnsOf(names)
	for i, r := range rows {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		row := r.(*core.Object)
		for j := range columns {
			v, _ := columns[j].Of(row)
			cell, err := Cell(v)
			if err != nil {
				return fmt.Errorf("row %d, column %s: %w", i+1, names[j], err)
			}
			record[j] = cell
		}
		if err := writeRecord(out, w, record); err != nil {
			return err
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

func writeLines(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	line := rowEncoder(l.Columns)
	for i, r := range rows {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		b, err := line(w.AvailableBuffer(), r)
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeArray writes a JSON array with one row on a line, so that the file can
// be read by people and compared line by line.
func writeArray(ctx context.Context, w *bufio.Writer, rows []any, l Layout) error {
	if len(rows) == 0 {
		_, err := w.WriteString("[]\n")
		return err
	}
	line := rowEncoder(l.Columns)
	before := "[\n"
	for i, r := range rows {
		if err := Tick(ctx, i); err != nil {
			return err
		}
		b, err := line(append(w.AvailableBuffer(), before...), r)
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err := w.WriteString("\n]\n")
	return err
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

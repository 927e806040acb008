package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// place says where a row stood: its number among the rows and its line, both
// from 1.
type place struct{ row, line int32 }

// bad is a row that cannot be used. data is what could be read of it.
type bad struct {
	place
	reason string
	data   any
}

// loaded is what a reader makes of a file. places is parallel to rows.
type loaded struct {
	rows   []any
	places []place
}

// cellOptions says how to read lines of cells.
type cellOptions struct {
	delimiter rune
	// header holds the column names of a file without a header line.
	header []string
	infer  bool
	// nulls are the texts that mean null.
	nulls []string
}

// rowOptions holds for rows of every format.
type rowOptions struct {
	// types are the declared column types.
	types columnTypes
	// rowType, when set, is what every row must conform to.
	rowType *core.Type
	// limit is how many rows to read, 0 for all.
	limit  int
	reject func(bad) error
}

// chunkRows is how many rows are kept together between reading and typing.
const chunkRows = 512

// maxColumns is that of the largest spreadsheets; a longer header comes from a
// file that is no table.
const maxColumns = 16384

// chunk holds the raw cells of some rows, one row after the other.
type chunk struct {
	cells  []string
	places []place
}

// cellReader reads a delimited file in two passes: all cells are read and
// looked at, then, once each column's type is known, turned into values. The
// second pass frees the text chunk by chunk.
type cellReader struct {
	cellOptions
	rowOptions
	csv     *csv.Reader
	columns []*column
	chunks  []chunk
	rows    int32 // lines of cells seen, bad ones included
	good    int
}

// readCells reads a csv or tsv file. A row that cannot be used is handed to
// rows.reject; its error ends the reading.
func readCells(ctx context.Context, r io.Reader, cells cellOptions, rows rowOptions) (loaded, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if err := skipMark(in); err != nil {
		return loaded{}, err
	}
	c := &cellReader{cellOptions: cells, rowOptions: rows, csv: csv.NewReader(lineEnds(in))}
	c.csv.Comma = cells.delimiter
	c.csv.ReuseRecord = true
	c.csv.FieldsPerRecord = -1
	if err := c.readHeader(); err != nil {
		return loaded{}, err
	}
	if err := c.readRows(ctx); err != nil {
		return loaded{}, err
	}
	return c.values(ctx)
}

// skipMark passes over the byte order mark that spreadsheets put in front of
// UTF-8, and refuses those of encodings that would be read as garbage.
func skipMark(in *bufio.Reader) error {
	head, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		in.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16; save it as UTF-8")
	}
	return nil
}

// lineEnds makes the lines of a file that ends them with CR alone, as some
// spreadsheets still do, end with LF. Without that the whole file would be its
// header.
func lineEnds(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(in.Size()) // an error comes again with the next read
	if bytes.IndexByte(head, '\r') < 0 || bytes.IndexByte(head, '\n') >= 0 {
		return in
	}
	return crReader{in}
}

// crReader reads CR as LF.
type crReader struct{ r io.Reader }

// Read reads and replaces.
func (c crReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

func (c *cellReader) readHeader() error {
	names := c.header
	if names == nil {
		record, err := c.csv.Read()
		switch {
		case errors.Is(err, io.EOF): // not even a header: no rows
		case err != nil:
			return fmt.Errorf("header: %w", plainError(err))
		}
		names = make([]string, len(record))
		for i, n := range record {
			if !utf8.ValidString(n) {
				return fmt.Errorf("line 1: the name of column %d is not UTF-8", i+1)
			}
			if names[i] = strings.Clone(n); n == "" {
				names[i] = "column_" + strconv.Itoa(i+1)
			}
		}
	}
	if len(names) > maxColumns {
		return fmt.Errorf("line 1: %d columns are more than the %d that are allowed", len(names), maxColumns)
	}
	known := make(map[string]bool, len(names))
	for _, n := range names {
		if known[n] {
			return fmt.Errorf("line 1: column %q stands twice in the header", n)
		}
		known[n] = true
		c.columns = append(c.columns, &column{name: n, declared: c.types.kind(n), infer: c.infer && c.types.kind(n) == core.AnyType})
	}
	for _, t := range c.types {
		if !known[t.name] && t.required {
			return missingColumn(t.name, names)
		}
	}
	return nil
}

func missingColumn(name string, names []string) error {
	err := fmt.Errorf("the file has no column %q", name)
	if near := core.DidYouMean(name, names); near != "" {
		return fmt.Errorf("%w, %s", err, near)
	}
	return err
}

// readRows is the first pass.
func (c *cellReader) readRows(ctx context.Context) error {
	for i := 0; c.limit == 0 || c.good < c.limit; i++ {
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		record, err := c.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		c.rows++
		parse, malformed := errors.AsType[*csv.ParseError](err)
		if err != nil && !malformed {
			return err
		}
		var (
			p      = place{row: c.rows}
			reason string
		)
		if malformed {
			p.line, reason = int32(parse.StartLine), plainError(err).Error()
		} else {
			line, _ := c.csv.FieldPos(0)
			p.line = int32(line)
			reason = c.look(record)
		}
		if reason == "" {
			c.keep(record, p)
			continue
		}
		if err := c.reject(bad{p, reason, texts(record)}); err != nil {
			return err
		}
	}
	return nil
}

// look returns why a row cannot be used, or "". Only good rows have a say in
// the types of their columns.
func (c *cellReader) look(record []string) string {
	if len(record) != len(c.columns) {
		return fmt.Sprintf("has %s, want %d", table.Count(len(record), "cell"), len(c.columns))
	}
	for i, s := range record {
		col := c.columns[i]
		if !utf8.ValidString(s) {
			return fmt.Sprintf("column %s is not UTF-8", col.name)
		}
		if col.declared != core.AnyType && !c.empty(s) && !fits(s, col.declared) {
			return fmt.Sprintf("column %s: want %s, got %q", col.name, col.declared, shorten(s))
		}
	}
	for i, s := range record {
		if !c.empty(s) {
			c.columns[i].look(s)
		}
	}
	return ""
}

// empty reports whether a cell says nothing about its column's type.
func (c *cellReader) empty(s string) bool { return s == "" || c.null(s) }

func (c *cellReader) keep(record []string, p place) {
	if c.good%chunkRows == 0 {
		c.chunks = append(c.chunks, chunk{
			cells:  make([]string, 0, chunkRows*len(c.columns)),
			places: make([]place, 0, chunkRows),
		})
	}
	last := &c.chunks[len(c.chunks)-1]
	last.cells = append(last.cells, record...)
	last.places = append(last.places, p)
	c.good++
}

func (c *cellReader) null(s string) bool {
	for _, n := range c.nulls {
		if s == n {
			return true
		}
	}
	return false
}

// values is the second pass.
func (c *cellReader) values(ctx context.Context) (loaded, error) {
	names, kinds := make([]string, len(c.columns)), make([]core.TypeKind, len(c.columns))
	for i, col := range c.columns {
		names[i], kinds[i] = col.name, col.kind()
	}
	keys, err := core.NewKeys(names)
	if err != nil {
		return loaded{}, err
	}
	out := loaded{rows: make([]any, 0, c.good), places: make([]place, 0, c.good)}
	build := table.NewBuilder(keys)
	for n := range c.chunks {
		if err := ctx.Err(); err != nil {
			return loaded{}, err
		}
		if err := c.chunkValues(&out, c.chunks[n], build, kinds); err != nil {
			return loaded{}, err
		}
		c.chunks[n] = chunk{}
	}
	return out, nil
}

// chunkValues adds the rows of a chunk.
func (c *cellReader) chunkValues(out *loaded, ch chunk, build *table.Builder, kinds []core.TypeKind) error {
	cells := ch.cells
	for _, p := range ch.places {
		row, values := build.Row()
		for j := range values {
			values[j] = c.columns[j].value(cells[j], c.null(cells[j]), kinds[j])
		}
		cells = cells[len(values):]
		if err := c.rowType.Check(row); err != nil {
			if err := c.reject(bad{p, err.Error(), row}); err != nil {
				return err
			}
			continue
		}
		out.rows = append(out.rows, row)
		out.places = append(out.places, p)
	}
	return nil
}

// plainError returns what encoding/csv complains about without its line
// numbers, which the caller gives in its own form.
func plainError(err error) error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%w at line %d, column %d", p.Err, p.Line, p.Column)
	}
	return err
}

// texts copies the cells of a record, which the reader is going to reuse.
func texts(record []string) []any {
	out := make([]any, len(record))
	for i, s := range record {
		out[i] = strings.ToValidUTF8(s, "\uFFFD")
	}
	return out
}

func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "..."
}

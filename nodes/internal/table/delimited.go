package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// maxColumns is the number of columns in the largest spreadsheets. A longer header
// comes from a file that is not a table.
const maxColumns = 16384

// cells reads delimited files. It keeps the first rows as text until the type of each
// column is known, and converts later rows directly.
type cells struct {
	ReadOptions
	in    *input
	scan  cellScanner
	first string   // the first file, which defines the columns
	names []string // of its header
	cols  []column // columns of the rows, without the file column
	file  *layout  // of the open file

	conform *Conform
	keys    *value.Keys
	build   *Builder
	rows    int64 // records seen, bad ones included
	begun   bool  // the types are known
	window  window
	err     error      // the error that ended the window
	bad     *malformed // the last record, if it is malformed
}

// layout maps the columns of one file to the columns of the table.
type layout struct {
	names []string // of the file's columns
	from  []int    // for each column of the table, its index in the file, or Absent
	value any      // the value of the file column
}

func newCells(in *input, o ReadOptions) *cells {
	comma := o.Cells.Delimiter
	if comma == 0 {
		comma = o.Format.Delimiter()
	}
	c := &cells{ReadOptions: o, in: in}
	c.scan = cellScanner{lineReader: &in.lineReader, comma: utf8.AppendRune(nil, comma), max: o.MaxRow}
	c.conform = NewConform(nil, o.RowType, c.kindOf) // declared types are enforced by the conversion
	return c
}

// types returns the types of the columns, or the declared types until they are known.
func (c *cells) types() Types {
	var out Types
	if !c.begun {
		return c.Types
	}
	for i := range c.cols {
		out = append(out, Declared{Name: c.cols[i].name, Kind: c.cols[i].kind})
	}
	if c.FileColumn != "" {
		out = append(out, Declared{Name: c.FileColumn, Kind: value.StringType})
	}
	return out
}

// kindOf returns the type of the values of a column.
func (c *cells) kindOf(name string) value.TypeKind {
	if i := slices.IndexFunc(c.cols, func(k column) bool { return k.name == name }); i >= 0 {
		return c.cols[i].kind
	}
	return value.StringType // the file column
}

// read adds rows to the batch.
func (c *cells) read(ctx context.Context, b *batch) error {
	if !c.begun {
		c.err = c.fillWindow(ctx)
		if c.cols == nil {
			return c.err // there is no header
		}
		if err := c.begin(); err != nil {
			return err
		}
	}
	for c.window.rest() {
		if err := c.replay(ctx, b); err != nil || b.full() {
			return err
		}
	}
	if c.err != nil {
		return c.err
	}
	for i := 0; !b.full(); i++ {
		if b.limited() {
			return io.EOF
		}
		if err := Tick(ctx, i); err != nil {
			return err
		}
		if c.Live && b.notEmpty() && c.in.drained() {
			return nil
		}
		p, reason, err := c.next(ctx)
		if err != nil {
			return err
		}
		b.text += len(c.scan.raw)
		if reason != "" {
			b.reject(p, reason, c.data(), c.scan.raw)
			continue
		}
		c.convert(b, p, &c.scan.record, c.file, c.scan.raw)
	}
	return nil
}

// next reads the next record of the table. reason says why the record is not a row, ""
// if it is one.
func (c *cells) next(ctx context.Context) (p RowPlace, reason string, err error) {
	for {
		if !c.in.open {
			if err := c.open(ctx); err != nil {
				return p, "", err
			}
		}
		err := c.scan.next()
		if err == io.EOF {
			if err := c.in.finish(); err != nil {
				return p, "", err
			}
			continue
		}
		c.in.began = true
		c.bad, _ = errors.AsType[*malformed](err)
		switch {
		case c.bad != nil && c.bad.fault == openQuote:
			return p, "", c.in.on(c.scan.start, c.bad)
		case err != nil && c.bad == nil:
			return p, "", c.broken(err)
		}
		c.rows++
		p = RowPlace{Row: c.rows, Line: c.scan.start}
		if c.Several {
			p.File = c.in.name
		}
		if c.bad != nil {
			return p, c.bad.Error(), nil
		}
		return p, c.shape(), nil
	}
}

// broken adds a line to an error: the first line of a row that is too long, the current
// line for other errors.
func (c *cells) broken(err error) error {
	if err == errTooLong {
		return c.in.broken(c.scan.start, err)
	}
	return c.in.broken(c.in.lines+1, err)
}

// shape returns the reason why a record does not fit the columns, or "".
func (c *cells) shape() string {
	if n := c.scan.len(); n != len(c.file.names) {
		return fmt.Sprintf("has %s, want %d", Count(n, "cell"), len(c.file.names)) + c.hint()
	}
	if !c.scan.valid() {
		for i, cell := range c.scan.cells() {
			if !utf8.Valid(cell) {
				return columnName(i, c.file.names[i]) + " is not UTF-8"
			}
		}
	}
	return ""
}

// hint returns a hint for errors about rows if the header is a single column that seems
// to contain another delimiter.
func (c *cells) hint() string {
	other := c.otherDelimiter(c.file.names)
	if other == "" {
		return ""
	}
	return fmt.Sprintf(" (the header is one column, %q: delimiter: %s?)", shorten([]byte(c.file.names[0]), 40), other)
}

// delimiters lists the usual delimiters of tables.
const delimiters = ";\t|,"

// otherDelimiter returns the most frequent delimiter in a header of one column, as
// documents spell it. It returns "" if there is none or if it is the delimiter in use.
func (c *cells) otherDelimiter(names []string) string {
	if len(names) != 1 {
		return ""
	}
	best, maxCount := "", 0
	for _, d := range delimiters {
		if n := strings.Count(names[0], string(d)); n > maxCount && string(d) != string(c.scan.comma) {
			best, maxCount = string(d), n
		}
	}
	switch best {
	case "":
		return ""
	case "\t":
		return "tab"
	}
	return strconv.Quote(best)
}

// data returns the last record for rejects: its cells, or its text if it is malformed.
func (c *cells) data() any {
	if c.bad != nil {
		return valid(c.scan.raw)
	}
	return texts(&c.scan.record)
}

// open opens the next file and reads its header.
func (c *cells) open(ctx context.Context) error {
	if err := c.in.next(ctx); err != nil {
		return err
	}
	names := c.Cells.Header
	if names == nil {
		var err error
		if names, err = c.header(); err != nil || names == nil {
			return err
		}
	}
	if c.cols == nil {
		return c.setColumns(names)
	}
	return c.agree(names)
}

// header reads the line of column names. It returns nil if the file is empty.
func (c *cells) header() ([]string, error) {
	err := c.scan.next()
	_, bad := errors.AsType[*malformed](err)
	switch {
	case err == io.EOF:
		return nil, nil
	case bad:
		return nil, c.in.on(c.scan.start, fmt.Errorf("header: %w", err))
	case err != nil:
		return nil, c.broken(err)
	}
	c.in.began = true
	line := c.scan.start
	names := make([]string, c.scan.len())
	for i, n := range c.scan.cells() {
		switch {
		case !utf8.Valid(n):
			return nil, c.in.on(line, fmt.Errorf("the name of column %d is not UTF-8", i+1))
		case bytes.IndexByte(n, 0) >= 0:
			return nil, c.in.on(line, fmt.Errorf("the name of column %d has a NUL byte: the file is not text, or is UTF-16; save it as UTF-8", i+1))
		}
		if names[i] = string(n); names[i] == "" {
			names[i] = "column_" + strconv.Itoa(i+1)
		}
	}
	if other := c.otherDelimiter(names); other != "" && c.Cells.Delimiter == 0 && !c.declares(names[0]) {
		return nil, c.in.on(line, fmt.Errorf("the header is one column %q: delimiter: %s?", shorten([]byte(names[0]), 80), other))
	}
	return names, nil
}

// setColumns sets the columns of the table from the header of the first file.
func (c *cells) setColumns(names []string) error {
	if len(names) > maxColumns {
		return c.in.on(c.scan.start, fmt.Errorf("%d columns are more than the %d that are allowed", len(names), maxColumns))
	}
	known := make(map[string]bool, len(names))
	for _, n := range names {
		if known[n] {
			return c.in.on(c.scan.start, fmt.Errorf("column %q appears twice in the header", n))
		}
		known[n] = true
	}
	columns, from, err := c.Columns(names)
	if err != nil {
		return c.in.at(err)
	}
	c.cols = make([]column, len(columns))
	for i, n := range columns {
		declared := c.Types.Kind(n)
		c.cols[i] = column{name: n, declared: declared, infer: c.Cells.Infer && declared == value.AnyType}
	}
	c.first, c.names = c.in.name, names
	c.file = &layout{names, from, c.in.name}
	return nil
}

// agree checks the header of another file against the header of the first one. Only
// optional columns may differ.
func (c *cells) agree(names []string) error {
	columns, _, err := c.Columns(names)
	if err != nil {
		return c.in.at(err)
	}
	have, want := c.fixed(names), c.fixed(c.names)
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			return fmt.Errorf("%s: column %d is %q, in %s it is %q; the files of one table have the same header", c.in.name,
				slices.Index(names, have[i])+1, have[i], c.first, want[i])
		}
	}
	switch {
	case len(have) > len(want):
		return fmt.Errorf("%s: column %d, %q, is not in %s; the files of one table have the same header", c.in.name,
			slices.Index(names, have[len(want)])+1, have[len(want)], c.first)
	case len(have) < len(want):
		return fmt.Errorf("%s: column %d, %q, of %s is missing; the files of one table have the same header", c.in.name,
			slices.Index(c.names, want[len(have)])+1, want[len(have)], c.first)
	}
	columns = columns[:0]
	for i := range c.cols {
		columns = append(columns, c.cols[i].name)
	}
	c.file = &layout{names, Places(columns, names), c.in.name}
	return nil
}

// begin determines the types of the columns.
func (c *cells) begin() error {
	names := make([]string, 0, len(c.cols)+1)
	for i := range c.cols {
		c.cols[i].decide()
		names = append(names, c.cols[i].name)
	}
	if c.FileColumn != "" {
		names = append(names, c.FileColumn)
	}
	keys, err := value.NewKeys(names)
	if err != nil {
		return fmt.Errorf("%s: %w (file_column)", c.first, err)
	}
	c.begun, c.keys, c.build = true, keys, NewBuilder(keys)
	return nil
}

// convert converts a record to a row and adds it to the batch as a good or bad row.
func (c *cells) convert(b *batch, p RowPlace, r *record, in *layout, raw []byte) {
	row, values := c.build.Row()
	for j, at := range in.from {
		if at == Absent {
			continue
		}
		col, cell := &c.cols[j], r.cell(at)
		if c.null(cell) || len(cell) == 0 && col.kind != value.StringType {
			continue
		}
		v, ok := col.value(cell)
		if !ok {
			b.reject(p, col.mismatch(at, cell, c.window.rows), texts(r), raw)
			return
		}
		values[j] = v
	}
	if c.FileColumn != "" {
		values[len(c.cols)] = in.value
	}
	if reason := c.conform.Check(row); reason != "" {
		b.reject(p, reason, row, raw)
		return
	}
	b.add(row, p, raw)
}

// columnName returns the name of a column in messages; at is its index in the file.
func columnName(at int, name string) string { return fmt.Sprintf("column %d (%s)", at+1, name) }

// mismatch returns the reason why a cell does not have the column's type; at is its index
// in the file.
func (c *column) mismatch(at int, cell []byte, window int64) string {
	want := c.kind.String()
	if c.declared == value.AnyType {
		want += fmt.Sprintf(" (as in the first %d rows)", window)
	}
	return fmt.Sprintf("%s: want %s, got %q", columnName(at, c.name), want, shorten(cell, 40))
}

func (c *cells) null(s []byte) bool {
	for _, n := range c.Cells.Nulls {
		if string(s) == n {
			return true
		}
	}
	return false
}

// texts copies the cells of a record to strings.
func texts(r *record) []any {
	out := make([]any, r.len())
	for i, s := range r.cells() {
		out[i] = valid(s)
	}
	return out
}

// valid converts bytes to a string and replaces invalid UTF-8.
func valid(s []byte) string { return strings.ToValidUTF8(string(s), "\uFFFD") }

func shorten(s []byte, maxLength int) string {
	if len(s) <= maxLength {
		return valid(s)
	}
	return strings.ToValidUTF8(string(s[:maxLength]), "") + "..."
}

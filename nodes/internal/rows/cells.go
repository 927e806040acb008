package rows

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

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// maxColumns is that of the largest spreadsheets; a longer header comes from a
// file that is no table.
const maxColumns = 16384

// cells reads delimited files. The text of the first rows is kept until the type
// of each column is known; the rows behind them are read straight into values.
type cells struct {
	Options
	in    *input
	scan  cellScanner
	first string // the file that the columns are from
	names []string
	cols  []column // of the file
	take  []int    // the columns that rows have
	file  any      // the value of the file column

	conform *Conform
	keys    *core.Keys
	build   *table.Builder
	rows    int64 // records seen, bad ones included
	begun   bool  // the types are known
	window  window
	err     error      // what ended the window
	bad     *malformed // the last record, if it has no cells
}

func newCells(in *input, o Options) *cells {
	comma := o.Cells.Delimiter
	if comma == 0 {
		comma = o.Format.Delimiter()
	}
	c := &cells{Options: o, in: in}
	c.scan = cellScanner{lineReader: &in.lineReader, comma: utf8.AppendRune(nil, comma), max: o.MaxRow}
	c.conform = NewConform(nil, o.RowType, c.kindOf) // declared types are made by reading
	return c
}

// types returns the types of the columns, once they are known.
func (c *cells) types() Types {
	var out Types
	if !c.begun {
		return c.Types
	}
	for _, at := range c.take {
		out = append(out, Declared{c.cols[at].name, c.cols[at].kind, c.cols[at].declared != core.AnyType})
	}
	if c.FileColumn != "" {
		out = append(out, Declared{c.FileColumn, core.StringType, false})
	}
	return out
}

// kindOf returns the type that the values of a column have.
func (c *cells) kindOf(name string) core.TypeKind {
	if i := slices.Index(c.names, name); i >= 0 {
		return c.cols[i].kind
	}
	return core.StringType // the file column
}

// read adds rows to a batch.
func (c *cells) read(ctx context.Context, b *batch) error {
	if !c.begun {
		c.err = c.look(ctx)
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
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		if c.Live && b.some() && c.in.drained() {
			return nil
		}
		p, reason, err := c.next(ctx)
		if err != nil {
			return err
		}
		b.text += len(c.scan.raw)
		if reason != "" {
			b.reject(p, reason, c.data())
			continue
		}
		c.convert(b, p, &c.scan.record)
	}
	return nil
}

// next reads the next record of the table. reason tells why it is no row.
func (c *cells) next(ctx context.Context) (p checks.Place, reason string, err error) {
	for {
		if !c.in.open {
			if err := c.open(ctx); err != nil {
				return p, "", err
			}
		}
		err := c.scan.next()
		if err == io.EOF {
			c.in.open = false
			continue
		}
		c.bad, _ = errors.AsType[*malformed](err)
		if err != nil && c.bad == nil {
			return p, "", c.broken(err)
		}
		c.rows++
		p = checks.Place{Row: c.rows, Line: c.scan.start}
		if c.Several {
			p.File = c.in.name
		}
		if c.bad != nil {
			return p, c.bad.Error(), nil
		}
		return p, c.shape(), nil
	}
}

// broken says where the reading ended: a row that is too long where it begins,
// anything else where it happened.
func (c *cells) broken(err error) error {
	if err == errTooLong {
		return c.in.broken(c.scan.start, err)
	}
	return c.in.broken(c.in.lines+1, err)
}

// shape returns why a record cannot be a row of the columns, or "".
func (c *cells) shape() string {
	if n := c.scan.len(); n != len(c.cols) {
		return fmt.Sprintf("has %s, want %d", table.Count(n, "cell"), len(c.cols)) + c.otherDelimiter()
	}
	if !c.scan.valid() {
		for i, cell := range c.scan.cells() {
			if !utf8.Valid(cell) {
				return c.cols[i].String() + " is not UTF-8"
			}
		}
	}
	return ""
}

// otherDelimiter is a hint for a header that is one cell because something else stands
// between its names.
func (c *cells) otherDelimiter() string {
	if len(c.cols) > 1 {
		return ""
	}
	i := strings.IndexAny(c.cols[0].name, ";\t|,")
	if i < 0 {
		return ""
	}
	return fmt.Sprintf(" (the header is one cell, %q; is the delimiter %q?)", shorten([]byte(c.cols[0].name), 40), c.cols[0].name[i:i+1])
}

// data is what rejects show of the last record: its cells, or its text if it has
// none.
func (c *cells) data() any {
	if c.bad != nil {
		return valid(c.scan.raw)
	}
	return texts(&c.scan.record)
}

// open begins the next file and reads its header.
func (c *cells) open(ctx context.Context) error {
	if err := c.in.next(ctx); err != nil {
		if err == io.EOF && c.cols == nil {
			if err := c.Types.Missing(nil); err != nil {
				return c.in.at(err)
			}
		}
		return err
	}
	c.file = c.in.name
	names := c.Cells.Header
	if names == nil {
		var err error
		if names, err = c.header(); err != nil || names == nil {
			return err
		}
	}
	if c.cols == nil {
		c.first = c.in.name
		return c.setColumns(names)
	}
	return c.agree(names)
}

// header reads the line of names; nil is an empty file, which has no rows.
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
	line := c.scan.start
	names := make([]string, c.scan.len())
	for i, n := range c.scan.cells() {
		switch {
		case !utf8.Valid(n):
			return nil, c.in.on(line, fmt.Errorf("the name of column %d is not UTF-8", i+1))
		case bytes.IndexByte(n, 0) >= 0:
			return nil, c.in.on(line, fmt.Errorf("the name of column %d has a NUL byte: the file is no text, or UTF-16; save it as UTF-8", i+1))
		}
		if names[i] = string(n); names[i] == "" {
			names[i] = "column_" + strconv.Itoa(i+1)
		}
	}
	return names, nil
}

// setColumns makes the columns of the table.
func (c *cells) setColumns(names []string) error {
	if len(names) > maxColumns {
		return c.in.on(c.scan.start, fmt.Errorf("%d columns are more than the %d that are allowed", len(names), maxColumns))
	}
	known := make(map[string]bool, len(names))
	cols := make([]column, len(names))
	for i, n := range names {
		if known[n] {
			return c.in.on(c.scan.start, fmt.Errorf("column %q stands twice in the header", n))
		}
		known[n] = true
		declared := c.Types.Kind(n)
		cols[i] = column{name: n, number: i + 1, declared: declared, infer: c.Cells.Infer && declared == core.AnyType}
	}
	if err := c.Types.Missing(names); err != nil {
		return c.in.at(err)
	}
	take, err := Chosen(c.Select, names)
	if err != nil {
		return c.in.at(err)
	}
	c.names, c.cols, c.take = names, cols, take
	return nil
}

// Chosen returns the places of the wanted columns among names, of all when none are
// named.
func Chosen(wanted, names []string) ([]int, error) {
	if wanted == nil {
		all := make([]int, len(names))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	out := make([]int, len(wanted))
	for i, w := range wanted {
		if out[i] = slices.Index(names, w); out[i] < 0 {
			return nil, missingColumn(w, names)
		}
	}
	return out, nil
}

// agree compares the header of a further file with that of the first.
func (c *cells) agree(names []string) error {
	for i := range min(len(names), len(c.names)) {
		if names[i] != c.names[i] {
			return fmt.Errorf("%s: column %d is %q, in %s it is %q; the files of one table have the same header", c.in.name, i+1, names[i], c.first, c.names[i])
		}
	}
	switch {
	case len(names) > len(c.names):
		return fmt.Errorf("%s: column %d, %q, is not in %s; the files of one table have the same header", c.in.name, len(c.names)+1, names[len(c.names)], c.first)
	case len(names) < len(c.names):
		return fmt.Errorf("%s: column %d, %q, of %s is missing; the files of one table have the same header", c.in.name, len(names)+1, c.names[len(names)], c.first)
	}
	return nil
}

// begin fixes the types.
func (c *cells) begin() error {
	names := make([]string, 0, len(c.take)+1)
	for i := range c.cols {
		c.cols[i].decide()
	}
	for _, at := range c.take {
		names = append(names, c.names[at])
	}
	if c.FileColumn != "" {
		names = append(names, c.FileColumn)
	}
	keys, err := core.NewKeys(names)
	if err != nil {
		return fmt.Errorf("%s: %w (file_column)", c.first, err)
	}
	c.begun, c.keys, c.build = true, keys, table.NewBuilder(keys)
	return nil
}

// convert makes a row of cells and adds it, as a good or bad one.
func (c *cells) convert(b *batch, p checks.Place, r *record) {
	row, values := c.build.Row()
	for j, at := range c.take {
		col, cell := &c.cols[at], r.cell(at)
		if c.null(cell) || len(cell) == 0 && col.kind != core.StringType {
			continue
		}
		v, ok := col.value(cell)
		if !ok {
			b.reject(p, col.refuse(cell, c.window.rows), texts(r))
			return
		}
		values[j] = v
	}
	if c.FileColumn != "" {
		values[len(c.take)] = c.file
	}
	if reason := c.conform.Check(row); reason != "" {
		b.reject(p, reason, row)
		return
	}
	b.add(row, p)
}

// String is how messages call the column.
func (c *column) String() string { return fmt.Sprintf("column %d (%s)", c.number, c.name) }

// refuse says that a cell does not have the column's type.
func (c *column) refuse(cell []byte, window int64) string {
	want := c.kind.String()
	if c.declared == core.AnyType {
		want += fmt.Sprintf(" (as in the first %d rows)", window)
	}
	return fmt.Sprintf("%s: want %s, got %q", c, want, shorten(cell, 40))
}

func (c *cells) null(s []byte) bool {
	for _, n := range c.Cells.Nulls {
		if string(s) == n {
			return true
		}
	}
	return false
}

// texts copies cells.
func texts(r *record) []any {
	out := make([]any, r.len())
	for i, s := range r.cells() {
		out[i] = valid(s)
	}
	return out
}

// valid returns bytes as text.
func valid(s []byte) string { return strings.ToValidUTF8(string(s), "\uFFFD") }

func shorten(s []byte, most int) string {
	if len(s) <= most {
		return valid(s)
	}
	return strings.ToValidUTF8(string(s[:most]), "") + "..."
}

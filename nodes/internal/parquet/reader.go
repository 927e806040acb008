// Package parquet reads the rows of Parquet files, batch by batch. It reads only the
// pages of the selected columns. It uses the library parquet-go and converts the
// library's panics on damaged files to errors.
//
// # Types
//
//	BOOLEAN                              boolean
//	INT32, INT64, signed and unsigned    integer; beyond 64 bits a bad row
//	FLOAT, DOUBLE, FLOAT16               number; NaN is null, infinities a bad row
//	STRING, ENUM                         string
//	JSON                                 the value it holds
//	DECIMAL                              string with all its digits: "12.30"
//	DATE                                 string: "2001-02-14"
//	TIME                                 string: "15:12:00.5"
//	TIMESTAMP, INT96                     string: "2001-02-14T15:12:00Z"; without the Z
//	                                     if it is not a point in time but a local one
//	UUID                                 string: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
//	bytes without annotation, BSON       string: base64
//	LIST, repeated fields                array
//	MAP with texts as keys               object; others an array of {key, value}
//	groups                               object
//
// A column with the declared type string also accepts bytes that are UTF-8, numbers and
// booleans. The declared type number also accepts integers and decimals.
package parquet

import (
	"context"
	"fmt"
	"hash"
	"io"
	"slices"

	parquet "github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Format is the name of the format.
const Format table.Format = "parquet"

// File is one file of a table.
type File struct {
	Name string // the name in messages
	Size int64
	io.ReaderAt
}

// Source yields the files of a table in order. Next closes the previous file.
type Source interface {
	// Next returns the next file, or io.EOF after the last one.
	Next(ctx context.Context) (File, error)
}

// batchRows is the number of rows in a batch.
const batchRows = 1024

// Reader reads the rows of a table. It is used by one goroutine at a time.
type Reader struct {
	options table.ReadOptions
	source  Source
	hash    hash.Hash // of the data that is read, nil if it is not needed

	file   File
	open   *parquet.File // nil between files
	first  string        // the file that defines the columns
	cols   []*column
	keys   *value.Keys
	made   table.Types
	check  *table.Conform
	groups []parquet.RowGroup // the row groups that have not been read
	group  int                // the number of the current row group, from 1
	left   int64              // number of its rows that have not been read
	total  int64

	row    int64
	before int64 // number of rows in the files before the open one
	good   int64
	bad    []string // reasons, by index in the batch; nil if all rows are good
	rows   []int64  // the numbers of the good rows, if there are bad rows
	err    error
}

// NewReader returns a reader of the rows of the files. It ignores the options for
// cells. If sum is not nil, the footers of the files and hashes of the columns that are
// read are written to it.
func NewReader(src Source, o table.ReadOptions, sum hash.Hash) *Reader {
	return &Reader{options: o, source: src, hash: sum}
}

// Format returns Format.
func (r *Reader) Format() table.Format { return Format }

// Types returns the types of the columns, after the first batch was read.
func (r *Reader) Types() table.Types { return r.made }

// Columns returns the columns of the rows, after the first batch was read. It returns
// nil if there is no file.
func (r *Reader) Columns() []string {
	if r.keys == nil {
		return nil
	}
	return r.keys.Names()
}

// Total returns the number of rows of the first file, after the first batch was read.
func (r *Reader) Total() int64 { return r.total }

// Progress returns the number of rows of the open file that were read, and the number
// of all its rows.
func (r *Reader) Progress() (read, of int64) {
	if r.open == nil {
		return 0, 0
	}
	return r.row - r.before, r.open.NumRows()
}

// Next returns the next good and bad rows, at least one of them, or io.EOF after the
// last row.
func (r *Reader) Next(ctx context.Context) (table.Batch, error) {
	for r.err == nil {
		if err := ctx.Err(); err != nil {
			return table.Batch{}, err
		}
		var b table.Batch
		b, r.err = r.batch(ctx)
		if len(b.Rows)+len(b.Bad) > 0 {
			return b, nil
		}
	}
	return table.Batch{}, r.err
}

// batch reads rows of one row group. It may return an empty batch.
func (r *Reader) batch(ctx context.Context) (b table.Batch, err error) {
	limit := r.options.Limit
	if limit > 0 && r.good >= limit {
		return b, io.EOF
	}
	if r.open == nil {
		return b, r.next(ctx)
	}
	if r.left == 0 {
		return b, r.nextGroup()
	}
	n := int(min(r.left, batchRows))
	if limit > 0 {
		n = int(min(int64(n), limit-r.good))
	}
	objects, values := r.slab(n)
	for j, c := range r.cols {
		if err := r.guarded(c.name, func() error { return c.fill(values[j:], len(r.keys.Names()), n, r.reject) }); err != nil {
			return b, err
		}
	}
	r.left -= int64(n)
	return r.finish(objects, n), nil
}

// slab returns n rows and their values, which are stored row by row.
func (r *Reader) slab(n int) ([]value.Object, []any) {
	width := r.keys.Len()
	objects, values := make([]value.Object, n), make([]any, n*width)
	for i := range objects {
		value.InitRow(&objects[i], r.keys, values[i*width:][:width])
	}
	if r.options.FileColumn != "" {
		var name any = r.file.Name
		for i := width - 1; i < len(values); i += width {
			values[i] = name
		}
	}
	return objects, values
}

// reject marks the row with index i of the batch as bad. The first reason is kept.
func (r *Reader) reject(i int, reason string) {
	if r.bad == nil {
		r.bad = make([]string, batchRows)
	}
	if r.bad[i] == "" {
		r.bad[i] = reason
	}
}

// finish checks the rows and separates good from bad ones.
func (r *Reader) finish(objects []value.Object, n int) table.Batch {
	b := table.Batch{Rows: make([]any, n)}
	for i := range objects {
		b.Rows[i] = &objects[i]
		if reason := r.check.Check(&objects[i]); reason != "" {
			r.reject(i, reason)
		}
	}
	before := r.row
	r.row += int64(n)
	if r.bad == nil {
		b.Place = func(i int) table.RowPlace { return r.place(before + int64(i) + 1) }
	} else {
		r.part(&b, before)
	}
	r.good += int64(len(b.Rows))
	return b
}

// part moves the bad rows from b.Rows to b.Bad.
func (r *Reader) part(b *table.Batch, before int64) {
	good := b.Rows[:0]
	r.rows = r.rows[:0]
	for i, row := range b.Rows {
		number := before + int64(i) + 1
		if r.bad[i] != "" {
			b.Bad = append(b.Bad, table.BadRow{RowPlace: r.place(number), Reason: r.bad[i], Data: row})
			continue
		}
		good, r.rows = append(good, row), append(r.rows, number)
	}
	b.Rows, r.bad = good, nil
	b.Place = func(i int) table.RowPlace { return r.place(r.rows[i]) }
}

// place returns the place of a row of the current file.
func (r *Reader) place(number int64) table.RowPlace {
	p := table.RowPlace{Row: number}
	if r.options.Several {
		p.File = r.file.Name
	}
	return p
}

// next opens the next file.
func (r *Reader) next(ctx context.Context) error {
	f, err := r.source.Next(ctx)
	if err != nil {
		return err
	}
	r.file = f
	if err := r.guarded("", func() (err error) {
		r.open, err = open(f)
		return err
	}); err != nil {
		return err
	}
	if r.hash != nil {
		if err := hashFooter(r.hash, f); err != nil {
			return r.at(err)
		}
	}
	return r.guarded("", r.begin)
}

// begin determines the columns of the open file.
func (r *Reader) begin() error {
	cols, err := columnsOf(r.open, r.options)
	if err != nil {
		return err
	}
	if r.keys == nil {
		if err := r.setColumns(cols); err != nil {
			return err
		}
	} else if err := r.agree(cols); err != nil {
		return err
	}
	r.cols, r.groups, r.group, r.left, r.before = cols, r.open.RowGroups(), 0, 0, r.row
	return nil
}

// setColumns sets the columns of the table from the first file.
func (r *Reader) setColumns(cols []*column) error {
	names := make([]string, len(cols), len(cols)+1)
	for i, c := range cols {
		names[i] = c.name
		r.made = append(r.made, table.Declared{Name: c.name, Kind: c.kind, Optional: c.absent()})
	}
	if file := r.options.FileColumn; file != "" {
		names = append(names, file)
		r.made = append(r.made, table.Declared{Name: file, Kind: value.StringType})
	}
	keys, err := value.NewKeys(names)
	if err != nil {
		return err
	}
	r.keys, r.first, r.total = keys, r.file.Name, r.open.NumRows()
	r.check = table.NewConform(r.options.Types, r.options.RowType, r.made.Kind)
	return nil
}

// agree checks the columns of another file against the columns of the first one.
func (r *Reader) agree(cols []*column) error {
	names := r.keys.Names()
	if r.options.FileColumn != "" {
		names = names[:len(names)-1]
	}
	for i, name := range names {
		j := slices.IndexFunc(cols, func(c *column) bool { return c.name == name })
		switch {
		case j < 0:
			return fmt.Errorf("there is no column %q, which %s has; the files of one table have the same columns", name, r.first)
		case cols[j].absent():
		case r.made[i].Optional: // no file has had it so far
			r.made[i] = table.Declared{Name: name, Kind: cols[j].kind}
		case cols[j].kind != r.made[i].Kind:
			return fmt.Errorf("column %s is %s, in %s it is %s; the files of one table have the same columns", name, cols[j].kind, r.first, r.made[i].Kind)
		}
		cols[i], cols[j] = cols[j], cols[i]
	}
	if len(cols) > len(names) {
		return fmt.Errorf("the column %q is not in %s; the files of one table have the same columns", cols[len(names)].name, r.first)
	}
	return nil
}

// nextGroup moves to the next row group, or closes the file after the last one.
func (r *Reader) nextGroup() error {
	if r.group > 0 {
		if err := r.guarded("", r.endGroup); err != nil {
			return err
		}
	}
	if len(r.groups) == 0 {
		r.open = nil
		return nil
	}
	return r.startGroup()
}

// startGroup opens the columns of the next row group.
func (r *Reader) startGroup() error {
	g := r.groups[0]
	r.groups, r.group, r.left = r.groups[1:], r.group+1, g.NumRows()
	meta := &r.open.Metadata().RowGroups[r.group-1]
	return r.guarded("", func() error {
		for _, c := range r.cols {
			if err := c.begin(g, meta, r.file, r.hash != nil); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", r.group, c.name, err)
			}
		}
		return nil
	})
}

// endGroup closes the columns of the current row group.
func (r *Reader) endGroup() error {
	for _, c := range r.cols {
		sums, err := c.end()
		if err != nil {
			return fmt.Errorf("row group %d, column %s: %w", r.group, c.name, err)
		}
		if r.hash != nil {
			r.hash.Write(sums)
		}
	}
	return nil
}

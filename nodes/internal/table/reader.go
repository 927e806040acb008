package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core/value"
)

// File is one file of a table.
type File struct {
	Name string // as messages call it
	io.Reader
}

// FileSource hands over the files of a table in their order, and closes a file when
// the next one is asked for. One goroutine uses it at a time.
type FileSource interface {
	// Next returns the next file, io.EOF after the last.
	Next(ctx context.Context) (File, error)
}

// One is the source of a table of one file.
func One(f File) FileSource { return &one{f, false} }

type one struct {
	file File
	done bool
}

func (o *one) Next(context.Context) (File, error) {
	if o.done {
		return File{}, io.EOF
	}
	o.done = true
	return o.file, nil
}

// ReadOptions say how a table is read. The zero ReadOptions read csv with a header as
// text.
type ReadOptions struct {
	Format Format
	Cells  Cells // of csv and tsv

	// Types are the declared columns. Every file must have those that are not optional;
	// of a JSON file, one of its rows.
	Types Types
	// RowType, when set, is what every row must conform to.
	RowType *value.Type
	// Select names the columns of the rows in their order; nil means all. Every file
	// must have them, but for optional ones.
	Select []string
	// Unknown says what happens to columns that neither Types nor Select names.
	Unknown Unknown
	// AllowEmpty takes a file without content for one without rows. Otherwise it is an
	// error.
	AllowEmpty bool
	// Raw keeps the bytes of rows as they are in their file, for Batch.Raw and
	// Bad.Raw.
	Raw bool
	// FileColumn, when set, names a last column that holds the name of the file.
	FileColumn string
	// Limit is how many rows that can be read are read, 0 for all.
	Limit int64
	// MaxRow is the length in bytes that a row may have in its file; 0 means
	// DefaultMaxRow.
	MaxRow int
	// Several is whether the table is made of several files, so that the place of a
	// row names its file.
	Several bool
	// Live ends a batch where the next read of the file might have to wait: rows that
	// are there go on while others are still being written.
	Live bool
	// GiveUp is the number of bad rows after which nobody reads on, -1 for never.
	// It only spares work.
	GiveUp int64
}

// Cells are the options of delimited files.
type Cells struct {
	Delimiter rune // 0 means that of the format
	// Header holds the column names of files without a header line.
	Header []string
	// Infer is whether the cells of columns without a declared type decide about
	// it. All columns are text otherwise.
	Infer bool
	// Window is from how many rows types are inferred; 0 means all, which keeps the
	// text of the whole table. The window also ends at MaxWindow bytes of text.
	Window int
	// Nulls are the texts that mean null.
	Nulls []string
}

const (
	// DefaultMaxRow is far beyond any row that is meant: a quote left open reads on
	// to this length.
	DefaultMaxRow = 16 << 20
	// MaxWindow bounds the text that is kept to infer types from some rows.
	MaxWindow = 64 << 20
)

// A batch has fileBatchRows rows, or fewer if they are long: batchBytes of text.
const (
	fileBatchRows = 1024
	batchBytes    = 1 << 20
)

// Reader reads the rows of a table. One goroutine uses it at a time.
type Reader struct {
	options ReadOptions
	in      input
	batch   batch
	format  format
	err     error // what the next call returns
}

// format reads the rows of one file format.
type format interface {
	// read adds rows to the batch until it is full; io.EOF is the end of the table.
	read(ctx context.Context, b *batch) error
	// types returns what is known of the types of columns by now.
	types() Types
}

// NewReader returns a reader; nothing is read before the first call of Next. The
// format must be a format of rows.
func NewReader(src FileSource, o ReadOptions) (*Reader, error) {
	if o.MaxRow == 0 {
		o.MaxRow = DefaultMaxRow
	}
	if o.Format == "" {
		o.Format = CSV
	}
	r := &Reader{options: o, in: input{source: src, max: o.MaxRow, allowEmpty: o.AllowEmpty}}
	r.batch.limit, r.batch.raw.keep = o.Limit, o.Raw
	switch o.Format {
	case CSV, TSV:
		r.format = newCells(&r.in, o)
	case JSONL:
		r.format = &lines{newObjects(&r.in, o)}
	case JSON:
		r.format = &array{objects: newObjects(&r.in, o)}
	default:
		return nil, fmt.Errorf("%s is no format of rows", o.Format)
	}
	return r, nil
}

// Next returns the next rows and bad rows, at least one of them, and io.EOF after
// the last. The rows and their slice belong to the caller; what tells their places
// holds until the next call. An error comes behind all rows in front of it.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	if r.err != nil {
		return Batch{}, r.err
	}
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b := &r.batch
	b.reset()
	if r.err = r.format.read(ctx, b); r.err != nil && ctx.Err() != nil {
		return Batch{}, ctx.Err()
	}
	if len(b.rows) == 0 && len(b.bad) == 0 {
		if r.err == nil {
			r.err = errors.New("rows: an empty batch") // a fault of ours
		}
		return Batch{}, r.err
	}
	out := Batch{Rows: b.rows, Place: b.place, Bad: b.bad}
	if b.raw.keep {
		out.Raw = b.raw.of
	}
	return out, nil
}

// Format returns the format of the table.
func (r *Reader) Format() Format { return r.options.Format }

// Types returns the types of the columns as far as they are known: after the
// first call of Next those of a delimited file, of JSON only those declared.
func (r *Reader) Types() Types { return r.format.types() }

// Columns returns the columns of the rows of a delimited table, nil before the first
// call of Next, without a file that has a header, and for JSON.
func (r *Reader) Columns() []string {
	if c, ok := r.format.(*cells); ok && c.keys != nil {
		return c.keys.Names()
	}
	return nil
}

// Ahead returns how many rows were read to find types and not yet returned by Next.
func (r *Reader) Ahead() int64 {
	if c, ok := r.format.(*cells); ok {
		return c.window.rows - c.window.given
	}
	return 0
}

// batch gathers rows.
type batch struct {
	rows   []any
	places []RowPlace
	bad    []BadRow
	raw    raws
	text   int   // bytes read for the rows
	good   int64 // rows over all batches
	limit  int64
}

func (b *batch) reset() {
	b.rows, b.bad = make([]any, 0, min(max(64, 2*cap(b.rows)), fileBatchRows)), nil
	b.places, b.text = b.places[:0], 0
	b.raw.reset()
}

// some reports whether there is anything in the batch.
func (b *batch) some() bool { return len(b.rows)+len(b.bad) > 0 }

func (b *batch) full() bool {
	return len(b.rows)+len(b.bad) >= fileBatchRows || b.text >= batchBytes
}

// limited reports whether there are as many rows as are wanted.
func (b *batch) limited() bool { return b.limit > 0 && b.good >= b.limit }

// add adds a good row; raw are its bytes in the file.
func (b *batch) add(row *value.Object, p RowPlace, raw []byte) {
	b.rows, b.places = append(b.rows, row), append(b.places, p)
	b.raw.add(raw)
	b.good++
}

func (b *batch) reject(p RowPlace, reason string, data any, raw []byte) {
	bad := BadRow{RowPlace: p, Reason: reason, Data: data}
	if b.raw.keep {
		bad.Raw = bytes.Clone(raw)
	}
	b.bad = append(b.bad, bad)
}

func (b *batch) place(i int) RowPlace { return b.places[i] }

// raws holds the bytes of the good rows of a batch, one row after the other.
type raws struct {
	keep bool
	text []byte
	ends []int
}

func (r *raws) reset() { r.text, r.ends = r.text[:0], r.ends[:0] }

func (r *raws) add(raw []byte) {
	if r.keep {
		r.text = append(r.text, raw...)
		r.ends = append(r.ends, len(r.text))
	}
}

// of returns the bytes of the i-th row.
func (r *raws) of(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]:r.ends[i]]
}

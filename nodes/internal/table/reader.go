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
	Name string // the name in messages
	io.Reader
	// Seek continues the Reader at a byte of the file, for Reader.Continue. It may be nil.
	Seek func(offset int64) error
}

// FileSource yields the files of a table in order. Next closes the previous file. It is
// used by one goroutine at a time.
type FileSource interface {
	// Next returns the next file, or io.EOF after the last one.
	Next(ctx context.Context) (File, error)
}

// One returns a source of a single file.
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

// ReadOptions control how a table is read. The zero value reads csv with a header, and
// all cells as strings.
type ReadOptions struct {
	Format Format
	Cells  Cells // of csv and tsv

	// Types are the declared columns. Every file must have the columns that are not
	// optional; in a JSON file, at least one row must have them.
	Types Types
	// RowType, if set, is the type that every row must conform to.
	RowType *value.Type
	// Select lists the columns of the rows in order; nil means all columns. Every file
	// must have them, except optional ones.
	Select []string
	// Unknown is the handling of columns that neither Types nor Select names.
	Unknown Unknown
	// AllowEmpty allows files without content. Otherwise they are an error.
	AllowEmpty bool
	// Raw keeps the bytes of rows in their file, for Batch.Raw and BadRow.Raw.
	Raw bool
	// FileColumn, if set, is the name of an additional last column that holds the name
	// of the file.
	FileColumn string
	// Limit is the maximum number of good rows to read, 0 for all.
	Limit int64
	// MaxRow is the maximum length of a row in its file, in bytes. 0 means
	// DefaultMaxRow.
	MaxRow int
	// Several is set if the table consists of several files, so that the place of a row
	// includes its file.
	Several bool
	// Live ends a batch where the next read of the file might block, so that available
	// rows are processed while others are still being written.
	Live bool
	// GiveUp is the number of bad rows after which the caller stops reading, -1 if it
	// never does. It only saves work.
	GiveUp int64
}

// Cells are the options of delimited files.
type Cells struct {
	Delimiter rune // 0 means the default of the format
	// Header holds the column names of files without a header line.
	Header []string
	// Infer infers the types of columns without a declared type from their cells.
	// Otherwise these columns hold strings.
	Infer bool
	// Window is the number of rows from which types are inferred. 0 means all, which
	// keeps the text of the whole table in memory. The window also ends at MaxWindow
	// bytes of text.
	Window int
	// Nulls lists the cells that mean null.
	Nulls []string
}

const (
	// DefaultMaxRow is far longer than any intended row. After an opening quote that is
	// never closed, reading continues up to this length.
	DefaultMaxRow = 16 << 20
	// MaxWindow limits the text that is kept to infer types from the first rows, in
	// bytes.
	MaxWindow = 64 << 20
)

// A batch has fileBatchRows rows, or fewer if they are long: about batchBytes bytes of
// text.
const (
	fileBatchRows = 1024
	batchBytes    = 1 << 20
)

// Reader reads the rows of a table. It is used by one goroutine at a time.
type Reader struct {
	options ReadOptions
	in      input
	batch   batch
	format  format
	err     error // the error of the next call
}

// format reads the rows of one file format.
type format interface {
	// read adds rows to the batch until it is full. It returns io.EOF at the end of the
	// table.
	read(ctx context.Context, b *batch) error
	// types returns the types of the columns that are known so far.
	types() Types
}

// NewReader returns a reader. It does not read before the first call of Next. The
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
		return nil, fmt.Errorf("%s is not a format of rows", o.Format)
	}
	return r, nil
}

// Next returns the next good and bad rows, at least one of them, or io.EOF after the
// last row. The rows and their slice belong to the caller; Place and Raw are valid
// until the next call. An error is returned after all rows before it.
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
			r.err = errors.New("rows: an empty batch") // a bug in the reader
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

// Types returns the types of the columns that are known: for a delimited file all
// types, after the first call of Next; for JSON only the declared ones.
func (r *Reader) Types() Types { return r.format.types() }

// Columns returns the columns of a delimited table. It returns nil before the first
// call of Next, if no file had a header, and for JSON.
func (r *Reader) Columns() []string {
	if c, ok := r.format.(*cells); ok && c.keys != nil {
		return c.keys.Names()
	}
	return nil
}

// Ahead returns the number of rows that were read to infer types and that Next has not
// returned yet.
func (r *Reader) Ahead() int64 {
	if c, ok := r.format.(*cells); ok {
		return c.window.rows - c.window.replayed
	}
	return 0
}

// batch collects rows.
type batch struct {
	rows   []any
	places []RowPlace
	bad    []BadRow
	raw    raws
	text   int   // bytes read for the rows
	good   int64 // good rows in all batches
	limit  int64
}

func (b *batch) reset() {
	b.rows, b.bad = make([]any, 0, min(max(64, 2*cap(b.rows)), fileBatchRows)), nil
	b.places, b.text = b.places[:0], 0
	b.raw.reset()
}

// notEmpty reports whether the batch contains any rows.
func (b *batch) notEmpty() bool { return len(b.rows)+len(b.bad) > 0 }

func (b *batch) full() bool {
	return len(b.rows)+len(b.bad) >= fileBatchRows || b.text >= batchBytes
}

// limited reports whether the limit of good rows is reached.
func (b *batch) limited() bool { return b.limit > 0 && b.good >= b.limit }

// add adds a good row. raw holds the bytes of the row in the file.
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

// raws holds the bytes of the good rows of a batch, concatenated.
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

// of returns the bytes of the row with index i.
func (r *raws) of(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]:r.ends[i]]
}

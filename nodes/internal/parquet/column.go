package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	parquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// column is a column of the table: one leaf of the file, a nested field with several
// leaves, or an optional column that the file does not have.
type column struct {
	name   string
	kind   value.TypeKind
	leaves []*leaf // empty for an absent column
	nested node    // nil for a flat column
}

// leaf reads the pages of one leaf of the schema.
type leaf struct {
	index   int // of the column chunk in its row group
	def     int // the definition level of a value that is not null
	flat    bool
	convert converter

	pages  *parquet.FilePages
	summed *summed
	page   parquet.Page
	rest   int // number of values of the page that have not been read

	// These are used for a page with a dictionary.
	dict    parquet.Dictionary
	boxed   []boxed // the converted values of the dictionary
	indexes []int32
	levels  []byte // nil if no value is null

	// These are used for other pages, and for leaves that are not flat.
	reader parquet.ValueReader
	values []parquet.Value // read from reader
	at     int             // index of the next value in values
	space  []parquet.Value
}

// boxed is a converted value of a dictionary, which all rows with this value share.
type boxed struct {
	v      any
	reason string
}

// columnsOf returns the selected columns of a file.
func columnsOf(f *parquet.File, o table.ReadOptions) ([]*column, error) {
	fields := f.Root().Columns()
	names := make([]string, len(fields))
	for i, c := range fields {
		names[i] = c.Name()
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("column %q appears twice", names[i])
		}
	}
	columns, from, err := o.Columns(names)
	if err != nil {
		return nil, err
	}
	out, s := make([]*column, len(columns)), schemaOf(f)
	for i, at := range from {
		declared := o.Types.Kind(columns[i])
		if at == table.Absent {
			out[i] = &column{name: columns[i], kind: declared}
			continue
		}
		c, err := newColumn(s, fields[at], declared)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", columns[i], err)
		}
		out[i] = c
	}
	return out, nil
}

// absent reports whether the file does not have the column.
func (c *column) absent() bool { return len(c.leaves) == 0 }

// newColumn returns the column of a field. declared is the type that the document
// declares, AnyType if there is none.
func newColumn(s *schema, field *parquet.Column, declared value.TypeKind) (*column, error) {
	c := &column{name: field.Name()}
	if field.Leaf() && !field.Repeated() {
		kind, convert, err := converterOf(s.leaves[field.Index()], declared)
		if err != nil {
			return nil, err
		}
		c.kind = kind
		c.leaves = []*leaf{{index: field.Index(), def: field.MaxDefinitionLevel(), flat: true, convert: convert}}
		return c, nil
	}
	var err error
	if c.nested, c.kind, err = c.assembler(s, field); err != nil {
		return nil, err
	}
	if declared != value.AnyType && c.kind != value.AnyType && declared != c.kind {
		return nil, wrongType(c.kind.String(), declared)
	}
	return c, nil
}

func wrongType(have string, declared value.TypeKind) error {
	return fmt.Errorf("the file has %s, the document wants %s", have, declared)
}

// begin opens the column in a row group. sum enables hashing of its bytes.
func (c *column) begin(g parquet.RowGroup, meta *format.RowGroup, f File, sum bool) error {
	for _, l := range c.leaves {
		chunk, ok := g.ColumnChunks()[l.index].(*parquet.FileColumnChunk)
		if !ok {
			return errors.New("the column is not of a file")
		}
		var r io.ReaderAt = f
		from, size := extent(&meta.Columns[l.index].MetaData)
		maxValues := int64(-1)
		if l.flat {
			maxValues = meta.NumRows
		}
		if err := checkPages(f, from, size, maxValues); err != nil {
			return err
		}
		if sum {
			l.summed = newSummed(f, from, size)
			r = l.summed
		}
		l.pages = chunk.PagesFrom(r)
	}
	return nil
}

// end closes the column in its row group and returns the hashes of its bytes.
func (c *column) end() (sums []byte, err error) {
	for _, l := range c.leaves {
		l.release()
		if err := l.pages.Close(); err != nil {
			return nil, err
		}
		if l.summed == nil {
			continue
		}
		sum, err := l.summed.end()
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum...)
	}
	return sums, nil
}

// fill writes n values of the column to out[0], out[width], out[2*width] and so on.
func (c *column) fill(out []any, width, n int, reject func(i int, reason string)) error {
	if c.absent() {
		return nil // the values are null
	}
	if c.nested == nil {
		l := c.leaves[0]
		for done := 0; done < n; {
			if l.rest == 0 {
				if err := l.next(); err != nil {
					return err
				}
				continue
			}
			m := min(l.rest, n-done)
			rejectAt := func(i int, reason string) { reject(done+i, c.name+": "+reason) }
			if err := l.take(out[done*width:], width, m, rejectAt); err != nil {
				return err
			}
			done += m
		}
		return nil
	}
	for i := range n {
		v, reason, err := c.assemble()
		if err != nil {
			return err
		}
		if reason != "" {
			reject(i, c.name+": "+reason)
		}
		out[i*width] = v
	}
	return nil
}

// release releases the page.
func (l *leaf) release() {
	if l.page != nil {
		parquet.Release(l.page)
		l.page = nil
	}
	l.rest, l.values, l.at, l.reader = 0, nil, 0, nil
}

var errEnds = errors.New("the column has fewer values than the row group has rows: the file is damaged")

// next reads the next page.
func (l *leaf) next() error {
	l.release()
	page, err := l.pages.ReadPage()
	if err == io.EOF {
		return errEnds
	}
	if err != nil {
		return err
	}
	l.page, l.rest = page, int(page.NumValues())
	l.indexes, l.levels = nil, nil
	dict := page.Dictionary()
	if dict == nil || !l.flat {
		l.reader = page.Values()
		return nil
	}
	if dict != l.dict {
		l.dict = dict
		l.box()
	}
	data := page.Data()
	l.indexes = data.Int32()
	if l.def > 0 && len(l.indexes) < l.rest {
		l.levels = page.DefinitionLevels()
	}
	return nil
}

// box converts the values of the dictionary.
func (l *leaf) box() {
	n := l.dict.Len()
	l.boxed = make([]boxed, n)
	for i := range l.boxed {
		l.boxed[i].v, l.boxed[i].reason = l.convert(l.dict.Index(int32(i)))
	}
}

// entry returns the value of the dictionary at an index, or nil if the index is out of
// range.
func (l *leaf) entry(x int32) *boxed {
	if uint(x) < uint(len(l.boxed)) {
		return &l.boxed[x]
	}
	return nil
}

func (l *leaf) noEntry(x int32) error {
	return fmt.Errorf("value %d of a dictionary of %d: the file is damaged", x, len(l.boxed))
}

// take writes m values of the page to out[0], out[width] and so on.
func (l *leaf) take(out []any, width, m int, rejectAt func(i int, reason string)) error {
	l.rest -= m
	switch {
	case l.reader != nil:
		return l.takePlain(out, width, m, rejectAt)
	case l.levels != nil:
		return l.takeLevels(out, width, m, rejectAt)
	}
	if len(l.indexes) < m {
		return errEnds
	}
	indexes := l.indexes[:m]
	l.indexes = l.indexes[m:]
	for i, x := range indexes {
		b := l.entry(x)
		if b == nil {
			return l.noEntry(x)
		}
		out[i*width] = b.v
		if b.reason != "" {
			rejectAt(i, b.reason)
		}
	}
	return nil
}

// takeLevels is take for dictionary values mixed with nulls.
func (l *leaf) takeLevels(out []any, width, m int, rejectAt func(i int, reason string)) error {
	if len(l.levels) < m {
		return errEnds
	}
	levels := l.levels[:m]
	l.levels = l.levels[m:]
	for i, level := range levels {
		if int(level) != l.def {
			continue
		}
		if len(l.indexes) == 0 {
			return errEnds
		}
		x := l.indexes[0]
		l.indexes = l.indexes[1:]
		b := l.entry(x)
		if b == nil {
			return l.noEntry(x)
		}
		out[i*width] = b.v
		if b.reason != "" {
			rejectAt(i, b.reason)
		}
	}
	return nil
}

// takePlain is take for a page without a dictionary.
func (l *leaf) takePlain(out []any, width, m int, rejectAt func(i int, reason string)) error {
	for i := range m {
		v, err := l.value()
		if err != nil {
			return err
		}
		if v.IsNull() {
			continue
		}
		made, reason := l.convert(*v)
		out[i*width] = made
		if reason != "" {
			rejectAt(i, reason)
		}
	}
	return nil
}

// value returns the next value of the page. It is valid until the next page is read.
func (l *leaf) value() (*parquet.Value, error) {
	if l.at == len(l.values) {
		if l.space == nil {
			l.space = make([]parquet.Value, 256)
		}
		n, err := l.reader.ReadValues(l.space)
		if n == 0 {
			if err == nil || err == io.EOF {
				err = errEnds
			}
			return nil, err
		}
		l.values, l.at = l.space[:n], 0
	}
	l.at++
	return &l.values[l.at-1], nil
}

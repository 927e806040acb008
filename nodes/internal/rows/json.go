package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/checks"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// objects makes rows of the texts of JSON objects, for both JSON formats.
type objects struct {
	Options
	in      *input
	rows    int64
	names   []string // the keys of the last row that core.ParseJSON read
	flat    flatReader
	shape   shape
	conform *Conform
}

func newObjects(in *input, o Options) objects {
	return objects{
		Options: o, in: in, shape: shape{wanted: o.Select, file: o.FileColumn},
		conform: NewConform(o.Types, o.RowType, nil),
	}
}

func (o *objects) types() Types { return o.Types }

// open begins the next file.
func (o *objects) open(ctx context.Context) error {
	if err := o.in.next(ctx); err != nil {
		return err
	}
	o.shape.value = o.in.name
	return nil
}

// add takes the text of one element that starts on a line.
func (o *objects) add(b *batch, text []byte, line int64) {
	o.rows++
	b.text += len(text)
	p := checks.Place{Row: o.rows, Line: line}
	if o.Several {
		p.File = o.in.name
	}
	if row, ok := o.flat.row(text); ok {
		o.take(b, row, p)
		return
	}
	v, err := ParseJSON(text)
	if err != nil {
		b.reject(p, err.Error(), valid(text))
		return
	}
	row, ok := v.(*core.Object)
	if !ok {
		b.reject(p, "want an object, got "+core.TypeName(v), v)
		return
	}
	o.take(b, o.share(row), p)
}

// ParseJSON is core.ParseJSON with an error that says when the text ends too
// early.
func ParseJSON(text []byte) (any, error) {
	v, err := core.ParseJSON(text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON value is cut off")
	}
	return v, err
}

// take adds a row if it conforms.
func (o *objects) take(b *batch, row *core.Object, p checks.Place) {
	shaped, err := o.shape.of(row)
	if err != nil {
		b.reject(p, err.Error(), row)
		return
	}
	if reason := o.conform.Check(shaped); reason != "" {
		b.reject(p, reason, shaped)
		return
	}
	b.add(shaped, p)
}

// share makes neighbouring objects of equal keys share them, because the keys of
// a JSON row often take more room than its values, and prepares for more rows of
// these keys. A header is made when a second row has it.
func (o *objects) share(row *core.Object) *core.Object {
	if !slices.Equal(row.Keys(), o.names) {
		o.names = row.Keys()
		return row
	}
	if o.flat.keys == nil || !slices.Equal(o.flat.keys.Names(), o.names) {
		keys, err := core.NewKeys(o.names)
		if err != nil {
			return row
		}
		o.flat.expect(keys)
	}
	shared, values := o.flat.build.Row()
	i := 0
	for _, v := range row.All() {
		values[i] = v
		i++
	}
	return shared
}

// lines reads one JSON object per line; blank lines are passed over.
type lines struct{ objects }

func (l *lines) read(ctx context.Context, b *batch) error {
	for i := 0; !b.full(); i++ {
		if b.limited() {
			return io.EOF
		}
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		if !l.in.open {
			if err := l.open(ctx); err != nil {
				return err
			}
		}
		if l.Live && b.some() && l.in.drained() {
			return nil
		}
		text, err := l.in.line(l.MaxRow)
		if err == io.EOF {
			l.in.open = false
			continue
		}
		if err != nil {
			return l.in.broken(l.in.lines+1, err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			l.add(b, text, l.in.lines)
		}
	}
	return nil
}

// shape gives rows the columns that are wanted. Its zero value leaves rows as they
// are.
type shape struct {
	wanted []string // nil: all
	file   string   // the name of a last column, "" for none
	value  any      // what stands in it
	keys   []string // the keys of the last row
	from   []int    // where the values of its columns stand; -1: nowhere
	build  *table.Builder
}

// of returns the row as it is wanted. A column that it lacks is null.
func (s *shape) of(row *core.Object) (*core.Object, error) {
	if s.wanted == nil && s.file == "" {
		return row, nil
	}
	if s.build == nil || !table.SameKeys(row.Keys(), s.keys) {
		if err := s.prepare(row.Keys()); err != nil {
			return nil, err
		}
	}
	out, values := s.build.Row()
	for i, at := range s.from {
		if at >= 0 {
			_, values[i] = row.At(at)
		}
	}
	if s.file != "" {
		values[len(s.from)] = s.value
	}
	return out, nil
}

// prepare finds the wanted columns among the keys of a row.
func (s *shape) prepare(keys []string) error {
	names := s.wanted
	if names == nil {
		names = keys
	}
	names = slices.Clip(names)
	if s.file != "" {
		if slices.Contains(names, s.file) {
			return fmt.Errorf("the row has a key %q already (file_column)", s.file)
		}
		names = append(names, s.file)
	}
	s.from = s.from[:0]
	for _, n := range names[:len(names)-min(len(s.file), 1)] {
		s.from = append(s.from, slices.Index(keys, n))
	}
	s.keys = keys
	if s.build != nil && slices.Equal(s.build.Keys().Names(), names) {
		return nil
	}
	header, err := core.NewKeys(names)
	if err != nil {
		return err
	}
	s.build = table.NewBuilder(header)
	return nil
}

package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// objects reads rows from JSON objects, for both JSON formats.
type objects struct {
	ReadOptions
	in      *input
	rows    int64
	names   []string // the keys of the last row that value.ParseJSON read
	flat    flatReader
	shape   shape
	conform *Conform

	demanded []string
	presence presence // of columns in the open file
}

func newObjects(in *input, o ReadOptions) objects {
	s := shape{wanted: o.Select, file: o.FileColumn}
	if o.Unknown == DropUnknown && o.Select == nil {
		s.keep = o.declares
	}
	return objects{ReadOptions: o, in: in, shape: s, conform: NewConform(o.Types, o.RowType, nil), demanded: o.demanded()}
}

func (o *objects) types() Types { return o.Types }

// open opens the next file.
func (o *objects) open(ctx context.Context) error {
	if err := o.in.next(ctx); err != nil {
		return err
	}
	o.shape.value = o.in.name
	o.presence.begin(o.demanded)
	return nil
}

// finish ends the open file.
func (o *objects) finish() error {
	if err := o.in.finish(); err != nil {
		return err
	}
	return o.in.at(o.presence.end())
}

// add adds one element, which begins on the given line. raw holds the bytes of the row
// in the file.
func (o *objects) add(b *batch, text, raw []byte, line int64) error {
	o.rows++
	o.in.began = true
	b.text += len(text)
	p := RowPlace{Row: o.rows, Line: line}
	if o.Several {
		p.File = o.in.name
	}
	if row, ok := o.flat.row(text); ok {
		return o.take(b, row, p, raw)
	}
	if !utf8.Valid(text) {
		b.reject(p, "the row is not UTF-8", valid(text), raw)
		return nil
	}
	v, err := ParseJSON(text)
	if err != nil {
		b.reject(p, err.Error(), valid(text), raw)
		return nil
	}
	row, ok := v.(*value.Object)
	if !ok {
		b.reject(p, "want an object, got "+value.TypeName(v), v, raw)
		return nil
	}
	return o.take(b, o.share(row), p, raw)
}

// ParseJSON is value.ParseJSON with a better error for JSON that ends too early.
func ParseJSON(text []byte) (any, error) {
	v, err := value.ParseJSON(text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON value is cut off")
	}
	return v, err
}

// take adds the row, as a good or bad one. An error ends the reading.
func (o *objects) take(b *batch, row *value.Object, p RowPlace, raw []byte) error {
	if o.Unknown == FailUnknown {
		if err := o.undeclared(row.Keys()); err != nil {
			return o.in.on(p.Line, fmt.Errorf("row %d: %w", p.Row, err))
		}
	}
	o.presence.look(row.Keys())
	shaped, err := o.shape.of(row)
	if err != nil {
		b.reject(p, err.Error(), row, raw)
		return nil
	}
	if reason := o.conform.Check(shaped); reason != "" {
		b.reject(p, reason, shaped, raw)
		return nil
	}
	b.add(shaped, p, raw)
	return nil
}

// share makes adjacent objects with equal keys share the keys, because the keys of a
// JSON row often take more memory than its values. It also prepares flat for more rows
// with these keys. A header is created when a second row has the same keys.
func (o *objects) share(row *value.Object) *value.Object {
	if !slices.Equal(row.Keys(), o.names) {
		o.names = row.Keys()
		return row
	}
	if o.flat.keys == nil || !slices.Equal(o.flat.keys.Names(), o.names) {
		keys, err := value.NewKeys(o.names)
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

// lines reads one JSON object per line and skips blank lines.
type lines struct{ objects }

func (l *lines) read(ctx context.Context, b *batch) error {
	for i := 0; !b.full(); i++ {
		if b.limited() {
			return io.EOF // the remaining rows may have columns that these rows lack
		}
		if err := Tick(ctx, i); err != nil {
			return err
		}
		if !l.in.open {
			if err := l.open(ctx); err != nil {
				return err
			}
		}
		if l.Live && b.notEmpty() && l.in.drained() {
			return nil
		}
		raw, err := l.in.line(l.MaxRow)
		if err == io.EOF {
			if err := l.finish(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return l.in.broken(l.in.lines+1, err)
		}
		if text := bytes.TrimSpace(raw); len(text) > 0 {
			if err := l.add(b, text, raw, l.in.lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// shape selects the columns of rows. Its zero value leaves rows unchanged.
type shape struct {
	wanted []string               // the selected columns, nil for all
	keep   func(name string) bool // filters all columns if wanted is nil; nil keeps all
	file   string                 // the name of the file column, or "" if there is none
	value  any                    // the value of the file column
	keys   []string               // the keys of the last row
	from   []int                  // the indexes of the columns' values in the row, -1 for absent columns
	build  *Builder
}

// of returns the row with the selected columns. Columns that it lacks are null.
func (s *shape) of(row *value.Object) (*value.Object, error) {
	if s.wanted == nil && s.file == "" && s.keep == nil {
		return row, nil
	}
	if s.build == nil || !columncheck.SameKeys(row.Keys(), s.keys) {
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

// prepare finds the selected columns in the keys of a row.
func (s *shape) prepare(keys []string) error {
	names := s.wanted
	switch {
	case names == nil && s.keep != nil:
		names = slices.DeleteFunc(slices.Clone(keys), func(name string) bool { return !s.keep(name) })
	case names == nil:
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
	header, err := value.NewKeys(names)
	if err != nil {
		return err
	}
	s.build = NewBuilder(header)
	return nil
}

package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core/value"
)

// Members of a position of a Reader.
const (
	readRow    = "row"    // number of records so far, bad ones included
	readLine   = "line"   // number of lines
	readGood   = "good"   // number of good rows
	readTypes  = "types"  // of the columns, by name
	readWindow = "window" // number of rows from which they were inferred
)

// Position describes the place after the rows that Next has returned, in a table of one file
// with a row or more to a line. unread is the number of bytes that were read from the file
// after that place. ok is false if the reader cannot continue there: in a JSON array, while
// types are being inferred or a required column has not been found, and after the end of the
// file.
func (r *Reader) Position() (p *value.Object, unread int64, ok bool) {
	if r.err != nil || !r.in.open || r.in.files != 1 || r.in.seek == nil {
		return nil, 0, false
	}
	p = value.ObjectOf(readRow, int64(0), readLine, r.in.lines, readGood, r.batch.good)
	switch f := r.format.(type) {
	case *cells:
		if !f.begun || f.window.rest() || f.err != nil {
			return nil, 0, false
		}
		types := value.NewObject(len(f.cols))
		for i := range f.cols {
			types.Set(f.cols[i].name, f.cols[i].kind.String())
		}
		p.Set(readRow, f.rows)
		p.Set(readTypes, types)
		p.Set(readWindow, f.window.rows)
	case *lines:
		if len(f.presence.absent) > 0 {
			return nil, 0, false
		}
		p.Set(readRow, f.rows)
	default:
		return nil, 0, false
	}
	return p, int64(r.in.end - r.in.pos), true
}

// Continue opens the file and continues at a position, which is at a byte of the file. It is
// called before the first row is read.
func (r *Reader) Continue(ctx context.Context, p *value.Object, offset int64) error {
	row, _ := member[int64](p, readRow)
	line, _ := member[int64](p, readLine)
	r.batch.good, _ = member[int64](p, readGood)
	switch f := r.format.(type) {
	case *cells:
		if err := f.resume(ctx, p); err != nil {
			return err
		}
		f.rows = row
	case *lines:
		if err := f.open(ctx); err != nil {
			return err
		}
		f.rows, f.presence.absent = row, nil
	default:
		return fmt.Errorf("%s cannot be read from the middle", r.options.Format)
	}
	if r.in.seek == nil {
		return r.in.at(errors.New("the file cannot be read from the middle"))
	}
	if err := r.in.seek(offset); err != nil {
		return r.in.at(err)
	}
	r.in.began, r.in.lines = true, line
	r.in.pos, r.in.end, r.in.lineReader.err = 0, 0, nil
	return nil
}

// resume reads the header and sets the types that were inferred.
func (c *cells) resume(ctx context.Context, p *value.Object) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	types, _ := member[*value.Object](p, readTypes)
	for i := range c.cols {
		name, _ := member[string](types, c.cols[i].name)
		kind, ok := value.TypeKindOf(name)
		if !ok {
			return c.in.at(fmt.Errorf("there was no column %q", c.cols[i].name))
		}
		c.cols[i].kind = kind
	}
	c.window.rows, _ = member[int64](p, readWindow)
	c.window.replayed = c.window.rows
	return nil
}

package rowcheck

import (
	"bufio"
	"context"
	"encoding/base64"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// rejects is the file to which bad rows are written as they are found.
type rejects struct {
	ctx    context.Context
	name   string
	writer files.Writer
	layout table.Layout

	later   *LateFiles     // receives the file; nil if the file is put in place at once
	ended   bool           // the file has been handed to later
	pending *files.Pending // nil before the first bad row if later is nil
	out     *table.Writer
	row     [1]any
}

// newRejects replaces the file with one without rows. If later is set, it only begins
// the file that will replace it.
func newRejects(ctx context.Context, w files.Writer, name string, l table.Layout, later *LateFiles) (*rejects, error) {
	r := &rejects{ctx: ctx, name: name, writer: w, layout: l, later: later}
	if later != nil {
		return r, r.begin()
	}
	return r, w.Write(ctx, name, func(out *bufio.Writer) error { return table.Write(ctx, out, nil, l) })
}

func (r *rejects) begin() error {
	pending, err := r.writer.Create(r.ctx, r.name)
	if err == nil {
		r.pending, r.out = pending, table.NewWriter(pending.Writer, r.layout)
	}
	return err
}

func (r *rejects) write(ctx context.Context, record *value.Object) error {
	if r.pending == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.row[0] = record
	return r.out.Write(ctx, r.row[:])
}

func (r *rejects) commit() error {
	if r.pending == nil {
		return nil
	}
	if err := r.out.End(); err != nil {
		return err
	}
	if r.later == nil {
		return r.pending.Commit()
	}
	r.ended = true
	f, err := r.pending.Seal(r.writer, r.name)
	if err == nil {
		r.later.take(f, "rejects", r.name)
	}
	return err
}

// discard ends the work without the rejects: the file has no rows.
func (r *rejects) discard() {
	if r.pending != nil {
		r.pending.Discard()
	}
	if r.later != nil && !r.ended {
		r.ctx = context.WithoutCancel(r.ctx) // an attempt that is cancelled replaces the file, too
		if r.ended = true; r.begin() == nil {
			_ = r.commit() // the node fails for another reason, so the error does not matter
		}
	}
}

// columns returns the columns of the file of rejects.
func (t *Task) columns() []string {
	out := []string{"row"}
	if t.Source != "" {
		out = append(out, "line")
	}
	if t.Several {
		out = append(out, "file")
	}
	out = append(out, "node", "check", "reason", "data")
	if t.Raw {
		out = append(out, "raw", "raw_base64")
	}
	return out
}

// record returns a bad row as an object for the file or field of rejects.
func (t *Task) record(b table.BadRow) *value.Object {
	out := value.NewObject(8)
	out.Set("row", b.Row)
	if t.Source != "" {
		out.Set("line", orNull(b.Line))
	}
	if t.Several {
		out.Set("file", b.File)
	}
	out.Set("node", t.Node)
	out.Set("check", orNull(b.Check))
	out.Set("reason", b.Reason)
	out.Set("data", b.Data)
	switch {
	case b.Raw == nil:
	case utf8.Valid(b.Raw):
		out.Set("raw", string(b.Raw))
	default:
		out.Set("raw_base64", base64.StdEncoding.EncodeToString(b.Raw))
	}
	return out
}

// orNull returns v, or nil for the zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

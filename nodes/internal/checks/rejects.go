package checks

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// rejects is the file that bad rows are written to as they come.
type rejects struct {
	name    string
	pending *files.Pending
	out     *table.Writer
	row     [1]any
}

func newRejects(ctx context.Context, w files.Writer, name string, l table.Layout) (*rejects, error) {
	pending, err := w.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &rejects{name: name, pending: pending, out: table.NewWriter(pending.Writer, l)}, nil
}

func (r *rejects) write(ctx context.Context, record *core.Object) error {
	r.row[0] = record
	return r.out.Write(ctx, r.row[:])
}

func (r *rejects) commit() error {
	if err := r.out.End(); err != nil {
		return err
	}
	return r.pending.Commit()
}

// columns are the columns of rejected rows.
func (t *Task) columns() []string {
	switch {
	case t.Several:
		return []string{"row", "file", "line", "node", "check", "reason", "data"}
	case t.Source != "":
		return []string{"row", "line", "node", "check", "reason", "data"}
	}
	return []string{"row", "node", "check", "reason", "data"}
}

// record returns a bad row as an object of columns.
func (t *Task) record(b Bad) *core.Object {
	out := core.NewObject(7)
	out.Set("row", b.Row)
	if t.Several {
		out.Set("file", b.File)
	}
	if t.Source != "" {
		out.Set("line", orNull(b.Line))
	}
	out.Set("node", t.Node)
	out.Set("check", orNull(b.Check))
	out.Set("reason", b.Reason)
	out.Set("data", b.Data)
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

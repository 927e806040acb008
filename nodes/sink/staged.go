package sink

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// checkpointEvery is the time between two checkpoints of a file. A checkpoint flushes the
// file and the journal, which takes milliseconds, and a crash repeats the work since the
// last one.
const checkpointEvery = time.Second

// staged is a file of rows that a stored run writes. Its temporary file has checkpoints, so
// that an execution which is repeated after a crash continues in it. Only files with one row
// to a line can be continued.
type staged struct {
	writer  files.Writer
	pending *files.Pending
	from    *value.Object // the checkpoint at which the file continues, nil if it begins
	columns []string      // of the file
	closed  bool
	last    time.Time // of the last checkpoint
	every   time.Duration
}

// Members of a checkpoint. The temporary file belongs to one attempt.
const (
	checkAttempt = "attempt"
	checkBytes   = "bytes"
	checkRows    = "rows"
	checkSource  = "source"
	checkColumns = "columns"
	checkClosed  = "closed"
)

// resume begins the file if it has checkpoints, or continues it at the last one.
func (w *writing) resume(ctx context.Context, name string) error {
	if !w.in.Durable() || w.to == nil || w.form.compression != "" || !w.form.format.Delimited() && w.form.format != table.JSONL {
		return nil
	}
	s := &staged{writer: w.files(), last: time.Now(), every: w.every}
	at := w.in.Checkpointed()
	bytes, _ := integer(at, checkBytes)
	rows, ok := integer(at, checkRows)
	var err error
	if attempt, _ := integer(at, checkAttempt); ok && attempt == int64(w.in.Attempt()) {
		s.pending, err = s.writer.Continue(ctx, name, bytes)
		if err == nil {
			s.from, w.done = at, rows
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			w.staged = s
			return err
		}
	}
	s.pending, err = s.writer.Create(ctx, name)
	w.staged = s
	return err
}

func integer(o *value.Object, key string) (int64, bool) {
	v, _ := o.Get(key)
	n, ok := v.(int64)
	return n, ok
}

// source returns the position of the source, nil for its first row.
func (s *staged) source() *value.Object {
	if s == nil {
		return nil
	}
	v, _ := s.from.Get(checkSource)
	at, _ := v.(*value.Object)
	return at
}

// discard removes the file after an error.
func (s *staged) discard() {
	if s != nil && s.pending != nil {
		s.pending.Discard()
	}
}

// layout returns the layout of the file: a file that continues has the columns with which it
// began.
func (s *staged) layout(l table.Layout) table.Layout {
	if s.from != nil {
		l.After, _ = integer(s.from, checkRows)
		list, _ := s.from.Get(checkColumns)
		if names, ok := list.([]any); ok {
			l.Columns = make([]string, len(names))
			for i, n := range names {
				l.Columns[i], _ = n.(string)
			}
		}
		closed, _ := s.from.Get(checkClosed)
		l.Closed, _ = closed.(bool)
	}
	s.columns, s.closed = l.Columns, l.Closed
	return l
}

// checkpoint records how far the file has come, if the last checkpoint was long ago.
func (s *staged) checkpoint(ctx context.Context, w *writing, src *table.Source) error {
	if time.Since(s.last) < s.every {
		return nil
	}
	bytes, err := s.pending.Sync()
	if err != nil {
		return err
	}
	at := value.ObjectOf(checkAttempt, int64(w.in.Attempt()), checkBytes, bytes, checkRows, w.done, checkSource, src.Position())
	if s.columns != nil {
		names := make([]any, len(s.columns))
		for i, n := range s.columns {
			names[i] = n
		}
		at.Set(checkColumns, names)
		at.Set(checkClosed, s.closed)
	}
	if err := w.in.Checkpoint(ctx, at); err != nil {
		return err
	}
	s.last = time.Now()
	return nil
}

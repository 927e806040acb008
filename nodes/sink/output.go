package sink

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// bufferSize is the size of the buffer for standard output. It determines how often a
// cancelled context is noticed.
const bufferSize = 64 << 10

// output writes a file, which is replaced atomically, or standard output, where each
// write appears at once.
func (w *writing) output(ctx context.Context, name string, c content, fill func(*bufio.Writer) error) (core.Result, error) {
	if w.form.format != parquetFormat && w.form.compression == "gzip" {
		plain := fill
		fill = func(out *bufio.Writer) error { return compressed(out, plain) }
	}
	result := func() core.Result { return w.result(name, c, w.done) }
	if w.to == nil {
		if err := w.toStdout(ctx, fill); err != nil {
			return core.Result{}, err
		}
		return result(), nil
	}
	if w.staged != nil {
		return w.files().Finish(w.staged.pending, name, w.later, fill, result)
	}
	return w.files().Deliver(ctx, name, w.later, fill, result)
}

// files returns the writer of the files of the attempt.
func (w *writing) files() files.Writer {
	return files.Writer{Place: w.place, Temp: files.TempOf(w.in), Wrap: w.wrap}
}

// compressed compresses with gzip what fill writes.
func compressed(out io.Writer, fill func(*bufio.Writer) error) error {
	z := gzip.NewWriter(out)
	b := bufio.NewWriterSize(z, bufferSize)
	if err := fill(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// toStdout writes to standard output. Output cannot be undone, so another attempt would
// write it twice.
func (w *writing) toStdout(ctx context.Context, fill func(*bufio.Writer) error) error {
	out := &counted{ctx: ctx, w: w.stdout}
	b := bufio.NewWriterSize(out, bufferSize)
	err := fill(b)
	if flushed := b.Flush(); err == nil {
		err = flushed
	}
	if err != nil && out.n > 0 {
		if w.done > 0 {
			err = fmt.Errorf("%w; the %s before are written", err, table.Count(int(w.done), "row"))
		}
		return core.Permanent(err)
	}
	return err
}

// counted counts the bytes that are written, and returns an error once ctx is done.
type counted struct {
	ctx context.Context
	w   io.Writer
	n   int
}

func (c *counted) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}

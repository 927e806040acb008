package files

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
)

// bufferSize is the size of the write buffer, in bytes. Cancellation is checked when
// the buffer is written.
const bufferSize = 64 << 10

// Writer writes complete files.
type Writer struct {
	Place
	// Wrap, if set, wraps the writer to the temporary file. Tests use it to simulate
	// disk errors.
	Wrap func(io.Writer) io.Writer
}

// Write creates or replaces a file with the data that fill writes. If there is an
// error, fill panics or the context is cancelled, an existing file stays unchanged.
func (w Writer) Write(ctx context.Context, name string, fill func(*bufio.Writer) error) error {
	p, err := w.Create(ctx, name)
	if err != nil {
		return err
	}
	defer p.Discard() // does nothing after Commit
	if err := p.fill(fill); err != nil {
		return err
	}
	return p.Commit()
}

// fill calls fill to write the file.
func (p *Pending) fill(fill func(*bufio.Writer) error) error {
	err := fill(p.Writer)
	if e, ok := errors.AsType[*writeError](err); ok && e.of == p {
		return e // the context that a library adds is not useful
	}
	return err
}

// Create begins to create or replace a file, and creates its folder if necessary. The
// data is written to a temporary file in the same folder. The caller must call Commit
// or Discard.
func (w Writer) Create(ctx context.Context, name string) (*Pending, error) {
	root, base, err := w.folder(name)
	if err != nil {
		return nil, err
	}
	mode, err := replaceable(root, base)
	if err != nil {
		root.Close()
		return nil, w.describe(name, err)
	}
	p := &Pending{ctx: ctx, root: root, base: base, mode: mode, temp: ".wavefold-" + rand.Text() + ".tmp"}
	p.file, err = root.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		root.Close()
		return nil, p.unnamed(err)
	}
	var out io.Writer = p.file
	if w.Wrap != nil {
		out = w.Wrap(p.file)
	}
	p.Writer = bufio.NewWriterSize(p.guarded(out), bufferSize)
	return p, nil
}

// Pending is a file that is being written. It is not visible under its name before
// Commit. It is used by one goroutine at a time.
type Pending struct {
	*bufio.Writer // fails after the context of Create is done
	ctx           context.Context
	root          *os.Root
	file          *os.File
	temp, base    string
	mode          fs.FileMode
	ended         bool
}

// Commit flushes the data to the disk and renames the file to its name. If there is an
// error or the context of Create is done, it removes the temporary file, and an
// existing file stays unchanged.
func (p *Pending) Commit() error {
	if p.ended {
		return errors.New("the file is closed")
	}
	if err := p.finish(); err != nil {
		p.Discard()
		return p.unnamed(err)
	}
	p.ended = true
	syncFolder(p.root)
	p.root.Close()
	return nil
}

func (p *Pending) finish() error {
	if err := p.close(); err != nil {
		return err
	}
	return p.root.Rename(p.temp, p.base)
}

// close flushes the data to the disk and closes the temporary file.
func (p *Pending) close() error {
	if err := p.Flush(); err != nil {
		return err
	}
	if p.mode != 0 {
		if err := p.file.Chmod(p.mode); err != nil {
			return err
		}
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := p.file.Close(); err != nil {
		return err
	}
	return p.ctx.Err()
}

// Discard removes the temporary file. It does nothing after Commit or Discard.
func (p *Pending) Discard() {
	if p.ended {
		return
	}
	p.ended = true
	p.file.Close() // a second Close only returns an error
	p.root.Remove(p.temp)
	p.root.Close()
}

// replaceable returns the permissions of the file that will be replaced, 0 if there is
// none. It rejects folders, devices and pipes, because a rename would replace /dev/null
// by a regular file.
func replaceable(root *os.Root, base string) (fs.FileMode, error) {
	info, err := root.Stat(base)
	if err != nil {
		if _, lerr := root.Lstat(base); lerr == nil {
			return 0, err // a link that is broken or leaves the folder
		}
		return 0, nil
	}
	if !info.Mode().IsRegular() {
		return 0, notRegular(base)
	}
	return info.Mode().Perm(), nil
}

// syncFolder makes the rename durable. Errors are ignored because some file systems
// cannot sync a folder, and the file is complete in any case.
func syncFolder(root *os.Root) {
	if d, err := root.Open("."); err == nil {
		d.Sync()
		d.Close()
	}
}

// Reader returns a reader that fails after ctx is done.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

// guarded returns a writer that fails after the context of Create is done.
func (p *Pending) guarded(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := w.Write(b)
		return n, p.unnamed(err)
	})
}

// unnamed removes the name of the temporary file from an error. The caller adds the
// real name of the file.
func (p *Pending) unnamed(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &writeError{p, e.Err}
	}
	return err
}

// writeError is an error of writing a file to the disk. of identifies the file, because
// fill may write another file at the same time.
type writeError struct {
	of  *Pending
	err error
}

// Error returns the message.
func (e *writeError) Error() string { return "cannot be written: " + e.err.Error() }

// Unwrap returns the cause.
func (e *writeError) Unwrap() error { return e.err }

type (
	readerFunc func([]byte) (int, error)
	writerFunc func([]byte) (int, error)
)

func (f readerFunc) Read(p []byte) (int, error)  { return f(p) }
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

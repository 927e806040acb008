package files

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// bufferSize is the size of the write buffer, in bytes. Cancellation is checked when
// the buffer is written.
const bufferSize = 64 << 10

// Writer writes complete files.
type Writer struct {
	Place
	Temp
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
	p, err := w.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	if p.forget, err = w.note(p.root.Name(), p.temp, name); err == nil {
		if w.durable {
			_ = p.root.Remove(p.temp) // what an earlier process has left; if it stays, OpenFile fails
		}
		p.file, err = p.root.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	return p.opened(w, err)
}

// Continue is Create for a temporary file that an earlier process has left behind in a
// stored run: it keeps the first size bytes, which Sync has flushed, and removes the rest.
// The error is fs.ErrNotExist if there is no such file, or if it is too short.
func (w Writer) Continue(ctx context.Context, name string, size int64) (*Pending, error) {
	p, err := w.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	if p.forget, err = w.note(p.root.Name(), p.temp, name); err == nil {
		if p.file, err = p.root.OpenFile(p.temp, os.O_WRONLY, 0); err == nil {
			err = p.cut(size)
		}
	}
	return p.opened(w, err)
}

// cut truncates the file and continues at its end.
func (p *Pending) cut(size int64) error {
	info, err := p.file.Stat()
	if err == nil && info.Size() < size {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = p.file.Truncate(size)
	}
	if err == nil {
		p.size, err = p.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		p.file.Close()
	}
	return err
}

// begin opens the folder of a file and determines what will be replaced.
func (w Writer) begin(ctx context.Context, name string) (*Pending, error) {
	root, base, err := w.folder(name)
	if err != nil {
		return nil, err
	}
	mode, err := replaceable(root, base)
	if err != nil {
		root.Close()
		return nil, w.describe(name, err)
	}
	return &Pending{Temp: w.Temp, ctx: ctx, root: root, base: base, mode: mode, temp: w.name(name)}, nil
}

// opened sets up the writer once the temporary file has been opened, unless there was an
// error.
func (p *Pending) opened(w Writer, err error) (*Pending, error) {
	if err != nil {
		p.root.Close()
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
	Temp
	ctx        context.Context
	root       *os.Root
	file       *os.File
	temp, base string
	mode       fs.FileMode
	size       int64 // bytes written to the file
	forget     func()
	ended      bool
}

// Sync flushes what was written so far to the disk, and returns the number of bytes. After
// a crash, Continue begins there.
func (p *Pending) Sync() (size int64, err error) {
	if err := p.Flush(); err != nil {
		return 0, err
	}
	return p.size, p.unnamed(p.file.Sync())
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
	p.forget()
	defer p.root.Close()
	return p.syncFolder(p.root)
}

func (p *Pending) finish() error {
	if err := p.close(); err != nil {
		return err
	}
	if err := p.owned(); err != nil {
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
	p.forget()
	p.root.Close()
}

// replaceable returns the permissions of the file that will be replaced, or 0 if there is
// none. It rejects folders, devices and pipes, because a rename would replace /dev/null by
// a regular file.
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

// syncFolder makes a rename durable. Only a stored run depends on that, so otherwise errors
// are ignored: the file is complete in any case. Some file systems cannot sync a folder.
func (t Temp) syncFolder(root *os.Root) error {
	d, err := root.Open(".")
	if err == nil {
		err = d.Sync()
		d.Close()
	}
	if !t.durable || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
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
		p.size += int64(n)
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

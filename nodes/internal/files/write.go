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

// bufferSize is how much is gathered before the disk is asked, and so how often
// a cancelled context is noticed.
const bufferSize = 64 << 10

// Writer writes whole files.
type Writer struct {
	Place
	// Wrap, when set, stands between the writer and the temporary file. Tests
	// use it to make the disk fail.
	Wrap func(io.Writer) io.Writer
}

// Write creates or replaces a file with what fill writes. On any error, a panic
// of fill or a cancelled context the file stays what it was.
func (w Writer) Write(ctx context.Context, name string, fill func(*bufio.Writer) error) error {
	p, err := w.Create(ctx, name)
	if err != nil {
		return err
	}
	defer p.Discard() // does nothing once the file is there
	if err := p.fill(fill); err != nil {
		return err
	}
	return p.Commit()
}

// fill lets fill write the file.
func (p *Pending) fill(fill func(*bufio.Writer) error) error {
	err := fill(p.Writer)
	if e, ok := errors.AsType[*writeError](err); ok && e.of == p {
		return e // what a library says around it is how it came to write
	}
	return err
}

// Create begins a file that is going to be created or replaced, creating its
// folder when needed. What is written goes to a temporary file in the same
// folder. The caller ends it with Commit or Discard.
func (w Writer) Create(ctx context.Context, name string) (*Pending, error) {
	root, base, err := w.folder(name)
	if err != nil {
		return nil, err
	}
	mode, err := replaceable(root, base)
	if err != nil {
		root.Close()
		return nil, w.word(name, err)
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

// Pending is a file being written. Nobody sees it before Commit. One goroutine
// uses it at a time.
type Pending struct {
	*bufio.Writer // fails once the context of Create is done
	ctx           context.Context
	root          *os.Root
	file          *os.File
	temp, base    string
	mode          fs.FileMode
	ended         bool
}

// Commit flushes what was written to the disk and gives the file its name. On an
// error, or when the context of Create is done, the temporary file is removed and
// an older file of the name stays.
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

// close flushes what was written to the disk.
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

// Discard removes what was written. It does nothing after Commit or another
// Discard.
func (p *Pending) Discard() {
	if p.ended {
		return
	}
	p.ended = true
	p.file.Close() // a second Close only returns an error
	p.root.Remove(p.temp)
	p.root.Close()
}

// replaceable returns the permissions of the file that is going to be replaced,
// 0 when there is none, and refuses folders, devices and pipes: a rename would
// put a plain file in the place of /dev/null.
func replaceable(root *os.Root, base string) (fs.FileMode, error) {
	info, err := root.Stat(base)
	if err != nil {
		if _, lerr := root.Lstat(base); lerr == nil {
			return 0, err // a link to nowhere or out of the folder
		}
		return 0, nil
	}
	if !info.Mode().IsRegular() {
		return 0, notRegular(base)
	}
	return info.Mode().Perm(), nil
}

// syncFolder makes the rename itself durable. Some file systems cannot flush a
// folder; the file is whole in any case, so that is no error.
func syncFolder(root *os.Root) {
	if d, err := root.Open("."); err == nil {
		d.Sync()
		d.Close()
	}
}

// Reader returns r made to fail once ctx is done.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

// guarded returns w made to fail once the context of Create is done.
func (p *Pending) guarded(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := w.Write(b)
		return n, p.unnamed(err)
	})
}

// unnamed takes the name of the temporary file out of an error: whoever reads it
// knows the file by the name that the caller puts in front.
func (p *Pending) unnamed(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &writeError{p, e.Err}
	}
	return err
}

// writeError says that the disk did not take a file. What fills one file may write
// another one while it does, so the error knows which it is about.
type writeError struct {
	of  *Pending
	err error
}

// Error returns the text of the cause.
func (e *writeError) Error() string { return "cannot be written: " + e.err.Error() }

// Unwrap returns the cause.
func (e *writeError) Unwrap() error { return e.err }

type (
	readerFunc func([]byte) (int, error)
	writerFunc func([]byte) (int, error)
)

func (f readerFunc) Read(p []byte) (int, error)  { return f(p) }
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

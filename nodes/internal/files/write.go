package files

import (
	"bufio"
	"context"
	"crypto/rand"
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

// Write creates or replaces a file with what fill writes, creating its folder
// when needed. The text goes to a temporary file in the same folder, which is
// flushed to the disk and then renamed. On any error, a panic of fill or a
// cancelled context the file stays what it was and the temporary one is
// removed.
func (w Writer) Write(ctx context.Context, name string, fill func(*bufio.Writer) error) (err error) {
	root, base, err := w.folder(name)
	if err != nil {
		return err
	}
	defer root.Close()
	mode, err := replaceable(root, base)
	if err != nil {
		return err
	}
	temp := ".wavefold-" + rand.Text() + ".tmp"
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			f.Close() // a second Close only returns an error
			root.Remove(temp)
		}
	}()
	if err := w.fill(ctx, f, fill); err != nil {
		return err
	}
	if mode != 0 {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := root.Rename(temp, base); err != nil {
		return err
	}
	done = true
	syncFolder(root)
	return nil
}

func (w Writer) fill(ctx context.Context, f *os.File, fill func(*bufio.Writer) error) error {
	var out io.Writer = f
	if w.Wrap != nil {
		out = w.Wrap(f)
	}
	b := bufio.NewWriterSize(guarded(ctx, out), bufferSize)
	if err := fill(b); err != nil {
		return err
	}
	return b.Flush()
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

func guarded(ctx context.Context, w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(p)
	})
}

type (
	readerFunc func([]byte) (int, error)
	writerFunc func([]byte) (int, error)
)

func (f readerFunc) Read(p []byte) (int, error)  { return f(p) }
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

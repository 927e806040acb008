package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLocal(t *testing.T) {
	for name, ok := range map[string]bool{
		"a.csv": true, "./a.csv": true, "in/a.csv": true, "in/../a.csv": true,
		"": false, " ": false, "../a.csv": false, "in/../../a.csv": false, "/etc/passwd": false,
	} {
		if err := Local(name); (err == nil) != ok {
			t.Errorf("Local(%q) = %v, want ok %v", name, err, ok)
		}
	}
}

// folderWith makes a folder with a file. Next to the folder is a file that must not be
// accessible from it. A link in the folder leads to that file.
func folderWith(t *testing.T) (dir, secret string) {
	t.Helper()
	base := t.TempDir()
	dir, secret = filepath.Join(base, "work"), filepath.Join(base, "secret.txt")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, secret, "secret")
	write(t, filepath.Join(dir, "in.txt"), "in")
	if err := os.Symlink(secret, filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	return dir, secret
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpenStaysInside(t *testing.T) {
	dir, secret := folderWith(t)
	for _, c := range []struct {
		name    string
		outside bool
		want    string // "" if the path is rejected
	}{
		{"in.txt", false, "in"},
		{"./in.txt", false, "in"},
		{"../secret.txt", false, ""},
		{secret, false, ""},
		{"link.txt", false, ""},
		{"../secret.txt", true, "secret"},
		{secret, true, "secret"},
		{"link.txt", true, "secret"},
	} {
		f, err := Place{Dir: dir, Outside: c.outside}.Open(c.name)
		if c.want == "" {
			if err == nil {
				t.Errorf("Open(%q) went outside", c.name)
			}
			continue
		}
		if err != nil {
			t.Errorf("Open(%q, outside %v): %v", c.name, c.outside, err)
			continue
		}
		got, _ := io.ReadAll(f)
		f.Close()
		if string(got) != c.want {
			t.Errorf("Open(%q) reads %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPathStaysInside(t *testing.T) {
	dir, _ := folderWith(t)
	p := Place{Dir: dir}
	got, err := p.Path("sub/deep/x.db")
	if err != nil || got != filepath.Join(dir, "sub", "deep", "x.db") {
		t.Fatalf("Path = %q, %v", got, err)
	}
	for _, bad := range []string{"link.txt", "../x.db", "sub"} {
		if got, err := p.Path(bad); err == nil {
			t.Errorf("Path(%q) = %q, want an error", bad, got)
		}
	}
}

func put(text string) func(*bufio.Writer) error {
	return func(w *bufio.Writer) error { _, err := w.WriteString(text); return err }
}

func TestWriteReplacesAndKeepsPermissions(t *testing.T) {
	dir, secret := folderWith(t)
	w := Writer{Place: Place{Dir: dir}}
	if err := w.Write(t.Context(), "in.txt", put("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "in.txt")); got != "new" {
		t.Fatalf("content %q", got)
	}
	if info, _ := os.Stat(filepath.Join(dir, "in.txt")); info.Mode().Perm() != 0o640 {
		t.Fatalf("permissions became %v", info.Mode())
	}
	if err := w.Write(t.Context(), "a/b/c.txt", put("deep")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "a/b/c.txt")); got != "deep" {
		t.Fatalf("content %q", got)
	}
	for _, bad := range []string{"../out.txt", "link.txt", "a", filepath.Join(dir, "abs.txt")} {
		if err := w.Write(t.Context(), bad, put("x")); err == nil {
			t.Errorf("Write(%q) was allowed", bad)
		}
	}
	if got := read(t, secret); got != "secret" {
		t.Fatalf("the file outside became %q", got)
	}
	w.Outside = true
	if err := w.Write(t.Context(), secret, put("opened")); err != nil || read(t, secret) != "opened" {
		t.Fatalf("with Outside: %v, %q", err, read(t, secret))
	}
}

// Whatever goes wrong, the old file stays unchanged and no temporary file remains.
func TestWriteFailsWhole(t *testing.T) {
	full := errors.New("made to fail")
	cases := map[string]struct {
		ctx  func(context.Context) context.Context
		wrap func(io.Writer) io.Writer
		fill func(*bufio.Writer) error
		want error
	}{
		"fill fails": {
			fill: func(w *bufio.Writer) error { w.WriteString(strings.Repeat("x", 3*bufferSize)); return full },
			want: full,
		},
		"disk is full": {
			wrap: func(io.Writer) io.Writer { return devFull(t) },
			fill: put("x"),
			want: syscall.ENOSPC,
		},
		"disk is full in the middle": {
			wrap: func(w io.Writer) io.Writer { return &limited{w: w, left: bufferSize + 10} },
			fill: put(strings.Repeat("x", 3*bufferSize)),
			want: syscall.ENOSPC,
		},
		"cancelled before": {
			ctx:  func(c context.Context) context.Context { c, cancel := context.WithCancel(c); cancel(); return c },
			fill: put("x"),
			want: context.Canceled,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "out.txt"), "old")
			ctx := t.Context()
			if c.ctx != nil {
				ctx = c.ctx(ctx)
			}
			err := Writer{Place: Place{Dir: dir}, Wrap: c.wrap}.Write(ctx, "out.txt", c.fill)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			onlyOld(t, dir)
		})
	}
}

func TestWriteCancelledInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out.txt"), "old")
	ctx, cancel := context.WithCancel(t.Context())
	chunks := 0
	err := Writer{Place: Place{Dir: dir}}.Write(ctx, "out.txt", func(w *bufio.Writer) error {
		for range 100 {
			if _, err := w.WriteString(strings.Repeat("x", bufferSize)); err != nil {
				return err
			}
			if chunks++; chunks == 3 {
				cancel()
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || chunks > 5 {
		t.Fatalf("error %v after %d chunks", err, chunks)
	}
	onlyOld(t, dir)
}

// A cancellation during the last write still takes effect.
func TestWriteCancelledAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out.txt"), "old")
	ctx, cancel := context.WithCancel(t.Context())
	w := Writer{Place: Place{Dir: dir}, Wrap: func(w io.Writer) io.Writer {
		return writerFunc(func(p []byte) (int, error) { cancel(); return w.Write(p) })
	}}
	if err := w.Write(ctx, "out.txt", put("new")); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	onlyOld(t, dir)
}

func TestWriteSurvivesPanicOfFill(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "out.txt"), "old")
	func() {
		defer func() { recover() }()
		Writer{Place: Place{Dir: dir}}.Write(t.Context(), "out.txt", func(*bufio.Writer) error { panic("boom") })
	}()
	onlyOld(t, dir)
}

func onlyOld(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || read(t, filepath.Join(dir, "out.txt")) != "old" {
		t.Fatalf("left behind: %v, out.txt holds %q", entries, read(t, filepath.Join(dir, "out.txt")))
	}
}

func devFull(t *testing.T) io.Writer {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full:", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// limited is a disk with little space.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.w.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestPending(t *testing.T) {
	dir, _ := folderWith(t)
	w := Writer{Place: Place{Dir: dir}}
	begin := func(ctx context.Context) *Pending {
		p, err := w.Create(ctx, "in.txt")
		if err != nil {
			t.Fatal(err)
		}
		p.WriteString("half")
		return p
	}
	p := begin(t.Context())
	if got := read(t, filepath.Join(dir, "in.txt")); got != "in" {
		t.Errorf("before Commit the file is %q", got)
	}
	p.Discard()
	p.Discard()
	if err := p.Commit(); err == nil {
		t.Error("Commit after Discard is not an error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = begin(ctx)
	cancel()
	if err := p.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit after the end of the context: %v", err)
	}
	if got := read(t, filepath.Join(dir, "in.txt")); got != "in" {
		t.Errorf("after two failures the file is %q", got)
	}
	p = begin(t.Context())
	p.WriteString(" whole")
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	p.Discard()
	if got := read(t, filepath.Join(dir, "in.txt")); got != "half whole" {
		t.Errorf("after Commit the file is %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("the folder holds %v, want the file and the link", entries)
	}
}

// While one file is filled another one is written, and the disk is full when the second
// one is written. The error must keep the name of the second file.
func TestWriteKeepsWhatNamesAnotherFile(t *testing.T) {
	place := Place{Dir: t.TempDir()}
	other := Writer{Place: place, Wrap: func(io.Writer) io.Writer { return full{} }}
	err := Writer{Place: place}.Write(t.Context(), "out.csv", func(*bufio.Writer) error {
		err := other.Write(t.Context(), "rejects.csv", func(w *bufio.Writer) error {
			_, err := w.WriteString(strings.Repeat("x", 2*bufferSize))
			return err
		})
		return fmt.Errorf("rejects.csv: %w", err)
	})
	if want := "rejects.csv: cannot be written: no space left on device"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "tmp", Err: syscall.ENOSPC}
}

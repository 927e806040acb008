package files

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/leftover"
)

// stored returns a writer for one attempt of a stored run.
func stored(dir, run, node string, attempt int, d core.Durability) Writer {
	return Writer{Place: Place{Dir: dir}, Temp: TempOf(core.NewInput(run, node, attempt, core.Shared{Durability: &d}))}
}

func TestTempNames(t *testing.T) {
	random := func(run string) string { return TempOf(core.NewInput(run, "n", 1, core.Shared{})).name("out.csv") }
	derived := func(run, node string, attempt int, file string) string {
		return stored("", run, node, attempt, core.Durability{}).name(file)
	}
	base := derived("r1", "n", 1, "out.csv")
	tests := []struct {
		name, a, b string
		equal      bool
	}{
		{"the same attempt", base, derived("r1", "n", 1, "out.csv"), true},
		{"another spelling", base, derived("r1", "n", 1, "./out.csv"), true},
		{"another run", base, derived("r2", "n", 1, "out.csv"), false},
		{"another node", base, derived("r1", "m", 1, "out.csv"), false},
		{"another attempt", base, derived("r1", "n", 2, "out.csv"), false},
		{"another file", base, derived("r1", "n", 1, "a/out.csv"), false},
		{"without a store", random("r1"), random("r1"), false},
	}
	for _, tt := range tests {
		if (tt.a == tt.b) != tt.equal {
			t.Errorf("%s: got %s and %s, want equal %t", tt.name, tt.a, tt.b, tt.equal)
		}
	}
	for _, name := range []string{base, random("r1"), random(""), derived("a/b\x00", "n", 1, "f"), derived(strings.Repeat("x", 300), "n", 1, "f")} {
		if !regexp.MustCompile(`^\.wavefold-([\w.-]{1,64}-)?[A-Z2-7]{26}\.tmp$`).MatchString(name) {
			t.Errorf("%q is not a name of a temporary file", name)
		}
	}
}

// TestLeftoverIsReplaced: an attempt that is repeated after a crash writes the file that the
// first process left behind again, and removes the note of it.
func TestLeftoverIsReplaced(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	w := stored(dir, "r", "n", 1, core.Durability{Folder: folder})
	crashed, err := w.Create(t.Context(), "sub/out.csv")
	if err != nil {
		t.Fatal(err)
	}
	crashed.WriteString("half")
	if _, err := crashed.Sync(); err != nil {
		t.Fatal(err)
	}
	left, err := leftover.Files(folder)
	if err != nil || len(left) != 1 || left[0].Key != "r/n" || read(t, left[0].Path) != "half" {
		t.Fatalf("got leftovers %v, %v", left, err)
	}
	err = w.Write(t.Context(), "sub/out.csv", func(b *bufio.Writer) error {
		_, err := b.WriteString("all")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := leftover.Files(folder); len(left) != 0 {
		t.Errorf("notes are left: %v", left)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "sub"))
	if got := read(t, filepath.Join(dir, "sub", "out.csv")); got != "all" || len(entries) != 1 {
		t.Errorf("the file has %q, and %d files are in the folder", got, len(entries))
	}
}

// TestContinue: a file continues after the bytes that were flushed, and what was written after
// them is gone.
func TestContinue(t *testing.T) {
	dir := t.TempDir()
	w := stored(dir, "r", "n", 1, core.Durability{})
	crashed, err := w.Create(t.Context(), "out.csv")
	if err != nil {
		t.Fatal(err)
	}
	crashed.WriteString("a\nb\n")
	size, err := crashed.Sync()
	if err != nil || size != 4 {
		t.Fatalf("Sync returned %d, %v, want 4", size, err)
	}
	crashed.WriteString("c\nd")
	if _, err := crashed.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Continue(t.Context(), "out.csv", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of 7 bytes continues after byte 100: %v", err)
	}
	if _, err := stored(dir, "r", "other", 1, core.Durability{}).Continue(t.Context(), "out.csv", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of another node continues: %v", err)
	}
	p, err := w.Continue(t.Context(), "out.csv", size)
	if err != nil {
		t.Fatal(err)
	}
	p.WriteString("e\n")
	if size, err := p.Sync(); err != nil || size != 6 {
		t.Errorf("Sync returned %d, %v, want 6", size, err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "out.csv")); got != "a\nb\ne\n" {
		t.Errorf("the file has %q", got)
	}
}

// TestRunLost: a process that has lost its run replaces no file, at once or later.
func TestRunLost(t *testing.T) {
	dir, lost := t.TempDir(), errors.New("the run is held by another process")
	write(t, filepath.Join(dir, "out.csv"), "old")
	w := stored(dir, "r", "n", 1, core.Durability{Owned: func() error { return lost }})
	fill := func(b *bufio.Writer) error { _, err := b.WriteString("new"); return err }
	if err := w.Write(t.Context(), "out.csv", fill); !errors.Is(err, lost) {
		t.Errorf("Write returned %v", err)
	}
	s, err := w.Prepare(t.Context(), "out.csv", fill)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Place(t.Context()); !errors.Is(err, lost) {
		t.Errorf("Place returned %v", err)
	}
	s.Discard()
	entries, _ := os.ReadDir(dir)
	if got := read(t, filepath.Join(dir, "out.csv")); got != "old" || len(entries) != 1 {
		t.Errorf("the file has %q, and %d files are in the folder", got, len(entries))
	}
}

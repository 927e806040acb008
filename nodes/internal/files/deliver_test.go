package files

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold/core"
)

func TestDeliverLater(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	w := Writer{Place: Place{Dir: dir}}
	deliver := func(name, text string) *core.Placement {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel() // the attempt ends before the file is put in place
		r, err := w.Deliver(ctx, name, true, func(b *bufio.Writer) error {
			_, err := b.WriteString(text)
			return err
		}, func() core.Result { return core.Send(text) })
		if err != nil || r.Placement == nil {
			t.Fatalf("got %+v, %v", r, err)
		}
		return r.Placement
	}
	content := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		return string(data)
	}
	a, b := deliver("real/x.txt", "a"), deliver("link/x.txt", "b")
	if a.Target != b.Target {
		t.Errorf("targets %q and %q are one file", a.Target, b.Target)
	}
	if got := content("real/x.txt"); got != "" {
		t.Errorf("the file is there before it is placed: %q", got)
	}
	if r, err := a.Place(t.Context()); err != nil || r.EdgeOutput != "a" || content("real/x.txt") != "a" {
		t.Errorf("got %+v, %v, file %q", r, err, content("real/x.txt"))
	}
	b.Discard()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	c := deliver("real/x.txt", "c")
	if _, err := c.Place(gone); err == nil {
		t.Error("placed after the run had ended")
	}
	c.Discard()
	entries, _ := os.ReadDir(filepath.Join(dir, "real"))
	if len(entries) != 1 || content("real/x.txt") != "a" {
		t.Errorf("%d files are left, x.txt is %q", len(entries), content("real/x.txt"))
	}
}

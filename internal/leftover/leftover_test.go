package leftover

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRemove(t *testing.T) {
	folder, work := t.TempDir(), t.TempDir()
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(work, name))
		return err == nil
	}
	forget := map[string]func(){}
	for _, name := range []string{"a", "b", "c", "gone"} {
		f, err := Note(folder, name, File{filepath.Join(work, name), "r/" + name})
		if err != nil {
			t.Fatal(err)
		}
		forget[name] = f
		if name != "gone" {
			if err := os.WriteFile(filepath.Join(work, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget["c"]()
	if err := os.WriteFile(filepath.Join(folder, sub, "torn"), []byte(`{"path":"/et`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(folder, func(f File) bool { return f.Key == "r/b" }); err != nil {
		t.Fatal(err)
	}
	if exists("a") || !exists("b") || !exists("c") {
		t.Errorf("a exists: %t, want false; b: %t, want true (kept); c: %t, want true (no note)", exists("a"), exists("b"), exists("c"))
	}
	left, err := Files(folder)
	if want := []File{{filepath.Join(work, "b"), "r/b"}}; err != nil || !slices.Equal(left, want) {
		t.Errorf("got %v, %v, want %v", left, err, want)
	}
	if err := Remove(folder, nil); err != nil || exists("b") {
		t.Errorf("b exists: %t, error %v", exists("b"), err)
	}
}

// TestNothingNoted: a run without notes has no folder for them.
func TestNothingNoted(t *testing.T) {
	folder := t.TempDir()
	forget, err := Note("", "x", File{"/x", "k"})
	if err != nil {
		t.Fatal(err)
	}
	forget()
	if left, err := Files(folder); err != nil || left != nil {
		t.Errorf("got %v, %v", left, err)
	}
	if err := Remove(folder, nil); err != nil {
		t.Error(err)
	}
}

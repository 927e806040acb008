package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWord checks the assumptions of this package about os.Root, whose error is not
// exported.
func TestWord(t *testing.T) {
	base := t.TempDir()
	work := filepath.Join(base, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(filepath.Join(base, "away"), 0o700), os.WriteFile(filepath.Join(base, "away", "x"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("../away/x", filepath.Join(work, "link")), os.Symlink("../away", filepath.Join(work, "dir"))); err != nil {
		t.Skip("no symbolic links:", err)
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, do := range map[string]func(string) error{
		"Open":     func(n string) error { _, err := root.Open(n); return err },
		"Stat":     func(n string) error { _, err := root.Stat(n); return err },
		"OpenFile": func(n string) error { _, err := root.OpenFile(n, os.O_CREATE, 0o600); return err },
		"FS":       func(n string) error { _, err := fs.Stat(root.FS(), n); return err },
		"OpenRoot": func(n string) error { _, err := root.OpenRoot(filepath.Dir(n)); return err },
	} {
		for _, file := range []string{"link", "dir/x"} {
			if name == "OpenRoot" && file == "link" {
				continue
			}
			err := do(file)
			want := `"` + file + `" leaves the workflow's folder (` + work + ") through a symbolic link"
			if got := Describe(file, work, err); !Leaves(err) || got.Error() != want {
				t.Errorf("%s of %s: %v\n\tgot  %v\n\twant %s", name, file, err, got, want)
			}
		}
	}
	_, err = root.Open("none")
	if got := Describe("none", work, err); got.Error() != "open none: no such file or directory" || !errors.Is(got, fs.ErrNotExist) || Leaves(err) {
		t.Errorf("%v, was %v", got, err)
	}
	if other := errors.New("other"); Describe("x", work, other) != other || Describe("x", work, nil) != nil || Of("") != "" {
		t.Error("an error of another kind was changed")
	}
}

// Package starter contains the workflows that `wavefold init` writes.
package starter

import (
	"embed"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed etl hello route
var files embed.FS

// Names lists the starters; the first is the best one to begin with.
func Names() []string { return []string{"etl", "hello", "route"} }

// Has reports whether there is a starter with the given name.
func Has(name string) bool { return slices.Contains(Names(), name) }

// Files lists the files of a starter, slash-separated.
func Files(name string) ([]string, error) {
	var out []string
	err := fs.WalkDir(files, name, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(p, name+"/"))
		}
		return err
	})
	return out, err
}

// Taken lists the files of a starter that already exist in a folder.
func Taken(name, dir string) ([]string, error) {
	list, err := Files(name)
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, f := range list {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f))); err == nil {
			taken = append(taken, f)
		}
	}
	return taken, nil
}

// Write writes a starter into a folder, and creates the folder if it does not exist. An
// existing file is an error and is left unchanged.
func Write(name, dir string) error {
	list, err := Files(name)
	if err != nil {
		return err
	}
	for _, f := range list {
		data, err := files.ReadFile(path.Join(name, f))
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(f)), data); err != nil {
			return err
		}
	}
	return nil
}

func writeNew(file string, data []byte) error {
	mode := fs.FileMode(0o644)
	if filepath.Ext(file) == ".sh" {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

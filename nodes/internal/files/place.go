// Package files finds, reads and writes files. A Finder finds the files and programs
// that a node's configuration names, through core.Env, and suggests a similar name if
// one does not exist. The data kinds read and write files below the workflow's folder.
// A file that they write is complete or does not exist.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rootfs"
)

// Place limits the files that a node may read and write. The zero Place is the working
// folder of the process.
type Place struct {
	// Dir is the base of relative paths; "" is the working folder.
	Dir string
	// Outside allows paths that leave Dir: absolute paths, paths with "..", and paths
	// that leave it through a symbolic link.
	Outside bool
	// Allow is the key of the node that sets Outside, for error messages; "" if there
	// is none.
	Allow string
}

var errLeaves = errors.New("leaves the workflow's folder")

// Local returns an error if a path is not below the folder. It does not access the file
// system: symbolic links are checked when the file is opened.
func Local(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("the path is empty")
	case strings.Contains(name, "\x00"):
		return fmt.Errorf("%q contains a NUL byte, which no path can have", name)
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("%q %w", name, errLeaves)
	}
	return nil
}

// NotURI reports why a name is not the path of a file: it begins with "file:". A file whose
// name begins like that has the path ./file:NAME.
func NotURI(name string) error {
	rest, ok := strings.CutPrefix(name, "file:")
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	return fmt.Errorf("%q is a URI, and files are named by their paths: write %s", name, rest)
}

// local is Local with an error that names the folder and the key that allows other
// paths.
func (p Place) local(name string) error {
	err := Local(name)
	if errors.Is(err, errLeaves) {
		return p.allow(err, rootfs.Of(p.dir()))
	}
	return err
}

// describe adds the file and the folder to an error about a file.
func (p Place) describe(name string, err error) error {
	described := rootfs.Describe(name, p.dir(), err)
	if rootfs.Leaves(err) {
		return p.allow(described, "")
	}
	return described
}

func (p Place) allow(err error, behind string) error {
	if p.Allow != "" {
		behind += "; " + p.Allow + ": true allows that"
	}
	return fmt.Errorf("%w%s", err, behind)
}

// Clean returns a local path in the form that fs.FS requires.
func Clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

// Open opens a file for reading. Within the folder it must be a regular file, because
// opening a named pipe would block until there is a writer, even if the run is
// cancelled.
func (p Place) Open(name string) (*os.File, error) {
	if p.Outside {
		return os.Open(p.join(name))
	}
	if err := p.local(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.dir())
	if err != nil {
		return nil, err
	}
	defer root.Close() // open files of a root outlive it
	local := filepath.FromSlash(name)
	if info, err := root.Stat(local); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(name)
	}
	f, err := root.Open(local)
	return f, p.describe(name, err)
}

// Stat returns information about a file without opening it.
func (p Place) Stat(name string) (fs.FileInfo, error) {
	if p.Outside {
		return os.Stat(p.join(name))
	}
	if err := p.local(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.dir())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	return info, p.describe(name, err)
}

// Name returns the name of a file for display: relative to the folder if the file is in
// it.
func (p Place) Name(name string) string {
	slashed := filepath.ToSlash(filepath.Clean(filepath.FromSlash(name)))
	if !filepath.IsAbs(slashed) {
		return slashed
	}
	if dir, err := filepath.Abs(p.dir()); err == nil {
		if rel, err := filepath.Rel(dir, slashed); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return slashed
}

// Target returns the file that a name in a document means, to find nodes that write the
// same file.
func (p Place) Target(name source.Text) core.Target {
	return core.Target{Name: name, Key: filepath.ToSlash(filepath.Clean(p.join(name.Value)))}
}

// Targets returns the files that several names mean.
func (p Place) Targets(names []source.Text) []core.Target {
	var out []core.Target
	for _, n := range names {
		out = append(out, p.Target(n))
	}
	return out
}

// Same reports whether two names mean the same file: their clean paths are equal, or
// both exist and are the same file.
func (p Place) Same(a, b string) bool {
	if filepath.Clean(p.join(a)) == filepath.Clean(p.join(b)) {
		return true
	}
	x, err := p.Stat(a)
	if err != nil {
		return false
	}
	y, err := p.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func notRegular(name string) error { return fmt.Errorf("%s is not a regular file", name) }

// folder opens the folder of a file that will be written, and creates it if necessary.
// It returns the folder and the name of the file in it.
func (p Place) folder(name string) (*os.Root, string, error) {
	if p.Outside {
		full := p.join(name)
		parent := filepath.Dir(full)
		if err := os.MkdirAll(parent, 0o777); err != nil {
			return nil, "", err
		}
		root, err := os.OpenRoot(parent)
		return root, filepath.Base(full), err
	}
	if err := p.local(name); err != nil {
		return nil, "", err
	}
	clean := filepath.Clean(filepath.FromSlash(name))
	root, err := os.OpenRoot(p.dir())
	if err != nil {
		return nil, "", err
	}
	parent := filepath.Dir(clean)
	if parent == "." {
		return root, clean, nil
	}
	defer root.Close()
	if err := root.MkdirAll(parent, 0o777); err != nil {
		return nil, "", p.describe(name, err)
	}
	sub, err := root.OpenRoot(parent)
	return sub, filepath.Base(clean), p.describe(name, err)
}

// Path creates the folder of a file and returns the path of the file, for libraries
// that open files by name.
func (p Place) Path(name string) (string, error) {
	root, base, err := p.folder(name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(base) // rejects a link that leaves the folder
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", p.describe(name, err)
	case !info.Mode().IsRegular():
		return "", notRegular(name)
	}
	return filepath.Join(root.Name(), base), nil
}

func (p Place) dir() string {
	if p.Dir == "" {
		return "."
	}
	return p.Dir
}

func (p Place) join(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir(), name)
}

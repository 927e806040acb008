package files

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// IsPattern reports whether a name is a pattern for several files.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// CheckPattern returns an error if the pattern is malformed.
func CheckPattern(pattern string) error {
	if strings.HasSuffix(pattern, "/") {
		return fmt.Errorf("the pattern %q ends in a slash; write %s*", pattern, pattern)
	}
	for _, part := range core.PatternParts(Clean(pattern)) {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("%q is not a pattern: %w", pattern, err)
		}
	}
	return nil
}

// Glob returns the regular files that match a pattern of core.MatchPath, sorted by
// name. If a file has exactly the name of the pattern, it returns only this file. It
// does not follow symbolic links where the pattern matches any number of folders.
func (p Place) Glob(ctx context.Context, pattern string) ([]string, error) {
	if err := CheckPattern(pattern); err != nil {
		return nil, err
	}
	return p.within(pattern, func(fsys fs.FS, clean string) ([]string, error) {
		if regular(fsys, clean) {
			return []string{clean}, nil
		}
		return GlobFS(ctx, fsys, clean)
	})
}

// Folder returns the regular files directly in a folder that accept accepts, sorted by
// name. It ignores names that begin with "." or "_".
func (p Place) Folder(name string, accept func(name string) bool) ([]string, error) {
	return p.within(name, func(fsys fs.FS, clean string) ([]string, error) { return FolderFS(fsys, clean, accept) })
}

// FolderFS is Folder for a file system.
func FolderFS(fsys fs.FS, name string, accept func(name string) bool) ([]string, error) {
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		full := path.Join(name, e.Name())
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "_") && accept(e.Name()) && regular(fsys, full) {
			out = append(out, full)
		}
	}
	slices.Sort(out)
	return out, nil
}

// within finds files by a name or pattern. It returns names in the form in which the
// document would write them.
func (p Place) within(name string, find func(fsys fs.FS, clean string) ([]string, error)) ([]string, error) {
	if !p.Outside {
		if err := p.local(name); err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(p.dir())
		if err != nil {
			return nil, err
		}
		defer root.Close()
		found, err := find(root.FS(), Clean(name))
		return found, p.describe(name, err)
	}
	// The root of the file system is the longest folder without a pattern.
	base, rest := ".", Clean(name)
	if path.IsAbs(rest) {
		base, rest = "/", strings.TrimPrefix(rest, "/")
	}
	parts := strings.Split(rest, "/")
	for len(parts) > 1 && !IsPattern(parts[0]) {
		base, parts = path.Join(base, parts[0]), parts[1:]
	}
	if parts[0] == ".." || parts[0] == "" { // a parent folder, or the root folder
		base, parts = path.Join(base, parts[0]), []string{"."}
	}
	found, err := find(os.DirFS(p.join(base)), path.Join(parts...))
	for i := range found {
		found[i] = path.Join(base, found[i])
	}
	return found, err
}

// GlobFS returns the regular files of a file system that match a pattern, sorted by
// name.
func GlobFS(ctx context.Context, fsys fs.FS, pattern string) ([]string, error) {
	g := globbing{ctx: ctx, fsys: fsys, found: map[string]bool{}}
	if err := g.match(".", core.PatternParts(pattern)); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(g.found)), nil
}

// globbing finds the files that match one pattern.
type globbing struct {
	ctx   context.Context
	fsys  fs.FS
	found map[string]bool
}

// match finds matching files below a folder. It ignores folders that cannot be read.
func (g *globbing) match(dir string, parts []string) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	part, rest := parts[0], parts[1:]
	if !IsPattern(part) {
		return g.enter(path.Join(dir, part), rest)
	}
	entries, _ := fs.ReadDir(g.fsys, dir)
	if part == core.AnyFolders {
		for _, e := range entries {
			if e.IsDir() {
				if err := g.match(path.Join(dir, e.Name()), parts); err != nil {
					return err
				}
			}
		}
		return g.match(dir, rest)
	}
	for _, e := range entries {
		ok, err := path.Match(part, e.Name())
		if err != nil {
			return fmt.Errorf("%q is not a pattern: %w", part, err)
		}
		if !ok {
			continue
		}
		if err := g.enter(path.Join(dir, e.Name()), rest); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a file, or matches the rest of the pattern in a folder.
func (g *globbing) enter(name string, rest []string) error {
	if len(rest) > 0 {
		return g.match(name, rest)
	}
	if regular(g.fsys, name) {
		g.found[name] = true
	}
	return nil
}

func regular(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

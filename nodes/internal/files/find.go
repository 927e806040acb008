package files

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rootfs"
)

// Finder finds files, folders and programs for one node and collects the findings.
type Finder struct {
	Env core.Env
	// Subject begins every message, such as "node load".
	Subject string
	Found   source.Diagnostics
}

// LooksLikePath reports whether a name seems to be a file name: it contains a slash or
// ends in one of the endings.
func LooksLikePath(name string, endings ...string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains(endings, path.Ext(name))
}

// Place returns name in the form of fs.FS. It reports an error, and ok is false, if the
// name leaves the workflow's folder or if there is no folder.
func (f *Finder) Place(name source.Text, key string) (clean string, ok bool) {
	if f.Env.Files == nil {
		f.Found.Errorf(source.CodeMissingFile, name.Pos, "%s: %s: there is no folder to look for %q in", f.Subject, key, name.Value).
			WithHint("the workflow was not loaded from a folder; give it one")
		return "", false
	}
	if err := Local(name.Value); err != nil {
		f.Found.Errorf(source.CodeBadValue, name.Pos, "%s: %s: %v", f.Subject, key, err).
			WithHint("files must lie in the workflow's folder")
		return "", false
	}
	return Clean(name.Value), true
}

// File finds a regular file. If Env.Resumed is set, the file need not exist.
func (f *Finder) File(name source.Text, key string) (clean string, ok bool) {
	return f.find(name, key, "file", "regular file", fs.FileMode.IsRegular, f.Env.Resumed)
}

// Folder finds a folder. If Env.Resumed is set, the folder need not exist.
func (f *Finder) Folder(name source.Text, key string) (clean string, ok bool) {
	return f.find(name, key, "folder", "folder", fs.FileMode.IsDir, f.Env.Resumed)
}

// find finds a file or folder whose mode fits; what and precise are its names in messages. If it is
// optional and does not exist, that is a hint.
func (f *Finder) find(name source.Text, key, what, precise string, fits func(fs.FileMode) bool, optional bool) (clean string, ok bool) {
	clean, ok = f.Place(name, key)
	if !ok {
		return "", false
	}
	info, err := fs.Stat(f.Env.Files, clean)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		f.Found.Hintf(source.CodeMissingFile, name.Pos, "%s: %s: there is no %s %q any more", f.Subject, key, what, name.Value)
	case err != nil:
		f.missing(name, key, clean, what, err)
		return "", false
	case !fits(info.Mode()):
		f.Found.Errorf(source.CodeMissingFile, name.Pos, "%s: %s: %q is not a %s", f.Subject, key, name.Value, precise)
		return "", false
	}
	return clean, true
}

// Read reads a text file of at most limit bytes.
func (f *Finder) Read(name source.Text, key string, limit int) (text string, ok bool) {
	clean, ok := f.find(name, key, "file", "regular file", fs.FileMode.IsRegular, false)
	if !ok {
		return "", false
	}
	data, err := fs.ReadFile(f.Env.Files, clean)
	switch {
	case err != nil:
		f.Found.Errorf(source.CodeMissingFile, name.Pos, "%s: %s: %q cannot be read: %v", f.Subject, key, name.Value, err)
		return "", false
	case len(data) > limit:
		f.Found.Errorf(source.CodeLimit, name.Pos, "%s: %s: %q has %d bytes, more than the limit of %d", f.Subject, key, name.Value, len(data), limit)
		return "", false
	}
	return string(data), true
}

// Missing reports a file that cannot be found. If err says that the file does not
// exist, it suggests a similar name.
func (f *Finder) Missing(name source.Text, key, clean string, err error) {
	f.missing(name, key, clean, "file", err)
}

func (f *Finder) missing(name source.Text, key, clean, what string, err error) {
	if rootfs.Leaves(err) {
		f.Found.Errorf(source.CodeBadValue, name.Pos, "%s: %s: %v", f.Subject, key, rootfs.Describe(name.Value, f.Env.Dir, err)).
			WithHint("files must lie in the workflow's folder")
		return
	}
	if !errors.Is(err, fs.ErrNotExist) {
		f.Found.Errorf(source.CodeMissingFile, name.Pos, "%s: %s: %q cannot be opened: %v", f.Subject, key, name.Value, err)
		return
	}
	f.Found.Errorf(source.CodeMissingFile, name.Pos, "%s: %s: there is no %s %q", f.Subject, key, what, name.Value).
		WithHint("%s", Near(f.Env.Files, clean))
}

// Near returns a hint with an existing file or folder that has a similar name, in the
// same folder or, if the folder does not exist, next to the folder.
func Near(fsys fs.FS, clean string) string {
	dir, base := path.Split(clean)
	dir = path.Clean(dir)
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		if dir == "." {
			return ""
		}
		return Near(fsys, dir)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Name() != base && !strings.HasPrefix(e.Name(), ".") { // hidden files are not suggested
			names = append(names, e.Name())
		}
	}
	near := source.Nearest(base, names)
	if near == "" { // greet.py may be meant for greet.sh, and gret for greet.py
		near = nearStem(stem(base), names)
	}
	if near == "" {
		return ""
	}
	return `did you mean "` + path.Join(dir, near) + `"?`
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// nearStem returns the first name whose stem is s or, if there is none, the name whose
// stem is most similar.
func nearStem(s string, names []string) string {
	stems := make([]string, len(names))
	for i, n := range names {
		stems[i] = stem(n)
	}
	i := slices.Index(stems, s)
	if i < 0 {
		i = slices.Index(stems, source.Nearest(s, stems))
	}
	if i < 0 {
		return ""
	}
	return names[i]
}

// Program finds a program. It returns the first of the names that exists.
func (f *Finder) Program(pos source.Position, key string, names ...string) (file string, ok bool) {
	var last error
	for _, name := range names {
		if f.Env.LookPath == nil {
			last = errors.New("programs cannot be looked up here")
			break
		}
		file, err := f.Env.LookPath(name)
		if err == nil {
			return file, true
		}
		last = err
	}
	f.Found.Errorf(source.CodeMissingFile, pos, "%s: %s: program %q is not there: %v", f.Subject, key, names[0], last).
		WithHint("install it, or add its folder to PATH")
	return "", false
}

package tool

import (
	"bufio"
	_ "embed"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rootfs"
	"github.com/wavefold/wavefold/nodes/internal/files"
)

// shim is the module that node runs. It calls the default export of a file.
//
//go:embed shim.mjs
var shim string

// extensions are appended, in this order, to a name that is not a file.
var extensions = []string{".mjs", ".js", ".py", ".sh"}

// finder finds the file that an impl names and the program that runs the file.
type finder struct {
	files.Finder
	impl source.Text
}

func (f *finder) find() (*fileTool, bool) {
	isPath := files.LooksLikePath(f.impl.Value, extensions...)
	if f.Env.Files == nil && !isPath {
		f.unknown()
		return nil, false
	}
	clean, ok := f.Place(f.impl, "impl")
	if !ok {
		return nil, false
	}
	file, info, err := f.candidate(clean)
	switch {
	case file != "":
		return f.program(file, info)
	case isPath || !errors.Is(err, fs.ErrNotExist):
		f.Missing(f.impl, "impl", clean, err)
		f.hintFunction()
	default:
		f.unknown()
	}
	return nil, false
}

// unknown reports a name of neither a function nor a file.
func (f *finder) unknown() {
	hint := source.DidYouMean(f.impl.Value, f.Env.Tools)
	if hint == "" && f.Env.Files != nil {
		hint = files.Near(f.Env.Files, f.impl.Value)
	}
	if hint == "" {
		hint = "register it with Registry.AddTool, or name a file such as tools/" + f.impl.Value + ".mjs"
	}
	f.Found.Errorf(source.CodeUnknownImpl, f.impl.Pos, "%s: impl: no function %q is registered", f.Subject, f.impl.Value).
		WithHint("%s", hint)
}

// hintFunction adds a hint with a registered function to the finding about a missing file, if no
// file has a similar name.
func (f *finder) hintFunction() {
	if d := &f.Found[len(f.Found)-1]; d.Hint == "" {
		d.WithHint("%s", source.DidYouMean(f.impl.Value, f.Env.Tools))
	}
}

// candidate returns the first file that the name can mean, or "" if there is none. The error
// says why the first existing file cannot be used.
func (f *finder) candidate(clean string) (string, fs.FileInfo, error) {
	why := fs.ErrNotExist
	names := []string{clean}
	for _, e := range extensions {
		names = append(names, clean+e)
	}
	names = append(names, path.Join(clean, "index.mjs"), path.Join(clean, "index.js"))
	for _, name := range names {
		info, err := fs.Stat(f.Env.Files, name)
		if err == nil && info.Mode().IsRegular() {
			return name, info, nil
		}
		if rootfs.Leaves(err) && why == fs.ErrNotExist {
			why = err
		}
	}
	return "", nil, why
}

// program returns the tool that runs a file. It makes paths absolute, because the program runs in
// the workflow's folder and the engine's working folder may change.
func (f *finder) program(file string, info fs.FileInfo) (*fileTool, bool) {
	dir, err := filepath.Abs(f.Env.Dir)
	if err != nil {
		f.Found.Errorf(source.CodeMissingFile, f.impl.Pos, "%s: impl: the workflow's folder has no path: %v", f.Subject, err)
		return nil, false
	}
	full := filepath.Join(dir, filepath.FromSlash(file))
	if r, err := f.Env.Files.Open(file); err == nil { // its content is part of the node's fingerprint, see core.Env
		r.Close()
	}
	p := &fileTool{name: f.impl.Value, dir: dir}
	ok := true
	switch path.Ext(file) {
	case ".mjs", ".js":
		p.args = []string{"--input-type=module", "--eval", shim, "--", full}
		p.path, ok = f.Program(f.impl.Pos, "impl", "node")
	case ".py":
		p.args = []string{full}
		p.path, ok = f.Program(f.impl.Pos, "impl", "python3", "python")
	case ".sh":
		name, flags := f.shell(file)
		p.args = append(flags, full)
		p.path, ok = f.Program(f.impl.Pos, "impl", name)
	default:
		p.path, ok = full, f.executable(info)
	}
	return p, ok
}

// shells lists the interpreters that the first line of a .sh file may name. They are looked up
// by name; the path in the line is ignored.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ksh": true, "zsh": true}

// shell returns the shell and the flags in the first line of a script; many scripts rely on -e.
// Without such a line it returns sh.
func (f *finder) shell(file string) (name string, flags []string) {
	r, err := f.Env.Files.Open(file)
	if err != nil {
		return "sh", nil
	}
	defer r.Close()
	line, _ := bufio.NewReaderSize(r, 256).ReadSlice('\n') // a longer line names no shell
	text, ok := strings.CutPrefix(string(line), "#!")
	if !ok {
		return "sh", nil
	}
	words := strings.Fields(text)
	for i, word := range words {
		if name := path.Base(word); shells[name] {
			return name, words[i+1:]
		}
	}
	return "sh", nil
}

func (f *finder) executable(info fs.FileInfo) bool {
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0 {
		return true
	}
	f.Found.Errorf(source.CodeBadValue, f.impl.Pos, "%s: impl: %q is not executable", f.Subject, f.impl.Value).
		WithHint("run chmod +x on it, or use an ending that names an interpreter: %s", strings.Join(extensions, " "))
	return false
}

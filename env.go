package wavefold

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm"
)

// library provides what the kinds may request during one compilation: the folder of
// each workflow, programs, and further workflows. Each workflow is read once, however
// often it is included.
type library struct {
	engine *Engine
	// built holds workflows built in Go, by the file name under which they are
	// included.
	built  map[*core.Workflow]map[string]*core.Workflow
	loaded map[string]loaded
	// compiled is set when the compilation has ended.
	compiled atomic.Bool
}

type loaded struct {
	w   *core.Workflow
	err error
}

// env returns the environment of the kinds of one workflow.
func (l *library) env(w *core.Workflow) core.Env {
	env := core.Env{Dir: w.Dir, Private: llm.KeyVariables(l.engine.model), LookPath: exec.LookPath, Stdout: l.engine.Stdout, Stdin: l.engine.Stdin, Resumed: l.engine.Resumed}
	if env.Stdout == nil {
		env.Stdout = os.Stdout
	}
	if env.Stdin == nil {
		env.Stdin = os.Stdin
	}
	if w.Dir != "" {
		env.Files = l.engine.files(w.Dir, &l.compiled)
	}
	subs := l.built[w]
	if w.Dir == "" && subs == nil {
		return env
	}
	env.LoadWorkflow = func(path string) (*core.Workflow, error) {
		if inner, ok := subs[path]; ok {
			return inner, nil
		}
		return l.load(w.Dir, path)
	}
	return env
}

// load reads a workflow below a folder.
func (l *library) load(dir, path string) (*core.Workflow, error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	full := filepath.Join(dir, filepath.FromSlash(path))
	if known, ok := l.loaded[full]; ok {
		return known.w, known.err
	}
	w, err := l.read(l.engine.files(dir, &l.compiled), path, full)
	if l.loaded == nil {
		l.loaded = map[string]loaded{}
	}
	l.loaded[full] = loaded{w, err}
	return w, err
}

func (l *library) read(dir fs.FS, path, full string) (*core.Workflow, error) {
	info, err := fs.Stat(dir, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	data, err := fs.ReadFile(dir, path)
	if err != nil {
		return nil, err
	}
	w, ds := l.engine.Parse(full, data)
	if w == nil {
		return nil, ds.Err(false)
	}
	return w, nil
}

// folder gives access to the files below a folder and to nothing else: paths and
// symbolic links that leave it are rejected. It keeps nothing open between calls.
type folder string

var (
	_ fs.StatFS    = folder("")
	_ fs.ReadDirFS = folder("")
)

// Open opens a file below the folder.
func (d folder) Open(name string) (fs.File, error) {
	root, err := d.root("open", name)
	if err != nil {
		return nil, err
	}
	defer root.Close() // open files remain valid after their root is closed
	return root.Open(filepath.FromSlash(name))
}

// Stat describes a file without opening it, because opening a named pipe would block.
func (d folder) Stat(name string) (fs.FileInfo, error) {
	root, err := d.root("stat", name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(filepath.FromSlash(name))
}

// ReadDir lists a subfolder, sorted by name.
func (d folder) ReadDir(name string) ([]fs.DirEntry, error) {
	root, err := d.root("readdir", name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.ReadDir(root.FS(), name)
}

func (d folder) root(op, name string) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenRoot(string(d))
}

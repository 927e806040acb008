package wavefold

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Sources collects the files that a workflow is compiled from, so that a stored run can be
// compiled again after the files have changed. The zero Sources is empty. It is safe for
// concurrent use.
type Sources struct {
	mu    sync.Mutex
	files []core.SourceFile
}

// Files returns the files in the order in which they were first read, the main document first.
// Their contents must not be changed.
func (s *Sources) Files() []core.SourceFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.files)
}

// add adds a file unless it has been added. A nested document is read as a file first, and is then
// added again as a document.
func (s *Sources) add(path string, kind core.SourceKind, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.files {
		if f := &s.files[i]; f.Path == path {
			if kind == core.SourceWorkflow {
				f.Kind = kind
			}
			return
		}
	}
	sum := sha256.Sum256(data)
	s.files = append(s.files, core.SourceFile{Path: path, Kind: kind, SHA256: hex.EncodeToString(sum[:]), Data: data})
}

// Recording returns a copy of the engine that adds each file that it reads to s: documents, nested
// ones included, and the files that belong to them, such as prompts and the programs of tools. It
// does not add files of more than 64 MiB, files that are only checked for existence, such as the
// input of a dataset, and files that handlers read during a run. The copy is meant for one main
// document, whose folder the paths of the files are relative to.
func (e *Engine) Recording(s *Sources) *Engine {
	c := *e
	c.origin = &origin{record: s}
	return &c
}

// From returns a copy of the engine that compiles a workflow from the files that another engine
// recorded, and from no others. Read finds the main document by its file name in any folder, which
// need not exist. Resumed is set, because files that were only checked for existence are not found.
// During a run, handlers and programs use the files in that folder.
func (e *Engine) From(files []core.SourceFile) *Engine {
	c := *e
	c.Resumed = true
	c.origin = &origin{files: files}
	return &c
}

// origin says where the files of a workflow come from: from the disk, which is recorded, or from a
// list.
type origin struct {
	record *Sources // nil for a list
	files  []core.SourceFile

	once sync.Once
	base string // the folder of the main document
}

// path returns the path of a file in the form that a SourceFile has it. The first call is for the
// main document.
func (o *origin) path(dir, name string) string {
	o.once.Do(func() { o.base = dir })
	full := filepath.Join(dir, filepath.FromSlash(name))
	if rel, err := filepath.Rel(o.base, full); err == nil && filepath.IsLocal(rel) {
		full = rel
	}
	return filepath.ToSlash(full)
}

// document records a document that was read from a file.
func (o *origin) document(file string, data []byte) {
	if o != nil && o.record != nil && file != "" {
		o.record.add(o.path(filepath.Split(file)), core.SourceWorkflow, data)
	}
}

// files returns the files of a workflow's folder. Handlers keep it after the workflow is compiled
// and compiled is set; it is then the folder on the disk.
func (e *Engine) files(dir string, compiled *atomic.Bool) fs.FS {
	switch {
	case e.origin == nil:
		return folder(dir)
	case e.origin.record != nil:
		return compiling{recorded{folder(dir), e.origin}, folder(dir), compiled}
	default:
		return compiling{listed{dir, e.origin}, folder(dir), compiled}
	}
}

// compiling is one file system until a workflow is compiled and another one afterwards.
type compiling struct {
	during, after fs.FS
	compiled      *atomic.Bool
}

func (c compiling) now() fs.FS {
	if c.compiled.Load() {
		return c.after
	}
	return c.during
}

// Open opens a file.
func (c compiling) Open(name string) (fs.File, error) { return c.now().Open(name) }

// Stat describes a file without opening it.
func (c compiling) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.now(), name) }

// ReadDir lists a folder.
func (c compiling) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.now(), name) }

// recorded is a folder whose files are recorded when they are opened.
type recorded struct {
	folder
	origin *origin
}

// Open opens a file.
func (d recorded) Open(name string) (fs.File, error) {
	f, err := d.folder.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDocument {
		return f, nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err != nil {
		return nil, err
	}
	kind := core.SourceText
	if info.Mode().Perm()&0o111 != 0 {
		kind = core.SourceProgram
	}
	d.origin.record.add(d.origin.path(string(d.folder), name), kind, data)
	return openSource{bytes.NewReader(data), info}, nil
}

// listed is a folder of files in a list.
type listed struct {
	dir    string
	origin *origin
}

// Open opens a file.
func (d listed) Open(name string) (fs.File, error) {
	f, err := d.find("open", name)
	if err != nil {
		return nil, err
	}
	return openSource{bytes.NewReader(f.Data), sourceInfo{f}}, nil
}

// Stat describes a file, or a folder that has files.
func (d listed) Stat(name string) (fs.FileInfo, error) {
	f, err := d.find("stat", name)
	if err == nil {
		return sourceInfo{f}, nil
	}
	p := d.origin.path(d.dir, name)
	for i := range d.origin.files {
		if p == "." || strings.HasPrefix(d.origin.files[i].Path, p+"/") {
			return sourceInfo{&core.SourceFile{Path: p, Kind: sourceFolder}}, nil
		}
	}
	return nil, err
}

// find returns the file in the list.
func (d listed) find(op, name string) (*core.SourceFile, error) {
	err := fs.ErrInvalid
	if fs.ValidPath(name) {
		p := d.origin.path(d.dir, name)
		for i := range d.origin.files {
			if f := &d.origin.files[i]; f.Path == p {
				return f, nil
			}
		}
		err = fs.ErrNotExist
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: err}
}

// openSource is an open file whose content is in memory.
type openSource struct {
	*bytes.Reader
	info fs.FileInfo
}

// Stat describes the file.
func (f openSource) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (openSource) Close() error { return nil }

// sourceInfo describes a file in a list.
type sourceInfo struct{ f *core.SourceFile }

// sourceFolder is the kind of the folders that sourceInfo describes.
const sourceFolder core.SourceKind = "folder"

func (i sourceInfo) Name() string       { return path.Base(i.f.Path) }
func (i sourceInfo) Size() int64        { return int64(len(i.f.Data)) }
func (i sourceInfo) ModTime() time.Time { return time.Time{} }
func (i sourceInfo) IsDir() bool        { return i.f.Kind == sourceFolder }
func (i sourceInfo) Sys() any           { return nil }

func (i sourceInfo) Mode() fs.FileMode {
	switch i.f.Kind {
	case sourceFolder:
		return fs.ModeDir | 0o700
	case core.SourceProgram:
		return 0o700
	}
	return 0o600
}

package wavefold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	flowdoc "github.com/wavefold/wavefold/formats/builder"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/formats/sweny"
	"github.com/wavefold/wavefold/internal/timelimit"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Engine is a set of node kinds and Go functions that documents may refer to. Register
// everything before the first use. After that, any number of goroutines may read,
// compile and run workflows.
type Engine struct {
	// Stdout is the writer for nodes that write to standard output. nil means
	// os.Stdout.
	Stdout io.Writer
	// Stdin is the reader for nodes that read standard input. nil means os.Stdin.
	Stdin io.Reader
	// Parallel converts SWEny documents to dags, as their key of that name does: a
	// plain fan-out runs in parallel and is joined.
	Parallel bool
	// Resumed says that workflows are compiled to continue runs that have started. Input files
	// that were there when the run started may be gone since, so a missing one is a hint
	// instead of an error.
	Resumed bool

	added  []string                // see AllowAdded
	origin *origin                 // nil for files on the disk that are not recorded
	forms  func(key string) []byte // see LookingBack; nil for none
	reg    *core.Registry
	model  llm.Model   // nil if there is none
	router core.Router // for model
}

// NewEngine returns an engine with the kinds of DefaultKinds and the given ones. A
// given kind replaces a default kind of the same name.
func NewEngine(kinds ...core.Kind) *Engine {
	return EngineOf(core.NewRegistry(append(DefaultKinds(), kinds...)...))
}

// EngineOf returns an engine with exactly the kinds and functions of a registry. From
// then on the registry belongs to the engine. Use EngineOf to leave out kinds, such as
// "command" if documents are not trusted.
func EngineOf(r *core.Registry) *Engine { return &Engine{reg: r} }

// WithRegistry returns an engine with the kinds and functions of another registry, and with
// the streams, Parallel and the allowed kinds (AllowAdded) of e.
func (e *Engine) WithRegistry(r *core.Registry) *Engine {
	return &Engine{Stdout: e.Stdout, Stdin: e.Stdin, Parallel: e.Parallel, added: slices.Clone(e.added), reg: r}
}

// Registry returns the engine's kinds and functions.
func (e *Engine) Registry() *core.Registry { return e.reg }

// AddCondition registers a condition under the name by which edges of walks by steps refer
// to it: `ref:` in documents, CondNamed in Go. It returns an error if the name is taken. See
// core.Predicate for the rules of the function.
func (e *Engine) AddCondition(name string, p core.Predicate) error {
	switch {
	case name == "":
		return fmt.Errorf("a condition needs a name")
	case p == nil:
		return fmt.Errorf("condition %q: the function is nil", name)
	}
	return e.reg.AddCondition(name, p)
}

// AllowAdded lets runs of walks by steps add nodes of the given kinds, or nodes that call
// the registered functions of the given names. Without it, such changes of a running graph
// are rejected. The first name of the first call is the kind of an added node that has none. A stored run that is
// resumed or replayed keeps the names with which it was started.
func (e *Engine) AllowAdded(kinds ...string) { e.added = slices.Concat(e.added, kinds) }

// maxDocument exceeds the limit of every format. A longer file is read only up to this
// size, and the format reports it.
const maxDocument = 64 << 20

// Read reads a workflow file. The findings are about the shape of the document or about
// the file itself. The workflow is nil if nothing could be read. Compile reports the
// findings of a workflow again, together with its own.
func (e *Engine) Read(path string) (*core.Workflow, source.Diagnostics) {
	data, err := e.readFile(path)
	if err != nil {
		var ds source.Diagnostics
		ds.Errorf(source.CodeMissingFile, source.Position{File: path}, "%s", fileError(err)).WithHint("%s", similarFile(path, err))
		return nil, ds
	}
	return e.Parse(path, data)
}

// Parse is Read for the content of a file. name is used in positions, and the
// document's relative paths start from its folder; a document without a name has no
// folder and cannot refer to files. A name that ends in .dot or .fabro denotes a graph
// in DOT, whose prompt files are read as well. Any other name denotes a document in
// YAML or JSON, which may be the graph of a visual builder.
func (e *Engine) Parse(name string, data []byte) (*core.Workflow, source.Diagnostics) {
	e.origin.document(name, data)
	if w := e.parsedBefore(name, data); w != nil {
		return w, w.Findings.Capped()
	}
	dir := e.files(filepath.Dir(name), new(atomic.Bool))
	if ext := filepath.Ext(name); ext == ".dot" || ext == ".fabro" {
		return dot.Parse(name, data, dot.OptionsFor(e.reg, dir))
	}
	if flowdoc.Is(data) {
		return flowdoc.Parse(name, data)
	}
	tree, found := document.Parse(name, data)
	if sweny.Is(tree) || tree == nil && sweny.Looks(data) {
		return sweny.FromTree(name, tree, found, sweny.Options{Files: dir, Parallel: e.Parallel})
	}
	w, ds := native.FromTree(name, tree, found, native.OptionsFor(e.reg))
	e.keepParsed(name, data, w)
	return w, ds
}

// Compile checks a workflow with everything it refers to, and returns its plan. It returns
// all findings in the order of the files, including the findings of reading the workflow
// and the findings of nested workflows. The plan is nil if a finding is an error, or, under
// strict, a warning. Compile reads files and looks up programs; it runs nothing and writes
// nothing.
func (e *Engine) Compile(w *core.Workflow, strict bool) (*plan.Plan, source.Diagnostics) {
	return e.compile(w, &library{engine: e}, strict)
}

func (e *Engine) compile(w *core.Workflow, l *library, strict bool) (*plan.Plan, source.Diagnostics) {
	if w == nil {
		var ds source.Diagnostics
		ds.Errorf(source.CodeSyntax, source.Position{}, "there is no workflow to compile")
		return nil, ds
	}
	defer l.compiled.Store(true)
	return plan.Compile(w, e.reg, plan.Options{Env: l.env, Lint: lint.Check, Strict: strict, Guard: timelimit.Call, AddedKinds: e.added})
}

func (e *Engine) readFile(path string) ([]byte, error) {
	if e.origin != nil && e.origin.record == nil {
		dir, name := filepath.Split(path)
		f, err := listed{dir, e.origin}.find("open", name)
		if err != nil {
			return nil, err
		}
		return f.Data, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(bytes.MinRead)
	if info, err := f.Stat(); err == nil { // 0 if the file is not a regular file
		size = min(info.Size()+bytes.MinRead, maxDocument)
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	_, err = b.ReadFrom(io.LimitReader(f, maxDocument))
	return b.Bytes(), err
}

// fileError formats an error without the path, which the finding's position has.
func fileError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return "the file cannot be read: " + p.Err.Error()
	}
	return "the file cannot be read: " + err.Error()
}

// similarFile suggests a file with a similar name in the same folder.
func similarFile(path string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // if the folder does not exist, there is no suggestion
	names := make([]string, len(entries))
	for i, f := range entries {
		names[i] = f.Name()
	}
	return source.DidYouMean(filepath.Base(path), names)
}

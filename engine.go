package wavefold

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/formats/dot"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/formats/sweny"
	"github.com/wavefold/wavefold/internal/bounded"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Engine is a set of node kinds and Go functions: what the documents it reads may
// refer to. It is a plain value that its caller fills and then only uses; reading,
// compiling and running are safe from any number of goroutines once it is filled.
type Engine struct {
	// Stdout is where a node writes that writes to standard output. nil means
	// os.Stdout.
	Stdout io.Writer
	// Stdin is what a node reads that reads standard input. nil means os.Stdin.
	Stdin io.Reader
	// Parallel makes dags of the documents of SWEny that it reads, as their own key of that
	// name does: a plain fan-out is run at once and joined.
	Parallel bool

	reg    *core.Registry
	model  llm.Model   // nil without one
	router core.Router // of the model
}

// NewEngine returns an engine with the kinds of DefaultKinds and the given ones. A
// given kind replaces a default one of the same name.
func NewEngine(kinds ...core.Kind) *Engine {
	return EngineOf(core.NewRegistry(append(DefaultKinds(), kinds...)...))
}

// EngineOf returns an engine with exactly the kinds and functions of a registry, which
// belongs to the engine from then on. Use it to leave kinds out, such as "command"
// where documents are not trusted.
func EngineOf(r *core.Registry) *Engine { return &Engine{reg: r} }

// Registry returns the engine's kinds and functions.
func (e *Engine) Registry() *core.Registry { return e.reg }

// maxDocument is more than any format accepts. Of a longer file only as much is read,
// and the format reports it.
const maxDocument = 64 << 20

// Read reads a workflow file. The findings are those about the shape of the document,
// or about the file itself; the workflow is nil if nothing of it could be read. Compile
// reports the findings of a workflow again, among its own.
func (e *Engine) Read(path string) (*core.Workflow, core.Diagnostics) {
	data, err := readFile(path)
	if err != nil {
		var ds core.Diagnostics
		ds.Errorf(core.CodeMissingFile, core.Position{File: path}, "%s", fileError(err)).WithHint("%s", nearFile(path, err))
		return nil, ds
	}
	return e.Parse(path, data)
}

// Parse is Read for a text that is at hand. name is used in positions and its folder is
// where the document's relative paths start; a document without a name has no folder
// and can refer to no file. A name that ends in .dot or .fabro is that of a graph in DOT,
// whose prompts in files are read with it; any other is that of a document in YAML or JSON.
func (e *Engine) Parse(name string, data []byte) (*core.Workflow, core.Diagnostics) {
	if ext := filepath.Ext(name); ext == ".dot" || ext == ".fabro" {
		return dot.Parse(name, data, dot.OptionsFor(e.reg, folderOf(name)))
	}
	tree, found := document.Parse(name, data)
	if sweny.Is(tree) || tree == nil && sweny.Looks(data) {
		return sweny.FromTree(name, tree, found, sweny.Options{Files: folderOf(name), Parallel: e.Parallel})
	}
	return native.FromTree(name, tree, found, native.OptionsFor(e.reg))
}

// folderOf gives access to the folder of a document.
func folderOf(name string) folder { return folder(filepath.Dir(name)) }

// Compile checks a workflow with everything it refers to, and returns its plan. The
// findings are all errors and warnings, those of reading it and of nested workflows
// included, in the order of the files; the plan is nil if there is an error, or under strict a warning, among
// them. Compile reads files and looks programs up; it runs nothing and writes nothing.
func (e *Engine) Compile(w *core.Workflow, strict bool) (*plan.Plan, core.Diagnostics) {
	return e.compile(w, &library{engine: e}, strict)
}

func (e *Engine) compile(w *core.Workflow, l *library, strict bool) (*plan.Plan, core.Diagnostics) {
	if w == nil {
		var ds core.Diagnostics
		ds.Errorf(core.CodeSyntax, core.Position{}, "there is no workflow to compile")
		return nil, ds
	}
	return plan.Compile(w, e.reg, plan.Options{Env: l.env, Lint: lint.Check, Strict: strict, Guard: bounded.Call})
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxDocument))
}

// fileError words an error without the path, which the finding's position has.
func fileError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return "the file cannot be read: " + p.Err.Error()
	}
	return "the file cannot be read: " + err.Error()
}

// nearFile names a file beside the one that is not there.
func nearFile(path string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // without a folder there is nothing near
	names := make([]string, len(entries))
	for i, f := range entries {
		names[i] = f.Name()
	}
	return core.DidYouMean(filepath.Base(path), names)
}

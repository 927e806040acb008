package wavefold_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// sourcesFolder holds a workflow that uses files of every kind.
var sourcesFolder = map[string]string{
	"flow.yaml": `name: flow
state: {schema: {rows: {type: array}, all: {type: array}, some: {type: array}}}
graph:
  nodes:
    - {id: load, kind: dataset, source: in.csv, writes: [rows]}
    - {id: many, kind: dataset, source: "days/*.csv", writes: [all]}
    - {id: folder, kind: dataset, source: days/, format: csv, writes: [some]}
    - {id: call, kind: tool, impl: tools/greet, writes: []}
    - {id: binary, kind: tool, impl: tools/run, writes: []}
    - {id: direct, kind: command, run: [./tools/run], dir: work, writes: []}
    - {id: inner, kind: workflow, file: parts/inner.yaml}
    - {id: walk, kind: workflow, file: parts/walk.dot}
`,
	"in.csv": "a\n1\n", "days/1.csv": "a\n1\n", "days/2.csv": "a\n1\n", "work/notes": "",
	"tools/greet.sh": "#!/bin/sh\necho '{}'\n", "tools/run": "#!/bin/sh\n",
	"parts/inner.yaml":   "name: inner\ngraph: {nodes: [{id: again, kind: tool, impl: again.sh, writes: []}]}\n",
	"parts/again.sh":     "#!/bin/sh\necho '{}'\n",
	"parts/walk.dot":     `digraph walk { start [shape=Mdiamond]; a [prompt="@prompts/a.md"]; exit [shape=Msquare]; start -> a -> exit }`,
	"parts/prompts/a.md": "Do it.",
}

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if filepath.Base(name) == "run" {
			mode = 0o700
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func compileWith(e *wavefold.Engine, file string) (*plan.Plan, source.Diagnostics) {
	w, ds := e.Read(file)
	if w == nil {
		return nil, ds
	}
	return e.Compile(w, false)
}

// What belongs to the workflow is recorded, once, with paths relative to its folder. Data is not.
func TestRecording(t *testing.T) {
	file := filepath.Join(folderOf(t, sourcesFolder), "flow.yaml")
	var s wavefold.Sources
	p, ds := compileWith(wavefold.NewEngine(std.Kinds()...).Recording(&s), file)
	if p == nil {
		t.Fatal(ds)
	}
	var got strings.Builder
	for _, f := range s.Files() {
		fmt.Fprintf(&got, "%s %s\n", f.Kind, f.Path)
		if sourcesFolder[f.Path] != string(f.Data) || fmt.Sprintf("%x", sha256.Sum256(f.Data)) != f.SHA256 {
			t.Errorf("%s has the content %q and the hash %s", f.Path, f.Data, f.SHA256)
		}
	}
	const want = `workflow flow.yaml
file tools/greet.sh
program tools/run
workflow parts/inner.yaml
file parts/again.sh
workflow parts/walk.dot
file parts/prompts/a.md
`
	if got.String() != want {
		t.Errorf("recorded\n%swant\n%s", got.String(), want)
	}
}

// A workflow compiled from its files has the same fingerprint in any folder, whatever is there.
func TestFrom(t *testing.T) {
	e := wavefold.NewEngine(std.Kinds()...)
	var s wavefold.Sources
	p, ds := compileWith(e.Recording(&s), filepath.Join(folderOf(t, sourcesFolder), "flow.yaml"))
	if p == nil {
		t.Fatal(ds)
	}
	other := map[string]string{"flow.yaml": "name: other\n", "tools/greet.sh": "exit 1", "tools/greet.mjs": "", "parts/prompts/a.md": "Do something else."}
	for _, dir := range []string{filepath.Join(t.TempDir(), "gone"), folderOf(t, other), folderOf(t, sourcesFolder)} {
		q, ds := compileWith(e.From(s.Files()), filepath.Join(dir, "flow.yaml"))
		if q == nil {
			t.Fatal(ds)
		}
		if q.Fingerprint() != p.Fingerprint() || q.Order() != p.Order() {
			t.Errorf("other fingerprints in %s", dir)
		}
		for _, d := range ds {
			if d.Severity != source.Hint && d.Code == source.CodeMissingFile {
				t.Errorf("want a hint: %s", d)
			}
		}
	}
	if _, ds := compileWith(e.From(s.Files()), "another.yaml"); !strings.Contains(fmt.Sprint(ds), "another.yaml") || !strings.Contains(fmt.Sprint(ds), "there is no such file") {
		t.Errorf("a file that is not in the list: %v", ds)
	}
	if _, ds := compileWith(e.From(s.Files()[:1]), "flow.yaml"); !ds.Failed(false) {
		t.Errorf("without the files of its nodes it compiles: %v", ds)
	}
}

// keeper is a kind that keeps the folder of the workflow, as a kind whose handler reads files does.
type keeper struct{ files fs.FS }

func (*keeper) Name() string   { return "keeper" }
func (*keeper) Keys() []string { return nil }

func (k *keeper) Compile(_ *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	k.files = env.Files
	return core.Compiled{Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })}, nil
}

// Handlers read what is on the disk, because the nodes of a run may make files. They are not
// recorded.
func TestFilesOfHandlers(t *testing.T) {
	dir := folderOf(t, map[string]string{"flow.yaml": "name: flow\ngraph: {nodes: [{id: a, kind: keeper, writes: []}]}\n", "made": "in a run"})
	k, s := &keeper{}, wavefold.Sources{}
	e := wavefold.NewEngine(k)
	for _, e := range []*wavefold.Engine{e.Recording(&s), e.From([]core.SourceFile{{Path: "flow.yaml", Data: []byte("name: flow\ngraph: {nodes: [{id: a, kind: keeper, writes: []}]}\n")}})} {
		if p, ds := compileWith(e, filepath.Join(dir, "flow.yaml")); p == nil {
			t.Fatal(ds)
		}
		if data, err := fs.ReadFile(k.files, "made"); string(data) != "in a run" {
			t.Errorf("a handler reads %q, %v", data, err)
		}
		if info, err := fs.Stat(k.files, "made"); err != nil || info.Size() != 8 {
			t.Errorf("the file is %v, %v", info, err)
		}
	}
	if files := s.Files(); len(files) != 1 {
		t.Errorf("recorded %d files, want the document", len(files))
	}
}

// A resumed workflow may lack data files that were read before, and no others.
func TestResumed(t *testing.T) {
	files := map[string]string{}
	for name, text := range sourcesFolder {
		if !strings.HasSuffix(name, ".csv") {
			files[name] = text
		}
	}
	e := wavefold.NewEngine(std.Kinds()...)
	file := filepath.Join(folderOf(t, files), "flow.yaml")
	if p, ds := compileWith(e, file); p != nil || !strings.Contains(fmt.Sprint(ds), `node load: source: there is no file "in.csv"`) {
		t.Errorf("without its data: %v", ds)
	}
	e.Resumed = true
	p, ds := compileWith(e, file)
	if p == nil || ds.Failed(true) {
		t.Fatal(ds)
	}
	for _, want := range []string{`node load: source: there is no file "in.csv" any more`, `node many: source: no file matches "days/*.csv" any more`, `node folder: source: there is no folder "days/" any more`} {
		if !strings.Contains(fmt.Sprint(ds), want) {
			t.Errorf("got %v, want a hint %s", ds, want)
		}
	}
	if err := os.Remove(filepath.Join(filepath.Dir(file), "parts/prompts/a.md")); err != nil {
		t.Fatal(err)
	}
	if p, ds := compileWith(e, file); p != nil {
		t.Errorf("it compiles without a prompt: %v", ds)
	}
}

// largeDocument returns a document whose parsed form is kept.
func largeDocument(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nstate: {schema: {x: {type: string}}}\ngraph:\n  nodes:\n", name)
	for i := range 1500 {
		fmt.Fprintf(&b, "    - {id: n%d, kind: template, text: \"{{$.x}}\", writes: [x]}\n", i)
	}
	return b.String()
}

// The files of a large document have its parsed form, those of a small one have none.
func TestParsedForms(t *testing.T) {
	record := func(text string) core.SourceFile {
		var s wavefold.Sources
		e := wavefold.NewEngine(std.Kinds()...).Recording(&s)
		w, ds := e.Read(filepath.Join(folderOf(t, map[string]string{"flow.yaml": text}), "flow.yaml"))
		if w == nil {
			t.Fatal(ds)
		}
		w.Nodes[0].ID.Value = "changed" // what a program does with the workflow does not change the form
		return s.Files()[0]
	}
	f, again, other := record(largeDocument("a")), record(largeDocument("a")), record(largeDocument("b"))
	if len(f.Parsed) == 0 || !bytes.Equal(f.Parsed, again.Parsed) || f.ParsedKey != again.ParsedKey {
		t.Errorf("the forms of a document have %d and %d bytes, and the keys %s and %s", len(f.Parsed), len(again.Parsed), f.ParsedKey, again.ParsedKey)
	}
	if other.ParsedKey == f.ParsedKey || bytes.Equal(other.Parsed, f.Parsed) {
		t.Error("two documents have one form")
	}
	if small := record("name: small\ngraph: {nodes: [{id: a, kind: template, text: x, writes: []}]}\n"); small.Parsed != nil {
		t.Error("a small document has a form")
	}
}

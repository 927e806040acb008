package corpus

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestSources checks that each document, compiled again from the files that were recorded when it
// was first compiled, has the same fingerprints and no changes, in another folder and without
// any file on the disk. Without one of the recorded files it has other fingerprints, or cannot be compiled.
func TestSources(t *testing.T) {
	documents, kinds := 0, map[core.SourceKind]int{}
	check := func(t *testing.T, file string) {
		files := compileFromSources(t, file)
		if len(files) > 0 {
			documents++
		}
		for _, f := range files[min(1, len(files)):] { // without the document itself
			kinds[f.Kind]++
		}
	}
	for _, folder := range []string{"correct", "mistakes"} {
		archives(t, folder, func(t *testing.T, _ string, a *txtar.Archive) {
			for _, f := range a.Files {
				if isDocument(f.Name) {
					check(t, f.Name)
				}
			}
		})
	}
	for _, folder := range []string{"../examples", "../formats/native/testdata", "../formats/sweny/testdata", "../formats/dot/testdata", "../conformance/testdata"} {
		folder, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			if err == nil && isDocument(path) {
				name, _ := filepath.Rel(folder, path) // both are absolute
				t.Run(filepath.Join(filepath.Base(folder), name), func(t *testing.T) { check(t, path) })
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d documents, and of the files that belong to them %v", documents, kinds)
	if documents < 150 || kinds[core.SourceWorkflow] < 5 || kinds[core.SourceText] < 5 {
		t.Errorf("compiled %d documents and of the files that belong to them %v, want more", documents, kinds)
	}
}

func isDocument(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".dot", ".fabro"}, filepath.Ext(name)) && !strings.Contains(name, ".mock.")
}

// compileFromSources compiles a document and compiles it again from its recorded files. It returns
// the files, none if the document has errors.
func compileFromSources(t *testing.T, file string) []core.SourceFile {
	var s wavefold.Sources
	p, _ := compile(wavefold.NewEngine(std.Kinds()...).Recording(&s), file)
	if p == nil {
		return nil
	}
	files := s.Files()
	if files[0].Path != filepath.Base(file) || files[0].Kind != core.SourceWorkflow {
		t.Errorf("the first file is %s %q, want the document", files[0].Kind, files[0].Path)
	}
	t.Chdir(t.TempDir())
	gone := filepath.Join(t.TempDir(), "gone", filepath.Base(file))
	q, ds := compile(wavefold.NewEngine(std.Kinds()...).From(files), gone)
	if q == nil {
		t.Fatalf("the files of %s do not compile: %v", file, ds)
	}
	if p.Fingerprint() != q.Fingerprint() || !maps.Equal(p.PartFingerprints(), q.PartFingerprints()) || p.Order() != q.Order() {
		t.Errorf("%s has other fingerprints if it is compiled from its files", file)
	}
	changes := q.Since(p.Recorded())
	for _, c := range changes.Parts {
		if c.Change != plan.Same || !c.Pos.IsValid() {
			t.Errorf("%s: %s is %s, at %s", file, c.Path, c.Change, c.Pos)
		}
	}
	if len(changes.Parts) == 0 || len(changes.Fields) > 0 {
		t.Errorf("%s: %d parts, and the fields %v differ", file, len(changes.Parts), changes.Fields)
	}
	for i, f := range files {
		less, ds := compile(wavefold.NewEngine(std.Kinds()...).From(slices.Delete(slices.Clone(files), i, i+1)), gone)
		if less != nil && less.Fingerprint() == p.Fingerprint() {
			t.Errorf("%s has the same fingerprint without %s %q, %v", file, f.Kind, f.Path, ds)
		}
	}
	return files
}

func compile(e *wavefold.Engine, file string) (*plan.Plan, source.Diagnostics) {
	w, ds := e.Read(file)
	if w == nil {
		return nil, ds
	}
	return e.Compile(w, false)
}

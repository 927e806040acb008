package rehearse_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
)

var update = flag.Bool("update", false, "write what was got into the archives")

// TestArchives runs every archive under testdata: flow.yaml and the files it
// includes, mock.yaml, and in want what misses its expectation, or the findings
// about the names in it.
func TestArchives(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			want := -1
			for i, f := range a.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := rehearseIn(t, dir)
			if want < 0 {
				t.Fatalf("%s has no file want", path)
			}
			if *update {
				a.Files[want].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if string(a.Files[want].Data) != got {
				t.Errorf("%s\n%s\ngot:\n%s\nwant:\n%s", path, a.Comment, got, a.Files[want].Data)
			}
		})
	}
}

func rehearseIn(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "mock.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file, ds := mock.Parse("mock.yaml", data)
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	e := wavefold.EngineOf(rehearse.Registry(wavefold.NewEngine().Registry(), file))
	w, ds := e.Read(filepath.Join(dir, "flow.yaml"))
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	w, inputs, ds := rehearse.Prepare(w, file)
	if ds.Failed(false) {
		return ds.Error() + "\n"
	}
	p, ds := e.Compile(w, false)
	if ds.Failed(false) {
		return strings.ReplaceAll(ds.Error(), dir+"/", "") + "\n"
	}
	if ds := rehearse.Names(p, file); ds.Failed(false) {
		return ds.Error() + "\n"
	}
	rec, err := rehearse.Run(p, inputs, file, rehearse.Options{})
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, m := range rec.Check(file.Expect) {
		fmt.Fprintf(&b, "%s %s: want %s, got %s (%s)\n", m.Pos, m.What, m.Want, m.Got, m.Because)
	}
	return b.String()
}

// TestNothingRuns holds that a node whose handler would leave a trace does not:
// the command kind is given and a program that exists.
func TestNothingRuns(t *testing.T) {
	called := false
	e := wavefold.NewEngine()
	if err := e.AddTool("touch", core.HandlerFunc(nil)); err != nil {
		t.Fatal(err)
	}
	file, _ := mock.Parse("m", []byte("expect: {run: success, nodes: {a: success}}"))
	reg := rehearse.Registry(e.Registry(), file)
	w, ds := wavefold.EngineOf(reg).Parse("", []byte("name: x\ngraph: {nodes: [{id: a, kind: tool, impl: touch}]}"))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := wavefold.EngineOf(reg).Compile(w, false)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	rec, err := rehearse.Run(p, nil, file, rehearse.Options{})
	if err != nil || called || len(rec.Check(file.Expect)) > 0 {
		t.Errorf("%v, called %v, misses %v", err, called, rec.Check(file.Expect))
	}
}

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestWalks compares walks with the expectations of their mock files, in virtual time,
// at several limits. It also compares the findings of invalid graphs with the listed
// ones.
func TestWalks(t *testing.T) {
	archives, err := filepath.Glob("testdata/walks/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range walkCases(t, a) {
				t.Run(c.name, c.test)
			}
		})
	}
}

// walkCase is a folder of an archive: graph.dot, and either mock.yaml with the expected
// results or findings with the expected findings, one per line.
type walkCase struct {
	name  string
	files map[string]string
}

func walkCases(t *testing.T, a *txtar.Archive) (cases []*walkCase) {
	t.Helper()
	for _, f := range a.Files {
		name, file, ok := strings.Cut(f.Name, "/")
		if !ok {
			t.Fatalf("%s stands in no folder", f.Name)
		}
		if len(cases) == 0 || cases[len(cases)-1].name != name {
			cases = append(cases, &walkCase{name, map[string]string{}})
		}
		cases[len(cases)-1].files[file] = string(f.Data)
	}
	return cases
}

func (c *walkCase) test(t *testing.T) {
	dir := t.TempDir()
	for name, data := range c.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	graph := filepath.Join(dir, "graph.dot")
	e := wavefold.NewEngine(std.Kinds()...)
	w, ds := e.Read(graph)
	if w != nil {
		_, ds = e.Compile(w, false)
	}
	want, wanted := c.files["findings"]
	script, runs := c.files["mock.yaml"]
	if !wanted && !runs {
		t.Fatal("neither findings nor a run is asked for")
	}
	if got := formatFindings(ds.Sorted(), dir); wanted && got != want {
		t.Errorf("the findings are\n%swant\n%s", got, want)
	}
	if !runs {
		return
	}
	f, ds := mock.Parse(filepath.Join(dir, "mock.yaml"), []byte(script))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	for _, limit := range []int{1, 8} {
		misses, ds := rehearse.Test(e, graph, f, rehearse.Options{Concurrency: limit})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		for _, m := range misses {
			t.Errorf("limit %d: line %d: %s: want %s, got %s (%s)", limit, m.Pos.Line, m.What, m.Want, m.Got, m.Because)
		}
	}
}

// formatFindings formats findings, one per line, without the folder.
func formatFindings(ds source.Diagnostics, dir string) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(strings.ReplaceAll(d.Error(), dir+string(filepath.Separator), "") + "\n")
	}
	return b.String()
}

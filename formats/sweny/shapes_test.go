package sweny_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestShapes loads documents that are shaped like published ones, and compares the
// codes of their findings. Only the ambiguous ones have errors, and those run with the
// option Parallel.
func TestShapes(t *testing.T) {
	want := map[string]string{
		"linear.yml":     "UNKNOWN_SKILL",
		"judge-loop.yml": "DEAD_END UNKNOWN_SKILL",
		"twins.yml":      "DEAD_END NO_TOOLS",
		"triage.yml":     "IGNORED NO_TOOLS UNKNOWN_SKILL",
		"brackets.yml":   "",
		"addresses.yml":  "SOURCE_OFFLINE_REQUIRES_FETCH SOURCE_OFFLINE_REQUIRES_FETCH",
		"fan-out.yml":    "AMBIGUOUS_EDGES",
		"mixed.yml":      "AMBIGUOUS_EDGES",
	}
	files, err := filepath.Glob("testdata/shapes/*.yml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("found %q, %v", files, err)
	}
	e := wavefold.NewEngine(std.Kinds()...)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w, _ := e.Read(file)
			p, ds := e.Compile(w, false)
			if got := codes(ds); got != want[filepath.Base(file)] {
				t.Errorf("got %v, want %s", ds, want[filepath.Base(file)])
			}
			if (p == nil) != ds.Has(source.CodeAmbiguousEdges) {
				t.Errorf("there is a plan: %v", p != nil)
			}
			if p != nil {
				return
			}
			parallel := wavefold.NewEngine(std.Kinds()...)
			parallel.Parallel = true
			w, _ = parallel.Read(file)
			if p, ds := e.Compile(w, false); p == nil || codes(ds) != "" {
				t.Errorf("with parallel: %v", ds)
			}
		})
	}
}

// codes returns the codes of findings.
func codes(ds source.Diagnostics) string {
	var out []string
	for _, d := range ds {
		out = append(out, string(d.Code))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Package examples contains runnable example folders. The tests run the commands of their
// READMEs.
package examples

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/internal/docstest"
)

// copied copies the folder and changes to the parent of the copy, so that the commands of a
// README run as written and leave nothing behind.
func copied(t *testing.T, folder string) {
	t.Helper()
	top := t.TempDir()
	if err := os.CopyFS(filepath.Join(top, "examples", folder), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(top, "examples", folder, "out")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
}

// isProgram reports whether a folder contains a Go program.
func isProgram(folder string) bool {
	files, _ := filepath.Glob(filepath.Join(folder, "*.go")) // the pattern is well-formed
	return slices.ContainsFunc(files, func(f string) bool { return !strings.HasSuffix(f, "_test.go") })
}

// TestReadmes runs the commands of each README and compares their output. A README of a
// folder with a workflow and no program contains at least one command.
func TestReadmes(t *testing.T) {
	pages, err := filepath.Glob("*/README.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("found %q, %v", pages, err)
	}
	for _, page := range pages {
		folder := filepath.Dir(page)
		t.Run(folder, func(t *testing.T) {
			blocks, program := docstest.Blocks(t, page), isProgram(folder)
			copied(t, folder)
			if ran := docstest.Run(t, blocks, nil); ran == 0 && !program {
				t.Error("the page shows no command")
			}
		})
	}
}

// TestValid checks that no example causes a warning. Examples with programs are validated
// by their own tests, since they have kinds and functions of their own.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	graphs, _ := filepath.Glob("*/*.dot") // the pattern is well-formed
	walks, _ := filepath.Glob("*/*.yml")
	files = append(append(files, graphs...), walks...)
	valid := 0
	for _, file := range files {
		if strings.Contains(file, ".mock.") || isProgram(filepath.Dir(file)) {
			continue
		}
		if got := docstest.Wavefold(t, "validate", "--strict", file); got != "valid\n" {
			t.Errorf("%s: %s", file, got)
		}
		valid++
	}
	if valid < 5 {
		t.Errorf("found %q", files)
	}
}

// TestMocks runs the mock files next to DOT graphs and SWEny documents.
func TestMocks(t *testing.T) {
	graphs, err := filepath.Glob("*/*.dot")
	if err != nil || len(graphs) < 4 {
		t.Fatalf("found %q, %v", graphs, err)
	}
	for _, folder := range []string{"triage", "review"} {
		graphs = append(graphs, filepath.Join(folder, folder+".yml"))
	}
	for _, graph := range graphs {
		if filepath.Dir(graph) == "notations" { // its mock files are for several notations, see TestNotationsMocks
			continue
		}
		mocks, _ := filepath.Glob(filepath.Join(filepath.Dir(graph), "*.mock.yaml"))
		for _, mock := range mocks {
			if got := docstest.Wavefold(t, "test", mock, graph); got != "ok    "+mock+"\n" {
				t.Errorf("%s: %s", mock, got)
			}
		}
	}
}

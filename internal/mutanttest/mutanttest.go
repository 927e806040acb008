// Package mutanttest measures the quality of tests: it changes the source in one place,
// which creates a mutant, and requires that tests fail. A mutant exists only as an overlay
// of the build, so no source file changes.
//
// Mutants are the files of a txtar archive:
//
//	-- NAME PATH [TEST ...] --
//	the text to be replaced, which occurs exactly once in the file at PATH
//	====
//	its replacement
//
// PATH is relative to the root of the module. Files with the same NAME are one mutant. If a
// mutant names tests, these are run and must all fail; TestX/y is a subtest. Otherwise the
// tests of the suite are run and at least one must fail.
//
// Building and testing each mutant takes seconds to minutes and happens only if the
// environment variable WAVEFOLD_MUTANTS is set, as `make mutants` does. Otherwise [Run]
// checks that each text still occurs in its file and that the changed file is valid Go.
package mutanttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Suite is an archive of mutants. Its tests are the tests of the package that calls [Run].
type Suite struct {
	Archive string
	// Tests are run on mutants that name none.
	Tests []string
}

// mutant is a change of the source.
type mutant struct {
	name  string
	edits []edit
	tests []string // tests that must fail
}

// edit replaces a part of a file.
type edit struct{ file, old, new string }

// Run runs the mutants of a suite, each as a subtest, and returns their number.
func Run(t *testing.T, s Suite) int {
	t.Helper()
	root := moduleRoot(t)
	list := s.read(t)
	if len(list) == 0 {
		t.Fatalf("%s has no mutants", s.Archive)
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			changed, err := m.apply(root)
			if err != nil {
				t.Fatalf("%v\nIf the code has changed, change mutant %s in %s.", err, m.name, s.Archive)
			}
			if os.Getenv("WAVEFOLD_MUTANTS") != "" {
				t.Logf("fail: %s", strings.Join(s.failing(t, m, changed), ", "))
			}
		})
	}
	return len(list)
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// read parses the archive.
func (s Suite) read(t *testing.T) (list []*mutant) {
	t.Helper()
	a, err := txtar.ParseFile(s.Archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		words := strings.Fields(f.Name)
		old, replacement, split := strings.Cut(string(f.Data), "====\n")
		if len(words) < 2 || !split {
			t.Fatalf("%s: %q needs a name, a path, and two texts with a line ==== between them", s.Archive, f.Name)
		}
		i := slices.IndexFunc(list, func(m *mutant) bool { return m.name == words[0] })
		if i < 0 {
			i = len(list)
			list = append(list, &mutant{name: words[0]})
		}
		m := list[i]
		m.edits = append(m.edits, edit{filepath.FromSlash(words[1]), strings.TrimSuffix(old, "\n"), strings.TrimSuffix(replacement, "\n")})
		m.tests = append(m.tests, words[2:]...)
	}
	return list
}

// apply returns the changed files by their absolute paths. It is an error if a text no
// longer occurs in its file, or if a changed file is not valid Go.
func (m *mutant) apply(root string) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, e := range m.edits {
		path := filepath.Join(root, e.file)
		source, ok := changed[path]
		if !ok {
			var err error
			if source, err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
		if n := bytes.Count(source, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s contains this text %d times, want once:\n%s", e.file, n, e.old)
		}
		changed[path] = bytes.Replace(source, []byte(e.old), []byte(e.new), 1)
	}
	for path, source := range changed {
		if _, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution); err != nil {
			return nil, fmt.Errorf("the changed file is not valid Go: %w", err)
		}
	}
	return changed, nil
}

// running is set in the environment of tests that run on a mutant.
const running = "WAVEFOLD_ON_MUTANT"

// Running reports whether the test runs on a mutant. Only the failure of the test matters
// then, not its message.
func Running() bool { return os.Getenv(running) != "" }

var failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// failing builds and runs the tests with the changed files, and returns the tests that
// fail.
func (s Suite) failing(t *testing.T, m *mutant, changed map[string][]byte) []string {
	t.Helper()
	var tests []string
	for _, name := range m.tests {
		top, _, _ := strings.Cut(name, "/")
		tests = append(tests, top)
	}
	if tests == nil {
		tests = s.Tests
	}
	args := []string{"test", "-vet=off", "-overlay", overlay(t, changed), "-run", "^(" + strings.Join(tests, "|") + ")$", "."}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "WAVEFOLD_MUTANTS=", running+"=1")
	out, err := cmd.CombinedOutput()
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		t.Fatalf("the mutant does not compile:\n%s", out)
	}
	if err == nil {
		t.Fatalf("no test fails: go %s", strings.Join(args, " "))
	}
	var red []string
	for _, found := range failed.FindAllSubmatch(out, -1) {
		red = append(red, string(found[1]))
	}
	if red == nil {
		t.Fatalf("go test fails without naming a test:\n%s", out)
	}
	for _, want := range m.tests {
		if !slices.Contains(red, want) {
			t.Errorf("%s does not fail; %s do", want, strings.Join(red, ", "))
		}
	}
	return red
}

// overlay writes the changed files, and the file that go test -overlay reads.
func overlay(t *testing.T, changed map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(changed)) {
		replace[path] = filepath.Join(dir, string(rune('a'+i))+".go")
		if err := os.WriteFile(replace[path], changed[path], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// mutant takes one check away: in a source file, a text is replaced by another.
type mutant struct{ name, file, old, new string }

// mutants reads testdata/mutants.txtar: each file is called "NAME PATH" and holds the text
// and its replacement, with a line "====" between them.
func mutants(t *testing.T) (list []mutant) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "mutants.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		name, file, ok := strings.Cut(f.Name, " ")
		old, replacement, split := strings.Cut(string(f.Data), "====\n")
		if !ok || !split {
			t.Fatalf("%s: want a name, a path and two texts", f.Name)
		}
		list = append(list, mutant{name, filepath.FromSlash(file), strings.TrimSuffix(old, "\n"), strings.TrimSuffix(replacement, "\n")})
	}
	return list
}

// TestMutants takes away one check after the other and holds that a document of the corpus
// notices: the tests of this package must fail. The mutated source exists only as an overlay
// of the build. It takes minutes, so it runs with WAVEFOLD_MUTANTS=1 (make mutants);
// otherwise only the places of the checks are looked up.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	list := mutants(t)
	if len(list) < 20 {
		t.Errorf("there are %d mutants, want at least 20", len(list))
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(root, m.file)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(source, []byte(m.old)); n != 1 {
				t.Fatalf("%s has the text %d times, want once:\n%s", m.file, n, m.old)
			}
			if os.Getenv("WAVEFOLD_MUTANTS") != "" {
				red := m.run(t, path, bytes.Replace(source, []byte(m.old), []byte(m.new), 1))
				t.Logf("turns red: %s", strings.Join(red, ", "))
			}
		})
	}
}

var failed = regexp.MustCompile(`(?m)^ +--- FAIL: Test\w+/(\w+)`)

// run builds the tests of this package with the mutated source and returns the documents
// that notice.
func (m mutant) run(t *testing.T, path string, source []byte) []string {
	t.Helper()
	dir := t.TempDir()
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(mutated, source, 0o600); err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-run", "TestMistakes|TestCorrect", ".")
	out, err := cmd.CombinedOutput()
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		t.Fatalf("the mutant does not compile:\n%s", out)
	}
	if err == nil {
		t.Fatal("nothing notices that the check is gone")
	}
	var red []string
	for _, found := range failed.FindAllSubmatch(out, -1) {
		red = append(red, string(found[1]))
	}
	if red == nil {
		t.Fatalf("the tests end without saying which document noticed:\n%s", out)
	}
	return red
}

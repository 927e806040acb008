package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestNothingRunsTwiceWithoutStore breaks the default store of a run in the middle. The run has to end: it must
// not begin again without a store, because its nodes have had effects.
func TestNothingRunsTwiceWithoutStore(t *testing.T) {
	const document = `
name: once
graph:
  nodes:
    - {id: a, kind: tool, impl: effect, effects: true, writes: []}
    - {id: b, kind: tool, impl: effect, effects: true, writes: []}
  edges: [{from: a, to: b}]
`
	type command func(args ...string) (code int, stderr string)
	for name, test := range map[string]struct {
		code    int
		effects int
		stderr  string
		during  func(t *testing.T, store string, run command) // in the node a
	}{
		"the store is removed": {5, 1, "the run could not be stored", func(t *testing.T, store string, _ command) {
			if err := os.RemoveAll(store); err != nil {
				t.Error(err)
			}
		}},
		"the same id is run again": {0, 2, "", func(t *testing.T, _ string, run command) {
			if code, stderr := run("run", "--run-id", "r1"); code != 5 || !strings.Contains(stderr, "is held by") {
				t.Errorf("the other run: exit code %d, %s", code, stderr)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, effects := t.TempDir(), 0
			file := filepath.Join(dir, "workflow.yaml")
			if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
				t.Fatal(err)
			}
			e := wavefold.NewEngine(std.Kinds()...)
			run := func(args ...string) (int, string) {
				var out, stderr bytes.Buffer
				code := cli.Run(t.Context(), e, append(args, "-q", file), cli.Streams{Out: &out, Err: &stderr, Getenv: func(string) string { return "" }})
				return code, stderr.String()
			}
			if err := e.AddTool("effect", func() {
				if effects++; effects == 1 {
					test.during(t, filepath.Join(dir, ".wavefold"), run)
				}
			}); err != nil {
				t.Fatal(err)
			}
			code, stderr := run("run", "--run-id", "r1")
			if code != test.code || effects != test.effects || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d after %d effects, want %d after %d: %s", code, effects, test.code, test.effects, stderr)
			}
		})
	}
}

// TestRunsWithDamagedHead: a run whose first record is damaged is in the list.
func TestRunsWithDamagedHead(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "workflow.yaml"), "file:"+filepath.Join(dir, "store")
	if err := os.WriteFile(file, []byte("name: w\ngraph: {nodes: [{id: a, kind: wait, duration: 1ms}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := wavefold.NewEngine(std.Kinds()...)
	if code, _, stderr := run(t, e, "run", "-q", "--store", store, "--run-id", "r1", file); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	journal, err := os.OpenFile(filepath.Join(dir, "store", "runs", "r1", "journal"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.WriteAt([]byte{0xff}, 60); err != nil {
		t.Fatal(err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := run(t, e, "runs", "--store", store)
	if code != 0 || !strings.Contains(out, "damaged") || strings.Contains(out, "0001") || strings.Contains(out, "2562047h") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestJournalsOfEveryFormat resumes runs that earlier versions have left. Their journals are committed
// and never changed: a new format gets a folder of its own.
func TestJournalsOfEveryFormat(t *testing.T) {
	formats, err := filepath.Glob("testdata/journals/format*")
	if err != nil || len(formats) == 0 {
		t.Fatalf("there are no journals: %v", err)
	}
	for _, format := range formats {
		t.Run(filepath.Base(format), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(format)); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "store"), filepath.Join(dir, "runs")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "ok"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			moved := filepath.Join(dir, "runs")
			for _, c := range []struct {
				args []string
				code int
			}{
				{[]string{"runs", "--store", "file:" + moved}, 0},
				{[]string{"resume", "-q", "dag", "--store", "file:" + moved}, 3},
				{[]string{"answer", "dag", "gate", "--choice", "approve", "--resume", "--store", "file:" + moved}, 0},
				{[]string{"resume", "-q", "walk", "--store", "file:" + moved}, 0},
			} {
				if code, out, errs := run(t, wavefold.NewEngine(std.Kinds()...), c.args...); code != c.code {
					t.Fatalf("%q: exit code %d, want %d\n%s%s", c.args, code, c.code, out, errs)
				}
			}
		})
	}
}

// TestJournalsOfFlows resumes a flow that an earlier version has paused: one approval is asked, and another
// one waits.
func TestJournalsOfFlows(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/journals/flow1")); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "runs")
	if err := os.Rename(filepath.Join(dir, "store"), moved); err != nil {
		t.Fatal(err)
	}
	at := "file:" + moved
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"waiting", "--json", "--store", at}, 0, `"queued": true`},
		{[]string{"answer", "flow", "operations", "--choice", "approve", "--store", at}, 2, "legal is asked now"},
		{[]string{"answer", "flow", "legal", "--choice", "approve", "--resume", "-q", "--store", at}, 3, "board asks"},
		{[]string{"answer", "flow", "board", "--choice", "approve", "--resume", "-q", "--store", at}, 3, "operations asks"},
		{[]string{"answer", "flow", "operations", "--choice", "approve", "--resume", "-q", "--store", at}, 0, "path: start -> prices -> legal -> operations -> board"},
		{[]string{"answer", "flow", "operations", "--choice", "reject", "--store", at}, 1, "answered already"},
	} {
		code, out, errs := run(t, wavefold.NewEngine(std.Kinds()...), c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Fatalf("%q: exit code %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
}

// TestJournalsOfSteps resumes a walk by steps that an earlier version has paused. The run has added an edge
// to its graph, which is the only way to the gate that waits.
func TestJournalsOfSteps(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/journals/steps1")); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "runs")
	if err := os.Rename(filepath.Join(dir, "store"), moved); err != nil {
		t.Fatal(err)
	}
	args := []string{"answer", "steps", "gate", "--choice", "publish", "--resume", "-q", "--store", "file:" + moved}
	if code, out, errs := run(t, wavefold.NewEngine(std.Kinds()...), args...); code != 0 || !strings.Contains(out, "path: draft -> gate -> publish") {
		t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
	}
}

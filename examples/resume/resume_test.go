// Package resume is an example without Go code; its test runs crash.sh.
package resume

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/nodes/std"
)

const asCommand = "EXAMPLE_AS_COMMAND"

// TestMain makes the test binary the command wavefold, so that the script can kill it.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		cli.Main(wavefold.NewEngine(std.Kinds()...))
		return
	}
	os.Exit(m.Run())
}

var number = regexp.MustCompile(`\d+`)

// TestCrash runs crash.sh and compares its output with the README, apart from numbers. An invoice is
// called twice at most, with the same key, and only if it was in progress when the run was killed.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"out", ".wavefold"} { // by hand
		if err := os.RemoveAll(filepath.Join(dir, left)); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", filepath.Join(dir, "crash.sh"))
	cmd.Env = append(os.Environ(), asCommand+"=1", "WAVEFOLD="+self, "WAVEFOLD_STORE=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := ""
	for _, b := range docstest.Blocks(t, "README.md") {
		for _, c := range b.Commands(t) {
			if c.Line == "sh examples/resume/crash.sh" {
				shown = c.Want
			}
		}
	}
	if shown == "" || !docstest.Same(number.ReplaceAllString(string(out), "0"), number.ReplaceAllString(shown, "0")) {
		t.Errorf("printed\n%s\nthe page says\n%s", out, shown)
	}

	calls, err := os.ReadFile(filepath.Join(dir, "out", "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(calls)), "\n")
	keys := map[string]int{} // by invoice and key
	for _, line := range lines {
		keys[line]++
	}
	if len(keys) != 40 || len(lines) > 42 { // two at a time
		t.Errorf("%d calls with %d keys for 40 invoices:\n%s", len(lines), len(keys), calls)
	}
}

// Package examples holds runnable folders. Their tests run what the READMEs show.
package examples

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/nodes/std"
)

// copied makes a copy of the folder and moves into the folder above it, so that the
// commands of a README run as they are written and leave nothing behind.
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

// wavefoldCommand runs the command and returns what it prints on standard output; if
// it fails, also what it prints on standard error.
func wavefoldCommand(t *testing.T, args []string) string {
	t.Helper()
	var out, failed bytes.Buffer
	code := cli.Run(t.Context(), wavefold.NewEngine(std.Kinds()...), args, cli.Streams{Out: &out, Err: &failed, Getenv: os.Getenv})
	if code != 0 {
		return out.String() + failed.String()
	}
	return out.String()
}

// output carries out a command of a page: wavefold, or cat of one file.
func output(t *testing.T, args []string) (string, bool) {
	t.Helper()
	switch {
	case args[0] == "wavefold":
		return wavefoldCommand(t, args[1:]), true
	case args[0] == "cat" && len(args) == 2:
		text, err := os.ReadFile(args[1])
		if err != nil {
			t.Error(err)
		}
		return string(text), true
	}
	return "", false
}

// TestReadmes runs the commands of each README and compares what they print. Folders
// with a workflow must show at least one.
func TestReadmes(t *testing.T) {
	pages, err := filepath.Glob("*/README.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("found %q, %v", pages, err)
	}
	for _, page := range pages {
		folder := filepath.Dir(page)
		t.Run(folder, func(t *testing.T) {
			blocks := docstest.Blocks(t, page)
			copied(t, folder)
			ran := 0
			for _, b := range blocks {
				for _, c := range b.Commands(t) {
					got, ok := output(t, c.Args)
					if !ok {
						continue
					}
					ran++
					if !docstest.Same(got, c.Want) {
						t.Errorf("%s:%d: $ %s\nprints\n%s\nthe page says\n%s", page, b.Line, c.Line, got, c.Want)
					}
				}
			}
			if found, _ := filepath.Glob(filepath.Join("examples", folder, "*.yaml")); len(found) > 0 && ran == 0 {
				t.Error("the page shows no command")
			}
		})
	}
}

// TestValid holds that no example earns a warning.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	valid := 0
	for _, file := range files {
		if strings.Contains(file, ".mock.") {
			continue
		}
		if got := wavefoldCommand(t, []string{"validate", "--strict", file}); got != "valid\n" {
			t.Errorf("%s: %s", file, got)
		}
		valid++
	}
	if valid < 5 {
		t.Errorf("found %q", files)
	}
}

package docstest

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

// Unchecked is the note of a block whose commands are not run. Its text is the reason.
const Unchecked = "unchecked"

// Run executes the commands of the blocks in the current folder, in order, compares their
// output with the page, and returns the number of commands. It supports wavefold and cat,
// and replaces the command lines that are keys of alias by their values; it skips other
// commands. A block with the note "file" is the content of a file with that name, which Run
// writes; a block with the note "output" is the output of the named command.
func Run(t testing.TB, blocks []Block, alias map[string][]string) int {
	t.Helper()
	ran := 0
	for _, b := range blocks {
		if name := b.Notes["file"]; name != "" {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(b.Text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, skip := b.Notes[Unchecked]; skip {
			continue
		}
		commands := b.Commands(t)
		if line := b.Notes["output"]; line != "" {
			commands = []Command{{Line: line, Args: strings.Fields(line), Want: b.Text}}
		}
		for _, c := range commands {
			args := c.Args
			if known, ok := alias[c.Line]; ok {
				args = known
			}
			got, ok := output(t, args)
			if !ok {
				continue
			}
			ran++
			if !Same(got, c.Want) {
				t.Errorf("%s:%d: $ %s\nprints\n%s\nthe page says\n%s", b.File, b.Line, c.Line, got, c.Want)
			}
		}
	}
	return ran
}

// output executes one command; ok is false if the command is not supported.
func output(t testing.TB, args []string) (text string, ok bool) {
	t.Helper()
	switch {
	case len(args) > 0 && args[0] == "wavefold":
		return Wavefold(t, args[1:]...), true
	case len(args) == 2 && args[0] == "cat":
		text, err := os.ReadFile(args[1])
		if err != nil {
			t.Error(err)
		}
		return string(text), true
	}
	return "", false
}

// Wavefold runs the command with the standard kinds and returns its standard output; if it
// fails, also its standard error.
func Wavefold(t testing.TB, args ...string) string {
	t.Helper()
	var out, failed bytes.Buffer
	engine := wavefold.NewEngine(std.Kinds()...)
	code := cli.Run(t.Context(), engine, args, cli.Streams{Out: &out, Err: &failed, Getenv: os.Getenv})
	if code != 0 {
		return out.String() + failed.String()
	}
	return out.String()
}

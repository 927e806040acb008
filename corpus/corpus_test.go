package corpus

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/nodes/std"
)

// entry is one archive: a story, the command to run on its files, and the expected
// output.
type entry struct {
	story   string
	command []string
	exit    string   // in its source form
	wants   []string // findings and parts of the output
}

// wavefoldCommand runs the command in the current folder, in an environment without a
// model.
func wavefoldCommand(t *testing.T, args []string) (exit int, out string) {
	t.Helper()
	var buf bytes.Buffer
	getenv := func(name string) string {
		if name == "WAVEFOLD_STORE" {
			return "none"
		}
		if strings.HasPrefix(name, "OPENAI_") || strings.HasPrefix(name, "WAVEFOLD_") {
			return ""
		}
		return os.Getenv(name)
	}
	exit = cli.Run(t.Context(), wavefold.NewEngine(std.Kinds()...), args, cli.Streams{Out: &buf, Err: &buf, Getenv: getenv})
	return exit, buf.String()
}

// parse parses the comment of an archive: the story, a line that begins with "$
// wavefold", a line "exit N", and the expected output, one line each.
func parse(t *testing.T, a *txtar.Archive) entry {
	t.Helper()
	var e entry
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimSpace(line)
		command, isCommand := strings.CutPrefix(line, "$ wavefold ")
		exit, isExit := strings.CutPrefix(line, "exit ")
		switch {
		case line == "":
		case isCommand:
			e.command = strings.Fields(command)
		case isExit && e.command != nil && e.exit == "":
			e.exit = exit
		case e.command == nil:
			e.story += line + "\n"
		default:
			e.wants = append(e.wants, line)
		}
	}
	if e.story == "" || e.command == nil {
		t.Fatal("an archive begins with a story and a line \"$ wavefold COMMAND\"")
	}
	return e
}

// finding matches a line of the output that contains a finding.
var finding = regexp.MustCompile(`^(?:([^:\s]+):(\d+)(?::\d+)?: )?(error|warning|hint): (.*) \[([A-Za-z_]+)\]$`)

// matches reports whether a line of the output is the wanted finding. For example,
//
//	flow.yaml:7 UNKNOWN_FIELD did you mean "amount"?
//
// matches a finding on that line, with that code, whose message contains the rest.
func matches(line, want string) bool {
	m := finding.FindStringSubmatch(line)
	place, rest, _ := strings.Cut(want, " ")
	code, part, _ := strings.Cut(rest, " ")
	return m != nil && m[1]+":"+m[2] == place && m[5] == code && strings.Contains(m[4], part)
}

// isFinding matches wanted lines that are findings. Other lines are parts of the
// output.
var isFinding = regexp.MustCompile(`^\S+:\d+ [A-Za-z_]+( |$)`)

// compare returns the differences between the output and the expected one. Every error
// and warning of the output must be wanted: one mistake causes one finding.
func (e entry) compare(exit int, out string) (problems []string) {
	if fmt.Sprint(exit) != e.exit {
		problems = append(problems, fmt.Sprintf("exit code %d, want %s", exit, e.exit))
	}
	if len(e.wants) == 0 {
		problems = append(problems, "the archive says nothing about the output")
	}
	lines := strings.Split(out, "\n")
	met := make([]bool, len(lines))
	for _, want := range e.wants {
		if !isFinding.MatchString(want) {
			if !strings.Contains(out, want) {
				problems = append(problems, "not in the output: "+want)
			}
			continue
		}
		at := slices.IndexFunc(lines, func(l string) bool { return matches(l, want) })
		if at < 0 {
			problems = append(problems, "no such finding: "+want)
			continue
		}
		met[at] = true
	}
	for i, line := range lines {
		if m := finding.FindStringSubmatch(line); m != nil && !met[i] && m[3] != "hint" {
			problems = append(problems, "nobody expects: "+line)
		}
	}
	return problems
}

// archives calls f for each archive below a folder of testdata, in a separate folder
// that holds the archive's files. It returns the number of archives.
func archives(t *testing.T, folder string, f func(t *testing.T, path string, a *txtar.Archive)) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			for _, file := range a.Files {
				name, data := content(t, file)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f(t, path, a)
		})
	}
	return len(paths)
}

// content returns the bytes of a file, decoded if the name ends in .base64.
func content(t *testing.T, f txtar.File) (name string, data []byte) {
	t.Helper()
	name, coded := strings.CutSuffix(f.Name, ".base64")
	if !coded {
		return name, f.Data
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(f.Data)), ""))
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return name, data
}

// TestMistakes checks that each mistake is reported: with the finding or failure that
// its archive names, on its line, and without a second error or warning. With UPDATE=1
// in the environment, the actual output is added to archives without an exit code.
func TestMistakes(t *testing.T) {
	n := archives(t, "mistakes", func(t *testing.T, path string, a *txtar.Archive) {
		e := parse(t, a)
		exit, out := wavefoldCommand(t, e.command)
		if e.exit == "" && os.Getenv("UPDATE") != "" {
			complete(t, path, a, exit, out)
			return
		}
		for _, p := range e.compare(exit, out) {
			t.Error(p)
		}
		if t.Failed() {
			t.Logf("%s$ wavefold %s\n%s", e.story, strings.Join(e.command, " "), out)
		}
	})
	if n < 100 {
		t.Errorf("there are %d mistakes, want at least 100", n)
	}
}

// complete adds the exit code and the findings of an output to an archive.
func complete(t *testing.T, path string, a *txtar.Archive, exit int, out string) {
	t.Helper()
	comment := strings.TrimRight(string(a.Comment), "\n") + fmt.Sprintf("\nexit %d\n", exit)
	some := false
	for line := range strings.Lines(out) {
		if m := finding.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && m[3] != "hint" {
			comment += fmt.Sprintf("%s:%s %s %s\n", m[1], m[2], m[5], m[4])
			some = true
		}
	}
	if !some {
		comment += out
	}
	a.Comment = []byte(comment)
	if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCorrect checks that correct documents have no findings, not even hints: the
// documents of testdata/correct, of the examples and of the recipes. If the command of
// an archive does more than check a document, it is also run, and must print no
// warnings.
func TestCorrect(t *testing.T) {
	n := archives(t, "correct", func(t *testing.T, _ string, a *txtar.Archive) {
		e := parse(t, a)
		if exit, out := wavefoldCommand(t, []string{"validate", "--strict", a.Files[0].Name}); exit != 0 || out != "valid\n" {
			t.Errorf("%s$ wavefold validate --strict %s\n%s", e.story, a.Files[0].Name, out)
		}
		exit, out := wavefoldCommand(t, e.command)
		if exit != 0 || strings.Contains(strings.ToLower(out), "warn") {
			t.Errorf("%s$ wavefold %s\nexit %d\n%s", e.story, strings.Join(e.command, " "), exit, out)
		}
		for _, want := range e.wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s$ wavefold %s\n%s\nwant %s", e.story, strings.Join(e.command, " "), out, want)
			}
		}
	})
	for _, file := range documents(t) {
		if exit, out := wavefoldCommand(t, []string{"validate", "--strict", file}); exit != 0 || out != "valid\n" {
			t.Errorf("%s\n%s", file, out)
		}
		n++
	}
	n += recipes(t)
	if n < 60 {
		t.Errorf("there are %d correct documents, want at least 60", n)
	}
}

// documents returns the workflows of the examples. Workflows of example programs need
// custom kinds and functions, and have their own tests.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.yaml", "*.yml", "*.dot"} {
		found, err := filepath.Glob(filepath.Join("..", "examples", "*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			programs, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go")) // the pattern is well-formed
			if !strings.Contains(file, ".mock.") && !slices.ContainsFunc(programs, func(f string) bool { return !strings.HasSuffix(f, "_test.go") }) {
				files = append(files, file)
			}
		}
	}
	return files
}

// recipes checks the workflows in docs/recipes.md, and returns their number. Another
// test runs the commands of the page.
func recipes(t *testing.T) (n int) {
	t.Helper()
	page, err := filepath.Abs(filepath.Join("..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := docstest.Blocks(t, page)
	t.Chdir(t.TempDir())
	for _, b := range blocks {
		if name := b.Notes["file"]; name != "" {
			if err := os.WriteFile(name, []byte(b.Text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, b := range blocks {
		name := b.Notes["file"]
		if !strings.HasSuffix(name, ".yaml") || strings.Contains(name, ".mock.") {
			continue
		}
		if exit, out := wavefoldCommand(t, []string{"validate", "--strict", name}); exit != 0 || out != "valid\n" {
			t.Errorf("%s:%d: %s\n%s", b.File, b.Line, name, out)
		}
		n++
	}
	return n
}

package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCommandsInDocs runs every command of the console blocks of some pages in order, in one empty folder per page, and compares its standard output
// with the page. With UPDATE=1 it writes the output to the page.
func TestCommandsInDocs(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the pages use jq")
	}
	for _, page := range []string{"cli.md", "durability.md", "history.md", "testing.md"} {
		t.Run(page, func(t *testing.T) {
			path := filepath.Join("..", "docs", page)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &docPage{t: t, dir: t.TempDir(), path: binaries(t)}
			got := p.run(strings.Split(string(text), "\n"))
			if p.commands == 0 {
				t.Fatal("the page has no commands")
			}
			if os.Getenv("UPDATE") != "" && p.changed {
				if err := os.WriteFile(path, []byte(strings.Join(got, "\n")), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if p.changed {
				t.Errorf("the page does not show what is printed; run the test with UPDATE=1 and review the difference")
			}
		})
	}
}

// binaries creates a folder that contains this test binary under the name wavefold, and
// returns a PATH that begins with the folder.
func binaries(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "wavefold")); err != nil {
		t.Skip(err)
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// docPage is a page under test.
type docPage struct {
	t        *testing.T
	dir      string
	path     string
	commands int
	changed  bool
}

// run executes the commands of a page and returns its lines with the actual output.
func (p *docPage) run(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if lines[i] != "```console" {
			continue
		}
		end := i + 1
		for lines[end] != "```" {
			end++
		}
		out = append(out, p.block(lines[i+1:end])...)
		i = end - 1
	}
	return out
}

func (p *docPage) block(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			p.t.Fatalf("%q belongs to no command", lines[i])
		}
		out = append(out, lines[i])
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "> "); i++ {
			command += "\n" + lines[i][2:]
			out = append(out, lines[i])
		}
		begin := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		out = append(out, p.command(command, lines[begin:i])...)
	}
	return out
}

func (p *docPage) command(command string, want []string) []string {
	p.commands++
	cmd := exec.Command("sh", "-c", command+"\n")
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + p.path, "HOME=" + p.dir, promptRace}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		p.t.Errorf("$ %s\n%v\n%s", command, err, stderr.String())
	}
	text := strings.TrimRight(stdout.String(), "\n")
	var got []string
	if text != "" {
		got = strings.Split(text, "\n")
	}
	masked := func(lines []string) string { return string(maskText([]byte(strings.Join(lines, "\n")))) }
	if masked(got) == masked(want) {
		return want
	}
	p.changed = true
	p.t.Logf("$ %s\ngot:\n%s\nwant:\n%s", command, text, strings.Join(want, "\n"))
	return got
}

// TestPictureInDocs checks that the picture of a run in docs/cli.md is the output of the
// commands above it. UPDATE=1 draws it again. Durations differ between runs and are
// replaced by the length of the node's name in milliseconds.
func TestPictureInDocs(t *testing.T) {
	flights, err := filepath.Abs(filepath.Join("..", "examples", "flights"))
	if err != nil {
		t.Fatal(err)
	}
	dir, path := t.TempDir(), binaries(t)
	wavefold := func(args ...string) []byte {
		cmd := exec.Command(filepath.Join(filepath.SplitList(path)[0], "wavefold"), args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + path, "HOME=" + dir, promptRace}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
		return stdout.Bytes()
	}
	if err := os.CopyFS(dir, os.DirFS(flights)); err != nil {
		t.Fatal(err)
	}
	wavefold("run", "flights.yaml", "--no-state", "--events", "events.ndjson")
	log, err := os.ReadFile(filepath.Join(dir, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(log, []byte("\n"))
	for i, line := range lines {
		var e struct{ Node, Unit string }
		_ = json.Unmarshal(line, &e) // the last line is empty
		took := time.Duration(len(cmp.Or(e.Node, e.Unit))) * time.Millisecond
		lines[i] = durationOf.ReplaceAll(line, fmt.Appendf(nil, `"duration_ns":%d`, took))
	}
	if err := os.WriteFile(filepath.Join(dir, "events.ndjson"), bytes.Join(lines, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := wavefold("graph", "--run", "events.ndjson", "flights.yaml")
	picture := filepath.Join("..", "docs", "images", "flights-run.svg")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(picture, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is drawn; run the test with UPDATE=1 and look at the picture", picture)
	}
}

var durationOf = regexp.MustCompile(`"duration_ns":\d+`)

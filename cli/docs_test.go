package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsInDocs runs every command of the console blocks in docs/cli.md and
// docs/testing.md, in order, in one empty folder for each page, and compares what
// it prints on standard output with what the page shows. With UPDATE=1 the page
// gets what was printed.
func TestCommandsInDocs(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the pages use jq")
	}
	for _, page := range []string{"cli.md", "testing.md"} {
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

// binaries makes a folder in which this test binary is called wavefold, and
// returns a PATH that begins with it.
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

// run goes through the lines of a page and returns them with what was printed.
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

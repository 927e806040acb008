package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/internal/docstest"
)

const readme = "../README.md"

// TestReadmeCommands runs the commands of README.md and compares what they print.
func TestReadmeCommands(t *testing.T) {
	blocks := docstest.Blocks(t, readme)
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?m)^run:.*\n\t\$\(GO\) run \./cmd/(wavefold .*)$`).FindSubmatch(makefile)
	if recipe == nil {
		t.Fatal("make run does not run wavefold")
	}
	top := t.TempDir()
	if err := os.CopyFS(filepath.Join(top, "examples"), os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	if ran := docstest.Run(t, blocks, map[string][]string{"make run": strings.Fields(string(recipe[1]))}); ran < 4 {
		t.Errorf("ran %d commands", ran)
	}
}

// TestReadmePrograms compiles and runs the Go programs of README.md and compares what
// they print with the block that follows each.
func TestReadmePrograms(t *testing.T) {
	blocks := docstest.Blocks(t, readme)
	dir, root := t.TempDir(), moduleRoot(t)
	overlay := map[string]string{} // files that exist for this build only
	var programs []string
	want := map[string]docstest.Block{}
	for i, b := range blocks {
		if b.Lang() != "go" {
			continue
		}
		name := "readme" + string(rune('a'+len(programs)))
		file := filepath.Join(dir, name+".go")
		if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, "examples", name, "main.go")] = file
		programs = append(programs, name)
		want[name] = blocks[i+1]
	}
	if len(programs) == 0 {
		t.Fatal("found no program")
	}
	table, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), table, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "./examples/"+p)
	}
	build := exec.Command("go", args...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range programs {
		out, err := exec.Command(filepath.Join(dir, p)).CombinedOutput()
		if err != nil || string(out) != want[p].Text {
			t.Errorf("%s:%d: printed\n%s%v\nthe page says\n%s", want[p].File, want[p].Line, out, err, want[p].Text)
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

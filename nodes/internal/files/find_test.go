package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

var folder = fstest.MapFS{
	"prompts/echo.md":     {Data: []byte("echo")},
	"prompts/summary.txt": {Data: []byte("sum")},
	"tools/greet.mjs":     {},
	"readme":              {},
}

func TestNear(t *testing.T) {
	tests := []struct{ name, want string }{
		{"prompts/ecko.md", `did you mean "prompts/echo.md"?`},
		{"prompts/echo.txt", `did you mean "prompts/echo.md"?`},
		{"prompts/sumary.md", `did you mean "prompts/summary.txt"?`},
		{"promts/echo.md", `did you mean "prompts"?`},
		{"tolls/b/c/greet.mjs", `did you mean "tools"?`},
		{"raedme", `did you mean "readme"?`},
		{"tools", ""},
		{"prompts/other", ""},
		{"q", ""},
	}
	for _, tt := range tests {
		if got := Near(folder, tt.name); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestFinder(t *testing.T) {
	const pos = "3:4: error: node n: prompt: "
	tests := []struct {
		name string
		find func(f *Finder, name source.Text) bool
		arg  string
		fs   fs.FS
		want string // "" if the file is found
	}{
		{"file", file, "./prompts/../prompts/echo.md", folder, ""},
		{"missing file", file, "prompts/ecko.md", folder, pos + `there is no file "prompts/ecko.md" (did you mean "prompts/echo.md"?) [MISSING_FILE]`},
		{"folder as file", file, "prompts", folder, pos + `"prompts" is not a regular file [MISSING_FILE]`},
		{"empty", file, "", folder, pos + `the path is empty (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"no folder at all", file, "a.md", nil, pos + `there is no folder to look for "a.md" in (the workflow was not loaded from a folder; give it one) [MISSING_FILE]`},
		{"folder", subfolder, "prompts", folder, ""},
		{"this folder", subfolder, ".", folder, ""},
		{"file as folder", subfolder, "prompts/echo.md", folder, pos + `"prompts/echo.md" is not a folder [MISSING_FILE]`},
		{"missing folder", subfolder, "prompt", folder, pos + `there is no folder "prompt" (did you mean "prompts"?) [MISSING_FILE]`},
		{"too long", small, "prompts/echo.md", folder, pos + `"prompts/echo.md" has 4 bytes, more than the limit of 3 [LIMIT]`},
		{"short enough", small, "prompts/summary.txt", folder, ""},
		{"broken disk", file, "a.md", broken{}, pos + `"a.md" cannot be opened: the disk is broken [MISSING_FILE]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &Finder{Env: core.Env{Files: tt.fs}, Subject: "node n"}
			ok := tt.find(f, source.At(tt.arg, source.Position{Line: 3, Column: 4}))
			if got := strings.TrimSpace(nodestest.Findings(f.Found)); got != tt.want || ok != (tt.want == "") {
				t.Errorf("got %v, %s\nwant %s", ok, got, tt.want)
			}
		})
	}
}

func file(f *Finder, name source.Text) bool      { _, ok := f.File(name, "prompt"); return ok }
func subfolder(f *Finder, name source.Text) bool { _, ok := f.Folder(name, "prompt"); return ok }
func small(f *Finder, name source.Text) bool     { _, ok := f.Read(name, "prompt", 3); return ok }

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, errors.New("the disk is broken") }

// A folder that is opened with os.Root does not follow links that leave it. The finder
// must report such a file instead of returning it.
func TestFinderStaysInside(t *testing.T) {
	base := t.TempDir()
	secret := filepath.Join(base, "secret.md")
	work := filepath.Join(base, "work")
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.Mkdir(work, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(work, "link.md")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := &Finder{Env: core.Env{Files: root.FS(), Dir: work}, Subject: "node n"}
	_, ok := f.File(source.At("link.md", source.Position{Line: 1}), "prompt")
	want := `1: error: node n: prompt: "link.md" leaves the workflow's folder (` + work + `) through a symbolic link (files must lie in the workflow's folder) [BAD_VALUE]`
	if got := f.Found.Error(); ok || got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProgram(t *testing.T) {
	env := core.Env{LookPath: func(name string) (string, error) {
		if name == "python" {
			return "/usr/bin/python", nil
		}
		return "", errors.New("not found")
	}}
	f := &Finder{Env: env, Subject: "node n"}
	if got, ok := f.Program(source.Position{Line: 1, Column: 2}, "impl", "python3", "python"); got != "/usr/bin/python" || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
	_, ok := f.Program(source.Position{Line: 1, Column: 2}, "impl", "node")
	want := "1:2: error: node n: impl: program \"node\" is not there: not found (install it, or add its folder to PATH) [MISSING_FILE]\n"
	if got := nodestest.Findings(f.Found); ok || got != want {
		t.Errorf("got %v, %s, want %s", ok, got, want)
	}
}

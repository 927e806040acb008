package mutanttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "a.go")
	if err := os.WriteFile(file, []byte("package a\n\nvar x, y = 1, 2\n\nvar z = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		edits      []edit
	}{
		{"one", "", []edit{{"a.go", "x, y = 1", "x, y = 3"}}},
		{"two in one file", "", []edit{{"a.go", "x, y = 1", "x, y = 3"}, {"a.go", "z = 2", "z = 4"}}},
		{"no file", "no such file", []edit{{"b.go", "x", "y"}}},
		{"the text is gone", "a.go contains this text 0 times, want once:\nw = 1", []edit{{"a.go", "w = 1", "w = 2"}}},
		{"the text is there twice", "2 times", []edit{{"a.go", "2", "3"}}},
		{"no Go", "not valid Go", []edit{{"a.go", "z = 2", "z ="}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed, err := (&mutant{name: tt.name, edits: tt.edits}).apply(root)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range tt.edits {
				if got := string(changed[file]); !strings.Contains(got, e.new) || strings.Contains(got, e.old) {
					t.Errorf("got\n%s", got)
				}
			}
		})
	}
}

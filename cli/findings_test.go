package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
)

// TestExcerpt holds that the caret stands below the first character of what is
// wrong, also behind tabs and wide characters, and that nothing breaks when the
// place is not there.
func TestExcerpt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flow.yaml")
	if err := os.WriteFile(file, []byte("name: x\n  to: svae, y\n\tkey: 日本 wrong\nlast\x1b[31m"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(line, column int32) core.Position { return core.Position{File: file, Line: line, Column: column} }
	for _, c := range []struct {
		name string
		pos  core.Position
		want string
	}{
		{"a word", at(2, 7), "  2 |   to: svae, y\n    |       ^^^^\n"},
		{"tab and wide characters", at(3, 14), "  3 |  key: 日本 wrong\n    |            ^^^^^\n"},
		{"behind the end", at(1, 99), "  1 | name: x\n    |        ^\n"},
		{"no column", at(1, 0), "  1 | name: x\n    | ^^^^\n"},
		{"no escape sequence gets through", at(4, 1), "  4 | last\\x1b[31m\n    | ^^^^\n"},
		{"no such line", at(9, 1), ""},
		{"no position", core.Position{File: file}, ""},
		{"no such file", core.Position{File: "none", Line: 1, Column: 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := excerpt(c.pos, map[string][]string{}, tty.NewPalette(false)); string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

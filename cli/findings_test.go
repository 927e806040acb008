package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/source"
)

// TestExcerpt checks that the caret is below the first affected character, also after tabs
// and wide characters, and that a position outside of the file causes no error.
func TestExcerpt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flow.yaml")
	if err := os.WriteFile(file, []byte("name: x\n  to: svae, y\n\tkey: 日本 wrong\nlast\x1b[31m"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(line, column int32) source.Position {
		return source.Position{File: file, Line: line, Column: column}
	}
	for _, c := range []struct {
		name string
		pos  source.Position
		want string
	}{
		{"a word", at(2, 7), "  2 |   to: svae, y\n    |       ^^^^\n"},
		{"tab and wide characters", at(3, 14), "  3 |  key: 日本 wrong\n    |            ^^^^^\n"},
		{"after the end", at(1, 99), "  1 | name: x\n    |        ^\n"},
		{"no column", at(1, 0), "  1 | name: x\n    | ^^^^\n"},
		{"no escape sequence gets through", at(4, 1), "  4 | last\\x1b[31m\n    | ^^^^\n"},
		{"no such line", at(9, 1), ""},
		{"no position", source.Position{File: file}, ""},
		{"no such file", source.Position{File: "none", Line: 1, Column: 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := excerpt(c.pos, map[string][]string{}, tty.NewPalette(false), 80); string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestExcerptFits checks that an excerpt is never wider than the terminal, and that the
// caret is below the character of the position.
func TestExcerptFits(t *testing.T) {
	for _, c := range []struct {
		name, line, at string
		width          int
		want           string
	}{
		{
			"in the middle", "    - {id: summarize, kind: agent, model: gpt, retry: {atempts: 3, delay: 1s}, writes: [summary]}", "atempts", 60,
			"  1 | …gent, model: gpt, retry: {atempts: 3, delay: 1s}, w…\n    |                            ^^^^^^^\n",
		},
		{"at the beginning", "nodes: [aaaaaaaa, bbbbbbbb, cccccccc]", "nodes", 30, "  1 | nodes: [aaaaaaaa, bbbb…\n    | ^^^^^\n"},
		{"at the end", "nodes: [aaaaaaaa, bbbbbbbb, cccccccc]", "cccccccc", 30, "  1 | …a, bbbbbbbb, cccccccc]\n    |               ^^^^^^^^\n"},
		{"wide characters", "日本語日本語日本語日本語 wrong 日本語日本語日本語", "wrong", 30, "  1 | …本語日本語 wrong 日本…\n    |             ^^^^^\n"},
		{"an accent of its own", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301 wrong", "wrong", 20, ""},
		{"tabs", "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\tkey: wrong, and more words", "wrong", 24, ""},
		{"a long word", "x: " + strings.Repeat("a", 200), "aaa", 24, ""},
		{"a narrow terminal", "nodes: [aaaaaaaa, bbbbbbbb, cccccccc]", "bbbbbbbb", 15, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "flow.yaml")
			if err := os.WriteFile(file, []byte(c.line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			pos := source.Position{File: file, Line: 1, Column: int32(strings.Index(c.line, c.at) + 1)}
			got := string(excerpt(pos, map[string][]string{}, tty.NewPalette(false), c.width))
			if c.want != "" && got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			lines := strings.Split(got, "\n")
			for _, line := range lines {
				if tty.Width(line) >= c.width {
					t.Errorf("%q is wider than %d", line, c.width-1)
				}
			}
			// The visible part of the marked text begins in the column of the caret.
			head, _, found := strings.Cut(lines[0], c.at[:3])
			caret, _, _ := strings.Cut(lines[1], "^")
			if !found || tty.Width(head) != tty.Width(caret) {
				t.Errorf("the caret is not below %q:\n%s", c.at, got)
			}
		})
	}
}

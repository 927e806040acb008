package docstest

import (
	"slices"
	"testing"
)

const page = "# Page\n\n<!-- inputs: {\"n\": 1} -->\n```yaml workflow\na: 1\n\n```\n\nText.\n<!-- inputs: lost -->\nMore text.\n\n" +
	"```console\n$ wavefold run a.yaml --input 'x=a b' # why\nok in 12ms\n...\n$ wavefold version\n```\n"

func TestBlocks(t *testing.T) {
	blocks := split("page.md", page)
	if len(blocks) != 2 {
		t.Fatalf("got %d blocks", len(blocks))
	}
	b := blocks[0]
	if b.Lang() != "yaml" || b.Info != "yaml workflow" || b.Text != "a: 1\n\n" || b.Line != 4 || b.Notes["inputs"] != `{"n": 1}` {
		t.Errorf("got %+v", b)
	}
	if len(blocks[1].Notes) > 0 {
		t.Errorf("a note belongs to the block right behind it, got %v", blocks[1].Notes)
	}
	commands := blocks[1].Commands(t)
	if len(commands) != 2 || !slices.Equal(commands[0].Args, []string{"wavefold", "run", "a.yaml", "--input", "x=a b"}) || commands[0].Want != "ok in 12ms\n...\n" || commands[1].Want != "" {
		t.Errorf("got %+v", commands)
	}
	if _, ok := words("run 'a"); ok {
		t.Error("an open quote is accepted")
	}
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		same      bool
	}{
		{"a\n", "a", true},
		{"a", "b", false},
		{"a\nb\n", "a\n", false},
		{"a\n", "a\nb\n", false},
		{"done   in 3.2ms\n", "done  in 1s\n", true},
		{"done in 3 steps\n", "done in 4 steps\n", false},
		{"a\nb\nc\n", "...\nc\n", true},
		{"a\nb\nc\n", "a\n...\n", true},
		{"a\nb\nc\n", "a\n...\nb\n", false},
		{"a\nb\nc\nd\n", "a\n...\nc\n...\nd\n", true},
		{"", "...", true},
	} {
		if Same(tt.got, tt.want) != tt.same {
			t.Errorf("%q and %q: want %t", tt.got, tt.want, tt.same)
		}
	}
}

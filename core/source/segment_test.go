package source

import (
	"fmt"
	"strings"
	"testing"
)

// places lists where each byte of a text is, and its end.
func places(t Text) string {
	var b strings.Builder
	for i := range len(t.Value) + 1 {
		p := Inside(t, i)
		fmt.Fprintf(&b, "%d:%d ", p.Line, p.Column)
	}
	return strings.TrimSpace(b.String())
}

func TestInsideAndCut(t *testing.T) {
	at := Position{File: "f", Line: 3, Column: 5}
	escaped := at.Written([]Segment{{0, 3, 5}, {2, 3, 9}, {4, 4, 2}})
	for _, tt := range []struct {
		name     string
		text     Text
		from, to int
		all, cut string
	}{
		{"one line", At("abcd", at), 1, 3, "3:5 3:6 3:7 3:8 3:9", "3:6 3:7 3:8"},
		{"a block", At("ab\nc\nd", at), 1, 5, "3:5 3:6 3:7 4:5 4:6 5:5 5:6", "3:6 3:7 4:5 4:6 5:5"},
		{"a part of one line of a block", At("ab\ncd", at), 4, 5, "3:5 3:6 3:7 4:5 4:6 4:7", "4:6 4:7"},
		{"segments", At("abcde", escaped), 1, 5, "3:5 3:6 3:9 3:10 4:2 4:3", "3:6 3:9 3:10 4:2 4:3"},
		{"a part of a segment", At("abcde", escaped), 2, 3, "3:5 3:6 3:9 3:10 4:2 4:3", "3:9 3:10"},
		{"from the middle of a segment", At("abcde", escaped), 3, 5, "3:5 3:6 3:9 3:10 4:2 4:3", "3:10 4:2 4:3"},
		{"nothing", At("abcde", escaped), 3, 3, "3:5 3:6 3:9 3:10 4:2 4:3", "3:10"},
		{"a line of a program", At("a\nb", Position{File: "f.go", Line: 7}), 0, 3, "7:0 7:0 8:0 8:0", "7:0 7:0 8:0 8:0"},
		{"nowhere", At("a\nb", Position{}), 1, 3, "0:0 0:0 0:0 0:0", "0:0 0:0 0:0"},
	} {
		if got := places(tt.text); got != tt.all {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.all)
		}
		cut := Cut(tt.text, tt.from, tt.to)
		if got := places(cut); cut.Value != tt.text.Value[tt.from:tt.to] || got != tt.cut || cut.Pos.File != tt.text.Pos.File {
			t.Errorf("%s: the part %q is at %s, want %s", tt.name, cut.Value, got, tt.cut)
		}
		if got := places(Cut(cut, 0, len(cut.Value))); got != tt.cut {
			t.Errorf("%s: a part of a part is at %s, want %s", tt.name, got, tt.cut)
		}
		whole := At(tt.text.Value, tt.text.Pos.Written(Segments(tt.text)))
		if got := places(whole); got != tt.all && tt.text.Pos.Column > 0 {
			t.Errorf("%s: its segments give %s, want %s", tt.name, got, tt.all)
		}
	}
	if a, b := Inside(At("abc", escaped), -1), Inside(At("abc", escaped), 99); a != at || b.Column != 10 {
		t.Errorf("outside of the text: %v and %v", a, b)
	}
}

// TestFindingsArePlain: findings of the same place are equal, however their places
// came about.
func TestFindingsArePlain(t *testing.T) {
	at := Position{Line: 1, Column: 1}
	var ds Diagnostics
	ds.Errorf(CodeSyntax, at, "x")
	ds.Errorf(CodeSyntax, at.Written([]Segment{{0, 1, 1}, {2, 2, 1}}), "x")
	if len(ds.Sorted()) != 1 {
		t.Errorf("%v", ds.Sorted())
	}
}

package tty

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"hello", 5, "hello"}, {"hello!", 5, "hell…"}, {"日本語", 4, "日…"}, {"x", 0, ""}, {"", 3, ""}, {"ab", 1, "…"},
	} {
		if got := Cut(c.in, c.width); got != c.want || Width(got) > c.width {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestCutLeftAndMiddle(t *testing.T) {
	for _, c := range []struct {
		in           string
		width        int
		left, middle string
	}{
		{"hello", 5, "hello", "hello"}, {"outlier_threshold", 10, "…threshold", "outli…hold"}, {"日本語", 4, "…語", "日…"},
		{"日本語日本語", 7, "…日本語", "日本…語"}, {"ae\u0301e\u0301", 2, "…e\u0301", "a…"}, {"x", 0, "", ""}, {"", 3, "", ""}, {"ab", 1, "…", "…"}, {"abc", 2, "…c", "a…"},
	} {
		if got := CutLeft(c.in, c.width); got != c.left || Width(got) > c.width {
			t.Errorf("CutLeft(%q, %d) = %q, want %q", c.in, c.width, got, c.left)
		}
		if got := CutMiddle(c.in, c.width); got != c.middle || Width(got) > c.width {
			t.Errorf("CutMiddle(%q, %d) = %q, want %q", c.in, c.width, got, c.middle)
		}
	}
}

// On a narrow terminal explanations move to their own lines first, then the first spare
// column is omitted, and names are shortened last.
func TestTableBelow(t *testing.T) {
	tab := NewTable([]string{"node", "status", "attempts", "time", "why"}, 2, 3)
	tab.Spare(3, 2)
	tab.Below()
	tab.Row("outlier_threshold", "success", "12", "265ms", "its condition became true after many rounds")
	tab.Row("load", "success", "1", "", "")
	for _, c := range []struct {
		width int
		want  []Styled
	}{
		{68, []Styled{
			"node               status   attempts   time  why",
			"outlier_threshold  success        12  265ms  its condition became",
			"                                             true after many rounds",
			"load               success         1",
		}},
		{50, []Styled{
			"node               status   attempts   time",
			"outlier_threshold  success        12  265ms",
			"  its condition became true after many rounds",
			"load               success         1",
		}},
		{40, []Styled{
			"node               status   attempts",
			"outlier_threshold  success        12",
			"  its condition became true after many",
			"  rounds",
			"load               success         1",
		}},
		{32, []Styled{
			"node           status   attempts",
			"outlier…shold  success        12",
			"  its condition became true",
			"  after many rounds",
			"load           success         1",
		}},
		{24, []Styled{
			"node             status",
			"outlier_…eshold  success",
			"  its condition became",
			"  true after many rounds",
			"load             success",
		}},
	} {
		if got := tab.Lines(c.width); !slices.Equal(got, c.want) {
			t.Errorf("at %d:\n%s\nwant\n%s", c.width, lines(got), lines(c.want))
		}
	}
}

func TestTable(t *testing.T) {
	red := NewPalette(true).Bad("red")
	tab := NewTable([]string{"node", "empty", "n", "why"}, 2)
	tab.Row("a", "", "12", "")
	tab.Spare(2)
	tab.Row("a_long_name_of_a_node", "", red, "because of something")
	for _, c := range []struct {
		width int
		want  []Styled
	}{
		{0, []Styled{
			"node                     n  why", "a                       12", "a_long_name_of_a_node  " + red + "  because of something",
		}},
		{40, []Styled{
			"node             n  why", "a               12", "a_long_…_node  " + red + "  because of something",
		}},
		{33, []Styled{
			"node          n  why", "a            12", "a_lon…node  " + red + "  because of", "                 something",
		}},
		{28, []Styled{"node        why", "a", "a_lon…node  because of", "            something"}},
		{9, []Styled{"node", "a", "a_lon…nod"}},
	} {
		if got := tab.Lines(c.width); !slices.Equal(got, c.want) {
			t.Errorf("at %d: %q, want %q", c.width, got, c.want)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	if got := NewTable([]string{"node"}).Lines(0); got != nil {
		t.Errorf("%q", got)
	}
}

func TestPaletteOff(t *testing.T) {
	p := NewPalette(false)
	for _, s := range []Styled{p.Good("x"), p.Bad("x"), p.Warn("x"), p.Accent("x"), p.Dim("x"), p.Bold("x"), p.Status("x")} {
		if s != "x" {
			t.Errorf("%q", s)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    Styled
		width int
		want  []Styled
	}{
		{"one two three", 20, []Styled{"one two three"}},
		{"one two three", 7, []Styled{"one two", "three"}},
		{"one two three", 6, []Styled{"one", "two", "three"}},
		{"one two three four", 5, []Styled{"one", "two", "thre…"}},
		{"onetwothreefour", 4, []Styled{"onet", "woth", "ree…"}},
		{"日本語のテキスト", 5, []Styled{"日本", "語の", "テキ…"}},
		{"日本", 1, []Styled{"日", "…"}}, {"日", 1, []Styled{"…"}},
		{"a  b", 1, []Styled{"a", "b"}},
		{"", 5, []Styled{""}},
	} {
		if got := wrap(c.in, c.width, 3); !slices.Equal(got, c.want) {
			t.Errorf("%q at %d: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// For any table, no line is longer than the terminal, and without a terminal each row is
// one line.
func TestTableFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cell := func() Styled {
		words := []string{"", "a", "success", "日本語", "a_long_name_without_blanks", "some words that go on and on and on for a while", "x y"}
		return Safe(words[r.IntN(len(words))] + words[r.IntN(len(words))])
	}
	for range 500 {
		tab := NewTable([]string{"name", "status", "n", "text", "why"}, 2)
		tab.Spare(2, 3)
		for range 1 + r.IntN(4) {
			tab.Row(cell(), NewPalette(true).Good("success"), "12", cell(), cell())
		}
		for _, width := range []int{5, 20, 40, 80, 200} {
			for _, line := range tab.Lines(width) {
				if Width(line) > width {
					t.Fatalf("%d cells at %d: %q", Width(line), width, line)
				}
			}
		}
		if got := len(tab.Lines(0)); got != len(tab.rows) {
			t.Fatalf("%d lines for %d rows", got, len(tab.rows))
		}
	}
}

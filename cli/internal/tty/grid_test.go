package tty

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func cells(texts ...string) []GridCell {
	out := make([]GridCell, len(texts))
	for i, s := range texts {
		out[i] = GridCell{Text: Safe(s)}
	}
	return out
}

func TestGrid(t *testing.T) {
	g := &Grid{}
	g.Column("city", false, cells("Oslo", strings.Repeat("long", 12)))
	g.Column("how_many_there_are", true, cells("1234567", "∅"))
	g.Column("say", false, cells("a\tb\x1b[m", "日本語のテキストです"))
	p := NewPalette(false)
	for _, c := range []struct {
		width  int
		want   []Styled
		hidden int
	}{
		{0, []Styled{
			"city                                      how_many_there_are  say",
			"Oslo                                                 1234567  a b\\x1b[m",
			"longlonglonglonglonglonglonglonglonglon…                   ∅  日本語のテキストです",
		}, 0},
		{50, []Styled{
			"city             how_many_there…  say",
			"Oslo                     1234567  a b\\x1b[m",
			"longlonglonglo…                ∅  日本語のテキス…",
		}, 0},
		{34, []Styled{"city            how_many_ther…  …", "Oslo                   1234567  …", "longlonglongl…               ∅  …"}, 1},
		{20, []Styled{"city               …", "Oslo               …", "longlonglonglong…  …"}, 2},
		{6, []Styled{"city", "Oslo", "longlo"}, 2},
	} {
		got, hidden := g.Lines(c.width, p)
		if !slices.Equal(got, c.want) || hidden != c.hidden {
			t.Errorf("at %d: %d hidden\n%s\nwant %d\n%s", c.width, hidden, lines(got), c.hidden, lines(c.want))
		}
	}
}

func lines(l []Styled) string {
	var out []string
	for _, s := range l {
		out = append(out, string(s))
	}
	return strings.Join(out, "\n")
}

// For any table and any terminal width, no line is too long, and no number loses a digit
// unless it has the line to itself.
func TestGridFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "two words", "日本語日本語日本語", strings.Repeat("x", 60), "\x1b[31m"}
	numbers := []string{"1", "-23", "1234567890123456789", "4.25"}
	for range 400 {
		g := &Grid{}
		columns := 1 + r.IntN(8)
		pick := func(of []string) string { return of[r.IntN(len(of))] }
		for range columns {
			if r.IntN(2) == 0 {
				g.Column(pick(texts), true, cells(pick(numbers), pick(numbers)))
			} else {
				g.Column(pick(texts), false, cells(pick(texts), pick(texts)))
			}
		}
		for _, width := range []int{1, 7, 30, 80, 200, 0} {
			got, hidden := g.Lines(width, NewPalette(true))
			for i, line := range got {
				if width > 0 && Width(line) > width {
					t.Fatalf("%d cells at %d: %q", Width(line), width, line)
				}
				for c := range columns - hidden {
					cell := ""
					if i > 0 {
						cell = string(g.columns[c].cells[i-1].Text)
					}
					if g.columns[c].right && columns-hidden > 1 && !strings.Contains(string(line), cell) {
						t.Fatalf("at %d the number %s is cut: %q", width, cell, line)
					}
				}
			}
		}
	}
}

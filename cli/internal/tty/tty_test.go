package tty

import (
	"slices"
	"testing"
	"time"
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

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 340500: "341µs", 12345678: "12ms", 1254 * time.Millisecond: "1.25s", 123456 * time.Millisecond: "2m3s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	red := NewPalette(true).Bad("red")
	tab := NewTable([]string{"node", "empty", "n", "why"}, 2)
	tab.Row("a", "", "12", "")
	tab.Row("a_long_name_of_a_node", "", red, "because of something")
	for _, c := range []struct {
		width int
		want  []Styled
	}{
		{0, []Styled{
			"node                     n  why", "a                       12", "a_long_name_of_a_node  " + red + "  because of something",
		}},
		{40, []Styled{
			"node             n  why", "a               12", "a_long_name_…  " + red + "  because of something",
		}},
		{20, []Styled{"node      n  why", "a        12", "a_lon…  " + red + "  because"}},
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

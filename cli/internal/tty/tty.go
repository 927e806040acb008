// Package tty provides what all commands need for printing: optional colours, display
// widths, strings made safe for a terminal, and columns.
package tty

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Palette colours strings and makes them safe to print. The zero Palette adds no colours.
type Palette struct{ on bool }

// NewPalette returns a palette that adds colours if on is set.
func NewPalette(on bool) Palette { return Palette{on} }

var (
	good   = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	warn   = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	accent = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	dim    = lipgloss.NewStyle().Faint(true)
	bold   = lipgloss.NewStyle().Bold(true)
)

func (p Palette) render(s lipgloss.Style, text string) Styled {
	safe := Safe(text)
	if !p.on || text == "" {
		return safe
	}
	return Styled(s.Render(string(safe)))
}

// Good styles a success.
func (p Palette) Good(s string) Styled { return p.render(good, s) }

// Bad styles a failure.
func (p Palette) Bad(s string) Styled { return p.render(bad, s) }

// Warn styles a warning.
func (p Palette) Warn(s string) Styled { return p.render(warn, s) }

// Accent styles work in progress.
func (p Palette) Accent(s string) Styled { return p.render(accent, s) }

// Dim styles less important text.
func (p Palette) Dim(s string) Styled { return p.render(dim, s) }

// Bold styles a heading.
func (p Palette) Bold(s string) Styled { return p.render(bold, s) }

// Status styles the name of a status according to its meaning.
func (p Palette) Status(s string) Styled {
	switch s {
	case "success", "valid", "ok":
		return p.Good(s)
	case "fail", "failed", "error":
		return p.Bad(s)
	case "partial_success", "cancelled", "paused", "warning":
		return p.Warn(s)
	}
	return p.Dim(s)
}

// Width returns the number of cells that a string takes, ignoring colours.
func Width[S ~string](s S) int {
	if strings.IndexFunc(string(s), func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return len(s) // most cells of tables
	}
	return lipgloss.Width(string(s))
}

// Cut shortens a string without colours to a number of cells; a shortened string ends in
// "…".
func Cut[S ~string](s S, width int) S {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for _, r := range string(s) {
		w := Width(string(r))
		if used+w > width-1 {
			break
		}
		b.WriteRune(r)
		used += w
	}
	return S(b.String()) + "…"
}

// CutLeft shortens a string without colours to its last cells; a shortened string begins
// with "…".
func CutLeft[S ~string](s S, width int) S {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	r := []rune(string(s))
	begin, used := len(r), 0
	for i := len(r) - 1; i >= 0; i-- {
		w := Width(string(r[i]))
		if used+w > width-1 {
			break
		}
		if used += w; w > 0 { // a combining accent belongs to the letter before it
			begin = i
		}
	}
	return "…" + S(r[begin:])
}

// CutMiddle shortens a string without colours to a number of cells, with "…" in place of
// its middle: names often differ at their ends.
func CutMiddle[S ~string](s S, width int) S {
	if width <= 2 || Width(s) <= width {
		return Cut(s, width)
	}
	tail := CutLeft(s, width/2)
	return Cut(s, width-Width(tail)+1) + tail[len("…"):]
}

// Pad pads a string with spaces to a number of cells.
func Pad[S ~string](s S, width int) S {
	if n := width - Width(s); n > 0 {
		return s + S(strings.Repeat(" ", n))
	}
	return s
}

// CutStyled shortens a string that may contain colours to a number of cells; 0 means no
// limit.
func CutStyled(s Styled, width int) Styled {
	if width <= 0 || Width(s) <= width {
		return s
	}
	return Styled(lipgloss.NewStyle().Inline(true).MaxWidth(width).Render(string(s)))
}

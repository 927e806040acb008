package tty

import (
	"slices"
	"strings"
)

// Grid lays out rows of data in columns, one line per row. Strings are cut if they do not
// fit, numbers never: a column that would lose digits is omitted, as are the last columns
// of a table that is too wide.
type Grid struct {
	columns []gridColumn
	rows    int
}

type gridColumn struct {
	name  Styled
	right bool
	cells []GridCell
}

// GridCell is a value. Faint marks a placeholder for one.
type GridCell struct {
	Text  Styled
	Faint bool
}

const (
	maxCell = 40 // the maximum width of a string, however wide the terminal
	minCell = 12 // the width below which a string is unreadable
	gridGap = 2
)

// Column adds a column; numbers are aligned to the right. All columns have the same number
// of cells.
func (g *Grid) Column(name string, number bool, cells []GridCell) {
	g.columns = append(g.columns, gridColumn{Safe(name), number, cells})
	g.rows = len(cells)
}

// Lines returns the headings and the rows, none longer than width, and the number of last
// columns that did not fit. Width 0 means no limit.
func (g *Grid) Lines(width int, p Palette) (lines []Styled, hidden int) {
	widths := g.widths(width)
	for i := range g.rows + 1 {
		var b strings.Builder
		for c, w := range widths {
			if c > 0 {
				b.WriteString(strings.Repeat(" ", gridGap))
			}
			b.WriteString(string(g.columns[c].cell(i, w, p)))
		}
		if len(widths) < len(g.columns) {
			b.WriteString(strings.Repeat(" ", gridGap) + "…")
		}
		line := CutStyled(Styled(b.String()), width)
		lines = append(lines, Styled(strings.TrimRight(string(line), " ")))
	}
	return lines, len(g.columns) - len(widths)
}

// cell returns the heading, for i == 0, or a cell, cut and padded to a width.
func (c *gridColumn) cell(i, width int, p Palette) Styled {
	cell := GridCell{Text: c.name, Faint: true}
	if i > 0 {
		cell = c.cells[i-1]
	}
	text := Cut(cell.Text, width)
	blanks := Styled(strings.Repeat(" ", max(0, width-Width(text))))
	if cell.Faint {
		text = p.Dim(string(text))
	}
	if c.right {
		return blanks + text
	}
	return text + blanks
}

// bounds returns the minimum width, below which the column is omitted, and the preferred
// width.
func (c *gridColumn) bounds() (minWidth, preferred int) {
	for _, cell := range c.cells {
		preferred = max(preferred, Width(cell.Text))
	}
	name := Width(c.name)
	if c.right {
		return max(preferred, min(name, minCell)), max(preferred, name)
	}
	preferred = min(max(preferred, name), maxCell)
	return min(preferred, minCell), preferred
}

// widths returns the widths of the columns that fit, at least one.
func (g *Grid) widths(width int) []int {
	minWidths, preferred := make([]int, len(g.columns)), make([]int, len(g.columns))
	for i := range g.columns {
		minWidths[i], preferred[i] = g.columns[i].bounds()
	}
	if width <= 0 {
		return preferred
	}
	n := len(minWidths)
	for n > 1 && gridTotal(minWidths[:n])+g.tail(n) > width {
		n--
	}
	return share(minWidths[:n], preferred[:n], width-g.tail(n))
}

// tail returns the width of the note that columns are omitted.
func (g *Grid) tail(n int) int {
	if n < len(g.columns) {
		return gridGap + 1
	}
	return 0
}

// share gives each column its preferred width, up to a maximum that is the same for all
// columns and as large as the total width allows.
func share(minWidths, preferred []int, width int) []int {
	for limit := slices.Max(append(preferred, 0)); ; limit-- {
		widths := make([]int, len(preferred))
		for i := range preferred {
			widths[i] = max(minWidths[i], min(preferred[i], limit))
		}
		if limit <= 0 || gridTotal(widths) <= width {
			return widths
		}
	}
}

// gridTotal returns the length of a line with columns of these widths.
func gridTotal(widths []int) int {
	sum := gridGap * max(0, len(widths)-1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

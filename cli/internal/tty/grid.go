package tty

import (
	"slices"
	"strings"
)

// Grid lays rows of data out in columns, one line for each row. Texts are cut where
// there is no room for them, numbers never: a column that would have to lose digits
// is left out, as are the last columns of a table that is too wide.
type Grid struct {
	columns []gridColumn
	rows    int
}

type gridColumn struct {
	name  Styled
	right bool
	cells []GridCell
}

// GridCell is a value. Faint marks what only stands for one.
type GridCell struct {
	Text  Styled
	Faint bool
}

const (
	mostCell  = 40 // the width a text gets, however much room there is
	leastCell = 12 // the width below which a text says nothing
	gridGap   = 2
)

// Column adds a column, numbers being aligned to the right. All columns have the
// same number of cells.
func (g *Grid) Column(name string, number bool, cells []GridCell) {
	g.columns = append(g.columns, gridColumn{Safe(name), number, cells})
	g.rows = len(cells)
}

// Lines returns the headings and the rows, none longer than width, and how many of
// the last columns found no room. Width 0 has room for all.
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

// cell is the heading, i being 0, or a cell, cut and filled to a width.
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

// bounds returns the width below which a column is left out and the one it would
// like to have.
func (c *gridColumn) bounds() (least, good int) {
	for _, cell := range c.cells {
		good = max(good, Width(cell.Text))
	}
	name := Width(c.name)
	if c.right {
		return max(good, min(name, leastCell)), max(good, name)
	}
	good = min(max(good, name), mostCell)
	return min(good, leastCell), good
}

// widths returns the widths of the columns that there is room for, at least one.
func (g *Grid) widths(width int) []int {
	least, good := make([]int, len(g.columns)), make([]int, len(g.columns))
	for i := range g.columns {
		least[i], good[i] = g.columns[i].bounds()
	}
	if width <= 0 {
		return good
	}
	n := len(least)
	for n > 1 && gridTotal(least[:n])+g.tail(n) > width {
		n--
	}
	return share(least[:n], good[:n], width-g.tail(n))
}

// tail is the room that is needed to tell that columns are left out.
func (g *Grid) tail(n int) int {
	if n < len(g.columns) {
		return gridGap + 1
	}
	return 0
}

// share gives each column what it would like to have, but no more than a most that
// is the same for all of them and as large as there is room for.
func share(least, good []int, width int) []int {
	for most := slices.Max(append(good, 0)); ; most-- {
		widths := make([]int, len(good))
		for i := range good {
			widths[i] = max(least[i], min(good[i], most))
		}
		if most <= 0 || gridTotal(widths) <= width {
			return widths
		}
	}
}

// gridTotal is the length of a line of columns.
func gridTotal(widths []int) int {
	sum := gridGap * max(0, len(widths)-1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

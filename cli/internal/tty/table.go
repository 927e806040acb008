package tty

import (
	"strings"
)

// Table lays texts out in columns. Cells may be coloured, except in the first
// column.
type Table struct {
	rows [][]Styled
	// right marks columns that are aligned to the right.
	right map[int]bool
}

// NewTable returns a table with a line of headings; columns in right are aligned
// to the right.
func NewTable(headings []string, right ...int) *Table {
	t := &Table{right: map[int]bool{}}
	for _, c := range right {
		t.right[c] = true
	}
	row := make([]any, len(headings))
	for i, h := range headings {
		row[i] = h
	}
	t.Row(row...)
	return t
}

// Row adds a line. A cell that is not Styled is made safe.
func (t *Table) Row(cells ...any) {
	row := make([]Styled, len(cells))
	for i, c := range cells {
		row[i] = Sprintf("%v", c)
	}
	t.rows = append(t.rows, row)
}

// Lines returns the lines, columns two blanks apart, without blanks at the end.
// A column that is empty in every line but the headings is left out, and so are
// headings without a line below them. With a width
// the first column is shortened where that makes room for the others, and lines
// that are too long are cut; 0 means that they may be as long as they are.
func (t *Table) Lines(width int) []Styled {
	if len(t.rows) == 1 {
		return nil
	}
	widths := t.widths()
	total := -2
	for _, w := range widths {
		total += max(w+2, 0)
	}
	if width > 0 && total > width && len(widths) > 0 {
		widths[0] = min(widths[0], max(width/3, widths[0]-(total-width)))
	}
	out := make([]Styled, len(t.rows))
	for i, row := range t.rows {
		out[i] = CutStyled(t.line(row, widths), width)
	}
	return out
}

func (t *Table) line(row []Styled, widths []int) Styled {
	var b strings.Builder
	gap := ""
	for c, cell := range row {
		if widths[c] < 0 {
			continue
		}
		b.WriteString(gap)
		gap = "  "
		if c == 0 && Width(cell) > widths[c] {
			cell = Cut(cell, widths[c])
		}
		blanks := strings.Repeat(" ", max(0, widths[c]-Width(cell)))
		if t.right[c] {
			b.WriteString(blanks + string(cell))
		} else {
			b.WriteString(string(cell) + blanks)
		}
	}
	return Styled(strings.TrimRight(b.String(), " "))
}

// widths returns the width of each column, -1 for one that is left out.
func (t *Table) widths() []int {
	var widths []int
	for i, row := range t.rows {
		for c, cell := range row {
			if c == len(widths) {
				widths = append(widths, -1)
			}
			if i > 0 && cell != "" {
				widths[c] = max(widths[c], Width(cell), Width(t.rows[0][c]))
			}
		}
	}
	return widths
}

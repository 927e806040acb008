package tty

import (
	"strings"
)

// Table lays texts out in columns. Cells may be coloured.
type Table struct {
	rows [][]string
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
	t.Row(headings...)
	return t
}

// Row adds a line.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Lines returns the lines, columns two blanks apart, without blanks at the end.
// A column that is empty in every line but the headings is left out.
func (t *Table) Lines() []string {
	widths := t.widths()
	out := make([]string, len(t.rows))
	for i, row := range t.rows {
		var b strings.Builder
		gap := ""
		for c, cell := range row {
			if widths[c] < 0 {
				continue
			}
			b.WriteString(gap)
			gap = "  "
			blanks := strings.Repeat(" ", max(0, widths[c]-Width(cell)))
			if t.right[c] {
				b.WriteString(blanks + cell)
			} else {
				b.WriteString(cell + blanks)
			}
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
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

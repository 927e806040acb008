package tty

import (
	"slices"
	"strings"
)

// Table lays out strings in columns. Cells may be coloured, except in the first column.
type Table struct {
	rows [][]Styled
	// right is the set of columns that are aligned to the right.
	right map[int]bool
	// spare lists the columns that are omitted if they do not fit.
	spare []int
	// below is the index of the column that moves to its own lines if the table is too
	// wide; 0 if no column does.
	below int
}

// NewTable returns a table with a line of headings; the columns in right are aligned to the
// right.
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

// Spare names columns that are omitted, in this order, if the others do not fit. The last
// of them is kept until the names in the first column have their minimum width.
func (t *Table) Spare(columns ...int) { t.spare = columns }

// Below gives the last column, which has no colours, lines of its own below the row if the
// column would become too narrow to read.
func (t *Table) Below() { t.below = len(t.rows[0]) - 1 }

// Row adds a line. A cell that is not Styled is made safe.
func (t *Table) Row(cells ...any) {
	row := make([]Styled, len(cells))
	for i, c := range cells {
		row[i] = Sprintf("%v", c)
	}
	t.rows = append(t.rows, row)
}

// Lines returns the lines, with two spaces between columns and no trailing spaces. A column
// that is empty in every line except the headings is omitted, and so are headings without a
// line below them. If width is not 0, no line is longer than width: long columns become
// narrower, where the first is shortened and the others wrap. Width 0 means no limit.
func (t *Table) Lines(width int) []Styled {
	if len(t.rows) == 1 {
		return nil
	}
	l := &layout{Table: t, widths: t.widths()}
	if width > 0 {
		l.fit(width)
	}
	var out []Styled
	for _, row := range t.rows {
		for i, line := range l.lines(row) {
			line = Styled(strings.TrimRight(string(CutStyled(line, width)), " "))
			if line != "" || i == 0 {
				out = append(out, line)
			}
		}
	}
	return out
}

// widths returns the width of each column, -1 for a column that is omitted.
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

// layout is a table with the widths of its columns.
type layout struct {
	*Table
	widths     []int
	belowWidth int // the width of the column below the rows, 0 if it is an ordinary column
}

// indent is the number of spaces before the lines below a row.
const indent = 2

// Widths to which fit narrows columns, in five steps: columns that wrap to preferredText,
// the names in the first column to preferredName, columns that wrap to readableText, names
// to minName, and columns that wrap to minText. Names are shortened in the middle.
const (
	preferredText, preferredName = 30, 20
	readableText                 = 22
	minText, minName             = 16, 10
)

// fit narrows columns until the lines fit. If they do not fit at the minimum widths, it
// omits columns.
func (l *layout) fit(width int) {
	var wraps []int
	if c := l.below; c > 0 && c < len(l.widths) && l.widths[c] > 0 && !l.isStyled(c) && !l.isRoomy(width) {
		l.widths[c], l.belowWidth = -1, max(1, width-indent)
	}
	minWidths := slices.Clone(l.widths)
	for c, w := range l.widths {
		switch {
		case c == 0:
			minWidths[c] = min(w, minName)
		case !l.isStyled(c) && !l.right[c]:
			minWidths[c] = min(w, minText)
			wraps = append(wraps, c)
		}
	}
	shortest := minWidths[0]
	for i, c := range l.spare {
		minWidths[0] = min(l.widths[0], preferredName)
		if i == len(l.spare)-1 {
			minWidths[0] = shortest
		}
		if total(minWidths) <= width {
			break
		}
		l.widths[c], minWidths[c] = -1, -1
	}
	l.shrink(wraps, preferredText, width)
	l.shrink([]int{0}, preferredName, width)
	l.shrink(wraps, readableText, width)
	l.shrink([]int{0}, minName, width)
	l.shrink(wraps, minText, width)
}

// isRoomy reports whether the lines fit while names and strings have a width that is easy
// to read.
func (l *layout) isRoomy(width int) bool {
	readable := slices.Clone(l.widths)
	for c, w := range readable {
		switch {
		case c == 0:
			readable[c] = min(w, preferredName)
		case !l.isStyled(c) && !l.right[c]:
			readable[c] = min(w, readableText)
		}
	}
	return total(readable) <= width
}

// shrink narrows the widest of some columns until the lines fit or the columns have their
// minimum width.
func (l *layout) shrink(columns []int, minWidth, width int) {
	for over := total(l.widths) - width; over > 0; over-- {
		widest := columns[:0:0]
		for _, c := range columns {
			if w := l.widths[c]; w > minWidth && (len(widest) == 0 || w > l.widths[widest[0]]) {
				widest = []int{c}
			}
		}
		if len(widest) == 0 {
			return
		}
		l.widths[widest[0]]--
	}
}

// total returns the length of a line with columns of these widths.
func total(widths []int) int {
	sum := -2
	for _, w := range widths {
		if w >= 0 {
			sum += w + 2
		}
	}
	return sum
}

// isStyled reports whether a column has colours, so that its cells cannot be cut.
func (l *layout) isStyled(column int) bool {
	return slices.ContainsFunc(l.rows, func(row []Styled) bool {
		return column < len(row) && strings.ContainsRune(string(row[column]), '\x1b')
	})
}

// maxLines limits the lines of a cell.
const maxLines = 3

// lines lays out a row.
func (l *layout) lines(row []Styled) []Styled {
	cells := make([][]Styled, len(row))
	height := 1
	for c, cell := range row {
		switch w := l.widths[c]; {
		case w < 0:
		case c == 0:
			cells[c] = []Styled{CutMiddle(cell, w)}
		case Width(cell) <= w:
			cells[c] = []Styled{cell}
		default:
			cells[c] = wrap(cell, w, maxLines)
		}
		height = max(height, len(cells[c]))
	}
	out := make([]Styled, height)
	for i := range out {
		out[i] = l.line(cells, i)
	}
	if l.belowWidth > 0 && len(row) > l.below && row[l.below] != "" && &row[0] != &l.rows[0][0] { // not the headings
		for _, line := range wrap(row[l.below], l.belowWidth, maxLines) {
			out = append(out, Styled(strings.Repeat(" ", indent))+line)
		}
	}
	return out
}

// line returns line i of a row.
func (l *layout) line(cells [][]Styled, i int) Styled {
	var b strings.Builder
	gap := ""
	for c, w := range l.widths[:len(cells)] {
		if w < 0 {
			continue
		}
		b.WriteString(gap)
		gap = "  "
		cell := Styled("")
		if i < len(cells[c]) {
			cell = cells[c][i]
		}
		blanks := strings.Repeat(" ", max(0, w-Width(cell)))
		if l.right[c] {
			b.WriteString(blanks + string(cell))
		} else {
			b.WriteString(string(cell) + blanks)
		}
	}
	return Styled(strings.TrimRight(b.String(), " "))
}

// Wrap breaks a string without colours into lines of the given width, at spaces where
// possible. With width 0 it returns one line.
func Wrap(s Styled, width int) []Styled {
	if width <= 0 {
		return []Styled{s}
	}
	return wrap(s, width, len(s)+1)
}

// wrap breaks a string without colours into lines of the given width, at spaces where
// possible. If it needs more than limit lines, it stops there, and the last line ends in
// "…".
func wrap(s Styled, width, limit int) []Styled {
	var out []Styled
	rest := string(s)
	for len(out) < limit-1 && Width(rest) > width {
		head := fitPrefix(rest, width)
		if len(head) == len(rest) { // one character, wider than the line
			break
		}
		if rest[len(head)] != ' ' {
			if i := strings.LastIndexByte(head, ' '); i > 0 {
				head = head[:i]
			}
		}
		out = append(out, Styled(strings.TrimRight(head, " ")))
		rest = strings.TrimLeft(rest[len(head):], " ")
	}
	return append(out, Styled(Cut(rest, width)))
}

// fitPrefix returns the longest prefix of a string that takes at most width cells, but at
// least one character.
func fitPrefix(s string, width int) string {
	used := 0
	for i, r := range s {
		w := Width(string(r))
		if used += w; used > width && i > 0 {
			return s[:i]
		}
	}
	return s
}

package tty

import (
	"slices"
	"strings"
)

// Table lays texts out in columns. Cells may be coloured, except in the first
// column.
type Table struct {
	rows [][]Styled
	// right marks columns that are aligned to the right.
	right map[int]bool
	// spare lists columns that are left out where there is no room.
	spare []int
	// below is the index of the column that moves to its own lines if the table is too
	// wide; 0 if no column does.
	below int
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

// Spare names columns that are left out, the first one first, where the others would have no
// room. The last of them is kept until the names of the first column are as short as they may be.
func (t *Table) Spare(columns ...int) { t.spare = columns }

// Below gives the last column, which has no colours, lines of its own below the row where it
// would become too narrow to read.
func (t *Table) Below() { t.below = len(t.rows[0]) - 1 }

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
// headings without a line below them. With a width the lines are no longer than
// that: long columns become narrower, the first one shortened, the others in
// several lines; 0 means that lines may be as long as they are.
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

// layout is a table with the widths its columns get.
type layout struct {
	*Table
	widths []int
	under  int // the width of the column below the rows, 0 if it is one of the others
}

// indent is the number of blanks before the lines below a row.
const indent = 2

// Widths down to which columns are narrowed, in turn: first columns that wrap, then the
// names in the first column, which are shortened in the middle.
const (
	goodText, goodName   = 30, 20
	fairText             = 22
	leastText, leastName = 16, 10
)

// fit makes columns narrower until the lines fit. If they do not at the least widths,
// columns are left out.
func (l *layout) fit(width int) {
	var wraps []int
	if c := l.below; c > 0 && c < len(l.widths) && l.widths[c] > 0 && !l.isStyled(c) && !l.isRoomy(width) {
		l.widths[c], l.under = -1, max(1, width-indent)
	}
	least := slices.Clone(l.widths)
	for c, w := range l.widths {
		switch {
		case c == 0:
			least[c] = min(w, leastName)
		case !l.isStyled(c) && !l.right[c]:
			least[c] = min(w, leastText)
			wraps = append(wraps, c)
		}
	}
	shortest := least[0]
	for i, c := range l.spare {
		least[0] = min(l.widths[0], goodName)
		if i == len(l.spare)-1 {
			least[0] = shortest
		}
		if total(least) <= width {
			break
		}
		l.widths[c], least[c] = -1, -1
	}
	l.shrink(wraps, goodText, width)
	l.shrink([]int{0}, goodName, width)
	l.shrink(wraps, fairText, width)
	l.shrink([]int{0}, leastName, width)
	l.shrink(wraps, leastText, width)
}

// isRoomy reports whether the lines fit with names and strings that can be read well.
func (l *layout) isRoomy(width int) bool {
	fair := slices.Clone(l.widths)
	for c, w := range fair {
		switch {
		case c == 0:
			fair[c] = min(w, goodName)
		case !l.isStyled(c) && !l.right[c]:
			fair[c] = min(w, fairText)
		}
	}
	return total(fair) <= width
}

// shrink makes the widest of some columns narrower until the lines fit or the columns
// have a least width.
func (l *layout) shrink(columns []int, least, width int) {
	for over := total(l.widths) - width; over > 0; over-- {
		widest := columns[:0:0]
		for _, c := range columns {
			if w := l.widths[c]; w > least && (len(widest) == 0 || w > l.widths[widest[0]]) {
				widest = []int{c}
			}
		}
		if len(widest) == 0 {
			return
		}
		l.widths[widest[0]]--
	}
}

// total is the length of a line with columns of these widths.
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

// mostLines limits the lines of a cell.
const mostLines = 3

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
			cells[c] = wrap(cell, w, mostLines)
		}
		height = max(height, len(cells[c]))
	}
	out := make([]Styled, height)
	for i := range out {
		out[i] = l.line(cells, i)
	}
	if l.under > 0 && len(row) > l.below && row[l.below] != "" && &row[0] != &l.rows[0][0] { // not the headings
		for _, line := range wrap(row[l.below], l.under, mostLines) {
			out = append(out, Styled(strings.Repeat(" ", indent))+line)
		}
	}
	return out
}

// line is one line of a row.
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

// Wrap breaks a string without colours into lines of a width, at blanks where there are any.
// With width 0 it is one line.
func Wrap(s Styled, width int) []Styled {
	if width <= 0 {
		return []Styled{s}
	}
	return wrap(s, width, len(s)+1)
}

// wrap breaks a text without colours into lines of a width, at blanks where there
// are any. Of a text that takes more than so many lines the last one ends in "…".
func wrap(s Styled, width, most int) []Styled {
	var out []Styled
	rest := string(s)
	for len(out) < most-1 && Width(rest) > width {
		head := fitting(rest, width)
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

// fitting is the beginning of a text that takes at most so many cells, at least one
// character.
func fitting(s string, width int) string {
	used := 0
	for i, r := range s {
		w := Width(string(r))
		if used += w; used > width && i > 0 {
			return s[:i]
		}
	}
	return s
}

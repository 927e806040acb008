package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
)

// Placeholders for values that would be invisible.
const (
	missingText = "∅"
	emptyText   = `""`
)

// printPreview prints a table for people: a title, its first rows and its columns. Rows
// that could not be read are findings on standard error.
func (a *app) printPreview(t *dataset.Table, title string, f *previewFlags) {
	p := a.palette(a.Out)
	tty.Fprintf(a.Out, "%s: %s\n", p.Bold(title), sizeText(t))
	if !f.schema && len(t.Rows) > 0 {
		a.printRows(t)
	}
	if len(t.Columns) > 0 {
		tty.Fprintf(a.Out, "\n")
		a.printTable(a.Out, columnTable(t))
	}
	if !t.Whole || t.Looked < t.Count-t.BadRows {
		tty.Fprintf(a.Out, "\n%s\n", p.Dim(fmt.Sprintf("types and missing values are from the first %s rows", digits(t.Looked))))
	}
	for _, b := range t.Bad {
		p := a.palette(a.Err)
		tty.Fprintf(a.Err, "%s: %s: %s\n", p.Bold(badRowPosition(t, &b)), p.Status("warning"), b.Reason)
	}
	if n := t.BadRows - int64(len(t.Bad)); n > 0 {
		tty.Fprintf(a.Err, "and %s more that cannot be read\n", digits(n))
	}
}

// shownFile returns the name of a file for messages.
func shownFile(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// badRowPosition returns the position of a bad row.
func badRowPosition(t *dataset.Table, b *dataset.BadRow) string {
	file := b.File
	if file == "" && len(t.Files) > 0 {
		file = shownFile(t.Files[0])
	}
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d", file, b.Line)
	}
	return fmt.Sprintf("%s: row %d", file, b.Row)
}

// sizeText describes the size of a table.
func sizeText(t *dataset.Table) string {
	var parts []string
	if len(t.Files) != 1 {
		parts = append(parts, plural(len(t.Files), "file"))
	}
	parts = append(parts, t.Format, plural(len(t.Columns), "column"), rowsText(t))
	if t.Bytes >= 0 {
		parts = append(parts, bytesText(t.Bytes))
	}
	return strings.Join(parts, ", ")
}

func rowsText(t *dataset.Table) string {
	switch {
	case !t.Whole:
		return "more than " + digits(t.Count) + " rows (--count counts them)"
	case t.Count == 1:
		return "1 row"
	}
	return digits(t.Count) + " rows"
}

// printRows prints the first rows, cut to the width of a terminal.
func (a *app) printRows(t *dataset.Table) {
	p := a.palette(a.Out)
	g := &tty.Grid{}
	missing := false
	for _, c := range t.Columns {
		cells := make([]tty.GridCell, len(t.Rows))
		for i, row := range t.Rows {
			v, _ := row.Get(c.Name)
			cells[i] = dataCell(v)
			missing = missing || v == nil
		}
		g.Column(c.Name, c.Type == "integer" || c.Type == "number", cells)
	}
	lines, hidden := g.Lines(widthOf(a.Out), p)
	tty.Fprintf(a.Out, "\n")
	for _, line := range lines {
		tty.Fprintf(a.Out, "%s\n", line)
	}
	var notes []string
	if hidden > 0 {
		notes = append(notes, plural(hidden, "more column")+" to the right")
	}
	if missing {
		notes = append(notes, missingText+" is a missing value")
	}
	if len(notes) > 0 {
		tty.Fprintf(a.Out, "%s\n", p.Dim(strings.Join(notes, "; ")))
	}
}

// dataCell formats a value of a row.
func dataCell(v any) tty.GridCell {
	switch v := v.(type) {
	case nil:
		return tty.GridCell{Text: missingText, Faint: true}
	case string:
		if v == "" {
			return tty.GridCell{Text: emptyText, Faint: true}
		}
		return tty.GridCell{Text: tty.Safe(v)}
	}
	return tty.GridCell{Text: tty.Safe(value.JSON(v))}
}

// columnTable returns the schema as a table.
func columnTable(t *dataset.Table) *tty.Table {
	out := tty.NewTable([]string{"column", "type", "declared", "missing", "example"}, 3)
	out.Spare(2)
	for _, c := range t.Columns {
		declared := ""
		if c.Declared {
			declared = "yes"
		}
		example := tty.Styled("")
		if c.Example != nil {
			example = tty.Cut(dataCell(c.Example).Text, maxExampleWidth)
		}
		out.Row(c.Name, c.Type, declared, shareText(c.Nulls, t.Looked), example)
	}
	return out
}

// maxExampleWidth is the maximum width of an example value.
const maxExampleWidth = 40

// shareText formats a share in percent; a share that is neither none nor all is never shown
// as 0 % or 100 %.
func shareText(n, of int64) string {
	switch share := 100 * float64(n) / float64(max(of, 1)); {
	case n == 0:
		return "0%"
	case share < 0.1:
		return "<0.1%"
	case n < of && share > 99.9:
		return ">99.9%"
	case share < 10:
		return strconv.FormatFloat(share, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(share, 'f', 0, 64) + "%"
	}
}

// digits formats a number in groups of three digits.
func digits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesText formats a size with about three digits, in powers of 1024.
func bytesText(n int64) string {
	if n < 1024 {
		return plural(int(n), "byte")
	}
	x := float64(n)
	for _, unit := range []string{"KB", "MB", "GB", "TB"} {
		if x /= 1024; x < 999.5 || unit == "TB" {
			return strconv.FormatFloat(x, 'f', max(0, 2-len(strconv.Itoa(int(x)))+1), 64) + " " + unit
		}
	}
	return ""
}

// previewJSON is the JSON form of a preview.
type previewJSON struct {
	Files   []string        `json:"files"`
	Format  string          `json:"format"`
	Bytes   *int64          `json:"bytes"`
	Count   int64           `json:"count"`
	Whole   bool            `json:"whole"`
	Looked  int64           `json:"looked"`
	Columns []columnJSON    `json:"columns"`
	Rows    []*value.Object `json:"rows,omitzero"` // absent with --schema
	Bad     []badJSON       `json:"bad,omitempty"`
	BadRows int64           `json:"bad_rows"`
}

type columnJSON struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Declared bool   `json:"declared"`
	Missing  int64  `json:"missing"`
	Example  any    `json:"example"`
}

type badJSON struct {
	File   string `json:"file,omitempty"`
	Row    int64  `json:"row"`
	Line   int64  `json:"line,omitempty"`
	Reason string `json:"reason"`
}

func tableJSON(t *dataset.Table, f *previewFlags) previewJSON {
	out := previewJSON{Files: t.Files, Format: t.Format, Count: t.Count, Whole: t.Whole, Looked: t.Looked, Columns: []columnJSON{}, BadRows: t.BadRows}
	if t.Bytes >= 0 {
		out.Bytes = &t.Bytes
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, columnJSON{c.Name, c.Type, c.Declared, c.Nulls, c.Example})
	}
	if !f.schema {
		out.Rows = append([]*value.Object{}, t.Rows...)
	}
	for _, b := range t.Bad {
		out.Bad = append(out.Bad, badJSON(b))
	}
	return out
}

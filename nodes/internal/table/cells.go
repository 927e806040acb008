package table

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// Lines of cells are not written with encoding/csv, which needs every cell as a
// separate string: that cost an allocation for each number and three times the time.
// The rule for quoting is the rule of encoding/csv; a test compares the two.

// cellWriter writes the cells of a delimited format.
type cellWriter struct {
	comma rune
	// plain reports that numbers and booleans never contain the delimiter.
	plain bool
}

func cellsOf(l Layout) cellWriter {
	comma := l.Delimiter
	if comma == 0 {
		comma = l.Format.Delimiter()
	}
	return cellWriter{comma, !strings.ContainsRune("+-.", comma) && !unicode.IsLetter(comma) && !unicode.IsDigit(comma)}
}

// lineEncoder returns a function that appends the cells of a row.
func lineEncoder(l Layout) func(buf []byte, v any) ([]byte, error) {
	columns, c := columnsOf(l.Columns), cellsOf(l)
	return func(buf []byte, v any) ([]byte, error) {
		row, start := v.(*value.Object), len(buf)
		for j := range columns {
			if j > 0 {
				buf = utf8.AppendRune(buf, c.comma)
			}
			var err error
			if buf, err = c.value(buf, columns[j].Value(row)); err != nil {
				return buf, fmt.Errorf("column %s: %w", columns[j].Name, err)
			}
		}
		return lone(buf, start, len(columns)), nil
	}
}

// headerLine returns the line of column names, or "" if there is none.
func headerLine(l Layout) string {
	if l.NoHeader || len(l.Columns) == 0 {
		return ""
	}
	var buf []byte
	c := cellsOf(l)
	for i, n := range l.Columns {
		if i > 0 {
			buf = utf8.AppendRune(buf, c.comma)
		}
		buf = c.text(buf, n)
	}
	return string(append(lone(buf, 0, len(l.Columns)), '\n'))
}

// lone writes an empty cell as "" if it is the only cell of its line, because readers
// skip blank lines.
func lone(buf []byte, start, columns int) []byte {
	if columns == 1 && len(buf) == start {
		return append(buf, `""`...)
	}
	return buf
}

// value appends a value as a cell. null is an empty cell, floats always have a point or
// exponent, arrays and objects are written as JSON.
func (c cellWriter) value(buf []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return buf, nil
	case string:
		return c.text(buf, v), nil
	case int64, float64, bool:
		if c.plain {
			return value.AppendJSON(buf, v)
		}
	}
	b, err := value.AppendJSON(nil, v)
	return c.text(buf, string(b)), err
}

// text appends a string, in quotes if necessary.
func (c cellWriter) text(buf []byte, s string) []byte {
	if !c.quotes(s) {
		return append(buf, s...)
	}
	buf = append(buf, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return append(append(buf, s...), '"')
		}
		buf = append(append(buf, s[:i]...), `""`...)
		s = s[i+1:]
	}
}

// quotes reports whether a cell must be quoted: it contains a delimiter, quote or line
// end, begins with white space, or is the end marker of PostgreSQL's COPY.
func (c cellWriter) quotes(s string) bool {
	if s == "" {
		return false
	}
	if s == `\.` || strings.ContainsRune(s, c.comma) {
		return true
	}
	for i := range len(s) {
		if b := s[i]; b == '"' || b == '\n' || b == '\r' {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(first)
}

package table

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"
)

// cellScanner splits lines into cells as encoding/csv does, except that it does not
// change line ends in quoted cells. It does not allocate a string for each cell,
// because most cells become numbers or strings that are already in a memo. A fuzz test
// compares the two.
type cellScanner struct {
	*lineReader
	comma []byte
	max   int
	// record is the last record. It is valid until the next one is read.
	record
	start int64 // the line on which the record begins, from 1
	// raw holds the bytes of the record in the file, without its line end.
	raw []byte
	// These are used for a record with quotes: plain holds the unquoted cells, lineText
	// the lines of the record, whole the last of these lines.
	plain, lineText, whole []byte
}

// record is a list of cells. It stores offsets and no pointers to the cells, because
// writing many pointers would burden the garbage collector.
type record struct {
	text []byte
	ends []int // of the cells in text
	gap  int   // number of bytes between two cells
}

// len returns the number of cells.
func (r *record) len() int { return len(r.ends) }

// cell returns the i-th cell.
func (r *record) cell(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]+r.gap : r.ends[i]]
}

// cells yields all cells.
func (r *record) cells() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range r.ends {
			if !yield(i, r.cell(i)) {
				return
			}
		}
	}
}

// malformed is a record that cannot be split into cells. Reading continues after it,
// unless a quote was left open, because then it is not known where the next record
// begins.
type malformed struct {
	fault  fault
	line   int64
	column int // in bytes, from 1
	limit  int // the limit on the row, if it was exceeded within an open quote
}

// fault describes what is wrong with a malformed record.
type fault string

const (
	bareQuote fault = `a quote in a cell that does not begin with one; put the cell in quotes and write "" for the quote in it`
	lateText  fault = `characters after the closing quote of its cell; write "" for a quote in a cell`
	openQuote fault = `the cell begins with a quote, and no quote ends it`
)

func (m *malformed) Error() string {
	s := fmt.Sprintf("byte %d of line %d: %s", m.column, m.line, m.fault)
	if m.limit > 0 {
		s += fmt.Sprintf(" within the %d bytes that a row may have (max_row)", m.limit)
	}
	return s
}

// next reads the next record and skips blank lines. It returns io.EOF at the end of the
// file and a *malformed for a bad record. Any other error ends the reading.
func (s *cellScanner) next() error {
	for {
		s.start = s.lines + 1
		line, err := s.line(s.max)
		switch {
		case err != nil:
			return err
		case len(line) == 0:
			continue
		case bytes.IndexByte(line, '"') >= 0:
			return s.quoted(line)
		}
		s.split(line)
		return nil
	}
}

// split splits a line without quotes.
func (s *cellScanner) split(line []byte) {
	s.raw, s.text, s.gap = line, line, len(s.comma)
	ends := s.ends[:0]
	if len(s.comma) == 1 {
		comma := s.comma[0]
		for i, c := range line {
			if c == comma {
				ends = append(ends, i)
			}
		}
	} else {
		for from := 0; ; {
			i := bytes.Index(line[from:], s.comma)
			if i < 0 {
				break
			}
			ends = append(ends, from+i)
			from += i + len(s.comma)
		}
	}
	s.ends = append(ends, len(line))
}

// quoted reads a record with quotes in its first line. A quoted cell may continue on
// the following lines.
func (s *cellScanner) quoted(line []byte) error {
	s.plain, s.ends, s.gap = s.plain[:0], s.ends[:0], 0
	s.lineText, s.whole = append(s.lineText[:0], line...), line
	for more := true; more; {
		var err error
		if len(line) > 0 && line[0] == '"' {
			line, more, err = s.quotedCell(line)
		} else {
			line, more, err = s.plainCell(line)
		}
		s.raw = s.lineText
		if err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.plain))
	}
	s.text = s.plain
	return nil
}

// plainCell reads a cell that does not begin with a quote and returns the rest of the
// line. more reports whether another cell follows.
func (s *cellScanner) plainCell(line []byte) (rest []byte, more bool, err error) {
	cell, rest, more := bytes.Cut(line, s.comma)
	if i := bytes.IndexByte(cell, '"'); i >= 0 {
		return nil, false, s.bad(bareQuote, line[i:])
	}
	s.plain = append(s.plain, cell...)
	return rest, more, nil
}

// quotedCell is like plainCell for a cell that begins with a quote.
func (s *cellScanner) quotedCell(line []byte) (rest []byte, more bool, err error) {
	begin := malformed{fault: openQuote, line: s.lines, column: len(s.whole) - len(line) + 1}
	rest = line[1:]
	for {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			end := s.lineEnd()
			s.plain = append(append(s.plain, rest...), end...)
			next, err := s.line(s.max - len(s.lineText))
			switch {
			case err == io.EOF:
				return nil, false, &begin
			case err == errTooLong:
				begin.limit = s.max
				return nil, false, &begin
			case err != nil:
				return nil, false, err
			}
			s.lineText = append(append(s.lineText, end...), next...)
			rest, s.whole = next, next
			continue
		}
		s.plain = append(s.plain, rest[:i]...)
		quote := rest[i:]
		rest = quote[1:]
		switch {
		case len(rest) > 0 && rest[0] == '"':
			s.plain = append(s.plain, '"')
			rest = rest[1:]
		case len(rest) == 0:
			return nil, false, nil
		case bytes.HasPrefix(rest, s.comma):
			return rest[len(s.comma):], true, nil
		default:
			return nil, false, s.bad(lateText, quote)
		}
	}
}

// bad returns an error for a malformed record. rest is the rest of its last line, from
// the fault on.
func (s *cellScanner) bad(f fault, rest []byte) error {
	return &malformed{fault: f, line: s.lines, column: len(s.whole) - len(rest) + 1}
}

// valid reports whether all cells are valid UTF-8.
func (s *cellScanner) valid() bool { return utf8.Valid(s.raw) }

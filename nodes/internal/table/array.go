package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// array reads JSON arrays of objects, element by element. An element that is valid JSON
// but not a good row is a bad row. Invalid JSON ends the reading, because it is not
// known where the next element begins.
//
// array finds the end of an element by its brackets and leaves the rest to the row
// reader: encoding/json would scan each byte twice before that.
type array struct {
	objects
	begun bool // the opening bracket has been read
	first bool // no element has been read yet
}

func (a *array) read(ctx context.Context, b *batch) error {
	for i := 0; !b.full(); i++ {
		if b.limited() {
			return io.EOF // the remaining rows may have columns that these rows lack
		}
		if err := Tick(ctx, i); err != nil {
			return err
		}
		if !a.in.open {
			if err := a.open(ctx); err != nil {
				return err
			}
			a.begun = false
		}
		more, err := a.advance()
		if err != nil {
			return a.broken(err)
		}
		if !more {
			if err := a.finish(); err != nil {
				return err
			}
			continue
		}
		if err := a.element(b); err != nil {
			return err
		}
	}
	return nil
}

var errCutOff = errors.New("the file ends before its array does; it is cut off")

// broken adds the current line of the file to an error.
func (a *array) broken(err error) error {
	if err == io.EOF {
		err = errCutOff
	}
	return a.in.broken(a.in.lines+1, err)
}

// advance moves to the next element. more is false after the end of the array, which
// must be the end of the file.
func (a *array) advance() (more bool, err error) {
	if !a.begun {
		c, err := a.in.sign()
		if err == io.EOF {
			return false, nil // the file is empty
		}
		if err != nil {
			return false, err
		}
		a.in.began = true
		if c != '[' {
			return false, errors.New("want a JSON array of objects; a file with one object on a line has the format jsonl")
		}
		a.begun, a.first = true, true
		a.in.pos++
	}
	c, err := a.in.sign()
	switch {
	case err != nil:
		return false, err
	case c == ']' && a.first:
		return false, a.end()
	case a.first:
		a.first = false
		return true, nil
	case c == ']':
		return false, a.end()
	case c != ',':
		return false, fmt.Errorf("invalid character %q after array element", c)
	}
	a.in.pos++
	if _, err = a.in.sign(); err != nil {
		return false, err
	}
	return true, nil
}

// end checks that only white space follows the array.
func (a *array) end() error {
	a.in.pos++
	switch _, err := a.in.sign(); {
	case err == nil:
		return errors.New("unexpected text after the array")
	case err != io.EOF:
		return err
	}
	return nil
}

// element reads the element that begins at the current position.
func (a *array) element(b *batch) error {
	line := a.in.lines + 1
	text, err := a.in.value(a.MaxRow)
	if err != nil {
		return a.broken(err)
	}
	good := len(b.rows)
	if err := a.add(b, text, text, line); err != nil {
		return err
	}
	if len(b.rows) == good && !json.Valid(text) {
		b.bad = b.bad[:len(b.bad)-1] // invalid JSON is not a bad row, but ends the reading
		return a.broken(a.syntax(text))
	}
	a.in.lines += int64(bytes.Count(text, []byte("\n")))
	return nil
}

// syntax returns the syntax error in text and moves the line counter to it.
func (a *array) syntax(text []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(int(syntax.Offset), len(text))
		a.in.lines += int64(bytes.Count(text[:at], []byte("\n")))
	}
	return err
}

// sign returns the next byte that is not white space, without consuming it.
func (l *lineReader) sign() (byte, error) {
	for {
		for l.pos < l.end {
			switch c := l.buf[l.pos]; c {
			case '\n':
				l.lines++
				fallthrough
			case ' ', '\t', '\r':
				l.pos++
			default:
				return c, nil
			}
		}
		if l.err != nil {
			return 0, l.err
		}
		l.fill()
	}
}

// value reads the JSON value that begins at the current position. It finds the end by
// brackets and quotes only, and does not count lines.
func (l *lineReader) value(limit int) ([]byte, error) {
	var s valueScanner
	for n := 0; ; {
		more, ended := s.scan(l.buf[l.pos+n : l.end])
		n += more
		switch {
		case ended && n == 0:
			return nil, fmt.Errorf("invalid character %q looking for beginning of value", l.buf[l.pos])
		case ended, l.err == io.EOF && s.depth == 0 && !s.text && n > 0: // a scalar at the end of the file
			text := l.buf[l.pos : l.pos+n]
			l.pos += n
			return text, nil
		case l.err != nil:
			return nil, l.err
		case n > limit:
			return nil, errTooLong
		}
		l.fill()
	}
}

// valueScanner finds the end of a JSON value.
type valueScanner struct {
	depth   int
	text    bool // inside quotes
	escaped bool // after a backslash
}

// scan scans the next bytes of a value. It returns the number of bytes that belong to
// the value and whether the value ends there.
func (s *valueScanner) scan(p []byte) (n int, ended bool) {
	depth, text, escaped := s.depth, s.text, s.escaped
	defer func() { s.depth, s.text, s.escaped = depth, text, escaped }()
	for i, c := range p {
		if text {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped = true
			case c == '"':
				if text = false; depth == 0 {
					return i + 1, true
				}
			}
			continue
		}
		switch c {
		case '"':
			text = true
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i, true
			}
			if depth--; depth == 0 {
				return i + 1, true
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i, true
			}
		}
	}
	return len(p), false
}

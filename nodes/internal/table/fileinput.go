package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// input reads the files of a table line by line.
type input struct {
	source FileSource
	max    int // maximum length of a row in bytes
	name   string
	open   bool
	files  int // opened so far
	seek   func(offset int64) error
	// began reports whether the file has any content.
	began, allowEmpty bool
	lineReader
}

// next opens the next file. It returns io.EOF if there is none.
func (in *input) next(ctx context.Context) error {
	f, err := in.source.Next(ctx)
	if err != nil {
		return err
	}
	in.name, in.open, in.began, in.seek = f.Name, true, false, f.Seek
	in.files++
	in.lineReader = lineReader{r: f, buf: in.buf[:cap(in.buf)]}
	return in.at(in.mark())
}

// finish ends the file. It returns an error if the file was empty and must not be.
func (in *input) finish() error {
	in.open = false
	if !in.began && !in.allowEmpty {
		return in.at(errors.New("the file is empty; allow_empty: true allows that"))
	}
	return nil
}

// at adds the name of the file to an error.
func (in *input) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", in.name, err)
}

// broken adds the name of the file and a line to a read error, and explains the limit
// if a row was too long.
func (in *input) broken(line int64, err error) error {
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("the row is longer than the %d bytes that are allowed (max_row)", in.max)
	}
	return in.on(line, err)
}

// on adds the name of the file and a line to an error.
func (in *input) on(line int64, err error) error { return fmt.Errorf("%s:%d: %w", in.name, line, err) }

// readSize is the size of reads from a file, in bytes.
const readSize = 64 << 10

var errTooLong = errors.New("the row is too long")

// lineReader splits a file into lines. Unlike bufio.Scanner, it lets the caller report
// lines that are too long; unlike bufio.Reader, it returns long lines without copying
// them.
type lineReader struct {
	r      io.Reader
	buf    []byte
	pos    int // buf[pos:end] has not been consumed
	end    int
	err    error // of r
	lines  int64 // lines consumed so far
	short  bool  // the last read returned less than there was room for
	crOnly bool  // a carriage return alone ends a line
	cr     bool  // the last line ended in a carriage return before its line feed
}

// line returns the next line without its line end. The line is valid until the next
// call. line returns io.EOF at the end of the file.
func (l *lineReader) line(limit int) ([]byte, error) {
	seen := 0 // bytes without line end
	for {
		if i := bytes.IndexByte(l.buf[l.pos+seen:l.end], '\n'); i >= 0 {
			line := l.buf[l.pos : l.pos+seen+i]
			l.pos += seen + i + 1
			return l.took(line, limit)
		}
		seen = l.end - l.pos
		if l.err != nil {
			break
		}
		if seen > limit {
			return nil, errTooLong
		}
		l.fill()
	}
	if l.err != io.EOF {
		return nil, l.err
	}
	if seen == 0 {
		return nil, io.EOF
	}
	line := l.buf[l.pos:l.end]
	l.pos = l.end
	return l.took(line, limit)
}

// drained reports whether reading another line might block.
func (l *lineReader) drained() bool {
	return l.short && l.err == nil && bytes.IndexByte(l.buf[l.pos:l.end], '\n') < 0
}

func (l *lineReader) took(line []byte, limit int) ([]byte, error) {
	if len(line) > limit {
		return nil, errTooLong
	}
	l.lines++
	n := len(line)
	if l.cr = n > 0 && line[n-1] == '\r'; l.cr {
		line = line[:n-1]
	}
	return line, nil
}

// lineEnd returns the line end of the last line, unless it was the last line of the
// file.
func (l *lineReader) lineEnd() string {
	switch {
	case l.crOnly:
		return "\r"
	case l.cr:
		return "\r\n"
	}
	return "\n"
}

// fill reads more data. It moves unconsumed bytes to the front of the buffer, and grows
// the buffer if it is full.
func (l *lineReader) fill() {
	if l.pos > 0 {
		copy(l.buf, l.buf[l.pos:l.end])
		l.pos, l.end = 0, l.end-l.pos
	}
	if len(l.buf)-l.end < readSize/2 {
		grown := make([]byte, max(2*len(l.buf), readSize))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	for range 100 { // as bufio does, for readers that return no data
		n, err := l.r.Read(l.buf[l.end:])
		if l.crOnly {
			asLineFeeds(l.buf[l.end : l.end+n])
		}
		l.short = n < len(l.buf)-l.end
		l.end += n
		if l.err = err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// signs maps the first bytes of files that are not text to hints.
var signs = map[string]string{
	"PK\x03\x04": "the file is a zip archive, as spreadsheets are; save the table as csv",
	"\x1f\x8b":   "the file is compressed with gzip; add compression: gzip",
	"PAR1":       "the file is Parquet; add format: parquet",
}

// mark skips the byte order mark that spreadsheets write before UTF-8 and rejects other
// encodings and formats. It also detects lines that end in carriage returns only, which
// some spreadsheets write; otherwise the whole file would be the header.
func (l *lineReader) mark() error {
	for l.err == nil && l.end < readSize && bytes.IndexByte(l.buf[:l.end], '\n') < 0 {
		l.fill()
	}
	text := l.buf[:l.end]
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		l.pos = 3
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16; save it as UTF-8")
	}
	for sign, hint := range signs {
		if bytes.HasPrefix(text, []byte(sign)) {
			return errors.New(hint)
		}
	}
	if bytes.IndexByte(text, '\r') >= 0 && bytes.IndexByte(text, '\n') < 0 {
		l.crOnly = true
		asLineFeeds(text)
	}
	return nil
}

func asLineFeeds(text []byte) {
	for i, c := range text {
		if c == '\r' {
			text[i] = '\n'
		}
	}
}

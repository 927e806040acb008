// Package eventlog reads event logs: one JSON object per line, as `run --events` writes
// them.
//
//	r := eventlog.NewReader(file)
//	for {
//		var e core.Event
//		if err := r.Next(&e); err == io.EOF {
//			break
//		}
//		…
//	}
package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Reader reads the events of a log in order. It uses as much memory as the longest line
// takes. It is not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	line   int
	buf    []byte
	parser value.JSONParser
	names  map[string]string // strings that appear in many events
}

// NewReader returns a reader of the log in r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 1<<16)}
}

// Error describes an invalid line of a log.
type Error struct {
	Line int
	// Cut reports that the line is the last one and is incomplete, as after the process was
	// killed.
	Cut bool
	Err error
}

// Error returns the message, which begins with the number of the line.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Line returns the number of the line that was read last, from 1.
func (r *Reader) Line() int { return r.line }

// Next reads the next event into e and overwrites it; blank lines are skipped. After the
// last event it returns io.EOF. An invalid line is an *Error; other errors come from the
// underlying reader.
func (r *Reader) Next(e *core.Event) error {
	for {
		text, err := r.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		last := err != nil
		if text = bytes.TrimSpace(text); len(text) > 0 {
			*e = core.Event{}
			if r.flat(text, e) {
				return nil
			}
			*e = core.Event{}
			bad := r.decode(text, e)
			switch {
			case bad == nil:
				return nil
			case last && errors.Is(bad, io.ErrUnexpectedEOF):
				return &Error{r.line, true, errors.New("the log is cut off in the middle of a line")}
			}
			return &Error{r.line, false, bad}
		}
		if last {
			return io.EOF
		}
	}
}

// maxLine limits the length of a line. The longest line contains the final state.
const maxLine = 1 << 30

// readLine returns the next line; it is valid until the next call.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	text, err := r.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, err
	}
	if start := bytes.TrimLeft(text, " \t\r"); len(start) > 0 && start[0] != '{' {
		return text, nil // not an event; a file that is not a log may have no line breaks
	}
	r.buf = append(r.buf[:0], text...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(r.buf) > maxLine {
			return nil, &Error{r.line, false, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)}
		}
		text, err = r.in.ReadSlice('\n')
		r.buf = append(r.buf, text...)
	}
	return r.buf, err
}

func (r *Reader) decode(text []byte, e *core.Event) error {
	v, err := r.parser.Parse(text)
	if err != nil {
		return fmt.Errorf("this is not an event: %w", err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return fmt.Errorf("this is not an event: want a JSON object, got %s", value.TypeName(v))
	}
	if err := version(o); err != nil {
		return err
	}
	for key, v := range o.All() {
		if err := set(e, key, v); err != nil {
			return fmt.Errorf("this is not an event: %s: %w", key, err)
		}
	}
	if e.Type == "" {
		return errors.New("this is not an event: it has no type")
	}
	return nil
}

// version checks the format version first: other versions may have other fields.
func version(o *value.Object) error {
	v, ok := o.Get("v")
	if !ok {
		return errors.New("this is not an event: it has no v, the version of the format")
	}
	if n, ok := v.(int64); !ok || n != core.EventVersion {
		return fmt.Errorf("event format %s, this program reads format %d", value.JSON(v), core.EventVersion)
	}
	return nil
}

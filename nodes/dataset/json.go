package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// objectReader gathers the rows of the two JSON formats.
type objectReader struct {
	rowOptions
	out   loaded
	row   int32
	names []string // the keys of the last row that core.ParseJSON read
	flat  flatReader
}

// add takes the text of one element that starts on a line.
func (o *objectReader) add(text []byte, line int) error {
	o.row++
	p := place{row: o.row, line: int32(line)}
	if row, ok := o.flat.row(text); ok {
		return o.take(row, p)
	}
	v, err := core.ParseJSON(text)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the JSON value is cut off")
	}
	if err != nil {
		return o.reject(bad{p, err.Error(), string(bytes.ToValidUTF8(text, []byte("\uFFFD")))})
	}
	row, ok := v.(*core.Object)
	if !ok {
		return o.reject(bad{p, "want an object, got " + core.TypeName(v), v})
	}
	return o.take(o.share(row), p)
}

// take keeps a row if it conforms.
func (o *objectReader) take(row *core.Object, p place) error {
	if reason := o.types.check(row); reason != "" {
		return o.reject(bad{p, reason, row})
	}
	if err := o.rowType.Check(row); err != nil {
		return o.reject(bad{p, err.Error(), row})
	}
	o.out.rows = append(o.out.rows, row)
	o.out.places = append(o.out.places, p)
	return nil
}

// share makes neighbouring objects of equal keys share them, because the keys of
// a JSON row often take more room than its values, and prepares for more rows of
// these keys. A header is made when a second row has it.
func (o *objectReader) share(row *core.Object) *core.Object {
	if !slices.Equal(row.Keys(), o.names) {
		o.names = row.Keys()
		return row
	}
	if o.flat.keys == nil || !slices.Equal(o.flat.keys.Names(), o.names) {
		keys, err := core.NewKeys(o.names)
		if err != nil {
			return row
		}
		o.flat.expect(keys)
	}
	shared, values := o.flat.build.Row()
	i := 0
	for _, v := range row.All() {
		values[i] = v
		i++
	}
	return shared
}

func (o *objectReader) full() bool { return o.limit > 0 && len(o.out.rows) >= o.limit }

// readLines reads one JSON object per line; blank lines are passed over.
func readLines(ctx context.Context, r io.Reader, o *objectReader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if err := skipMark(in); err != nil {
		return err
	}
	var text []byte
	for line := 1; !o.full(); line++ {
		if err := table.Tick(ctx, line); err != nil {
			return err
		}
		var err error
		if text, err = readLine(in, text[:0]); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
			if err := o.add(trimmed, line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
	return nil
}

// readLine appends the next line to buf, however long it is.
func readLine(in *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		buf = append(buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// readArray reads a JSON array of objects. An element that is JSON but no good
// row is rejected; text that is no JSON ends the reading, because nobody can
// say where the next element begins.
func readArray(ctx context.Context, r io.Reader, o *objectReader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if err := skipMark(in); err != nil {
		return err
	}
	lines := &lineCounter{r: in, line: 1}
	dec := json.NewDecoder(lines)
	fail := func(err error) error {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		at := dec.InputOffset()
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = max(at, syntax.Offset)
		}
		return fmt.Errorf("line %d: %w", lines.at(at), err)
	}
	open, err := dec.Token()
	if err != nil {
		return fail(err)
	}
	if open != json.Delim('[') {
		return fail(errors.New("want a JSON array of objects; a file with one object on a line has the format jsonl"))
	}
	var text json.RawMessage
	for i := 0; dec.More(); i++ {
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		if o.full() {
			return nil
		}
		if err := dec.Decode(&text); err != nil {
			return fail(err)
		}
		if err := o.add(text, lines.at(dec.InputOffset()-int64(len(text)))); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fail(errors.New("unexpected text after the array"))
	}
	return nil
}

// lineCounter knows on which line an offset of what was read through it lies.
// It remembers only the line ends ahead of the last question.
type lineCounter struct {
	r      io.Reader
	read   int64
	breaks []int64 // offsets of line ends not yet passed
	line   int     // the line after the last passed line end
}

// Read passes text on and notes its line ends.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset; offsets must not go back.
func (l *lineCounter) at(offset int64) int {
	n := 0
	for n < len(l.breaks) && l.breaks[n] < offset {
		n++
	}
	l.breaks = l.breaks[n:]
	l.line += n
	return l.line
}

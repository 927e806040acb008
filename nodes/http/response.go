package http

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/program"
)

// form is the form of a response, a value of output.
type form string

const (
	formJSON  form = "json"
	formJSONL form = "jsonl"
	formLines form = "lines"
	formText  form = "text"
	formNone  form = "none"
)

// answer is a response whose body has not been read.
type answer struct {
	status  int
	what    string // "GET https://host/path", for messages
	res     *http.Response
	ctx     context.Context
	watch   *watch
	limiter *rateLimiter
	max     int
	limited io.Reader
	read    int64
}

// close closes the body. The connection is reused if little of the body is left.
func (a *answer) close() {
	io.CopyN(io.Discard, a.res.Body, 64<<10)
	a.res.Body.Close()
}

// bodyReader reads the body up to one byte after the limit. Its errors name the response and the
// number of bytes read.
type bodyReader struct {
	r io.Reader
	a *answer
	n int64
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case err == nil || err == io.EOF:
	case b.a.watch.expired() && b.a.ctx.Err() == nil:
		err = b.a.watch.idleError(fmt.Sprintf("%s: the answer has not ended after %d bytes, and no byte came for ", b.a.what, b.n))
	case b.a.ctx.Err() != nil:
		err = fmt.Errorf("%s: the answer has not ended after %d bytes: %w", b.a.what, b.n, b.a.ctx.Err())
	default:
		err = fmt.Errorf("%s: the answer broke off after %d bytes: %w", b.a.what, b.n, err)
	}
	return n, err
}

func (a *answer) tooLong() error {
	return core.Permanent(fmt.Errorf("%s: the answer is longer than %d bytes; raise max_body", a.what, a.max))
}

// body reads the whole body.
func (a *answer) body() ([]byte, error) {
	data, err := io.ReadAll(a.limited)
	if err == nil && len(data) > a.max {
		return nil, a.tooLong()
	}
	return data, err
}

// value parses the body in the form of the node's output.
func (h *handler) value(a *answer) (any, error) {
	if h.form == formNone || h.method == http.MethodHead {
		return nil, nil
	}
	data, err := a.body()
	if err != nil {
		return nil, err
	}
	switch h.form {
	case formText:
		return textOf(a, data)
	case formLines:
		s, err := textOf(a, data)
		return lines(s), err
	case formJSONL:
		return a.jsonLines(data)
	}
	doc, err := a.json(data)
	if err != nil {
		return nil, err
	}
	v, err := find(doc, h.rows)
	return v, a.permanent(err)
}

func (a *answer) permanent(err error) error {
	if err == nil {
		return nil
	}
	return core.Permanent(fmt.Errorf("%s: %w", a.what, err))
}

func textOf(a *answer, data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", a.permanent(errors.New("the answer is not UTF-8; save stores it as it is"))
	}
	return string(data), nil
}

func lines(s string) []any {
	out := []any{}
	for line := range strings.Lines(s) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out
}

func (a *answer) json(data []byte) (any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, a.permanent(errors.New("the answer is empty, want JSON (output: none wants nothing)"))
	}
	v, err := value.ParseJSON(data)
	if err != nil {
		return nil, a.permanent(fmt.Errorf("%w; it begins with %s", jsonError("the answer", data, err), program.Excerpt(data)))
	}
	return v, nil
}

// jsonError returns the error for a body that was rejected: it is not JSON, or JSON that no value
// represents exactly, such as an integer of more than 64 bits or a duplicate key.
func jsonError(what string, data []byte, err error) error {
	if json.Valid(data) {
		return fmt.Errorf("%s is JSON that no value holds exactly: %w", what, err)
	}
	return fmt.Errorf("%s is not JSON: %w", what, err)
}

func (a *answer) jsonLines(data []byte) ([]any, error) {
	out := []any{}
	number := 0
	var p value.JSONParser
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, err := p.Parse(line)
		if err != nil {
			return nil, a.permanent(jsonError(fmt.Sprintf("line %d", number), line, err))
		}
		out = append(out, v)
	}
	return out, nil
}

// find returns the value at a path of names.
func find(v any, names []string) (any, error) {
	for i, name := range names {
		o, ok := v.(*value.Object)
		if !ok {
			return nil, fmt.Errorf("%s of the answer is %s, want an object", describe(names[:i]), value.TypeName(v))
		}
		if v, ok = o.Get(name); !ok {
			err := fmt.Errorf("the answer has no %s", strings.Join(names[:i+1], "."))
			if near := source.DidYouMean(name, o.Keys()); near != "" {
				err = fmt.Errorf("%w, %s", err, near)
			}
			return nil, err
		}
	}
	return v, nil
}

func describe(names []string) string {
	if len(names) == 0 {
		return "the top"
	}
	return strings.Join(names, ".")
}

// batchRows is the number of rows in a batch of a stream.
const batchRows = 1000

// lineStream reads the rows of a jsonl response as they arrive.
type lineStream struct {
	c      *call
	a      *answer
	in     *bufio.Reader
	parser value.JSONParser
	number int
	rows   int64
}

func newLineStream(c *call, a *answer) *lineStream {
	return &lineStream{c: c, a: a, in: bufio.NewReaderSize(a.limited, 64<<10)}
}

// Next returns the rows of up to batchRows lines.
func (s *lineStream) Next(ctx context.Context) ([]any, error) {
	var out []any
	for len(out) < batchRows {
		line, err := s.in.ReadBytes('\n')
		if s.a.read += int64(len(line)); s.a.read > int64(s.a.max) {
			return nil, s.a.tooLong()
		}
		if err != nil && err != io.EOF {
			return nil, s.c.mask.Error(err)
		}
		if len(line) > 0 {
			s.number++
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			v, err := s.parser.Parse(line)
			if err != nil {
				return nil, s.c.mask.Error(s.a.permanent(jsonError(fmt.Sprintf("line %d", s.number), line, err)))
			}
			out = append(out, v)
		}
		if err == io.EOF {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(out) == 0 {
		return nil, io.EOF
	}
	if err := objects(out, s.rows); err != nil {
		return nil, s.a.permanent(err)
	}
	s.rows += int64(len(out))
	return out, nil
}

// objects returns an error if a row of a stream is not an object.
func objects(rows []any, before int64) error {
	for i, r := range rows {
		if _, ok := r.(*value.Object); !ok {
			return fmt.Errorf("row %d is %s, want an object", before+int64(i)+1, value.TypeName(r))
		}
	}
	return nil
}

// Summary returns the number of rows.
func (s *lineStream) Summary() *value.Object { return value.ObjectOf(core.RowCount, s.rows) }

// Close releases the connection.
func (s *lineStream) Close() error {
	s.a.close()
	return nil
}

package program

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Form is the form in which standard output is interpreted.
type Form string

// Forms, with their names in documents.
const (
	Text         Form = "text"   // the whole output without the final line end
	Lines        Form = "lines"  // a list of its lines
	JSON         Form = "json"   // one JSON value
	JSONL        Form = "jsonl"  // a list: one JSON value from each line
	ResultObject Form = "result" // the result object of tools
	None         Form = "none"   // discarded
)

// HasTarget reports whether the form yields one value for a Target.
func (f Form) HasTarget() bool { return f != ResultObject && f != None }

// Type returns the type of the value, AnyType if it is unknown.
func (f Form) Type() value.TypeKind {
	switch f {
	case Text:
		return value.StringType
	case Lines, JSONL:
		return value.ArrayType
	}
	return value.AnyType
}

// Result converts the output to the node's result.
func (f Form) Result(stdout []byte, to setting.Target, log *slog.Logger) (core.Result, error) {
	switch f {
	case ResultObject:
		return ParseResult(stdout, log)
	case None:
		return core.Result{}, nil
	}
	v, err := f.value(stdout)
	if err != nil {
		return core.Result{}, err
	}
	return to.Result(v), nil
}

func (f Form) value(stdout []byte) (any, error) {
	switch f {
	case JSON:
		return parseJSON(stdout)
	case JSONL:
		return parseJSONL(stdout)
	}
	if !utf8.Valid(stdout) {
		return nil, errors.New("the output is not valid UTF-8 text; use output: none and a file for binary data")
	}
	if f == Lines {
		return lines(string(stdout)), nil
	}
	return trimEnd(string(stdout)), nil
}

// trimEnd removes one final line end.
func trimEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// lines splits a string into lines without their line ends. A final line end does not begin
// another line.
func lines(s string) []any {
	out := []any{}
	for line := range strings.Lines(s) {
		out = append(out, trimEnd(line))
	}
	return out
}

func parseJSON(stdout []byte) (any, error) {
	if len(bytes.TrimSpace(stdout)) == 0 {
		return nil, errors.New("output: json wants one JSON value, but nothing was printed")
	}
	v, err := value.ParseJSON(stdout)
	if err != nil {
		return nil, fmt.Errorf("the output is not JSON: %w; printed: %s", err, Excerpt(stdout))
	}
	return v, nil
}

// parseJSONL reads one JSON value from each line that is not blank.
func parseJSONL(stdout []byte) (any, error) {
	out, n := []any{}, 0
	var p value.JSONParser
	for line := range bytes.Lines(stdout) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := p.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the output is not JSON: %w; the line: %s", n, err, Excerpt(line))
		}
		out = append(out, v)
	}
	return out, nil
}

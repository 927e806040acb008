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

// Form is what is made of standard output.
type Form string

// Forms, as documents spell them.
const (
	Text         Form = "text"   // the whole output without the line end after it
	Lines        Form = "lines"  // a list of its lines
	JSON         Form = "json"   // one JSON value
	JSONL        Form = "jsonl"  // a list: one JSON value from each line
	ResultObject Form = "result" // the result object of tools
	None         Form = "none"   // thrown away
)

// HasTarget reports whether the form gives one value that goes somewhere.
func (f Form) HasTarget() bool { return f != ResultObject && f != None }

// Type is the type of the value, AnyType when it is not known.
func (f Form) Type() value.TypeKind {
	switch f {
	case Text:
		return value.StringType
	case Lines, JSONL:
		return value.ArrayType
	}
	return value.AnyType
}

// Result makes the node's result of what was printed.
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

// trimEnd takes the one line end away that programs print after their answer.
func trimEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// lines splits a text into its lines without their ends. An end after the last
// line begins no further line.
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

package postgres

import (
	"errors"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// appendCopy appends a value as COPY reads it.
func appendCopy(buf []byte, v any, f form) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(buf, `\N`...), nil
	case string:
		return appendEscaped(buf, v)
	case bool, int64, float64:
		return core.AppendJSON(buf, v)
	case []any:
		if f == arrayForm {
			text, err := appendArray(nil, v)
			if err != nil {
				return buf, err
			}
			return appendEscaped(buf, string(text))
		}
	}
	text, err := core.AppendJSON(nil, v)
	if err != nil {
		return buf, err
	}
	return appendEscaped(buf, string(text))
}

var errNUL = errors.New("a text with a NUL byte, which PostgreSQL cannot store")

// appendEscaped appends a text with what means something to COPY escaped.
func appendEscaped(buf []byte, s string) ([]byte, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return buf, errNUL
	}
	for {
		i := strings.IndexAny(s, "\\\n\r\t")
		if i < 0 {
			return append(buf, s...), nil
		}
		buf = append(append(buf, s[:i]...), '\\')
		switch s[i] {
		case '\n':
			buf = append(buf, 'n')
		case '\r':
			buf = append(buf, 'r')
		case '\t':
			buf = append(buf, 't')
		default:
			buf = append(buf, '\\')
		}
		s = s[i+1:]
	}
}

// appendArray appends an array as the server writes it: {1,NULL,"a b"}.
func appendArray(buf []byte, list []any) ([]byte, error) {
	buf = append(buf, '{')
	for i, e := range list {
		if i > 0 {
			buf = append(buf, ',')
		}
		var err error
		switch e := e.(type) {
		case nil:
			buf = append(buf, "NULL"...)
		case []any:
			buf, err = appendArray(buf, e)
		case string:
			buf = appendElement(buf, e)
		case *core.Object:
			var text []byte
			text, err = core.AppendJSON(nil, e)
			buf = appendElement(buf, string(text))
		default:
			buf, err = core.AppendJSON(buf, e)
		}
		if err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

// appendElement appends a text of an array, always in quotes.
func appendElement(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' {
			buf = append(buf, '\\')
		}
		buf = append(buf, s[i])
	}
	return append(buf, '"')
}

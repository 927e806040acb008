package postgres

import (
	"errors"

	"github.com/wavefold/wavefold/core/value"
)

// appendCopy appends a value in the text format of COPY.
func appendCopy(buf []byte, v any, f form) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(buf, `\N`...), nil
	case string:
		return appendEscaped(buf, v)
	case bool, int64, float64:
		return value.AppendJSON(buf, v)
	case []any:
		if f == arrayForm {
			text, err := appendArray(nil, v)
			if err != nil {
				return buf, err
			}
			return appendEscaped(buf, string(text))
		}
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return buf, err
	}
	return appendEscaped(buf, string(text))
}

var errNUL = errors.New("a string with a NUL byte, which PostgreSQL cannot store")

// appendEscaped appends a string, with the characters escaped that have a meaning in
// COPY.
func appendEscaped(buf []byte, s string) ([]byte, error) {
	from := 0
	for i := range len(s) {
		var letter byte
		switch s[i] {
		case 0:
			return buf, errNUL
		case '\n':
			letter = 'n'
		case '\r':
			letter = 'r'
		case '\t':
			letter = 't'
		case '\\':
			letter = '\\'
		default:
			continue
		}
		buf = append(append(buf, s[from:i]...), '\\', letter)
		from = i + 1
	}
	return append(buf, s[from:]...), nil
}

// appendArray appends an array in the server's text format: {1,NULL,"a b"}.
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
		case *value.Object:
			var text []byte
			text, err = value.AppendJSON(nil, e)
			buf = appendElement(buf, string(text))
		default:
			buf, err = value.AppendJSON(buf, e)
		}
		if err != nil {
			return buf, err
		}
	}
	return append(buf, '}'), nil
}

// appendElement appends a string element of an array, always in quotes.
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

package expressions

import (
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// quotedName parses a quoted name inside brackets. It supports the escapes of JSON and
// \', as JSONPath does, so that a name has the same meaning in both languages.
func (p *parser) quotedName() (name string, ok bool) {
	from := p.pos
	quote := p.src[from]
	for i := from + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case quote:
			p.pos = i + 1
			if name, ok = unquote(p.src[from+1 : i]); !ok {
				p.fail(from, "this name has an escape that JSON does not have", `write \\ for a backslash`)
			}
			return name, ok
		}
	}
	p.fail(from, "this string is never closed", "close it with "+string(quote))
	return "", false
}

// unquote replaces the escapes in the content of a quoted string.
func unquote(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b []byte
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '\'':
			b = append(b, '\'')
			i++
		case c == '\\' && i+1 < len(s):
			b = append(b, c, s[i+1])
			i++
		case c == '"':
			b = append(b, '\\', '"')
		case c < ' ':
			b = append(b, value.JSON(string(rune(c)))[1:]...)
			b = b[:len(b)-1]
		default:
			b = append(b, c)
		}
	}
	v, err := value.ParseJSON(append(b, '"'))
	name, ok := v.(string)
	return name, ok && err == nil
}

// appendName appends a quoted name, without escapes if possible.
func appendName(b []byte, name string) []byte {
	if strings.IndexByte(name, '\\') < 0 && !bothQuotes(name) {
		return appendText(b, name)
	}
	b = append(b, '"')
	for i := range len(name) {
		if name[i] == '"' || name[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return append(b, '"')
}

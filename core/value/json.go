package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends the compact JSON form of a run-time value to buf: keys keep their
// order, HTML is not escaped, and floats always have a point or exponent so that they are
// read back as floats. Values of Go types use encoding/json. Missing is written as null. A
// value that contains itself is an error.
func AppendJSON(buf []byte, v any) ([]byte, error) { return appendJSON(buf, v, 0) }

func appendJSON(buf []byte, v any, depth int) ([]byte, error) {
	if depth > maxCopyDepth {
		return buf, errTooDeep
	}
	switch v := v.(type) {
	case nil, missing:
		return append(buf, "null"...), nil
	case bool:
		return strconv.AppendBool(buf, v), nil
	case int64:
		return strconv.AppendInt(buf, v, 10), nil
	case float64:
		return AppendFloat(buf, v)
	case string:
		return AppendString(buf, v), nil
	case []any:
		buf = append(buf, '[')
		for i, e := range v {
			if i > 0 {
				buf = append(buf, ',')
			}
			var err error
			if buf, err = appendJSON(buf, e, depth+1); err != nil {
				return buf, err
			}
		}
		return append(buf, ']'), nil
	case *Object:
		return appendObject(buf, v, depth)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := guarded(v, func() error { return enc.Encode(v) }); err != nil {
		return buf, err
	}
	return append(buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}

// guarded calls a function of encoding/json that writes a value of a Go type, and returns an error
// if it panics. The MarshalJSON method of the value is user code, and is called whenever a value is
// read, also outside of handlers.
func guarded(v any, write func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("writing %T as JSON panicked: %s", v, PanicText(p))
		}
	}()
	return write()
}

func appendObject(buf []byte, o *Object, depth int) ([]byte, error) {
	if o == nil {
		return append(buf, "null"...), nil
	}
	buf = append(buf, '{')
	for i, k := range o.keys {
		if i > 0 {
			buf = append(buf, ',')
		}
		var err error
		if buf, err = appendJSON(append(AppendString(buf, k), ':'), o.values[i], depth+1); err != nil {
			return buf, within(k, err)
		}
	}
	return append(buf, '}'), nil
}

// AppendFloat appends the JSON form of a float64 as AppendJSON does. A number that is not finite is
// an error.
func AppendFloat(buf []byte, f float64) ([]byte, error) {
	if err := finite(f); err != nil {
		return buf, err
	}
	format := byte('f')
	if a := max(f, -f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	start := len(buf)
	buf = strconv.AppendFloat(buf, f, format, -1, 64)
	if !bytes.ContainsAny(buf[start:], ".e") {
		buf = append(buf, '.', '0')
	}
	return buf, nil
}

// AppendString appends a string as a JSON string, as AppendJSON does. Bytes that are not valid UTF-8
// become U+FFFD.
func AppendString(buf []byte, s string) []byte {
	if IsPlain(s) {
		return append(append(append(buf, '"'), s...), '"')
	}
	buf = append(buf, '"')
	from := 0 // start of the bytes that are written unchanged
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '\u2028' && c != '\u2029' && (c != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		buf = appendEscape(append(buf, s[from:i]...), c)
		i += size
		from = i
	}
	return append(append(buf, s[from:]...), '"')
}

// IsPlain reports whether AppendString writes a string unchanged between quotes. This is so if the
// string has only printable ASCII characters, and no quote or backslash.
func IsPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// plain contains the characters of plain strings. Looking them up takes half the time of comparing.
var plain = func() (set [256]bool) {
	for c := ' '; c <= '~'; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()

// appendEscape appends the escape sequence of a character, which is the one of encoding/json.
func appendEscape(buf []byte, c rune) []byte {
	if at := strings.IndexRune("\"\\\b\f\n\r\t", c); at >= 0 {
		return append(buf, '\\', "\"\\bfnrt"[at])
	}
	const hex = "0123456789abcdef"
	return append(buf, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
}

// JSON returns the compact JSON form of a value, or an explanation in angle brackets if it
// has none. It is meant for messages; use AppendJSON for data.
func JSON(v any) string {
	b, err := AppendJSON(nil, v)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return string(b)
}

// MarshalJSON writes the object with its keys in order.
func (o *Object) MarshalJSON() ([]byte, error) { return appendObject(nil, o, 0) }

// UnmarshalJSON reads a JSON object as ParseJSON does.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(data)
	if err != nil {
		return err
	}
	p, ok := v.(*Object)
	if !ok {
		return fmt.Errorf("want a JSON object, got %s", TypeName(v))
	}
	*o = *p
	return nil
}

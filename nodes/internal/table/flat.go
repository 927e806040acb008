package table

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

// flatReader reads rows of the same form as the row before: the same keys in the same
// order, and scalars without escapes. Most rows of most files have this form, and
// reading them this way takes a tenth of the time of value.ParseJSON, which reads all
// other rows. flatReader leaves every doubtful case to value.ParseJSON, so that only
// one parser defines what is valid; a fuzz test compares the two.
type flatReader struct {
	keys  *value.Keys
	plain bool // the keys need no escapes
	build *Builder
	memos []Memo
	text  []byte
	at    int
	// values holds the values of the current row. They are copied once the row is known
	// to be good.
	values []any
}

// expect sets the keys of the following rows.
func (f *flatReader) expect(keys *value.Keys) {
	if f.keys == keys {
		return
	}
	f.keys, f.build = keys, NewBuilder(keys)
	f.memos, f.values = make([]Memo, keys.Len()), make([]any, keys.Len())
	f.plain = true
	for _, name := range keys.Names() {
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
			f.plain = false // the key is always escaped in a file
		}
	}
}

// row reads one object. ok is false if the object does not have the expected form.
func (f *flatReader) row(text []byte) (row *value.Object, ok bool) {
	if !f.plain || f.keys.Len() == 0 {
		return nil, false
	}
	f.text, f.at = text, 0
	before := byte('{')
	for i, key := range f.keys.Names() {
		if !f.sign(before) || !f.key(key) || !f.sign(':') || !f.value(i) {
			return nil, false
		}
		before = ','
	}
	if !f.sign('}') || f.at != len(f.text) {
		return nil, false
	}
	row, values := f.build.Row()
	copy(values, f.values)
	return row, true
}

// sign skips white space, the character c and more white space. It returns false if c
// is not there.
func (f *flatReader) sign(c byte) bool {
	f.space()
	if f.at >= len(f.text) || f.text[f.at] != c {
		return false
	}
	f.at++
	f.space()
	return true
}

func (f *flatReader) space() {
	for f.at < len(f.text) {
		switch f.text[f.at] {
		case ' ', '\t', '\r', '\n':
			f.at++
		default:
			return
		}
	}
}

// key skips a key. It returns false if another key is there.
func (f *flatReader) key(name string) bool {
	end := f.at + len(name) + 2
	if end > len(f.text) || f.text[f.at] != '"' || f.text[end-1] != '"' || string(f.text[f.at+1:end-1]) != name {
		return false
	}
	f.at = end
	return true
}

// value reads the value with index i.
func (f *flatReader) value(i int) bool {
	if f.at >= len(f.text) {
		return false
	}
	switch c := f.text[f.at]; {
	case c == '"':
		return f.string(i)
	case c == '-' || c >= '0' && c <= '9':
		return f.number(i)
	case c == 't':
		return f.word("true", i, true)
	case c == 'f':
		return f.word("false", i, false)
	case c == 'n':
		return f.word("null", i, nil)
	}
	return false
}

func (f *flatReader) word(word string, i int, v any) bool {
	end := f.at + len(word)
	if end > len(f.text) || string(f.text[f.at:end]) != word {
		return false
	}
	f.at, f.values[i] = end, v
	return true
}

func (f *flatReader) string(i int) bool {
	start := f.at + 1
	ascii := true
	for end := start; end < len(f.text); end++ {
		switch c := f.text[end]; {
		case c == '"':
			s := f.text[start:end]
			if !ascii && !utf8.Valid(s) {
				return false
			}
			f.at, f.values[i] = end+1, f.memos[i].Bytes(s)
			return true
		case c < ' ' || c == '\\':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return false
}

func (f *flatReader) number(i int) bool {
	end := f.at
	for end < len(f.text) && numberByte(f.text[end]) {
		end++
	}
	s := f.text[f.at:end]
	f.at = end
	if n, ok := shortInteger(s); ok {
		f.values[i] = f.memos[i].Integer(n)
		return true
	}
	// classify accepts the numbers of JSON, and numbers that begin with a point.
	switch classify(s) {
	case integerCell, longCell:
		n, err := strconv.ParseInt(string(s), 10, 64)
		f.values[i] = n
		return err == nil
	case numberCell:
		if string(s) == "-0" || s[0] == '.' || s[0] == '-' && s[1] == '.' {
			return false
		}
		x, err := strconv.ParseFloat(string(s), 64)
		f.values[i] = x
		return err == nil
	}
	return false
}

func numberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// shortInteger parses an integer of at most 18 digits.
func shortInteger(s []byte) (n int64, ok bool) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && (len(s) > 1 || negative) {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

package value

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxJSONDepth limits the nesting of the JSON form of a value.
const MaxJSONDepth = 1000

// ParseJSON parses one JSON value. Numbers without a point or exponent become int64 and
// stay exact, other numbers become float64. Objects keep the order of their keys. Duplicate
// keys, trailing data, integers beyond 64 bits and nesting deeper than MaxJSONDepth are
// errors. If the data is truncated, the error wraps io.ErrUnexpectedEOF. Bytes that are not
// UTF-8 and unpaired surrogate escapes are read as U+FFFD. Consecutive objects with the
// same keys share them, as the rows of a table do. The result does not refer to data.
func ParseJSON(data []byte) (any, error) { return parseJSON(data, 0) }

// parseJSON is ParseJSON for a value at a nesting depth inside of another value.
func parseJSON(data []byte, depth int) (any, error) {
	var p struct { // with room for most rows, in one allocation
		JSONParser
		keys    [8]string
		values  [8]any
		headers [2]*Keys
	}
	p.JSONParser.keys, p.JSONParser.values, p.JSONParser.headers = p.keys[:0], p.values[:0], p.headers[:0]
	return p.parse(data, depth)
}

// JSONParser parses JSON values one after the other, such as the lines of a file, in the
// same way as ParseJSON. Objects with equal keys share them from one value to the next. The
// zero JSONParser is ready to use, by one goroutine.
type JSONParser struct {
	data []byte
	at   int
	// keys and values are stacks of the keys and values of the open objects and arrays.
	keys   []string
	values []any
	// headers are the keys of the last object at each nesting depth.
	headers []*Keys
	names   strings.Builder // memory for the names of keys, which are freed together
	escaped []byte          // scratch space for strings with escapes
}

// Parse parses one value.
func (p *JSONParser) Parse(data []byte) (any, error) { return p.parse(data, 0) }

func (p *JSONParser) parse(data []byte, depth int) (any, error) {
	p.data, p.at, p.keys, p.values = data, 0, p.keys[:0], p.values[:0]
	v, err := p.value(depth)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(data) {
		return nil, fmt.Errorf("unexpected text after the JSON value at byte %d", p.at+1)
	}
	return v, nil
}

var errJSONDepth = fmt.Errorf("JSON is nested deeper than %d", MaxJSONDepth)

// cutOff is the error of data that ends too early.
type cutOff struct{ want string }

func (e cutOff) Error() string { return "the JSON ends too early, want " + e.want }
func (e cutOff) Unwrap() error { return io.ErrUnexpectedEOF }

// fail returns an error that says what was expected at the current byte.
func (p *JSONParser) fail(want string) error {
	if p.at >= len(p.data) {
		return cutOff{want}
	}
	r, n := utf8.DecodeRune(p.data[p.at:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Errorf("unexpected byte 0x%02x at byte %d, want %s", p.data[p.at], p.at+1, want)
	}
	return fmt.Errorf("unexpected %q at byte %d, want %s", r, p.at+1, want)
}

func (p *JSONParser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the next byte, or 0 at the end.
func (p *JSONParser) next() byte {
	p.space()
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *JSONParser) value(depth int) (any, error) {
	c := p.next()
	if depth > MaxJSONDepth {
		return nil, errJSONDepth
	}
	switch {
	case c == '"':
		return p.text()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == 't':
		return true, p.word("true")
	case c == 'f':
		return false, p.word("false")
	case c == 'n':
		return nil, p.word("null")
	}
	return nil, p.fail("a value")
}

func (p *JSONParser) word(word string) error {
	for i := range len(word) {
		if p.at >= len(p.data) || p.data[p.at] != word[i] {
			return p.fail(word)
		}
		p.at++
	}
	return nil
}

func (p *JSONParser) array(depth int) (any, error) {
	p.at++
	if p.next() == ']' {
		p.at++
		return []any{}, nil
	}
	from := len(p.values)
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return p.take(from), nil
		default:
			return nil, p.fail(`"," or "]"`)
		}
	}
}

// take removes the values from an index on from the stack and returns them.
func (p *JSONParser) take(from int) []any {
	out := make([]any, len(p.values)-from)
	copy(out, p.values[from:])
	p.values = p.values[:from]
	return out
}

func (p *JSONParser) object(depth int) (any, error) {
	p.at++
	if p.next() == '}' {
		p.at++
		return &Object{}, nil
	}
	for len(p.headers) <= depth {
		p.headers = append(p.headers, nil)
	}
	header := p.headers[depth]
	fromKeys, fromValues, same := len(p.keys), len(p.values), header != nil
	var index map[string]int // index of the keys, once there are many
	for i := 0; ; i++ {
		if same && (i == header.Len() || !p.key(header.names[i])) {
			same = false
			p.keys = append(p.keys, header.names[:i]...)
		}
		if !same {
			if err := p.newKey(fromKeys, &index); err != nil {
				return nil, err
			}
		}
		if p.next() != ':' {
			return nil, p.fail(`":"`)
		}
		p.at++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
		switch p.next() {
		case ',':
			p.at++
			p.space()
		case '}':
			p.at++
			if same && i+1 < header.Len() {
				same = false
				p.keys = append(p.keys, header.names[:i+1]...)
			}
			if !same {
				header = headerOf(p.keys[fromKeys:], index)
				p.headers[depth], p.keys = header, p.keys[:fromKeys]
			}
			return NewRow(header, p.take(fromValues)), nil
		default:
			return nil, p.fail(`"," or "}"`)
		}
	}
}

// headerOf returns Keys of names that are known to be distinct. index may be nil.
func headerOf(names []string, index map[string]int) *Keys {
	if index == nil && len(names) >= indexFrom {
		index = indexOf(names)
	}
	return &Keys{names: slices.Clone(names), index: index}
}

func indexOf(names []string) map[string]int {
	index := make(map[string]int, 2*len(names))
	for i, n := range names {
		index[n] = i
	}
	return index
}

// key skips the next key and its colon if the key is name, written without escapes.
func (p *JSONParser) key(name string) bool {
	end := p.at + len(name) + 2
	if end > len(p.data) || p.data[p.at] != '"' || p.data[end-1] != '"' || string(p.data[p.at+1:end-1]) != name {
		return false
	}
	p.at = end
	return true
}

// newKey parses a key and pushes it onto the stack. It returns an error if the object
// already has the key.
func (p *JSONParser) newKey(from int, index *map[string]int) error {
	if p.at >= len(p.data) || p.data[p.at] != '"' {
		return p.fail("a key in double quotes")
	}
	at := p.at
	text, err := p.bytes()
	if err != nil {
		return err
	}
	key := p.name(text)
	keys := p.keys[from:]
	_, known := (*index)[key]
	if known || *index == nil && slices.Contains(keys, key) {
		return fmt.Errorf("duplicate key %q at byte %d", key, at+1)
	}
	p.keys = append(p.keys, key)
	switch keys = p.keys[from:]; {
	case *index != nil:
		(*index)[key] = len(keys) - 1
	case len(keys) >= indexFrom:
		*index = indexOf(keys)
	}
	return nil
}

// name returns the name of a key. Names are cut from shared blocks of memory, because the
// keys of an object are used together.
func (p *JSONParser) name(text []byte) string {
	if p.names.Cap()-p.names.Len() < len(text) {
		p.names = strings.Builder{}
		p.names.Grow(max(len(text), min(len(p.data)-p.at, namesSize)))
	}
	from := p.names.Len()
	p.names.Write(text)
	return p.names.String()[from:]
}

const namesSize = 256

func (p *JSONParser) text() (any, error) {
	s, err := p.bytes()
	if err != nil {
		return nil, err
	}
	return string(s), nil
}

// bytes parses a string from its opening quote. The bytes are valid until the next call.
func (p *JSONParser) bytes() ([]byte, error) {
	from := p.at + 1
	for i := from; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			p.at = i + 1
			return p.data[from:i], nil
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			p.at = i
			return p.rest(from)
		}
	}
	p.at = len(p.data)
	return nil, p.fail(`'"'`)
}

// rest parses the rest of a string that is not plain ASCII.
func (p *JSONParser) rest(from int) ([]byte, error) {
	out := append(p.escaped[:0], p.data[from:p.at]...)
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			p.escaped = out
			return out, nil
		case c < ' ':
			return nil, p.fail("an escape such as \\n in its place")
		case c == '\\':
			var err error
			if out, err = p.escape(out); err != nil {
				return nil, err
			}
		case c < utf8.RuneSelf:
			out = append(out, c)
			p.at++
		default:
			r, n := utf8.DecodeRune(p.data[p.at:])
			out = utf8.AppendRune(out, r)
			p.at += n
		}
	}
	return nil, p.fail(`'"'`)
}

// escape parses an escape and appends the character that it denotes.
func (p *JSONParser) escape(out []byte) ([]byte, error) {
	p.at++
	c := byte(0)
	if p.at < len(p.data) {
		c = p.data[p.at]
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicode(out)
	default:
		return out, p.fail(`one of "\/bfnrtu after \`)
	}
	p.at++
	return append(out, c), nil
}

// unicode parses the four digits of an escape, or both halves of a surrogate pair. An
// unpaired surrogate is read as U+FFFD.
func (p *JSONParser) unicode(out []byte) ([]byte, error) {
	r, err := p.digits(p.at + 1)
	if err != nil {
		return out, err
	}
	p.at += 5
	if utf16.IsSurrogate(r) {
		second := rune(0)
		if p.at+1 < len(p.data) && p.data[p.at] == '\\' && p.data[p.at+1] == 'u' {
			if second, err = p.digits(p.at + 2); err != nil {
				return out, err
			}
		}
		if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
			p.at += 6
		}
	}
	return utf8.AppendRune(out, r), nil
}

// digits parses four hexadecimal digits.
func (p *JSONParser) digits(at int) (rune, error) {
	n := rune(0)
	for i := at; i < at+4; i++ {
		c := byte(0)
		if i < len(p.data) {
			c = p.data[i]
		}
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			p.at = min(i, len(p.data))
			return 0, p.fail("four hexadecimal digits after \\u")
		}
		n = n<<4 | rune(c)
	}
	return n, nil
}

// number parses a number. Whole numbers of up to 18 digits, the usual case, are converted
// directly.
func (p *JSONParser) number() (any, error) {
	from := p.at
	negative := p.data[p.at] == '-'
	if negative {
		p.at++
	}
	first, n := p.at, int64(0)
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		n = 10*n + int64(p.data[p.at]-'0') // n may overflow; it is not used then
		p.at++
	}
	switch {
	case p.at == first:
		return nil, p.fail("a digit")
	case p.data[first] == '0' && p.at > first+1:
		p.at = first + 1
		return nil, p.fail("a number without a leading zero")
	}
	whole := true
	if p.at < len(p.data) && p.data[p.at] == '.' {
		whole = false
		p.at++
		if !p.digitRun() {
			return nil, p.fail("a digit")
		}
	}
	if p.at < len(p.data) && p.data[p.at]|0x20 == 'e' {
		whole = false
		if p.at++; p.at < len(p.data) && (p.data[p.at] == '+' || p.data[p.at] == '-') {
			p.at++
		}
		if !p.digitRun() {
			return nil, p.fail("a digit")
		}
	}
	switch {
	case whole && p.at-first > 18:
		return ParseNumber(string(p.data[from:p.at]))
	case whole && negative:
		return -n, nil
	case whole:
		return n, nil
	}
	f, err := strconv.ParseFloat(string(p.data[from:p.at]), 64)
	if err != nil {
		return nil, errFloatRange(string(p.data[from:p.at]))
	}
	return f, nil
}

// digitRun skips digits and reports whether there were any.
func (p *JSONParser) digitRun() bool {
	from := p.at
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}

func errFloatRange(s string) error { return fmt.Errorf("number %s is out of range", s) }

// ParseNumber parses a JSON number: int64 if it has neither a point nor an exponent,
// otherwise float64. A whole number that does not fit into 64 bits is an error, never a
// rounded float.
func ParseNumber(s string) (any, error) {
	for i := range len(s) {
		if c := s[i]; c == '.' || c == 'e' || c == 'E' {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return nil, errFloatRange(s)
			}
			return f, nil
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("number %s does not fit 64 bits", s)
	}
	return n, nil
}

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

// MaxJSONDepth is how deep the JSON form of a value may nest.
const MaxJSONDepth = 1000

// ParseJSON reads one JSON value into run-time values: whole numbers without a
// point or exponent become int64 and stay exact, other numbers float64, objects
// keep their key order. Duplicate keys, trailing text, integers beyond 64 bits
// and nesting deeper than 1000 are errors; so is a text that is cut off, with
// io.ErrUnexpectedEOF behind the error. Bytes that are no UTF-8 and escapes of
// half a character are read as U+FFFD. Objects of the same keys share them where
// they follow one another, as the rows of a table do. Nothing of data is kept.
func ParseJSON(data []byte) (any, error) { return parseJSON(data, 0) }

// parseJSON is ParseJSON for a value that stands at a depth inside of another.
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

// JSONParser reads JSON texts one after the other, such as the lines of a file,
// as ParseJSON does. Objects of equal keys share them from one text to the next.
// The zero JSONParser is ready to use, by one goroutine.
type JSONParser struct {
	data []byte
	at   int
	// keys and values are stacks of what the open objects and arrays hold so far.
	keys   []string
	values []any
	// headers are the keys of the last object at each depth.
	headers []*Keys
	names   strings.Builder // room for the names of keys, which live and die together
	escaped []byte          // scratch space for a text with escapes
}

// Parse reads one text.
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

// cutOff is the error of a text that ends too early.
type cutOff struct{ want string }

func (e cutOff) Error() string { return "the JSON ends too early, want " + e.want }
func (e cutOff) Unwrap() error { return io.ErrUnexpectedEOF }

// fail says what was wanted at the byte at hand.
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

// next passes over white space and returns the byte behind it, 0 at the end.
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

// take returns the values of the stack from an index on, and takes them off.
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
	var index map[string]int // of the keys, once there are many
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

// headerOf returns keys that are known to be distinct. index may be nil.
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

// key passes over a key if it is this one, written without escapes.
func (p *JSONParser) key(name string) bool {
	end := p.at + len(name) + 2
	if end > len(p.data) || p.data[p.at] != '"' || p.data[end-1] != '"' || string(p.data[p.at+1:end-1]) != name {
		return false
	}
	p.at = end
	return true
}

// newKey reads a key and puts it onto the stack, unless the object has it.
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

// name returns the name of a key. Names are cut from one piece of memory after the
// other: the keys of an object are used as long as one of them is.
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

// bytes reads a text from its quote on. The bytes are valid until the next call.
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

// rest reads on in a text that is more than plain ASCII.
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

// escape reads an escape and appends what it stands for.
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

// unicode reads the four digits of an escape, or both halves of a pair. Half a pair
// is read as U+FFFD.
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

// digits reads four hexadecimal digits.
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

// number reads a number. Whole ones of up to 18 digits, which are nearly all, are
// read on the way.
func (p *JSONParser) number() (any, error) {
	from := p.at
	negative := p.data[p.at] == '-'
	if negative {
		p.at++
	}
	first, n := p.at, int64(0)
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		n = 10*n + int64(p.data[p.at]-'0') // may overflow, then it is not used
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

// digitRun passes over digits and reports whether there were any.
func (p *JSONParser) digitRun() bool {
	from := p.at
	for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}

func errFloatRange(s string) error { return fmt.Errorf("number %s is out of range", s) }

// ParseNumber reads a JSON number: int64 when it has neither point nor
// exponent, else float64. A whole number that does not fit 64 bits is an error,
// never a rounded float.
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

package eventlog

import (
	"math"
	"time"

	"github.com/wavefold/wavefold/core"
)

// flat decodes a line whose members are all strings without escapes, integers and booleans,
// and have no space between them, as most lines of a log. It makes no general value of the
// line, and so needs no memory for it. It reports false if it cannot be sure that decode
// would give the same event; e may then be changed.
func (r *Reader) flat(text []byte, e *core.Event) bool {
	at, seen := 0, uint64(0)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	for {
		at++ // the brace or the comma
		key, ok := plainString(text, at)
		if at += len(key) + 2; !ok || at >= len(text) || text[at] != ':' {
			return false
		}
		at++
		var v flatValue
		if v, at = flatValueAt(text, at); at >= len(text) {
			return false
		}
		field, ok := r.setFlat(e, string(key), &v)
		if !ok || seen&(1<<field) != 0 {
			return false
		}
		seen |= 1 << field
		switch {
		case text[at] == ',':
		case text[at] == '}' && at == len(text)-1:
			return e.V != 0 && e.Type != ""
		default:
			return false
		}
	}
}

// flatValue is a value of a member.
type flatValue struct {
	kind flatKind
	text []byte
	n    int64
}

type flatKind uint8

const (
	flatText flatKind = iota + 1
	flatInteger
	flatTrue
	flatFalse
)

// plainString returns the string that begins with the quote at a place, without the quotes.
func plainString(text []byte, at int) ([]byte, bool) {
	if at >= len(text) || text[at] != '"' {
		return nil, false
	}
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[at+1 : i], true
		case c < ' ' || c == '\\' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

// flatValueAt returns the value at a place and the place after it, which is the end of the text
// if there is no such value.
func flatValueAt(text []byte, at int) (flatValue, int) {
	none := len(text)
	if at >= none {
		return flatValue{}, none
	}
	switch c := text[at]; {
	case c == '"':
		s, ok := plainString(text, at)
		if !ok {
			return flatValue{}, none
		}
		return flatValue{kind: flatText, text: s}, at + len(s) + 2
	case c >= '0' && c <= '9':
		n, first := int64(0), at
		for ; at < none && text[at] >= '0' && text[at] <= '9'; at++ {
			n = 10*n + int64(text[at]-'0') // may overflow; n is not used then
		}
		if digits := at - first; digits > 18 || c == '0' && digits > 1 {
			return flatValue{}, none
		}
		return flatValue{kind: flatInteger, n: n}, at
	case hasWord(text, at, "true"):
		return flatValue{kind: flatTrue}, at + len("true")
	case hasWord(text, at, "false"):
		return flatValue{kind: flatFalse}, at + len("false")
	}
	return flatValue{}, none
}

func hasWord(text []byte, at int, word string) bool {
	return len(text)-at >= len(word) && string(text[at:at+len(word)]) == word
}

// setFlat stores a member as set does. It returns a number of the member, by which a second
// member of the same name is found, and reports false for members and values that it does
// not know.
func (r *Reader) setFlat(e *core.Event, key string, v *flatValue) (field int, ok bool) {
	switch key {
	case "v":
		e.V = core.EventVersion
		return 0, v.kind == flatInteger && v.n == core.EventVersion
	case "seq":
		e.Seq = v.n
		return 1, v.kind == flatInteger
	case "ts":
		var err error
		e.Time, err = time.Parse(time.RFC3339Nano, string(v.text))
		return 2, v.kind == flatText && err == nil
	case "type":
		return 3, r.text((*string)(&e.Type), v)
	case "run":
		return 4, r.text(&e.Run, v)
	case "node":
		return 5, r.text(&e.Node, v)
	case "unit":
		return 6, r.text(&e.Unit, v)
	case "kind":
		return 7, r.text(&e.Kind, v)
	case "phase":
		return 8, r.text(&e.Phase, v)
	case "level":
		return 9, flatOrdinal(&e.Level, v)
	case "item":
		return 10, flatOrdinal(&e.Item, v)
	case "round":
		return 11, flatOrdinal(&e.Round, v)
	case "visit":
		return 12, flatWhole(&e.Visit, v)
	case "attempt":
		return 13, flatWhole(&e.Attempt, v)
	case "total":
		return 14, flatOrdinal(&e.Total, v)
	case "status":
		return 15, r.text(&e.Status, v)
	case "duration_ns":
		e.Duration = time.Duration(v.n)
		return 16, v.kind == flatInteger
	case "reason":
		return 17, r.text(&e.Reason, v)
	case "cause":
		return 18, r.text(&e.Cause, v)
	case "field":
		return 19, r.text(&e.Field, v)
	case "null":
		e.Null = v.kind == flatTrue
		return 20, v.kind == flatTrue || v.kind == flatFalse
	}
	return 0, false
}

func flatOrdinal(field *core.Ordinal, v *flatValue) bool {
	if v.kind != flatInteger || v.n >= math.MaxInt32 {
		return false
	}
	*field = core.Nth(int(v.n))
	return true
}

func flatWhole(field *int, v *flatValue) bool {
	*field = int(v.n)
	return v.kind == flatInteger && v.n <= math.MaxInt32
}

// maxNames limits the strings that a reader keeps.
const maxNames = 1 << 10

// text stores a string. Strings that appear in many events, such as types and nodes, are kept, so
// that they need memory only once.
func (r *Reader) text(field *string, v *flatValue) bool {
	if v.kind != flatText {
		return false
	}
	s, ok := r.names[string(v.text)]
	if !ok {
		s = string(v.text)
		if r.names == nil {
			r.names = map[string]string{}
		}
		if len(r.names) < maxNames {
			r.names[s] = s
		}
	}
	*field = s
	return true
}

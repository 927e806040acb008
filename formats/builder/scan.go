package builder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/internal/textfile"
)

const (
	maxBytes = 64 << 20
	maxDepth = 100
)

// part is a value of a JSON document with its place in the text.
type part struct {
	kind    byte // the first byte: { [ " t f n, or 0 for a number
	at, end int
	keys    []key   // of an object, in document order
	items   []*part // of an array, or the values of an object
}

type key struct {
	name    string
	at, end int
}

// scanner reads a document. It makes parts for valid JSON only.
type scanner struct {
	file  string
	data  []byte
	lines []int // offsets of the first bytes of the lines
	at    int
	room  []part // space for the next parts
	names map[string]string
	// keys and items belong to the objects and arrays that are being read, the outermost first.
	keys  []key
	items []*part
	ds    source.Diagnostics
	deep  bool // a limit of depth was reported
}

// scan returns the parts of a document, nil if it is not valid.
func scan(file string, data []byte) (*scanner, *part) {
	s := &scanner{file: file, data: data, lines: lineStarts(data), names: map[string]string{}}
	if len(data) > maxBytes {
		s.ds.Errorf(source.CodeLimit, s.pos(0), "document has %d bytes, at most %d are read", len(data), maxBytes)
		return s, nil
	}
	if bad := textfile.InvalidUTF8(data); bad >= 0 {
		s.ds.Errorf(source.CodeSyntax, s.pos(bad), "text is not valid UTF-8").WithHint("save the file as UTF-8")
		return s, nil
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		s.at = 3
	}
	if !json.Valid(data[s.at:]) {
		s.syntaxError()
		return s, nil
	}
	root := s.value(0)
	if s.deep {
		return s, nil
	}
	return s, root
}

// endsWord reports whether a byte ends a number, or a word such as true.
func endsWord(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// lineStarts returns the offsets of the first bytes of the lines.
func lineStarts(data []byte) []int {
	if len(data) == 0 {
		return nil
	}
	lines := make([]int, 1, bytes.Count(data, []byte{'\n'})+1)
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return lines
		}
		at += i + 1
		lines = append(lines, at)
	}
}

func (s *scanner) syntaxError() {
	err := json.Unmarshal(s.data[s.at:], new(any))
	at := len(s.data)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = s.at + int(bad.Offset) - 1
	}
	s.ds.Errorf(source.CodeSyntax, s.pos(max(0, min(at, len(s.data)-1))), "%v", err)
}

// pos returns the position of an offset.
func (s *scanner) pos(offset int) source.Position {
	line, found := slices.BinarySearch(s.lines, offset)
	if !found {
		line--
	}
	if line < 0 { // an empty document
		return source.Position{File: s.file, Line: 1, Column: 1}
	}
	return source.Position{File: s.file, Line: int32(line + 1), Column: int32(offset - s.lines[line] + 1)}
}

func (s *scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t' || s.data[s.at] == '\n' || s.data[s.at] == '\r') {
		s.at++
	}
}

func (s *scanner) newPart() *part {
	if len(s.room) == 0 {
		s.room = make([]part, 256)
	}
	p := &s.room[0]
	s.room = s.room[1:]
	return p
}

func (s *scanner) value(depth int) *part {
	s.space()
	p := s.newPart()
	p.at, p.kind = s.at, s.data[s.at]
	if depth > maxDepth && !s.deep {
		s.ds.Errorf(source.CodeLimit, s.pos(s.at), "document is nested deeper than %d", maxDepth)
		s.deep = true
	}
	switch p.kind {
	case '{':
		s.object(p, depth)
	case '[':
		s.array(p, depth)
	case '"':
		s.skipString()
	default:
		if p.kind != 't' && p.kind != 'f' && p.kind != 'n' {
			p.kind = 0
		}
		for s.at < len(s.data) && !endsWord(s.data[s.at]) {
			s.at++
		}
	}
	p.end = s.at
	return p
}

func (s *scanner) object(p *part, depth int) {
	s.at++
	firstKey, firstItem := len(s.keys), len(s.items)
	var seen map[string]bool // of an object with many keys
	for s.space(); s.data[s.at] != '}'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
			continue
		}
		k := key{at: s.at}
		s.skipString()
		k.end = s.at
		k.name = s.name(s.data[k.at:k.end])
		s.space()
		s.at++ // the colon
		v := s.value(depth + 1)
		if before := s.keys[firstKey:]; len(before) < fewKeys {
			if slices.ContainsFunc(before, func(o key) bool { return o.name == k.name }) {
				s.twice(k)
				continue
			}
		} else {
			if seen == nil {
				seen = make(map[string]bool, 4*fewKeys)
				for i := range before {
					seen[before[i].name] = true
				}
			}
			if seen[k.name] {
				s.twice(k)
				continue
			}
			seen[k.name] = true
		}
		s.keys, s.items = append(s.keys, k), append(s.items, v)
	}
	s.at++
	p.keys, p.items = slices.Clone(s.keys[firstKey:]), slices.Clone(s.items[firstItem:])
	s.keys, s.items = s.keys[:firstKey], s.items[:firstItem]
}

// fewKeys is the number of keys up to which an object is searched for a key that appears twice.
const fewKeys = 32

func (s *scanner) twice(k key) {
	s.ds.Errorf(source.CodeDuplicateKey, s.pos(k.at+1), "key %q appears twice", k.name)
}

// name returns the content of a key. Most keys of a document are the same few.
func (s *scanner) name(quoted []byte) string {
	if n, ok := s.names[string(quoted)]; ok {
		return n
	}
	n := text(quoted)
	if len(s.names) < 1000 {
		s.names[string(quoted)] = n
	}
	return n
}

func (s *scanner) array(p *part, depth int) {
	s.at++
	first := len(s.items)
	for s.space(); s.data[s.at] != ']'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
			continue
		}
		s.items = append(s.items, s.value(depth+1))
	}
	s.at++
	p.items = slices.Clone(s.items[first:])
	s.items = s.items[:first]
}

func (s *scanner) skipString() {
	for s.at++; s.at < len(s.data) && s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// text returns the content of a JSON string with its quotes.
func text(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var out string
	if err := json.Unmarshal(quoted, &out); err != nil {
		panic(fmt.Sprintf("builder: valid JSON became invalid: %v", err))
	}
	return out
}

// raw returns the text of a part.
func (s *scanner) raw(p *part) []byte { return s.data[p.at:p.end] }

// get returns a member of an object, nil if there is none or if p is not an object.
func (p *part) get(name string) *part {
	if p == nil || p.kind != '{' {
		return nil
	}
	for i := range p.keys {
		if p.keys[i].name == name {
			return p.items[i]
		}
	}
	return nil
}

// isNull reports whether a member is absent or null.
func (p *part) isNull() bool { return p == nil || p.kind == 'n' }

// kindName names the kind of a part in messages.
func (p *part) kindName() string {
	switch p.kind {
	case '{':
		return "a mapping"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

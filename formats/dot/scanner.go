package dot

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
)

// tokenKind is the shape of a token. Signs of one character are themselves.
type tokenKind rune

const (
	tokenEnd   tokenKind = -1 - iota
	tokenName            // a bare word, dotted where it is the key of an attribute
	tokenText            // a text in quotes
	tokenArrow           // ->
	tokenLine            // --, which only undirected graphs have
	tokenValue           // a bare value that is no name: a number, a duration, gpt-5.2
	tokenBad             // what no token begins with; text says why
)

// token is a piece of the document.
type token struct {
	kind tokenKind
	text string // of a text without quotes and escapes
	pos  core.Position
	// end is the place behind it; fresh tells that it is the first on its line.
	end   core.Position
	fresh bool
	// hint is that of a bad one; whole tells that its text says all there is to say.
	hint  string
	whole bool
}

// describe names a token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the document"
	case tokenText:
		return "string " + quote(t.text)
	default:
		return quote(t.text)
	}
}

// quotePath is a path in a message. All of it is shown: whoever reads the message looks for
// the file.
func quotePath(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }

func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:37]) + "..."
	}
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}

// scanner cuts a document into tokens. It reports nothing itself.
type scanner struct {
	file string
	data []byte
	// inside is the text that the document is, nil for a file.
	inside *core.Text
	scanState
}

// scanState is where a scanner is: a copy of it leads back there.
type scanState struct {
	at        int
	line      int32
	lineStart int  // offset at which the line begins
	fresh     bool // nothing but blanks and comments on the line so far
}

func newScanner(file string, data []byte) *scanner {
	return &scanner{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), scanState: scanState{line: 1, fresh: true}}
}

func (s *scanner) position(at int) core.Position {
	if s.inside != nil {
		return core.Inside(*s.inside, at)
	}
	return core.Position{File: s.file, Line: s.line, Column: int32(at - s.lineStart + 1)}
}

// peek returns the byte n places on, 0 beyond the end.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.data) {
		return s.data[s.at+n]
	}
	return 0
}

// newline notes that a line ends before the offset at.
func (s *scanner) newline(at int) {
	s.line, s.lineStart = s.line+1, at
}

// space passes over blanks, comments and lines for preprocessors. ok is false where a
// comment is never closed: bad is the token to report then.
func (s *scanner) space() (bad token, ok bool) {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '\n':
			s.at++
			s.newline(s.at)
			s.fresh = true
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case c == '#' && s.fresh, c == '/' && s.peek(1) == '/':
			if n := bytes.IndexByte(s.data[s.at:], '\n'); n >= 0 {
				s.at += n
			} else {
				s.at = len(s.data)
			}
		case c == '/' && s.peek(1) == '*':
			if bad, ok = s.comment(); !ok {
				return bad, false
			}
		default:
			return token{}, true
		}
	}
	return token{}, true
}

func (s *scanner) comment() (bad token, ok bool) {
	start := s.position(s.at)
	n := bytes.Index(s.data[s.at+2:], []byte("*/"))
	if n < 0 {
		s.at = len(s.data)
		return token{kind: tokenBad, text: "the comment is never closed", pos: start, hint: "close it with */", whole: true}, false
	}
	end := s.at + 2 + n + 2
	for ; s.at < end; s.at++ {
		if s.data[s.at] == '\n' {
			s.newline(s.at + 1)
			s.fresh = true
		}
	}
	return token{}, true
}

// next returns the next token where no value stands.
func (s *scanner) next() token { return s.token(false) }

// value returns the next token where the value of an attribute may stand.
func (s *scanner) value() token { return s.token(true) }

func (s *scanner) token(asValue bool) token {
	bad, ok := s.space()
	if !ok {
		return bad
	}
	t := token{pos: s.position(s.at), fresh: s.fresh}
	s.fresh = false
	s.scan(&t, asValue)
	t.end = s.position(s.at)
	return t
}

func (s *scanner) scan(t *token, asValue bool) {
	from, c := s.at, s.peek(0)
	switch {
	case s.at >= len(s.data):
		t.kind = tokenEnd
		return
	case c == '"':
		s.text(t)
		return
	case isLetter(c) || asValue && (isDigit(c) || c == '.' || c == '-' && (isDigit(s.peek(1)) || s.peek(1) == '.')):
		s.word(t, asValue)
	case c == '-' && s.peek(1) == '>':
		t.kind, s.at = tokenArrow, s.at+2
	case c == '-' && s.peek(1) == '-':
		t.kind, s.at = tokenLine, s.at+2
	case strings.IndexByte("{}[]=,;:<+", c) >= 0:
		t.kind, s.at = tokenKind(c), s.at+1
	default:
		s.stray(t)
		return
	}
	t.text = string(s.data[from:s.at])
}

// word passes over a bare word. As a value it may hold signs that names may not.
func (s *scanner) word(t *token, asValue bool) {
	from := s.at
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		switch {
		case isLetter(c) || isDigit(c) || c == '.':
		case asValue && c == '-' && s.peek(1) != '>' && s.peek(1) != '-', asValue && c == '-' && s.at == from:
		default:
			t.kind = wordKind(s.data[from:s.at])
			return
		}
	}
	t.kind = wordKind(s.data[from:s.at])
}

// wordKind tells names, whose parts begin with letters, from other bare words.
func wordKind(word []byte) tokenKind {
	for i, c := range word {
		if !isLetter(c) && (i == 0 || word[i-1] == '.' || !isDigit(c) && (c != '.' || i == len(word)-1)) {
			return tokenValue
		}
	}
	return tokenName
}

// text reads a text in quotes. Of escapes there are \" \\ \n and \t; any other
// backslash is one, also in front of a line break.
func (s *scanner) text(t *token) {
	quoteAt := s.position(s.at)
	s.at++
	t.kind, t.pos = tokenText, s.position(s.at)
	var out strings.Builder
	segments := []core.Segment{{Line: s.line, Column: t.pos.Column}}
	from := s.at
	cut := func(behind int) { // the text goes on behind what is written otherwise
		s.at, from = behind, behind
		segments = append(segments, core.Segment{Offset: int32(out.Len()), Line: s.line, Column: int32(behind - s.lineStart + 1)})
	}
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			out.Write(s.data[from:s.at])
			s.at++
			t.text = out.String()
			if len(segments) > 1 {
				t.pos = t.pos.Written(segments)
			}
			return
		case c == '\\' && escaped(s.peek(1)) != 0:
			out.Write(s.data[from:s.at])
			out.WriteByte(escaped(s.peek(1)))
			cut(s.at + 2)
		case c == '\n':
			out.Write(s.data[from : s.at+1])
			s.newline(s.at + 1)
			cut(s.at + 1)
		default:
			s.at++
		}
	}
	*t = token{kind: tokenBad, text: "the string is never closed", pos: quoteAt, fresh: t.fresh, whole: true,
		hint: `close it with ", and write \" for a quote inside`}
}

// escaped returns what a backslash and a character stand for, 0 for themselves.
func escaped(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case 'n':
		return '\n'
	case 't':
		return '\t'
	}
	return 0
}

// stray passes over a character that begins no token.
func (s *scanner) stray(t *token) {
	r, n := utf8.DecodeRune(s.data[s.at:])
	t.kind, t.text = tokenBad, "unexpected "+quote(string(r))
	t.hint = "a string with characters other than letters, digits and _ needs double quotes"
	switch {
	case r == '\'':
		t.hint = "strings need double quotes"
	case r < utf8.RuneSelf && isDigit(byte(r)):
		t.hint = "ids are letters, digits and _, and begin with no digit"
	case r == '#':
		t.hint = "write // for a comment, and quotes around a colour"
	}
	s.at += n
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

package dot

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
)

// tokenKind is the kind of a token. The kind of a single punctuation character is the
// character.
type tokenKind rune

const (
	tokenEnd   tokenKind = -1 - iota
	tokenName            // an unquoted word, with dots if it is the key of an attribute
	tokenText            // a quoted string
	tokenArrow           // ->
	tokenLine            // --, which only undirected graphs have
	tokenValue           // an unquoted value that is not a name: a number, a duration, gpt-5.2
	tokenBad             // a character that begins no token; text holds the error
)

// token is a token of a document.
type token struct {
	kind tokenKind
	text string // of a quoted string: its value, without quotes and escapes
	pos  source.Position
	// end is the position after the token. fresh reports whether it is the first on its
	// line.
	end   source.Position
	fresh bool
	// hint is the hint for a bad token. complete reports whether its text is a whole
	// message.
	hint     string
	complete bool
}

// describe formats a token for a message.
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

// quotePath formats a path for a message. The path is not shortened, so that the reader
// can find the file.
func quotePath(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }

func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:37]) + "..."
	}
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}

// scanner splits a document into tokens. It reports no errors itself.
type scanner struct {
	file string
	data []byte
	// inside is the string that contains the document, nil if it is a file.
	inside *source.Text
	scanState
}

// scanState is the position of a scanner. Restoring a copy of it rewinds the scanner.
type scanState struct {
	at        int
	line      int32
	lineStart int  // offset at which the line begins
	fresh     bool // the line has contained only spaces and comments so far
}

func newScanner(file string, data []byte) *scanner {
	return &scanner{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), scanState: scanState{line: 1, fresh: true}}
}

func (s *scanner) position(at int) source.Position {
	if s.inside != nil {
		return source.Inside(*s.inside, at)
	}
	return source.Position{File: s.file, Line: s.line, Column: int32(at - s.lineStart + 1)}
}

// peek returns the byte n bytes ahead, 0 beyond the end.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.data) {
		return s.data[s.at+n]
	}
	return 0
}

// newline records that a new line begins at an offset.
func (s *scanner) newline(at int) {
	s.line, s.lineStart = s.line+1, at
}

// space skips white space, comments and preprocessor lines. If a comment is never
// closed, ok is false and bad is the token to report.
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
		return token{kind: tokenBad, text: "the comment is never closed", pos: start, hint: "close it with */", complete: true}, false
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

// next returns the next token where no attribute value is expected.
func (s *scanner) next() token { return s.token(false) }

// value returns the next token where an attribute value may appear.
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
		s.badCharacter(t)
		return
	}
	t.text = string(s.data[from:s.at])
}

// word scans an unquoted word. A value may contain characters that a name may not.
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

// wordKind distinguishes names, whose parts begin with letters, from other unquoted
// words.
func wordKind(word []byte) tokenKind {
	for i, c := range word {
		if !isLetter(c) && (i == 0 || word[i-1] == '.' || !isDigit(c) && (c != '.' || i == len(word)-1)) {
			return tokenValue
		}
	}
	return tokenName
}

// text scans a quoted string. Its escapes are \" \\ \n and \t. Any other backslash is
// literal, including one before a line break.
func (s *scanner) text(t *token) {
	quoteAt := s.position(s.at)
	s.at++
	t.kind, t.pos = tokenText, s.position(s.at)
	var out strings.Builder
	segments := []source.Segment{{Line: s.line, Column: t.pos.Column}}
	from := s.at
	cut := func(behind int) { // continues the string after an escape or line break
		s.at, from = behind, behind
		segments = append(segments, source.Segment{Offset: int32(out.Len()), Line: s.line, Column: int32(behind - s.lineStart + 1)})
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
	*t = token{kind: tokenBad, text: "the string is never closed", pos: quoteAt, fresh: t.fresh, complete: true,
		hint: `close it with ", and write \" for a quote inside`}
}

// escaped returns the character that an escape represents, 0 if it is not an escape.
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

// badCharacter handles a character that begins no token.
func (s *scanner) badCharacter(t *token) {
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

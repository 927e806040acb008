package expressions

import (
	"strings"
	"unicode/utf8"
)

// scanner splits an expression into tokens. It reads one token at a time, so that the
// parser can take over inside a path, which has different lexical rules.
type scanner struct {
	src    string
	pos    int          // offset of the next byte to scan
	filter bool         // accept @ as a root
	err    *SyntaxError // the first invalid token
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.src) && isSpace(s.src[s.pos]) {
		s.pos++
	}
}

// fail records an error and returns a tokBad token.
func (s *scanner) fail(offset int, message, hint string) token {
	if s.err == nil {
		s.err = syntaxError(offset, message, hint)
	}
	return token{kind: tokBad, start: offset, end: offset}
}

// next returns the next token.
func (s *scanner) next() token {
	s.skipSpace()
	start := s.pos
	if start == len(s.src) {
		return token{kind: tokEnd, start: start, end: start}
	}
	c := s.src[start]
	switch {
	case isDigit(c):
		s.pos += numberLength(s.src[start:])
		return token{kind: tokNumber, start: start, end: s.pos}
	case isLetter(c):
		s.skipName()
		return token{kind: tokWord, start: start, end: s.pos}
	case c == '@' && s.filter:
		s.pos++
		return token{kind: tokRoot, start: start, end: s.pos}
	case c == '$':
		s.pos++
		s.skipName()
		return token{kind: tokRoot, start: start, end: s.pos}
	case c == '\'' || c == '"':
		return s.quoted()
	}
	return s.sign()
}

func (s *scanner) skipName() {
	for s.pos < len(s.src) && isName(s.src[s.pos]) {
		s.pos++
	}
}

// quoted scans a quoted string. There are no escapes: the next quote of the same kind
// ends it.
func (s *scanner) quoted() token {
	start := s.pos
	n := strings.IndexByte(s.src[start+1:], s.src[start])
	if n < 0 {
		return s.fail(start, "this string is never closed", "close it with "+s.src[start:start+1]+"; within {…} of YAML a comma ends a string unless all of it is in quotes")
	}
	s.pos = start + n + 2
	return token{kind: tokString, start: start, end: s.pos}
}

// numberLength returns the length of the number at the start of s: digits, an optional
// fraction and an optional exponent. It is 0 if s does not start with a digit.
func numberLength(s string) int {
	n := digits(s)
	if n == 0 {
		return 0
	}
	if n < len(s) && s[n] == '.' {
		if d := digits(s[n+1:]); d > 0 {
			n += 1 + d
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digits(s[e:]); d > 0 {
			n = e + d
		}
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// sign scans operators and punctuation.
func (s *scanner) sign() token {
	start, rest := s.pos, s.src[s.pos:]
	if strings.HasPrefix(rest, "===") || strings.HasPrefix(rest, "!==") {
		return s.fail(start, "unknown operator "+quoteCode(rest[:3]), "write "+rest[:2])
	}
	if op, n := signOp(rest); n > 0 {
		s.pos += n
		return token{kind: tokOp, op: op, start: start, end: s.pos}
	}
	kind := tokBad
	switch rest[0] {
	case '!':
		kind = tokNot
	case '(':
		kind = tokOpen
	case ')':
		kind = tokClose
	case '[', ']':
		kind = tokBracket
	case '.':
		kind = tokDot
	case ',':
		kind = tokComma
	default:
		return s.invalid(rest)
	}
	s.pos++
	return token{kind: kind, start: start, end: s.pos}
}

// invalid reports a character that cannot begin a token, with a hint for syntax of
// other languages.
func (s *scanner) invalid(rest string) token {
	switch {
	case strings.HasPrefix(rest, "=~"):
		return s.fail(s.pos, `unknown operator "=~"`, "write matches")
	case rest[0] == '=':
		return s.fail(s.pos, `unknown operator "="`, "write ==")
	case rest[0] == '&':
		return s.fail(s.pos, `unknown operator "&"`, "write &&")
	case rest[0] == '|':
		return s.fail(s.pos, `unknown operator "|"`, "write ||")
	}
	_, n := utf8.DecodeRuneInString(rest)
	return s.fail(s.pos, "unexpected character "+quoteCode(rest[:n]), "")
}

// quoteCode quotes a piece of an expression for a message.
func quoteCode(s string) string {
	if strings.ContainsRune(s, '"') {
		return "'" + s + "'"
	}
	return `"` + s + `"`
}

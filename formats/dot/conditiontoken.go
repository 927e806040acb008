package dot

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clauseKind says what a token of a condition is.
type clauseKind uint8

const (
	clauseEnd    clauseKind = iota
	clauseWord              // anything without blanks, quotes and the signs of operators
	clauseQuoted            // "a text", quotes included
	clauseSign              // = != < <= > >=
	clauseAnd               // &&
	clauseOr                // ||
	clauseNot               // !
	clauseBad               // a single & or |, and a text that is never closed
)

// clauseToken is a piece of a condition.
type clauseToken struct {
	kind clauseKind
	text string
	at   int // its offset
}

func (t clauseToken) end() int { return t.at + len(t.text) }

// unquoted returns the text that a word or a text in quotes stands for. \" and \\ are a
// quote and a backslash there; before other signs a backslash stays, for patterns.
func (t clauseToken) unquoted() string {
	if t.kind != clauseQuoted {
		return t.text
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(t.text[1 : len(t.text)-1])
}

// conditionScanner cuts a condition into tokens.
type conditionScanner struct {
	src string
	pos int
}

func (s *conditionScanner) next() clauseToken {
	for s.pos < len(s.src) {
		r, n := utf8.DecodeRuneInString(s.src[s.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		s.pos += n
	}
	rest := s.src[s.pos:]
	kind, n := clauseEnd, 0
	switch {
	case rest == "":
	case rest[0] == '"':
		kind, n = scanQuoted(rest)
	case strings.HasPrefix(rest, "&&"):
		kind, n = clauseAnd, 2
	case strings.HasPrefix(rest, "||"):
		kind, n = clauseOr, 2
	case strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, ">="):
		kind, n = clauseSign, 2
	case strings.IndexByte("=<>", rest[0]) >= 0:
		kind, n = clauseSign, 1
	case rest[0] == '!':
		kind, n = clauseNot, 1
	case rest[0] == '&' || rest[0] == '|':
		kind, n = clauseBad, 1
	default:
		if kind, n = clauseWord, strings.IndexFunc(rest, endsWord); n < 0 {
			n = len(rest)
		}
	}
	t := clauseToken{kind: kind, text: rest[:n], at: s.pos}
	s.pos += n
	return t
}

// endsWord reports whether a word stops before a character.
func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`=!<>&|"`, r) }

// scanQuoted measures a text in quotes. One that is never closed takes the rest.
func scanQuoted(s string) (clauseKind, int) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return clauseQuoted, i + 1
		}
	}
	return clauseBad, len(s)
}

package condition

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clauseKind is the kind of a token in a condition.
type clauseKind uint8

const (
	clauseEnd    clauseKind = iota
	clauseWord              // any characters except spaces, quotes and characters of operators
	clauseQuoted            // a string, including its quotes
	clauseSign              // = != < <= > >=
	clauseAnd               // &&
	clauseOr                // ||
	clauseNot               // !
	clauseBad               // a single & or |, or a string that is never closed
)

// clauseToken is a token of a condition.
type clauseToken struct {
	kind clauseKind
	text string
	at   int // offset in the condition
}

func (t clauseToken) end() int { return t.at + len(t.text) }

// unquoted returns the value of a word or quoted string. In a quoted string, \" is a
// quote and \\ is a backslash. Before other characters a backslash is kept, for regular
// expressions.
func (t clauseToken) unquoted() string {
	if t.kind != clauseQuoted {
		return t.text
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(t.text[1 : len(t.text)-1])
}

// conditionScanner splits a condition into tokens.
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

// endsWord reports whether a character ends a word.
func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`=!<>&|"`, r) }

// scanQuoted returns the kind and length of the quoted string at the start of s. A
// string that is never closed extends to the end.
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

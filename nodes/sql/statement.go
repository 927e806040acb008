package sql

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// statement is an SQL statement with parameters written as :name, together with its text in
// the form that the database expects. Values are sent separately and never become part of
// the text.
type statement struct {
	src  source.Text
	text string
	// params are the names of the parameters, numbered from 1 by the database.
	params []string
	first  []int // the offset of the first occurrence of each
	// tokens are the first tokens of the statement: words in lower case, and quoted names
	// without quotes.
	tokens []string
	// cuts are the places where the offsets of the two texts diverge.
	cuts []cut
}

// cut says that the byte at offset in of the source is at offset out of the text.
type cut struct{ in, out int }

// fault is an error in a statement.
type fault struct {
	offset  int
	message string
	hint    string
}

// dialect describes the parts of a database's SQL syntax that are needed to find
// parameters.
type dialect struct {
	mark        string // the prefix of a parameter's number
	postgres    bool   // dollar quotes, E'...', nested comments
	otherParams string // the first characters of other forms of parameters
}

var (
	sqliteDialect   = dialect{mark: "?", otherParams: "?@$:"}
	postgresDialect = dialect{mark: "$", postgres: true, otherParams: "$"}
)

// parameter returns a parameter with a number.
func (d dialect) parameter(n int) string { return d.mark + strconv.Itoa(n) }

// parseStatement finds the parameters of one statement. It skips string literals, quoted
// names and comments.
func parseStatement(src source.Text, d dialect) (*statement, []fault) {
	s := &scanner{dialect: d, src: src.Value, out: &statement{src: src}}
	s.statement()
	s.out.text = s.text.String()
	return s.out, s.faults
}

// source returns the offset in the source of the byte at an offset in the text.
func (s *statement) source(offset int) int {
	last := cut{}
	for _, c := range s.cuts {
		if c.out > offset {
			break
		}
		last = c
	}
	return min(last.in+offset-last.out, len(s.src.Value))
}

// offset returns the offset of the first occurrence of a parameter.
func (s *statement) offset(param string) int { return s.first[slices.Index(s.params, param)] }

// scanner scans a statement.
type scanner struct {
	dialect
	src    string
	at     int
	text   strings.Builder
	out    *statement
	faults []fault
	ended  bool // a semicolon was found
}

func (s *scanner) fault(offset int, message, hint string) {
	s.faults = append(s.faults, fault{offset, message, hint})
}

// template matches what looks like a template; {{1,2},{3,4}} is an array.
var template = lazyregexp.New(`\{\{\s*[$\pL_][^{}]*\}\}`)

func (s *scanner) statement() {
	if i := template.FindStringIndex(s.src); i != nil {
		s.fault(i[0], "a template in SQL would let data become code", "write :name for a value and add args: {name: $.field}; for an array put a blank between the braces")
		return
	}
	seen := false
	for s.at < len(s.src) {
		start := s.at
		if s.blank() {
			s.keep(start)
			continue
		}
		if s.ended {
			s.fault(start, "more than one statement", "make a list of them under exec; they run in one transaction")
			return
		}
		if s.src[s.at] == ';' {
			s.at++ // leave out the semicolon, since only blanks and comments may follow
			s.ended = true
			continue
		}
		seen = true
		if !s.param() {
			s.token()
			s.keep(start)
		}
	}
	if !seen {
		s.fault(0, "there is no statement", "")
	}
}

// keep copies everything since start to the text.
func (s *scanner) keep(start int) { s.text.WriteString(s.src[start:s.at]) }

// blank skips blanks or a comment.
func (s *scanner) blank() bool {
	rest := s.src[s.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		s.at += n
		return true
	case strings.HasPrefix(rest, "/*"):
		s.comment()
		return true
	}
	n := len(rest) - len(strings.TrimLeft(rest, " \t\r\n\f\v"))
	s.at += n
	return n > 0
}

// comment skips a block comment, which may be nested in PostgreSQL.
func (s *scanner) comment() {
	start, depth := s.at, 0
	for s.at < len(s.src) {
		switch rest := s.src[s.at:]; {
		case strings.HasPrefix(rest, "/*") && (depth == 0 || s.postgres):
			depth++
			s.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.at += 2
			if depth == 0 {
				return
			}
		default:
			s.at++
		}
	}
	s.fault(start, "a comment without end", "")
}

// param replaces a parameter, and reports parameters of other forms.
func (s *scanner) param() bool {
	rest := s.src[s.at:]
	if strings.HasPrefix(rest, "::") { // a cast
		return false
	}
	name := word(rest[1:])
	switch {
	case rest[0] == ':' && name != "" && !isDigit(name[0]):
		s.named(name)
		return true
	case rest[0] == ':' && s.postgres: // the bound of an array slice
		return false
	case !strings.ContainsRune(s.otherParams, rune(rest[0])):
		return false
	case s.postgres && (name == "" || !isDigit(name[0])): // $tag$, or an operator
		return false
	}
	s.fault(s.at, "a parameter is written :name", "write :name and add args: {name: $.field}")
	s.at += 1 + len(name)
	return true
}

func (s *scanner) named(name string) {
	n := slices.Index(s.out.params, name)
	if n < 0 {
		n = len(s.out.params)
		s.out.params = append(s.out.params, name)
		s.out.first = append(s.out.first, s.at)
	}
	s.text.WriteString(s.parameter(n + 1))
	s.at += 1 + len(name)
	s.out.cuts = append(s.out.cuts, cut{s.at, s.text.Len()})
}

// maxTokens limits the number of tokens that are kept to classify a statement, except for
// COPY.
const maxTokens = 8

// token skips a string literal, a quoted name, a word or a single character.
func (s *scanner) token() {
	start := s.at
	s.skipToken()
	if len(s.out.tokens) < maxTokens || s.out.tokens[0] == "copy" {
		s.out.tokens = append(s.out.tokens, strings.ToLower(strings.Trim(s.src[start:s.at], "'\"`[]")))
	}
}

func (s *scanner) skipToken() {
	rest := s.src[s.at:]
	switch c := rest[0]; {
	case c == '\'':
		s.quoted(1, "'", false)
	case c == '"':
		s.quoted(1, `"`, false)
	case !s.postgres && c == '`':
		s.quoted(1, "`", false)
	case !s.postgres && c == '[':
		s.quoted(1, "]", false)
	case s.postgres && (c == 'e' || c == 'E') && len(rest) > 1 && rest[1] == '\'':
		s.quoted(2, "'", true)
	case s.postgres && c == '$' && s.dollar():
	case strings.HasPrefix(rest, "::"):
		s.at += 2
	default:
		if s.name() { // skip the whole word, so that an e at its end does not begin a string literal
			return
		}
		_, n := utf8.DecodeRuneInString(rest)
		s.at += n
	}
}

// name skips a word, which may contain a $.
func (s *scanner) name() bool {
	start := s.at
	for {
		n := len(word(s.src[s.at:]))
		s.at += n
		if n == 0 && s.at == start || !strings.HasPrefix(s.src[s.at:], "$") {
			return s.at > start
		}
		s.at++
	}
}

// quoted skips a quoted string. A doubled closing quote is part of the string. With
// escapes, a backslash escapes the next character.
func (s *scanner) quoted(open int, closing string, escapes bool) {
	start := s.at
	s.at += open
	for s.at < len(s.src) {
		rest := s.src[s.at:]
		switch {
		case escapes && rest[0] == '\\':
			s.at += min(2, len(rest))
		case strings.HasPrefix(rest, closing+closing) && closing != "]":
			s.at += 2
		case strings.HasPrefix(rest, closing):
			s.at++
			return
		default:
			s.at++
		}
	}
	s.fault(start, "a quote without end", "")
}

// dollar skips a string literal between two $tag$.
func (s *scanner) dollar() bool {
	rest := s.src[s.at:]
	tag := word(rest[1:])
	open := "$" + tag + "$"
	if !strings.HasPrefix(rest, open) {
		return false
	}
	end := strings.Index(rest[len(open):], open)
	if end < 0 {
		s.fault(s.at, "a quote without end", "")
		s.at = len(s.src)
		return true
	}
	s.at += len(open) + end + len(open)
	return true
}

// word returns the letters, digits and underscores that a string begins with.
func word(s string) string {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return s[:i]
		}
	}
	return s
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

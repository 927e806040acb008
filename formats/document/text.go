package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// scalarContext is the context of a scalar: on its own line, in brackets, or as a key.
type scalarContext uint8

const (
	inBlock scalarContext = iota
	inFlow
	asKey
)

// text formats a string as a scalar: plain if every YAML parser reads that as the same
// string, else in double quotes.
func (p *printer) text(s string, where scalarContext) string {
	if !utf8.ValidString(s) {
		p.fail("string %q is not valid UTF-8", s)
	}
	if plain(s, where) {
		return s
	}
	return quote(s)
}

var (
	// A string needs no quotes if it begins like this ...
	plainStart = lazyregexp.New(`^(?:[A-Za-z_$/(]|\.{1,2}/)`)
	// ... or is a version, a duration or another name that begins with a digit.
	plainDigits = lazyregexp.New(`^[0-9]+[0-9A-Za-z.]*$`)
	version     = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)
)

// constants are booleans or null. yaml11Booleans are booleans only in YAML 1.1, so they
// are quoted as values. A key is quoted only if it has to be.
var (
	constants      = []string{"true", "false", "null"}
	yaml11Booleans = []string{"yes", "no", "on", "off"}
)

func plain(s string, where scalarContext) bool {
	switch {
	case plainDigits.MatchString(s):
		return version.MatchString(s) || isDigitName(s)
	case !plainStart.MatchString(s), strings.HasSuffix(s, " "), strings.HasSuffix(s, ":"),
		strings.Contains(s, ": "), strings.Contains(s, " #"),
		where != inBlock && strings.ContainsAny(s, ",[]{}:?"),
		where == asKey && strings.Contains(s, " "),
		isOneOf(s, constants), where != asKey && isOneOf(s, yaml11Booleans):
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func isOneOf(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(s, w) })
}

// isDigitName reports whether the library reads a word that begins with a digit as a
// string, and the word has a letter that does not occur in numbers.
func isDigitName(s string) bool {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == "!!str" && strings.ContainsAny(s, "ghijklmnpqrstuvwyzGHIJKLMNPQRSTUVWYZ")
}

// quote formats a string in double quotes on one line.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literal reports whether a multi-line string can be printed as a block that reads back
// exactly.
func literal(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(s, "\n") || strings.HasPrefix(s, " ") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\t") {
			return false
		}
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(body, func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\t'
	})
}

func (p *printer) literal(s string, indent int) {
	body, ended := strings.CutSuffix(s, "\n")
	p.b.WriteString("|")
	if !ended {
		p.b.WriteString("-")
	}
	p.b.WriteByte('\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			p.spaces(indent)
			p.b.WriteString(line)
		}
		p.b.WriteByte('\n')
	}
}

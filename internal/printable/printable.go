// Package printable makes strings of unknown origin safe to print: on a terminal, and in
// drawings and other files that may be shown on one.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes a string safe to print on one line. Line breaks and tabs become spaces.
// Characters that a terminal could interpret as a command, and invisible characters, are
// escaped as in Go string literals: \x1b, \u009b, \u202e, and \xff for a byte that is not
// valid UTF-8.
func Line(s string) string {
	if isSafe(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !Harmful(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isSafe(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return utf8.ValidString(s) && strings.IndexFunc(s, Harmful) < 0
		}
	}
	return true
}

// Harmful reports whether a character is a terminal command (C0, DEL, C1), ends a line for
// some programs, or is invisible and may reverse the reading direction or hide a difference
// between two names. The joiners are invisible too, but scripts and emoji need them.
func Harmful(r rune) bool {
	const (
		nonJoiner, joiner = '\u200c', '\u200d'
	)
	switch {
	case r == nonJoiner || r == joiner:
		return false
	case r == '\u2028' || r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}

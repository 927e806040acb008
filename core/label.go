package core

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NormalLabel is the form in which labels of edges are compared: without blanks around
// it, in lower case, and without the accelerator before it. That is "[...]" of any length,
// or one letter or digit followed by ")" or " - ". Only one of them is taken away, and
// none that is all there is.
func NormalLabel(label string) string {
	s := strings.ToLower(strings.TrimSpace(label))
	if rest := strings.TrimSpace(s[prefix(s):]); rest != "" {
		return rest
	}
	return s
}

// prefix is how long the accelerator is that NormalLabel leaves out.
func prefix(s string) int {
	if strings.HasPrefix(s, "[") {
		return strings.IndexByte(s, ']') + 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if !alphanumeric(r) {
		return 0
	}
	switch rest := s[n:]; {
	case strings.HasPrefix(rest, ")"):
		return n + len(")")
	case strings.HasPrefix(rest, " - "):
		return n + len(" - ")
	}
	return 0
}

// maxKey is how many letters and digits a key may have that is not in brackets.
const maxKey = 3

// Accelerator is the key by which people pick a label: K of "[K] text", else of
// "K) text" or "K - text" with up to three letters and digits, else its first character.
// It is "" only for a label without any.
func Accelerator(label string) string {
	s := strings.TrimSpace(label)
	if strings.HasPrefix(s, "[") {
		if end := strings.IndexByte(s, ']'); end > 0 {
			if key := strings.TrimSpace(s[1:end]); key != "" {
				return key
			}
		}
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !alphanumeric(r) })
	if end > 0 && utf8.RuneCountInString(s[:end]) <= maxKey {
		if rest := s[end:]; strings.HasPrefix(rest, ") ") || strings.HasPrefix(rest, " - ") {
			return s[:end]
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

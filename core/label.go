package core

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NormalLabel returns the form in which labels of edges are compared: lower case, without
// surrounding blanks and without the accelerator at the beginning. An accelerator is
// "[...]" of any length, or one letter or digit followed by ")" or " - ". Only one
// accelerator is removed, and none if nothing else would be left.
func NormalLabel(label string) string {
	s := strings.ToLower(strings.TrimSpace(label))
	if rest := strings.TrimSpace(s[prefix(s):]); rest != "" {
		return rest
	}
	return s
}

// prefix returns the length of the accelerator that NormalLabel removes.
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

// maxKey limits the number of letters and digits of a key that is not in brackets.
const maxKey = 3

// Accelerator returns the key by which people choose a label: K of "[K] text", of "K) text"
// or of "K - text" with up to three letters and digits; otherwise its first character. It
// is "" only if the label is empty.
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

// Package secret keeps secrets out of output for people: it masks their values in log
// lines, error messages, events and reports. It does not detect secrets; workflows declare
// them by references.
package secret

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Mask replaces a secret.
const Mask = "***"

// MinLength is the minimum length in bytes of a secret that is masked. Shorter values occur
// in many strings by chance; masking them would make the strings unreadable and reveal the
// secret.
const MinLength = 4

// Masker masks secrets in strings. The zero Masker masks nothing. It is immutable and safe
// for concurrent use.
type Masker struct {
	values   []string // longest first, so that a secret that contains another one is masked as a whole
	replacer *strings.Replacer
}

// NewMasker returns a masker of the given values. Each line of a value of several lines,
// such as a key file, is also masked on its own, because logs are split at line ends.
// Values are masked in all of their representations, see forms. Values and lines shorter
// than Shortest are not masked.
func NewMasker(values ...string) Masker {
	var all []string
	for _, v := range values {
		all = append(all, forms(v)...)
		if strings.ContainsAny(v, "\r\n") {
			for _, line := range strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
				all = append(all, forms(line)...)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	all = slices.Compact(all)
	if len(all) == 0 {
		return Masker{}
	}
	pairs := make([]string, 0, 2*len(all))
	for _, v := range all {
		pairs = append(pairs, v, Mask)
	}
	return Masker{values: all, replacer: strings.NewReplacer(pairs...)}
}

// MaskerOf returns a masker of the current values of secret references.
func MaskerOf(refs []core.Secret) Masker {
	var values []string
	for _, r := range refs {
		if v, ok := r.Read(); ok {
			values = append(values, v)
		}
	}
	return NewMasker(values...)
}

// Check returns warnings about secrets that are too short to be masked.
func Check(refs []core.Secret) source.Diagnostics {
	var ds source.Diagnostics
	for _, r := range refs {
		if v, ok := r.Read(); ok && v != "" && len(forms(v)) == 0 {
			ds.Warnf(source.CodeShortSecret, r.Name.Pos, "the secret %s has fewer than %d characters and cannot be hidden in what is printed", r.Name.Value, MinLength)
		}
	}
	return ds
}

// None reports whether there is nothing to mask.
func (m Masker) None() bool { return m.replacer == nil }

// Text returns s with every secret masked. It also masks the beginning of a secret before
// an ellipsis, where a program has truncated it.
func (m Masker) Text(s string) string {
	if m.replacer == nil {
		return s
	}
	s = m.replacer.Replace(s)
	for _, dots := range ellipses {
		if !strings.Contains(s, dots) {
			continue
		}
		parts := strings.Split(s, dots)
		for i := range parts[:len(parts)-1] {
			parts[i] = m.maskTruncated(parts[i])
		}
		s = strings.Join(parts, dots)
	}
	return s
}

// ellipses lists the strings by which programs mark truncation: the character, unchanged
// and escaped, and three dots.
var ellipses = []string{"…", `\u2026`, "..."}

// closingChars lists the characters that may occur between truncated text and the ellipsis:
// white space, closing quotes and closing brackets.
const closingChars = " \t\"'`)]}>\\"

// maskTruncated masks the beginning of a secret at the end of a string.
func (m Masker) maskTruncated(s string) string {
	text := strings.TrimRight(s, closingChars)
	for _, v := range m.values {
		if len(v) <= MinLength {
			continue
		}
		tail := max(0, len(text)-len(v)+1)
		for at := tail; ; at++ {
			i := strings.Index(text[at:], v[:MinLength])
			if i < 0 {
				break
			}
			if at += i; strings.HasPrefix(v, text[at:]) {
				return text[:at] + Mask + s[len(text):]
			}
		}
	}
	return s
}

// MaxLength returns the length in bytes of the longest secret. Callers that truncate a string
// keep that many more bytes until it has been masked, so that no secret is cut in two and
// shown in part.
func (m Masker) MaxLength() int {
	if len(m.values) == 0 {
		return 0
	}
	return len(m.values[0])
}

// Error returns an error with a masked message. errors.Is still finds the causes of err,
// but its message is not accessible. An error without secrets is returned unchanged.
func (m Masker) Error(err error) error {
	if err == nil {
		return nil
	}
	if text := m.Text(err.Error()); text != err.Error() {
		return &maskedError{text: text, err: err}
	}
	return err
}

// maskedError passes errors.Is on to the hidden error but does not unwrap to it: code that
// prints each error of the chain must not print the secret.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string        { return e.text }
func (e *maskedError) Is(target error) bool { return errors.Is(e.err, target) }

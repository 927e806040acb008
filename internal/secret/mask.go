// Package secret keeps secrets out of what people read: it replaces their
// values in log lines, error texts, events and reports. It never looks for secrets
// by itself; who refers to one says so.
package secret

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Mask is what is shown in place of a secret.
const Mask = "***"

// Shortest is the length in bytes of the shortest secret that is masked. A shorter
// one stands in so many texts by chance that masking it would make them unreadable,
// and would give it away.
const Shortest = 4

// Masker replaces secrets in texts. The zero Masker replaces nothing. It is
// immutable and safe for concurrent use.
type Masker struct {
	values   []string // longest first, so that a secret inside another one does not spoil it
	replacer *strings.Replacer
}

// NewMasker returns a masker of the given values. A value of several lines, such
// as a key file, is also masked line by line, because logs are cut at line ends.
// Each is also masked as it looks where messages show it, see forms. Values and
// lines shorter than Shortest are left out.
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

// MaskerOf returns a masker of secrets by their references, as they are now.
func MaskerOf(refs []core.Secret) Masker {
	var values []string
	for _, r := range refs {
		if v, ok := r.Read(); ok {
			values = append(values, v)
		}
	}
	return NewMasker(values...)
}

// Check warns of secrets that are too short to be masked.
func Check(refs []core.Secret) core.Diagnostics {
	var ds core.Diagnostics
	for _, r := range refs {
		if v, ok := r.Read(); ok && v != "" && len(forms(v)) == 0 {
			ds.Warnf(core.CodeShortSecret, r.Name.Pos, "the secret %s has fewer than %d characters and cannot be hidden in what is printed", r.Name.Value, Shortest)
		}
	}
	return ds
}

// None reports whether there is nothing to mask.
func (m Masker) None() bool { return m.replacer == nil }

// Text returns s with every secret replaced, also one that was cut short: its
// beginning before an ellipsis.
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
			parts[i] = m.cutShort(parts[i])
		}
		s = strings.Join(parts, dots)
	}
	return s
}

// ellipses are how programs write that something is left out: the character, as it is and
// escaped, and three dots.
var ellipses = []string{"…", `\u2026`, "..."}

// closing are what may stand between a text that was cut and the ellipsis: blanks, and the
// ends of quotes and brackets.
const closing = " \t\"'`)]}>\\"

// cutShort replaces the beginning of a secret at the end of a text.
func (m Masker) cutShort(s string) string {
	text := strings.TrimRight(s, closing)
	for _, v := range m.values {
		if len(v) <= Shortest {
			continue
		}
		tail := max(0, len(text)-len(v)+1)
		for at := tail; ; at++ {
			i := strings.Index(text[at:], v[:Shortest])
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

// Longest returns the length in bytes of the longest secret. Whoever cuts a text
// keeps that many bytes more until it is masked, so that no secret is cut in
// two and shown by halves.
func (m Masker) Longest() int {
	if len(m.values) == 0 {
		return 0
	}
	return len(m.values[0])
}

// Error returns an error with a masked text. errors.Is still finds the causes of
// err; its own text is gone. An error without secrets is returned as it is.
func (m Masker) Error(err error) error {
	if err == nil {
		return nil
	}
	if text := m.Text(err.Error()); text != err.Error() {
		return &maskedError{text: text, err: err}
	}
	return err
}

// maskedError answers errors.Is through the hidden error but does not unwrap to
// it: whoever walks the chain and prints each link must not meet the secret.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string        { return e.text }
func (e *maskedError) Is(target error) bool { return errors.Is(e.err, target) }

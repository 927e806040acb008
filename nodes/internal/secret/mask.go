// Package secret keeps secrets out of what people read: it replaces their
// values in log lines and error texts. It never looks for secrets by itself;
// who reads one from the environment says so.
package secret

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Mask is what is shown in place of a secret.
const Mask = "***"

// Masker replaces secrets in texts. The zero Masker replaces nothing. It is
// immutable and safe for concurrent use.
type Masker struct {
	values   []string // longest first, so that a secret inside another one does not spoil it
	replacer *strings.Replacer
}

// NewMasker returns a masker of the given values. A value of several lines, such
// as a key file, is also masked line by line, because logs are cut at line ends.
// Each is also masked as it looks where messages show it: without control
// characters and outer blanks, and in quotes, where some characters are escaped.
// Empty values and blank lines are left out: masking them would shred any text.
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
	all = slices.DeleteFunc(all, func(v string) bool { return strings.TrimSpace(v) == "" })
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

// forms lists how a value may look in a text.
func forms(v string) []string {
	shown := Clean(v)
	out := []string{v, shown, strings.TrimSpace(shown)}
	for _, s := range out[:3:3] {
		quoted := strconv.Quote(s)
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}

// Clean makes a text fit for a log: valid UTF-8, no control characters but tabs.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Text returns s with every secret replaced.
func (m Masker) Text(s string) string {
	if m.replacer == nil {
		return s
	}
	return m.replacer.Replace(s)
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

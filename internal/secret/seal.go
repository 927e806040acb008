package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// Sealer replaces secrets in strings by their names, and names by the values that the secrets have
// now. Unlike a Masker it loses nothing: Open is the inverse of Seal as long as the values are the
// same. Journals are written with it. The zero Sealer seals nothing, and opens strings without
// secrets. A Sealer is immutable and safe for concurrent use.
//
// A secret named TOKEN becomes "\x00secret:TOKEN\x00". An encoded form of its value becomes
// "\x00secret:FORM:TOKEN\x00", where FORM is json, url, hex or base64 and a number.
type Sealer struct {
	forms   []sealed // longest first
	numbers map[string]string
	opened  map[string]string // by the part of the marker between the colon and its end
	replace *strings.Replacer
	hides   bool // Open masks
}

// sealed is a form of a value and the reference that replaces it.
type sealed struct{ text, ref string }

const (
	sealStart = "\x00secret:"
	sealEnd   = "\x00"
	// sealLiteral replaces sealStart in a string that contains it already.
	sealLiteral = sealStart + sealEnd
)

// SealerOf returns a sealer of the current values of secret references. Values shorter than
// MinLength are not sealed.
func SealerOf(refs []core.Secret) Sealer {
	values := map[string]string{}
	for _, r := range refs {
		if v, ok := r.Read(); ok {
			values[r.Name.Value] = v
		}
	}
	return NewSealer(values)
}

// NewSealer returns a sealer of values by name. Of two secrets with the same value, the name that
// sorts first is used.
func NewSealer(values map[string]string) Sealer {
	s := Sealer{opened: map[string]string{}, numbers: map[string]string{}}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := values[name]
		if len(strings.TrimSpace(v)) < MinLength {
			continue
		}
		if _, taken := s.numbers[v]; !taken {
			s.numbers[v] = name
		}
		for _, f := range sealedForms(name, v) {
			if _, ok := s.opened[f.ref]; !ok && len(f.text) >= MinLength {
				s.opened[f.ref] = f.text
				s.forms = append(s.forms, f)
			}
		}
	}
	slices.SortStableFunc(s.forms, func(a, b sealed) int { return cmp.Compare(len(b.text), len(a.text)) })
	if len(s.forms) > 0 {
		pairs := make([]string, 0, 2*len(s.forms)+2)
		pairs = append(pairs, sealStart, sealLiteral)
		for _, f := range s.forms {
			pairs = append(pairs, f.text, sealStart+f.ref+sealEnd)
		}
		s.replace = strings.NewReplacer(pairs...)
	}
	return s
}

// sealedForms returns the forms of a value that are replaced. A reference contains the
// index of the form within its kind, so that index must be the same in all versions.
func sealedForms(name, v string) []sealed {
	list := []sealed{{v, name}}
	add := func(kind string, texts ...string) {
		for i, text := range texts {
			list = append(list, sealed{text, kind + strconv.Itoa(i) + ":" + name})
		}
	}
	trimmed := strings.TrimSpace(v)
	add("text", Clean(v), trimmed)
	add("json", append([]string{unquoted(jsonOf(v, true)), unquoted(jsonOf(v, false)), unquoted(strconv.Quote(v))}, foreignJSON(v)...)...)
	var urls []string
	for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v), url.QueryEscape(trimmed), url.PathEscape(trimmed)} {
		urls = append(urls, escaped, lowerEscapes.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	add("url", urls...)
	code := hex.EncodeToString([]byte(v))
	add("hex", code, strings.ToUpper(code))
	add("base64", base64Parts(v)...)
	for i, line := range strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line != v {
			add("line"+strconv.Itoa(i)+"_", line)
		}
	}
	return list
}

// base64Parts lists the base64 forms of a value, on its own and at each offset in longer data, each
// at a fixed place of the list; see base64Forms.
func base64Parts(v string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, enc.EncodeToString([]byte(v)))
	}
	for before := range 3 {
		padded := append(make([]byte, before), v...)
		from, to := (8*before+5)/6, 8*len(padded)/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			part := ""
			if to-from >= minBase64Part {
				part = enc.EncodeToString(padded)[from:to]
			}
			out = append(out, part)
		}
	}
	return out
}

// OpenerOf returns a sealer for reading only. It is SealerOf if all references have values, and else a
// sealer that opens sealed secrets as Mask.
func OpenerOf(refs []core.Secret) Sealer {
	for _, r := range refs {
		if v, ok := r.Read(); !ok || v == "" {
			return Sealer{hides: true}
		}
	}
	return SealerOf(refs)
}

// Hides reports whether the sealer opens sealed secrets as Mask.
func (s Sealer) Hides() bool { return s.hides }

// None reports whether there is nothing to seal.
func (s Sealer) None() bool { return s.replace == nil }

// Seal returns a string without the values of secrets. A string without secrets is returned as it
// is, unless it contains what looks like a sealed secret.
func (s Sealer) Seal(text string) string {
	if s.replace != nil {
		return s.replace.Replace(text)
	}
	if strings.Contains(text, sealStart) {
		return strings.ReplaceAll(text, sealStart, sealLiteral)
	}
	return text
}

// Number returns the name of the secret whose value is a number with the given digits, or "" if
// there is none.
func (s Sealer) Number(digits string) string { return s.numbers[digits] }

// Open is the inverse of Seal. The error is a *MissingError if a secret has no value now.
func (s Sealer) Open(text string) (string, error) {
	if !strings.Contains(text, sealStart) {
		return text, nil
	}
	if s.hides {
		return Hide(text), nil
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, sealStart)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		ref, rest, ok := strings.Cut(after, sealEnd)
		if !ok {
			return "", fmt.Errorf("a sealed secret has no end: %q", text)
		}
		text = rest
		if ref == "" {
			out.WriteString(sealStart)
			continue
		}
		v, ok := s.opened[ref]
		if !ok {
			return "", &MissingError{Name: ref[strings.LastIndexByte(ref, ':')+1:]}
		}
		out.WriteString(v)
	}
}

// Value returns the value of a secret by name, for numbers that were sealed. The error is a
// *MissingError if the secret has no value now.
func (s Sealer) Value(name string) (string, error) {
	v, ok := s.opened[name]
	if !ok {
		return "", &MissingError{Name: name}
	}
	return v, nil
}

// MissingError is the error of Sealer.Open if a sealed secret has no value now, or one that has
// another form than the sealed one.
type MissingError struct{ Name string }

// Error returns the message.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the stored run needs the secret %[1]s: set the environment variable %[1]s to the value that it had", e.Name)
}

// Hide replaces sealed secrets by Mask, for readers of a journal who do not have their values.
// Strings that only looked like a sealed secret are restored.
func Hide(text string) string {
	if !strings.Contains(text, sealStart) {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, sealStart)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		ref, rest, ok := strings.Cut(after, sealEnd)
		switch {
		case ok && ref == "":
			out.WriteString(sealStart)
		default:
			out.WriteString(Mask)
		}
		text = rest
	}
}

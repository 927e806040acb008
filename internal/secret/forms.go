package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// forms lists the representations of a value that are masked: unchanged, without control
// characters, and without surrounding white space, each of them also as escaped in Go and
// JSON strings; and encoded for a URL, in base64 and in hexadecimal. A value that is too
// short to be masked has none.
func forms(v string) []string {
	if len(strings.TrimSpace(v)) < MinLength {
		return nil
	}
	cleaned := Clean(v)
	trimmed := strings.TrimSpace(cleaned)
	var out []string
	for _, s := range []string{v, cleaned, trimmed} {
		out = append(out, s, unquoted(strconv.Quote(s)), unquoted(jsonOf(s, true)), unquoted(jsonOf(s, false)))
		out = append(out, foreignJSON(s)...)
	}
	for _, s := range []string{v, strings.TrimSpace(v)} {
		for _, escaped := range []string{url.QueryEscape(s), url.PathEscape(s)} {
			out = append(out, escaped, lowerEscapes.ReplaceAllStringFunc(escaped, strings.ToLower))
		}
		code := hex.EncodeToString([]byte(s))
		out = append(out, code, strings.ToUpper(code))
		out = append(out, base64Forms(s)...)
	}
	var long []string
	for _, s := range out {
		if len(s) >= MinLength {
			long = append(long, s)
		}
	}
	return long
}

var lowerEscapes = lazyregexp.New(`%[0-9A-F]{2}`)

func jsonOf(s string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// foreignJSON lists the content of the JSON strings that other languages write by default: ASCII
// only (Python), with escaped slashes (PHP can write these with or without other characters).
func foreignJSON(s string) []string {
	plain := unquoted(jsonOf(s, false))
	var b strings.Builder
	for _, r := range plain {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	ascii := b.String()
	return []string{ascii, strings.ReplaceAll(ascii, "/", `\/`), strings.ReplaceAll(plain, "/", `\/`)}
}

// unquoted removes the quotes.
func unquoted(quoted string) string { return quoted[1 : len(quoted)-1] }

// minBase64Part is the minimum length of a part of a longer base64 string that is masked.
const minBase64Part = 6

// base64Forms lists the base64 encodings of a value: on its own, and as part of longer
// data, at each of the three byte offsets, as in "user:password". Characters that depend on
// adjacent bytes are left out.
func base64Forms(v string) []string {
	var out []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, enc.EncodeToString([]byte(v)))
	}
	for before := range 3 {
		padded := append(make([]byte, before), v...)
		from := (8*before + 5) / 6
		to := 8 * len(padded) / 6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if to-from >= minBase64Part {
				out = append(out, enc.EncodeToString(padded)[from:to])
			}
		}
	}
	return out
}

// Clean makes a string suitable for a log: valid UTF-8 without control characters other
// than tabs.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

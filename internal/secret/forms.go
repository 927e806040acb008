package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// forms lists how a value may look in a text: as it is, without control characters
// and outer blanks, each of them also in the quotes of Go and of JSON, where some
// characters are escaped; and encoded for an address, in base64 and in hexadecimal.
// A value that is too short to be masked has none.
func forms(v string) []string {
	if len(strings.TrimSpace(v)) < Shortest {
		return nil
	}
	shown := Clean(v)
	trimmed := strings.TrimSpace(shown)
	var out []string
	for _, s := range []string{v, shown, trimmed} {
		out = append(out, s, inner(strconv.Quote(s)), inner(jsonOf(s, true)), inner(jsonOf(s, false)))
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
		if len(s) >= Shortest {
			long = append(long, s)
		}
	}
	return long
}

var lowerEscapes = regexp.MustCompile(`%[0-9A-F]{2}`)

func jsonOf(s string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inner takes the quotes away.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// shortestCode is the length of the shortest part of a longer base64 text that is
// masked.
const shortestCode = 6

// base64Forms lists how a value looks in base64: by itself, and behind one or two
// other bytes, as in "user:password". The characters that depend on what stands
// before or behind it are left out.
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
			if to-from >= shortestCode {
				out = append(out, enc.EncodeToString(padded)[from:to])
			}
		}
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

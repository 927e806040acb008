package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"größer, 日本語, 👩‍🚀, نام", "größer, 日本語, 👩‍🚀, نام"},
		{"a\nb\tc\r\nd", "a b c  d"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`},
		{"\x00\x08\x7f", `\x00\x08\x7f`},
		{"\u0085\u009b2J", `\u0085\u009b2J`},
		{"a\u202etxt.exe", `a\u202etxt.exe`},
		{"\u2066x\u2069 \u200e\u061c", `\u2066x\u2069 \u200e\u061c`},
		{"zero\u200bwidth \ufeff \u00ad \u2028", `zero\u200bwidth \ufeff \u00ad \u2028`},
		{"tag\U000e0041", `tag\U000e0041`},
		{"ab\xffcd\xc3", `ab\xffcd\xc3`},
		{"what a decoder left: \ufffd", "what a decoder left: \ufffd"},
		{`\x1b as it stands`, `\x1b as it stands`},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b]8;;http://x\x07b\u202e\xff\u009b")
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Harmful) {
			t.Errorf("%q: got %q", s, got)
		}
		if again := Line(got); again != got {
			t.Errorf("%q: %q became %q", s, got, again)
		}
		if plain := !strings.ContainsFunc(s, Harmful) && utf8.ValidString(s); plain && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

package tty

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
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
		if got := Safe(c.in); string(got) != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b]8;;http://x\x07b\u202e\xff\u009b")
	f.Fuzz(func(t *testing.T, s string) {
		got := string(Safe(s))
		if !utf8.ValidString(got) || strings.ContainsFunc(got, isHarmful) {
			t.Errorf("%q: got %q", s, got)
		}
		if again := string(Safe(got)); again != got {
			t.Errorf("%q: %q became %q", s, got, again)
		}
		if plain := !strings.ContainsFunc(s, isHarmful) && utf8.ValidString(s); plain && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestSprintf(t *testing.T) {
	red := NewPalette(true).Bad("a\x1bb")
	for _, c := range []struct{ got, want Styled }{
		{Sprintf("%s|%v|%q", "\x1b", "\n", "\x1b\u202e"), `\x1b| |"\x1b\u202e"`},
		{Sprintf("%5d|%-4s|%t|%%", 3, "a", true), "    3|a   |true|%"},
		{Sprintf("%v %s", errors.New("\x07"), 1500*time.Millisecond), `\x07 1.5s`},
		{Sprintf("%v", []string{"\x1b", "b"}), `[\x1b b]`},
		{Sprintf("%s\n", red), red + "\n"},
		{red, "\x1b[31ma\\x1bb\x1b[m"},
		{NewPalette(false).Bold("\x1b[1m"), `\x1b[1m`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// JSON means the same after it was made safe, and nothing harmful is left in it.
func TestJSON(t *testing.T) {
	in := map[string]string{"name\u202e": "\x1b\x7f\u009b\U000e0041 größer \ufeff"}
	var b strings.Builder
	enc := json.NewEncoder(JSON(&b))
	if err := enc.Encode(in); err != nil {
		t.Fatal(err)
	}
	if want := `{"name\u202e":"\u001b\u007f\u009b\udb40\udc41 größer \ufeff"}` + "\n"; b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
	var out map[string]string
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil || out["name\u202e"] != in["name\u202e"] {
		t.Errorf("%q, %v", out, err)
	}
}

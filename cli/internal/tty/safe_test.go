package tty

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

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

// The writer preserves the meaning of JSON and leaves no harmful character in it.
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

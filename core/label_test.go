package core

import (
	"strings"
	"testing"
)

func TestNormalLabel(t *testing.T) {
	for _, tt := range []struct{ label, want string }{
		{"Approve", "approve"},
		{"  Ship it\t", "ship it"},
		{"[A] Approve", "approve"},
		{"[A]Approve", "approve"},              // no blank is needed
		{"[very long key] Approve", "approve"}, // of any length
		{"[] Approve", "approve"},              // also of none
		{"[A Approve", "[a approve"},           // an unclosed bracket stays
		{"[A]", "[a]"},                         // it is all there is
		{"[a] [b] C", "[b] c"},                 // only one is taken away
		{"a) Approve", "approve"},
		{"A)Approve", "approve"},
		{"1) One", "one"},
		{"ä) Größe", "größe"},
		{"10) Ten", "10) ten"}, // of one letter or digit only
		{"a)", "a)"},
		{"a - Approve", "approve"},
		{"2 -  Two", "two"},
		{"ab - Approve", "ab - approve"},
		{"a -Approve", "a -approve"},
		{"a-b", "a-b"},
		{"a -", "a -"},
		{"-) x", "-) x"},
		{"(a) x", "(a) x"},
		{"x [A] y", "x [a] y"},
		{"", ""},
		{"  ", ""},
	} {
		if got := NormalLabel(tt.label); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.label, got, tt.want)
		}
	}
}

func TestAccelerator(t *testing.T) {
	for _, tt := range []struct{ label, want string }{
		{"[A] Approve", "A"},
		{"[Ab1c] x", "Ab1c"},
		{"[A]Approve", "A"},
		{" [ A ] Approve", "A"},
		{"[] Approve", "["}, // empty brackets are not a key
		{"[ ] Approve", "["},
		{"[A Approve", "["},
		{"[1) x] y", "1) x"}, // brackets come first
		{"Y) Yes", "Y"},
		{"10) Ten", "10"},
		{"abc) x", "abc"},
		{"abcd) x", "a"},
		{"Y)Yes", "Y"},
		{"10)Ten", "1"}, // a blank is needed
		{"Y - Yes", "Y"},
		{"N1 - No", "N1"},
		{"abcd - x", "a"},
		{"no-op", "n"},
		{"größ - x", "g"},
		{"grö - x", "grö"},
		{"Approve", "A"},
		{"approve", "a"}, // unchanged
		{"Änderung", "Ä"},
		{"-x", "-"},
		{"", ""},
		{" ", ""},
	} {
		if got := Accelerator(tt.label); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.label, got, tt.want)
		}
	}
}

// Blanks around a label do not count, and no label is lost.
func FuzzNormalLabel(f *testing.F) {
	for _, s := range []string{"[A] Approve", "a) x", "10) Ten", "[A]", "İ) x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, key := NormalLabel(s), Accelerator(s)
		if padded := " " + s + "\n"; NormalLabel(padded) != n || Accelerator(padded) != key {
			t.Errorf("%q: blanks make a difference", s)
		}
		if blank := strings.TrimSpace(s) == ""; (n == "") != blank || (key == "") != blank {
			t.Errorf("%q: became %q with key %q", s, n, key)
		}
	})
}

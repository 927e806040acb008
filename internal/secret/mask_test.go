package secret

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestMaskerText(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		in      string
		want    string
	}{
		{"none", nil, "token abc", "token abc"},
		{"one", []string{"abcd"}, "token abcd, again abcd.", "token ***, again ***."},
		{"longer first", []string{"abcd", "abcdef"}, "abcdef abcd", "*** ***"},
		{"empty value", []string{""}, "abc", "abc"},
		{"blank value", []string{" \n   "}, "a b\nc     d", "a b\nc     d"},
		{"short value", []string{"abc", "  ab ", "x\ny\nz\n"}, "abc, x", "abc, x"},
		{"short lines", []string{"{\n\"key\": 1\n}"}, "saw {\"key\": 1}", "saw ***"},
		{"go quotes", []string{"a\"b\x01\\c"}, `x: "a\"b\x01\\c"`, `x: "***"`},
		{"json", []string{"<a&b>\x01\"/"}, `{"x": "\u003ca\u0026b\u003e\u0001\"/", "y": "<a&b>\u0001\"/"}`, `{"x": "***", "y": "***"}`},
		{"json in ASCII", []string{"pä\"/😀"}, `{"python": "p\u00e4\"/\ud83d\ude00", "php": "p\u00e4\"\/\ud83d\ude00", "short": "pä\"\/😀"}`, `{"python": "***", "php": "***", "short": "***"}`},
		{"address", []string{"pass word/+ä"}, "?k=pass+word%2F%2B%C3%A4&p=/pass%20word%2F+%C3%A4 %c3%a4 k=pass+word%2f%2b%c3%a4", "?k=***&p=/*** %c3%a4 k=***"},
		{"base64", []string{"hunter2"}, "aHVudGVyMg== aHVudGVyMg xodW50ZXIyeA", "*** *** x***eA"},
		{"hexadecimal", []string{"hunter2"}, "68756e74657232 68756E74657232", "*** ***"},
		{"cut short", []string{"correct horse"}, "it said corre… and correct h …, and co…, correct", "it said ***… and *** …, and co…, correct"},
		{"three dots", []string{"correct horse"}, "it said corre... and correct h ..., and co..., correct...", "it said ***... and *** ..., and co..., ***..."},
		{"four dots and more", []string{"correct horse"}, "corre....... corre. . .", "***....... corre. . ."},
		{"escaped ellipsis", []string{"correct horse"}, `{"x": "corre\u2026"}`, `{"x": "***\u2026"}`},
		{"quoted and cut short", []string{"correct horse"}, "got \"x corre\"... (300 bytes), [corre]…, 'corre' …", "got \"x ***\"... (300 bytes), [***]…, '***' …"},
		{"cut short twice", []string{"aaaaaaaaab"}, "x aaaaaa…", "x ***…"},
		{"whole and by line", []string{"BEGIN\nlong key\r\nEND\n"}, "saw long key and BEGIN, END", "saw *** and ***, END"},
		{"twice the same", []string{"x123", "x123"}, "x123x123", "******"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewMasker(tt.secrets...).Text(tt.in); got != tt.want {
				t.Errorf("mask %q in %q: got %q, want %q", tt.secrets, tt.in, got, tt.want)
			}
		})
	}
}

func TestMaskerError(t *testing.T) {
	m := NewMasker("hunter2")
	if got := m.Error(nil); got != nil {
		t.Errorf("nil error became %v", got)
	}
	plain := errors.New("no secret here")
	if got := m.Error(plain); got != plain {
		t.Errorf("an error without secrets was replaced by %v", got)
	}
	got := m.Error(fmt.Errorf("login hunter2: %w", context.Canceled))
	if got.Error() != "login ***: context canceled" || !errors.Is(got, context.Canceled) {
		t.Errorf("got %v (is canceled: %v)", got, errors.Is(got, context.Canceled))
	}
	for e := got; e != nil; e = errors.Unwrap(e) {
		if m.Text(e.Error()) != e.Error() {
			t.Errorf("the chain still shows the secret: %v", e)
		}
	}
}

func TestLongest(t *testing.T) {
	if got := NewMasker("abcd", "abcdefghi", "ab").MaxLength(); got < 9 {
		t.Errorf("got %d, want at least 9", got)
	}
	if got := (Masker{}).MaxLength(); got != 0 {
		t.Errorf("zero masker: got %d, want 0", got)
	}
}

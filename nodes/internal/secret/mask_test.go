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
		{"one", []string{"abc"}, "token abc, again abc.", "token ***, again ***."},
		{"longer first", []string{"abc", "abcdef"}, "abcdef abc", "*** ***"},
		{"empty value", []string{""}, "abc", "abc"},
		{"blank value", []string{" \n"}, "a b\nc", "a b\nc"},
		{"whole and by line", []string{"BEGIN\nkey\r\nEND\n"}, "saw key and BEGIN", "saw *** and ***"},
		{"twice the same", []string{"x1", "x1"}, "x1x1", "******"},
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
	if got := NewMasker("ab", "abcd", "abc").Longest(); got != 4 {
		t.Errorf("got %d, want 4", got)
	}
	if got := (Masker{}).Longest(); got != 0 {
		t.Errorf("zero masker: got %d, want 0", got)
	}
}

package secret

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// TestSealIsReversible: whatever a string contains, secrets in any form included, opening the sealed
// string returns it, and the sealed string does not contain the secret.
func TestSealIsReversible(t *testing.T) {
	values := map[string]string{"A": "pass word/ä+1", "B": "pass word/ä+1 and more", "KEY": "-----BEGIN\nline one\nline two\n", "SHORT": "abc", "SAME": "pass word/ä+1"}
	s := NewSealer(values)
	parts := []string{"x", " ", "\x00", "\x00secret:", "\x00secret:A\x00", ":", "A", "abc", "\xff", "***"}
	for _, v := range values {
		parts = append(parts, v, base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte("user:"+v)), hex.EncodeToString([]byte(v)),
			strings.ToUpper(hex.EncodeToString([]byte(v))), url.QueryEscape(v), url.PathEscape(v), jsonOf(v, true), strings.TrimSpace(v))
		parts = append(parts, foreignJSON(v)...)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		sealed := s.Seal(text)
		back, err := s.Open(sealed)
		if err != nil || back != text {
			t.Fatalf("%q was sealed as %q and opened as %q, %v", text, sealed, back, err)
		}
		for name, v := range values {
			if name != "SHORT" && strings.Contains(sealed, v) {
				t.Fatalf("%q was sealed as %q", text, sealed)
			}
		}
	}
	if got := s.Seal(`{"k": "pass word/\u00e4+1"}`); got != "{\"k\": \"\x00secret:json3:A\x00\"}" {
		t.Errorf("got %q", got)
	}
	if got := s.Seal("Bearer pass word/ä+1!"); got != "Bearer \x00secret:A\x00!" {
		t.Errorf("got %q", got)
	}
}

func TestSealerWithoutTheSecret(t *testing.T) {
	sealed := NewSealer(map[string]string{"TOKEN": "hunter2"}).Seal("a hunter2 " + base64.StdEncoding.EncodeToString([]byte("hunter2")))
	for _, s := range []Sealer{{}, NewSealer(map[string]string{"OTHER": "hunter3"})} {
		_, err := s.Open(sealed)
		if m, ok := errors.AsType[*MissingError](err); !ok || m.Name != "TOKEN" {
			t.Errorf("got %v", err)
		}
	}
	// A secret that has changed is replaced by its present value.
	if got, err := NewSealer(map[string]string{"TOKEN": "other value"}).Open(sealed); err != nil || !strings.HasPrefix(got, "a other value ") {
		t.Errorf("got %q, %v", got, err)
	}
	for _, text := range []string{"plain", "\x00secret:", "\x00secret:X\x00"} {
		if got, err := (Sealer{}).Open((Sealer{}).Seal(text)); err != nil || got != text {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
	}
	if _, err := (Sealer{}).Open("\x00secret:X"); err == nil {
		t.Error("a marker without an end is accepted")
	}
}

// Hide shows what a sealed string says without the values of its secrets.
func TestHide(t *testing.T) {
	s := NewSealer(map[string]string{"TOKEN": "hunter22"})
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"Bearer hunter22!", "Bearer ***!"},
		{"hunter22hunter22", "******"},
		{"aHVudGVyMjI= in base64", "*** in base64"},
		{"a \x00secret: of a user", "a \x00secret: of a user"},
	} {
		if got := Hide(s.Seal(tt.text)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := Hide("cut \x00secret:TOK"); got != "cut ***" {
		t.Errorf("a secret that was cut off: %q", got)
	}
}

// A sealer for reading opens with the values, or masks if one of them is not set.
func TestOpenerOf(t *testing.T) {
	sealed := NewSealer(map[string]string{"TOKEN": "hunter22"}).Seal("Bearer hunter22")
	ref := func(value string, ok bool) core.Secret {
		return core.Secret{Name: source.Text{Value: "TOKEN"}, Read: func() (string, bool) { return value, ok }}
	}
	for _, tt := range []struct {
		ref   core.Secret
		want  string
		hides bool
	}{
		{ref("hunter22", true), "Bearer hunter22", false},
		{ref("", true), "Bearer ***", true},
		{ref("", false), "Bearer ***", true},
	} {
		s := OpenerOf([]core.Secret{tt.ref})
		if got, err := s.Open(sealed); err != nil || got != tt.want || s.Hides() != tt.hides {
			t.Errorf("got %q, %v, hides %t, want %q", got, err, s.Hides(), tt.want)
		}
	}
}

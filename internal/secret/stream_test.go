package secret

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// However the text is cut into writes, the stream writes what Masker.Text returns for all of it.
func TestStream(t *testing.T) {
	secrets := []string{"correct horse", "abcabcXY", "XYZWXYZW", "BEGIN key\nline of key\nEND key", "aaaa"}
	parts := []string{"correct horse", "abcabcXYZWXYZW", "abcabcXY", "BEGIN key\nline of key\nEND key", "line of key", "aaaaa", "correct h", " ", "...", "…", `\u2026`, "\n", "x", ".", "aa", "BEGIN", `")`}
	r := rand.New(rand.NewPCG(1, 2))
	m := NewMasker(secrets...)
	for range 5000 {
		var text strings.Builder
		for range r.IntN(8) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		var got strings.Builder
		s := NewStream(m, &got)
		for rest := text.String(); rest != ""; {
			n := min(1+r.IntN(9), len(rest))
			if written, err := s.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := m.Text(text.String()); got.String() != want {
			t.Fatalf("%q: got %q, want %q", text.String(), got.String(), want)
		}
	}
}

// What cannot be the beginning of a secret is passed on at once.
func TestStreamPasses(t *testing.T) {
	for _, c := range []struct{ secret, text, want string }{
		{"", "anything", "anything"},
		{"hunter2", "step 1 of 3\n", "step 1 of 3\n"},
		{"hunter2", "step 1: hunt", "step 1: "},
		{"hunter2", "done...", "done..."},
	} {
		var got strings.Builder
		s := NewStream(NewMasker(c.secret), &got)
		_, _ = s.Write([]byte(c.text))
		if got.String() != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got.String(), c.want)
		}
	}
}

package value_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// FuzzAppendString compares AppendString with encoding/json.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f\x7f", "<a&b>", "ä€😀", "\u2028\u2029", "\ufffd", "a\xffb\xc3", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := value.AppendString(nil, s); string(got) != string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Errorf("%q: got %s, want %s", s, got, want.Bytes())
		}
	})
}

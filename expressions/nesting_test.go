package expressions

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// The nesting depth is limited, the length of a flat chain is not.
func TestNesting(t *testing.T) {
	repeat := strings.Repeat
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"200 parentheses", repeat("(", 200) + "1" + repeat(")", 200), true},
		{"201 parentheses", repeat("(", 201) + "1" + repeat(")", 201), false},
		{"200 negations", repeat("!", 200) + "true", true},
		{"201 negations", repeat("!", 201) + "true", false},
		{"200 calls", repeat("abs(", 200) + "1" + repeat(")", 200), true},
		{"201 calls", repeat("abs(", 201) + "1" + repeat(")", 201), false},
		{"a long sum", "1" + repeat(" + 1", 4000), true},
		{"a long difference", "1" + repeat(" - 1 + 2", 2000), true},
		{"a long product", "1" + repeat(" * 1 / 1", 2000), true},
		{"a sum nested to the right", repeat("1 + (", 200) + "1" + repeat(")", 200), true},
		{"one more", repeat("1 + (", 201) + "1" + repeat(")", 201), false},
		{"too many parts", "1" + repeat(" + 1", 5000), false},
	} {
		p, ds := Compile(source.Text{Value: tt.text}, Scope{}, "")
		if (p != nil) != tt.want || p == nil && !ds.Has(source.CodeLimit) {
			t.Errorf("%s: got %v, want %v: %v", tt.name, p != nil, tt.want, ds)
		}
		if p != nil {
			checkRoundTrip(t, p.Tree())
		}
	}
	if v := MustCompile("1"+repeat(" + 1", 4000), Scope{}).Value(nil); v != int64(4001) {
		t.Errorf("got %v", v)
	}
}

// A quoted name in brackets supports the escapes of JSON and is printed in a form that
// parses to the same name.
func TestQuotedNames(t *testing.T) {
	for text, want := range map[string]string{
		`$.o['a b']`: "a b", `$.o["it's"]`: "it's", `$.o['it\'s']`: "it's", `$.o["say \"it\'s\""]`: `say "it's"`,
		`$.o['a\\b']`: `a\b`, `$.o['\u00e4\n']`: "ä\n", `$.o['"']`: `"`, `$.o['$.x']`: "$.x",
	} {
		tree, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p, _ := tree.Path()
		if got := p.Steps[1].Name; got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		checkRoundTrip(t, tree)
	}
	for _, text := range []string{`$.o['a\xb']`, `$.o['a\u12']`, `$.o['a\']`, `$.o['a`} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

package dot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// TestLimits checks that documents designed to be slow to parse are rejected, or are
// parsed in time linear in their length.
func TestLimits(t *testing.T) {
	const size = 1 << 18
	big := func(part string) string { return strings.Repeat(part, size/len(part)) }
	many := func(n int, of func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(of(i))
		}
		return b.String()
	}
	wide := "node [" + many(1000, func(i int) string { return fmt.Sprintf("k%d=v ", i) }) + "]\n"
	tests := []struct{ name, doc, want string }{
		{"size", strings.Repeat(" ", maxBytes+1), "1:1: error: document has 10485761 bytes, at most 10485760 are read [LIMIT]"},
		{"depth", "digraph g { " + big("{ "), "1:211: error: groups are nested deeper than 100 [LIMIT]"},
		{"errors", "digraph g {\n" + big("a -- b\n") + "}", "1002:3: error: document has more than 1000 errors of syntax, the rest is not read [LIMIT]"},
		{"defaults", "digraph g {\n" + wide + many(310, func(i int) string { return fmt.Sprintf("n%d\n", i) }) + "}",
			"2:7: error: defaults give more than 300000 values to nodes and edges [LIMIT]"},
		{"nodes", "digraph g {\n" + many(maxParts+1, func(i int) string { return fmt.Sprintf("n%d\n", i) }) + "}",
			"100002:1: error: the graph has more than 100000 nodes and edges [LIMIT]"},
		{"edges", "digraph g {\n" + many(maxParts, func(int) string { return "a -> a\n" }) + "}",
			"100001:1: error: the graph has more than 100000 nodes and edges [LIMIT]"},
		{"chain", "digraph g {\n" + big("a -> ") + "a [" + many(1000, func(i int) string { return fmt.Sprintf("k%d=v ", i) }) + "] }", ""},
		{"attributes", "digraph g { a [" + many(20_000, func(i int) string { return fmt.Sprintf("k%d=v ", i) }) + "] }", ""},
		{"classes", "digraph g { " + many(10_000, func(i int) string { return fmt.Sprintf("{label=c%d a}", i) }) + " }", ""},
		{"open braces", "digraph g { a [prompt=\"" + big("{{ ") + "}}\"] }", ""},
		{"places", "digraph g { a [prompt=\"" + big("{{ goal }}\n") + "\"] }", ""},
		{"wrong places", "digraph g { a [prompt=\"" + big("{{ nobody }}\n") + "\"] }", ""},
		{"open texts", "digraph g { " + big("a [x=\"\n") + " }", "2003:1: error: document has more than 1000 errors of syntax, the rest is not read [LIMIT]"},
		{"open comment", "digraph g { " + big("/* "), ""},
		{"brackets", "digraph g { " + big("[") + " }", ""},
		{"html", "digraph g { a [b=" + big("<") + " }", ""},
		{"stylesheet", "digraph g { model_stylesheet=\"" + big("/*x*/ .a {model:b} ") + "* { speed: 1; }" + "\" }", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, ds := Parse("", []byte(tt.doc), Options{})
			if w != nil {
				ds = w.Findings // without a limit on their number
			}
			var limits []string
			for _, d := range ds {
				if d.Code == source.CodeLimit && d.Severity == source.Error {
					limits = append(limits, d.Error())
				}
			}
			if got := strings.Join(limits, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

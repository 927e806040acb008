package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// row is a line of a conditions file:
//
//	$.n == 3 => true
//	$.n ==   => error EXPR_SYNTAX
//
// Each condition is on an edge from a common node to a separate node, which runs if the
// condition is true. Conditions with an error are in a separate document.
type row struct {
	text string
	want string // true, false, or a severity and a code
}

func parseTable(t *testing.T, at, data string) []row {
	t.Helper()
	var list []row
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndex(line, " => ")
		if i < 0 {
			t.Fatalf("%s: %q has no =>", at, line)
		}
		list = append(list, row{strings.TrimRight(line[:i], " "), strings.TrimSpace(line[i+4:])})
	}
	return list
}

// expand converts a table of conditions to one or two cases.
func (c *testCase) expand(t *testing.T) []*testCase {
	t.Helper()
	var good, bad []row
	for _, r := range c.table {
		switch {
		case r.want == "true", r.want == "false":
			good = append(good, r)
		case strings.HasPrefix(r.want, "error "):
			bad = append(bad, r)
		default:
			t.Fatalf("%s: %q is not an outcome", c.name, r.want)
		}
	}
	var out []*testCase
	if len(good) > 0 {
		out = append(out, c.document("values", good, &want{Nodes: map[string]string{}, State: c.startState()}))
	}
	if len(bad) > 0 {
		out = append(out, c.document("errors", bad, nil))
	}
	return out
}

func (c *testCase) startState() map[string]any {
	m := map[string]any{}
	for k, v := range c.inputs {
		m[k] = value.Plain(v)
	}
	return m
}

func (c *testCase) document(name string, rows []row, w *want) *testCase {
	var b strings.Builder
	b.WriteString("name: conditions\nstate:\n  schema:\n")
	for line := range strings.Lines(c.schema) {
		b.WriteString("    " + line)
	}
	b.WriteString("graph:\n  nodes:\n    - {id: start, kind: tool, impl: nothing, writes: []}\n")
	for i := range rows {
		fmt.Fprintf(&b, "    - {id: t%d, kind: tool, impl: nothing, writes: []}\n", i)
	}
	b.WriteString("  edges:\n")
	for i, r := range rows {
		fmt.Fprintf(&b, "    - {from: start, to: t%d, when: %s}", i, quoteYAML(r.text))
		switch {
		case w == nil:
			b.WriteString(" # " + r.want)
		case r.want == "false":
			w.Nodes[fmt.Sprint("t", i)] = "skipped"
		}
		b.WriteString("\n")
	}
	return &testCase{name: name, tools: c.tools, inputs: c.inputs, want: w, files: map[string]string{"workflow.yaml": b.String()}}
}

// quoteYAML formats a string as one line of YAML.
func quoteYAML(s string) string {
	if strings.ContainsAny(s, "\t\n") || strings.Contains(s, `\`) {
		return `"` + strings.NewReplacer(`\t`, `\t`, `\n`, `\n`, `"`, `\"`, "\t", `\t`).Replace(s) + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

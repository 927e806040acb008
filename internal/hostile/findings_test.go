package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
)

// flow returns a document with state, the given nodes and edges, and more.
func flow(nodes, edges, more string) string {
	return "name: x\nstate:\n  schema:\n    risk: {type: number}\n    word: {type: string}\n    rows: {type: array, merge: array_append}\n    once: {type: string, merge: set_once}\n" +
		"graph:\n  nodes:\n" + nodes + "  edges:\n" + edges + more
}

const (
	ab  = "    - {id: a, kind: tool, impl: f, writes: [risk, word, rows]}\n    - {id: b, kind: tool, impl: f, writes: []}\n"
	abc = ab + "    - {id: c, kind: tool, impl: f, writes: []}\n"
)

// Every fault of a document is reported precisely, with its position, and nothing runs.
func TestFindings(t *testing.T) {
	when := func(e string) string { return flow(ab, "    - {from: a, to: b, when: \""+e+"\"}\n", "") }
	cases := []struct{ name, doc, want string }{
		{"unknown field inside an expression", when("$.risk > 1 && $.rsk > 2"),
			`flow.yaml:13:47: error: edge a -> b: when: unknown field "rsk" (did you mean "risk"?) [EXPR_NAME]`},
		{"text ordered against a number", when("$.word > 2"),
			`flow.yaml:13:38: error: edge a -> b: when: ">" has no order for string and integer [EXPR_TYPE]`},
		{"trailing text", when("$.risk == 3 4"),
			`flow.yaml:13:43: error: edge a -> b: when: unexpected "4" after the end of the expression (join conditions with && or ||) [EXPR_SYNTAX]`},
		{"expression of 100,000 levels", when(strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000)),
			`flow.yaml:13:65567: error: edge a -> b: when: the expression is longer than 65536 bytes [LIMIT]`},
		{"expression of 1,000 levels", when(strings.Repeat("(", 1000) + "$.risk == 1" + strings.Repeat(")", 1000)),
			`flow.yaml:13:232: error: edge a -> b: when: the expression is nested deeper than 200 [LIMIT]`},
		{"pattern that would take for ever", when("$.word matches '((((a{0,100}){0,100}){0,100}){0,100})'"),
			"flow.yaml:13:46: error: edge a -> b: when: error parsing regexp: invalid repeat count: `{0,100}` [EXPR_SYNTAX]"},
		{"cycle", flow(abc, "    - {from: a, to: b}\n    - {from: b, to: c}\n    - {from: c, to: a}\n", ""),
			`flow.yaml:14:7: error: the graph has a cycle: a -> b -> c -> a (repeat work with a loop; edges must not lead back) [CYCLE]`},
		{"edge to itself", flow(ab, "    - {from: a, to: a, when: $.risk > 1}\n", ""),
			`flow.yaml:13:7: error: edge a -> a: leads from a node to itself (repeat work with a loop) [CYCLE]`},
		{"node between two stages", flow(strings.Replace(abc, "[risk, word, rows]", "[rows]", 1), "    - {from: a, to: c}\n    - {from: c, to: b}\n", "  pipelines:\n    - {id: p, items: $.rows, stages: [a, b]}\n"),
			`flow.yaml:15:7: error: a way leads out of p and back into it: c -> b -> a -> c (a pipeline or loop runs as one: no node can lie between two of its members) [UNIT_CYCLE]`},
		{"edges to nodes that are not there", flow(ab, "    - {from: a, to: bb}\n    - {from: zzz, to: b}\n", ""),
			"flow.yaml:13:21: error: edge a -> bb: unknown node \"bb\" (did you mean \"b\"?) [UNKNOWN_NODE]\n" +
				`flow.yaml:14:14: error: edge zzz -> b: unknown node "zzz" (defined: a, b) [UNKNOWN_NODE]`},
		{"number that is appended to", "name: x\nstate: {schema: {n: {type: number, merge: array_append}}}\ngraph: {nodes: [{id: a, kind: tool, impl: f, writes: [n]}]}\n",
			`flow.yaml:2:43: error: state field "n": merge array_append cannot work on type number (array_append merges arrays: the new elements follow the old ones) [MERGE_TYPE]`},
		{"names of other worlds", flow("    - {id: __proto__, kind: tool, impl: f, writes: []}\n    - {id: a-b, kind: tool, impl: f, writes: []}\n    - {id: \"a\\0b\", kind: tool, impl: f, writes: []}\n    - {id: 1a, kind: tool, impl: f, writes: []}\n", "    []\n", ""),
			"flow.yaml:11:12: error: node \"a-b\": a name is letters, digits and underscore, not starting with a digit (for example \"a_b\") [BAD_ID]\n" +
				"flow.yaml:12:13: error: node \"a\\x00b\": a name is letters, digits and underscore, not starting with a digit (for example \"a_b\") [BAD_ID]\n" +
				`flow.yaml:13:12: error: node "1a": a name is letters, digits and underscore, not starting with a digit (for example "_1a") [BAD_ID]`},
		{"alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\nname: *f\n",
			`flow.yaml:1:14: error: aliases expand to more than 100000 values [LIMIT]`},
		{"alias in itself", "name: x\ngraph: &g {nodes: [{id: a, kind: tool, impl: f, args: {x: *g}}]}\n",
			`flow.yaml:2:59: error: alias *g is inside of its own anchor [SYNTAX]`},
		{"more than 10 MB", "name: x\ndescription: '" + strings.Repeat("y", 10<<20) + "'\n",
			`flow.yaml:1:1: error: document has 10485784 bytes, at most 10485760 are read [LIMIT]`},
		{"10 MB of brackets", strings.Repeat("[", 10<<20), `flow.yaml:1:1: error: document is nested too deep [LIMIT]`},
		{"nothing", "", `flow.yaml:1:1: error: document is empty [MISSING_KEY]`},
		{"UTF-16", "\xff\xfen\x00a\x00m\x00e\x00", `flow.yaml:1:1: error: text is not valid UTF-8 (save the file as UTF-8) [SYNTAX]`},
		{"tabs", "name: x\ngraph:\n\tnodes: []\n", `flow.yaml:3:1: error: tab in the indentation (indent with spaces) [SYNTAX]`},
		{"BOM and CRLF", "\ufeffname: x\r\ngraph:\r\n  nodes:\r\n    - {id: a, kind: tol, impl: f}\r\n",
			`flow.yaml:4:21: error: node a: unknown kind "tol" (did you mean "tool"?) [UNKNOWN_KIND]`},
		{"CR alone", "name: x\rgraph:\r  nodes:\r    - {id: a, kind: tol, impl: f}\r",
			`flow.yaml:4:21: error: node a: unknown kind "tol" (did you mean "tool"?) [UNKNOWN_KIND]`},
		{"two documents", "name: x\n---\nname: y\n", `flow.yaml:3:1: error: file holds more than one document (remove the "---" or put the documents into files of their own) [SYNTAX]`},
		{"code in a tag", "name: x\ngraph: !!python/object:os.system {nodes: [{id: a, kind: tool, impl: f, writes: []}]}\n",
			`flow.yaml:2:8: error: tag !!python/object:os.system is not supported (put a string that begins with "!" in quotes) [SYNTAX]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, ds := compile(t, tools{"f": handle(nop)}, c.doc, false)
			ds = slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Severity == source.Hint }) // hints about unused fields
			if got := lines(ds); p != nil || got != c.want {
				t.Errorf("plan %v\ngot  %.2000s\nwant %s", p != nil, got, c.want)
			}
		})
	}
}

// Every level of a document has its own keys.
func TestUnknownKeys(t *testing.T) {
	doc := "name: x\nnmae: y\nruntime: {concurency: 3}\nstate: {schem: {}, schema: {a: {typ: number}}}\nphases: [{id: p, titel: q}]\n" +
		"inputs: {i: {type: string, requird: true}}\ngraph:\n  nods: []\n  nodes:\n" +
		"    - {id: a, kind: tool, impl: f, implx: 3, on_error: {policy: retry, attempts: 2, atempts: 2}, for_each: {source: $.a, sorce: 3}}\n" +
		"    - {id: b, kind: tool, impl: f}\n  edges:\n    - {from: a, to: b, wen: 'true'}\n" +
		"  pipelines:\n    - {id: p, items: $.a, stages: [b], stagez: 1}\n  loops:\n    - {id: l, body: b, max_iters: 2, untill: x}\n"
	_, ds := compile(t, tools{"f": handle(nop)}, doc, false)
	got := lines(ds)
	for _, want := range []string{
		`2:1: error: unknown key "nmae" (did you mean "name"?`, `3:11: error: runtime: unknown key "concurency" (did you mean "concurrency"?`,
		`4:9: error: state: unknown key "schem" (did you mean "schema"?`, `4:33: error: state.schema.a: unknown key "typ" (did you mean "type"?`,
		`5:18: error: phases[0]: unknown key "titel" (did you mean "title"?`, `6:28: error: inputs.i: unknown key "requird" (did you mean "required"?`,
		`8:3: error: graph: unknown key "nods" (did you mean "nodes"?`, `10:36: error: node a: unknown key "implx" for kind tool (did you mean "impl"?`,
		`10:85: error: node a: on_error: unknown key "atempts" (did you mean "attempts"?`, `10:122: error: node a: for_each: unknown key "sorce" (did you mean "source"?`,
		`13:24: error: edge a -> b: unknown key "wen" (did you mean "when"?`, `15:40: error: pipeline p: unknown key "stagez" (did you mean "stages"?`,
		`17:38: error: loop l: unknown key "untill" (did you mean "until"?`,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("no %s", want)
		}
	}
	if len(ds) != 13 {
		t.Errorf("got %d findings\n%s", len(ds), got)
	}
}

func TestDoubledIDs(t *testing.T) {
	_, ds := compile(t, tools{"f": handle(nop)}, flow(abc+"    - {id: a, kind: tool, impl: f, writes: []}\n", "    []\n",
		"  pipelines:\n    - {id: b, items: $.rows, stages: [c]}\n"), false)
	got := lines(ds)
	for _, want := range []string{`flow.yaml:13:12: error: node "a" is defined twice (first at `, `error: pipeline "b": the name is taken (first at `} {
		if !strings.Contains(got, want) || !strings.Contains(got, "[DUPLICATE_ID]") {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
}

// A result that depends only on the order of writers is a warning, and with strict an
// error.
func TestUnorderedWriters(t *testing.T) {
	doc := flow("    - {id: a, kind: tool, impl: f, writes: [once, word, rows]}\n    - {id: b, kind: tool, impl: f, writes: [once, word, rows]}\n", "    []\n", "")
	for _, strict := range []bool{false, true} {
		p, ds := compile(t, tools{"f": handle(nop)}, doc, strict)
		got := lines(ds)
		if (p == nil) != strict || strings.Count(got, "[UNORDERED_WRITES]") != 2 || strings.Contains(got, "rows") {
			t.Errorf("strict %v: plan %v\n%s", strict, p != nil, got)
		}
	}
}

// However many faults there are, the list stays readable, and compiling stays fast.
func TestThousandsOfFindings(t *testing.T) {
	var nodes, edges strings.Builder
	for i := range large(5000) {
		fmt.Fprintf(&nodes, "    - {id: n%d, kind: tool, impl: f, writes: [], bogus: 1}\n", i)
		fmt.Fprintf(&edges, "    - {from: n%d, to: m%d}\n", i, i)
	}
	for name, doc := range map[string]string{"keys": flow(nodes.String(), "    []\n", ""), "edges": flow(strings.ReplaceAll(nodes.String(), ", bogus: 1", ""), edges.String(), ""),
		"one key": strings.Repeat("a: b\n", large(20_000))} {
		_, ds := compile(t, tools{"f": handle(nop)}, doc, false)
		if len(ds) != 201 || !strings.HasSuffix(ds[200].Message, " more findings are not shown") {
			t.Errorf("%s: %d findings, the last is %v", name, len(ds), ds[len(ds)-1])
		}
	}
}

// Invalid durations and counts are rejected at their positions.
func TestSenselessNumbers(t *testing.T) {
	for node, want := range map[string]string{
		"timeout: -3s":            `timeout: want a duration of at least 1ns, found string "-3s"`,
		"timeout: 0":              `timeout: want a duration such as "30s"`,
		"timeout: 9999999999999h": `timeout: want a duration`,
		"on_error: {policy: retry, attempts: 21}":                            `attempts: want a whole number from 1 to 20, found 21`,
		"on_error: {policy: retry, attempts: 0}":                             `attempts: want a whole number from 1 to 20, found 0`,
		"on_error: {policy: retry, attempts: 2.5}":                           `attempts: want a whole number`,
		"on_error: {policy: retry}":                                          `attempts`,
		"on_error: {policy: retry, attempts: 2, base_ms: -5}":                `base_ms: want a duration that is not negative`,
		"on_error: {policy: retry, attempts: 2, base_ms: 99999999999999999}": `base_ms: `,
		"for_each: {source: $.rows, concurrency: 0}":                         `concurrency: want a whole number of at least 1, found 0`,
		"for_each: {source: $.rows, max_failures: -1}":                       `max_failures: want a whole number of at least 0, found -1`,
		"priority: 99999999999999999999":                                     `does not fit a 64-bit number`,
	} {
		p, ds := compile(t, tools{"f": handle(nop)}, flow("    - {id: a, kind: tool, impl: f, writes: [], "+node+"}\n", "    []\n", ""), false)
		if got := lines(ds); p != nil || !strings.Contains(got, want) {
			t.Errorf("%s: plan %v, got\n%s\nwant %s", node, p != nil, got, want)
		}
	}
	for _, text := range []string{"-5s", "99999999999h", "1e300", "soon", "[x]"} {
		if p, ds := compile(t, nil, "name: x\ngraph: {nodes: [{id: w, kind: wait, duration: "+text+"}]}\n", false); p != nil || !strings.Contains(lines(ds), "duration: want a duration") {
			t.Errorf("%s: plan %v\n%s", text, p != nil, lines(ds))
		}
	}
}

// 100,000 nodes are read and compiled within seconds.
func TestManyNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	n := large(100_000)
	var b strings.Builder
	b.WriteString("name: x\nstate: {schema: {l: {type: array, merge: array_append}}}\ngraph:\n  nodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "    - {id: n%d, kind: tool, impl: f, reads: [l], writes: [l]}\n", i)
	}
	b.WriteString("  edges:\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "    - {from: n%d, to: n%d}\n", i/2, i)
	}
	start := time.Now()
	p, ds := compile(t, tools{"f": handle(nop)}, strings.Replace(b.String(), "from: n0, to: n1}", "from: n0, to: n1, when: 'length($.l) == 0'}", 1), false)
	if p == nil {
		t.Fatal(lines(ds))
	}
	t.Logf("%d bytes compiled in %s", b.Len(), time.Since(start))
	if r, err := wavefold.NewEngine().Compile(nil, false); r != nil || len(err) != 1 {
		t.Errorf("no workflow: %v, %v", r, err)
	}
}

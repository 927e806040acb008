package plan

import (
	"strings"
	"testing"
)

func TestStdout(t *testing.T) {
	const inner = "name: inner\ngraph: {nodes: [{id: p, kind: fn, stdout: true}]}\n"
	for _, c := range []struct {
		name, graph string
		stdout      bool
		want        string
	}{
		{"nobody", "nodes: [{id: a, kind: fn}]", false, ""},
		{"one", "nodes: [{id: a, kind: fn}, {id: b, kind: fn, stdout: true}]", true, ""},
		{"nested", "nodes: [{id: a, kind: fn}, {id: b, kind: workflow, file: inner.yaml}]", true, ""},
		{"two", "nodes: [{id: a, kind: fn, stdout: true}, {id: b, kind: fn}, {id: c, kind: fn, stdout: true}]", true,
			"flow.yaml:3:69: error: node c: writes to standard output, as node a does (let one of them write to a file) [BAD_VALUE]"},
		{"one of them nested", "nodes: [{id: a, kind: workflow, file: inner.yaml}, {id: b, kind: workflow, file: inner.yaml}]", true,
			"flow.yaml:3:60: error: node b: writes to standard output, as node a does"},
		{"for each", "nodes: [{id: a, kind: fn, stdout: true, for_each: {source: $.rows}}]", true,
			"flow.yaml:3:17: error: node a: writes to standard output and runs many times (write to a file whose name depends on the item) [BAD_VALUE]"},
		{"in a pipeline", "{nodes: [{id: a, kind: workflow, file: inner.yaml}], pipelines: [{id: p, items: $.rows, stages: [a]}]}", true,
			"error: node a: writes to standard output and runs many times"},
		{"in a loop", "{nodes: [{id: a, kind: fn, stdout: true}], loops: [{id: l, body: a, max_iters: 2}]}", true,
			"error: node a: writes to standard output and runs many times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			graph := c.graph
			if !strings.HasPrefix(graph, "{") {
				graph = "{" + graph + "}"
			}
			p, ds := files{"inner.yaml": inner, "flow.yaml": "name: x\nstate: {schema: {rows: {type: array, default: []}}}\ngraph: " + graph + "\n"}.compile("flow.yaml", false)
			if got := ds.Error(); (p == nil) != (c.want != "") || !strings.Contains(got, c.want) {
				t.Fatalf("got %s\nwant %s", got, c.want)
			}
			if p != nil && p.Stdout != c.stdout {
				t.Errorf("stdout %v", p.Stdout)
			}
		})
	}
}

// The same rules apply to standard input. A second attempt would find that standard input has been
// read.
func TestRetryOfStdin(t *testing.T) {
	for graph, want := range map[string]bool{
		"nodes: [{id: a, kind: fn, stdin: true, on_error: {policy: retry, attempts: 3}}]":                    true,
		"nodes: [{id: a, kind: workflow, file: inner.yaml, on_error: {policy: retry, attempts: 3}}]":         true,
		"nodes: [{id: a, kind: fn, stdin: true, on_error: {policy: skip}}]":                                  false,
		"nodes: [{id: a, kind: fn, stdin: true}, {id: b, kind: fn, on_error: {policy: retry, attempts: 3}}]": false,
	} {
		_, ds := files{"inner.yaml": "name: inner\ngraph: {nodes: [{id: p, kind: fn, stdin: true}]}\n", "flow.yaml": "name: x\ngraph: {" + graph + "}\n"}.compile("flow.yaml", false)
		if got := strings.Contains(ds.Error(), "warning: node a: on_error: a second attempt fails: standard input can be read once"); got != want {
			t.Errorf("%s: %v", graph, ds)
		}
	}
}

func TestStdin(t *testing.T) {
	for graph, want := range map[string]string{
		"{nodes: [{id: a, kind: fn, stdin: true}, {id: b, kind: fn, stdout: true}]}":         "",
		"{nodes: [{id: a, kind: fn, stdin: true}, {id: b, kind: fn, stdin: true}]}":          "flow.yaml:3:49: error: node b: reads standard input, as node a does (let one of them read a field the other fills) [BAD_VALUE]",
		"{nodes: [{id: a, kind: fn, stdin: true, for_each: {source: $.rows}}]}":              "error: node a: reads standard input and runs many times",
		"{nodes: [{id: a, kind: fn, stdin: true}], loops: [{id: l, body: a, max_iters: 2}]}": "error: node a: reads standard input and runs many times",
		"{nodes: [{id: a, kind: workflow, file: in.yaml}, {id: b, kind: fn, stdin: true}]}":  "error: node b: reads standard input, as node a does",
		"{nodes: [{id: a, kind: workflow, file: in.yaml, for_each: {source: $.rows}}]}":      "error: node a: reads standard input and runs many times",
		"{nodes: [{id: a, kind: workflow, file: in.yaml}, {id: b, kind: fn}]}":               "",
	} {
		p, ds := files{
			"in.yaml":   "name: in\ngraph: {nodes: [{id: p, kind: fn, stdin: true}]}\n",
			"flow.yaml": "name: x\nstate: {schema: {rows: {type: array, default: []}}}\ngraph: " + graph + "\n",
		}.compile("flow.yaml", false)
		if got := ds.Error(); (p == nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %s\nwant %s", graph, got, want)
		}
		if p != nil && !p.Stdin {
			t.Errorf("%s: the plan does not say that standard input is read", graph)
		}
	}
}

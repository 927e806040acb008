package plan_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const printedDoc = `# a comment
name: t
description: what it is for
phases:
  - {id: first, title: begins}
inputs:
  n: {type: integer, default: 1}
state:
  schema:
    list: {type: array, default: [1, 2]}
    out: {type: array, merge: array_append}
    total: {type: integer, description: a sum}
graph:
  nodes:
    - {id: a, kind: tool, impl: noop, phase: first, reads: [list], writes: [out], args: {x: 1, y: $.list}}
    - {id: b, kind: tool, impl: noop, writes: [out, total]}
    - {id: c, kind: tool, impl: noop, reads: [out], for_each: {source: $.list, concurrency: 2}, on_error: {policy: retry, attempts: 2}, timeout: 5s}
    - {id: sub, kind: workflow, file: inner.yaml, args: {k: $.n}}
    - {id: prog, kind: tool, impl: prog.sh, writes: []}
    - {id: s, kind: tool, impl: noop, writes: []}
    - {id: r, kind: tool, impl: noop, writes: []}
  edges:
    - {from: a, to: c, when: $.total > 1}
    - {from: b, to: c}
    - {from: c, to: sub, on: done}
  pipelines:
    - {id: p, items: $.list, stages: [s]}
  loops:
    - {id: l, body: [r], until: $.total > 1, max_iters: 3}
`

const printedInner = `name: inner
inputs: {k: {type: integer}}
graph:
  nodes:
    - {id: x, kind: tool, impl: noop, writes: []}
`

// printed compiles the document in a folder with its files, after it has applied the changes.
func printed(t *testing.T, name, doc, inner, program string) *plan.Plan {
	t.Helper()
	return compileFiles(t, name, map[string]string{name: doc, "inner.yaml": inner, "prog.sh": program}, func(*core.Workflow) {})
}

// compileFiles compiles a document of a folder with these files, after a change of its workflow.
func compileFiles(t *testing.T, name string, files map[string]string, change func(*core.Workflow)) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := wavefold.NewEngine()
	noop := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	for _, tool := range []string{"noop", "other"} {
		if err := e.AddTool(tool, noop); err != nil {
			t.Fatal(err)
		}
	}
	w, ds := e.Read(filepath.Join(dir, name))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	change(w)
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// differences lists the parts whose fingerprints differ: "a" if What differs, "a:how" if How does.
func differences(p, q *plan.Plan) string {
	a, b := p.PartFingerprints(), q.PartFingerprints()
	all := maps.Clone(a)
	maps.Copy(all, b)
	var list []string
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if a[id].What != b[id].What {
			list = append(list, id)
		}
		if a[id].How != b[id].How {
			list = append(list, id+":how")
		}
	}
	return strings.Join(list, " ")
}

func TestFingerprint(t *testing.T) {
	const program = "#!/bin/sh\necho '{}'\n"
	base := printed(t, "flow.yaml", printedDoc, printedInner, program)
	for _, tt := range []struct {
		name     string // with the number of a rule
		old, new string
		parts    string // the parts that differ
		same     bool   // whether the fingerprints of the plans are equal
	}{
		{"19: nothing", "", "", "", true},
		{"19: a comment", "# a comment", "# another", "", true},
		{"19: positions", "name: t\n", "name: t\n\n\n", "", true},
		{"19: description", "what it is for", "something else", "", true},
		{"19: description of a field", "a sum", "another", "", true},
		{"19: phase", "phase: first, ", "", "", true},
		{"19: order of keys", "args: {x: 1, y: $.list}", "args: {y: $.list, x: 1}", "", true},
		{"18: spaces in a condition", "$.total > 1}", "$.total>1}", "", true},
		{"20: declared order of nodes that no field connects", "- {id: s, kind: tool, impl: noop, writes: []}\n    - {id: r, kind: tool, impl: noop, writes: []}",
			"- {id: r, kind: tool, impl: noop, writes: []}\n    - {id: s, kind: tool, impl: noop, writes: []}", "", true},
		{"20: declared order of edges", "    - {from: b, to: c}\n    - {from: c, to: sub, on: done}\n", "    - {from: c, to: sub, on: done}\n    - {from: b, to: c}\n", "", true},
		{"20: declared order of fields", "    out: {type: array, merge: array_append}\n    total: {type: integer, description: a sum}", "    total: {type: integer}\n    out: {type: array, merge: array_append}", "", true},

		{"18: kind", "{id: s, kind: tool, impl: noop, writes: []}", "{id: s, kind: wait, duration: 1s}", "s", false},
		{"18: configuration", "id: b, kind: tool, impl: noop", "id: b, kind: tool, impl: other", "b", false},
		{"18: args", "{x: 1,", "{x: 2,", "a", false},
		{"18: a number as written", "{x: 1,", "{x: 1.0,", "a", false},
		{"18: source of a fan-out", "source: $.list", "source: $.out", "c", false},
		{"18: reads", "reads: [list], ", "", "a", false},
		{"18: writes", "writes: [out, total]", "writes: [total]", "b c", false},
		{"18: content of a file", "echo", "printf", "prog", false},
		{"18: nested workflow", "{id: x, ", "{id: y, ", "sub", false},
		{"18: timeout in a nested workflow", "{id: x, ", "{id: x, timeout: 1s, ", "sub", false},
		{"19: description of a nested workflow", "name: inner", "name: inner\ndescription: within", "", true},
		{"18: effects", "{id: s, ", "{id: s, effects: true, ", "s", false},
		{"18: an edge more", "    - {from: b, to: c}\n", "    - {from: b, to: c}\n    - {from: prog, to: c}\n", "c", false},
		{"18: when", "$.total > 1}", "$.total > 2}", "c", false},
		{"18: on", "on: done", "on: fail", "sub", false},
		{"18: join", "{id: c, ", "{id: c, join: any, ", "c", false},
		{"18: order of the writers of a field that is read", "    - {id: b, kind: tool, impl: noop, writes: [out, total]}\n", "", "", false},
		{"18: stages", "stages: [s]", "stages: [s, r]", "", false},
		{"18: items", "items: $.list", "items: $.out", "p", false},
		{"18: batch", "stages: [s]}", "stages: [s], batch: 2}", "p", false},
		{"18: until", "until: $.total > 1", "until: $.total > 2", "l", false},
		{"18: max_iters", "max_iters: 3", "max_iters: 4", "l", false},

		{"18: attempts", "attempts: 2", "attempts: 3", "c:how", false},
		{"18: what follows a failure", "{id: b, ", "{id: b, on_error: {policy: skip}, ", "b:how", false},
		{"18: timeout", "timeout: 5s", "timeout: 6s", "c:how", false},
		{"18: limits", "concurrency: 2", "concurrency: 3", "c:how", false},
		{"18: max_failures", "concurrency: 2", "concurrency: 2, max_failures: 1", "c:how", false},
		{"18: priority", "{id: b, ", "{id: b, priority: 1, ", "b:how", false},
		{"18: allow_partial", "{id: b, ", "{id: b, allow_partial: true, ", "b:how", false},
		{"18: pause", "{id: b, ", "{id: b, pause: before, ", "b:how", false},
		{"18: auto_status", "{id: b, ", "{id: b, auto_status: true, ", "b:how", false},

		{"20: type of a field", "total: {type: integer", "total: {type: number", "", false},
		{"20: merge", "total: {type: integer", "total: {type: integer, merge: sum", "", false},
		{"20: default of a field", "default: [1, 2]", "default: [1, 3]", "", false},
		{"20: inputs", "n: {type: integer, default: 1}", "n: {type: integer, default: 2}", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, inner, script := printedDoc, printedInner, program
			switch {
			case tt.name == "18: order of the writers of a field that is read":
				doc = strings.Replace(doc, tt.old, "", 1)
				doc = strings.Replace(doc, "    - {id: a,", tt.old+"    - {id: a,", 1)
				tt.parts = "c"
			case tt.name == "18: stages":
				doc = strings.Replace(strings.Replace(doc, tt.old, tt.new, 1), "body: [r]", "body: [prog]", 1)
				tt.parts = "l p"
			case strings.Contains(doc, tt.old):
				doc = strings.Replace(doc, tt.old, tt.new, 1)
			case strings.Contains(inner, tt.old):
				inner = strings.Replace(inner, tt.old, tt.new, 1)
			default:
				script = strings.Replace(script, tt.old, tt.new, 1)
			}
			if tt.old != "" && doc+inner+script == printedDoc+printedInner+program {
				t.Fatalf("%q is nowhere", tt.old)
			}
			name := "flow.yaml"
			if tt.old == "" {
				name = "other.yaml" // the name of the document does not count
			}
			p := printed(t, name, doc, inner, script)
			if got := differences(base, p); got != tt.parts {
				t.Errorf("parts %q differ, want %q", got, tt.parts)
			}
			if same := p.Fingerprint() == base.Fingerprint(); same != tt.same {
				t.Errorf("the fingerprints are the same: %t, want %t", same, tt.same)
			}
		})
	}
}

const printedWalk = `digraph g {
  goal = "done"
  start [shape=Mdiamond]
  a [label="A", prompt="Do it"]
  b [label="B", prompt="Check it", color=red]
  exit [shape=Msquare]
  start -> a
  a -> b [label="on", weight=1]
  a -> exit [condition="outcome=success"]
  b -> exit
}
`

func TestFingerprintOfWalks(t *testing.T) {
	base := printed(t, "g.dot", printedWalk, printedInner, "")
	for _, tt := range []struct {
		name, old, new string
		parts          string
	}{
		{"19: attributes of drawings", "color=red", "color=blue", ""},
		{"18: label of an edge", `label="on"`, `label="off"`, "a b"},
		{"18: weight", "weight=1", "weight=2", "a b"},
		{"18: condition", "outcome=success", "outcome=fail", "a exit"},
		{"18: spaces in a condition", "outcome=success", "outcome = success", ""},
		{"18: prompt", "Check it", "Check all", "b"},
		{"19: name of the graph", "digraph g", "digraph other", ""},
		{"19: name of the graph, which is that of a node", "digraph g", "digraph b", ""},
		{"18: retries", `prompt="Check it"`, `prompt="Check it", max_retries=3`, "b:how"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := strings.Replace(printedWalk, tt.old, tt.new, 1)
			p := printed(t, "g.dot", doc, printedInner, "")
			if got := differences(base, p); got != tt.parts {
				t.Errorf("parts %q differ, want %q", got, tt.parts)
			}
			if same := p.Fingerprint() == base.Fingerprint(); same != (tt.parts == "") {
				t.Errorf("the fingerprints are the same: %t", same)
			}
		})
	}
}

// A run that is continued elsewhere is compared by its fingerprint, so other processes and other
// versions of the program must compute the same one.
func TestFingerprintStays(t *testing.T) {
	p := printed(t, "flow.yaml", printedDoc, printedInner, "#!/bin/sh\n")
	const want = "de5ad26453f66dc332da6f72a2990aa254c7e433d561872f2229d68c6a59c39b"
	for range 20 {
		if got := p.Fingerprint(); got != want {
			t.Fatalf("the fingerprint is %s, want %s; a change of it makes recorded runs unreadable", got, want)
		}
	}
}

// A part that sees more writers than a fingerprint lists has a digest of them: each of them counts, and their
// order, but none that comes later.
func TestFingerprintOfManyWriters(t *testing.T) {
	const seen, all = 100, 120
	writers := func() (list []string) {
		for i := range all {
			list = append(list, fmt.Sprintf("w%03d", i))
		}
		return list
	}
	// compile returns a chain of writers of one field, with a reader between the last that it sees and the next.
	compile := func(ids []string) *plan.Plan {
		var nodes, edges strings.Builder
		list := slices.Insert(slices.Clone(ids), seen, "reader")
		for i, id := range list {
			rest := "writes: [f]"
			if id == "reader" {
				rest = "reads: [f], writes: []"
			}
			fmt.Fprintf(&nodes, "    - {id: %s, kind: tool, impl: noop, %s}\n", id, rest)
			if i > 0 {
				fmt.Fprintf(&edges, "    - {from: %s, to: %s}\n", list[i-1], id)
			}
		}
		doc := "name: many\nstate: {schema: {f: {type: string}}}\ngraph:\n  nodes:\n" + nodes.String() + "  edges:\n" + edges.String()
		return compileFiles(t, "flow.yaml", map[string]string{"flow.yaml": doc}, func(*core.Workflow) {})
	}
	base := compile(writers())
	for _, tt := range []struct {
		name   string
		change func(ids []string)
		same   bool // for the reader
	}{
		{"nothing", func([]string) {}, true},
		{"the first writer", func(ids []string) { ids[0] = "x" }, false},
		{"a writer in the middle", func(ids []string) { ids[70] = "x" }, false},
		{"the order of writers", func(ids []string) { ids[10], ids[11] = ids[11], ids[10] }, false},
		{"a writer after the reader", func(ids []string) { ids[seen+5] = "x" }, true},
	} {
		ids := writers()
		tt.change(ids)
		got := slices.Contains(strings.Fields(differences(base, compile(ids))), "reader")
		if got == tt.same {
			t.Errorf("%s: the reader is another: %v, want %v", tt.name, got, !tt.same)
		}
	}
}

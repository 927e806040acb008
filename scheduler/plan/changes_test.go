package plan_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const changedDoc = `# a comment
name: flow
state:
  schema:
    rows: {type: array}
    total: {type: integer}
    list: {type: array, merge: array_append}
graph:
  nodes:
    - {id: load, kind: tool, impl: noop, writes: [rows]}
    - {id: price, kind: command, run: [sh, -c, "echo 1"], output: json, into: total, reads: [rows], writes: [total], on_error: {policy: retry, attempts: 2}}
    - {id: left, kind: tool, impl: noop, writes: [list]}
    - {id: right, kind: tool, impl: noop, writes: [list]}
    - {id: save, kind: tool, impl: save.sh, reads: [list], writes: []}
    - {id: sub, kind: workflow, file: inner.yaml}
    - {id: s, kind: tool, impl: noop, writes: []}
    - {id: r, kind: tool, impl: noop, writes: []}
  edges:
    - {from: load, to: price, when: $.total > 1}
    - {from: left, to: save}
    - {from: right, to: save}
  pipelines:
    - {id: p, items: $.rows, stages: [s]}
  loops:
    - {id: l, body: [r], until: $.total > 1, max_iters: 3}
`

const changedInner = `name: inner
state: {schema: {n: {type: integer}}}
graph:
  nodes:
    - {id: x, kind: tool, impl: noop, writes: []}
    - {id: y, kind: tool, impl: noop, writes: []}
  edges: [{from: x, to: y}]
`

// replaced returns text with the first occurrence of old replaced.
func replaced(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is nowhere", old)
	}
	return strings.Replace(text, old, new, 1)
}

func TestChanges(t *testing.T) {
	type edit struct{ old, new string }
	files := func(doc, inner, script string) map[string]string {
		return map[string]string{"flow.yaml": doc, "inner.yaml": inner, "save.sh": script}
	}
	compile := func(t *testing.T, files map[string]string) *plan.Plan {
		return compileFiles(t, "flow.yaml", files, func(*core.Workflow) {})
	}
	then := compile(t, files(changedDoc, changedInner, "#!/bin/sh\n")).Recorded()
	const price = `    - {id: price, kind: command, run: [sh, -c, "echo 1"], output: json, into: total, reads: [rows], writes: [total], on_error: {policy: retry, attempts: 2}}` + "\n"
	for _, tt := range []struct {
		name   string
		doc    edit
		inner  edit
		script string
		want   string // the parts that are not the same and the fields, with what differs
	}{
		{name: "nothing"},
		{name: "comment", doc: edit{"# a comment", "# another"}},
		{name: "positions", doc: edit{"name: flow\n", "name: flow\n\n\n"}},
		{name: "order of keys", doc: edit{"{id: load, kind: tool, impl: noop,", "{impl: noop, kind: tool, id: load,"}},
		{name: "description", doc: edit{"{id: load,", "{id: load, description: loads,"}},
		{name: "run", doc: edit{`"echo 1"`, `"echo 2"`}, want: "price changed: run"},
		{name: "run and writes", doc: edit{`"echo 1"], output: json, into: total, reads: [rows], writes: [total]`, `"echo 2"], output: json, into: list, reads: [rows], writes: [list]`},
			want: "price changed: into, run, writes; l changed: writers of total"}, // save is on the level of price and does not see its write
		{name: "kind", doc: edit{"{id: left, kind: tool, impl: noop, writes: [list]}", `{id: left, kind: command, run: [echo, "[]"], output: json, into: list, writes: [list]}`}, want: "left changed: kind"},
		{name: "when", doc: edit{"$.total > 1}", "$.total > 2}"}, want: "price changed: edge load -> price"},
		{name: "when is gone", doc: edit{", when: $.total > 1}", "}"}, want: "price changed: edge load -> price"},
		{name: "spaces in when", doc: edit{"$.total > 1}", "$.total>1}"}},
		{name: "edge", doc: edit{"    - {from: left, to: save}\n", ""}, want: "save changed: edge left -> save"},
		{name: "reads", doc: edit{"reads: [rows], ", ""}, want: "price changed: reads"},
		{name: "retry", doc: edit{"attempts: 2", "attempts: 3"}, want: "price executed differently"},
		{name: "timeout", doc: edit{"{id: load,", "{id: load, timeout: 5s,"}, want: "load executed differently"},
		{name: "content of a script", script: "#!/bin/sh\nexit 1\n", want: "save changed: file save.sh"},
		{name: "new node", doc: edit{"    - {id: load,", "    - {id: first, kind: tool, impl: noop, writes: []}\n    - {id: load,"}, want: "first new"},
		{name: "new node before a node", doc: edit{"  edges:\n", "    - {id: first, kind: tool, impl: noop, writes: []}\n  edges:\n    - {from: first, to: load}\n"},
			want: "first new; load changed: edge first -> load"},
		{name: "new writer", doc: edit{"    - {id: left,", "    - {id: more, kind: tool, impl: noop, writes: [list]}\n    - {id: left,"}, want: "more new; save changed: writers of list"},
		{name: "removed node", doc: edit{price, ""}, want: "l changed: writers of total; price removed"},
		{name: "declared order of two writers that are read", doc: edit{"    - {id: left, kind: tool, impl: noop, writes: [list]}\n    - {id: right, kind: tool, impl: noop, writes: [list]}\n",
			"    - {id: right, kind: tool, impl: noop, writes: [list]}\n    - {id: left, kind: tool, impl: noop, writes: [list]}\n"}, want: "save changed: writers of list"},
		{name: "declared order of other nodes", doc: edit{"    - {id: s, kind: tool, impl: noop, writes: []}\n    - {id: r, kind: tool, impl: noop, writes: []}\n",
			"    - {id: r, kind: tool, impl: noop, writes: []}\n    - {id: s, kind: tool, impl: noop, writes: []}\n"}},
		{name: "items of a pipeline", doc: edit{"items: $.rows", "items: $.list"}, want: "p changed: items"},
		{name: "stages", doc: edit{"stages: [s]", "stages: [s, left]"}, want: "p changed: stages, writers of rows; save changed: writers of list"},
		{name: "until", doc: edit{"until: $.total > 1", "until: $.total > 2"}, want: "l changed: until"},
		{name: "max_iters", doc: edit{"max_iters: 3", "max_iters: 4"}, want: "l changed: max_iters"},

		{name: "node of a nested workflow", inner: edit{"{id: y, kind: tool, impl: noop", "{id: y, kind: tool, impl: other"}, want: "sub/y changed: impl"},
		{name: "timeout in a nested workflow", inner: edit{"{id: y,", "{id: y, timeout: 5s,"}, want: "sub/y executed differently"},
		{name: "new node of a nested workflow", inner: edit{"    - {id: y,", "    - {id: z, kind: tool, impl: noop, writes: []}\n    - {id: y,"}, want: "sub/z new"},
		{name: "field of a nested workflow", inner: edit{"{n: {type: integer}}", "{n: {type: string}}"}, want: "field sub/n integer string"},
		{name: "file of a nested workflow", doc: edit{"file: inner.yaml", "file: ./inner.yaml"}, want: "sub changed: file"},
		{name: "nested workflow is gone", doc: edit{"    - {id: sub, kind: workflow, file: inner.yaml}\n", ""}, want: "sub removed; sub/x removed; sub/y removed; field sub/n integer "},

		{name: "type of a field", doc: edit{"total: {type: integer}", "total: {type: number}"}, want: "field total integer number"},
		{name: "elements of a field", doc: edit{"rows: {type: array}", "rows: {type: array, items: {type: string}}"}, want: "field rows array array 91e83cf4"},
		{name: "new field", doc: edit{"    rows: {type", "    more: {type: string}\n    rows: {type"}},
		{name: "merge of a field", doc: edit{"total: {type: integer}", "total: {type: integer, merge: sum}"}},
		{name: "new input", doc: edit{"state:\n", "inputs: {day: {type: string, default: a}}\nstate:\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, inner, script := changedDoc, changedInner, "#!/bin/sh\n"
			if tt.doc.old != "" {
				doc = replaced(t, doc, tt.doc.old, tt.doc.new)
			}
			if tt.name == "removed node" {
				doc = replaced(t, doc, "    - {from: load, to: price, when: $.total > 1}\n", "")
			}
			if tt.inner.old != "" {
				inner = replaced(t, inner, tt.inner.old, tt.inner.new)
			}
			if tt.script != "" {
				script = tt.script
			}
			if got := changeWords(compile(t, files(doc, inner, script)).Since(then)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func changeWords(c *plan.Changes) string {
	var list []string
	for _, pc := range c.Parts {
		if pc.Change == plan.Same {
			continue
		}
		word := pc.Path + " " + pc.Change.String()
		if len(pc.Members) > 0 {
			word += ": " + strings.Join(pc.Members, ", ")
		}
		list = append(list, word)
	}
	for _, f := range c.Fields {
		list = append(list, fmt.Sprintf("field %s %s %s", f.Path, f.Then, f.Now))
	}
	return strings.Join(list, "; ")
}

func TestChangesOfWalks(t *testing.T) {
	then := printed(t, "g.dot", printedWalk, printedInner, "").Recorded()
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing", "digraph g", "digraph g", ""},
		{"name of the graph", "digraph g", "digraph b", ""},
		{"drawing", "color=red", "color=blue", ""},
		{"prompt", "Check it", "Check all", "b changed: prompt"},
		{"label of an edge", `label="on"`, `label="off"`, "a changed: edge a -> b; b changed: edge a -> b"},
		{"goal gate", `prompt="Check it"`, `prompt="Check it", goal_gate=true`, "b changed: goal_gate"},
		{"retries", `prompt="Check it"`, `prompt="Check it", max_retries=3`, "b executed differently"},
		{"new node", "  b -> exit\n", "  c [prompt=\"Again\"]\n  b -> c\n  c -> exit\n", "b changed: edge b -> c, edge b -> exit; exit changed: edge b -> exit, edge c -> exit; c new"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := changeWords(printed(t, "g.dot", replaced(t, printedWalk, tt.old, tt.new), printedInner, "").Since(then)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestConflicts checks what of a changed workflow a run takes over and what prevents it from
// continuing, by what has started.
func TestConflicts(t *testing.T) {
	base := map[string]string{"flow.yaml": changedDoc, "inner.yaml": changedInner, "save.sh": "#!/bin/sh\n"}
	then := compileFiles(t, "flow.yaml", base, func(*core.Workflow) {}).Recorded()
	changed := map[string]string{"save.sh": "#!/bin/sh\n", "inner.yaml": replaced(t, changedInner, "{id: y, kind: tool, impl: noop", "{id: y, kind: tool, impl: other")}
	doc := replaced(t, changedDoc, `"echo 1"], output: json, into: total, reads: [rows], writes: [total], on_error: {policy: retry, attempts: 2}`,
		`"echo 2"], output: json, into: total, reads: [rows], writes: [total, list], on_error: {policy: retry, attempts: 3}`)
	doc = replaced(t, doc, "    - {id: r, kind: tool, impl: noop, writes: []}\n", "    - {id: r, kind: tool, impl: noop, writes: [], timeout: 1s}\n    - {id: new, kind: tool, impl: noop, writes: []}\n")
	doc = replaced(t, doc, "    - {id: left, kind: tool, impl: noop, writes: [list]}\n", "")
	doc = replaced(t, doc, "    - {from: left, to: save}\n", "")
	doc = replaced(t, doc, "max_iters: 3", "max_iters: 4")
	changed["flow.yaml"] = replaced(t, doc, "total: {type: integer}", "total: {type: number}")
	c := compileFiles(t, "flow.yaml", changed, func(*core.Workflow) {}).Since(then)

	for _, tt := range []struct {
		name                 string
		started              string // paths, with spaces between and around them
		conflicts, takenOver string
	}{
		{"nothing has started", " ", "", "sub/y changed, new new, price changed, save changed, l changed, r executed differently, left removed"},
		{"what is the same has started", " load right sub sub/x ", "", "sub/y changed, new new, price changed, save changed, l changed, r executed differently, left removed"},
		{"all has started", " load price left right save sub sub/x sub/y s r p l $total ", `inner.yaml:6:7: error: node sub/y has run and has changed: impl [RESUME_CHANGED]
flow.yaml:11:7: error: node price has run and has changed: run, writes [RESUME_CHANGED]
flow.yaml:13:7: error: node save has run and has changed: edge left -> save, writers of list [RESUME_CHANGED]
flow.yaml:24:7: error: loop l has run and has changed: max_iters [RESUME_CHANGED]
flow.yaml: error: node left has run and is no longer in the workflow [RESUME_CHANGED]
flow.yaml:6:5: error: field total has a value and another type: number, which was integer [RESUME_STATE]
`, "new new, r executed differently"},
		{"what was removed has started", " left ", "flow.yaml: error: node left has run and is no longer in the workflow [RESUME_CHANGED]\n",
			"sub/y changed, new new, price changed, save changed, l changed, r executed differently"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			started := func(path string) bool { return strings.Contains(tt.started, " "+path+" ") }
			var got strings.Builder
			for _, d := range c.Conflicts(started, func(field string) bool { return started("$" + field) }) {
				d.Pos.File = filepath.Base(d.Pos.File)
				got.WriteString(d.Error() + "\n")
			}
			if got.String() != tt.conflicts {
				t.Errorf("conflicts\n%swant\n%s", got.String(), tt.conflicts)
			}
			var taken []string
			for _, pc := range c.Adopted(started) {
				taken = append(taken, pc.Path+" "+pc.Change.String())
			}
			if got := strings.Join(taken, ", "); got != tt.takenOver {
				t.Errorf("takes over %s\nwant %s", got, tt.takenOver)
			}
		})
	}
}

// Of a nested workflow that is gone, only its node is reported.
func TestConflictsOfNestedWorkflows(t *testing.T) {
	base := map[string]string{"flow.yaml": changedDoc, "inner.yaml": changedInner, "save.sh": "#!/bin/sh\n"}
	with := compileFiles(t, "flow.yaml", base, func(*core.Workflow) {})
	base["flow.yaml"] = replaced(t, changedDoc, "    - {id: sub, kind: workflow, file: inner.yaml}\n", "")
	without := compileFiles(t, "flow.yaml", base, func(*core.Workflow) {})
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	if ds := without.Since(with.Recorded()).Conflicts(all, none); len(ds) != 1 || ds[0].Node != "sub" {
		t.Errorf("removed and started: %v", ds)
	}
	for name, c := range map[string]*plan.Changes{"removed": without.Since(with.Recorded()), "new": with.Since(without.Recorded())} {
		if list := c.Adopted(none); len(list) != 1 || list[0].Path != "sub" || list[0].Change.String() != name {
			t.Errorf("%s: takes over %v", name, list)
		}
	}
}

// Records without short hashes are compared all the same; only the names are missing.
func TestChangesWithoutMembers(t *testing.T) {
	files := map[string]string{"flow.yaml": changedDoc, "inner.yaml": changedInner, "save.sh": "#!/bin/sh\n"}
	then := compileFiles(t, "flow.yaml", files, func(*core.Workflow) {}).Recorded()
	for path, f := range then.Parts {
		then.Parts[path] = plan.PartFingerprint{What: f.What, How: f.How, Own: f.Own}
	}
	files["flow.yaml"] = replaced(t, changedDoc, `"echo 1"`, `"echo 2"`)
	c := compileFiles(t, "flow.yaml", files, func(*core.Workflow) {}).Since(then)
	ds := c.Conflicts(func(string) bool { return true }, func(string) bool { return true })
	if len(ds) != 1 || ds[0].Message != "node price has run and has changed" {
		t.Errorf("got %v", ds)
	}
}

func TestPartPath(t *testing.T) {
	for node, want := range map[string]string{"": "", "save": "save", "outer/save": "outer/save", "outer[3]/save": "outer/save", "a[0]/b[12]/c": "a/b/c", "a[1]": "a"} {
		if got := plan.PartPath(node); got != want {
			t.Errorf("PartPath(%q) = %q, want %q", node, got, want)
		}
	}
}

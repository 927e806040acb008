package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rehearse/rehearsetest"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

const eventsPage = "../docs/events.md"

// eventTypes reads the constants of type EventType from the source of package core, so that
// the test includes new types.
func eventTypes(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "core", "event.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "EventType" {
			for _, v := range spec.Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				types = append(types, text)
			}
		}
		return true
	})
	if len(types) < 10 {
		t.Fatalf("found only %q", types)
	}
	return types
}

func eventFields() []string {
	var names []string
	for f := range reflect.TypeFor[core.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// documented returns the fields that the page names for each type.
func documented(t *testing.T) (types map[string][]string, fields []string, page string) {
	t.Helper()
	data, err := os.ReadFile(eventsPage)
	if err != nil {
		t.Fatal(err)
	}
	page = string(data)
	types = map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| (`[^|]+) \\| ([^|]*) \\| (.*) \\|$")
	quoted := regexp.MustCompile("`([a-z_.]+)`")
	_, section, _ := strings.Cut(page, "\n## Types\n")
	section, rest, _ := strings.Cut(section, "\n## Fields\n")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		name := strings.Trim(m[1], "`")
		for _, q := range quoted.FindAllStringSubmatch(m[3], -1) {
			types[name] = append(types[name], q[1])
		}
	}
	rest, _, _ = strings.Cut(rest, "\n## Examples\n")
	for _, m := range row.FindAllStringSubmatch(rest, -1) {
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			fields = append(fields, q[1])
		}
	}
	return types, fields, page
}

// TestEventsPageIsComplete checks that docs/events.md names every type and every field,
// with an example of each type that decodes as such an event.
func TestEventsPageIsComplete(t *testing.T) {
	types, fields, page := documented(t)
	for _, typ := range eventTypes(t) {
		if types[typ] == nil {
			t.Errorf("the type %s is not in the table", typ)
		}
		_, section, ok := strings.Cut(page, "\n### "+typ+"\n```json\n")
		if !ok {
			t.Errorf("the type %s has no example", typ)
			continue
		}
		line, _, _ := strings.Cut(section, "\n")
		var e core.Event
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil || string(e.Type) != typ || e.V != core.EventVersion {
			t.Errorf("the example of %s is no such event: %v", typ, err)
		}
		for key := range keys(t, []byte(line)) {
			if !slices.Contains(types[typ], key) {
				t.Errorf("the example of %s has %s, which the table does not name", typ, key)
			}
		}
	}
	for _, f := range eventFields() {
		if !slices.Contains(fields, f) {
			t.Errorf("the field %s is not in the table", f)
		}
	}
	for typ, list := range types {
		if !slices.Contains(eventTypes(t), typ) {
			t.Errorf("the page has a type %s that does not exist", typ)
		}
		if len(list) == 0 {
			t.Errorf("the page names no fields of %s", typ)
		}
	}
}

// TestEventsPageHasAllRules checks that docs/events.md lists the rules that verify checks,
// in their order.
func TestEventsPageHasAllRules(t *testing.T) {
	_, _, page := documented(t)
	_, section, _ := strings.Cut(page, "\n## Checking a log\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	for _, r := range verify.Rules() {
		want = append(want, string(r.Rule))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has %q, want %q", got, want)
	}
}

// keys returns the keys of a JSON object, without the keys that every event has.
func keys(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	for _, common := range []string{"v", "seq", "ts", "type", "run"} {
		delete(m, common)
	}
	return m
}

// eventsOfWalk runs a walk with parallel branches and a human gate and returns its events.
func eventsOfWalk(t *testing.T) (events []core.Event) {
	t.Helper()
	text := func(s string) source.Text { return source.Text{Value: s} }
	ok := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Result{Routing: &core.Routing{Context: map[string]any{"k": 1}}}, nil
	})
	w := &core.Workflow{Mode: core.ModeWalk, Name: text("walk"), Nodes: []*core.Node{{ID: text("start"), Kind: text("start")}, {ID: text("exit"), Kind: text("exit")},
		{ID: text("vote"), Kind: text("parallel")}, {ID: text("a"), Handler: ok}, {ID: text("b"), Handler: ok}, {ID: text("m"), Handler: ok}, {ID: text("gate"), Kind: text("human")}}}
	for _, e := range [][2]string{{"start", "vote"}, {"vote", "a"}, {"vote", "b"}, {"a", "m"}, {"b", "m"}, {"m", "gate"}, {"gate", "exit"}} {
		w.Edges = append(w.Edges, &core.Edge{From: text(e[0]), To: text(e[1]), Label: text("go")})
	}
	when := text("outcome == 'success'")
	w.Edges[5].When = &when
	p, ds := plan.Compile(w, core.NewRegistry(std.Kinds()...), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	if _, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Interviewer: human.Queue("what?", "go"),
		Listener: func(e core.Event) { events = append(events, e) }}); err != nil {
		t.Fatal(err)
	}
	return events
}

// TestEventsHaveDocumentedFields rehearses a workflow that uses many features and checks
// that every field of every event is documented for its type.
func TestEventsHaveDocumentedFields(t *testing.T) {
	types, _, _ := documented(t)
	_, rec := rehearsetest.Run(t, `
name: everything
phases: [{id: p}]
state:
  schema: {rows: {type: array}, n: {type: integer, merge: sum}}
graph:
  nodes:
    - {id: load, kind: tool, impl: a, phase: p, writes: [rows]}
    - {id: score, kind: tool, impl: a, phase: p, for_each: {source: $.rows}, on_error: {policy: retry, attempts: 2}}
    - {id: rescue, kind: tool, impl: a, phase: p}
    - {id: save, kind: tool, impl: a, phase: p}
    - {id: other, kind: tool, impl: a, phase: p}
    - {id: parse, kind: tool, impl: a, phase: p}
    - {id: draft, kind: tool, impl: a, phase: p, writes: [n]}
    - {id: never, kind: tool, impl: a, phase: p}
    - {id: some, kind: tool, impl: a, phase: p, join: any}
  edges: [{from: load, to: some}, {from: rescue, to: some}, {from: load, to: score}, {from: score, to: rescue, on: fail, handles: true}, {from: score, to: save}, {from: load, to: other, when: length($.rows) > 5}, {from: other, to: never}]
  pipelines: [{id: ingest, items: $.rows, stages: [parse], phase: p}]
  loops: [{id: refine, body: draft, max_iters: 2, phase: p}]`, `nodes:
  load: [{delta: {rows: [1, 2]}}]
  score: [{item: 1, error: {message: bad}}, {}]
  parse: [{item: 1, error: {message: bad}}, {}]
  draft: [{delta: {n: 1}}]`)
	seen := map[string]bool{}
	for _, e := range append(rec.Events, eventsOfWalk(t)...) {
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
		seen[string(e.Type)] = true
		for key := range keys(t, b.Bytes()) {
			if !slices.Contains(types[string(e.Type)], key) {
				t.Errorf("%s has %s, which the page does not name: %s", e.Type, key, b.String())
			}
		}
	}
	if len(seen) != len(eventTypes(t))-12 { // missing are log, progress, entries of flows, changes of graphs and the types of models and tools, which come from handlers, sources, which come from documents, and the three types of stored runs
		t.Errorf("the run had only %d types", len(seen))
	}
}

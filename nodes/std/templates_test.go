package std_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
)

// marker is the template in templateValues.
const marker = "{{$.x}}"

// templateNodes has nodes of each kind. Each key of the kind can be added to at least one of them.
var templateNodes = map[string][]string{
	"tool":       {`{"impl": "fn"}`, `{"impl": "run.sh"}`},
	"command":    {`{"run": ["echo"], "writes": ["a"]}`},
	"script":     {`{"script": "echo", "writes": ["a"]}`, `{"script_from": "a"}`},
	"workflow":   {`{"file": "other.yaml", "writes": ["a"]}`},
	"experience": {`{"impl": "other.yaml"}`},
	"wait":       {`{"duration": "1s"}`},
	"human":      {`{"text": "well?"}`},
	"route":      {`{"choices": [{"when": "yes"}]}`},
	"guard":      {`{"check": "$.a == 1"}`, `{"checks": [{"name": "c", "expr": "$.a == 1"}]}`},
	"router":     {`{"prompt": "p", "routes": {"a": "b"}}`},
	"template":   {`{"text": "t", "writes": ["a"]}`, `{"file": "t.txt", "writes": ["a"]}`},
	"agent": {`{"prompt": "p", "tools": [{"name": "fn"}], "commands": [{"name": "c", "run": ["echo"]}], "skills": [{"name": "s", "instruction": "i"}], "tool_filter": {"allow": ["s"]}}`,
		`{"prompt": "p", "eval": [{"name": "e", "kind": "judge", "rubric": "r"}]}`,
		`{"prompt": "p", "eval": [{"name": "e", "kind": "value", "rule": {"output_required": ["a"], "output_matches": [{"path": "a"}]}}]}`,
		`{"prompt": "p", "eval": [{"name": "e", "kind": "value", "rule": {"output_required": ["a"], "output_matches": [{"path": "a", "in": ["b"]}]}}]}`,
		`{"prompt": "p", "requires": {"output_matches": [{"path": "a", "matches": "b"}]}, "context": true}`,
		`{"prompt": "p", "preamble": [{"text": "t"}]}`, `{"prompt": "p", "retry_instruction": {}}`,
		`{"instruction": "p"}`, `{}`},
	"cli-agent": {`{"provider": "p", "prompt": "p"}`},
	"skill":     {`{"impl": "p"}`},
	"dataset":   {`{"source": "in.csv", "writes": ["rows"], "checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad.csv"}`, `{"source": {"file": "in.csv"}, "writes": ["rows"]}`},
	"sink":      {`{"from": "rows", "to": "out.csv"}`, `{"from": "rows", "to": "out.db", "table": "t"}`},
	"sql": {`{"dsn": "x.db", "query": "SELECT 1", "writes": ["rows"]}`, `{"dsn": "x.db", "exec": ["DELETE FROM t"]}`,
		`{"dsn": "x.db", "table": "t", "from": "rows"}`, `{"dsn": "postgres://h/x", "table": "t", "from": "rows"}`, `{"dsn": {}, "driver": "sqlite", "table": "t", "from": "rows"}`},
	"http": {`{"url": "http://h", "method": "POST", "writes": ["a"]}`, `{"url": "http://h", "pages": {"by": "cursor", "param": "p", "next": "n"}, "writes": ["rows"]}`,
		`{"url": "http://h", "auth": {"basic": {"user": "u", "password": "p"}}, "writes": ["a"]}`, `{"url": "http://h", "auth": {}}`, `{"url": "http://h"}`},
	"transform": {`{"from": "rows", "writes": ["b"]}`, `{"from": "rows", "writes": ["b"], "limit": 1}`, `{"from": "rows", "writes": ["b"], "checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad.csv"}`,
		`{"from": "rows", "writes": ["b"], "steps": [{}]}`,
		`{"from": "rows", "writes": ["b"], "steps": [{"group": {"by": ["a"], "aggregate": {"n": "count"}}}]}`,
		`{"from": "rows", "writes": ["b"], "steps": [{"window": {"by": ["a"], "columns": {"n": "row_number"}}}]}`,
		`{"from": "rows", "writes": ["b"], "steps": [{"join": {"with": "b", "on": "a"}}]}`,
		`{"from": "rows", "writes": ["b"], "steps": [{"checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad.csv"}]}`},
}

// ownKeys lists keys inside values whose types decode themselves. source.KeysOf does not list them.
var ownKeys = map[string][]string{
	"agent":     {"preamble.title", "preamble.input", "preamble.text", "tools.description", "retry_instruction.reflect", "commands.env.V.secret"},
	"command":   {"env.V.secret"},
	"dataset":   {"source.files", "source.uri", "source.type", "source.format", "columns.a.type"},
	"http":      {"query.q.secret", "headers.h.secret", "auth.bearer.secret"},
	"prompt":    {"preamble.title", "preamble.input", "preamble.text", "retry_instruction.reflect"},
	"sql":       {"dsn.secret"},
	"transform": {"steps.join.take.a", "steps.join.on.a"},
}

// literal maps the keys whose value is used as written to the reason.
var literal = map[string]string{
	"dataset.nulls":                    "compared with the cells of a file",
	"agent.instruction":                prose,
	"agent.preamble":                   prose,
	"agent.preamble.title":             prose,
	"agent.preamble.text":              prose,
	"agent.retry_instruction":          prose,
	"agent.retry_instruction.reflect":  prose,
	"agent.eval.rubric":                prose,
	"agent.schema":                     schema,
	"prompt.instruction":               prose,
	"prompt.preamble":                  prose,
	"prompt.preamble.title":            prose,
	"prompt.preamble.text":             prose,
	"prompt.retry_instruction":         prose,
	"prompt.retry_instruction.reflect": prose,
	"prompt.eval.rubric":               prose,
	"prompt.schema":                    schema,
	"agent.tools.description":          prose,
	"agent.commands.description":       prose,
	"agent.skills.description":         prose,
	"agent.skills.instruction":         prose,
	"route.choices.when":               prose,
	"route.choices.name":               prose,
	"agent.commands.parameters":        schema,
	"cli-agent.provider":               passed,
	"cli-agent.model":                  passed,
	"cli-agent.workdir":                passed,
	"cli-agent.output_format":          passed,
	"cli-agent.schema":                 passed,
	"cli-agent.extra_args":             passed,
	"skill.impl":                       passed,
	"skill.inputs":                     passed,
	"skill.model":                      passed,
	"skill.schema":                     passed,
	"human.default":                    choice,
}

// Reasons in literal.
const (
	prose  = "text for a model or for people, used as it is written"
	schema = "a JSON Schema"
	choice = "one of the choices of a gate, or else a finding"
	passed = "passed as it is written to the function that is registered for the kind"
)

// templateValues are the values that TestTemplates sets keys to: the template as a string, in a list
// and in a mapping, there as a value and as a key of values that some kind accepts.
var templateValues = []string{
	`"{{$.x}}"`, `["{{$.x}}"]`, `{"k": "{{$.x}}"}`,
	`{"{{$.x}}": "a"}`, `{"{{$.x}}": "count"}`, `{"{{$.x}}": "string"}`, `{"{{$.x}}": "row_number"}`, `{"{{$.x}}": 1}`, `{"{{$.x}}": ["a"]}`,
}

// TestTemplates writes a template into each key of each kind, and into each key of the structs
// in it. It must be rendered or rejected.
func TestTemplates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"in.csv": "a\n1\n", "t.txt": "t", "other.yaml": "name: other\n", "run.sh": "echo"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	used := map[string]bool{}
	for _, k := range append(basicKinds(), agent.Kinds(llmtest.Script(t))...) {
		bases := templateNodes[k.Name()]
		if k.Name() == "prompt" {
			bases = templateNodes["agent"][1:]
		}
		for _, path := range append(pathsOf(configOf(t, k)), ownKeys[k.Name()]...) {
			name := k.Name() + "." + path
			if literal[name] != "" {
				used[name] = true
				continue
			}
			seen := false
			for _, value := range templateValues {
				for _, base := range bases {
					node := with(t, base, path, value)
					switch got, findings := tryTemplate(t, dir, k, node, path[strings.LastIndex(path, ".")+1:]); got {
					case accepted:
						t.Errorf("%s: a template is accepted and not rendered: %s, findings: %s", name, node, findings)
					case noticed:
						seen = true
					}
				}
			}
			if !seen {
				t.Errorf("%s: no node of templateNodes can have this key", name)
			}
		}
	}
	for name := range literal {
		if !used[name] {
			t.Errorf("there is no key %s", name)
		}
	}
}

// basicKinds returns the standard kinds except agent and prompt.
func basicKinds() []core.Kind {
	return slices.DeleteFunc(std.Kinds(), func(k core.Kind) bool { return k.Name() == "agent" || k.Name() == "prompt" })
}

// with returns a node with a value at a path. For a list on the path, it uses the first element.
func with(t *testing.T, base, path, val string) string {
	t.Helper()
	parse := func(text string) any {
		v, err := value.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	node := parse(base).(*value.Object)
	at, keys := node, strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		inner, _ := at.Get(key)
		if list, ok := inner.([]any); ok {
			inner = list[0]
		}
		next, ok := inner.(*value.Object)
		if !ok {
			next = &value.Object{}
			at.Set(key, next)
		}
		at = next
	}
	at.Set(keys[len(keys)-1], parse(val))
	return value.JSON(node)
}

// Results of tryTemplate.
const (
	failed   = iota // the node has errors that do not mention it
	noticed         // it is rendered, or a finding mentions it or is about its key
	accepted        // the node compiles and no finding mentions it
)

// tryTemplate compiles a node that has the marker in a key.
func tryTemplate(t *testing.T, dir string, k core.Kind, node, key string) (int, string) {
	t.Helper()
	made, ds := k.Compile(nodestest.Node(t, node), core.Env{
		Dir: dir, Files: os.DirFS(dir), Schema: nodestest.Schema(t, `{"a": {}, "b": {}, "rows": {}, "x": {}}`),
		LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
		LoadWorkflow: func(path string) (*core.Workflow, error) {
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				return nil, err
			}
			return &core.Workflow{Fields: []core.FieldDecl{{Name: source.At("a", source.Position{})}}}, nil
		},
		Tools: []string{"fn"},
		Tool: func(name string) (core.Handler, bool) {
			if !slices.Contains([]string{"fn", "cli-agent", "skill"}, name) {
				return nil, false
			}
			return core.HandlerFunc(nothing), true
		},
		Edges: []*core.Edge{{From: source.At("n", source.Position{}), To: source.At("b", source.Position{})}},
	})
	for _, w := range made.Warnings {
		ds.Warnf(w.Code, w.Pos, "%s", w.Message)
	}
	mentioned := slices.ContainsFunc(ds, func(d source.Diagnostic) bool {
		return strings.Contains(d.Message, marker) || strings.Contains(d.Message, "template") || strings.HasPrefix(string(d.Code), "EXPR_") ||
			strings.Contains(d.Message, key) && strings.Contains(d.Message, "has no effect")
	})
	rendered := slices.Contains(source.Strings(made.Reads), "x") || slices.Contains(source.Strings(made.Nodes), marker) || slices.Contains(source.Strings(made.Missing.Names), marker)
	switch {
	case mentioned || rendered:
		return noticed, ""
	case ds.Failed(false):
		return failed, ""
	}
	return accepted, nodestest.Findings(ds)
}

// configOf returns the type of the configuration that core.NewKind was given.
func configOf(t *testing.T, k core.Kind) reflect.Type {
	t.Helper()
	is, ok := reflect.TypeOf(k).Elem().FieldByName("is")
	if !ok {
		t.Fatalf("kind %s was not made by core.NewKind", k.Name())
	}
	compile, _ := is.Type.FieldByName("Compile")
	return compile.Type.In(2).Elem()
}

// pathsOf lists the keys that source.Decode reads into a struct, and the keys of nested structs.
func pathsOf(config reflect.Type) []string {
	var out []string
	for _, key := range source.KeysOf(reflect.Zero(config).Interface()) {
		out = append(out, key.Name)
		for _, inner := range inside(key.Type) {
			out = append(out, key.Name+"."+inner)
		}
	}
	return out
}

// inside lists the keys of the structs in a value of a type.
func inside(t reflect.Type) []string {
	if of, ok := source.MembersOf(t); ok {
		return inside(of)
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[source.Unmarshaler]()):
		return nil
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return inside(t.Elem())
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[source.Value]() && t != reflect.TypeFor[value.Object]():
		return pathsOf(t)
	}
	return nil
}

package std_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// partialKind compiles nodes of a kind in a folder with files, for a state whose fields and columns
// are all known.
func partialKind(t *testing.T) func(kind string, n *core.Node) (core.Compiled, source.Diagnostics) {
	dir := t.TempDir()
	for name, text := range map[string]string{"in.csv": "a,b\n1,2\n", "t.txt": "t", "run.sh": "echo"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kinds := core.NewRegistry(append(basicKinds(), agent.Kinds(llmtest.Script(t))...)...)
	env := core.Env{Dir: dir, Files: os.DirFS(dir), Schema: nodestest.Schema(t, `{"rows": {"type": "array"}, "name": {"type": "string"}, "out": {}, "bad": {}, "typed": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "string"}}}}}`),
		LookPath: func(name string) (string, error) {
			if strings.HasPrefix(name, "no") {
				return "", os.ErrNotExist
			}
			return "/bin/" + name, nil
		},
		Columns: func(field string) source.Columns {
			if field != "rows" && field != "typed" {
				return source.Columns{}
			}
			return source.Columns{Names: []string{"a", "b"}, Closed: true}
		},
		LoadWorkflow: func(path string) (*core.Workflow, error) {
			if path != "other.yaml" {
				return nil, os.ErrNotExist
			}
			return &core.Workflow{Fields: []core.FieldDecl{{Name: source.At("theirs", source.Position{})}}}, nil
		}}
	return func(kind string, n *core.Node) (core.Compiled, source.Diagnostics) {
		k, ok := kinds.Kind(kind)
		if !ok {
			t.Fatalf("there is no kind %q", kind)
		}
		env := env
		env.Tool = func(name string) (core.Handler, bool) {
			if name == "fn" || name == kind && slices.Contains([]string{"cli-agent", "skill"}, kind) {
				return core.HandlerFunc(nothing), true
			}
			return nil, false
		}
		return k.Compile(n, env)
	}
}

// TestTwoMistakes tests that a node with a key that cannot be read is checked nevertheless: a wrong
// name or expression in another key is reported, too.
func TestTwoMistakes(t *testing.T) {
	compile := partialKind(t)
	for _, c := range []struct{ kind, node, one, two string }{
		{"sink", `"from": "nope"`, `key "to" is missing`, `from: the state has no field "nope"`},
		{"sink", `"from": "rows", "to": "out.csv", "header": 7, "columns": ["c"]`, `header: want true or false`, `columns: the rows of rows have no column "c"`},
		{"sink", `"from": "name", "format": "cvs", "to": "{{$.nope}}"`, `format: "cvs" is none of`, `to: unknown field "nope"`},
		{"dataset", `"source": "no.csv", "limit": "x"`, `limit: want a whole number`, `source: there is no file "no.csv"`},
		{"dataset", `"source": "{{$.nope}}.csv", "columns": 3`, `columns: want a mapping`, `source: unknown field "nope"`},
		{"dataset", `"source": 3, "rejects": "nope"`, `source: want a path`, `rejects: "nope" is neither a field among the node's writes nor a file name`},
		{"dataset", `"source": 3, "checks": [{"name": "c", "expr": "$.nope > 1"}]`, `source: want a path`, `check c: unknown field "nope"`},
		{"transform", `"from": "nope", "steps": 3`, `steps: want a list`, `from: the state has no field "nope"`},
		{"transform", `"from": 3, "filter": "$.nope > $item.a"`, `from: want a string`, `filter: unknown field "nope"`},
		{"transform", `"from": "rows", "max_held": 0, "filter": "$item.c > 1"`, `max_held: want`, `filter: the rows have no column "c"`},
		{"transform", `"from": "rows", "max_held": 0, "into": "nope", "limit": 1`, `max_held: want`, `into: field "nope" is not among the writes`},
		{"transform", `"from": "rows", "steps": [{"filter": 1}, {"filter": "$.nope > 1"}]`, `steps[0].filter: want a string`, `steps[1]: filter: unknown field "nope"`},
		{"transform", `"from": "rows", "steps": [{"select": ["c"]}, {"filter": 1}]`, `steps[1].filter: want a string`, `steps[0]: select: the rows have no column "c"`},
		{"sql", `"dsn": 3, "table": "t", "from": "nope"`, `dsn: want`, `from: the state has no field "nope"`},
		{"sql", `"dsn": "x.db", "table": "t", "batch": 0, "from": "nope"`, `batch: want`, `from: the state has no field "nope"`},
		{"sql", `"dsn": "x.db", "query": 3, "into": "nope"`, `query: want a string`, `into: field "nope" is not among the node's writes`},
		{"sql", `"dsn": "x.db", "query": "SELECT :p", "stream": 3`, `stream: want true or false`, `query: there is no argument "p"`},
		{"http", `"url": 3, "headers": {"X": "{{$.nope}}"}`, `url: want a string`, `headers.X: unknown field "nope"`},
		{"http", `"url": "http://h/{{$.nope}}", "output": "jsn"`, `output: "jsn" is none of`, `url: unknown field "nope"`},
		{"http", `"url": "http://h", "method": "GIT", "into": "nope"`, `method: "GIT" is none of`, `into: field "nope" is not among the node's writes`},
		{"command", `"run": 3, "stdin": "{{$.nope}}"`, `run: want a list`, `stdin: unknown field "nope"`},
		{"command", `"run": ["nosuch"], "output": "jsn"`, `output: "jsn" is none of`, `run: program "nosuch" is not there`},
		{"command", `"env": {"X": "{{$.nope}}"}`, `key "run" is missing`, `env.X: unknown field "nope"`},
		{"script", `"script": "echo", "language": "ruby", "into": "nope"`, `language: "ruby" is none of`, `into: field "nope" is not among the node's writes`},
		{"script", `"script": 3, "into": "nope"`, `script: want a string`, `into: field "nope" is not among the node's writes`},
		{"template", `"text": 3, "into": "nope"`, `text: want a string`, `into: field "nope" is not among the node's writes`},
		{"template", `"into": 3, "text": "{{$.nope}}"`, `into: want a string`, `text: unknown field "nope"`},
		{"template", `"into": 3, "file": "no.txt"`, `into: want a string`, `file: there is no file "no.txt"`},
		{"tool", `"impl": "nope", "max_output": 0`, `max_output: want`, `impl: no function "nope" is registered`},
		{"human", `"default_choice": 3, "text": "{{$.nope}}"`, `default_choice: want a string`, `text: unknown field "nope"`},
		{"human", `"text": 3, "show": ["$.nope"]`, `text: want a string`, `show: unknown field "nope"`},
		{"agent", `"prompt": 3, "system": "{{$.nope}}"`, `prompt: want a string`, `system: unknown field "nope"`},
		{"agent", `"prompt": "{{$.nope}}", "temperature": 7`, `temperature: want`, `prompt: unknown field "nope"`},
		{"agent", `"prompt": "p", "max_turns": 0, "tools": ["nope"]`, `max_turns: want`, `tools: no Go function is registered under "nope"`},
		{"agent", `"prompt": "p", "max_turns": 0, "commands": [{"name": "c", "run": ["nosuch"]}]`, `max_turns: want`, `commands: c: program "nosuch" is not there`},
		{"prompt", `"prompt": "{{$.nope}}", "max_tokens": 0`, `max_tokens: want`, `prompt: unknown field "nope"`},
		{"workflow", `"file": "other.yaml", "outputs": {"nope": "theirs"}, "extra": 1`, `unknown key "extra"`, `outputs: field "nope" is not among the node's writes`},
		{"workflow", `"file": "no.yaml", "outputs": {"nope": "theirs"}`, `file: there is no file "no.yaml"`, `outputs: field "nope" is not among the node's writes`},
		{"workflow", `"file": 3, "outputs": {"nope": "theirs"}`, `file: want a string`, `outputs: field "nope" is not among the node's writes`},
		{"workflow", `"file": "no.yaml", "outputs": 3`, `outputs: want a mapping`, `file: there is no file "no.yaml"`},
		{"experience", `"impl": "no.yaml", "state_scope": "both"`, `state_scope: "both" is none of`, `impl: there is no file "no.yaml"`},
		{"cli-agent", `"prompt": "{{$.nope}}"`, `key "provider" is missing`, `prompt: unknown field "nope"`},
		{"cli-agent", `"prompt": 3, "provider": "p", "schema": "no.json"`, `prompt: want a string`, `schema: there is no file "no.json"`},
		{"skill", `"model": 3, "impl": "p", "schema": "no.json"`, `model: want a string`, `schema: there is no file "no.json"`},
	} {
		node := `{` + c.node + `, "writes": ["out"]}`
		_, ds := compile(c.kind, nodestest.Node(t, node))
		var lines []string
		for _, d := range ds {
			if d.Severity == source.Error {
				lines = append(lines, d.Message)
			}
		}
		got := strings.Join(lines, "\n")
		if len(lines) != 2 || !strings.Contains(got, c.one) || !strings.Contains(got, c.two) {
			t.Errorf("%s %s: got\n%s\nwant one error each with\n%s\n%s", c.kind, node, got, c.one, c.two)
		}
	}
}

// TestReferencesOfMistakenNodes tests that a node with errors has references nevertheless. The
// compiler checks them.
func TestReferencesOfMistakenNodes(t *testing.T) {
	compile := partialKind(t)
	for kind, node := range map[string]string{
		"command":  `{"run": ["echo", "{{$nodes.x.output}}"], "output": "jsn"}`,
		"http":     `{"url": "http://h/{{$nodes.x.output}}", "output": "jsn"}`,
		"template": `{"text": "{{$nodes.x.output}}", "into": 3}`,
		"human":    `{"text": "{{$nodes.x.output}}", "default_choice": 3}`,
		"agent":    `{"prompt": "p", "context_nodes": ["x"], "context": true, "max_turns": 0}`,
		"prompt":   `{"prompt": "{{$nodes.x.output}}", "max_tokens": 0}`,
		"route":    `{"choices": [{"target": "b"}], "shows": {"x": []}, "model": 3}`,
	} {
		made, ds := compile(kind, nodestest.Node(t, node))
		if got := source.Strings(made.Nodes); !ds.Failed(false) || !slices.Equal(got, []string{"x"}) {
			t.Errorf("%s %s: got nodes %v, findings %v", kind, node, got, ds)
		}
	}
}

// wholeNodes are nodes of each kind without mistakes. Together they have most of the keys.
var wholeNodes = map[string][]string{
	"sink": {`{"from": "rows", "to": "out.csv", "columns": ["a"], "delimiter": ";", "header": false, "compression": "gzip"}`,
		`{"from": "rows", "to": "out.txt", "format": "csv", "columns": {"a": "string"}}`,
		`{"reads": ["rows"], "from": "out", "to": "x.db", "table": "t", "mode": "upsert", "key": ["c"]}`,
		`{"from": "rows", "to": "x.db", "table": "t", "mode": "upsert", "columns": ["a", "b"], "key": ["a"]}`,
		`{"from": "typed", "to": "x.db", "table": "t", "mode": "upsert", "columns": ["c"], "key": ["c"]}`,
		`{"from": "rows", "to": "/x/y.csv", "allow_outside": true}`},
	"dataset": {`{"source": "in.csv", "columns": {"a": "integer", "c": {"type": "string", "optional": true}}, "select": ["a", "c", "d"], "header": ["a", "b", "d", "e"], "nulls": ["-"], "writes": ["rows"]}`,
		`{"source": "in.csv", "columns": {"a": "integer"}, "unknown": "drop", "checks": [{"name": "c", "expr": "$item.a + 1 > 1"}], "on_bad_row": "collect", "rejects": "bad", "max_failures": 3, "writes": ["rows", "bad"]}`,
		`{"source": "in.csv", "select": ["a"], "file_column": "f", "checks": [{"name": "c", "expr": "$item.f == 'x'"}], "report": "q.json", "writes": ["rows"]}`,
		`{"source": "in.csv", "header": ["a", "b"], "columns": {"f": "string"}, "file_column": "f", "writes": ["rows"]}`,
		`{"source": "none.csv", "check": false, "writes": ["rows"]}`, `{"source": "none.csv", "optional": true, "writes": ["rows"]}`,
		`{"source": "/etc/hosts", "format": "csv", "allow_outside": true, "stream": true, "writes": ["rows"]}`,
		`{"source": "in/", "format": "csv", "optional": true, "writes": ["rows"]}`},
	"transform": {`{"reads": ["rows"], "from": "out", "filter": "$item.c > 1", "into": "out", "writes": ["out"], "max_memory": "1MB"}`,
		`{"reads": ["rows"], "from": "out", "steps": [{"derive": {"d": "$item.c + 1"}}, {"select": ["d"]}, {"sort": ["-d"]}], "writes": ["out"]}`,
		`{"from": "rows", "steps": [{"derive": {"d": "$item.a"}}, {"filter": "$item.d > 1"}, {"group": {"by": ["d"], "aggregate": {"n": "count", "m": "sum(d)"}}}, {"window": {"columns": {"k": "row_number"}}}, {"filter": "$item.n > $item.m + $item.k"}], "stream": true, "writes": ["out"]}`,
		`{"from": "rows", "checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad", "into": "out", "max_failures": "5%", "writes": ["out", "bad"]}`,
		`{"from": "rows", "rename": {"a": "c"}, "writes": ["out"]}`},
	"sql": {`{"dsn": "x.db", "driver": "sqlite", "query": "SELECT a FROM t", "into": "out", "stream": true, "writes": ["out"]}`,
		`{"dsn": "x.db", "exec": ["DELETE FROM t WHERE a = :p"], "args": {"p": 1}}`,
		`{"reads": ["rows"], "from": "out", "dsn": "postgres://h/x", "table": "t", "schema": "s", "mode": "upsert", "key": ["c"], "batch": 5, "transaction": "batch"}`,
		`{"from": "rows", "dsn": "/x/y.db", "allow_outside": true, "table": "t", "columns": ["a", "b"], "key": ["a"], "create": true}`},
	"http": {`{"url": "http://h/{{$.name}}", "method": "POST", "query": {"q": "{{x}}"}, "headers": {"X": "{{$.name}}"}, "auth": {"bearer": "t"}, "body": "{{$.name}}", "output": "text", "into": "out", "args": {"x": 1}, "writes": ["out"]}`,
		`{"url": "http://h", "rows": "data", "pages": {"by": "cursor", "param": "p", "next": "n"}, "stream": true, "writes": ["rows"]}`,
		`{"url": "http://h", "save": "{{$.name}}.bin", "ok": [404], "per_second": 5, "idle_timeout": "5s", "max_body": "1MB"}`,
		`{"url": "http://h", "method": "POST", "body": "args", "args": {"x": 1}, "writes": ["out"]}`},
	"command": {`{"run": ["ls", "{{$.name}}"], "stdin": "{{$.name}}", "env": {"X": "{{$.name}}"}, "pass_env": ["Y"], "output": "json", "into": "out", "max_output": "1MB", "ok_codes": [0, 1], "allow_options": true, "writes": ["out"]}`,
		`{"run": ["./run.sh", "x"], "output": "none"}`},
	"script":     {`{"script": "echo", "language": "python", "stdin": "json", "output": "json", "into": "out", "pass_env": ["X"], "max_output": "1MB", "writes": ["out"]}`, `{"script_from": "out"}`},
	"template":   {`{"text": "{{$.name}} {{x}}", "into": "out", "args": {"x": 1}, "writes": ["out"]}`, `{"file": "t.txt"}`},
	"tool":       {`{"impl": "fn"}`, `{"impl": "run.sh", "pass_env": ["X"], "max_output": "1MB"}`},
	"human":      {`{"text": "{{$.name}}", "show": ["name"]}`},
	"guard":      {`{"check": "$.name == 'x'", "writes": ["out"]}`, `{"checks": [{"name": "c", "expr": "$nodes.x.output.y"}], "on_pass": "x", "on_fail": "x"}`},
	"router":     {`{"prompt": "{{$.name}} {{x}}", "system": "{{$.name}}", "routes": {"a": "x"}, "model": "m", "effort": "low", "args": {"x": 1}, "writes": ["out"]}`},
	"route":      {`{"choices": [{"target": "a", "when": "x"}, {"target": "b"}], "shows": {"x": ["y"]}, "node": "x", "model": "m", "writes": ["out"]}`},
	"wait":       {`{"duration": "1s"}`},
	"workflow":   {`{"file": "other.yaml", "outputs": {"out": "theirs"}, "writes": ["out"]}`},
	"experience": {`{"impl": "other.yaml", "state_scope": "isolated"}`},
	"cli-agent":  {`{"provider": "p", "prompt": "{{$.name}}", "model": "m", "timeout_ms": 5000, "extra_args": ["x"], "schema": {}}`},
	"skill":      {`{"impl": "p", "inputs": {"a": 1}, "model": "m", "schema": {}}`},
	"agent": {`{"prompt": "{{$.name}} {{x}}", "system": "{{$.name}}", "preamble": ["p"], "context": true, "context_nodes": ["x"], "schema": {"type": "object", "properties": {"out": {"type": "string"}}},
		"temperature": 1, "max_tokens": 5, "timeout_ms": 5000, "tools": ["fn"], "commands": [{"name": "c", "run": ["ls"], "env": {"X": "{{$.name}}"}}], "skills": [{"name": "s", "instruction": "i"}], "max_turns": 3, "max_output": "1MB", "args": {"x": 1}, "writes": ["out"]}`,
		`{"instruction": "p", "requires": {"output_required": ["x.y"]}, "eval": [{"name": "e", "kind": "judge", "rubric": "r"}], "judge_model": "m", "retry_instruction": "again", "fail_soft": true, "lenient": true}`},
	"prompt": {`{"prompt": "{{$.name}}", "system": "t.txt", "model": "m"}`},
}

// TestNoFollowUps makes one value in a node without mistakes invalid, or declares a key lost, and
// tests that nothing follows from that.
func TestNoFollowUps(t *testing.T) {
	compile := partialKind(t)
	for _, k := range append(basicKinds(), agent.Kinds(llmtest.Script(t))...) {
		kind := k.Name()
		if len(k.Keys()) > 0 && wholeNodes[kind] == nil {
			t.Errorf("wholeNodes has no node of kind %s", kind)
		}
		for _, node := range wholeNodes[kind] {
			n := nodestest.Node(t, node)
			if _, ds := compile(kind, n); ds.Failed(false) {
				t.Errorf("%s %s: %v", kind, node, ds)
				continue
			}
			for _, key := range n.Config.Keys {
				lost := *n
				lost.Lost, lost.Config = source.Lost{key.Value}, n.Config.Without([]string{key.Value})
				if _, ds := compile(kind, &lost); ds.Failed(false) {
					t.Errorf("%s %s: without %s: %v", kind, node, key.Value, ds)
				}
			}
			replaceEach(n.Config, "", func(path string) {
				_, ds := compile(kind, n)
				for _, d := range ds {
					if d.Severity == source.Error && !strings.HasPrefix(d.Message, "node n: "+path) {
						t.Errorf("%s %s: with an invalid %s: %v", kind, node, path, d)
					}
				}
			})
		}
	}
}

// replaceEach replaces each value in a tree by invalid ones, calls f, and restores the value. The path
// is the key of the node; for an element of steps it has an index.
func replaceEach(v *source.Value, path string, f func(path string)) {
	for i, member := range append(slices.Clone(v.Values), v.Items...) {
		at, list := path, v.Items
		switch {
		case path == "":
			at = v.Keys[i].Value
		case path == "steps":
			at = "steps[" + strconv.Itoa(i) + "]"
		}
		if v.Values != nil {
			list = v.Values
		}
		for _, invalid := range []any{-7.5, value.ObjectOf("?", value.ObjectOf("?", true)), []any{value.ObjectOf("?", true)}} {
			list[i] = source.Tree(invalid, member.Pos)
			f(at)
		}
		list[i] = member
		replaceEach(member, at, f)
	}
}

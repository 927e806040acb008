package std_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
)

// unusedKinds has nodes whose kind may leave declared writes unfilled. filled is the write that the
// node fills, "" if it fills none.
var unusedKinds = []struct{ kind, node, filled string }{
	{"wait", `"duration": "1s"`, ""},
	{"sink", `"from": "a", "to": "a.json"`, ""},
	{"human", `"text": "well?"`, ""},
	{"start", ``, ""},
	{"conditional", ``, ""},
	{"parallel", ``, ""},
	{"exit", ``, ""},
	{"fan_in", ``, ""},
	{"command", `"run": ["echo"], "output": "none"`, ""},
	{"command", `"run": ["echo"], "into": "a"`, "a"},
	{"script", `"script": "echo", "output": "none"`, ""},
	{"script", `"script": "echo", "into": "a"`, "a"},
	{"http", `"url": "http://h", "output": "none"`, ""},
	{"http", `"url": "http://h", "save": "a.bin"`, ""},
	{"http", `"url": "http://h", "into": "a"`, "a"},
	{"sql", `"dsn": "x.db", "exec": "DELETE FROM t"`, ""},
	{"sql", `"dsn": "x.db", "table": "t", "from": "a"`, ""},
	{"sql", `"dsn": "x.db", "query": "SELECT 1", "into": "a"`, "a"},
	{"template", `"text": "t", "into": "a"`, "a"},
	{"transform", `"limit": 1, "from": "a", "into": "a"`, "a"},
}

// TestUnusedWrites tests the warnings of nodes with two declared writes that fill at most one.
func TestUnusedWrites(t *testing.T) {
	for _, c := range unusedKinds {
		got := unused(t, c.kind, `{`+strings.TrimPrefix(c.node+`, "writes": ["a", "b"]`, ", ")+`}`, "stays as it is")
		for _, field := range []string{"a", "b"} {
			if warned := strings.Contains(got, fmt.Sprintf("field %q stays as it is [UNUSED]", field)); warned == (c.filled == field) {
				t.Errorf("%s {%s}: field %s is filled: %t, findings: %s", c.kind, c.node, field, c.filled == field, got)
			}
		}
	}
}

// TestUnusedArgs tests the warnings of nodes with two args. Their configuration reads at most the arg
// x, if read is set.
func TestUnusedArgs(t *testing.T) {
	for _, c := range []struct {
		kind, node string
		read       bool
	}{
		{"wait", `"duration": "1s"`, false},
		{"sink", `"from": "a", "to": "a.json"`, false},
		{"sink", `"from": "a", "to": "{{x}}.json"`, true},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"]`, false},
		{"dataset", `"source": "{{x.name}}.csv", "writes": ["a"]`, true},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], "checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "{{x}}.csv"`, true},
		{"transform", `"limit": 1, "from": "a", "into": "a", "writes": ["a"]`, false},
		{"transform", `"checks": [{"name": "c", "expr": "$item.a > 1"}], "report": "{{x}}.json", "from": "a", "into": "a", "writes": ["a"]`, true},
		{"human", `"text": "well?"`, false},
		{"human", `"text": "{{x}}?"`, true},
		{"start", ``, false},
		{"conditional", ``, false},
		{"parallel", ``, false},
		{"exit", ``, false},
		{"fan_in", ``, false},
		{"route", `"choices": [{"target": "b"}]`, false},
		{"command", `"run": ["echo"]`, false},
		{"command", `"run": ["echo", "{{x}}"]`, true},
		{"command", `"run": ["echo"], "env": {"X": "{{x}}"}`, true},
		{"command", `"run": ["cat"], "stdin": "{{x | json}}"`, true},
		{"script", `"script": "echo"`, false},
		{"http", `"url": "http://h"`, false},
		{"http", `"url": "http://h/{{x}}"`, true},
		{"http", `"url": "http://h", "headers": {"X": "{{x}}"}`, true},
		{"http", `"url": "http://h", "save": "{{x}}.bin"`, true},
		{"sql", `"dsn": "x.db", "table": "t", "from": "a"`, false},
		{"template", `"text": "{{$.a}}"`, false},
		{"template", `"text": "{{x}}"`, true},
		{"agent", `"prompt": "say it"`, false},
		{"agent", `"prompt": "say it", "system": "{{x}}"`, true},
		{"prompt", `"instruction": "say {{x}}"`, false},
	} {
		got := unused(t, c.kind, `{`+strings.TrimPrefix(c.node+`, "args": {"x": 1, "other": 2}`, ", ")+`}`, "args: nothing reads")
		if read := !strings.Contains(got, `nothing reads "x"`); read != c.read {
			t.Errorf("%s {%s}: arg x is read: %t, want %t: %s", c.kind, c.node, read, c.read, got)
		}
		if !strings.Contains(got, `nothing reads "other"`) {
			t.Errorf("%s {%s}: no finding for the arg that is not read: %s", c.kind, c.node, got)
		}
	}
	for kind, node := range map[string]string{
		"command": `{"run": ["cat"], "stdin": "json", "args": {"x": 1}}`,
		"script":  `{"script": "cat", "stdin": "json", "args": {"x": 1}}`,
		"http":    `{"url": "http://h", "method": "POST", "body": "args", "args": {"x": 1}}`,
		"sql":     `{"dsn": "x.db", "exec": "DELETE FROM t WHERE a = :x", "args": {"x": 1}}`,
	} {
		if got := unused(t, kind, node, "args"); got != "" {
			t.Errorf("%s %s: all args are read, got %s", kind, node, got)
		}
	}
}

// TestIgnored tests the findings about settings that another setting makes meaningless. Cases without
// a finding have the same keys with an effect.
func TestIgnored(t *testing.T) {
	const check, warn = `"checks": [{"name": "c", "expr": "$item.a > 1"}]`, `"checks": [{"name": "c", "expr": "$item.a > 1", "severity": "warn"}]`
	const judge = `"eval": [{"name": "e", "kind": "judge", "rubric": "short"}]`
	for _, c := range []struct{ kind, node, want string }{
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], "infer": false, "infer_rows": 5`, "infer_rows: has no effect on a node with infer: false"},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], "infer": true, "infer_rows": 5`, ""},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], "compression": "none", "max_ratio": 5`, "max_ratio: has no effect on a node with compression: none"},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], "compression": "gzip", "max_ratio": 5`, ""},
		{"dataset", `"source": "-", "format": "csv", "writes": ["a"], "allow_outside": true`, "allow_outside: has no effect on standard input"},
		{"dataset", `"source": "{{$.b}}.csv", "writes": ["a"], "check": true`, "check: has no effect on files whose names are known only in a run"},
		{"dataset", `"source": "{{$.b}}.csv", "writes": ["a"], "allow_outside": true`, ""},
		{"dataset", `"source": "a.csv", "writes": ["a"], "check": true, "optional": true`, "check: has no effect on files that are optional"},
		{"dataset", `"source": "a.csv", "check": false, "writes": ["a"], ` + warn + `, "max_failures": 3`, ""},
		{"transform", `"from": "a", "writes": ["a"], ` + warn + `, "max_failures": 3`, "max_failures: has no effect: no check makes a row bad"},
		{"transform", `"from": "a", "writes": ["a"], "steps": [{` + warn + `, "on_bad_row": "skip"}]`, "steps[0]: on_bad_row: has no effect: no check makes a row bad"},
		{"transform", `"from": "a", "writes": ["a"], ` + warn + `, "rejects": "bad.csv"`, "rejects: has no effect: no check makes a row bad"},
		{"transform", `"from": "a", "writes": ["a"], ` + warn + `, "allow_empty": true`, "allow_empty: has no effect: no check makes a row bad"},
		{"transform", `"from": "a", "writes": ["a"], ` + warn + `, "report": "q.json"`, ""},
		{"transform", `"from": "a", "writes": ["a"], ` + check + `, "max_failures": 3, "rejects": "bad.csv", "allow_empty": true`, ""},
		{"sink", `"from": "a", "to": "-", "format": "csv", "allow_outside": true`, "allow_outside: has no effect on standard output"},
		{"sink", `"from": "a", "to": "a.db", "table": "t", "mode": "append", "key": ["id"]`, ""}, // of a table that it makes
		{"sql", `"dsn": "x.db", "table": "t", "from": "a", "key": ["id"]`, "key: has no effect on a node that neither upserts rows nor creates the table"},
		{"sql", `"dsn": "x.db", "table": "t", "from": "a", "key": ["id"], "create": true`, ""},
		{"sql", `"dsn": "x.db", "table": "t", "from": "a", "key": ["id"], "mode": "upsert"`, ""},
		{"sql", `"dsn": "postgres://h/x", "driver": "sqlite", "table": "t", "from": "a"`, "driver: the dsn is of postgres"},
		{"sql", `"dsn": "postgres://h/x", "driver": "postgres", "table": "t", "from": "a"`, ""},
		{"http", `"url": "http://h", "pages": {"by": "cursor", "param": "p", "next": "n", "from": 3}`, "pages.from: has no meaning for by: cursor"},
		{"http", `"url": "http://h", "pages": {"by": "cursor", "param": "p", "next": "n", "size": 3}`, "pages.size: has no meaning for by: cursor"},
		{"http", `"url": "http://h", "pages": {"by": "cursor", "param": "p", "next": "n", "max": 3, "repeat": "end"}`, ""},
		{"http", `"url": "http://h", "pages": {"by": "link", "from": 3}`, "pages.from: has no meaning for by: link"},
		{"http", `"url": "http://h", "pages": {"by": "link", "size": 3}`, "pages.size: has no meaning for by: link"},
		{"http", `"url": "http://h", "pages": {"by": "number", "param": "p", "next": "n"}`, "pages.next: has no meaning for by: number"},
		{"http", `"url": "http://h", "pages": {"by": "offset", "param": "p", "size": 3, "next": "n"}`, "pages.next: has no meaning for by: offset"},
		{"http", `"url": "http://h", "pages": {"by": "offset", "param": "p", "size": 3, "from": 6}`, ""},
		{"http", `"url": "http://h", "method": "HEAD", "output": "text"`, "output: has no effect on a HEAD request"},
		{"http", `"url": "http://h", "method": "HEAD", "rows": "x"`, "rows: has no effect on a HEAD request"},
		{"http", `"url": "http://h", "method": "HEAD", "max_body": "1MB"`, "max_body: has no effect on a HEAD request"},
		{"http", `"url": "http://h", "method": "HEAD", "output": "none"`, ""},
		{"command", `"run": ["echo", "a"], "allow_options": true`, "allow_options: has no effect on a command without arguments that could be options"},
		{"command", `"run": ["ls", "{{$.a}}"], "allow_options": true`, ""},
		{"tool", `"impl": "fn", "max_output": "1MB"`, "max_output: has no effect on a Go function"},
		{"tool", `"impl": "fn", "pass_env": ["A"]`, "pass_env has no effect: fn is a Go function"},
		{"prompt", `"prompt": "p", "context_nodes": ["x"]`, "context_nodes has no effect: neither context nor requires uses the results"},
		{"prompt", `"prompt": "p", "context_nodes": ["x"], "context": true`, ""},
		{"prompt", `"prompt": "p", "context_nodes": ["x"], "requires": {"output_required": ["x.y"]}`, ""},
		{"prompt", `"prompt": "p", "judge_model": "m", "eval": [{"name": "e", "kind": "judge", "rubric": "short", "model": "n"}]`, "judge_model has no effect: each judge of the node names a model of its own"},
		{"prompt", `"prompt": "p", "judge_model": "m", ` + judge, ""},
		{"prompt", `"prompt": "p", "retry_instruction": "try", ` + judge, "retry_instruction has no effect: the node has one attempt"},
		{"prompt", `"prompt": "p", "preamble": [{"title": "T"}]`, "preamble: title has no effect: there is nothing below it"},
		{"prompt", `"prompt": "p", "preamble": [{"title": "T", "input": "i"}]`, ""},
	} {
		made, ds := compileOne(t, c.kind, `{`+c.node+`}`)
		for _, w := range made.Warnings {
			ds.Warnf(w.Code, w.Pos, "%s", w.Message)
		}
		got := nodestest.Findings(ds)
		if c.want == "" && strings.Contains(got, "has no ") || !strings.Contains(got, c.want) {
			t.Errorf("%s {%s}:\ngot %swant %s", c.kind, c.node, got, c.want)
		}
	}
}

func compileOne(t *testing.T, kind, node string) (core.Compiled, source.Diagnostics) {
	t.Helper()
	k, _ := core.NewRegistry(append(std.Kinds(), agent.Kinds(llmtest.Script(t))...)...).Kind(kind)
	return k.Compile(nodestest.Node(t, node), core.Env{Dir: t.TempDir(), Schema: nodestest.Schema(t, `{"a": {}, "b": {}}`), LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
		Tool:        func(string) (core.Handler, bool) { return core.HandlerFunc(nothing), kind == "tool" },
		Conventions: core.Conventions{Branches: true}})
}

func nothing(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }

// unused compiles a node and returns its findings about something, which must be warnings.
func unused(t *testing.T, kind, node, about string) string {
	t.Helper()
	_, ds := compileOne(t, kind, node)
	var found source.Diagnostics
	for _, d := range ds {
		if d.Severity == source.Error {
			t.Fatalf("%s %s: %v", kind, node, d)
		}
		if strings.Contains(d.Message, about) {
			found = append(found, d)
		}
	}
	return nodestest.Findings(found)
}

package std_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
)

// unusedKinds has a node of each kind that can have declared writes or args without a use.
// filled is the write that it fills, if it fills one.
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

// TestUnusedWrites declares two writes on nodes that fill at most one of them.
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

// TestUnusedArgs gives args to nodes whose configuration reads arg x, if read is set, and no
// other.
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

// unused compiles a node and returns its findings, which must be warnings.
func unused(t *testing.T, kind, node, about string) string {
	t.Helper()
	k, _ := core.NewRegistry(append(std.Kinds(), agent.Kinds(llmtest.Script(t))...)...).Kind(kind)
	var found core.Diagnostics
	_, ds := k.Compile(nodestest.Node(t, node), core.Env{Dir: t.TempDir(), Schema: nodestest.Schema(t, `{"a": {}, "b": {}}`), LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
		Conventions: core.Conventions{Branches: true}})
	for _, d := range ds {
		if d.Severity == core.Error {
			t.Fatalf("%s %s: %v", kind, node, d)
		}
		if strings.Contains(d.Message, about) {
			found = append(found, d)
		}
	}
	return nodestest.Findings(found)
}

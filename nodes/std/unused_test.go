package std_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
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

// unused compiles a node and returns its findings, which must be warnings.
func unused(t *testing.T, kind, node, about string) string {
	t.Helper()
	k, _ := core.NewRegistry(std.Kinds()...).Kind(kind)
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

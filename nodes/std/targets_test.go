package std_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestTargets tests the files and tables that kinds report for a node. All names of a file have the
// same key.
func TestTargets(t *testing.T) {
	kinds := core.NewRegistry(std.Kinds()...)
	for _, c := range []struct {
		kind, node string
		want       []string // < read, > written, + added to
	}{
		{"dataset", `{"source": "in.csv", "check": false, "writes": ["rows"]}`, []string{"<in.csv of /w/in.csv"}},
		{"dataset", `{"source": ["in/*.csv", "./x.csv"], "check": false, "writes": ["rows"], "rejects": "a/../bad.csv", "report": "q.json"}`,
			[]string{"<in/*.csv of /w/in/*.csv (pattern)", "<./x.csv of /w/x.csv", ">a/../bad.csv of /w/bad.csv", ">q.json of /w/q.json"}},
		{"dataset", `{"source": "$.name", "writes": ["rows", "bad"], "rejects": "bad"}`, nil},
		{"dataset", `{"source": "-", "format": "csv", "writes": ["rows"]}`, nil},
		{"dataset", `{"source": "{{$.name}}.csv", "writes": ["rows"], "rejects": "{{$.name}}.bad.csv"}`, nil},
		{"transform", `{"reads": ["rows"], "writes": ["bad"], "steps": [{"checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad.csv"}]}`, []string{">bad.csv of /w/bad.csv"}},
		{"sink", `{"reads": ["rows"], "to": "out.csv"}`, []string{">out.csv of /w/out.csv"}},
		{"sink", `{"reads": ["rows"], "to": "/abs/out.csv", "allow_outside": true}`, []string{">/abs/out.csv of /abs/out.csv"}},
		{"sink", `{"reads": ["rows"], "to": "out/{{$.name}}.csv"}`, nil},
		{"sink", `{"reads": ["rows"], "to": "x.db", "table": "T"}`, []string{">table t of x.db of /w/x.db"}},
		{"sink", `{"reads": ["rows"], "to": "x.db", "table": "t", "mode": "upsert", "key": ["id"]}`, []string{"+table t of x.db of /w/x.db"}},
		{"sql", `{"reads": ["rows"], "dsn": "sqlite:./x.db", "table": "t"}`, []string{"+table t of ./x.db of /w/x.db"}},
		{"sql", `{"reads": ["rows"], "dsn": "x.db", "table": "t", "mode": "replace"}`, []string{">table t of x.db of /w/x.db"}},
		{"sql", `{"reads": ["rows"], "dsn": "postgres://db/x", "schema": "s", "table": "t", "mode": "replace"}`, []string{">table s.t of sql:postgres://db/x"}},
		{"sql", `{"reads": ["rows"], "dsn": {"secret": "DSN"}, "driver": "postgres", "table": "t"}`, []string{"+table t of secret:DSN"}},
		{"sql", `{"writes": ["rows"], "dsn": "x.db", "query": "SELECT 1"}`, nil},
		{"http", `{"url": "http://x/a", "save": "a.bin"}`, []string{">a.bin of /w/a.bin"}},
	} {
		k, _ := kinds.Kind(c.kind)
		made, ds := k.Compile(nodestest.Node(t, c.node), core.Env{Dir: "/w", Schema: nodestest.Schema(t, `{"rows": {}, "bad": {}, "name": {"type": "string"}}`)})
		if ds.Failed(false) {
			t.Fatalf("%s %s: %v", c.kind, c.node, ds)
		}
		var got []string
		list := func(sign string, targets []core.Target) {
			for _, o := range targets {
				s := sign
				if o.Adds {
					s = "+"
				}
				s += fmt.Sprintf("%s of %s", o, o.Key)
				if o.Pattern {
					s += " (pattern)"
				}
				if got = append(got, s); !o.Name.Pos.IsValid() {
					t.Errorf("%s %s: %s has no position", c.kind, c.node, o)
				}
			}
		}
		list("<", made.Inputs)
		list(">", made.Outputs)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s:\n got %q\nwant %q", c.kind, c.node, got, c.want)
		}
	}
}

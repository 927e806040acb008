package plan

import (
	"strings"
	"testing"
)

// Files and tables that several nodes write, or that one node reads and another writes.
func TestTargets(t *testing.T) {
	const inner = "name: inner\ngraph: {nodes: [{id: p, kind: put, to: [out.csv]}]}\n"
	node := func(id, more string) string { return "{id: " + id + ", kind: put, " + more + "}" }
	for _, c := range []struct{ name, graph, want string }{
		{"two files", "nodes: [" + node("a", "to: [a.csv]") + ", " + node("b", "to: [b.csv]") + "]", ""},
		{"one file", "nodes: [" + node("a", "to: [out.csv]") + ", " + node("b", "to: [./out.csv]") + "]",
			"flow.yaml:3:76: error: node b: writes ./out.csv, as node a (flow.yaml:3:41) does, and neither comes before the other: which one wins is a matter of time (let one of them write another file) [OVERWRITE]"},
		{"one node twice", "nodes: [" + node("a", "to: [out.csv, out.csv]") + "]",
			"flow.yaml:3:50: error: node a: writes out.csv twice (first at flow.yaml:3:41)"},
		{"one after the other", "nodes: [" + node("b", "to: [out.csv]") + ", " + node("a", "to: [out.csv]") + "], edges: [{from: a, to: b}]",
			"flow.yaml:3:41: error: node b: replaces out.csv, which node a (flow.yaml:3:76) writes before it, and no node between them could have read it (let one of them write something else) [OVERWRITE]"},
		{"with a node between", "nodes: [" + node("a", "to: [out.csv]") + ", " + "{id: r, kind: fn}" + ", " + node("b", "to: [out.csv]") + "], edges: [{from: a, to: r}, {from: r, to: b}]",
			"warning: node b: replaces out.csv, which node a (flow.yaml:3:41) writes before it (let one of them write something else) [OVERWRITE]"},
		{"on a condition", "nodes: [" + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: a, to: b, when: $.n > 1}]",
			"warning: node b: replaces out.csv, which node a (flow.yaml:3:41) writes before it (let one of them write something else) [OVERWRITE]"},
		{"in the place of a failed one", "nodes: [" + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: a, to: b, on: fail}]", ""},
		{"after success or failure", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a}, {from: s, to: b, on: fail}]", ""},
		{"after success or in any case", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a}, {from: s, to: b, on: done}]",
			"error: node b: writes out.csv, as node a"},
		{"in any case or after failure", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a, on: done}, {from: s, to: b, on: fail}]",
			"error: node b: writes out.csv, as node a"},
		{"one or else the other", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a, when: $.n > 1}, {from: s, to: b, when: else}]", ""},
		{"one of two that exclude each other", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a, when: $.n > 1}, {from: s, to: b, when: $.n <= 1}]", ""},
		{"each if its condition holds", "nodes: [{id: s, kind: fn}, " + node("a", "to: [out.csv]") + ", " + node("b", "to: [out.csv]") + "], edges: [{from: s, to: a, when: $.n > 1}, {from: s, to: b, when: $.n <= 2}]",
			"warning: node b: writes out.csv, as node a"},
		{"nested in each item", "nodes: [{id: a, kind: workflow, file: in.yaml, for_each: {source: $.list}}]",
			"flow.yaml:3:17: error: node a: every item would replace out.csv, which its workflow writes (in.yaml:"},
		{"nested in each row", "nodes: [{id: a, kind: workflow, file: in.yaml}], pipelines: [{id: p, items: $.list, stages: [a]}]",
			"flow.yaml:3:17: error: node a: every row would replace out.csv, which its workflow writes (in.yaml:"},
		{"each item", "nodes: [" + node("a", "to: [out/a.csv], for_each: {source: $.list}") + "]",
			"flow.yaml:3:41: error: node a: every item would replace out/a.csv (make the name depend on the item, such as out/{{$index}}.csv) [OVERWRITE]"},
		{"each row", "nodes: [{id: f, kind: fn}, " + node("a", "to: [out/a.csv]") + "], pipelines: [{id: p, items: $.list, stages: [f, a]}]",
			"flow.yaml:3:60: error: node a: every row would replace out/a.csv (make the name depend on the row, such as out/{{$index}}.csv) [OVERWRITE]"},
		{"the table of each item", "nodes: [" + node("a", "to: ['x.db#t'], for_each: {source: $.list}") + "]",
			"error: node a: every item would replace table t of x.db (let each item add to the table: mode append, insert or upsert) [OVERWRITE]"},
		{"the table of each row", "nodes: [" + node("a", "to: ['x.db#t']") + "], pipelines: [{id: p, items: $.list, stages: [a]}]",
			"error: node a: every row would replace table t of x.db"},
		{"a table that each row adds to", "nodes: [" + node("a", "to: ['+x.db#t']") + "], pipelines: [{id: p, items: $.list, stages: [a]}]", ""},
		{"rounds", "nodes: [" + node("a", "to: [out.csv, 'x.db#t']") + "], loops: [{id: l, body: [a], max_iters: 2}]", ""},
		{"a workflow in rounds", "nodes: [{id: a, kind: workflow, file: in.yaml}], loops: [{id: l, body: [a], max_iters: 2}]", ""},
		{"nested and not", "nodes: [{id: a, kind: workflow, file: in.yaml}, " + node("b", "to: [out.csv]") + "]",
			"error: node b: writes out.csv, as node a (flow.yaml:3:17) does"},
		{"nested twice", "nodes: [{id: a, kind: workflow, file: in.yaml}, {id: b, kind: workflow, file: in.yaml}]",
			"flow.yaml:3:57: error: node b: writes out.csv, as node a (flow.yaml:3:17) does"},
		{"tables of one database", "nodes: [" + node("a", "to: ['x.db#t']") + ", " + node("b", "to: ['x.db#u']") + "]", ""},
		{"one table", "nodes: [" + node("a", "to: ['x.db#t']") + ", " + node("b", "to: ['x.db#t']") + "]",
			"error: node b: writes table t of x.db, as node a (flow.yaml:3:42) does, and neither comes before the other: which one wins is a matter of time (let both add to the table"},
		{"a table that both add to", "nodes: [" + node("a", "to: ['+x.db#t']") + ", " + node("b", "to: ['+x.db#t']") + "]", ""},
		{"a table that one adds to", "nodes: [" + node("a", "to: ['+x.db#t']") + ", " + node("b", "to: ['x.db#t']") + "]",
			"(add an edge from the node that replaces the table to the other one)"},
		{"replaced, then added to", "nodes: [" + node("a", "to: ['+x.db#t']") + ", " + node("b", "to: ['x.db#t']") + "], edges: [{from: b, to: a}]", ""},
		{"added to, then replaced", "nodes: [" + node("a", "to: ['+x.db#t']") + ", " + node("b", "to: ['x.db#t']") + "], edges: [{from: a, to: b}]",
			"error: node b: replaces table t of x.db"},
		{"read and written", "nodes: [" + node("a", "from: [in.csv], to: [in.csv]") + "]",
			"flow.yaml:3:57: error: node a: writes in.csv, which is a file that it reads (read at flow.yaml:3:43) [OVERWRITE]"},
		{"a pattern and one of its files", "nodes: [" + node("a", "from: ['in/*.csv'], to: [in/bad.csv]") + "]", "error: node a: writes in/bad.csv, which is a file that it reads"},
		{"a pattern and another file", "nodes: [" + node("a", "from: ['in/*.csv'], to: [in/bad/x.csv]") + "]", ""},
		{"a pattern read before", "nodes: [" + node("a", "from: ['in/*.csv']") + ", " + node("b", "to: [in/out.csv]") + "], edges: [{from: a, to: b}]",
			"warning: node b: writes in/out.csv, which is one of the files of in/*.csv, so node a (flow.yaml:3:44) reads it in the next run (write to another folder) [OVERWRITE]"},
		{"a pattern read some nodes before", "nodes: [" + node("b", "to: [in/out.csv]") + ", {id: m, kind: fn}, " + node("a", "from: ['in/*.csv']") + "], edges: [{from: a, to: m}, {from: m, to: b}]",
			"warning: node b: writes in/out.csv, which is one of the files of in/*.csv, so node a"},
		{"a pattern read before by a nested workflow", "nodes: [" + node("a", "from: ['*.csv']") + ", {id: b, kind: workflow, file: in.yaml}], edges: [{from: a, to: b}]",
			"flow.yaml:3:54: warning: node b: writes out.csv, which is one of the files of *.csv, so node a"},
		{"a pattern read after", "nodes: [" + node("a", "from: ['in/*.csv']") + ", " + node("b", "to: [in/out.csv]") + "], edges: [{from: b, to: a}]", ""},
		{"a pattern that another file matches", "nodes: [" + node("a", "from: ['in/*.csv']") + ", " + node("b", "to: [in/out.json]") + "], edges: [{from: a, to: b}]", ""},
		{"a pattern read in rounds", "nodes: [" + node("a", "from: ['in/*.csv']") + ", " + node("b", "to: [in/out.csv]") + "], loops: [{id: l, body: [a, b], max_iters: 2}]", ""},
		{"read beside", "nodes: [" + node("a", "from: [x.csv]") + ", " + node("b", "to: [x.csv]") + "]",
			"flow.yaml:3:43: warning: node a: reads x.csv, which node b (flow.yaml:3:76) writes, and neither comes before the other: what is read is a matter of time (add an edge from b to a) [OVERWRITE]"},
		{"read by a pattern beside", "nodes: [" + node("a", "from: ['*.csv']") + ", " + node("b", "to: [x.csv]") + "]", "warning: node a: reads x.csv, which node b"},
		{"read after", "nodes: [" + node("a", "from: [x.csv]") + ", " + node("b", "to: [x.csv]") + "], edges: [{from: b, to: a}]", ""},
		{"read by a join that need not wait", "nodes: [" + node("a", "from: [x.csv], join: any") + ", " + node("b", "to: [x.csv]") + ", " + node("c", "") + "], edges: [{from: c, to: a}, {from: b, to: a}]",
			"and neither comes before the other: what is read is a matter of time (a join on the way from b to a does not wait for all of its predecessors) [OVERWRITE]"},
		{"read by a join that waits", "nodes: [" + node("a", "from: [x.csv], join: {k_of_n: 2}") + ", " + node("b", "to: [x.csv]") + ", " + node("c", "") + "], edges: [{from: c, to: a}, {from: b, to: a}]", ""},
		{"read before", "nodes: [" + node("a", "from: [x.csv]") + ", " + node("b", "to: [x.csv]") + "], edges: [{from: a, to: b}]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := files{
				"in.yaml":   inner,
				"flow.yaml": "name: x\nstate: {schema: {n: {type: integer, default: 1}, list: {type: array}}}\ngraph: {" + c.graph + "}\n",
			}.compile("flow.yaml", false)
			got := ds.Error()
			if !strings.Contains(got, c.want) || strings.Count(got, "[OVERWRITE]") != min(len(c.want), 1) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// Thousands of nodes that write one file are reported quickly.
func TestManyTargets(t *testing.T) {
	var nodes strings.Builder
	for i := range 3000 {
		if i > 0 {
			nodes.WriteString(", ")
		}
		nodes.WriteString("{id: n" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/182) + ", kind: put, to: [out.csv], from: ['*.csv']}")
	}
	if _, ds := (files{"flow.yaml": "name: x\ngraph: {nodes: [" + nodes.String() + "]}\n"}).compile("flow.yaml", false); !ds.Failed(false) {
		t.Error("no finding")
	}
}

package lint

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// A node after a skipped one runs if its own condition is true. This is reported unless the
// document shows that it is intended.
func TestConditionsBehindSkippedNodes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		publish string // keys of the node publish
		edges   string
		want    bool
	}{
		{"another condition", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: $.ok}`, true},
		{"further down", "", `{from: get, to: change, when: $.go}, {from: change, to: more}, {from: more, to: publish, when: $.ok}`, true},
		{"it reads what was not written", "reads: [rows]", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: $.ok}`, true},
		{"it reads something else", "reads: [raw]", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: $.ok}`, false},
		{"no condition in front", "", `{from: get, to: change}, {from: change, to: publish, when: $.ok}`, false},
		{"no condition behind", "", `{from: get, to: change, when: $.go}, {from: change, to: publish}`, false},
		{"the same condition", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: $.go}`, false},
		{"a condition that implies it", "", `{from: get, to: change, when: $.n > 1}, {from: change, to: publish, when: $.ok && $.n > 2}`, false},
		{"a condition on what the node writes", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: length($.rows) > 0}`, false},
		{"a condition on the node", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: "$.ok && $nodes.change.status == 'success'"}`, false},
		{"whatever became of it", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, on: done, when: $.ok}`, false},
		{"a join", "join: all_done", `{from: get, to: change, when: $.go}, {from: change, to: publish}`, false},
		{"another way leads there", "", `{from: get, to: change, when: $.go}, {from: change, to: publish, when: $.ok}, {from: get, to: publish}`, false},
		{"one of two sources is never skipped", "", `{from: get, to: change, when: $.go}, {from: change, to: more}, {from: get, to: more}, {from: more, to: publish, when: $.ok}`, false},
		{"an else edge", "", `{from: get, to: change, when: $.go}, {from: get, to: more, when: else}, {from: more, to: publish, when: $.ok}`, false},
	} {
		ds := check(t, `
name: w
state: {schema: {go: {type: boolean, default: true}, ok: {type: boolean, default: true}, n: {type: integer, default: 1}, raw: {}, rows: {type: array}}}
graph:
  nodes:
    - {id: get, kind: fn, writes: [raw]}
    - {id: change, kind: fn, reads: [raw], writes: [rows]}
    - {id: more, kind: fn}
    - {id: publish, kind: fn, `+tt.publish+`}
  edges: [`+tt.edges+`]
`)
		if got := ds.Has(source.CodeSkippedSource); got != tt.want || ds.Failed(false) {
			t.Errorf("%s: got %v, want %v: %v", tt.name, got, tt.want, strings.ReplaceAll(ds.Error(), "; ", "\n"))
		}
	}
}

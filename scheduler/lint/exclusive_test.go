package lint

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// Branches whose conditions exclude each other may write the same field, even if the writers are
// further down the branches. Other branches are reported with UNORDERED_WRITES.
func TestConditionsThatExcludeEachOther(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edges string
		want  bool // UNORDERED_WRITES for x and y, both of which write out
	}{
		{"different constants", `{from: s, to: x, when: $input.k == "a"}, {from: s, to: y, when: $input.k == "b"}`, false},
		{"the same constant", `{from: s, to: x, when: $input.k == "a"}, {from: s, to: y, when: $input.k == "a"}`, true},
		{"another path", `{from: s, to: x, when: $input.k == "a"}, {from: s, to: y, when: $.f == "b"}`, true},
		{"equal and not", `{from: s, to: x, when: $.f == "a"}, {from: s, to: y, when: $.f != "a"}`, false},
		{"a negation", `{from: s, to: x, when: $.f == "a"}, {from: s, to: y, when: '!($.f == "a")'}`, false},
		{"booleans", `{from: s, to: x, when: $.b}, {from: s, to: y, when: '!$.b'}`, false},
		{"a list in a text", `{from: s, to: x, when: '$.f in "a, b"'}, {from: s, to: y, when: $.f == "c"}`, false},
		{"numbers", `{from: s, to: x, when: $.n > 5}, {from: s, to: y, when: $.n <= 5}`, false},
		{"from two sources", `{from: s, to: x, when: $.f == "a"}, {from: t, to: y, when: $.f == "b"}`, false},
		{"behind the branch", `{from: s, to: m, when: $.f == "a"}, {from: m, to: x}, {from: s, to: y, when: $.f == "b"}`, false},
		{"behind two branches that meet", `{from: s, to: m, when: $.f == "a"}, {from: s, to: n, when: $.f == "b"}, {from: m, to: x}, {from: n, to: x}, {from: s, to: y, when: $.f == "c"}`, false},
		{"behind two branches of which one may run", `{from: s, to: m, when: $.f == "a"}, {from: s, to: n, when: $.f == "c"}, {from: m, to: x}, {from: n, to: x}, {from: s, to: y, when: $.f == "c"}`, true},
		{"a condition of its own revives", `{from: s, to: m, when: $.f == "a"}, {from: m, to: x, when: $.n > 1}, {from: s, to: y, when: $.f == "b"}`, true},
		{"the field changes in between", `{from: s, to: x, when: $.f == "a"}, {from: s, to: w}, {from: w, to: y, when: $.f == "b"}`, true},
		{"another field changes in between", `{from: s, to: x, when: $input.k == "a"}, {from: s, to: w}, {from: w, to: y, when: $input.k == "b"}`, false},
		{"no condition", `{from: s, to: x, when: $.f == "a"}, {from: s, to: y}`, true},
		{"on failure the condition does not matter", `{from: s, to: x, when: $.f == "a"}, {from: s, to: m}, {from: m, to: y, on: fail, when: $.f == "b"}`, true},
	} {
		ds := check(t, `
name: w
inputs: {k: {type: string}}
state: {schema: {f: {type: string, default: a}, n: {type: integer, default: 1}, b: {type: boolean, default: true}, out: {type: string}}}
graph:
  nodes:
    - {id: s, kind: fn}
    - {id: t, kind: fn}
    - {id: m, kind: fn}
    - {id: n, kind: fn}
    - {id: w, kind: fn, writes: [f]}
    - {id: x, kind: fn, writes: [out]}
    - {id: y, kind: fn, writes: [out]}
  edges: [`+tt.edges+`]
`)
		if got := ds.Has(source.CodeUnorderedWrites); got != tt.want || ds.Failed(false) {
			t.Errorf("%s: got %v, want %v: %v", tt.name, got, tt.want, strings.ReplaceAll(ds.Error(), "; ", "\n"))
		}
	}
}

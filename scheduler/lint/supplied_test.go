package lint

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
)

// A field that a node reads counts as written if the node's args have a member of its name, unless
// args themselves read the field.
func TestArgsSupplyAName(t *testing.T) {
	for _, tt := range []struct {
		name string
		node string
		want bool // NEVER_WRITTEN
	}{
		{"nothing supplies it", `{id: a, kind: fn, reads: [name], writes: [out]}`, true},
		{"a constant", `{id: a, kind: fn, reads: [name], args: {name: World}, writes: [out]}`, false},
		{"a path", `{id: a, kind: fn, reads: [name], args: {name: $.other}, writes: [out]}`, false},
		{"another name", `{id: a, kind: fn, reads: [name], args: {nam: World}, writes: [out]}`, true},
		{"a path to itself", `{id: a, kind: fn, reads: [name], args: {name: $.name}, writes: [out]}`, true},
		{"the kind reads the field by an expression", `{id: a, kind: fn, see: [name], args: {name: World}, writes: [out]}`, true},
		{"the kind reads it by its name", `{id: a, kind: fn, see: [name], args: {name: $.other}, writes: [out]}`, false},
	} {
		ds := check(t, `
name: w
state: {schema: {name: {type: string}, other: {type: string, default: x}, out: {type: string}}}
graph: {nodes: [`+tt.node+`]}
`)
		if got := ds.Has(source.CodeNeverWritten); got != tt.want || ds.Failed(false) {
			t.Errorf("%s: got %v, want %v: %v", tt.name, got, tt.want, ds)
		}
	}
}

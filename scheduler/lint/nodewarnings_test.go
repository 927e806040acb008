package lint

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// anything is a kind whose nodes may read what their configuration does not mention.
type anything struct{ fn }

func (anything) Name() string { return "anything" }
func (k anything) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	made, ds := k.fn.Compile(n, env)
	made.AnyInput = true
	return made, ds
}

// A person could reject, and what came after the gate ran all the same.
func TestChoicesWithoutEffect(t *testing.T) {
	const edge = `, edges: [{from: gate, to: ship}]`
	for _, tt := range []struct {
		name, gate, ship, more string
		want                   bool
	}{
		{"nothing reads the decision", ``, `kind: fn`, edge, true},
		{"choices of its own", `, choices: [a, b, c]`, `kind: fn`, edge, true},
		{"no node after it", ``, `kind: fn`, ``, true},
		{"another node has a condition", ``, `kind: fn`, `, edges: [{from: gate, to: ship}, {from: ship, to: last, when: $nodes.ship.status == 'success'}]`, true},
		{"one choice", `, choices: [continue]`, `kind: fn`, edge, false},
		{"fail_on", `, fail_on: [reject]`, `kind: fn`, edge, false},
		{"a field", `, writes: [decision]`, `kind: fn`, edge, false},
		{"a condition of its edge", ``, `kind: fn`, `, edges: [{from: gate, to: ship, when: $nodes.gate.output.choice == 'approve'}]`, false},
		{"a later condition", ``, `kind: fn`, `, edges: [{from: gate, to: ship}, {from: ship, to: last, when: $nodes.gate.output.choice == 'approve'}]`, false},
		{"args", ``, `kind: fn, args: {x: $nodes.gate.output.choice}`, edge, false},
		{"a template", ``, `kind: fn, text: "{{gate.choice}}"`, edge, false},
		{"its id in a setting", ``, `kind: fn, parts: [gate]`, edge, false},
		{"items", ``, `kind: fn, for_each: {source: $nodes.gate.output.list}`, edge, false},
		{"a handler that may read edge inputs", ``, `kind: anything`, edge, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reg := core.NewRegistry(fn{}, anything{}, human.Kind)
			w, ds := native.Parse("a.yaml", []byte(`
name: w
state: {schema: {decision: {type: object}}}
graph: {nodes: [{id: gate, kind: human`+tt.gate+`}, {id: ship, `+tt.ship+`}, {id: last, kind: fn}]`+tt.more+`}
`), native.OptionsFor(reg))
			if w == nil {
				t.Fatal(ds)
			}
			_, ds = plan.Compile(w, reg, plan.Options{Lint: Check})
			got := false
			for _, d := range ds {
				got = got || d.Code == source.CodeIgnored
			}
			if got != tt.want || ds.Failed(false) {
				t.Errorf("warned: %t, want %t: %v", got, tt.want, ds)
			}
		})
	}
}

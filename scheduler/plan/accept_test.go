package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

const accepting = `
name: x
state: {schema: {n: {type: integer}, list: {type: array, merge: array_append}, s: {type: string, enum: [a, b]}, hidden: {}}}
graph:
  nodes:
    - {id: some, kind: fn, writes: [list, n, s]}
    - {id: none, kind: fn, writes: []}
`

// with returns a result that also writes delta.
func with(r core.Result, delta map[string]any) core.Result {
	r.Delta = delta
	return r
}

func TestAccept(t *testing.T) {
	p := mustCompile(t, accepting)
	for _, tt := range []struct {
		name, node string
		result     core.Result
		want       string // the writes, or class and message of the failure
	}{
		{"nothing", "some", core.Result{}, "[]"},
		{"in the order of the node's writes", "some", core.Result{Delta: map[string]any{"s": "a", "n": 3, "list": []string{"x"}}}, `[list=["x"] n=3 s="a"]`},
		{"a part", "some", core.Write("s", "b"), `[s="b"]`},
		{"a write and a delta", "some", with(core.Write("s", "b"), map[string]any{"n": 1}), `[n=1 s="b"]`},
		{"a write and a delta of the same field", "some", with(core.Write("s", "b"), map[string]any{"s": "a"}), `[s="a"]`},
		{"an undeclared write and a delta", "some", with(core.Write("m", "b"), map[string]any{"s": "a"}),
			`write: writes "m", which the state does not declare; add to node some: writes: [list, n, s, m] (flow.yaml:6:7)`},
		{"no field", "some", core.Write("", 1), `write: writes "", which the state does not declare; add to node some: writes: [list, n, s, ] (flow.yaml:6:7)`},
		{"null passes for every type", "some", core.Result{Delta: map[string]any{"n": nil, "s": nil}}, `[n=null s=null]`},
		{"null is not a list", "some", core.Write("list", nil), `write: write of "list": want array, got null`},
		{"a float that is whole", "some", core.Write("n", 3.0), `[n=3.0]`},
		{"wrong type", "some", core.Write("n", "3"), `write: write of "n": want integer, got string "3"`},
		{"outside the enum", "some", core.Write("s", "c"), `write: write of "s": want one of ["a","b"], got string "c"`},
		{"no JSON form", "some", core.Write("n", func() {}), `write: write of "n": `},
		{"undeclared write", "some", core.Result{Delta: map[string]any{"n": 1, "hidden": 1}},
			`write: writes "hidden", which is not among its writes; add to node some: writes: [list, n, s, hidden] (flow.yaml:6:7)`},
		{"undeclared write of a node without any", "none", core.Result{Delta: map[string]any{"s": "a", "hidden": 1}},
			`write: writes "hidden", which is not among its writes; add to node none: writes: [hidden, s] (flow.yaml:7:7)`},
		{"no such field", "some", core.Write("m", 1), `write: writes "m", which the state does not declare; add to node some: writes: [list, n, s, m] (flow.yaml:6:7)`},
		{"status fail", "some", core.Result{Status: core.Fail}, `error: the handler returned status fail`},
		{"status skipped", "some", core.Result{Status: core.Skipped}, `error: the handler returned status skipped, which is for nodes that are not executed`},
		{"status partial", "some", core.Result{Status: core.PartialSuccess, Delta: map[string]any{"n": 1}}, `[n=1]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, _ := p.Node(tt.node)
			writes, failure := p.Accept(n, &tt.result, nil)
			got := []string{}
			for _, w := range writes {
				got = append(got, p.Schema.Fields[w.Field].Name+"="+value.JSON(w.Value))
			}
			text := fmt.Sprint(got)
			if failure != nil {
				text = failure.Class + ": " + failure.Message
			}
			if text != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(text, tt.want)) {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

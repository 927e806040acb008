package transform_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/transform"
)

// A field that is declared as an object takes the only row of the result.
func TestResultOfOneRow(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, `{
		"rows": {"type": "array"},
		"size": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}`)}
	rows := []any{value.ObjectOf("n", int64(7)), value.ObjectOf("n", int64(2))}
	for _, tt := range []struct{ step, from, want string }{
		{`"limit": 1`, "rows", `{"size":{"n":7}}`},
		{`"derive": {"n": "$item.n / 7"}`, "size", `{"size":{"n":1}}`},
		{`"group": {"aggregate": {"n": "count"}}`, "rows", `{"size":{"n":2}}`},
		{`"limit": 2`, "rows", `error: field "size" is an object and takes one row, the result has 2`},
		{`"filter": "$item.n > 10"`, "rows", `error: field "size" is an object and takes one row, the result has 0`},
		{`"derive": {"n": "string($item.n)"}`, "rows", `finding: column "n" is string here and integer in the state schema of size`},
		{`"map": {"m": "$item.n"}`, "rows", `finding: size requires a column "n", which the result does not have`},
	} {
		node := nodestest.Node(t, `{"reads": ["`+tt.from+`"], "writes": ["size"], `+tt.step+`}`)
		made, ds := transform.Kind.Compile(node, env)
		if ds.Failed(false) {
			if want, ok := strings.CutPrefix(tt.want, "finding: "); !ok || !strings.Contains(ds.Error(), want) {
				t.Errorf("%s: %v, want %s", tt.step, ds, tt.want)
			}
			continue
		}
		view := core.NewView([]string{"rows", "size"}, []any{rows, value.ObjectOf("n", int64(7))})
		r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{View: view}))
		got := nodestest.Text(r)
		if err != nil {
			got = "error: " + err.Error()
		}
		if i := strings.Index(got, " -> "); i >= 0 {
			got = got[:i]
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.step, got, tt.want)
		}
	}
}

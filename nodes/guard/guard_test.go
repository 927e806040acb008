package guard

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

const limits = `{"checks": [{"name": "positive", "expr": "$.amount > 0"}, {"name": "small", "expr": "$.amount <= $input.limit"}], "on_pass": "pay", "on_fail": "ask"`

func input(amount any) core.Shared {
	return core.Shared{Extra: core.NewView([]string{"amount"}, []any{amount}), Inputs: value.ObjectOf("limit", int64(100)),
		Nodes: func(id string) (core.Status, any, bool) {
			return core.Success, value.ObjectOf("n", int64(3)), id == "before"
		}}
}

func TestChecks(t *testing.T) {
	for _, tt := range []struct {
		name, node, want, passed, failed, next string
		amount                                 any
	}{
		{"all hold", limits + "}", `{} -> {"passed":true,"failed":false,"checks":{"positive":true,"small":true}}`, "positive,small", "", "pay", int64(7)},
		{"one fails", limits + "}", `{} -> {"passed":false,"failed":true,"checks":{"positive":true,"small":false}} (failed: small)`, "positive", "small", "ask", int64(700)},
		{"no value", limits + "}", `{} -> {"passed":false,"failed":true,"checks":{"positive":false,"small":false}} (failed: positive, small)`, "", "positive,small", "ask", nil},
		{"no next", `{"check": "$.amount > 9"}`, `{} -> {"passed":false,"failed":true,"checks":{"check":false}} (failed: check)`, "", "check", "", int64(7)},
		{"another node", `{"check": "$nodes.before.output.n == 3", "writes": ["a"]}`,
			`{"a":{"passed":true,"failed":false,"checks":{"check":true}}} -> {"passed":true,"failed":false,"checks":{"check":true}}`, "check", "", "", int64(7)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := core.Env{Schema: nodestest.Schema(t, `{"amount": {}, "a": {}}`)}
			env.Steps = true
			made, ds := Kind.Compile(nodestest.Node(t, tt.node), env)
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, input(tt.amount)))
			if err != nil {
				t.Fatal(err)
			}
			if got := nodestest.Text(r); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if g := r.Routing; strings.Join(g.GuardsPassed, ",") != tt.passed || strings.Join(g.GuardsFailed, ",") != tt.failed || g.Next != tt.next {
				t.Errorf("got %+v", g)
			}
		})
	}
}

func TestCompile(t *testing.T) {
	for node, want := range map[string]string{
		`{}`:                                        `1:1: error: node n: key "check" or "checks" is missing [MISSING_KEY]`,
		`{"check": "1 == 1", "checks": []}`:         `1:11: error: node n: check and checks exclude each other [BAD_VALUE]`,
		`{"check": "$.nothing > 1"}`:                `1:13: error: node n: check: unknown field "nothing" [EXPR_NAME]`,
		`{"check": "$.amount >"}`:                   `error: node n: check: `,
		`{"check": "$.amount > 1", "on_fail": "x"}`: `1:38: warning: node n: on_fail: has no effect on a graph that is not a walk by steps [IGNORED]`,
		`{"checks": [{"name": "a", "expr": "$.amount > 1"}, {"name": "a", "expr": "$.amount > 2"}]}`: `1:61: error: node n: checks: two checks are called a [DUPLICATE]`,
	} {
		_, ds := Kind.Compile(nodestest.Node(t, node), core.Env{Schema: nodestest.Schema(t, `{"amount": {}}`)})
		if got := nodestest.Findings(ds); !strings.Contains(got, want) {
			t.Errorf("%s\ngot:  %s\nwant: %s", node, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	nodestest.CheckDocs(t, Kind, nodestest.Nested{Path: "checks", Config: checkConfig{}})
}

func TestConformance(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	env := core.Env{Schema: nodestest.Schema(t, `{"amount": {}}`)}
	nodestest.Run(t, Kind,
		nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "limits"), Env: env, Input: input(int64(40)),
			Want: `{} -> {"passed":true,"failed":false,"checks":{"positive":true,"small":true}}`},
		nodestest.Case{Name: "one", Node: `{"check": "$.amount > 100"}`, Env: env, Input: input(int64(40))})
}

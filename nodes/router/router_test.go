package router

import (
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

const two = `{"prompt": "Which one? {{$.claim}}", "system": "Be fair.", "routes": {"approve": "publish", "do not approve": "__end__"}`

func fields(t *testing.T) core.Env {
	return core.Env{Schema: nodestest.Schema(t, `{"claim": {}, "way": {}}`)}
}

func claim() core.Shared {
	return core.Shared{Extra: core.NewView([]string{"claim"}, []any{"wet"})}
}

func TestAnswers(t *testing.T) {
	const none = "error: the answer %s is none of the choices approve, do not approve"
	for _, tt := range []struct{ answer, want, next string }{
		{`{"choice": "approve"}`, `{"way":"approve"} -> {"choice":"approve"}`, "publish"},
		{"```json\n{\"choice\": \"do not approve\"}\n```", `{"way":"do not approve"} -> {"choice":"do not approve"}`, core.EndNode},
		{" approve\n", `{"way":"approve"} -> {"choice":"approve"}`, "publish"},
		{`"approve"`, `{"way":"approve"} -> {"choice":"approve"}`, "publish"},
		{"I approve it", strings.Replace(none, "%s", `"I approve it"`, 1), ""},
		{"Approve", strings.Replace(none, "%s", `"Approve"`, 1), ""},
		{`{"choice": "publish"}`, strings.Replace(none, "%s", `"{\"choice\": \"publish\"}"`, 1), ""},
		{`{"choice": 1}`, strings.Replace(none, "%s", `"{\"choice\": 1}"`, 1), ""},
		{``, strings.Replace(none, "%s", `""`, 1), ""},
	} {
		m := llmtest.Script(t, llmtest.Run("n", tt.answer))
		made, ds := Kind(m).Compile(nodestest.Node(t, two+`, "model": "small", "writes": ["way"]}`), fields(t))
		if len(ds) > 0 || !made.Models {
			t.Fatal(ds)
		}
		r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, claim()))
		got := nodestest.Text(r)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want || err == nil && r.Routing.Next != tt.next {
			t.Errorf("%q:\ngot  %s, %+v\nwant %s, %s", tt.answer, got, r.Routing, tt.want, tt.next)
		}
		q := m.Requests()[0]
		if len(q.Messages) != 2 || q.Messages[0].Text != "Be fair." || !strings.HasPrefix(q.Messages[1].Text, "Which one? wet\n") ||
			!strings.Contains(q.Messages[1].Text, "\n- approve\n- do not approve\n") || q.Model != "small" || !q.Schema.Strict {
			t.Errorf("asked %+v", q)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	for _, a := range []llmtest.Answer{{Refusal: "no"}, {Err: errors.New("out of order")}} {
		made, _ := Kind(llmtest.Script(t, a)).Compile(nodestest.Node(t, two+"}"), fields(t))
		_, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, claim()))
		if err == nil || !strings.Contains(err.Error(), "the model declined: no") && !strings.Contains(err.Error(), "out of order") {
			t.Errorf("got %v", err)
		}
	}
}

func TestCompile(t *testing.T) {
	for node, want := range map[string]string{
		`{"prompt": "p", "routes": {}}`:               `1:27: error: node n: key "routes" is empty [MISSING_KEY]`,
		`{"routes": {"a": "b"}}`:                      `node n: key "prompt" is missing [MISSING_KEY]`,
		`{"prompt": "p", "routes": {" a": "b"}}`:      `1:28: error: node n: routes: the label " a" is empty, or has white space around it [BAD_VALUE]`,
		`{"prompt": "{{$.x}}", "routes": {"a": "b"}}`: `"x"`,
	} {
		_, ds := Kind(nil).Compile(nodestest.Node(t, node), fields(t))
		if got := nodestest.Findings(ds); !strings.Contains(got, want) {
			t.Errorf("%s\ngot:  %s\nwant: %s", node, got, want)
		}
	}
	made, ds := Kind(nil).Compile(nodestest.Node(t, two+"}"), fields(t))
	if len(ds) > 0 || made.NoModel == "" || len(made.Next) != 2 {
		t.Errorf("%+v, %v", made, ds)
	}
}

func TestFields(t *testing.T) { nodestest.CheckDocs(t, Kind(nil)) }

func TestConformance(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	m := llm.Model(llmtest.Script(t, llmtest.Run("", `{"choice": "refund"}`)))
	nodestest.Run(t, Kind(m), nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "pick"), Env: fields(t), Input: claim(),
		Want: `{} -> ` + value.JSON(value.ObjectOf("choice", "refund"))})
}

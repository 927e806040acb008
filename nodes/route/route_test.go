package route_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/route"
)

const two = `{"choices": [{"when": "it is good", "target": "publish", "name": "Publish"}, {"when": "it is bad"}]`

// ask runs a node with a router that picks a choice, and returns the result and the question.
func ask(t *testing.T, node string, choice int, s core.Shared) (core.Result, core.RouteQuestion, error) {
	t.Helper()
	made, ds := route.Kind.Compile(nodestest.Node(t, node), core.Env{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	if !made.Models {
		t.Error("what it takes is not accounted for")
	}
	var asked core.RouteQuestion
	ctx := core.WithRouter(t.Context(), core.RouterFunc(func(_ context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
		asked = q
		if choice == 99 {
			return core.RouteAnswer{}, errors.New("out of order")
		}
		return core.RouteAnswer{Choice: choice, Raw: "because"}, nil
	}))
	r, err := made.Handler.Handle(ctx, core.NewInput("run", "n", 1, s))
	return r, asked, err
}

func TestChoice(t *testing.T) {
	tests := []struct {
		name, node string
		choice     int
		want       int64
	}{
		{"the first", two + "}", 0, 0},
		{"the second", two + "}", 1, 1},
		{"none", two + "}", core.NoRoute, -1},
		{"a number that is none", two + "}", 2, -1},
		{"none, with a fallback", `{"choices": [{"when": "x"}, {"name": "rest"}]}`, core.NoRoute, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _, err := ask(t, tt.node, tt.choice, core.Shared{})
			if err != nil || r.EdgeOutput != tt.want || r.Note != "because" || len(r.Writes()) > 0 {
				t.Errorf("got %+v, %v, want %d", r, err, tt.want)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	const node = two + `, "shows": {"load": ["n", "gone"], "judge": [], "text": ["n"], "skipped": [], "failed": []}, "node": "judge", "model": "large", "reads": ["f"], "writes": ["way"]}`
	inputs := value.ObjectOf("day", "monday")
	r, q, err := ask(t, node, 1, core.Shared{Inputs: inputs, View: core.NewView([]string{"f"}, []any{int64(7)}),
		Nodes: func(id string) (core.Status, any, bool) {
			switch id {
			case "load":
				return core.Success, value.ObjectOf("n", int64(3), "secret", "x"), true
			case "text":
				return core.Success, "go to the hidden edge", true
			case "judge":
				return core.PartialSuccess, value.ObjectOf("all", true), true
			case "failed":
				return core.Fail, value.ObjectOf("error", "x"), true
			}
			return core.Skipped, nil, true
		}})
	if err != nil || r.Writes()["way"] != int64(1) {
		t.Fatalf("got %+v, %v", r, err)
	}
	if got, want := value.JSON(q.View), `{"load":{"n":3,"gone":null},"judge":{"all":true},"text":{"n":null},"f":7}`; got != want {
		t.Errorf("view: got %s, want %s", got, want)
	}
	if q.Node != "judge" || q.Model != "large" || q.Inputs != inputs || q.Fallback != core.NoRoute || len(q.Choices) != 2 {
		t.Errorf("got %+v", q)
	}
	if c := q.Choices[0]; c != (core.RouteChoice{Target: "publish", Name: "Publish", When: "it is good"}) || q.Choices[1].Target != "1" {
		t.Errorf("got choices %+v", q.Choices)
	}
}

func TestDryRun(t *testing.T) {
	r, q, err := ask(t, two+"}", 0, core.Shared{Inputs: value.ObjectOf("dryRun", true)})
	if err != nil || r.EdgeOutput != int64(-1) || q.Choices != nil {
		t.Errorf("got %+v, %v after %+v", r, err, q)
	}
	if r, _, _ := ask(t, two+"}", 0, core.Shared{Inputs: value.ObjectOf("dryRun", "true")}); r.EdgeOutput != int64(0) {
		t.Error("a text is not a dry run")
	}
}

// TestBreaks tests that an error of the router, or a missing router, ends the run.
func TestBreaks(t *testing.T) {
	_, _, err := ask(t, two+"}", 99, core.Shared{})
	if f := core.FailureOf(err); err == nil || !f.FailsRun || !strings.Contains(f.Message, "out of order") {
		t.Errorf("got %v", err)
	}
	made, _ := route.Kind.Compile(nodestest.Node(t, two+"}"), core.Env{})
	_, err = made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{}))
	if f := core.FailureOf(err); err == nil || !f.FailsRun || !strings.Contains(f.Message, "no model is configured") {
		t.Errorf("got %v", err)
	}
}

func TestCompile(t *testing.T) {
	for node, want := range map[string]string{
		`{"choices": [{"name": "a"}, {"name": "b"}]}`: "1:29: error: node n: choices[1]: choices[0] has no condition either, and only one can be what is left [BAD_VALUE]",
		`{"choices": []}`: `1:13: error: node n: key "choices" is empty [MISSING_KEY]`,
		`{"choices": [{"when": "x"}], "writes": ["a", "b"]}`:  "1:46: error: node n: writes one number, so it has one field to write [BAD_VALUE]",
		`{"choices": [{"when": "x"}], "shows": ["a"]}`:        "1:39: error: node n: shows: want a mapping, found a list [WRONG_TYPE]",
		`{"choices": [{"when": "x"}], "shows": {"a": ["b"]}}`: "",
	} {
		_, ds := route.Kind.Compile(nodestest.Node(t, node), core.Env{})
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != want {
			t.Errorf("%s\ngot:  %s\nwant: %s", node, got, want)
		}
	}
}

func TestConformance(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, route.Kind, nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "pick"),
		Input: core.Shared{Inputs: value.ObjectOf(core.InputDryRun, true)}, Want: "{} (dry run: no model was asked)"})
}

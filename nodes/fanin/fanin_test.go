package fanin_test

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/fanin"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// inWalk is the environment of a node in a walk.
var inWalk = core.Env{Conventions: core.Conventions{Context: true, Branches: true}}

func input(t *testing.T, results string) core.Shared {
	t.Helper()
	context := value.NewObject(1)
	if results != "" {
		v, err := value.ParseJSON([]byte(results))
		if err != nil {
			t.Fatal(err)
		}
		context.Set(core.ContextParallelResults, v)
	}
	return core.Shared{View: core.NewView([]string{core.ContextField}, []any{context})}
}

func handle(t *testing.T, in core.Shared) core.Result {
	t.Helper()
	made, ds := fanin.Kind.Compile(nodestest.Node(t, `{}`), inWalk)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, in))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBest(t *testing.T) {
	for results, want := range map[string]string{
		`[{"id": "a", "status": "success"}]`: "a success",
		`[{"id": "c", "status": "success"}, {"id": "a", "status": "success"}, {"id": "b", "status": "success"}]`:                                 "a success",
		`[{"id": "a", "status": "success", "score": 1}, {"id": "b", "status": "success", "score": 1.5}]`:                                         "b success",
		`[{"id": "b", "status": "success", "score": -1}, {"id": "c", "status": "success"}]`:                                                      "c success",
		`[{"id": "a", "status": "partial_success", "score": 9}, {"id": "b", "status": "success"}]`:                                               "b success",
		`[{"id": "a", "status": "retry"}, {"id": "b", "status": "partial_success"}]`:                                                             "b partial_success",
		`[{"id": "a", "status": "fail"}, {"id": "b", "status": "retry"}]`:                                                                        "b retry",
		`[{"id": "a", "status": "skipped"}, {"id": "b", "status": "fail"}]`:                                                                      "b fail",
		`[{"id": "a", "status": "skipped"}]`:                                                                                                     "a skipped",
		`[{"id": "a"}, {"id": "b", "status": "odd"}]`:                                                                                            "a fail",
		`[{"id": "a", "status": "failed"}, {"id": "b", "status": "partially_succeeded"}, {"id": "c", "status": "succeeded", "score": "high"}]`:   "c success",
		`[1, {"status": "success"}, {"id": 3, "status": "success"}, {"id": "z", "status": "partial_success"}, {"id": "y", "status": "skipped"}]`: "z partial_success",
	} {
		r := handle(t, input(t, results))
		if r.Status != core.StatusNone || r.Routing == nil {
			t.Errorf("%s: %s", results, nodestest.Text(r))
			continue
		}
		if got := r.Routing.Context[fanin.ContextBestID].(string) + " " + r.Routing.Context[fanin.ContextBestOutcome].(string); got != want {
			t.Errorf("%s: got %s, want %s", results, got, want)
		}
	}
}

func TestFails(t *testing.T) {
	for results, want := range map[string]string{
		"":                                "{} fail (there are no results of branches to pick from)",
		`[]`:                              "{} fail (there are no results of branches to pick from)",
		`{"id": "a"}`:                     "{} fail (there are no results of branches to pick from)",
		`[{"id": "a", "status": "fail"}]`: "{} fail (all branches failed)",
		`[{"id": "a", "status": "failed"}, {"id": "b", "score": 3}]`: "{} fail (all branches failed)",
	} {
		if got := nodestest.Text(handle(t, input(t, results))); got != want {
			t.Errorf("%s: got %s, want %s", results, got, want)
		}
	}
	if got := nodestest.Text(handle(t, core.Shared{})); got != "{} fail (there are no results of branches to pick from)" {
		t.Errorf("without a context: %s", got)
	}
	if _, ds := fanin.Kind.Compile(nodestest.Node(t, `{"kind": "fan_in"}`), core.Env{}); nodestest.Findings(ds) != "1:10: error: node n: kind fan_in exists in walks only [BAD_VALUE]\n" {
		t.Errorf("in a dag: %v", ds)
	}
}

func TestConformance(t *testing.T) {
	nodestest.Run(t, fanin.Kind, nodestest.Case{Name: "best", Node: `{}`, Env: inWalk, Input: input(t, `[{"id": "a", "status": "success"}]`), Want: "{} (a is the best branch)"})
	nodestest.CheckDocs(t, fanin.Kind)
}

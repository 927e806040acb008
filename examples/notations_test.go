package examples

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/std"
)

// notations are the files of one workflow, with the places of its results: the letter, the verdict and the
// receipt. A place is a field, or a field and its member.
var notations = []struct {
	file, mock string
	results    [3][]string
}{
	{"letter-dag.yaml", "letter.mock.yaml", [3][]string{{"letter"}, {"verdict"}, {"receipt"}}},
	{"letter-steps.yaml", "letter.mock.yaml", [3][]string{{"letter"}, {"verdict"}, {"receipt"}}},
	{"letter.dot", "dot.mock.yaml", [3][]string{{"context", "response.draft"}, {"context", "response.check"}, {"context", "response.send"}}},
	{"letter.yml", "sweny.mock.yaml", [3][]string{{"context", "draft"}, {"context", "check"}, {"context", "send"}}},
	{"letter.json", "letter.mock.yaml", [3][]string{{"context", "draft"}, {"context", "check"}, {"context", "send"}}},
}

// TestNotations runs one workflow in five notations with the same answers of a model. Its agents are asked
// in the same order, and the results are the same.
func TestNotations(t *testing.T) {
	for _, n := range notations {
		t.Run(n.file, func(t *testing.T) {
			var steps []string
			m := llmtest.Script(t,
				llmtest.Run("draft", "Come!").Once(), llmtest.Run("draft", "Dear Ann, please come."),
				llmtest.Run("check", "poor").Once(), llmtest.Run("check", "good"),
				llmtest.Run("send", "sent"),
				llmtest.Route("check", "draft").Once(), llmtest.Route("check", "none"))
			e := wavefold.NewEngine(std.Kinds()...)
			e.UseModel(m)
			g, err := e.Load("notations/" + n.file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Run(t.Context(), wavefold.WithListener(func(e core.Event) {
				if (e.Type == core.NodeStarted || e.Type == core.ItemStarted) && slices.Contains([]string{"draft", "check", "send"}, e.Node) {
					steps = append(steps, e.Node)
				}
			}))
			if err != nil || r.Report.Status != core.RunSuccess {
				t.Fatalf("the run is %s: %v", r.Report.Status, err)
			}
			if got := strings.Join(steps, " "); got != "draft check draft check send" {
				t.Errorf("ran %s", got)
			}
			for i, want := range []string{"Dear Ann, please come.", "good", "sent"} {
				if got := result(r.Report.State, n.results[i]); got != want {
					t.Errorf("%v is %q, want %q", n.results[i], got, want)
				}
			}
			if q := m.Requests()[0]; !strings.Contains(promptOf(&q), "an invitation to Ann") {
				t.Errorf("the first prompt is %q", promptOf(&q))
			}
		})
	}
}

// promptOf returns the text of the messages of a request.
func promptOf(q *llm.Request) string {
	var parts []string
	for _, m := range q.Messages {
		parts = append(parts, m.Text)
	}
	return strings.Join(parts, "\n")
}

// result returns the text of the value at a place.
func result(state *value.Object, place []string) string {
	v, _ := state.Get(place[0])
	for _, name := range place[1:] {
		o, _ := v.(*value.Object)
		v, _ = o.Get(name)
	}
	if o, ok := v.(*value.Object); ok { // an answer without a schema, as SWEny has it
		v, _ = o.Get("summary")
	}
	return core.FlowText(v)
}

// TestNotationsMocks runs the mock files of the five notations, which expect the same order of nodes.
func TestNotationsMocks(t *testing.T) {
	t.Chdir("notations")
	for _, n := range notations {
		if got := docstest.Wavefold(t, "test", n.mock, n.file); got != "ok    "+n.mock+"\n" {
			t.Errorf("%s: %s", n.file, got)
		}
		if got := docstest.Wavefold(t, "validate", "--strict", n.file); got != "valid\n" {
			t.Errorf("%s: %s", n.file, got)
		}
	}
}

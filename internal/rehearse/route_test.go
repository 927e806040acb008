package rehearse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
)

// refining returns a walk that a model routes: a draft is checked, refined at most twice,
// published if it is good, and dropped if it is hopeless.
func refining() *core.Workflow {
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Mode: core.ModeWalk, Name: text("refining"), OpenInputs: true, Walk: &core.Walk{Router: text(core.RouterModel), Entry: text("draft")}}
	for _, id := range []string{"draft", "judge", "refine", "publish", "drop"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Kind: text("stage")})
	}
	edge := func(from, to, when string) *core.Edge {
		e := &core.Edge{From: text(from), To: text(to)}
		if when != "" {
			e.When = &source.Text{Value: when}
		}
		w.Edges = append(w.Edges, e)
		return e
	}
	edge("draft", "judge", "")
	edge("judge", "refine", "the draft is poor").MaxIterations = &source.Int{Value: 2}
	edge("judge", "publish", "the draft is good")
	edge("judge", "drop", "")
	edge("refine", "judge", "")
	return w
}

// rehearseRefining returns the expectations of a mock file that are not met, or the
// findings about it.
func rehearseRefining(t *testing.T, text string) string {
	t.Helper()
	file, ds := mock.Parse("m", []byte(text))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	e := wavefold.NewEngine()
	if err := e.AddTool("stage", core.HandlerFunc(nil)); err != nil {
		t.Fatal(err)
	}
	reg := rehearse.Registry(e.Registry(), file)
	w, inputs, _ := rehearse.Prepare(refining(), file)
	p, ds := wavefold.EngineOf(reg).Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	if ds := rehearse.Names(p, file); ds.Failed(false) {
		return strings.ReplaceAll(ds.Error(), "error: ", "")
	}
	rec, err := rehearse.Run(p, inputs, file, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range rec.Check(file.Expect) {
		lines = append(lines, fmt.Sprintf("%s %s: want %s, got %s (%s)", m.Pos, m.What, m.Want, m.Got, m.Because))
	}
	return strings.Join(lines, "\n")
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct{ name, mock, want string }{
		{"the choice of each visit", `
model: {route: {judge: [refine, publish]}}
expect: {run: success, path: [draft, judge, refine, judge, publish], calls: 2}`, ""},
		{"the last answer repeats, and spent edges are not offered", `
model: {route: {judge: [refine, refine, drop]}}
expect: {run: success, path: [draft, judge, refine, judge, refine, judge, drop], calls: {judge: 3, total: 3}}`, ""},
		{"none is the edge without a condition", `
model: {route: {judge: none}}
expect: {path: [draft, judge, drop]}`, ""},
		{"numbers are those that a model is shown", `
model: {route: {judge: [1, 2]}}
expect: {path: [draft, judge, refine, judge, publish]}`, ""},
		{"0 is none", `
model: {route: {judge: 0}}
expect: {path: [draft, judge, drop]}`, ""},
		{"a number that is not offered is none", `
model: {route: {judge: 3}}
expect: {path: [draft, judge, drop]}`, ""},
		{"words are read like a model's", `
model: {route: {judge: [{answer: 'I would say "refine".'}, {answer: refine or publish}]}}
expect: {path: [draft, judge, refine, judge, drop]}`, ""},
		{"an answer for a visit goes first", `
model: {route: {judge: [{visit: 2, to: publish}, refine]}}
expect: {path: [draft, judge, refine, judge, publish]}`, ""},
		{"a model that gives no answer fails the run", `
model: {route: {judge: {error: {message: down}}}}
expect: {run: failed, failure: error, path: [draft, judge], calls: 1}`, ""},
		{"a decision without an answer", `
model: {route: {draft: judge}}
expect: {run: success}`,
			`m:2:8 model.route.judge: the decision after visit 1: want an answer, got none in the file (the choices are 1 refine (the draft is poor), 2 publish (the draft is good), 0 drop (none of the above))`},
		{"a target that is spent", `
model: {route: {judge: refine}}`,
			`m:2:24 model.route.judge: the decision after visit 3: want one of the choices, got refine (the choices are 1 publish (the draft is good), 0 drop (none of the above))`},
		{"wrong numbers of calls", `
model: {route: {judge: publish}}
expect: {calls: {judge: 2, total: 2}}`,
			"m:3:25 calls.judge: want 2, got 1 ()\nm:3:35 calls.total: want 2, got 1 ()"},
		{"a path that differs tells why", `
model: {route: {judge: publish}}
expect: {path: [draft, judge, refine]}`,
			"m:3:31 path[2]: want refine, got publish (the whole path is draft judge publish; from judge by model: the draft is good)"},
		{"names", `
model:
  run: {jugde: {}}
  route: {draft: publish, judge: [refin, none, {answer: x}], nobody: x}
expect: {calls: {x: 1}}`, "m:3:9: model.run: unknown node \"jugde\" (did you mean \"judge\"?) [UNKNOWN_NODE]\n" +
			"m:4:18: model.route.draft: no edge leads from draft to \"publish\" [UNKNOWN_NODE]\n" +
			"m:4:35: model.route.judge: no edge leads from judge to \"refin\" (did you mean \"refine\"?) [UNKNOWN_NODE]\n" +
			"m:4:62: model.route: unknown node \"nobody\" [UNKNOWN_NODE]\n" +
			"m:5:18: expect.calls: unknown node \"x\" [UNKNOWN_NODE]"},
		{"what nodes come to, by visit, is what the walk remembers", `
model:
  run:
    draft: {output: {text: hello}}
    judge: [{output: {score: 1}, evals: {long: false}}, {output: {score: 5}}]
    publish: {status: fail, note: no space left}
  route: {judge: [refine, publish]}
expect:
  run: failed
  nodes: {publish: fail, refine: success}
  context: {draft: {text: hello}, judge: {score: 5}, refine: {}}`, ""},
		{"dry runs end before the first decision", `
inputs: {dryRun: true}
expect: {run: success, path: [draft, judge], calls: 0}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rehearseRefining(t, c.mock); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

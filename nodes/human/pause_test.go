package human_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/human"
)

// TestPauses tests pauses of nodes in dags with one slot. The interviewer answers each question
// after two hours, a tool takes one hour.
func TestPauses(t *testing.T) {
	testAsked(t, []askedTest{
		{"before", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: before}, {id: b, kind: tool, impl: slow, writes: []}]}`, "a", 1, 3 * time.Hour},
		{"after", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: after}, {id: b, kind: tool, impl: slow, writes: []}]}`, "a", 1, 3 * time.Hour},
		{"before a gate", `{nodes: [{id: gate, kind: human, pause: before}]}`, "gate gate", 1, 4 * time.Hour},
		{"before items", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: before, for_each: {source: $.list, concurrency: 3}}]}`, "a[0] a[1] a[2]", 3, 5 * time.Hour},
		{"after items", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: after, for_each: {source: $.list}}]}`, "a[0] a[1] a[2]", 1, 9 * time.Hour},
		{"a row at a time", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: before}], pipelines: [{id: p, items: $.list, stages: [a]}]}`, "a[0] a[1] a[2]", 1, 9 * time.Hour},
		{"rounds", `{nodes: [{id: a, kind: tool, impl: slow, writes: [], pause: after}], loops: [{id: l, body: [a], max_iters: 2}]}`, "a[0] a[1]", 1, 6 * time.Hour},
		{"a wait", `{nodes: [{id: a, kind: wait, duration: 1h, pause: before}]}`, "a", 1, 3 * time.Hour},
	})
}

// TestPauseAnswers tests which answers let an execution continue.
func TestPauseAnswers(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, tt := range []struct {
			name string
			who  core.Interviewer
			want string
		}{
			{"the key", human.Queue("c"), ""},
			{"the choice", human.Queue("Continue"), ""},
			{"approved", human.AutoApprove(), ""},
			{"asked again", human.Queue("yes", "c"), ""},
			{"never", human.Func(func(context.Context, core.Question) (core.Answer, error) { return core.Answer{Text: "no"}, nil }),
				`node a: pause: nobody answered: asked 10 times, and at last "no" is none of the choices`},
			{"nobody", nil, "node a: pause: nobody answered: the run has no person to ask"},
			{"dismissed", human.Queue(), "node a: pause: nobody answered: the queue of answers is empty"},
			{"broken", human.Func(func(context.Context, core.Question) (core.Answer, error) {
				return core.Answer{}, fmt.Errorf("no network")
			}), "node a: pause: no network"},
		} {
			r := run(t, `name: t
state: {schema: {x: {type: string}}}
graph:
  nodes: [{id: a, kind: template, text: done, writes: [x], on_error: {policy: retry, attempts: 3, base_ms: 1}, pause: `+when+`}]
`, tt.who, nil)
			got := ""
			if r.Err != nil {
				got = r.Err.Error()
			}
			_, wrote := r.State.Get("x")
			if a, _ := r.Node("a"); got != tt.want || wrote != (tt.want == "") || a.Attempts != 1 {
				t.Errorf("%s, %s: %q after %d attempts, wrote %t, want %q", when, tt.name, got, a.Attempts, wrote, tt.want)
			}
		}
	}
}

// TestPauseOfVisits tests that each visit of a node of a walk pauses, and that a pause is not a
// stalled run.
func TestPauseOfVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var questions []string
		who := human.Func(func(_ context.Context, q core.Question) (core.Answer, error) {
			questions = append(questions, fmt.Sprintf("%s.%d: %s", q.Node, q.Visit, q.Text))
			time.Sleep(5 * time.Hour)
			if q.Choices[0].Label == "continue" {
				return core.Answer{Text: "c"}, nil
			}
			return core.Answer{Text: []string{"", "r", "a"}[q.Visit]}, nil
		})
		r, err := walk(t, ", pause=before", `gate -> ship [label="[A] Approve"]
			gate -> edit [label="[R] Revise"]
			edit [pause=after, label="Edit it"]
			ship -> exit
			edit -> gate
			start [pause=after]
			exit [pause=before]
			`, who)
		const want = `start.1: start has ended, continue?
gate.1: continue with gate?
gate.1: gate
edit.1: Edit it has ended, continue?
gate.2: continue with gate?
gate.2: gate
exit.1: continue with exit?`
		if got := strings.Join(questions, "\n"); err != nil || got != want || r.Duration != 35*time.Hour {
			t.Errorf("%v after %s, path %s\n%s", err, r.Duration, r.Path, got)
		}
	})
}

// TestPauseFindings tests the errors of the setting.
func TestPauseFindings(t *testing.T) {
	for node, want := range map[string]string{
		`{id: a, kind: wait, duration: 1s, pause: befor}`:                    `pause: "befor" is none of before, after (did you mean "before"?)`,
		`{id: a, kind: wait, duration: 1s, pause: after, auto_status: true}`: "pause: auto_status would make the node a success although nobody let it continue",
	} {
		if got := findings(t, "name: t\ngraph: {nodes: ["+node+"]}\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", node, got)
		}
	}
}

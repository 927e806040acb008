package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// inWalk returns the input of a node in a walk whose context is a JSON object.
func inWalk(t *testing.T, visit int, text string) core.Shared {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return core.Shared{Visit: visit, View: core.NewView([]string{core.ContextField}, []any{v})}
}

// routed is the environment of a node in a walk that a model routes.
var routed = core.Env{Conventions: core.Conventions{Context: true, Late: true, Skips: true, HasRouter: true}}

// TestRequires tests that requirements are checked against the context before the model is called
// (rules 27 and 28).
func TestRequires(t *testing.T) {
	const known = `{"input": {"id": 7, "tags": [], "no": null}, "a": {"ok": true, "list": [{"n": 1}, {"n": 2}, {"n": null}], "word": "hotfix-12"}}`
	for _, tt := range []struct{ rule, want string }{
		{`"output_required": ["input.id", "a.ok"]`, ""},
		{`"output_required": ["input.nobody"]`, "input.nobody: nobody is not there"},
		{`"output_required": ["b.ok"]`, "b.ok: b is not there"},
		{`"output_required": ["input.no"]`, "input.no: a value is null"},
		{`"output_required": ["input.id.x"]`, "input.id.x: x is looked for in integer"},
		{`"output_required": ["input.id[*]"]`, "input.id[*]: id is not a list but integer"},
		{`"output_required": ["a.list[*].n"]`, "a.list[*].n: a value is null"},
		{`"output_required": ["any:a.list[*].n"]`, ""},
		{`"output_required": ["all:a.list[*].m"]`, "all:a.list[*].m: m is not there"},
		// An empty list has no value, and satisfies conditions on all values.
		{`"output_required": ["input.tags[*]"]`, "input.tags[*]: the list is empty"},
		{`"output_required": ["any:input.tags[*].x"]`, "any:input.tags[*].x: the list is empty"},
		{`"output_matches": [{"path": "input.tags[*]", "equals": 1}]`, ""},
		{`"output_matches": [{"path": "any:input.tags[*]", "equals": 1}]`, "any:input.tags[*]: the list is empty"},
		{`"output_matches": [{"path": "input.id", "equals": 7.0}]`, ""},
		{`"output_matches": [{"path": "input.id", "equals": "7"}]`, `input.id: want what equals "7", got 7`},
		{`"output_matches": [{"path": "input.no", "equals": null}]`, ""},
		{`"output_matches": [{"path": "a.word", "in": ["x", "hotfix-12"]}]`, ""},
		{`"output_matches": [{"path": "a.list[*].n", "in": [1, 2]}]`, "a.list[*].n: want what is one of [1,2], got null"},
		{`"output_matches": [{"path": "any:a.list[*].n", "equals": 2}]`, ""},
		{`"output_matches": [{"path": "any:a.list[*].n", "equals": 5}]`, "any:a.list[*].n: no value equals 5"},
		{`"output_matches": [{"path": "a.word", "matches": "^hotfix-\\d+$"}]`, ""},
		{`"output_matches": [{"path": "input.id", "matches": "^8"}]`, "input.id: want what matches ^8, got 7"},
		{`"output_required": ["x", "y"], "output_matches": [{"path": "z", "equals": 1}]`, "x: x is not there\n- y: y is not there\n- z: z is not there"},
	} {
		for _, skip := range []bool{false, true} {
			m := script("fine")
			word, status, member := "failed", core.Fail, "error"
			node := `{"prompt": "Hi", "requires": {` + tt.rule + `}}`
			if skip {
				word, status, member = "not met", core.Skipped, "skipped_reason"
				node = strings.Replace(node, `{`+tt.rule, `{"on_fail": "skip", `+tt.rule, 1)
			}
			r, err := handle(t, "agent", m, node, routed, inWalk(t, 1, known))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if r.Status != core.StatusNone || len(m.asked) != 1 {
					t.Errorf("%s: %+v", tt.rule, r)
				}
				continue
			}
			want := "requires " + word + ":\n- " + tt.want
			if r.Status != status || r.Note != want || len(m.asked) != 0 || value.JSON(r.EdgeOutput) != value.JSON(value.ObjectOf(member, want)) {
				t.Errorf("%s\ngot  %s %s\nwant %s %s", tt.rule, r.Status, r.Note, status, want)
			}
		}
	}
	// In a dag, a skipped node sends the reason.
	r, err := handle(t, "prompt", script("fine"), `{"prompt": "Hi", "requires": {"output_required": ["x"], "on_fail": "skip"}}`, core.Env{}, core.Shared{})
	if got := outcome(r, err); !strings.HasPrefix(got, `{} -> {"skipped_reason":`) {
		t.Error(got)
	}
}

// TestEval tests that all checks run in order, and that verdicts have a reasoning if there is one
// (rules 23 and 30).
func TestEval(t *testing.T) {
	node := `{"prompt": "Hi", "lenient": true, "tools": ["echo", "fail"], "judge_model": "small", "eval": [
		{"name": "low", "kind": "value", "rule": {"output_matches": [{"path": "n", "in": [1, 2]}]}},
		{"name": "tools", "kind": "function", "rule": {"any_tool_called": ["fail", "echo"], "all_tools_called": ["echo"], "no_tool_called": ["double"]}},
		{"name": "kind", "kind": "judge", "rubric": "It is kind."},
		{"name": "exact", "kind": "judge", "rubric": "It is exact.", "pass_when": "exact", "model": "large"}]}`
	env := functions()
	env.Conventions = routed.Conventions
	for _, tt := range []struct {
		name    string
		answers []any
		status  core.Status
		evals   string
		calls   int
	}{
		{"all pass", []any{"call echo {}", `{"n": 2}`, `{"verdict": "yes", "reasoning": "So it is."}`, `{"verdict": "EXACT", "reasoning": ""}`}, core.StatusNone,
			`{"low":{"name":"low","kind":"value","pass":true},"tools":{"name":"tools","kind":"function","pass":true},"kind":{"name":"kind","kind":"judge","pass":true,"reasoning":"So it is."},"exact":{"name":"exact","kind":"judge","pass":true}}`, 4},
		// A failed call does not satisfy any_tool_called. A judge without a verdict is asked once more.
		{"all fail", []any{"call fail {}\ndouble {}", `{"n": 3}`, "Verdict: no\nReasoning: It is rude.\nVery.", "maybe", ""}, core.Retry,
			`{"low":{"name":"low","kind":"value","pass":false,"reasoning":"n: want what is one of [1,2], got 3"},` +
				`"tools":{"name":"tools","kind":"function","pass":false,"reasoning":"any_tool_called: none of fail, echo was called with success; all_tools_called: echo was not called with success; no_tool_called: double was called"},` +
				`"kind":{"name":"kind","kind":"judge","pass":false,"reasoning":"It is rude.\nVery."},"exact":{"name":"exact","kind":"judge","pass":false,"reasoning":"the judge gave no verdict that can be read"}}`, 5},
		{"long", []any{"call echo {}", `{"n": 2}`, `{"verdict": "no", "reasoning": "` + strings.Repeat("ä", 600) + `"}`, `{"verdict": "exact"}`}, core.Retry, "", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := script(tt.answers...)
			r, err := handle(t, "agent", m, node, env, inWalk(t, 1, "{}"))
			if err != nil || r.Status != tt.status || len(m.asked) != tt.calls {
				t.Fatalf("%+v, %v, %d calls", r, err, len(m.asked))
			}
			if got := value.JSON(r.Routing.Evals); tt.evals != "" && got != tt.evals {
				t.Errorf("got  %s\nwant %s", got, tt.evals)
			}
			if first, last := m.asked[2], m.asked[len(m.asked)-1]; first.Purpose != llm.PurposeJudge || first.Model != "small" || last.Model != "large" {
				t.Errorf("%+v %+v", first, last)
			}
			kind, _ := r.Routing.Evals.Get("kind")
			if why, _ := kind.(*value.Object).Get("reasoning"); why != nil && utf8.RuneCountInString(why.(string)) > 500 {
				t.Errorf("%d characters", utf8.RuneCountInString(why.(string)))
			}
			if tt.status == core.Retry {
				if e, _ := r.EdgeOutput.(*value.Object).Get("error"); e != r.Note || !strings.HasPrefix(r.Note, "the checks of the answer failed:\n- ") {
					t.Errorf("%s\n%s", r.Note, value.JSON(r.EdgeOutput))
				}
			}
		})
	}
}

// TestVerdictAlone tests that a reply of one of the two verdicts alone is a verdict, and that a
// verdict inside a sentence is not.
func TestVerdictAlone(t *testing.T) {
	for _, tt := range []struct {
		passWhen, answer string
		pass, read       bool
	}{
		{"", "yes", true, true},
		{"", " **Yes.**\n", true, true},
		{"", `"no"`, false, true},
		{`, "pass_when": "fair"`, "`FAIR`", true, true},
		{`, "pass_when": "fair"`, "not_fair", false, true},
		{`, "pass_when": "fair"`, "yes", false, false},
		{"", "yes, it is", false, false},
		{"", "yes or no", false, false},
		{"", "", false, false},
	} {
		m := script("fine", tt.answer, tt.answer)
		r, err := handle(t, "prompt", m, `{"prompt": "Hi", "eval": [{"name": "j", "kind": "judge", "rubric": "Say yes or no."`+tt.passWhen+`}]}`, routed, inWalk(t, 1, "{}"))
		if asked := len(m.asked); err != nil || (r.Status != core.Retry) != tt.pass || (asked == 2) != tt.read {
			t.Errorf("%s %q: %+v, %v, %d calls", tt.passWhen, tt.answer, r, err, asked)
		}
	}
}

// TestJudgeBreaks tests that an error of a judge is an error of the backend.
func TestJudgeBreaks(t *testing.T) {
	m := script("fine", errors.New("connection refused"))
	_, err := handle(t, "prompt", m, `{"prompt": "Hi", "eval": [{"name": "j", "kind": "judge", "rubric": "ok?"}]}`, routed, inWalk(t, 1, "{}"))
	if f := core.FailureOf(err); err == nil || !f.FailsRun || f.Message != "connection refused" {
		t.Errorf("%v", err)
	}
}

// TestRetryPreamble tests that the prompt of another attempt begins with the latest failures of
// checks, and with no other failures (rule 29).
func TestRetryPreamble(t *testing.T) {
	const failed = "the checks of the answer failed:\n- a (value): wrong"
	const list = "## The previous attempt did not pass its checks\n\n- a (value): wrong"
	for _, tt := range []struct {
		name, key, previous string
		attempt             int
		answers             []any
		want                string
	}{
		{"the first attempt", "", "", 1, []any{"x"}, "Rules\n\n---\n\nHi"},
		{"plain", "", failed, 2, []any{"x"}, list + "\n\nMend this and try again.\n\n---\n\nRules\n\n---\n\nHi"},
		{"a text", `, "retry_instruction": "Count again."`, failed, 2, []any{"x"}, "## Guidance for this attempt\n\nCount again.\n\n" + list + "\n\n---\n\nRules\n\n---\n\nHi"},
		{"auto", `, "retry_instruction": {"auto": true}`, failed, 3, []any{" I forgot one. ", "x"}, "## Thoughts on the previous attempt\n\nI forgot one.\n\n" + list + "\n\n---\n\nRules\n\n---\n\nHi"},
		{"reflect", `, "retry_instruction": {"reflect": "What was wrong?"}`, failed, 2, []any{"All.", "x"}, "## Thoughts on the previous attempt\n\nAll.\n\n" + list + "\n\n---\n\nRules\n\n---\n\nHi"},
		{"no thoughts", `, "retry_instruction": {"auto": true}`, failed, 2, []any{" ", "x"}, list + "\n\nMend this and try again.\n\n---\n\nRules\n\n---\n\nHi"},
		{"nobody to think", `, "retry_instruction": {"auto": true}`, failed, 2, []any{errors.New("refused"), "x"}, list + "\n\nMend this and try again.\n\n---\n\nRules\n\n---\n\nHi"},
		{"another failure", "", "connection refused", 2, []any{"x"}, "Rules\n\n---\n\nHi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := script(tt.answers...)
			h := compile(t, "agent", m, `{"instruction": "Hi", "preamble": ["Rules"]`+tt.key+`}`, routed)
			s := inWalk(t, 1, "{}")
			s.Previous = tt.previous
			if _, err := h.Handle(t.Context(), core.NewInput("run", "n", tt.attempt, s)); err != nil {
				t.Fatal(err)
			}
			if got := m.last().Text; got != tt.want || len(m.asked) != len(tt.answers) {
				t.Errorf("%d calls, got\n%s\nwant\n%s", len(m.asked), got, tt.want)
			}
			if len(m.asked) == 2 && (m.asked[0].Purpose != "reflect" || tt.name == "reflect" && !strings.HasSuffix(m.asked[0].Messages[0].Text, "- a (value): wrong\n\nWhat was wrong?")) {
				t.Errorf("%+v", m.asked[0])
			}
		})
	}
}

// TestRouted tests the results of nodes in a walk that a model routes (rules 22 and 25).
func TestRouted(t *testing.T) {
	schema := `"schema": {"properties": {"a": {}, "b": {}}}`
	for _, tt := range []struct {
		name, node string
		answers    []any
		want       string
		log        string
	}{
		{"data", `{"instruction": "Hi", "lenient": true}`, []any{"done"}, `{} -> {"summary":"done"}`, ""},
		{"a member less", `{"instruction": "Hi", "lenient": true, ` + schema + `}`, []any{`{"a": 1}`}, `{} -> {"a":1}`, "the answer lacks members that the schema declares; they are shown as null"},
		{"a failure of the model", `{"instruction": "Hi"}`, []any{&llm.Response{Refusal: "No."}}, `{} -> {"error":"the model declined: No."} fail (the model declined: No.)`, ""},
		{"soft", `{"instruction": "Hi", "fail_soft": true, ` + schema + `}`, []any{&llm.Response{Refusal: "No."}}, `{} -> {"fail_soft":true,"error":"the model declined: No."} (the model declined: No.)`, ""},
		{"a failure of the backend", `{"instruction": "Hi", "fail_soft": true}`, []any{errors.New("503")}, "error: 503", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := &nodestest.Log{}
			s := inWalk(t, 1, "{}")
			s.Log = slog.New(log)
			r, err := handle(t, "agent", script(tt.answers...), tt.node, routed, s)
			if got := outcome(r, err); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if err != nil && !core.FailureOf(err).FailsRun {
				t.Errorf("the run goes on: %v", err)
			}
			if got := log.Text(); !strings.Contains(got, tt.log) || (tt.log == "") != (got == "") {
				t.Errorf("log %q, want %q", got, tt.log)
			}
		})
	}
}

// TestBigContext tests that 5 MB from an earlier node are cut and do not displace other nodes.
func TestBigContext(t *testing.T) {
	m := script("fine")
	known := `{"input": {}, "big": {"log": "` + strings.Repeat("x", 5<<20) + `", "ok": true}, "small": "seen"}`
	if _, err := handle(t, "agent", m, `{"prompt": "Hi", "context": true}`, routed, inWalk(t, 2, known)); err != nil {
		t.Fatal(err)
	}
	got := m.last().Text
	if len(got) > 300<<10 || !strings.Contains(got, `"ok":true`) || !strings.Contains(got, `"small": "seen"`) || !strings.HasSuffix(got, "---\n\nHi") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestOutcomes tests that in a walk by outcomes the answer sets the status of the node (rule 41 of
// that mode) and is stored in the context.
func TestOutcomes(t *testing.T) {
	env := core.Env{Conventions: core.Conventions{Context: true, Late: true, Branches: true, Skips: true, Briefing: true}}
	long := strings.Repeat("ä", 300) + ` {"outcome": "partial_success", "preferred_next_label": "Ship", "context_updates": {"k": 1, "last_stage": "mine"}}`
	r, err := handle(t, "prompt", script(long), `{"prompt": "Hi"}`, env, inWalk(t, 2, "{}"))
	if err != nil || r.Status != core.PartialSuccess || r.Routing.PreferredLabel != "Ship" {
		t.Fatalf("%+v, %v", r, err)
	}
	c := r.Routing.Context
	if c["k"] != int64(1) || c["last_stage"] != "mine" || c["last_response"] != strings.Repeat("ä", 100) || c["response.n"] != long {
		t.Errorf("%v", c)
	}
	_, err = handle(t, "prompt", script(errors.New("503 unavailable")), `{"prompt": "Hi"}`, env, inWalk(t, 1, "{}"))
	if f := core.FailureOf(err); f.FailsRun || f.InCategory() != core.TransientInfra {
		t.Errorf("a backend may recover: %+v", f)
	}
}

// TestTimeout tests the errors of a call that exceeds its timeout and of a cancelled run.
func TestTimeout(t *testing.T) {
	slow := llm.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) { <-ctx.Done(); return nil, ctx.Err() })
	_, err := handle(t, "prompt", slow, `{"prompt": "Hi", "timeout_ms": 1}`, core.Env{}, core.Shared{})
	if err == nil || err.Error() != "the model did not answer within 1ms" || core.CategoryOf(err) != core.TransientInfra {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := llm.Func(func(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
		cancel(errors.New("stopped"))
		<-ctx.Done()
		return nil, ctx.Err()
	})
	_, err = compile(t, "prompt", stop, `{"prompt": "Hi", "timeout_ms": 60000}`, routed).Handle(ctx, core.NewInput("run", "n", 1, core.Shared{}))
	if err == nil || err.Error() != "stopped" || core.FailureOf(err).FailsRun {
		t.Error(err)
	}
}

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/agent"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// described is a function with a description of its parameters.
type described struct{ core.HandlerFunc }

func (described) Arguments() *value.Type {
	return &value.Type{Kind: value.ObjectType, Properties: []value.Property{{Name: "n", Type: &value.Type{Kind: value.IntegerType}}}, Required: []string{"n"}}
}

// functions returns an environment with the Go functions of the tests.
func functions(names ...string) core.Env {
	all := map[string]core.Handler{
		"echo": core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			return core.Send(value.JSON(in.Shared().Args)), nil
		}),
		"double": described{func(_ context.Context, in core.Input) (core.Result, error) {
			n, _ := in.Arg("n")
			return core.Send(value.ObjectOf("twice", n.(int64)*2)), nil
		}},
		"big": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			return core.Send(strings.Repeat("ä", 5<<19)), nil
		}),
		"bang": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { panic("bang") }),
		"fail": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			return core.Result{}, errors.New("no such city")
		}),
		"says": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			return core.Result{Status: core.Fail, Note: "not today"}, nil
		}),
		"write": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Write("x", int64(1)), nil }),
		"quiet": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }),
		"broke": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			return core.Result{}, fmt.Errorf("asking: %w", core.FailRun(core.Categorized(errors.New("the budget is used up"), core.BudgetExhausted)))
		}),
		"git.log":    core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Send("log"), nil }),
		"git_status": core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Send("clean"), nil }),
		"git_push":   core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Send("pushed"), nil }),
	}
	env := core.Env{LookPath: exec.LookPath, Tool: func(name string) (core.Handler, bool) { h, ok := all[name]; return h, ok }}
	for name := range all {
		env.Tools = append(env.Tools, name)
	}
	slices.Sort(env.Tools)
	return env
}

// TestTools tests the results of tool calls that the model gets.
func TestTools(t *testing.T) {
	all := `["echo", "double", "big", "bang", "fail", "says", "write", "quiet", "git.log"]`
	for _, tt := range []struct {
		call, want string
		failed     bool
	}{
		{`echo {"a": [1]}`, `{"a":[1]}`, false},
		{`echo`, `{}`, false},
		{`double {"n": 21}`, `{"twice":42}`, false},
		{`double {"n": "21"}`, "the arguments do not fit: n: got string, want integer", true},
		{`double {}`, "the arguments do not fit: missing property 'n'", true},
		{`double {"n": 1`, "the arguments are no JSON: ", true},
		{`double {"n": 1, "n": 2}`, "the arguments are no JSON: ", true},
		{`double [1]`, "the arguments must be a JSON object, got array", true},
		{`trouble {}`, `there is no tool "trouble"; there are echo, double, `, true},
		{`bang {}`, "the tool panicked: bang", true},
		{`fail {}`, "no such city", true},
		{`says {}`, "not today", true},
		{`write {}`, `{"x":1}`, false},
		{`quiet {}`, "done", false},
		{`git_log {}`, "log", false},
		{`list {"a": 1}`, `{"a":1}`, false},
		{`crash {}`, "sh: exit code 3: oh", true},
	} {
		m := script("call "+tt.call, "fine")
		var told []core.ToolCall
		ctx := core.WithMeter(t.Context(), &core.Meter{Tool: func(c core.ToolCall) { told = append(told, c) }})
		h := compile(t, "agent", m, `{"prompt": "Hi", "tools": `+all+`, "commands": [{"name": "list", "run": ["cat"]}, {"name": "crash", "run": ["sh", "-c", "echo oh >&2; exit 3"]}]}`, functions())
		r, err := h.Handle(ctx, core.NewInput("run", "n", 1, core.Shared{Args: value.ObjectOf("mine", 1)}))
		if got := outcome(r, err); got != `{} -> "fine"` {
			t.Errorf("%s: %s", tt.call, got)
		}
		last := m.last()
		if !strings.HasPrefix(last.Text, tt.want) || last.Role != llm.ToolRole || last.Failed != tt.failed || last.Call != "c0" {
			t.Errorf("%s\ngot  %+v\nwant %s, failed %v", tt.call, last, tt.want, tt.failed)
		}
		if name, _, _ := strings.Cut(tt.call, " "); len(told) != 1 || told[0].Tool != name || told[0].Turn != 1 || (told[0].Err != nil) != tt.failed {
			t.Errorf("%s: told %+v", tt.call, told)
		}
	}
}

// TestBigToolAnswer tests that a result of 5 MB is cut between two characters.
func TestBigToolAnswer(t *testing.T) {
	for _, tt := range []struct {
		key  string
		most int
	}{{"", agent.DefaultMaxOutput}, {`, "max_output": 7`, 6}} {
		m := script("call big {}", "fine")
		if _, err := handle(t, "agent", m, `{"prompt": "Hi", "tools": ["big"]`+tt.key+`}`, functions(), core.Shared{}); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("ä", tt.most/2) + fmt.Sprintf("… [cut: %d of 5242880 bytes are shown]", tt.most)
		if got := m.last().Text; got != want {
			t.Errorf("%d bytes, the end is %q", len(got), got[max(0, len(got)-60):])
		}
	}
}

// TestTurns tests that several calls in one reply run in order, and that each request has the whole
// conversation.
func TestTurns(t *testing.T) {
	m := script("call echo {\"i\": 1}\nfail {}", "call double {\"n\": 1}", "fine")
	h := compile(t, "agent", m, `{"prompt": "Hi", "tools": ["echo", "fail", {"name": "double", "description": "Twice.", "parameters": {"required": ["n"]}}], "max_turns": 3}`, functions())
	if r, err := h.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil || r.EdgeOutput != "fine" {
		t.Fatal(r, err)
	}
	var got []string
	for _, msg := range m.asked[2].Messages {
		got = append(got, fmt.Sprintf("%s %s %d %s", msg.Role, msg.Text, len(msg.Calls), msg.Call))
	}
	want := `user Hi 0 |assistant  2 |tool {"i":1} 0 c0|tool no such city 0 c1|assistant  1 |tool {"twice":2} 0 c0`
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if n := len(m.asked[0].Messages); n != 1 {
		t.Errorf("the first request has changed: %d messages", n)
	}
	if d := m.asked[0].Tools[2]; d.Description != "Twice." || value.JSON(d.Parameters) != `{"required":["n"]}` {
		t.Errorf("%+v", d)
	}
}

// TestTurnLimit tests that a model that never stops calling tools fails the node, and that the calls
// of the last turn are not run, because no request would have their results.
func TestTurnLimit(t *testing.T) {
	m, calls := script("call count {}"), 0
	env := core.Env{Tool: func(string) (core.Handler, bool) {
		return core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { calls++; return core.Result{}, nil }), true
	}}
	env.Tool = onlyTool("count", env.Tool)
	_, err := handle(t, "agent", m, `{"prompt": "Hi", "tools": ["count"], "max_turns": 3}`, env, core.Shared{})
	if err == nil || err.Error() != "the turn limit of 3 is reached and the model still asks for tools" || core.CategoryOf(err) != core.BudgetExhausted || calls != 2 || len(m.asked) != 3 {
		t.Errorf("%v, %d calls, asked %d times", err, calls, len(m.asked))
	}
	m = script("call " + strings.Repeat("count {}\n", 100) + "count {}")
	if _, err := handle(t, "agent", m, `{"prompt": "Hi", "tools": ["count"]}`, env, core.Shared{}); err == nil || err.Error() != "the model asked for 101 tools at once, and may ask for 100" || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
	m = script("call count {}")
	handle(t, "agent", m, `{"prompt": "Hi", "tools": ["count"]}`, env, core.Shared{})
	if len(m.asked) != agent.DefaultMaxTurns {
		t.Errorf("asked %d times", len(m.asked))
	}
}

// onlyTool hides all names except one.
func onlyTool(name string, find func(string) (core.Handler, bool)) func(string) (core.Handler, bool) {
	return func(n string) (core.Handler, bool) {
		if n != name {
			return nil, false
		}
		return find(n)
	}
}

// TestBudget tests that the error of an exhausted budget is returned, from the model or from a tool.
func TestBudget(t *testing.T) {
	used := core.FailRun(core.Categorized(errors.New("the budget of the run is used up"), core.BudgetExhausted))
	for _, node := range []string{`{"prompt": "Hi", "fail_soft": true}`, `{"prompt": "Hi", "fail_soft": true, "lenient": true, "eval": [{"name": "j", "kind": "judge", "rubric": "ok?"}]}`} {
		asks := 0
		ctx := core.WithMeter(t.Context(), &core.Meter{Ask: func(c core.ModelCall) error {
			if asks++; asks == 2 || !strings.Contains(node, "judge") {
				return used
			}
			return nil
		}})
		_, err := compile(t, "prompt", script("fine"), node, core.Env{}).Handle(ctx, core.NewInput("run", "n", 1, core.Shared{}))
		if !errors.Is(err, used) || !core.FailureOf(err).FailsRun {
			t.Errorf("%s: %v", node, err)
		}
	}
	_, err := handle(t, "agent", script("call broke {}", "fine"), `{"prompt": "Hi", "tools": ["broke"], "fail_soft": true}`, functions(), core.Shared{})
	if f := core.FailureOf(err); err == nil || !f.FailsRun || f.InCategory() != core.BudgetExhausted {
		t.Errorf("of a tool: %v", err)
	}
}

// TestSkills tests that registered functions take precedence over instructions of the document
// (rule 38).
func TestSkills(t *testing.T) {
	for _, tt := range []struct{ name, node, tools, prompt, findings, fails string }{
		{"a family", `{"prompt": "Hi", "skills": [{"name": "git", "instruction": "Use git."}]}`, "git_push git_status", "Hi", "", ""},
		{"a text", `{"prompt": "Hi", "skills": [{"name": "style", "instruction": "Be brief."}]}`, "", "## Skill: style\n\nBe brief.\n\n---\n\nHi", "", ""},
		{"one of two", `{"prompt": "Hi", "skills": [{"name": "style", "instruction": "Be brief."}, {"name": "svn"}]}`, "", "## Skill: style\n\nBe brief.\n\n---\n\nHi", "1:85 svn", ""},
		{"none", `{"prompt": "Hi", "skills": [{"name": "svn"}, {"name": "ech"}]}`, "", "", "1:38 svn 1:55 ech and no other",
			"none of the skills of the node is there (svn, ech): register Go functions of these names"},
		{"a filter of what is nowhere", `{"prompt": "Hi", "skills": [{"name": "svn"}, {"name": "git"}], "tool_filter": {"deny": ["svn_push"]}}`, "git_push git_status", "Hi", "1:38 svn", ""},
		{"allow", `{"prompt": "Hi", "skills": [{"name": "git"}], "tool_filter": {"allow": ["git_push", "git_pull"]}}`, "git_push", "Hi", "IGNORED", ""},
		{"deny wins", `{"prompt": "Hi", "skills": [{"name": "git"}], "tool_filter": {"allow": ["git_push", "git_status"], "deny": ["git_push"]}}`, "git_status", "Hi", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := script("fine")
			made, ds := kindOf("agent", m).Compile(nodestest.Node(t, tt.node), functions())
			var codes []string
			for _, d := range ds {
				codes = append(codes, string(d.Code))
			}
			for _, s := range made.Missing.Names {
				codes = append(codes, fmt.Sprintf("%d:%d %s", s.Pos.Line, s.Pos.Column, s.Value))
			}
			if made.Missing.All {
				codes = append(codes, "and no other")
			}
			if got := strings.Join(codes, " "); got != tt.findings || ds.Failed(false) {
				t.Errorf("findings %s, want %s", got, tt.findings)
			}
			_, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{}))
			if tt.fails != "" {
				if err == nil || err.Error() != tt.fails || len(m.asked) > 0 {
					t.Errorf("got %v, want %s", err, tt.fails)
				}
				return
			}
			var names []string
			for _, d := range m.asked[0].Tools {
				names = append(names, d.Name)
			}
			if got := strings.Join(names, " "); got != tt.tools || m.last().Text != tt.prompt {
				t.Errorf("tools %s, prompt %q", got, m.last().Text)
			}
		})
	}
}

// TestToolsHaveKeysOfTheirOwn tests the idempotency keys of tool calls. Calls with different
// arguments have different keys, and the same call in another attempt has the same key.
func TestToolsHaveKeysOfTheirOwn(t *testing.T) {
	var keys []string
	env := functions()
	pay := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		keys = append(keys, in.IdempotencyKey())
		return core.Send("paid"), nil
	})
	env.Tool = func(name string) (core.Handler, bool) { return pay, name == "pay" }
	env.Tools = []string{"pay"}
	once := func(attempt int, s core.Shared, first, second string) []string {
		keys = nil
		h := compile(t, "agent", script("call pay "+first, "call pay "+second, "fine"), `{"prompt": "Hi", "tools": ["pay"]}`, env)
		if _, err := h.Handle(t.Context(), core.NewInput("run", "n", attempt, s)); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	one := once(1, core.Shared{}, `{"to": "a"}`, `{"to": "b"}`)
	if len(one) != 2 || one[0] == one[1] || !strings.HasPrefix(one[0], "run/n/1/pay/") || !strings.HasPrefix(one[1], "run/n/2/pay/") {
		t.Errorf("two calls have the keys %q", one)
	}
	if again := once(2, core.Shared{}, `{"to": "a"}`, `{"to": "c"}`); again[0] != one[0] || again[1] == one[1] {
		t.Errorf("another attempt has %q after %q", again, one)
	}
	if item := once(1, core.Shared{Item: "x", Index: core.Nth(3)}, `{"to": "a"}`, `{"to": "b"}`); !strings.HasPrefix(item[0], "run/n[3]/1/pay/") {
		t.Errorf("an item has %q", item)
	}
	m := script("call key {}", "fine")
	h := compile(t, "agent", m, `{"prompt": "Hi", "commands": [{"name": "key", "run": ["sh", "-c", "cat >/dev/null; echo $WAVEFOLD_IDEMPOTENCY_KEY"]}]}`, functions())
	if _, err := h.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil || !strings.HasPrefix(m.last().Text, "run/n/1/key/") {
		t.Errorf("a program has %q, %v", m.last().Text, err)
	}
}

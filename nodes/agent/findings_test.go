package agent_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// modest is a model that lacks some features.
type modest struct{ llm.Model }

func (modest) Lacks(r *llm.Request) string {
	switch {
	case r.Provider != "":
		return "this server runs all of them"
	case len(r.Hosted) > 0:
		return "this server has no tools of its own"
	case r.Effort != "":
		return "this server knows no effort"
	case len(r.Tools) > 0:
		return "this server calls no tools"
	case r.Schema != nil:
		return "this server holds no answer to a schema"
	}
	return ""
}

func TestFindings(t *testing.T) {
	env := functions()
	env.LookPath = exec.LookPath
	env.Schema = nodestest.Schema(t, `{"city": {"type": "string"}}`)
	env.Files = fstest.MapFS{"say.md": {Data: []byte("Say\n{{$.ctiy}}")}, "answer.json": {Data: []byte(`{"type": "object"}`)}, "bad.json": {Data: []byte(`{"type": "objct"}`)}, "no.json": {Data: []byte(`{`)}}
	for _, tt := range []struct{ node, want string }{
		{`{}`, `1:1: error: node n: key "prompt" is missing [MISSING_KEY]`},
		{`{"prompt": " "}`, `1:12: error: node n: key "prompt" is empty [MISSING_KEY]`},
		{`{"instruction": ""}`, `1:17: error: node n: key "instruction" is empty [MISSING_KEY]`},
		{`{"prompt": "x", "instruction": "y"}`, `1:32: error: node n: prompt and instruction exclude each other [BAD_VALUE]`},
		{`{"prompt": "hi", "modle": "m"}`, `1:18: error: node n: unknown key "modle" (did you mean "model"? known keys: `},
		{`{"prompt": "hi", "temperature": 3}`, `1:33: error: node n: temperature: want a number from 0 to 2, found 3 [BAD_VALUE]`},
		{`{"prompt": "{{$.ctiy}}"}`, `1:16: error: node n: prompt: unknown field "ctiy" (did you mean "city"?`},
		{`{"prompt": "say.md"}`, `2:5: error: node n: prompt: unknown field "ctiy" (did you mean "city"?`},
		{`{"prompt": "sya.md"}`, `1:12: error: node n: prompt: there is no file "sya.md" (did you mean "say.md"?) [MISSING_FILE]`},
		{`{"prompt": "../say.md"}`, `1:12: error: node n: prompt: "../say.md" leaves the workflow's folder`},

		// Invalid schemas, with the position of each fault.
		{`{"prompt": "hi", "schema": 3}`, `1:28: error: node n: schema: want a JSON Schema, which is a mapping, found number 3 [WRONG_TYPE]`},
		{`{"prompt": "hi", "schema": {"type": "objct", "properties": {"a": 5, "b": {"minLength": -1}}, "required": "x"}}`,
			`1:37: error: node n: schema: this is not JSON Schema: type: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string', or got string, want array [BAD_VALUE]
1:66: error: node n: schema: this is not JSON Schema: properties.a: got number, want boolean or object [BAD_VALUE]
1:88: error: node n: schema: this is not JSON Schema: properties.b.minLength: minimum: got -1, want 0 [BAD_VALUE]
1:106: error: node n: schema: this is not JSON Schema: required: got string, want array [BAD_VALUE]`},
		{`{"prompt": "hi", "schema": {"anyOf": [{"type": "string"}, {"type": 1}]}}`, `1:68: error: node n: schema: this is not JSON Schema: anyOf[1].type: `},
		{`{"prompt": "hi", "schema": {"$ref": "file:///etc/passwd"}}`, `1:28: error: node n: schema: this is not JSON Schema: failing loading "file:///etc/passwd": no URLLoader registered for "file:///etc/passwd" [BAD_VALUE]`},
		{`{"prompt": "hi", "schema": {"$ref": "#/$defs/x"}}`, `1:28: error: node n: schema: this is not JSON Schema: json-pointer in "#/$defs/x" not found [BAD_VALUE]`},
		{`{"prompt": "hi", "schema": {"pattern": "("}}`, `1:40: error: node n: schema: this is not JSON Schema: pattern: '(' is not valid regex: `},
		{`{"prompt": "hi", "schema": "anwser.json"}`, `1:28: error: node n: schema: there is no file "anwser.json" (did you mean "answer.json"?) [MISSING_FILE]`},
		{`{"prompt": "hi", "schema": "bad.json"}`, `1:28: error: node n: schema: this is not JSON Schema: type: value must be`},
		{`{"prompt": "hi", "schema": "no.json"}`, `1:28: error: node n: schema: no.json: the JSON ends too early, want `},

		{`{"prompt": "hi", "tools": ["ecko"]}`, `1:28: error: node n: tools: no Go function is registered under "ecko" (did you mean "echo"? known keys: `},
		{`{"prompt": "hi", "tools": ["echo", "echo"]}`, `1:36: error: node n: two tools are called echo [DUPLICATE]`},
		{`{"prompt": "hi", "tools": [{"name": "echo", "parameters": {"type": 1}}]}`, `1:68: error: node n: tools: echo: parameters: this is not JSON Schema: type: `},
		{`{"prompt": "hi", "tools": 5}`, `1:27: error: node n: tools: want a list, found number 5 [WRONG_TYPE]`},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": "ls -l"}]}`, `1:52: error: node n: commands[0].run: want a list, found string "ls -l" (write [ls -l]) [WRONG_TYPE]`},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": ["nobody-has-this"]}]}`, `1:53: error: node n: commands: x: program "nobody-has-this" is not there: `},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": ["env"], "env": {"T": {"secret": "NOBODY_SETS_THIS"}}}]}`,
			`1:85: warning: node n: commands: x: env.T: the environment variable NOBODY_SETS_THIS is not set (calls of this program fail without it) [BAD_VALUE]`},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": ["sh"]}]}`, `1:53: error: node n: commands: x: standard input is the program text of sh, and what the model sends would be run (`},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": ["sh", "-c", "eval \"$(cat)\""]}]}`, `1:53: error: node n: commands: x: standard input is the program text of sh, and what the model sends would be run (`},
		{`{"prompt": "hi", "commands": [{"name": "x", "run": ["env"], "env": {"BASH_ENV": "{{$.city}}"}}]}`, `1:81: error: node n: commands: x: env.BASH_ENV: programs run or load what this variable names, so a value in it would let data become code (`},
		{`{"prompt": "hi", "model": "{{$.city}}"}`, `1:27: warning: node n: model: "{{$.city}}" is sent as it is written: the name of a model is not a template (write the name, or`},
		{`{"prompt": "hi", "judge_model": "$small"}`, `1:33: warning: node n: judge_model: "$small" is sent as it is written: the name of a model is not a template (write the name, or`},
		{`{"prompt": "hi", "tool_filter": {}}`, `1:33: error: node n: tool_filter: want allow or deny [BAD_VALUE]`},
		{`{"prompt": "hi", "max_turns": 0}`, `1:31: error: node n: max_turns: want a whole number of at least 1, found 0 [BAD_VALUE]`},

		{`{"prompt": "hi", "requires": {}}`, `1:30: error: node n: requires: want output_required or output_matches [BAD_VALUE]`},
		{`{"prompt": "hi", "requires": {"output_required": ["a-b", "some:x", "a..b"]}}`, `1:51: error: node n: requires: output_required: "a-b": want names with points between them, such as data.items[*].id, found "a-b" [BAD_VALUE]
1:58: error: node n: requires: output_required: "some:x": want all: or any: before a path, found "some:" [BAD_VALUE]
1:68: error: node n: requires: output_required: "a..b": want names`},
		{`{"prompt": "hi", "requires": {"output_matches": [{"path": "a"}, {"path": "a", "equals": 1, "in": [1]}, {"path": "a", "in": 1}, {"path": "a", "matches": "("}]}}`,
			`1:50: error: node n: requires: output_matches: want one of equals, in and matches, found 0 of them [BAD_VALUE]
1:65: error: node n: requires: output_matches: want one of equals, in and matches, found 2 of them [BAD_VALUE]
1:124: error: node n: requires: output_matches: in: want a list, found number 1 [WRONG_TYPE]
1:153: error: node n: requires: output_matches: matches: error parsing regexp: `},
		{`{"prompt": "hi", "requires": {"output_required": ["a"], "on_fail": "stop"}}`, `1:68: error: node n: requires.on_fail: "stop" is none of fail, skip [BAD_VALUE]`},
		{`{"prompt": "hi", "eval": [{"name": "a", "kind": "judge"}, {"name": "a", "kind": "value"}, {"name": "b", "kind": "function", "rule": {}}, {"name": "c", "kind": "value", "rule": {"output_required": ["x"]}, "rubric": "r"}, {"name": "d", "kind": "judge", "rubric": "r", "rule": {}, "pass_when": "a b"}]}`,
			`1:27: error: node n: eval: a: a judge needs a rubric [BAD_VALUE]
1:59: error: node n: eval: a: a check of the kind value needs a rule [BAD_VALUE]
1:68: error: node n: eval: two checks are called a [DUPLICATE]
1:133: error: node n: eval: b: the rule checks nothing [BAD_VALUE]
1:215: error: node n: eval: c: rubric, pass_when and model belong to a judge [BAD_VALUE]
1:275: error: node n: eval: d: a judge has a rubric and no rule [BAD_VALUE]
1:292: error: node n: eval: d: pass_when: want one word, found "a b" [BAD_VALUE]`},
		{`{"prompt": "hi", "eval": [{"name": "a", "kind": "value", "rule": {"no_tool_called": ["x"]}}]}`, `1:66: warning: node n: eval: a: a check of a value looks at output_required and output_matches alone, so it always passes [IGNORED]`},
		{`{"prompt": "hi", "retry_instruction": {"auto": false}}`, `1:39: error: node n: retry_instruction: want a string, {auto: true} or {reflect: string} [BAD_VALUE]`},
		{`{"prompt": "hi", "retry_instruction": 3}`, `1:39: error: node n: retry_instruction: want a string, {auto: true} or {reflect: string}, found number 3 [WRONG_TYPE]`},
	} {
		_, ds := kindOf("agent", script("x")).Compile(nodestest.Node(t, tt.node), env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\ngot  %s\nwant %s", tt.node, got, tt.want)
		}
	}
	_, ds := kindOf("agent", script("x")).Compile(nodestest.Node(t, `{"prompt": "hi", "tools": ["find"]}`), core.Env{})
	none := `1:28: error: node n: tools: no Go function is registered under "find" (a Go program registers it by Engine.AddTool; list a program to run under commands) [UNKNOWN_IMPL]`
	if got := strings.TrimSpace(nodestest.Findings(ds)); got != none {
		t.Errorf("got  %s\nwant %s", got, none)
	}
	// A prompt has no tools.
	if _, ds := kindOf("prompt", nil).Compile(nodestest.Node(t, `{"prompt": "hi", "tools": []}`), env); !ds.Has(source.CodeUnknownKey) {
		t.Error(ds)
	}
	// A feature that the model lacks is reported at compile time, at the key that needs it.
	node := `{"prompt": "hi", "hosted_tools": ["web_search"], "reasoning_effort": "high", "tools": ["echo"], "schema": {}}`
	_, ds = kindOf("agent", modest{}).Compile(nodestest.Node(t, node), env)
	want := `1:35: error: node n: hosted_tools: this server has no tools of its own [BAD_VALUE]
1:70: error: node n: reasoning_effort: this server knows no effort [BAD_VALUE]
1:87: error: node n: tools: this server calls no tools [BAD_VALUE]
1:107: error: node n: schema: this server holds no answer to a schema [BAD_VALUE]`
	if got := strings.TrimSpace(nodestest.Findings(ds)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFindingsOfWrites(t *testing.T) {
	env := functions()
	env.WriteType = typesOf(nodestest.Schema(t, `{"score": {"type": "number"}, "city": {"type": "string"}, "tags": {"type": "array"}, "open": {}}`))
	for _, tt := range []struct{ writes, schema, want string }{
		{"score", `{"properties": {"score": {"type": "string"}}}`, `1:62: error: node n: schema: the field score wants number, and the answer gives it string [WRONG_TYPE]`},
		{"score", `{"properties": {"score": {"type": "integer"}}}`, ``},
		{"score", `{"properties": {"score": {"type": ["string", "null"]}}}`, ``},
		{"score", `{"type": "object"}`, ``}, // the answer may have the member
		{"score", `{"type": "object", "properties": {"scores": {}}}`, `1:37: error: node n: schema: the field score wants number, and the answer gives it object [WRONG_TYPE]`},
		{"score", `{"type": "number"}`, ``},
		{"score", `{"type": "null"}`, ``},
		{"tags", `{"type": "string"}`, `1:37: error: node n: schema: the field tags wants array, and the answer gives it string (a list takes elements as a list: the answer may be one, or an object with a member tags that is one) [WRONG_TYPE]`},
		{"tags", `{"type": "object", "properties": {"tag": {}}, "additionalProperties": false}`, `1:37: error: node n: schema: the field tags wants array, and the answer gives it object (a list takes elements as a list: the answer may be one, or an object with a member tags that is one) [WRONG_TYPE]`},
		{"tags", `{"type": "object", "properties": {"tags": {"type": "array"}}}`, ``},
		{"tags", `{"type": "array"}`, ``},
		{"open", `{"type": "string"}`, ``},
		{"missing", `{"type": "string"}`, ``}, // reported by another check of the node
		{"score city", `{"type": "object", "properties": {"score": {"type": "number"}, "city": {"type": "object"}}}`, `1:108: error: node n: schema: the field city wants string, and the answer gives it object [WRONG_TYPE]`},
		{"score city", `{"type": "object", "properties": {"score": {}}, "additionalProperties": false}`, `1:100: error: node n: schema: the node writes city, and the answer can have no such member [BAD_VALUE]`},
		{"score city", `{"type": "object", "properties": {"score": {}}, "additionalProperties": {}}`, ``},
	} {
		n := nodestest.Node(t, `{"prompt": "hi", "schema": `+tt.schema+`}`)
		for name := range strings.FieldsSeq(tt.writes) {
			n.Writes = append(n.Writes, source.At(name, n.Pos))
		}
		_, ds := kindOf("prompt", script("x")).Compile(n, env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", tt.writes, tt.schema, got, tt.want)
		}
	}
}

// TestUnheededSettings tests that settings without an effect, and missing tools, are warnings that
// are reported once for all nodes.
func TestUnheededSettings(t *testing.T) {
	const none = "IGNORED provider has no effect: this server runs all of them"
	for _, tt := range []struct {
		kind, node string
		model      llm.Model
		want       string
	}{
		{"agent", `{"prompt": "hi", "provider": "other"}`, modest{}, none},
		{"prompt", `{"prompt": "hi", "provider": "other"}`, modest{}, none},
		{"agent", `{"prompt": "hi", "provider": ""}`, modest{}, ""},
		{"agent", `{"prompt": "hi", "provider": "other"}`, script("x"), ""},
		{"agent", `{"prompt": "hi", "provider": "other"}`, llm.Func(nil), ""},
		{"agent", `{"prompt": "hi", "max_turns": 3}`, script("x"), "IGNORED max_turns has no effect: the model has no tools to call"},
		{"agent", `{"prompt": "hi", "max_output": "3KB"}`, script("x"), "IGNORED max_output has no effect: the model has no tools to call"},
		{"agent", `{"prompt": "hi", "max_turns": 3, "max_output": "3KB", "tools": ["echo"]}`, script("x"), ""},
		{"agent", `{"prompt": "hi", "max_turns": 3, "skills": [{"name": "nowhere"}]}`, script("x"), ""},
		{"prompt", `{"prompt": "hi", "judge_model": "m"}`, script("x"), "IGNORED judge_model has no effect: no check of the node is a judge"},
		{"prompt", `{"prompt": "hi", "judge_model": "m", "eval": [{"name": "a", "kind": "judge", "rubric": "r"}]}`, script("x"), ""},
		{"prompt", `{"prompt": "hi", "retry_instruction": "again"}`, script("x"), "IGNORED retry_instruction has no effect: the answer has no checks that could fail"},
		{"prompt", `{"prompt": "hi", "lenient": true}`, script("x"), "IGNORED lenient has no effect: the answer has no schema"},
		{"prompt", `{"prompt": "hi", "lenient": true, "schema": {"type": "object"}}`, script("x"), ""},

		{"agent", `{"prompt": "hi", "eval": [{"name": "a", "kind": "function", "rule": {"any_tool_called": ["x", "y"]}}]}`, script("x"),
			`NO_TOOLS a wants calls of x, y, and the model is offered none of them, so the check always fails`},
		{"agent", `{"prompt": "hi", "tools": ["echo"], "eval": [{"name": "a", "kind": "function", "rule": {"any_tool_called": ["x", "echo"]}}]}`, script("x"), ""},
		{"agent", `{"prompt": "hi", "tools": ["echo"], "eval": [{"name": "a", "kind": "function", "rule": {"all_tools_called": ["x", "echo"], "no_tool_called": ["y"]}}]}`, script("x"),
			`NO_TOOLS a wants calls of x, and the model is not offered them, so the check always fails`},
		{"agent", `{"prompt": "hi", "skills": [{"name": "nowhere"}], "eval": [{"name": "a", "kind": "function", "rule": {"any_tool_called": ["nowhere_x"]}}]}`, script("x"), ""},

		{"agent", `{"prompt": "Run the tests."}`, script("x"),
			`NO_TOOLS the prompt asks for work on files or with programs, and the model has no tools: it answers with a string, changes no file and runs no program`},
		{"agent", `{"instruction": "Run the tests."}`, script("x"),
			`NO_TOOLS the prompt asks for work on files or with programs, and the model has no tools: it answers with a string, changes no file and runs no program`},
		{"agent", `{"prompt": "Run the tests.", "tools": ["echo"]}`, script("x"), ""},
		{"agent", `{"prompt": "Run the tests.", "tools": []}`, script("x"), ""},
		{"agent", `{"prompt": "Run the tests.", "hosted_tools": ["web_search"]}`, script("x"), ""},
		{"prompt", `{"prompt": "Run the tests."}`, script("x"), ""},
	} {
		env := functions()
		n := nodestest.Node(t, tt.node)
		n.Kind.Value = tt.kind
		made, ds := kindOf(tt.kind, tt.model).Compile(n, env)
		var got []string
		for _, w := range made.Warnings {
			got = append(got, string(w.Code)+" "+w.Message)
		}
		if strings.Join(got, "\n") != tt.want || ds.Failed(false) {
			t.Errorf("%s\ngot  %s %v\nwant %s", tt.node, strings.Join(got, "\n"), ds, tt.want)
		}
	}
}

// TestProviderIsSent tests that requests of the node have the provider, and that requests of its
// judges, whose model is another one, do not.
func TestProviderIsSent(t *testing.T) {
	var sent []string
	m := llm.Func(func(_ context.Context, r *llm.Request) (*llm.Response, error) {
		sent = append(sent, r.Purpose+" "+r.Provider)
		return &llm.Response{Text: "VERDICT: yes", Finish: llm.FinishStop}, nil
	})
	made, ds := kindOf("agent", llm.WithTimeout(m, time.Minute)).Compile(nodestest.Node(t, `{"prompt": "hi", "provider": "other", "eval": [{"name": "a", "kind": "judge", "rubric": "r"}]}`), core.Env{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	if _, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(sent, ", "); got != "run other, judge " {
		t.Errorf("got %q", got)
	}
}

package dot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// ofKinds are kinds with the configuration keys that the table has for them, except the
// keys that the loader reads itself.
func ofKinds(kind string) ([]string, bool) {
	switch kind {
	case kindAgent:
		return []string{"prompt", "instruction", "preamble", "context", "context_nodes", "system", "model", "provider", "reasoning_effort", "schema", "lenient",
			"temperature", "max_tokens", "timeout_ms", "requires", "eval", "judge_model", "fail_soft", "retry_instruction",
			"tools", "commands", "skills", "tool_filter", "hosted_tools", "max_turns", "max_output"}, true
	case kindPrompt:
		keys, _ := ofKinds(kindAgent)
		return keys[:19], true
	case kindScript:
		return []string{"script", "script_from", "language", "stdin", "output", "into", "pass_env", "max_output"}, true
	case kindHuman:
		return []string{"text", "show", "default_choice"}, true
	}
	return nil, byName(kind) != nil
}

// samples are values of attributes that differ from their defaults.
var samples = map[string]string{
	"allow_partial": "true", "auto_status": "true", "goal_gate": "true", "loop_restart": "true", "freeform": "true", "context": "true", "lenient": "true", "fail_soft": "true",
	"retry_policy": "patient", "max_retries": "3", "default_max_retries": "3", "default_max_retry": "3", "max_visits": "3", "max_node_visits": "3", "weight": "3",
	"max_tokens": "9", "max_turns": "9", "timeout_ms": "9", "temperature": "0.5", "loop_restart_signature_limit": "9", "max_parallel": "9",
	"timeout": "9s", "duration": "9s", "stall_timeout": "9s", "selection": "random", "shape": "tab", "type": "mine", "language": "python",
	"join_policy": "first_success", "error_policy": "ignore", "condition": "outcome=success", "model_stylesheet": "* { model: m; }",
	"stack.child_workflow": "child.dot", "stack.child_dotfile": "child.dot", "stack.child_dot_source": "digraph c { start -> exit }",
	"fidelity": "compact", "default_fidelity": "compact", "rankdir": "LR",
}

// TestAttributes checks each row of the tables. An attribute that is used changes the
// workflow. One that is kept is written back without a finding. One without effect is
// written back, with a warning at its position.
func TestAttributes(t *testing.T) {
	for _, p := range attributeTables {
		for _, row := range p.keys {
			kinds := row.kinds
			if kinds == nil {
				kinds = []string{kindAgent}
			}
			for _, kind := range kinds {
				t.Run(fmt.Sprintf("%s/%s/%s", p.name, row.name, kind), func(t *testing.T) { checkRow(t, p.name, kind, row) })
			}
		}
	}
}

func checkRow(t *testing.T, where, kind string, row attributeKey) {
	value := samples[row.name]
	if value == "" {
		value = "some_value"
	}
	setting := "\n" + row.name + "=" + inQuotes(value)
	if where == "edges" && row.name == "freeform" { // for edges from a human gate only
		kind = kindHuman
	}
	without, baseline := parseRow(t, where, kind, "")
	with, ds := parseRow(t, where, kind, setting)
	news := slices.DeleteFunc(slices.Clone(ds), func(d source.Diagnostic) bool {
		return d.Code == source.CodeFidelity || d.Code == source.CodeNoTools || slices.ContainsFunc(baseline, func(b source.Diagnostic) bool { return b.Message == d.Message })
	})
	keeps := isKeptAttribute(with, where, row.name)
	switch row.effect {
	case hasEffect:
		if row.name == "import" { // the node fails when it is visited, which is reported
			return
		}
		if d := difference(without, with); d == "" || d == ".Attributes" {
			t.Errorf("it changes nothing")
		}
		if row.name != "shape" && row.name != "type" && row.name != "model_stylesheet" && row.name != "stack.child_dot_source" && keeps {
			t.Errorf("it is left over")
		}
		if len(news) > 0 && row.name != "type" {
			t.Errorf("findings %v", news)
		}
	case keptOnly:
		if !keeps || len(news) > 0 {
			t.Errorf("kept %v, findings %v", keeps, news)
		}
	case noEffect:
		if !keeps || len(news) != 1 || news[0].Severity != source.Warning || news[0].Code != source.CodeIgnored || !strings.Contains(news[0].Message, quote(row.name)) {
			t.Errorf("kept %v, findings %v", keeps, news)
		}
		if row.hint == "" {
			t.Errorf("the row does not say what to do instead")
		}
		for _, same := range row.harmless {
			if _, ds := parseRow(t, where, kind, "\n"+row.name+"="+same); len(ds) != len(baseline) {
				t.Errorf("%s asks for what happens anyway: findings %v", same, ds)
			}
		}
	}
	roundTrip(t, []byte(rowDocument(where, kind, setting)), Options{Files: folder, Kinds: ofKinds})
}

// rowDocument returns a document that sets an attribute on a node of a kind, an edge or
// the graph.
func rowDocument(where, kind, setting string) string {
	on := map[string]string{where: setting}
	required := map[string]string{kindAgent: "prompt=p", kindPrompt: "prompt=p", kindScript: "script=ls", kindWait: "duration=1s", kindWorkflow: `stack.child_workflow="./child.dot"`}[kind]
	for _, key := range []string{"prompt", "llm_prompt", "script", "tool_command", "duration", "stack.child_workflow", "stack.child_dotfile", "stack.child_dot_source", "type"} {
		if where == "nodes" && strings.HasPrefix(setting, "\n"+key+"=") {
			required = ""
		}
	}
	full := ""
	if strings.HasPrefix(setting, "\nthread_id=") {
		full = " default_fidelity=full"
	}
	shape := "shape=" + byName(kind).shape + ", "
	if strings.HasPrefix(setting, "\nshape=") || kind == kindAgent {
		shape = ""
	}
	return "digraph g {" + full + on["graphs"] + "\nn [" + shape + required + on["nodes"] + "]\nm [prompt=p]\nn -> m [label=l" + on["edges"] + "]\n}"
}

func parseRow(t *testing.T, where, kind, setting string) (*core.Workflow, source.Diagnostics) {
	t.Helper()
	text := rowDocument(where, kind, setting)
	w, ds := Parse("in.dot", []byte(text), Options{Files: folder, Kinds: ofKinds})
	if w == nil || ds.Failed(false) {
		t.Fatalf("%s\n%v", text, ds)
	}
	return w, ds
}

// isKeptAttribute reports whether an attribute is one of the kept attributes.
func isKeptAttribute(w *core.Workflow, where, key string) bool {
	kept := w.Walk.Attributes
	switch where {
	case "nodes":
		kept = w.Nodes[0].Attributes
	case "edges":
		kept = w.Edges[0].Attributes
	}
	_, ok := kept.Get(key)
	return ok
}

// TestOtherKinds checks that an attribute is reported on a node whose kind does not
// have it, unless it is a default of all nodes.
func TestOtherKinds(t *testing.T) {
	for _, row := range nodeTable.keys {
		if row.kinds == nil || row.of(kindWait) {
			continue
		}
		_, ds := Parse("", []byte("digraph g { a [shape=insulator, duration=1s, "+row.name+"=x] }"), Options{Kinds: ofKinds})
		if len(ds) != 1 || ds[0].Code != source.CodeIgnored || ds[0].Severity != source.Hint {
			t.Errorf("%s: findings %v", row.name, ds)
		}
		_, ds = Parse("", []byte("digraph g { node ["+row.name+"=x] a [shape=insulator, duration=1s] }"), Options{Kinds: ofKinds})
		if len(ds) != 0 {
			t.Errorf("%s as a default: findings %v", row.name, ds)
		}
	}
}

// TestDrawing checks that Graphviz's attributes are never reported.
func TestDrawing(t *testing.T) {
	for _, key := range slices.Concat(graphvizKeys, rareGraphvizKeys) {
		_, ds := Parse("", []byte("digraph g { "+key+"=x\na [prompt=p, "+key+"=x] a -> a ["+key+"=x] }"), Options{})
		if len(ds) != 0 {
			t.Errorf("%s: %v", key, ds)
		}
	}
	if _, ds := Parse("", []byte(`digraph g { stylesheet="* { model: x; }" }`), Options{}); len(ds) != 1 {
		t.Errorf("a stylesheet with rules: %v", ds)
	}
}

// TestUnknownAttributes checks that each unknown attribute gets one hint per document,
// with the most similar name if there is one.
func TestUnknownAttributes(t *testing.T) {
	_, ds := Parse("in.dot", []byte("digraph g {\n zzz=1\n a [prompt=p, promt=x, zzz=1]\n b [prompt=p, zzz=2]\n a -> b [lable=x, zzz=1]\n}"), Options{})
	want := `in.dot:2:2: hint: graph g: attribute "zzz" has no meaning and is kept as it is [UNKNOWN_KEY]
in.dot:3:15: hint: node a: attribute "promt" has no meaning and is kept as it is (did you mean "prompt"?) [UNKNOWN_KEY]
in.dot:3:24: hint: node a: attribute "zzz" has no meaning and is kept as it is [UNKNOWN_KEY]
in.dot:5:10: hint: edge a -> b: attribute "lable" has no meaning and is kept as it is (did you mean "label"?) [UNKNOWN_KEY]
in.dot:5:19: hint: edge a -> b: attribute "zzz" has no meaning and is kept as it is [UNKNOWN_KEY]`
	if got := ds.Sorted().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPassEnv checks that the variables of a script are a list of strings, which may be
// empty, and that the list survives writing.
func TestPassEnv(t *testing.T) {
	for text, want := range map[string]string{`"FOO, BAR"`: `["FOO","BAR"]`, "FOO": `["FOO"]`, `""`: "[]"} {
		doc := []byte("digraph g { a [shape=parallelogram, script=env, pass_env=" + text + "] }")
		opts := Options{Kinds: ofKinds}
		w, ds := Parse("", doc, opts)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		if got := value.JSON(w.Nodes[0].Config.Get(passEnv).Plain()); string(got) != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		roundTrip(t, doc, opts)
	}
}

// TestNoTools checks that tools="" is an explicit empty list. It survives writing,
// overrides a default of all nodes, and suppresses the warning about an agent that
// should have tools.
func TestNoTools(t *testing.T) {
	opts := Options{Kinds: ofKinds}
	doc := []byte(`digraph g { node [tools=search] a [prompt=p, tools=""] b [prompt=p] a -> b }`)
	w, ds := Parse("", doc, opts)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for i, want := range []string{"[]", `["search"]`} {
		if v := w.Nodes[i].Config.Get("tools"); v == nil || value.JSON(v.Plain()) != want {
			t.Errorf("node %d: got %v, want %s", i, v, want)
		}
	}
	roundTrip(t, doc, opts)
	for attributes, warned := range map[string]bool{"backend=cli": true, `backend=cli, tools=""`: false} {
		_, ds := Parse("", []byte("digraph g { a [prompt=p, "+attributes+"] }"), opts)
		if got := slices.ContainsFunc(ds, func(d source.Diagnostic) bool { return d.Code == source.CodeNoTools }); got != warned {
			t.Errorf("%s: findings %v", attributes, ds)
		}
	}
}

// TestDollarsOfScripts checks that two dollars, or a backslash and a dollar, are a
// literal dollar in a script that is only a name, and that other scripts are left to
// the shell.
func TestDollarsOfScripts(t *testing.T) {
	opts := Options{Kinds: ofKinds}
	for script, want := range map[string]string{`$$setup`: "$setup", ` \$setup `: "$setup", `$$goal`: "$goal", `echo $$`: "echo $$", `echo $$goal`: "echo $$goal", `echo \$goal`: `echo \$goal`, `$$`: "$$"} {
		doc := []byte("digraph g { a [shape=parallelogram, script=" + inQuotes(script) + "] }")
		w, ds := Parse("", doc, opts)
		if len(ds) > 0 && script != "$$goal" {
			t.Errorf("%s: findings %v", script, ds)
		}
		if v := w.Nodes[0].Config.Get("script"); v == nil || v.Scalar != want {
			t.Errorf("%s: got %v, want %s", script, v, want)
		}
		roundTrip(t, doc, opts)
	}
}

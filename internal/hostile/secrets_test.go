//go:build unix

package hostile

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// leaky is a workflow of programs that output a secret in many ways. The node same checks
// that the secret itself was passed on unchanged.
const leaky = `name: leaky
inputs: {given: {type: string, default: nothing}}
state:
  schema:
    text: {type: string}
    list: {type: array}
    object: {}
    number: {}
    nested: {}
    same: {type: string}
graph:
  nodes:
    - {id: text, kind: command, run: [sh, -c, 'printf "token=%s" "$T"'], env: {T: {secret: HOSTILE_SECRET}}, writes: [text]}
    - {id: list, kind: command, run: [sh, -c, 'printf "%s\n" "$T" other "$T"'], env: {T: {secret: HOSTILE_SECRET}}, output: lines, writes: [list]}
    - {id: object, kind: command, run: [jq, -n, "{(env.T): {a: [env.T, 1]}}"], env: {T: {secret: HOSTILE_SECRET}}, output: json, writes: [object]}
    - {id: number, kind: command, run: [sh, -c, 'echo "[$T, 1]"'], env: {T: {secret: HOSTILE_PIN}}, output: json, writes: [number]}
    - {id: nested, kind: workflow, file: inner.yaml, outputs: {nested: token}, writes: [nested]}
    - {id: same, kind: command, run: [sh, -c, 'test "$1" = "token=$T" && printf same', sh, "{{$.text}}"], env: {T: {secret: HOSTILE_SECRET}}, writes: [same]}
    - {id: send, kind: command, run: [sh, -c, 'printf %s "$T"'], env: {T: {secret: HOSTILE_SECRET}}}
    - {id: argument, kind: command, run: [sh, -c, 'echo "got $1" >&2; exit 3', sh, "{{$.text}}"], on_error: {policy: retry, attempts: 2, base_ms: 1, then: skip}}
    - {id: encoded, kind: command, run: [sh, -c, 'echo "$1" | base64 >&2; echo "$1" | od -An -tx1 | tr -d " \n" >&2; exit 3', sh, "{{$.text}}"], on_error: {policy: skip}}
    - {id: quoted, kind: command, run: [printf, "%s", "{{$.text}}"], output: json}
    - {id: each, kind: command, run: [sh, -c, 'echo "$1" >&2; exit 1', sh, "{{$item}}"], for_each: {source: $.list}, on_error: {policy: skip}}
    - {id: skipped, kind: wait, duration: 1ms}
  edges:
    - {from: text, to: skipped, when: "$.text == 'no'"}
    - {from: text, to: same}
    - {from: send, to: same}
    - {from: text, to: argument}
    - {from: text, to: encoded}
    - {from: text, to: quoted}
    - {from: list, to: each}
`

// A secret that reaches the state does not occur, in any encoding, in anything that a
// command prints, logs or derives from a log; nodes get the secret itself.
func TestSecretsAreNowhere(t *testing.T) {
	needs(t, "sh", "printf", "base64", "od", "tr", "jq")
	const token, pin, innermost = `Tr0ub4dor&3 "x"/+=`, "8675309", "only inside"
	t.Setenv("HOSTILE_INNER", innermost)
	t.Setenv("HOSTILE_SECRET", token)
	t.Setenv("HOSTILE_PIN", pin)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), leaky)
	write(t, filepath.Join(dir, "inner.yaml"), `name: inner
state: {schema: {token: {type: string}}}
graph: {nodes: [{id: get, kind: command, run: [sh, -c, 'printf %s "$T"; echo "inside $T" >&2'], env: {T: {secret: HOSTILE_INNER}}, writes: [token]}]}
`)
	private := func(what, text string) {
		t.Helper()
		for name, form := range map[string]string{
			"itself": token, "of the nested workflow": innermost, "half": token[:10], "in JSON": strings.ReplaceAll(token, `"`, `\"`), "the number": pin, "in an address": url.QueryEscape(token)[:12],
			"base64": base64.StdEncoding.EncodeToString([]byte(token))[:12], "base64 in another text": base64.StdEncoding.EncodeToString([]byte("token=" + token))[8:20],
			"hexadecimal": hex.EncodeToString([]byte(token))[:16],
		} {
			if strings.Contains(text, form) {
				t.Errorf("%s: the secret is there %s (%s):\n%s", what, name, form, text)
			}
		}
	}
	for _, c := range [][]string{
		{"run", "-i", "given=" + token}, {"run", "-q"}, {"run", "--json", "-q"}, {"run", "--events", "-"}, {"run", "--events", "run.ndjson"},
		{"run", "--color", "always"}, {"plan"}, {"graph"}, {"validate"},
		{"why", "--run", "run.ndjson"}, {"why", "--run", "run.ndjson", "--json"}, {"why", "--run", "run.ndjson", "argument"},
		{"why", "--run", "run.ndjson", "each"}, {"why", "--run", "run.ndjson", "quoted"}, {"why", "--run", "run.ndjson", "encoded", "--json"},
		{"why", "--run", "run.ndjson", "skipped"}, {"graph", "--run", "run.ndjson"},
	} {
		code, stdout, stderr := commandIn(t, dir, c...)
		name := strings.Join(c, " ")
		private(name, stdout+stderr)
		if strings.HasPrefix(name, "run") && (code > 1 || !strings.Contains(stdout, "***") || !strings.Contains(stdout, "same")) {
			t.Errorf("%s: exit code %d, nothing hidden or the secret was not handed on:\n%s\n%s", name, code, stdout, stderr)
		}
	}
	log := read(t, filepath.Join(dir, "run.ndjson"))
	private("the log of events", log)
	if !strings.Contains(log, `"text":"token=***"`) || !strings.Contains(log, `"number":["***",1]`) || !strings.Contains(log, "inside ***") {
		t.Error(log)
	}
}

// A program that embeds the engine gets events and a report with secrets masked.
func TestSecretsInEmbedding(t *testing.T) {
	needs(t, "sh", "printf")
	t.Setenv("HOSTILE_SECRET", "correct horse")
	p := must(t, nil, `name: x
state: {schema: {text: {type: string}}}
graph: {nodes: [{id: a, kind: command, run: [sh, -c, 'printf %s "$T"'], env: {T: {secret: HOSTILE_SECRET}}, writes: [text]}]}
`)
	var last core.Event
	r, err := run(t, t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { last = e }})
	if err != nil || value.JSON(last.State) != `{"text":"***"}` || value.JSON(r.State) != `{"text":"correct horse"}` {
		t.Errorf("%v, event %s, report %s", err, value.JSON(last.State), value.JSON(r.State))
	}
	// Without secrets, the listener is not wrapped.
	if p := must(t, nil, "name: x\ngraph: {nodes: [{id: a, kind: wait, duration: 1ms}]}\n"); len(p.Secrets) != 0 {
		t.Errorf("secrets %v", p.Secrets)
	}
}

// A secret that is too short to be masked is reported when the workflow is loaded.
func TestShortSecrets(t *testing.T) {
	t.Setenv("HOSTILE_PIN", "123")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), "name: x\ngraph: {nodes: [{id: a, kind: command, run: [\"true\"], env: {T: {secret: HOSTILE_PIN}}}]}\n")
	want := "workflow.yaml:2:73: warning: the secret HOSTILE_PIN has fewer than 4 characters and cannot be hidden in what is printed [SHORT_SECRET]"
	for name, code := range map[string]int{"run": 0, "run --strict": 2, "validate": 0, "validate --strict": 2, "plan": 0} {
		got, _, stderr := commandIn(t, dir, strings.Fields(name)...)
		if got != code || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", name, got, stderr)
		}
	}
}

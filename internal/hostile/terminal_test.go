//go:build unix

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/core/value"
)

// poison is a string with terminal commands: a title, the clipboard, a link, a cleared
// screen, colours, C1 controls, and characters that reverse the reading direction.
const poison = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;http://x\x1b\\\x1b[2J\x1b[31m\u009b31m\u0085\u202eevil\u2066\u200f\u2028\x08\x7f\r"

// inYAML escapes poison for a double-quoted YAML string.
var inYAML = strings.NewReplacer("\x1b", `\e`, "\x07", `\a`, "\\", `\\`, "\u009b", `\x9b`, "\u0085", `\x85`, "\x08", `\b`, "\x7f", `\x7f`, "\r", `\r`,
	"\u202e", `\u202e`, "\u2066", `\u2066`, "\u200f", `\u200f`, "\u2028", `\u2028`).Replace(poison)

// inJSON is poison inside a JSON string.
var inJSON = strings.Trim(value.JSON(poison), `"`)

// ours matches the colours of the command itself, with --color always.
var ours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// commandIn runs the command inside this process, in a folder.
func commandIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	var out, err bytes.Buffer
	env := func(name string) string {
		if name == "WAVEFOLD_STORE" {
			return "none"
		}
		return ""
	}
	code = cli.Run(t.Context(), engine(t, nil), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err, Getenv: env})
	return code, out.String(), err.String()
}

// harmless fails the test if a terminal would do anything but show the text.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8: %q", what, text)
	}
	for i, r := range text {
		if r != '\n' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028') {
			t.Errorf("%s: %U reaches the terminal: %q", what, r, text[max(0, i-60):min(len(text), i+30)])
			return
		}
	}
}

// poisonedFolder creates a workflow that runs, a workflow with every kind of finding, a
// mock file whose expectations are not met, and the event log of a run, all of them with
// poison in every string.
func poisonedFolder(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	name = strings.ReplaceAll("x"+poison, "/", "_") + "\xff"
	flow := strings.ReplaceAll(`name: "shop POISON"
runtime: {concurrency: 4}
state:
  schema:
    text: {type: string, default: "POISON"}
    list: {type: array, default: ["POISON", "POISON"]}
    out: {}
graph:
  nodes:
    - {id: ok, kind: command, phase: "POISON", description: "POISON", run: [cat], stdin: "{{$.text}}", into: out, writes: [out]}
    - {id: loud, kind: command, run: [sh, -c, 'printf "%s\n" "$1" >&2; exit 3', sh, "{{$.text}}"], output: none, on_error: {policy: skip}}
    - {id: odd, kind: command, run: [printf, "%s", "{{$.text}}"], output: json, on_error: {policy: retry, attempts: 2, base_ms: 1}}
    - {id: binary, kind: command, run: [sh, -c, 'printf "\377\376\033[2J\302\233" >&2; printf "\377"; exit 1'], on_error: {policy: skip}}
    - {id: each, kind: command, run: [sh, -c, 'printf "%s\n" "$1" >&2; exit 1', sh, "{{$item}}"], output: none, for_each: {source: $.list}, on_error: {policy: skip}}
    - {id: skipped, kind: wait, duration: 1ms}
  edges:
    - {from: ok, to: skipped, when: "$.text == 'POISON no'"}
  loops: []
`, "POISON", inYAML)
	write(t, filepath.Join(dir, name+".yaml"), flow)
	write(t, filepath.Join(dir, "broken.yaml"), strings.ReplaceAll(`name: "POISON"
"POISON": 1
state: {schema: {"POISON": {type: "POISON", merge: "POISON"}}}
graph:
  nodes:
    - {id: "POISON", kind: "POISON", "POISON": 1}
    - {id: a, kind: command, run: ["POISON"], env: {"POISON=": x}, dir: "POISON", output: "POISON"}
    - {id: b, kind: workflow, file: "POISON"}
    - {id: c, kind: dataset, source: "POISON", reads: ["POISON"], writes: ["POISON"]}
    - {id: d, kind: tool, impl: "POISON", for_each: {source: "$.POISON["}}
  edges:
    - {from: "POISON", to: a, when: "POISON"}
    - {from: c, to: d, when: "$.x == 'POISON", on: "POISON"}
`, "POISON", inYAML))
	write(t, filepath.Join(dir, "no.yaml"), "name: \xff\x1b[2J: {\n")
	write(t, filepath.Join(dir, name+".mock.yaml"), strings.ReplaceAll(`nodes:
  ok: [{delta: {out: "POISON"}}]
  loud: [{error: {message: "POISON"}}]
expect:
  nodes: {ok: skipped, loud: success}
  state: {out: "POISON other"}
`, "POISON", inYAML))
	write(t, filepath.Join(dir, "odd.mock.yaml"), strings.ReplaceAll("nodes: {\"POISON\": [{}]}\nexpect: {state: {\"POISON\": 1}}\n", "POISON", inYAML))
	write(t, filepath.Join(dir, "events.ndjson"), strings.ReplaceAll(`{"v":1,"seq":1,"type":"run.started","run":"r","reason":"POISON"}
{"v":1,"seq":2,"type":"node.retrying","run":"r","node":"POISON","attempt":1,"error":{"class":"POISON","message":"POISON"}}
{"v":1,"seq":3,"type":"edge.judged","run":"r","node":"POISON","from":"POISON","to":"POISON","when":"POISON","result":false,"values":{"POISON":"POISON"}}
{"v":1,"seq":4,"type":"node.failed","run":"r","node":"POISON","status":"fail","reason":"POISON","cause":"POISON","error":{"class":"panic","message":"POISON","stack":"POISON\nPOISON"}}
{"v":1,"seq":5,"type":"unit.finished","run":"r","unit":"uPOISON","status":"POISON","reason":"POISON"}
{"v":1,"seq":6,"type":"run.finished","run":"r","status":"POISON"}
`, "POISON", inJSON))
	return dir, name
}

// No string from a document, file name, argument or program reaches the terminal as a
// command, in any subcommand.
func TestNoCommandObeysADocument(t *testing.T) {
	needs(t, "sh", "printf", "cat")
	dir, name := poisonedFolder(t)
	flow, x := name+".yaml", "x"+poison
	for _, c := range [][]string{
		{"run", flow}, {"run", "-q", flow}, {"run", "--strict", flow}, {"run", "--dry-run", flow}, {"run", "--json", flow},
		{"run", "--events", "-", flow}, {"run", "--events", "made.ndjson", "--run-id", x, flow}, {"run", "--events", x + "/no", flow},
		{"run", x}, {"run", "broken.yaml"}, {"run", "no.yaml"}, {"run", "-i", x, flow}, {"run", "-i", x + "=1", flow}, {"run", "-i", "list=" + x, flow},
		{"run", "--inputs", x, flow}, {"run", "--inputs", flow, flow}, {"run", "-j", x, flow}, {"run", "--" + x, flow}, {"run", flow, x},
		{"validate", flow}, {"validate", "broken.yaml", "no.yaml", x}, {"validate", "--json", "broken.yaml"},
		{"plan", flow}, {"plan", "--json", flow}, {"plan", "broken.yaml"},
		{"graph", flow}, {"graph", "-f", "dot", flow}, {"graph", "-f", "text", flow}, {"graph", "-f", "svg", flow}, {"graph", "--run", "made.ndjson", flow}, {"graph", "--run", "events.ndjson", flow}, {"graph", "--run", x, flow}, {"graph", "-f", x, flow}, {"graph", "broken.yaml"},
		{"test", name + ".mock.yaml"}, {"test", "--json", name + ".mock.yaml"}, {"test", "odd.mock.yaml", flow}, {"test", x}, {"test", ".", x},
		{"why", "--run", "events.ndjson"}, {"why", "--run", "events.ndjson", poison}, {"why", "--run", "events.ndjson", x + "?"},
		{"why", "--run", "events.ndjson", "--json"}, {"why", "--run", x}, {"why", "--run", flow},
		{"why", "--run", "made.ndjson"}, {"why", "--run", "made.ndjson", "loud"}, {"why", "--run", "made.ndjson", "each"},
		{"why", "--run", "made.ndjson", "skipped"}, {"why", "--run", "made.ndjson", "odd"},
		{"init", x, x}, {"init", "hello", "new" + x}, {"init", "hello", "new" + x},
		{"schema", x}, {"version", x}, {"completion", x}, {"help", x}, {x}, {"--color", x, "version"},
	} {
		for _, color := range []string{"never", "always"} {
			code, stdout, stderr := commandIn(t, dir, append([]string{"--color", color}, c...)...)
			if color == "always" {
				stdout, stderr = ours.ReplaceAllString(stdout, ""), ours.ReplaceAllString(stderr, "")
			}
			harmless(t, fmt.Sprintf("%.60q, exit code %d", c, code), stdout+stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "made.ndjson")); err != nil {
		t.Error(err)
	}
}

// Neutralized characters are shown, not dropped: a reader must see that they were there.
func TestPoisonIsShown(t *testing.T) {
	needs(t, "sh", "printf", "cat")
	dir, name := poisonedFolder(t)
	shown := `\x1b]0;owned\x07`
	for _, c := range [][]string{{"plan"}, {"graph", "-f", "text"}, {"run", "-q"}, {"run"}, {"test", name + ".mock.yaml"}} {
		_, stdout, stderr := commandIn(t, dir, append(c, name+".yaml")...)
		if !strings.Contains(stdout+stderr, shown) {
			t.Errorf("%q: no %s in\n%s%s", c, shown, stdout, stderr)
		}
	}
	for format, want := range map[string]string{"mermaid": `\x1b]0;owned\x07`, "dot": `\\x1b]0;owned\\x07`} {
		if _, stdout, _ := commandIn(t, dir, "graph", "-f", format, name+".yaml"); !strings.Contains(stdout, want) {
			t.Errorf("%s: no %s in\n%s", format, want, stdout)
		}
	}
}

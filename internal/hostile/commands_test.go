//go:build unix

package hostile

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// oneCommand returns a document with one command node.
func oneCommand(node string) string {
	return "name: x\nstate: {schema: {big: {}}}\ngraph:\n  nodes:\n    - {id: a, kind: command, " + node + "}\n"
}

// Programs that print forever, do not read their input or wait for more, start other
// processes, end abnormally or never: each becomes the result or failure of its node, and
// leaves nothing behind.
func TestHostilePrograms(t *testing.T) {
	needs(t, "sh", "yes", "head", "cat", "sleep")
	cases := map[string]struct{ node, output, err string }{
		"prints for ever":          {`run: [yes], max_output: 100KB`, "", "node a: yes: too much output: more than 102400 bytes on standard output, the program was ended (max_output sets the limit)"},
		"complains for ever":       {`run: [sh, -c, "yes >&2"], max_output: 100KB, output: none`, "", "node a: sh: too much output: more than 102400 bytes on standard error, the program was ended (max_output sets the limit)"},
		"prints for ever, unheard": {`run: [yes], output: none, timeout: 100ms`, "", "node a: timed out after 100ms: yes: the attempt's timeout expired"},
		"reads what nobody feeds":  {`run: [cat]`, `""`, ""},
		"reads from the terminal":  {`run: [sh, -c, "cat < /dev/tty"]`, "", "node a: sh: exit code "},
		"does not read":            {`run: ["true"], stdin: json, args: {x: $.big}`, `""`, ""},
		"too large an argument":    {`run: [echo, "{{$.big}}"]`, "", "argument list too long: the arguments and the environment together exceed the system's limit; pass large values on standard input"},
		"NUL in an argument":       {`run: [echo, "{{'a\0b'}}"]`, "", "node a: echo: argument 1 contains a NUL byte, which no program can be given"},
		"NUL in the output":        {`run: [head, -c, "2", /dev/zero]`, `"\u0000\u0000"`, ""},
		"closes everything":        {`run: [sh, -c, "exec >&- 2>&- <&-; sleep 0.05"]`, `""`, ""},
		"kills its group":          {`run: [sh, -c, "kill -9 0"]`, "", "node a: sh: killed by signal (killed)"},
		"leaves a child":           {`run: [sh, -c, "sleep 71 >/dev/null 2>&1 & echo done"]`, `"done"`, ""},
		"leaves a deaf child":      {`run: [sh, -c, "(trap '' TERM; exec sleep 72) >/dev/null 2>&1 & echo done"]`, `"done"`, ""},
		"leaves fifty children":    {`run: [sh, -c, "for i in 1 2 3 4 5; do for j in 1 2 3 4 5 6 7 8 9 10; do sleep 73 >/dev/null 2>&1 & done; done; echo done"]`, `"done"`, ""},
		"does not want to end":     {`run: [sh, -c, "trap '' TERM; while :; do sleep 0.05; done"], timeout: 100ms`, "", "node a: timed out after 100ms: sh: the attempt's timeout expired"},
		"a line of 5 MB":           {`run: [sh, -c, "head -c 5000000 /dev/zero | tr '\\0' x >&2; exit 3"]`, "", "node a: sh: exit code 3: " + strings.Repeat("x", 400) + " …"},
		"not UTF-8":                {`run: [sh, -c, "printf '\\377\\376'"]`, "", "node a: sh: the output is not valid UTF-8 text; use output: none and a file for binary data"},
		"deep JSON":                {`run: [sh, -c, "head -c 5000 /dev/zero | tr '\\0' '['"], output: json`, "", "node a: sh: the output is not JSON: JSON is nested deeper than 1000; printed: \"[[["},
		"large numbers":            {`run: [echo, "[9007199254740993, 9223372036854775807]"], output: json`, `[9007199254740993,9223372036854775807]`, ""},
		"too large a number":       {`run: [echo, "9223372036854775808"], output: json`, "", "node a: echo: the output is not JSON: number 9223372036854775808 does not fit 64 bits"},
	}
	big := map[string]any{"big": strings.Repeat("0123456789", 1<<18)}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := must(t, nil, oneCommand(c.node))
			// Programs that do not end are killed at once: a test that can shorten the
			// grace period covers it.
			abort := make(chan struct{})
			close(abort)
			ctx, cancel := context.WithTimeout(core.WithAbort(t.Context(), abort), 30*time.Second)
			defer cancel()
			r, err := run(t, ctx, p, big, scheduler.Options{Listener: func(core.Event) {}})
			if got := text(err); (got == "") != (c.err == "") || !strings.Contains(got, c.err) {
				t.Errorf("got  %.500s\nwant %s", got, c.err)
			}
			n, _ := r.Node("a")
			if c.output != "" && value.JSON(n.Output) != c.output {
				t.Errorf("output %.100s, want %s", value.JSON(n.Output), c.output)
			}
		})
	}
	if out, _ := exec.Command("pgrep", "-f", "^sleep 7[123]$").Output(); len(out) > 0 {
		t.Errorf("still running: %s", out)
	}
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(err)
		}
	}
}

// A missing program or file is reported before anything runs.
func TestMissingPrograms(t *testing.T) {
	for node, want := range map[string]string{
		"kind: command, run: [no-such-program-at-all]":       `node a: run: program "no-such-program-at-all" is not there: `,
		"kind: command, run: [./bin/tool]":                   `node a: run: there is no file "./bin/tool"`,
		"kind: command, run: [../tool]":                      `node a: run: "../tool" leaves the workflow's folder`,
		"kind: tool, impl: ./tools/x.mjs":                    `node a: impl: there is no file "./tools/x.mjs"`,
		"kind: tool, impl: ../x.py":                          `node a: impl: "../x.py" leaves the workflow's folder`,
		"kind: dataset, source: {file: rows.csv}":            `node a: `,
		"kind: template, file: page.tmpl":                    `node a: `,
		"kind: workflow, file: other.yaml":                   `node a: file: there is no file "other.yaml"`,
		"kind: command, run: [sh, -c, 'echo {{$.word}}']":    `node a: run[2]: a template inside the program text of sh would let data become code`,
		"kind: command, run: [bash, -ec, 'echo {{$.word}}']": `node a: run[2]: a template inside the program text of bash would let data become code`,
		"kind: command, run: [env, sh, -c, 'x {{$.word}}']":  `would let data become code`,
		"kind: command, run: ['{{$.word}}']":                 `node a: run: the program must be fixed`,
	} {
		p, ds := compile(t, nil, "name: x\nstate: {schema: {word: {default: x}}}\ngraph: {nodes: [{id: a, "+node+", writes: []}]}\n", false)
		if got := lines(ds); p != nil || !strings.Contains(got, want) {
			t.Errorf("%s: plan %v\n%s\nwant %s", node, p != nil, got, want)
		}
	}
	_, ds := compile(t, nil, "name: x\ngraph: {nodes: [{id: a, kind: tool, impl: ./x.py, writes: []}]}\n", false)
	if !strings.Contains(lines(ds), "x.py") {
		t.Error(lines(ds))
	}
}

// Values that look like options, globs, substitutions and line breaks remain values.
func TestValuesAreNoCode(t *testing.T) {
	needs(t, "sh", "printf")
	for _, v := range []string{"; touch pwned", "$(touch pwned)", "`touch pwned`", "a\ntouch pwned", "--help", "*", "'\"", "{{$.v}}", "%s%n", "\u202e", "$.v", "-n"} {
		dir := t.TempDir()
		p := mustIn(t, dir, nil, `name: x
state: {schema: {v: {type: string}, out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, 'printf "%s" "$1"', sh, "{{$.v}}"]}
    - {id: b, kind: command, run: [sh, -c, 'printf "%s" "$V"'], env: {V: "{{$.v}}"}}
    - {id: c, kind: command, run: [cat], stdin: "{{$.v}}"}
`)
		r, err := run(t, t.Context(), p, map[string]any{"v": v}, scheduler.Options{})
		for _, n := range r.Nodes() {
			if n.Output != v {
				t.Errorf("%s: %q became %q, %v", n.ID, v, n.Output, err)
			}
		}
		if got := names(t, dir); got != "flow.yaml" {
			t.Errorf("%q: files %s", v, got)
		}
	}
}

// A secret is masked in every form in which it occurs in an error or a log line: quoted,
// with escaped characters, truncated, and without the control characters that logs remove.
func TestSecretsInErrors(t *testing.T) {
	needs(t, "sh", "printf")
	for name, v := range map[string]string{
		"plain": "hunter2", "quotes": `{"key": "abc\def"}`, "long": strings.Repeat("0123456789", 100), "control": "abc\x01def",
		"blanks": "hunter2  ", "unicode": "pässwörd", "escape": "\x1b[31mred", "no UTF-8": "ab\xffcd", "lines": "first line\nsecond \"line\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOSTILE_SECRET", v)
			p := must(t, nil, `name: x
graph:
  nodes:
    - {id: json, kind: command, run: [sh, -c, 'printf "x%s\n" "$T"'], output: json, env: {T: {secret: HOSTILE_SECRET}}}
    - {id: jsonl, kind: command, run: [sh, -c, 'printf "x%s\n" "$T"'], output: jsonl, env: {T: {secret: HOSTILE_SECRET}}}
    - {id: stderr, kind: command, run: [sh, -c, 'printf "%s\n" "$T" >&2; exit 3'], env: {T: {secret: HOSTILE_SECRET}}}
    - {id: result, kind: command, run: [sh, -c, 'printf "{\"a%s\": 1}\n" "$T"'], output: result, env: {T: {secret: HOSTILE_SECRET}}}
`)
			var output strings.Builder
			r, _ := run(t, t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { output.WriteString(e.Log + "\n") }})
			for _, n := range r.Nodes() {
				output.WriteString(n.Failure.Error() + "\n")
			}
			for _, part := range []string{"hunter2", "abc", "0123456", "pässw", "red", "cd", "first", "second"} {
				if strings.Contains(v, part) && strings.Contains(output.String(), part) {
					t.Errorf("%q is shown:\n%s", part, output.String())
				}
			}
			if !strings.Contains(output.String(), "***") {
				t.Errorf("nothing was hidden:\n%s", output.String())
			}
		})
	}
}

// names lists the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

package command_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

var secrets = map[string]string{"API_TOKEN": "hunter2", "EMPTY": ""}

// kind reads secrets from the map above.
var kind = command.New(command.Options{LookupEnv: func(name string) (string, bool) { v, ok := secrets[name]; return v, ok }})

func env() core.Env {
	return core.Env{Dir: "testdata", Files: os.DirFS("testdata"), LookPath: exec.LookPath, Items: true}
}

func shared() core.Shared {
	return core.Shared{
		Args:  value.ObjectOf("name", `Robert"; rm -rf ~; $(touch pwned) '`, "dash", "--version"),
		Extra: core.NewView([]string{"city", "n"}, []any{"Bergen", int64(2)}),
		Item:  "third", Index: core.Nth(2),
	}
}

func handle(t *testing.T, node string, log *nodestest.Log) (core.Result, error) {
	t.Helper()
	made, ds := kind.Compile(nodestest.Node(t, node), env())
	if ds.Failed(!strings.Contains(node, "NOPE")) {
		t.Fatalf("%s: findings %v", node, ds)
	}
	if !made.Effects {
		t.Errorf("%s: a command has effects", node)
	}
	in := shared()
	in.Log = slog.New(log)
	// The idempotency key must be unique. Processes are found and killed by it, which would
	// kill programs of other tests.
	run := "run of " + t.Name()
	return made.Handler.Handle(t.Context(), core.NewInput(run, "n", 1, in))
}

func TestHandle(t *testing.T) {
	here, _ := filepath.Abs("testdata")
	tests := []struct {
		name string
		node string
		want string
		err  string
		log  string
	}{
		{name: "text to the edges", node: `{"run": ["echo", "a b", "{{$.city}}"]}`, want: `{} -> "a b Bergen"`},
		{name: "text to the only write", node: `{"run": ["echo", "x"], "writes": ["out"]}`, want: `{"out":"x"}`},
		{name: "text into a field", node: `{"run": ["echo", "x"], "writes": ["b"], "into": "b"}`, want: `{"b":"x"}`},
		{name: "one argument stays one", node: `{"run": ["./bin/show", "{{name}}", "", "{{$item}} {{$index}}", "{{dash}}", "*"], "allow_options": true, "output": "lines"}`,
			want: `{} -> ["[Robert\"; rm -rf ~; $(touch pwned) ']","[]","[third 2]","[--version]","[*]"]`},
		{name: "shell with values behind the text", node: `{"run": ["sh", "-c", "printf '%s' \"$1\"", "sh", "{{name}}"]}`,
			want: `{} -> "Robert\"; rm -rf ~; $(touch pwned) '"`},
		{name: "stdin text", node: `{"run": ["cat"], "stdin": "hello {{$.city}}"}`, want: `{} -> "hello Bergen"`},
		{name: "stdin json", node: `{"run": ["cat"], "stdin": "json", "output": "json"}`,
			want: `{} -> {"name":"Robert\"; rm -rf ~; $(touch pwned) '","dash":"--version","_state":{},"_edge_inputs":{},"$item":"third","$index":2}`},
		{name: "no stdin", node: `{"run": ["cat"]}`, want: `{} -> ""`},
		{name: "environment", node: `{"run": ["sh", "-c", "echo $CITY $TOKEN $WAVEFOLD_IDEMPOTENCY_KEY"], "env": {"CITY": "{{$.city}}", "TOKEN": {"secret": "API_TOKEN"}}}`,
			want: `{} -> "Bergen hunter2 run of TestHandle/environment/n[2]"`},
		{name: "folder", node: `{"run": ["pwd"], "dir": "work"}`, want: `{} -> "` + filepath.Join(here, "work") + `"`},
		{name: "workflow's folder", node: `{"run": ["pwd"]}`, want: `{} -> "` + here + `"`},
		{name: "program in the folder, run elsewhere", node: `{"run": ["./bin/show", "x"], "dir": "work"}`, want: `{} -> "[x]"`},
		{name: "json", node: `{"run": ["echo", "{\"a\": [1, 2.5]}"], "output": "json", "writes": ["out"]}`, want: `{"out":{"a":[1,2.5]}}`},
		{name: "jsonl", node: `{"run": ["printf", "1\\n2\\n"], "output": "jsonl", "writes": ["out"]}`, want: `{"out":[1,2]}`},
		{name: "result", node: `{"run": ["echo", "{\"state_delta\": {\"a\": 1}, \"edge_output\": 2}"], "output": "result", "writes": ["a", "b"]}`, want: `{"a":1} -> 2`},
		{name: "none", node: `{"run": ["echo", "x"], "output": "none"}`, want: `{}`},
		{name: "allowed code", node: `{"run": ["sh", "-c", "echo no match; exit 1"], "ok_codes": [0, 1]}`, want: `{} -> "no match" (exit code 1)`},
		{name: "standard error", node: `{"run": ["sh", "-c", "echo one >&2; echo two >&2"], "output": "none"}`, want: `{}`, log: "one\ntwo\n"},
		{name: "exit code", node: `{"run": ["sh", "-c", "echo broken >&2; exit 3"]}`, err: "sh: exit code 3: broken", log: "broken\n"},
		{name: "secret in an error", node: `{"run": ["sh", "-c", "echo bad $T >&2; exit 3"], "env": {"T": {"secret": "API_TOKEN"}}}`, err: "sh: exit code 3: bad ***", log: "bad ***\n"},
		{name: "secret in a bad output", node: `{"run": ["sh", "-c", "echo $T"], "output": "json", "env": {"T": {"secret": "API_TOKEN"}}}`, err: `printed: "***"`},
		{name: "secret not set", node: `{"run": ["true"], "env": {"T": {"secret": "NOPE"}}}`, err: "true: env.T: the environment variable NOPE is not set"},
		{name: "too much", node: `{"run": ["yes"], "max_output": "64KB"}`, err: "yes: too much output: more than 65536 bytes on standard output"},
		{name: "missing value", node: `{"run": ["echo", "a", "{{nothing}}"]}`, err: "echo: run[2]: test.json:1:23: {{nothing}} has no value"},
		{name: "bad json", node: `{"run": ["echo", "oops"], "output": "json"}`, err: `echo: the output is not JSON`},
		{name: "value that may be an option", node: `{"run": ["cat", "-A", "{{dash}}"]}`,
			err: `cat: run[2]: the value "--version" begins with "-", so cat may take it for an option: write "--" before it, or join it to what it belongs to (--name={{...}}, ./{{...}}); allow_options: true permits it`},
		{name: "the same after the end of options", node: `{"run": ["./bin/show", "--", "{{dash}}"], "output": "lines"}`, want: `{} -> ["[--]","[--version]"]`},
		{name: "the same in another argument", node: `{"run": ["./bin/show", "v={{dash}}"]}`, want: `{} -> "[v=--version]"`},
		{name: "values with a dash that are data", node: `{"run": ["./bin/show", "{{'- item'}}", "{{'-'}}", "{{-5}}"], "output": "lines"}`, want: `{} -> ["[- item]","[-]","[-5]"]`},
		{name: "NUL in a value", node: `{"run": ["echo", "{{'a\u0000b'}}"]}`, err: "echo: argument 1 contains a NUL byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log := &nodestest.Log{}
			r, err := handle(t, tt.node, log)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want %q in it", err, tt.err)
				}
			} else if got := nodestest.Text(r); err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
			if log.Text() != tt.log {
				t.Errorf("got log %q, want %q", log.Text(), tt.log)
			}
		})
	}
	if _, err := os.Stat("testdata/pwned"); err == nil {
		t.Error("a value was run as a command")
	}
}

func TestPermanent(t *testing.T) {
	for node, want := range map[string]bool{
		`{"run": ["true"], "env": {"T": {"secret": "NOPE"}}}`: true,
		`{"run": ["echo", "{{nothing}}"]}`:                    true,
		`{"run": ["cat", "{{dash}}"]}`:                        true,
		`{"run": ["false"]}`:                                  false,
	} {
		_, err := handle(t, node, &nodestest.Log{})
		if f := core.FailureOf(err); f.Permanent != want {
			t.Errorf("%s: %v: permanent %v, want %v", node, err, f.Permanent, want)
		}
	}
}

func TestFindings(t *testing.T) {
	bare := env()
	bare.LookPath = func(string) (string, error) { return "", errors.New("not in PATH") }
	private := env()
	private.Private = []string{"KEY"}
	tests := []struct {
		name string
		node string
		env  core.Env
		want string
	}{
		{"no run", `{}`, env(), `1:1: error: node n: key "run" is missing [MISSING_KEY]`},
		{"empty run", `{"run": []}`, env(), `1:9: error: node n: key "run" is empty [MISSING_KEY]`},
		{"a text", `{"run": "ls -l"}`, env(), `1:9: error: node n: run: want a list with one element for each argument, found string "ls -l" (write [ls, -l]; no shell splits the string) [WRONG_TYPE]`},
		{"a text for a shell", `{"run": "ls | wc -l"}`, env(), `1:9: error: node n: run: want a list with one element for each argument, found string "ls | wc -l" (write [sh, -c, "ls | wc -l"] for a string that a shell reads) [WRONG_TYPE]`},
		{"a number", `{"run": ["sleep", 5]}`, env(), `1:19: error: node n: run[1]: want a string, found number 5 (put it in quotes to make it a string) [WRONG_TYPE]`},
		{"no name", `{"run": [" "]}`, env(), `1:10: error: node n: run: the name of the program is empty [MISSING_KEY]`},
		{"program from a value", `{"run": ["{{program}}"]}`, env(), `1:10: error: node n: run: the program must be fixed; only its arguments may contain templates [BAD_VALUE]`},
		{"missing program", `{"run": ["jq", "."]}`, bare, `1:10: error: node n: run: program "jq" is not there: not in PATH (install it, or add its folder to PATH) [MISSING_FILE]`},
		{"missing file", `{"run": ["bin/shwo"]}`, env(), `1:10: error: node n: run: there is no file "bin/shwo" (did you mean "bin/show"?) [MISSING_FILE]`},
		{"not executable", `{"run": ["./bin/notexec"]}`, env(), `1:10: error: node n: run: "./bin/notexec" is not executable (run chmod +x on it) [BAD_VALUE]`},
		{"outside", `{"run": ["../command.go"]}`, env(), `1:10: error: node n: run: "../command.go" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"template in a shell text", `{"run": ["sh", "-c", "echo {{name}}"]}`, env(), `1:27: error: node n: run[2]: a template inside the program text of sh would let data become code (pass the value as an argument after the text and a name: [sh, -c, '... "$1"', sh, "{{...}}"]) [BAD_VALUE]`},
		{"template in what may be program text", `{"run": ["./bin/show", "--eval", "f({{name}})"]}`, env(), `1:36: warning: node n: run[2]: if ./bin/show runs this text, the template lets data become code (pass the value as an argument of its own or by env; if the text is not run, use a template node) [BAD_VALUE]`},
		{"program text on stdin", `{"run": ["sh"], "stdin": "echo {{name}}"}`, env(), `1:26: error: node n: stdin: it is the program text of sh, so a value in it would let data become code (pass the value as an argument after the text and a name: [sh, -c, '... "$1"', sh, "{{...}}"]) [BAD_VALUE]`},
		{"the document of tools as a program", `{"run": ["sh", "-s"], "stdin": "json"}`, env(), `1:32: error: node n: stdin: it is the program text of sh, so a value in it would let data become code (pass the value as an argument after the text and a name: [sh, -c, '... "$1"', sh, "{{...}}"]) [BAD_VALUE]`},
		{"a variable that is code", `{"run": ["cat"], "env": {"BASH_ENV": "{{name}}"}}`, env(), `1:38: error: node n: env.BASH_ENV: programs run or load what this variable names, so a value in it would let data become code (keep it fixed, and pass the value in a variable of another name) [BAD_VALUE]`},
		{"the name of the shell", `{"run": ["sh", "-c", "echo $1", "{{name}}"]}`, env(), `1:33: warning: node n: run[3]: the argument after the program text of sh is "$0", the name of the program (put a word between the two, so that the value is "$1": [sh, -c, '... "$1"', sh, "{{...}}"]) [BAD_VALUE]`},
		{"a value that names the program of a wrapper", `{"run": ["env", "{{name}}", "cat"]}`, env(), `1:17: error: node n: run[1]: env runs what this argument says, so a value in it would let data become code (keep the argument fixed) [BAD_VALUE]`},
		{"an interpreter that may be started", `{"run": ["uname", "sh"], "stdin": "json"}`, env(), `1:35: warning: node n: stdin: if uname starts sh, this is its program text, and a value in it lets data become code (give sh a program in a file or in an option) [BAD_VALUE]`},
		{"a word that is an interpreter too", `{"run": ["nice", "ls", "script"], "stdin": "json"}`, env(), ``},
		{"secret that is not set", `{"run": ["ls"], "env": {"T": {"secret": "NOPE"}, "U": {"secret": "API_TOKEN"}}}`, env(), `1:41: warning: node n: env.T: the environment variable NOPE is not set (the node fails without it) [BAD_VALUE]`},
		{"key of the model", `{"run": ["ls"], "pass_env": ["KEY"]}`, private, `1:30: warning: node n: pass_env: KEY holds a key of the model, and what the program shows of it is not hidden (if the program needs the key, write env: {KEY: {secret: KEY}}) [BAD_VALUE]`},
		{"fixed program on stdin", `{"run": ["sh"], "stdin": "echo a"}`, env(), ``},
		{"path as it stands", `{"run": ["echo", "$.city"]}`, env(), `1:18: hint: node n: run[1]: "$.city" is passed as it is written (write "{{$.city}}" for the value) [BAD_VALUE]`},
		{"missing folder", `{"run": ["ls"], "dir": "wrok"}`, env(), `1:24: error: node n: dir: there is no folder "wrok" (did you mean "work"?) [MISSING_FILE]`},
		{"bad output", `{"run": ["ls"], "output": "jsn"}`, env(), `1:27: error: node n: output: "jsn" is none of text, lines, json, jsonl, result, none (did you mean "json"?) [BAD_VALUE]`},
		{"into with none", `{"run": ["ls"], "output": "none", "into": "x", "writes": ["x"]}`, env(), `1:43: error: node n: into: output: none has nothing to put into a field [BAD_VALUE]`},
		{"into an undeclared field", `{"run": ["ls"], "into": "ouput", "writes": ["output"]}`, env(), `1:25: error: node n: into: field "ouput" is not among the node's writes (did you mean "output"?) [UNKNOWN_FIELD]`},
		{"bad variable", `{"run": ["ls"], "env": {"A=B": "x"}}`, env(), `1:25: error: node n: env: "A=B" cannot be the name of a variable [BAD_VALUE]`},
		{"bad secret", `{"run": ["ls"], "env": {"A": {"secrte": "x"}}}`, env(), `1:31: error: node n: env.A: unknown key "secrte" (did you mean "secret"? known keys: secret) [UNKNOWN_KEY]`},
		{"bad code", `{"run": ["ls"], "ok_codes": [256]}`, env(), `1:30: error: node n: ok_codes[0]: want a whole number from 0 to 255, found 256 [BAD_VALUE]`},
		{"reserved argument", `{"run": ["cat"], "stdin": "json", "args": {"_state": 1}}`, env(), `1:44: warning: node n: args: the name "_state" is reserved, the argument is not passed on [IGNORED]`},
		{"bad templates, all at once", `{"run": ["echo", "{{"], "stdin": "{{}}"}`, env(), `1:18: error: node n: run[1]: "{{" is never closed (close it with }}, or write {{'{{'}} for the two signs themselves) [SYNTAX]
1:34: error: node n: stdin: nothing is between "{{" and "}}" [SYNTAX]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := kind.Compile(nodestest.Node(t, tt.node), tt.env)
			if got := strings.TrimSuffix(nodestest.Findings(ds), "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReads(t *testing.T) {
	node := `{"run": ["echo", "{{$.city}}", "{{$.n}}"], "stdin": "{{$nodes.load.status}}", "env": {"A": "{{$.day}}", "B": "{{$.city}}"}}`
	made, ds := kind.Compile(nodestest.Node(t, node), env())
	got := strings.Join(source.Strings(made.Reads), " ") + ", " + strings.Join(source.Strings(made.Nodes), " ")
	if want := "city n day, load"; got != want || len(ds) > 0 {
		t.Errorf("got %s, findings %v, want %s", got, ds, want)
	}
}

// TestCancelled tests that a cancelled node returns only after the child and its descendants have
// ended.
func TestCancelled(t *testing.T) {
	made, ds := kind.Compile(nodestest.Node(t, `{"run": ["sh", "-c", "sleep 3600 & echo $! >&2; echo ready >&2; wait"]}`), env())
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stop it")
	log := &nodestest.Log{On: func(line string) {
		if line == "ready" {
			cancel(reason)
		}
	}}
	in := core.NewInput("run1", "n", 1, core.Shared{Log: slog.New(log)})
	_, err := made.Handler.Handle(ctx, in)
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
	pid, _, _ := strings.Cut(log.Text(), "\n")
	if state, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output(); err == nil && !strings.HasPrefix(string(state), "Z") {
		t.Errorf("process %s is still there: %s", pid, state)
	}
}

func TestConformance(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, kind,
		nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "shout"), Env: env(), Input: shared(),
			Want: `{"upper":"HELLO BERGEN"}`},
		nodestest.Case{Name: "all keys", Env: env(), Input: shared(),
			Node: `{"run": ["cat"], "stdin": "json", "env": {"A": "b"}, "dir": "work", "output": "json", "into": "out", "max_output": 10000, "ok_codes": [0], "writes": ["out"]}`},
		nodestest.Case{Name: "hanging", Env: env(), Input: shared(), Hangs: true,
			Node: `{"run": ["sh", "-c", "echo ready >&2; sleep 3600"]}`},
	)
	nodestest.CheckDocs(t, kind)
}

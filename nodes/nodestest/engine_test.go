package nodestest_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/template"
	"github.com/wavefold/wavefold/nodes/tool"
	"github.com/wavefold/wavefold/nodes/unhandled"
	"github.com/wavefold/wavefold/nodes/wait"
	"github.com/wavefold/wavefold/nodes/workflow"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// These tests run whole documents through the real reader, plan and scheduler:
// what a kind promises is of use only if the engine and it mean the same.

func registry() *core.Registry {
	return core.NewRegistry(append(unhandled.Kinds(), tool.Kind, command.Kind, template.Kind, wait.Kind, workflow.Kind)...)
}

// compile parses and compiles a document as if it were in the folder dir.
func compile(dir string, text []byte) (*plan.Plan, source.Diagnostics) {
	reg := registry()
	options := native.OptionsFor(reg)
	env := func(w *core.Workflow) core.Env {
		return core.Env{Dir: w.Dir, Files: os.DirFS(w.Dir), LookPath: exec.LookPath,
			LoadWorkflow: func(path string) (*core.Workflow, error) {
				data, err := fs.ReadFile(os.DirFS(w.Dir), path)
				if err != nil {
					return nil, err
				}
				inner, ds := native.Parse(filepath.Join(w.Dir, path), data, options)
				return inner, ds.Err(false)
			}}
	}
	w, ds := native.Parse(filepath.Join(dir, "main.yaml"), text, options)
	if ds.Failed(false) {
		return nil, ds
	}
	return plan.Compile(w, reg, plan.Options{Env: env, Lint: lint.Check})
}

func run(t *testing.T, dir, text string) *core.Report {
	t.Helper()
	p, ds := compile(dir, []byte(text))
	if p == nil {
		t.Fatalf("findings:\n%v", ds)
	}
	report, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: 4})
	if report == nil { // the run was rejected
		return &core.Report{Err: err}
	}
	return report
}

// TestExamplesRun runs the examples of the package comments.
func TestExamplesRun(t *testing.T) {
	tests := []struct {
		kind, needs string
		want        string // the final state, or the error
	}{
		{"tool", "node", `{"greeting":"hello Ada"}`},
		{"command", "tr", `{"city":"Bergen","upper":"HELLO BERGEN"}`},
		{"template", "", `{"name":"Ada","orders":[{"title":"Notes"}],"letter":"Dear Ada, Notes is on its way."}`},
		{"wait", "", `{}`},
		{"workflow", "", `{"report":"all quiet in the north"}`},
		{"unhandled", "", `../unhandled/testdata/main.yaml:5:13: error: node mend: kind "cli-agent" has no handler in this build: register a Go function of that name with AddTool, or a kind with AddKind [NO_HANDLER]`},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			if _, err := exec.LookPath(tt.needs); tt.needs != "" && err != nil {
				t.Skip(err)
			}
			text := nodestest.ExampleIn(t, filepath.Join("..", tt.kind, "doc.go"))
			report := run(t, filepath.Join("..", tt.kind, "testdata"), string(text))
			got := value.JSON(report.State)
			if report.Err != nil {
				got = report.Err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestTemplatesInTheEngine(t *testing.T) {
	report := run(t, "testdata", `
name: roots
state:
  schema:
    names: {type: array, default: [Ada, Bea]}
    greetings: {type: array, merge: array_append}
    rounds: {type: array, merge: array_append}
    note: {type: string}
    lines: {type: array}
graph:
  nodes:
    - id: greet
      kind: command
      for_each: {source: $.names, concurrency: 2}
      run: [printf, '{"state_delta": {"greetings": ["%s"]}, "edge_output": %d}', "{{$index}} {{$item}} {{length($.names)}}", "{{$index}}"]
      output: result
      writes: [greetings]
    - id: note
      kind: template
      text: "{{greet}} {{$nodes.greet.status}} {{$nodes.greet.output[1]}}"
      writes: [note]
    - id: round
      kind: command
      run: [echo, '["{{$loop}} {{$iter}}"]']
      output: json
      writes: [rounds]
    - id: lines
      kind: command
      run: [sh, -c, 'cat; echo "$NOTE"']
      stdin: "{{$.greetings}}\n"
      env: {NOTE: "{{$.note}}"}
      output: lines
      writes: [lines]
  edges:
    - {from: greet, to: note}
    - {from: note, to: lines}
  loops:
    - {id: again, body: round, max_iters: 2}
`)
	want := `{"names":["Ada","Bea"],"greetings":["0 Ada 2","1 Bea 2"],"rounds":["again 0","again 1"],` +
		`"note":"[0,1] success 1","lines":["[\"0 Ada 2\",\"1 Bea 2\"]","[0,1] success 1"]}`
	if got := value.JSON(report.State); got != want || report.Err != nil {
		t.Errorf("got %s, %v\nwant %s", got, report.Err, want)
	}
}

func TestTimeoutEndsThePrograms(t *testing.T) {
	report := run(t, "testdata", `
name: slow
graph:
  nodes:
    - id: slow
      kind: command
      run: [sh, -c, 'trap "" TERM; sleep 3600 & wait; wait']
      timeout: 100ms
`)
	n, _ := report.Node("slow")
	if n.Failure == nil || n.Failure.Class != core.ClassTimeout {
		t.Errorf("got %v, %+v, want a timeout", report.Err, n.Failure)
	}
}

func TestEngineFindings(t *testing.T) {
	tests := []struct{ name, nodes, want string }{
		{"unknown field in a template", `[{id: a, kind: template, text: "hi {{$.nmae}}"}]`, `main.yaml:5:49: error: node a: text: unknown field "nmae" (did you mean "name"?) [EXPR_NAME]`},
		{"unknown node in a template", `[{id: load, kind: wait, duration: 1s}, {id: a, kind: template, text: "{{$nodes.laod.status}}"}]`, `error: node a: unknown node "laod" (did you mean "load"?) [UNKNOWN_NODE]`},
		{"unknown key", `[{id: a, kind: command, runs: [ls]}]`, `unknown key "runs" for kind command (did you mean "run"?`},
		{"key of another kind", `[{id: a, kind: wait, duration: 1s, impl: x}]`, `unknown key "impl"`},
		{"includes itself", `[{id: a, kind: workflow, file: self.yaml}]`, `node a: file: the workflow includes itself: self.yaml -> other.yaml -> self.yaml [CYCLE]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := fmt.Sprintf("name: x\nstate:\n  schema: {name: {type: string}}\ngraph:\n  nodes: %s\n", tt.nodes)
			p, ds := compile("testdata", []byte(text))
			if p != nil || !strings.Contains(ds.Error(), tt.want) {
				t.Errorf("got %v, want %s", ds, tt.want)
			}
		})
	}
}

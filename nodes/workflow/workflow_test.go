package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// set is a folder of workflows: it maps each file to the files that it includes. All workflows have
// the fields summary and region and the input day.
type set map[string][]string

func (s set) env(t *testing.T) core.Env {
	folder := fstest.MapFS{}
	for name := range maps.Keys(s) {
		folder[name] = &fstest.MapFile{}
	}
	return core.Env{Files: folder, LoadWorkflow: func(path string) (*core.Workflow, error) {
		includes, ok := s[path]
		if !ok {
			return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
		}
		w := &core.Workflow{Name: source.At(path, source.Position{}),
			Fields: []core.FieldDecl{{Name: source.At("summary", source.Position{}), Default: value.Missing}, {Name: source.At("region", source.Position{}), Default: value.Missing}},
			Inputs: []core.InputDecl{{Name: source.At("day", source.Position{})}}}
		for i, file := range includes {
			w.Nodes = append(w.Nodes, nodestest.Node(t, fmt.Sprintf(`{"id": "n%d", "kind": "workflow", "file": %q}`, i, file)))
		}
		return w, nil
	}}
}

func TestFrame(t *testing.T) {
	env := set{"sub/region.yaml": nil}.env(t)
	tests := []struct {
		node string
		want map[string]string
	}{
		{`{"file": "sub/region.yaml", "writes": ["summary"]}`, nil},
		{`{"file": "./sub/region.yaml", "outputs": {"report": "summary", "when": "day"}, "writes": ["report", "when"]}`, map[string]string{"report": "summary", "when": "day"}},
		{`{"file": "sub/region.yaml", "outputs": {}}`, map[string]string{}},
	}
	for _, tt := range tests {
		made, ds := workflow.Kind.Compile(nodestest.Node(t, tt.node), env)
		if len(ds) > 0 || made.Frame == nil {
			t.Fatalf("%s: got %v, findings %v", tt.node, made, ds)
		}
		if made.Frame.Workflow.Name.Value != "sub/region.yaml" || !reflect.DeepEqual(made.Frame.Outputs, tt.want) {
			t.Errorf("%s: got %q %v, want %v", tt.node, made.Frame.Workflow.Name.Value, made.Frame.Outputs, tt.want)
		}
	}
}

func TestFindings(t *testing.T) {
	env := set{"region.yaml": nil}.env(t)
	failing := func(err error) core.Env {
		return core.Env{LoadWorkflow: func(string) (*core.Workflow, error) { return nil, err }}
	}
	inside := source.Diagnostic{Code: source.CodeSyntax, Pos: source.Position{File: "region.yaml", Line: 3, Column: 1}, Message: "no colon"}
	placeless := source.Diagnostic{Code: source.CodeCycle, Message: "a.yaml -> a.yaml"}
	withContext := env
	withContext.ConventionsOf = func(*core.Workflow) core.Conventions { return core.Conventions{Context: true} }
	tests := []struct {
		name string
		node string
		env  core.Env
		want string
	}{
		{"missing file", `{"file": "regoin.yaml"}`, env, `1:10: error: node n: file: there is no file "regoin.yaml" (did you mean "region.yaml"?) [MISSING_FILE]`},
		{"no folder", `{"file": "region.yaml"}`, core.Env{}, `1:10: error: node n: file: there is no folder to look for "region.yaml" in (the workflow was not loaded from a folder; give it one) [MISSING_FILE]`},
		{"outside", `{"file": "../region.yaml"}`, env, `1:10: error: node n: file: "../region.yaml" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`},
		{"broken file", `{"file": "region.yaml"}`, failing(source.Diagnostics{inside}), `3:1: error: no colon [SYNTAX]`},
		{"placeless finding", `{"file": "region.yaml"}`, failing(placeless), `1:10: error: a.yaml -> a.yaml [CYCLE]`},
		{"any error", `{"file": "region.yaml"}`, failing(errors.New("disk on fire")), `1:10: error: node n: file: "region.yaml" cannot be loaded: disk on fire [MISSING_FILE]`},
		{"output not among writes", `{"file": "region.yaml", "outputs": {"reprot": "summary"}, "writes": ["report"]}`, env,
			`1:37: error: node n: outputs: field "reprot" is not among the node's writes (did you mean "report"?) [UNKNOWN_FIELD]
1:70: warning: node n: field "report" is among the writes, but outputs does not fill it [UNUSED]`},
		{"no writes", `{"file": "region.yaml", "outputs": {"report": "summary"}}`, env,
			`1:37: error: node n: outputs: field "report" is not among the node's writes (add it: writes: [report]) [UNKNOWN_FIELD]`},
		{"unknown inner field", `{"file": "region.yaml", "outputs": {"report": "sumary"}, "writes": ["report"]}`, env,
			`1:47: error: node n: outputs: "region.yaml" has no field "sumary" (did you mean "summary"?) [UNKNOWN_FIELD]`},
		{"context", `{"file": "region.yaml", "outputs": {"report": "context"}, "writes": ["report"]}`, withContext, ""},
		{"no context", `{"file": "region.yaml", "outputs": {"report": "context"}, "writes": ["report"]}`, env,
			`1:47: error: node n: outputs: "region.yaml" has no field "context" [UNKNOWN_FIELD]`},
		{"wrong type", `{"file": "region.yaml", "outputs": ["report"]}`, env, `1:36: error: node n: outputs: want a mapping, found a list [WRONG_TYPE]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := workflow.Kind.Compile(nodestest.Node(t, tt.node), tt.env)
			if got := strings.TrimSpace(nodestest.Findings(ds)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCycle(t *testing.T) {
	tests := []struct {
		name  string
		files set
		file  string
		want  string // the cycle, "" if there is none
	}{
		{"itself", set{"a.yaml": {"a.yaml"}}, "a.yaml", "a.yaml -> a.yaml"},
		{"two", set{"a.yaml": {"b.yaml"}, "b.yaml": {"a.yaml"}}, "b.yaml", "b.yaml -> a.yaml -> b.yaml"},
		{"below", set{"a.yaml": {"b.yaml"}, "b.yaml": {"c.yaml"}, "c.yaml": {"d.yaml", "b.yaml"}, "d.yaml": nil}, "a.yaml", "b.yaml -> c.yaml -> b.yaml"},
		{"spelt differently", set{"a.yaml": {"./a.yaml"}}, "sub/../a.yaml", "a.yaml -> a.yaml"},
		{"folders", set{"x/a.yaml": {"y/b.yaml"}, "x/y/b.yaml": {"b.yaml"}}, "x/a.yaml", "x/y/b.yaml -> x/y/b.yaml"},
		{"diamond", set{"a.yaml": {"b.yaml", "c.yaml"}, "b.yaml": {"d.yaml"}, "c.yaml": {"d.yaml"}, "d.yaml": nil}, "a.yaml", ""},
		{"same name elsewhere", set{"a.yaml": {"x/a.yaml"}, "x/a.yaml": nil}, "a.yaml", ""},
		{"missing below", set{"a.yaml": {"nowhere.yaml", "../up.yaml"}}, "a.yaml", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made, ds := workflow.Kind.Compile(nodestest.Node(t, fmt.Sprintf(`{"file": %q}`, tt.file)), tt.files.env(t))
			if tt.want == "" {
				if len(ds) > 0 || made.Frame == nil {
					t.Errorf("got %v, want no finding", ds)
				}
				return
			}
			want := "1:10: error: node n: file: the workflow includes itself: " + tt.want + " [CYCLE]\n"
			if got := nodestest.Findings(ds); got != want || made.Frame != nil {
				t.Errorf("got %swant %s", got, want)
			}
		})
	}
}

// TestCycleIsLinear tests a chain of n files of which each includes the next one twice. It has 2^n
// paths, and the search for a cycle must not visit all.
func TestCycleIsLinear(t *testing.T) {
	files, loads := set{}, 0
	for i := range 40 {
		next := fmt.Sprintf("f%d.yaml", i+1)
		files[fmt.Sprintf("f%d.yaml", i)] = []string{next, next}
	}
	files["f40.yaml"] = nil
	env := files.env(t)
	load := env.LoadWorkflow
	env.LoadWorkflow = func(path string) (*core.Workflow, error) { loads++; return load(path) }
	if _, ds := workflow.Kind.Compile(nodestest.Node(t, `{"file": "f0.yaml"}`), env); len(ds) > 0 || loads > 100 {
		t.Errorf("got %d loads, findings %v, want at most 100 loads and none", loads, ds)
	}
}

func TestConformance(t *testing.T) {
	nodestest.Run(t, workflow.Kind, nodestest.Case{Name: "mapped", Env: set{"region.yaml": nil}.env(t),
		Node: `{"file": "region.yaml", "outputs": {"report": "summary"}, "writes": ["report"], "args": {"day": "monday"}}`})
}

func TestExperience(t *testing.T) {
	env := set{"triage/experience.yaml": nil, "old/experience.yml": nil, "one.yaml": nil, "round/experience.yaml": {"../one.yaml"}}.env(t)
	nodestest.Run(t, workflow.Experience, nodestest.Case{Name: "all keys", Env: env,
		Node: `{"impl": "./triage", "state_scope": "isolated", "writes": ["summary"], "args": {"day": "monday"}}`})
	for impl, want := range map[string]string{"./triage": "triage/experience.yaml", "triage/experience.yaml": "triage/experience.yaml",
		"old": "old/experience.yml", "one.yaml": "one.yaml"} {
		made, ds := workflow.Experience.Compile(nodestest.Node(t, fmt.Sprintf(`{"impl": %q}`, impl)), env)
		if made.Frame == nil || len(ds) > 0 {
			t.Errorf("%s: %v", impl, ds)
			continue
		}
		if got := made.Frame.Workflow.Name.Value; got != want || !made.Frame.Send || !made.Frame.Optional || made.Frame.Outputs != nil {
			t.Errorf("%s: got %q %+v, want %q", impl, got, made.Frame, want)
		}
	}
	for node, want := range map[string]string{
		`{"impl": "traige"}`:                            `1:10: error: node n: impl: there is no file "traige" (did you mean "triage"?) [MISSING_FILE]`,
		`{"impl": "../triage"}`:                         `1:10: error: node n: impl: "../triage" leaves the workflow's folder (files must lie in the workflow's folder) [BAD_VALUE]`,
		`{"state_scope": "all"}`:                        "1:1: error: node n: key \"impl\" is missing [MISSING_KEY]\n1:17: error: node n: state_scope: \"all\" is none of isolated, shared [BAD_VALUE]",
		`{"impl": "one.yaml", "state_scope": "shared"}`: `1:37: error: node n: state_scope: a nested run has a state of its own, so shared is not possible (remove it; give the nested run values with args, and name the fields it is to fill in writes) [BAD_VALUE]`,
	} {
		_, ds := workflow.Experience.Compile(nodestest.Node(t, node), env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", node, got, want)
		}
	}
}

// TestExperienceRegistered tests that a function registered under the name of the kind replaces the
// nested run.
func TestExperienceRegistered(t *testing.T) {
	env := core.Env{Tool: func(name string) (core.Handler, bool) {
		return core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			impl, _ := in.Arg("impl")
			return core.Send(impl), nil
		}), name == "experience"
	}}
	made, ds := workflow.Experience.Compile(nodestest.Node(t, `{"impl": "elsewhere"}`), env)
	if made.Handler == nil || len(ds) > 0 {
		t.Fatal(ds)
	}
	if r, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{})); err != nil || r.EdgeOutput != "elsewhere" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCycleOfExperiences tests cycles through the folder of an experience.
func TestCycleOfExperiences(t *testing.T) {
	env := set{"sub/experience.yaml": nil}.env(t)
	load := env.LoadWorkflow
	env.LoadWorkflow = func(path string) (*core.Workflow, error) {
		w, err := load(path)
		if w != nil {
			w.Nodes = []*core.Node{nodestest.Node(t, `{"id": "n", "kind": "experience", "impl": "../sub"}`)}
		}
		return w, err
	}
	// Paths are relative to the folder of the including file, so this is not a cycle.
	if _, ds := workflow.Experience.Compile(nodestest.Node(t, `{"impl": "sub"}`), env); len(ds) > 0 {
		t.Error(ds)
	}
	env.LoadWorkflow = func(path string) (*core.Workflow, error) {
		w, err := load(path)
		if w != nil {
			w.Nodes = []*core.Node{nodestest.Node(t, `{"id": "n", "kind": "experience", "impl": "./experience.yaml"}`)}
		}
		return w, err
	}
	_, ds := workflow.Experience.Compile(nodestest.Node(t, `{"impl": "sub"}`), env)
	if want := "impl: the workflow includes itself: sub/experience.yaml -> sub/experience.yaml"; !strings.Contains(ds.Error(), want) {
		t.Errorf("got %v, want %s", ds, want)
	}
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, workflow.Kind)
	nodestest.CheckDocs(t, workflow.Experience)
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	nodestest.Run(t, workflow.Kind, nodestest.Case{Name: "example", Node: nodestest.ExampleNode(t, example, "north"), Env: set{"region.yaml": nil}.env(t)})
}

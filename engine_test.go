package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// write creates a folder with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const outerYAML = `name: outer
state: {schema: {report: {type: string}}}
graph:
  nodes:
    - {id: sub, kind: workflow, file: inner/region.yaml, args: {region: north}, outputs: {report: summary}, writes: [report]}
`

const innerYAML = `name: region
inputs: {region: {type: string, required: true}}
state: {schema: {summary: {type: string}}}
graph:
  nodes:
    - {id: sum, kind: tool, impl: sum, args: {text: $input.region}, writes: [summary]}
`

func TestLoadNested(t *testing.T) {
	dir := write(t, map[string]string{"outer.yaml": outerYAML, "inner/region.yaml": innerYAML})
	e := wavefold.NewEngine()
	if err := e.AddTool("sum", func(s string) string { return "sum of " + s }); err != nil {
		t.Fatal(err)
	}
	g, err := e.Load(filepath.Join(dir, "outer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(t.Context())
	if got := wavefold.NewField[string]("report").Get(r); err != nil || got != "sum of north" {
		t.Errorf("got %q, %v", got, err)
	}
	if p, err := g.Plan(); err != nil || p.Concurrency != 1 {
		t.Errorf("got %+v, %v: a document runs one node at a time", p, err)
	}
}

// Findings of an included file keep their positions in that file, including warnings,
// and all files are checked.
func TestFindingsOfNestedFiles(t *testing.T) {
	dir := write(t, map[string]string{
		"outer.yaml":        outerYAML,
		"inner/region.yaml": strings.Replace(innerYAML, "state: {", "state: {store: x, ", 1),
		"twice.yaml":        strings.Replace(outerYAML, "writes: [report]}\n", "writes: [report]}\n    - {id: sub2, kind: workflow, file: inner/region.yaml, args: {region: south}}\n", 1),
		"broken.yaml":       strings.Replace(outerYAML, "region.yaml", "broken.yaml", 1),
		"inner/broken.yaml": strings.Replace(innerYAML, "impl: sum", "imql: sum", 1),
		"missing.yaml":      strings.Replace(outerYAML, "region.yaml", "regoin.yaml", 1),
		"round.yaml":        strings.Replace(outerYAML, "inner/region.yaml", "round.yaml", 1),
		"up.yaml":           strings.Replace(outerYAML, "inner/region.yaml", "../up.yaml", 1),
	})
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "inner", "away")); err != nil {
		t.Fatal(err)
	}
	e := wavefold.NewEngine()
	if err := e.AddTool("sum", func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file   string
		strict bool
		want   []string
	}{
		{"outer.yaml", false, []string{"inner/region.yaml:3:16: warning: state.store"}},
		{"outer.yaml", true, []string{"inner/region.yaml:3:16: warning: state.store"}},
		{"twice.yaml", false, []string{"inner/region.yaml:3:16: warning: state.store"}},
		{"broken.yaml", false, []string{`inner/broken.yaml:6:29: error: node sum: unknown key "imql"`}},
		{"missing.yaml", false, []string{`missing.yaml:5:39: error: node sub: file: there is no file "inner/regoin.yaml" (did you mean "inner/region.yaml"?)`}},
		{"round.yaml", false, []string{"the workflow includes itself: round.yaml -> round.yaml"}},
		{"up.yaml", false, []string{"leaves the workflow's folder"}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.file, " strict=", tt.strict), func(t *testing.T) {
			w, ds := e.Read(filepath.Join(dir, tt.file))
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			p, ds := e.Compile(w, tt.strict)
			if (p == nil) != ds.Failed(tt.strict) {
				t.Errorf("plan %v beside\n%v", p != nil, ds)
			}
			for _, want := range tt.want {
				if n := strings.Count(ds.Error(), want); n != 1 {
					t.Errorf("%d times %s in\n%v", n, want, ds)
				}
			}
		})
	}
}

func TestReadFindings(t *testing.T) {
	dir := write(t, map[string]string{"flow.yaml": innerYAML, "bad.yaml": "name: x\n\tgraph: y\n"})
	e := wavefold.NewEngine()
	for name, want := range map[string]string{
		"flwo.yaml": `flwo.yaml: error: there is no such file (did you mean "flow.yaml"?) [MISSING_FILE]`,
		"bad.yaml":  "bad.yaml:2:1: error:",
		".":         "the file cannot be read: is a directory",
	} {
		w, ds := e.Read(filepath.Join(dir, name))
		if w != nil || !strings.Contains(ds.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, ds, want)
		}
		if _, err := e.Load(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load of %s: got %v", name, err)
		}
	}
	if p, ds := e.Compile(nil, false); p != nil || !ds.Failed(false) {
		t.Errorf("compiling nothing: %v, %v", p, ds)
	}
}

// An error of one kind hides no error of another kind in any file, and each error is
// reported once.
func TestLoadFindsEverythingAtOnce(t *testing.T) {
	dir := write(t, map[string]string{"flow.yaml": `name: flow
state: {schema: {x: {type: text}}}
graph:
  nodes:
    - {id: a, kind: wait, duraton: 1s}
    - {id: b, kind: wait, duration: 1s, reads: [y]}
    - {id: s, kind: workflow, file: inner.yaml, tmeout: 1s}
    - {id: d, kind: wait, duration: 1s}
  edges: [{from: a, to: c, whn: "$.x"}, {from: b, to: d}, {from: d, to: b}]
`, "inner.yaml": `name: inner
graph:
  nodes: [{id: a, kind: wait, duration: soon}]
  edges: [{from: a, to: b}]
`})
	e := wavefold.NewEngine()
	_, err := e.Load(filepath.Join(dir, "flow.yaml"))
	ds, _ := source.AsDiagnostics(err)
	var got []string
	for _, d := range ds {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", filepath.Base(d.Pos.File), d.Pos.Line, d.Pos.Column, d.Code))
	}
	want := []string{"flow.yaml:2:28 BAD_VALUE", "flow.yaml:5:27 UNKNOWN_KEY", "flow.yaml:6:49 UNKNOWN_FIELD", "flow.yaml:7:49 UNKNOWN_KEY",
		"flow.yaml:9:25 UNKNOWN_NODE", "flow.yaml:9:28 UNKNOWN_KEY", "flow.yaml:9:41 CYCLE", "inner.yaml:3:41 BAD_VALUE", "inner.yaml:4:25 UNKNOWN_NODE"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), err)
	}
	w, shape := e.Read(filepath.Join(dir, "flow.yaml"))
	if all := e.Graph(w).Findings(); len(shape) != 4 || len(all) != len(ds) {
		t.Errorf("%d findings of shape, %d of the graph", len(shape), len(all))
	}
}

// A document without a name has no folder, so it cannot access files.
func TestParseWithoutAFolder(t *testing.T) {
	e := wavefold.NewEngine()
	w, ds := e.Parse("", []byte(strings.Replace(outerYAML, "inner/region.yaml", "go.mod", 1)))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	_, ds = e.Compile(w, false)
	if !strings.Contains(ds.Error(), `there is no folder to look for "go.mod" in`) {
		t.Errorf("got %v", ds)
	}
}

// shout is a custom kind.
type shout struct{}

func (shout) Name() string   { return "shout" }
func (shout) Keys() []string { return []string{"text"} }
func (shout) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	var c struct {
		Text source.Text `wavefold:"text,required"`
	}
	ds := source.Decode(n.Config, &c)
	if env.Files != nil {
		if data, err := fs.ReadFile(env.Files, c.Text.Value); err == nil {
			c.Text.Value = string(data)
		}
	}
	return core.Compiled{Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Send(strings.ToUpper(c.Text.Value)), nil
	})}, ds
}

func TestOwnKinds(t *testing.T) {
	e := wavefold.NewEngine(shout{})
	dir := write(t, map[string]string{"words.txt": "from a file"})
	out := wavefold.NewField[string]("out")
	g := wavefold.New("g", wavefold.Using(e), wavefold.Dir(dir),
		wavefold.Node("a", "shout", map[string]any{"text": "hello"}),
		wavefold.Node("b", "shout", map[string]any{"text": "words.txt"}),
		wavefold.Func("c", nil, wavefold.Fields(out), func(_ context.Context, in core.Input) (core.Result, error) {
			a, _ := in.EdgeInput("a")
			b, _ := in.EdgeInput("b")
			return core.Write("out", fmt.Sprint(a, " ", b)), nil
		}, wavefold.After("a", "b")))
	r, err := g.Run(t.Context())
	if err != nil || out.Get(r) != "HELLO FROM A FILE" {
		t.Errorf("got %q, %v", out.Get(r), err)
	}
	inner := wavefold.New("inner", wavefold.Using(wavefold.NewEngine()), wavefold.Node("a", "wait", map[string]any{"duration": "1ms"}))
	if err := wavefold.New("h", wavefold.Using(e), wavefold.Sub("s", inner)).Compile(); err == nil || !strings.Contains(err.Error(), "another engine") {
		t.Errorf("got %v", err)
	}
	bare := wavefold.EngineOf(core.NewRegistry(shout{}))
	if err := wavefold.New("h", wavefold.Using(bare), wavefold.Node("a", "wait", nil)).Compile(); err == nil || !strings.Contains(err.Error(), `unknown kind "wait"`) {
		t.Errorf("got %v", err)
	}
}

// The dependencies of the package are a promise, because every embedding program links
// them.
func TestDependencies(t *testing.T) {
	const module = "github.com/wavefold/wavefold/"
	forbidden := map[string]string{
		module + "nodes/std":                       "the standard set is a choice of the program",
		module + "nodes/dataset":                   "opens SQLite and parquet files",
		module + "nodes/sink":                      "opens SQLite and parquet files",
		module + "nodes/sql":                       "links databases",
		module + "llm/openai":                      "a model client is a choice of the program",
		module + "store/sqlite":                    "links a database",
		module + "server":                          "links a web server",
		module + "cli":                             "the command line is built on this package",
		"modernc.org/sqlite":                       "10 MB of a database",
		"github.com/parquet-go/parquet-go":         "data files belong to nodes/dataset",
		"github.com/jackc/pgx/v5":                  "PostgreSQL belongs to nodes/sql",
		"github.com/jackc/pgx/v5/pgconn":           "PostgreSQL belongs to nodes/sql",
		"github.com/openai/openai-go/v3":           "the client of a provider",
		"github.com/spf13/cobra":                   "the command line is built on this package",
		"net/http":                                 "nothing here talks to the network",
		module + "llm/jsonschema":                  "a validator comes with a model",
		"github.com/santhosh-tekuri/jsonschema/v6": "its initialization makes 21,000 allocations",
		"golang.org/x/text/message":                "only the validator needs it",
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if why, ok := forbidden[dep]; ok {
			t.Errorf("the package links %s: %s", dep, why)
		}
		if strings.HasPrefix(dep, module+"examples") || strings.HasPrefix(dep, module+"scheduler/internal/schedulertest") {
			t.Errorf("the package links %s", dep)
		}
	}
}

// A failure that ends the run is not tolerated by its node's policy, and no report
// claims so.
func TestFatalFailureIsNotTolerated(t *testing.T) {
	items := wavefold.NewField[[]int]("items", wavefold.Default([]int{1}))
	over := core.FailRun(errors.New("the budget is used up"))
	for name, part := range map[string]wavefold.Part{
		"node":    wavefold.Do("n", func(context.Context) error { return over }, wavefold.OnError(wavefold.Skip)),
		"fan-out": wavefold.ForEach("n", items, func(context.Context, int) error { return over }, wavefold.OnError(wavefold.Skip)),
	} {
		r, err := wavefold.New("g", wavefold.Declare(items), part).Run(t.Context())
		if n, _ := r.Node("n"); err == nil || n.Status != core.Fail || n.Handled {
			t.Errorf("%s: %v, %s, handled %v", name, err, n.Status, n.Handled)
		}
	}
}

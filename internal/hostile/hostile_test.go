package hostile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// tools are Go functions that a document may name.
type tools map[string]any

// handle is the untyped signature of a tool.
type handle = func(context.Context, core.Input) (core.Result, error)

func engine(t testing.TB, fns tools) *wavefold.Engine {
	t.Helper()
	e := wavefold.NewEngine(std.Kinds()...)
	for name, fn := range fns {
		if err := e.AddTool(name, fn); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// compile reads a document as a file in a new folder.
func compile(t testing.TB, fns tools, text string, strict bool) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	return compileIn(t, t.TempDir(), fns, text, strict)
}

func compileIn(t testing.TB, dir string, fns tools, text string, strict bool) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	file := filepath.Join(dir, "flow.yaml")
	write(t, file, text)
	e := engine(t, fns)
	w, ds := e.Read(file)
	if ds.Failed(strict) {
		return nil, ds
	}
	p, more := e.Compile(w, strict)
	return p, append(ds, more...)
}

// must compiles a document that has to be valid.
func must(t testing.TB, fns tools, text string) *plan.Plan {
	t.Helper()
	return mustIn(t, t.TempDir(), fns, text)
}

func mustIn(t testing.TB, dir string, fns tools, text string) *plan.Plan {
	t.Helper()
	p, ds := compileIn(t, dir, fns, text, false)
	if p == nil {
		t.Fatalf("the document does not compile:\n%v", ds)
	}
	return p
}

// run runs a plan and fails the test if the run does not end, or leaves something behind.
func run(t testing.TB, ctx context.Context, p *plan.Plan, inputs map[string]any, o scheduler.Options) (*core.Report, error) {
	t.Helper()
	before := count(t)
	r, err := scheduler.Run(ctx, p, inputs, o)
	before.same(t)
	return r, err
}

// lines returns the findings, one per line, without the folder of the file.
func lines(ds source.Diagnostics) string {
	out := make([]string, len(ds))
	for i, d := range ds.Sorted() {
		d.Pos.File = filepath.Base(d.Pos.File)
		out[i] = d.Error()
	}
	return strings.Join(out, "\n")
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// resources counts the resources that a run may leave behind.
type resources struct{ goroutines, files int }

func count(t testing.TB) resources {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return resources{goroutines: runtime.NumGoroutine()}
	}
	return resources{runtime.NumGoroutine(), len(entries)}
}

// same fails the test if there are more goroutines or open files than before. Goroutines
// that are about to exit get some time.
func (before resources) same(t testing.TB) {
	t.Helper()
	var now resources
	for range 200 {
		if now = count(t); now.goroutines <= before.goroutines && now.files <= before.files {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files, before the run %d and %d\n%s",
		now.goroutines, now.files, before.goroutines, before.files, buf[:runtime.Stack(buf, true)])
}

// failure returns the failure of a node.
func failure(t testing.TB, r *core.Report, node string) *core.Failure {
	t.Helper()
	if r == nil {
		t.Fatal("there is no report")
	}
	n, ok := r.Node(node)
	if !ok || n.Failure == nil {
		t.Fatalf("node %s: %+v has no failure", node, n)
	}
	return n.Failure
}

func statuses(r *core.Report) string {
	var out []string
	for _, n := range r.Nodes() {
		out = append(out, n.ID+"="+n.Status.String())
	}
	return strings.Join(out, " ")
}

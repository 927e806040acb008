package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// lookupKind is a node kind defined by an embedding program.
type lookupKind struct{}

func (lookupKind) Name() string   { return "lookup" }
func (lookupKind) Keys() []string { return []string{"table"} }

func (lookupKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	var c struct {
		Table source.Text `wavefold:"table,required"`
	}
	ds := source.Decode(n.Config, &c)
	h := func(context.Context, core.Input) (core.Result, error) { return core.Write("found", c.Table.Value), nil }
	return core.Compiled{Handler: core.HandlerFunc(h)}, ds
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flow.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// noStore is an environment in which runs are not stored.
func noStore(name string) string {
	if name == "WAVEFOLD_STORE" {
		return "none"
	}
	return ""
}

func run(t *testing.T, e *wavefold.Engine, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Run(t.Context(), e, args, cli.Streams{Out: &out, Err: &err, Getenv: noStore})
	return code, out.String(), err.String()
}

// TestEmbedder checks that every command supports the kinds and functions of an embedding
// program.
func TestEmbedder(t *testing.T) {
	e := wavefold.NewEngine(lookupKind{})
	if err := e.AddTool("double", func(n int) int { return 2 * n }); err != nil {
		t.Fatal(err)
	}
	flow := write(t, `
name: own
state: {schema: {found: {type: string}, n: {type: integer, default: 21}, m: {type: integer}}}
graph:
  nodes:
    - {id: look, kind: lookup, table: prices, writes: [found]}
    - {id: twice, kind: tool, impl: double, args: {n: $.n}, writes: [m]}`)
	if code, out, err := run(t, e, "run", "-q", "--json", flow); code != 0 || !strings.Contains(out, `"found": "prices"`) || !strings.Contains(out, `"m": 42`) {
		t.Errorf("run: %d\n%s\n%s", code, out, err)
	}
	if code, out, _ := run(t, e, "schema"); code != 0 || !strings.Contains(out, `"table"`) {
		t.Errorf("the schema does not know the key: %d", code)
	}
	bad := write(t, "name: own\ngraph: {nodes: [{id: look, kind: lookup, tabel: x}]}")
	if code, _, err := run(t, e, "validate", bad); code != 2 || !strings.Contains(err, `did you mean "table"?`) {
		t.Errorf("validate: %d\n%s", code, err)
	}
}

// blocking is a tool that blocks until its context ends.
func blocking(started chan<- struct{}) core.HandlerFunc {
	return func(ctx context.Context, _ core.Input) (core.Result, error) {
		close(started)
		<-ctx.Done()
		return core.Result{}, ctx.Err()
	}
}

// TestCancel checks that the end of the context has the effect of an interrupt.
func TestCancel(t *testing.T) {
	started := make(chan struct{})
	e := wavefold.NewEngine()
	if err := e.AddTool("block", blocking(started)); err != nil {
		t.Fatal(err)
	}
	flow := write(t, "name: stuck\ngraph: {nodes: [{id: a, kind: tool, impl: block}]}")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	var out, err bytes.Buffer
	code := cli.Run(ctx, e, []string{"run", "-q", flow}, cli.Streams{Out: &out, Err: &err, Getenv: noStore})
	if code != 130 || !strings.Contains(out.String(), "stuck: cancelled") || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("%d\n%s\n%s", code, out.String(), err.String())
	}
}

// slow is a slow writer.
type slow struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write sleeps and then discards p.
func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(50 * time.Microsecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

// TestSlowReader checks that a log is complete at the end of a run, however slow its reader
// is.
func TestSlowReader(t *testing.T) {
	flow := write(t, `
name: many
state: {schema: {rows: {type: array}}}
graph: {nodes: [{id: each, kind: tool, impl: nothing, for_each: {source: $.rows}}]}`)
	e := wavefold.NewEngine()
	if err := e.AddTool("nothing", func() {}); err != nil {
		t.Fatal(err)
	}
	var out slow
	var err bytes.Buffer
	rows := "rows=[" + strings.Repeat("1,", 299) + "1]"
	code := cli.Run(t.Context(), e, []string{"run", "-q", "--input", rows, "--events", "-", flow}, cli.Streams{Out: &out, Err: &err, Getenv: noStore})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if code != 0 || len(lines) < 600 || !strings.Contains(lines[len(lines)-1], `"run.finished"`) {
		t.Errorf("%d, %d lines, the last is %s\n%s", code, len(lines), lines[len(lines)-1], err.String())
	}
}

// failing is a writer that always fails.
type failing struct{}

// Write returns an error.
func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestLostLog checks that a failure to write events does not stop the run and is reported.
func TestLostLog(t *testing.T) {
	flow := write(t, "name: x\ngraph: {nodes: [{id: a, kind: wait, duration: 1ms}]}")
	var err bytes.Buffer
	code := cli.Run(t.Context(), wavefold.NewEngine(), []string{"run", "--events", "-", flow}, cli.Streams{Out: failing{}, Err: &err, Getenv: noStore})
	if code != 1 || !strings.Contains(err.String(), "x: success") || !strings.Contains(err.String(), "wavefold: the output is not complete: file already closed") {
		t.Errorf("%d\n%s", code, err.String())
	}
}

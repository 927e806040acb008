package benchmarks

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/core"
)

// commandTable has commands whose work grows with the number of items of a run.
func commandTable() Table {
	const items, events = 100_000, 300_000 // an item that writes has three events
	return Table{ID: "commands", Unit: "item or event", Figures: []Figure{
		{
			Name: "run --events, 100,000 items that write",
			Subject: commandCase("wavefold", items, func(r *itemRun) func() {
				return func() { r.run("--events", filepath.Join(r.dir, "again.ndjson")) }
			}),
			Reference: commandCase("run -q", items, func(r *itemRun) func() { return func() { r.run() } }),
		},
		{
			Name: "why, 300,000 events",
			Subject: commandCase("wavefold", events, func(r *itemRun) func() {
				log := r.log()
				return func() { r.command("why", "--run", log) }
			}),
			Reference: commandCase("json.Unmarshal of each line", events, func(r *itemRun) func() {
				log := r.log()
				return func() { decodeLines(r.tb, log, events) }
			}),
		},
	}}
}

// commandCase is a case about a run of 100,000 items.
func commandCase(name string, units int, start func(r *itemRun) func()) Case {
	return Case{Name: name, Units: units, Start: func(tb testing.TB) func() {
		r := newItemRun(tb, 100_000)
		return start(r)
	}}
}

// itemRun is a workflow in a folder whose only node writes for each of its items.
type itemRun struct {
	tb     testing.TB
	engine *wavefold.Engine
	dir    string
}

func newItemRun(tb testing.TB, n int) *itemRun {
	r := &itemRun{tb, wavefold.NewEngine(), tb.TempDir()}
	addMake(tb, r.engine)
	rows, err := json.Marshal(map[string]any{"in": upTo(n)})
	if err != nil {
		tb.Fatal(err)
	}
	for name, data := range map[string][]byte{"rows.json": rows, "flow.yaml": []byte(`
name: items
state: {schema: {in: {type: array}, out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: n, kind: tool, impl: make, for_each: {source: $.in, concurrency: 8}, writes: [out]}
`)} {
		if err := os.WriteFile(filepath.Join(r.dir, name), data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

// addMake adds the tool make, which writes the item that it gets.
func addMake(tb testing.TB, e *wavefold.Engine) {
	tb.Helper()
	if err := e.Registry().AddTool("make", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		item, _ := in.Element()
		return core.Write("out", []any{item}), nil
	})); err != nil {
		tb.Fatal(err)
	}
}

// run runs the workflow without printing its result.
func (r *itemRun) run(flags ...string) {
	r.command(append([]string{"run", "-q", "--inputs", filepath.Join(r.dir, "rows.json"), filepath.Join(r.dir, "flow.yaml")}, flags...)...)
}

// log runs the workflow and returns the file with its events.
func (r *itemRun) log() string {
	file := filepath.Join(r.dir, "log.ndjson")
	r.run("--events", file)
	return file
}

// command runs a command of wavefold, which must succeed.
func (r *itemRun) command(args ...string) {
	var text strings.Builder
	if code := cli.Run(r.tb.Context(), r.engine, args, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &text, Getenv: func(string) string { return "none" }}); code != 0 {
		r.tb.Fatalf("exit code %d: %s", code, text.String())
	}
}

// decodeLines is the least that a reader of events does. The log has at least the given number of
// them.
func decodeLines(tb testing.TB, log string, events int) {
	f, err := os.Open(log)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20) // the last event has the state
	count, failed := 0, 0
	for ; lines.Scan(); count++ {
		var e core.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			tb.Fatal(err)
		}
		if e.Type == core.NodeFailed {
			failed++
		}
	}
	if lines.Err() != nil || failed > 0 || count < events {
		tb.Fatalf("%d nodes failed in %d events, want 0 in at least %d: %v", failed, count, events, lines.Err())
	}
}

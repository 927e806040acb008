package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
)

// BenchmarkLookBack has the commands that read a large workflow or look back on a run of it. Each reads
// everything again, as a process does.
func BenchmarkLookBack(b *testing.B) {
	for _, tt := range []struct {
		name  string
		nodes int
		args  func(run string) []string
	}{
		{"validate", 100_000, func(string) []string { return []string{"validate", "flow.yaml"} }},
		{"state", 100_000, func(run string) []string { return []string{"state", run, "--blame", "--json"} }},
		{"diff", 100_000, func(run string) []string { return []string{"diff", run, run} }},
		{"plan-only", 10_000, func(run string) []string { return []string{"replay", run, "--from", "n5000", "--plan-only"} }},
	} {
		b.Run(fmt.Sprintf("command=%s/nodes=%d", tt.name, tt.nodes), func(b *testing.B) {
			b.Chdir(b.TempDir())
			writeLayers(b, tt.nodes)
			wavefoldCommand(b, io.Discard, "run", "-q", "flow.yaml")
			var list bytes.Buffer
			wavefoldCommand(b, &list, "runs", "--json")
			args := tt.args(firstRun(b, list.Bytes()))
			b.ReportAllocs()
			for b.Loop() {
				wavefoldCommand(b, io.Discard, args...)
			}
		})
	}
}

// writeLayers writes flow.yaml, a workflow of layers of 100 nodes. Each node writes a field and follows one
// node of the layer before.
func writeLayers(tb testing.TB, nodes int) {
	const width = 100
	var text strings.Builder
	text.WriteString("name: large\nstate:\n  schema:\n")
	for i := range width {
		fmt.Fprintf(&text, "    f%d: {type: string}\n", i)
	}
	text.WriteString("graph:\n  nodes:\n")
	for i := range nodes {
		fmt.Fprintf(&text, "    - {id: n%d, kind: template, text: \"v\", writes: [f%d]}\n", i, i%width)
	}
	text.WriteString("  edges:\n")
	for i := width; i < nodes; i++ {
		fmt.Fprintf(&text, "    - {from: n%d, to: n%d}\n", i-width, i)
	}
	if err := os.WriteFile("flow.yaml", []byte(text.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// wavefoldCommand runs a command with the standard kinds, which must succeed.
func wavefoldCommand(tb testing.TB, out io.Writer, args ...string) {
	tb.Helper()
	var text strings.Builder
	if code := cli.Run(context.Background(), wavefold.NewEngine(std.Kinds()...), args, cli.Streams{In: strings.NewReader(""), Out: out, Err: &text, Getenv: func(string) string { return "" }}); code != 0 {
		tb.Fatalf("%s: exit code %d: %s", args, code, text.String())
	}
}

// firstRun returns the id of the first run of the list that runs --json prints.
func firstRun(tb testing.TB, list []byte) string {
	var runs []struct{ Run string }
	if err := json.Unmarshal(list, &runs); err != nil || len(runs) == 0 {
		tb.Fatalf("%s: %v", list, err)
	}
	return runs[0].Run
}

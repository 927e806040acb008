package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/history"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store/file"
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

// BenchmarkLookBackGraph looks back on runs of a graph that was built in Go: no document is read again.
func BenchmarkLookBackGraph(b *testing.B) {
	const nodes, width = 100_000, 100
	f := intFields(width)
	parts := make([]wavefold.Part, nodes)
	for i := range parts {
		parts[i] = wavefold.Map(NodeName(i), f[i%width], f[i%width], increment)
		if i >= width {
			parts[i] = wavefold.Map(NodeName(i), f[i%width], f[i%width], increment, wavefold.After(NodeName(i-width)))
		}
	}
	g, ctx := wavefold.New("layers", parts...), context.Background()
	s, err := file.Open(filepath.Join(b.TempDir(), "store"), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	inputs := []wavefold.RunOption{wavefold.WithStore(s), wavefold.WithConcurrency(8), wavefold.WithDurability(wavefold.Batch)}
	for i := range f {
		inputs = append(inputs, f[i].Is(i))
	}
	var runs [2]string
	for i := range runs {
		r, err := g.Start(ctx, inputs...)
		if err == nil {
			_, err = r.Wait()
		}
		if err != nil {
			b.Fatal(err)
		}
		runs[i] = r.ID()
	}
	p, err := g.Plan()
	if err != nil {
		b.Fatal(err)
	}
	compile := func(*journal.Head) (*plan.Plan, error) { return p, nil }
	b.Run("blame", func(b *testing.B) {
		for b.Loop() {
			h, err := g.History(ctx, s, runs[0], "")
			if err != nil {
				b.Fatal(err)
			}
			if list, err := h.State().Blame(""); err != nil || len(list) != width {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			d, err := history.Compare(ctx, history.Side{Store: s, Run: runs[0], Compile: compile}, history.Side{Store: s, Run: runs[1], Compile: compile})
			if err != nil || !d.Equal() {
				b.Fatal(d, err)
			}
		}
	})
	b.Run("plan-only", func(b *testing.B) {
		for b.Loop() {
			st, err := scheduler.ReadStored(ctx, s, runs[0])
			if err != nil {
				b.Fatal(err)
			}
			if f, err := scheduler.Preview(ctx, st, p, scheduler.Fork{From: NodeName(nodes / 2)}, scheduler.Options{}); err != nil || len(f.Steps) != nodes {
				b.Fatal(err)
			}
		}
	})
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

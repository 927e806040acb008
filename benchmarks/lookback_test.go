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

// lookBackTable has what looks back on a stored run. Commands read the document and the journal again, as a process
// does; a graph that was built in Go is there already.
func lookBackTable() Table {
	const many, some = 100_000, 10_000
	blame, diff := []string{"state", "RUN", "--blame", "--json"}, []string{"diff", "RUN", "RUN"}
	replay := []string{"replay", "RUN", "--from", NodeName(some / 2), "--plan-only"}
	return Table{ID: "lookback", Unit: "node or item", Figures: []Figure{
		{Name: "state --blame, 100,000 items", Subject: lookBackCase("wavefold", many, writeFanOut, blame)},
		{Name: "diff, 100,000 items", Subject: lookBackCase("wavefold", many, writeFanOut, diff)},
		{Name: "blame, 100,000 nodes in Go", Subject: storedGraphCase(many, (*graphRuns).blame), Slow: true},
		{Name: "diff, 100,000 nodes in Go", Subject: storedGraphCase(many, (*graphRuns).diff), Slow: true},
		{Name: "state --blame, 100,000 nodes in YAML", Subject: lookBackCase("wavefold", many, writeLayers, blame), Reference: validateCase(many), Slow: true},
		{Name: "diff, 100,000 nodes in YAML", Subject: lookBackCase("wavefold", many, writeLayers, diff), Reference: validateCase(many), Slow: true},
		{Name: "what a replay would do, 10,000 nodes in Go", Subject: storedGraphCase(some, (*graphRuns).preview)},
		{Name: "replay --plan-only, 10,000 nodes in YAML", Subject: lookBackCase("wavefold", some, writeLayers, replay), Reference: validateCase(some)},
	}}
}

// validateCase reads the document only.
func validateCase(nodes int) Case {
	return lookBackCase("validate", nodes, writeLayers, []string{"validate", "FLOW"})
}

// lookBackCase measures a command on a stored run of a document. In args, RUN is replaced by the id of the run, and
// FLOW by the file of the document.
func lookBackCase(title string, units int, write func(tb testing.TB, dir string, units int), args []string) Case {
	return Case{Name: title, Units: units, Start: func(tb testing.TB) func() {
		dir := tb.TempDir()
		write(tb, dir, units)
		flow, at := filepath.Join(dir, "flow.yaml"), "--store=file:"+filepath.Join(dir, "store")
		line := strings.NewReplacer("FLOW", flow)
		if args[1] == "RUN" {
			wavefoldCommand(tb, io.Discard, "run", "-q", flow, at)
			var list bytes.Buffer
			wavefoldCommand(tb, &list, "runs", "--json", at)
			line = strings.NewReplacer("RUN", firstRun(tb, list.Bytes()))
			args = append(args[:len(args):len(args)], at)
		}
		words := make([]string, len(args))
		for i, w := range args {
			words[i] = line.Replace(w)
		}
		return func() { wavefoldCommand(tb, io.Discard, words...) }
	}}
}

// writeLayers writes flow.yaml, a workflow of layers of 100 nodes. Each node writes a field and follows one
// node of the layer before.
func writeLayers(tb testing.TB, dir string, nodes int) {
	const width = 100
	var text strings.Builder
	text.WriteString("name: large\nstate:\n  schema:\n")
	for i := range width {
		fmt.Fprintf(&text, "    f%d: {type: string}\n", i)
	}
	text.WriteString("graph:\n  nodes:\n")
	for i := range nodes {
		fmt.Fprintf(&text, "    - {id: %s, kind: template, text: \"v\", writes: [f%d]}\n", NodeName(i), i%width)
	}
	text.WriteString("  edges:\n")
	for i := width; i < nodes; i++ {
		fmt.Fprintf(&text, "    - {from: %s, to: %s}\n", NodeName(i-width), NodeName(i))
	}
	writeFlow(tb, dir, text.String())
}

// writeFanOut writes flow.yaml, a workflow whose node writes for each of its items.
func writeFanOut(tb testing.TB, dir string, items int) {
	in, err := json.Marshal(upTo(items))
	if err != nil {
		tb.Fatal(err)
	}
	writeFlow(tb, dir, fmt.Sprintf(`
name: items
state: {schema: {in: {type: array, default: %s}, out: {type: array, merge: array_append}}}
graph:
  nodes:
    - {id: n, kind: tool, impl: make, for_each: {source: $.in, concurrency: 8}, writes: [out]}
`, in))
}

func writeFlow(tb testing.TB, dir, text string) {
	if err := os.WriteFile(filepath.Join(dir, "flow.yaml"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// wavefoldCommand runs a command with the standard kinds and the tool make, which must succeed.
func wavefoldCommand(tb testing.TB, out io.Writer, args ...string) {
	tb.Helper()
	engine := wavefold.NewEngine(std.Kinds()...)
	addMake(tb, engine)
	var text strings.Builder
	if code := cli.Run(tb.Context(), engine, args, cli.Streams{In: strings.NewReader(""), Out: out, Err: &text, Getenv: func(string) string { return "" }}); code != 0 {
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

// graphRuns are two runs of layers of 100 nodes that were built in Go.
type graphRuns struct {
	graph *wavefold.Graph
	plan  *plan.Plan
	store *file.Store
	runs  [2]string
	nodes int
}

// storedGraphCase looks back on runs of a graph.
func storedGraphCase(nodes int, look func(g *graphRuns, ctx context.Context) error) Case {
	return Case{Name: "wavefold", Units: nodes, Start: func(tb testing.TB) func() {
		g := newGraphRuns(tb, nodes)
		return func() {
			if err := look(g, tb.Context()); err != nil {
				tb.Fatal(err)
			}
		}
	}}
}

func newGraphRuns(tb testing.TB, nodes int) *graphRuns {
	const width = 100
	f := intFields(width)
	parts := make([]wavefold.Part, nodes)
	for i := range parts {
		parts[i] = wavefold.Map(NodeName(i), f[i%width], f[i%width], increment)
		if i >= width {
			parts[i] = wavefold.Map(NodeName(i), f[i%width], f[i%width], increment, wavefold.After(NodeName(i-width)))
		}
	}
	g := &graphRuns{graph: wavefold.New("layers", parts...), nodes: nodes}
	s, err := file.Open(filepath.Join(tb.TempDir(), "store"), file.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	g.store = s
	options := []wavefold.RunOption{wavefold.WithStore(s), wavefold.WithConcurrency(8), wavefold.WithDurability(wavefold.Batch)}
	for i := range f {
		options = append(options, f[i].Is(i))
	}
	for i := range g.runs {
		r, err := g.graph.Start(tb.Context(), options...)
		if err == nil {
			_, err = r.Wait()
		}
		if err != nil {
			tb.Fatal(err)
		}
		g.runs[i] = r.ID()
	}
	if g.plan, err = g.graph.Plan(); err != nil {
		tb.Fatal(err)
	}
	return g
}

func (g *graphRuns) blame(ctx context.Context) error {
	h, err := g.graph.History(ctx, g.store, g.runs[0], "")
	if err != nil {
		return err
	}
	list, err := h.State().Blame("")
	if err == nil && len(list) != 100 {
		err = fmt.Errorf("%d fields", len(list))
	}
	return err
}

func (g *graphRuns) diff(ctx context.Context) error {
	compile := func(*journal.Head) (*plan.Plan, error) { return g.plan, nil }
	side := func(i int) history.Side { return history.Side{Store: g.store, Run: g.runs[i], Compile: compile} }
	d, err := history.Compare(ctx, side(0), side(1))
	if err == nil && !d.Equal() {
		err = fmt.Errorf("the runs differ: %v", d)
	}
	return err
}

func (g *graphRuns) preview(ctx context.Context) error {
	s, err := scheduler.ReadStored(ctx, g.store, g.runs[0])
	if err != nil {
		return err
	}
	f, err := scheduler.Preview(ctx, s, g.plan, scheduler.Fork{From: NodeName(g.nodes / 2)}, scheduler.Options{})
	if err == nil && len(f.Steps) != g.nodes {
		err = fmt.Errorf("%d steps", len(f.Steps))
	}
	return err
}

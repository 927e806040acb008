package sweny_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/sweny"
	"github.com/wavefold/wavefold/nodes/route"
	"github.com/wavefold/wavefold/scheduler"
)

// agents replaces the kind agent. Its nodes return what their configuration says they
// were given.
type agents struct{}

func (agents) Name() string   { return "agent" }
func (agents) Keys() []string { return []string{"instruction"} }

func (agents) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	var before []source.Text
	if list := n.Config.Get("context_nodes"); list != nil {
		for _, v := range list.Items {
			before = append(before, source.At(v.Scalar.(string), v.Pos))
		}
	}
	return core.Compiled{Nodes: before, Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		var saw []any
		for _, id := range before {
			if status, _, ok := in.Shared().Nodes(id.Value); ok && status == core.Success {
				saw = append(saw, id.Value)
			}
		}
		return core.Result{EdgeOutput: value.ObjectOf("saw", saw, "hidden", true)}, nil
	})}, nil
}

// chooser answers with the target it has for a node, and records the requests.
type chooser struct {
	targets  map[string]string
	mu       sync.Mutex
	requests []string
}

func (c *chooser) Route(_ context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
	var choices []string
	choice := core.NoRoute
	for i, o := range q.Choices {
		choices = append(choices, o.Target+":"+o.When)
		if o.Target == c.targets[q.Node] {
			choice = i
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, fmt.Sprintf("%s[%s] fallback %d, shown %s", q.Node, strings.Join(choices, " "), q.Fallback, value.JSON(q.View)))
	return core.RouteAnswer{Choice: choice}, nil
}

func runParallel(t *testing.T, doc string, c *chooser, inputs map[string]any) *core.Report {
	t.Helper()
	w, ds := sweny.Parse("a.yml", []byte(doc), sweny.Options{})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := wavefold.NewEngine(agents{}, route.Kind).Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	if p.Concurrency < 2 {
		t.Errorf("runs %d nodes at a time", p.Concurrency)
	}
	r, err := scheduler.Run(t.Context(), p, inputs, scheduler.Options{Router: c})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ran returns the nodes of the document that ran, with the results they were given.
func ran(r *core.Report) string {
	var out []string
	for _, n := range r.Nodes() {
		if o, ok := n.Output.(*value.Object); ok && n.Status == core.Success {
			saw, _ := o.Get("saw")
			out = append(out, fmt.Sprintf("%s%s", n.ID, value.JSON(saw)))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

const fanOut = `
id: guard
name: Guard
parallel: true
entry: check-migrations
nodes:
  check-migrations: {name: M, instruction: I.}
  check-env: {name: E, instruction: I.}
  check-rollback: {name: R, instruction: I.}
  report: {name: Report, instruction: I.}
edges:
  - {from: check-migrations, to: check-env}
  - {from: check-migrations, to: check-rollback}
  - {from: check-env, to: report}
  - {from: check-rollback, to: report}
`

func TestParallelFanOut(t *testing.T) {
	c := &chooser{}
	got := ran(runParallel(t, fanOut, c, nil))
	want := `check-env["check-migrations"] check-migrations[] check-rollback["check-migrations"] report["check-migrations","check-env","check-rollback"]`
	if got != want || c.requests != nil {
		t.Errorf("got  %s\nwant %s\nasked %q", got, want, c.requests)
	}
}

// mixed has plain and conditional edges out of one node, and nodes with several
// conditional incoming edges.
const mixed = `
id: pipeline
name: Pipeline
entry: health
parallel: true
model: large
nodes:
  health: {name: Health, instruction: I., output: {type: object, properties: {saw: {}, status: {}}}}
  drift: {name: Drift, instruction: I.}
  quality: {name: Quality, instruction: I.}
  report: {name: Report, instruction: I.}
  investigate: {name: Investigate, instruction: I.}
  escalate: {name: Escalate, instruction: I.}
edges:
  - {from: health, to: drift}
  - {from: health, to: quality}
  - {from: drift, to: report, when: no drift}
  - {from: drift, to: investigate, when: drift}
  - {from: quality, to: report, when: good}
  - {from: quality, to: investigate, when: bad}
  - {from: health, to: report, when: healthy}
  - {from: health, to: investigate, when: sick}
  - {from: investigate, to: report, when: minor}
  - {from: investigate, to: escalate, when: critical}
`

func TestParallelRouted(t *testing.T) {
	tests := []struct {
		name    string
		targets map[string]string
		want    string
		asked   int
	}{
		{"all is well", map[string]string{"health": "report", "drift": "report", "quality": "report"},
			`drift["health"] health[] quality["health"] report["health","drift","quality"]`, 3},
		// A join runs even if only some of its edges were chosen. report sees the nodes
		// before it.
		{"one branch finds something", map[string]string{"health": "report", "drift": "investigate", "quality": "report", "investigate": "escalate"},
			`drift["health"] escalate["health","drift","quality","investigate"] health[] investigate["health","drift","quality"] quality["health"] report["health","drift","quality","investigate"]`, 4},
		{"nothing fits", nil, `drift["health"] health[] quality["health"]`, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &chooser{targets: tt.targets}
			if got := ran(runParallel(t, mixed, c, nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if len(c.requests) != tt.asked {
				t.Errorf("asked %d times, want %d: %q", len(c.requests), tt.asked, c.requests)
			}
		})
	}
	c := &chooser{}
	runParallel(t, mixed, c, nil)
	if want := `drift[report:no drift investigate:drift] fallback -1, shown {"health":{"saw":[],"status":null},"drift":{"saw":["health"],"hidden":true}}`; !slices.Contains(c.requests, want) {
		t.Errorf("asked %q\nwant  %q", c.requests, want)
	}
	c = &chooser{}
	if got := ran(runParallel(t, mixed, c, map[string]any{"dryRun": true})); got != `drift["health"] health[] quality["health"]` || c.requests != nil {
		t.Errorf("dry run: %s, asked %q", got, c.requests)
	}
}

// TestParallelFallback checks that one unconditional edge among conditional ones is the
// fallback, as in a walk, and that two edges to the same node are distinguished.
func TestParallelFallback(t *testing.T) {
	const doc = `
id: a
name: A
entry: a
parallel: true
nodes: {a: {name: A, instruction: I.}, b: {name: B, instruction: I.}, c: {name: C, instruction: I.}}
edges:
  - {from: a, to: b}
  - {from: a, to: c, when: green}
  - {from: a, to: c, when: hopeless}
`
	c := &chooser{}
	if got := ran(runParallel(t, doc, c, nil)); got != `a[] b["a"]` {
		t.Errorf("none fits: %s", got)
	}
	if want := []string{`a[c:green c:hopeless b:] fallback 2, shown {"a":{"saw":[],"hidden":true}}`}; !slices.Equal(c.requests, want) {
		t.Errorf("asked %q, want %q", c.requests, want)
	}
	if got := ran(runParallel(t, doc, &chooser{targets: map[string]string{"a": "c"}}, nil)); got != `a[] c["a"]` {
		t.Errorf("the last twin: %s", got)
	}
	// Edge labels contain the conditions in their source form.
	w, _ := sweny.Parse("a.yml", []byte(doc), sweny.Options{})
	p, ds := wavefold.NewEngine(agents{}, route.Kind).Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	var labels []string
	for _, e := range p.Describe().Edges {
		if e.Label != "" {
			labels = append(labels, e.Label)
		}
	}
	if want := []string{"green", "hopeless", "none of the others"}; !slices.Equal(labels, want) {
		t.Errorf("labels %q, want %q", labels, want)
	}
}

func TestParallelLimit(t *testing.T) {
	var nodes strings.Builder
	for i := range 501 {
		fmt.Fprintf(&nodes, "  n%d: {name: N, instruction: I.}\n", i)
	}
	_, ds := sweny.Parse("", []byte("id: a\nname: A\nparallel: true\nentry: n0\nedges: []\nnodes:\n"+nodes.String()), sweny.Options{})
	if len(ds) != 1 || ds[0].Code != source.CodeLimit {
		t.Errorf("got %v", ds)
	}
}

func TestParallelFindings(t *testing.T) {
	tests := []struct{ name, nodes, entry, edges, want string }{
		{"ring", "a b", "a", "{from: a, to: b}, {from: b, to: a, when: again, max_iterations: 3}",
			`7:9 UNBOUNDED_CYCLE with parallel each node runs once, so the ring a -> b -> a cannot be run, whatever its bounds (run the document without parallel, or remove the edge back)`},
		{"self-loop", "a", "a", "{from: a, to: a, max_iterations: 3}",
			`7:9 UNBOUNDED_CYCLE with parallel each node runs once, so the ring a -> a cannot be run, whatever its bounds (run the document without parallel, or remove the edge back)`},
		{"entry and ends", "gather report", "gathr", "{from: gather, to: repot}, {from: gater, to: report, when: x}",
			"4:8 MISSING_ENTRY entry: there is no node \"gathr\" (did you mean \"gather\"?)\n" +
				"7:28 UNKNOWN_EDGE_TARGET edge gather -> repot: to: there is no node \"repot\" (did you mean \"report\"?)\n" +
				`7:43 UNKNOWN_EDGE_SOURCE edge gater -> report: from: there is no node "gater" (did you mean "gather"?)`},
		{"unreachable", "a b", "a", "",
			`6:40 UNREACHABLE_NODE node b: no way leads to it from the entry a (add an edge that leads to it, or remove it)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var nodes []string
			for _, id := range strings.Fields(tt.nodes) {
				nodes = append(nodes, id+": {name: N, instruction: I.}")
			}
			doc := fmt.Sprintf("id: a\nname: A\nparallel: true\nentry: %s\n\nnodes: {%s}\nedges: [%s]\n", tt.entry, strings.Join(nodes, ", "), tt.edges)
			w, _ := sweny.Parse("", []byte(doc), sweny.Options{})
			_, ds := wavefold.NewEngine(agents{}, route.Kind).Compile(w, false)
			var got []string
			for _, d := range ds {
				hint := ""
				if d.Hint != "" {
					hint = " (" + d.Hint + ")"
				}
				got = append(got, fmt.Sprintf("%d:%d %s %s%s", d.Pos.Line, d.Pos.Column, d.Code, d.Message, hint))
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", doc, strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

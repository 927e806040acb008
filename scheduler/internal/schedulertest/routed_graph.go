package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// RoutedGraph is a walk whose edges a model picks, together with the behaviour of its nodes
// and of the model, as plain data like [Graph].
type RoutedGraph struct {
	Seed   uint64
	Nodes  []*RoutedNode // the first one is the entry
	Edges  []*RoutedEdge
	DryRun bool
	Steps  int // the limit of visits, 0 for the default
}

// RoutedNode is a node and its behaviour: chances in percent, drawn from a digest of what a
// visit sees.
type RoutedNode struct {
	ID                      string
	Shown                   []string // nil for everything
	Attempts                int
	Fail, Again, Skip, Evil int // Evil sends a value that is not an object
	Evals, Silent, Fatal    int
}

// RoutedEdge is an edge between two nodes; Max 0 means no limit.
type RoutedEdge struct {
	From, To, When string
	Max            int
}

// String formats the graph.
func (g *RoutedGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d dry run %t steps %d\n", g.Seed, g.DryRun, g.Steps)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %+v\n", *n)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s when %q max %d\n", e.From, e.To, e.When, e.Max)
	}
	return b.String()
}

// GenerateRouted returns the graph of a seed. It always compiles.
func GenerateRouted(seed uint64) *RoutedGraph {
	rng := rand.New(rand.NewPCG(seed, 0x726f757465))
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	g := &RoutedGraph{Seed: seed, DryRun: chance(10)}
	if chance(40) {
		g.Steps = 1 + rng.IntN(9)
	}
	plain := map[string]bool{}
	edge := func(from, to int, bounded bool) {
		e := &RoutedEdge{From: g.Nodes[from].ID, To: g.Nodes[to].ID}
		if plain[e.From] || chance(65) {
			e.When = fmt.Sprintf("condition %d", len(g.Edges))
		} else {
			plain[e.From] = true
		}
		if bounded || chance(15) {
			e.Max = 1 + rng.IntN(3)
		}
		g.Edges = append(g.Edges, e)
	}
	for i := range 2 + rng.IntN(7) {
		n := &RoutedNode{ID: fmt.Sprintf("n-%d", i), Attempts: 1}
		switch rng.IntN(4) {
		case 0:
			n.Shown = []string{"x"}
		case 1:
			n.Shown = []string{"y", "gone", "x"}
		}
		if chance(30) {
			n.Attempts = 2 + rng.IntN(2)
			n.Again = 40
		}
		n.Fail, n.Skip, n.Evals, n.Silent, n.Evil = 15*rng.IntN(2), 10*rng.IntN(2), 30*rng.IntN(2), 10*rng.IntN(2), 10*rng.IntN(2)
		if chance(5) {
			n.Fatal = 30
		}
		g.Nodes = append(g.Nodes, n)
		if i > 0 {
			edge(rng.IntN(i), i, false)
		}
	}
	for range rng.IntN(8) {
		from, to := rng.IntN(len(g.Nodes)), rng.IntN(len(g.Nodes))
		edge(from, to, to <= from)
	}
	rng.Shuffle(len(g.Edges), func(i, j int) { g.Edges[i], g.Edges[j] = g.Edges[j], g.Edges[i] })
	return g
}

// Workflow returns the graph as a workflow with its handlers.
func (g *RoutedGraph) Workflow() *core.Workflow {
	w := &core.Workflow{Name: text("routed"), Mode: core.ModeWalk, OpenInputs: true,
		Walk: &core.Walk{Router: text(core.RouterModel), Entry: text(g.Nodes[0].ID), MaxSteps: number(g.Steps)}}
	for _, n := range g.Nodes {
		out := &core.Node{ID: text(n.ID), Kind: text("stage"), Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			c, _ := in.Shared().View.Get(core.ContextField)
			o, _ := c.(*value.Object)
			return g.act(n, in.Visit(), in.Attempt(), sortedJSON(o), in.Previous())
		})}
		if n.Shown != nil {
			out.ViewMembers = texts(n.Shown)
		}
		if n.Attempts > 1 {
			out.OnError = &core.OnError{Policy: text("retry"), Attempts: number(n.Attempts), RetryOn: text("transient")}
		}
		w.Nodes = append(w.Nodes, out)
	}
	for _, e := range g.Edges {
		edge := &core.Edge{From: text(e.From), To: text(e.To), MaxIterations: number(e.Max)}
		if e.When != "" {
			edge.When = &source.Text{Value: e.When}
		}
		w.Edges = append(w.Edges, edge)
	}
	return w
}

// Inputs returns the inputs of its runs.
func (g *RoutedGraph) Inputs() map[string]any {
	if g.DryRun {
		return map[string]any{core.InputDryRun: true}
	}
	return map[string]any{core.InputDryRun: "true", "issue": int64(g.Seed % 7)}
}

var errFatal = errors.New("nothing works any more")

// act returns the result of an attempt.
func (g *RoutedGraph) act(n *RoutedNode, visit, attempt int, saw, previous string) (core.Result, error) {
	h := digest(g.Seed, n.ID, fmt.Sprint(visit, attempt), saw, previous)
	var r core.Result
	sent := value.NewObject(4)
	for _, name := range []string{"x", "y", "z", core.EvalsKey} {
		if chance(draw(h, name), 55) {
			sent.Set(name, int64(draw(h, "value "+name)%5))
		}
	}
	if !chance(draw(h, "silent"), n.Silent) {
		r = core.Send(sent)
		if chance(draw(h, "evil"), n.Evil) {
			r = core.Send("only a text")
		}
	}
	if chance(draw(h, "evals"), n.Evals) {
		r.Routing = &core.Routing{Evals: value.ObjectOf("check", value.ObjectOf("pass", h%2 == 0))}
	}
	roll := int(draw(h, "end") % 100)
	up := func(percent int) bool { roll -= percent; return roll < 0 }
	switch {
	case up(n.Fatal):
		return r, core.FailRun(errFatal)
	case up(n.Again):
		r.Status, r.Note = core.Retry, fmt.Sprintf("again %d", h%9)
	case up(n.Fail):
		r.Status, r.Note = core.Fail, "no"
	case up(n.Skip):
		r.Status = core.Skipped
	}
	return r, nil
}

// answer returns the answer of the model.
func (g *RoutedGraph) answer(node string, visit int, view string, choices []core.RouteChoice) (core.RouteAnswer, error) {
	h := digest(g.Seed, node, fmt.Sprint(visit), view, fmt.Sprint(choices))
	a := core.RouteAnswer{Choice: int(draw(h, "choice")%uint64(len(choices)+2)) - 1, Raw: "so be it"}
	switch draw(h, "manner") % 40 {
	case 0:
		return a, errors.New("no answer")
	case 1, 2:
		a.Unusable, a.Choice = true, core.NoRoute
	}
	return a, nil
}

// Route answers as the graph specifies.
func (g *RoutedGraph) Route(_ context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
	failed := slices.Clone(q.Failed)
	slices.Sort(failed)
	return g.answer(q.Node, q.Visit, sortedJSON(q.View)+fmt.Sprint(failed, q.Fallback), q.Choices)
}

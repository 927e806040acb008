package benchmarks

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/builder"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// walkTable has walks and flows whose nodes do nothing, against a walk by outcomes, and what they depend on.
func walkTable() Table {
	const visits = 1000
	outcomes := walkCase("a walk by outcomes", visits, func(n int) *core.Workflow { return lineWalk(core.RouterOutcomes, n) })
	t := Table{ID: "walks", Unit: "visit or node", Figures: []Figure{
		{Name: "a walk by steps, 1,000 visits", Subject: walkCase("wavefold", visits, func(n int) *core.Workflow { return lineWalk(core.RouterSteps, n) }), Reference: outcomes},
		{Name: "a flow of 2 agents, 1,000 arrivals", Subject: ringFlow(visits), Reference: outcomes},
		{Name: "a flow of 1,000 agents, 1,000 arrivals", Subject: walkCase("wavefold", visits, lineFlow), Reference: outcomes},
		{Name: "10,000 walks by steps at once, 3 visits each", Subject: manyWalks(10_000, 3)},
	}}
	small := resolveCase(10)
	small.Name = "10 nodes"
	for _, n := range []int{1000, 100_000} {
		t.Figures = append(t.Figures, Figure{Name: fmt.Sprintf("the decision of a walk by steps alone, %s nodes", thousands(n)), Subject: resolveCase(n), Reference: small})
	}
	t.Figures = append(t.Figures, Figure{Name: "a builder document of 100,000 nodes, read and checked", Subject: builderCase(100_000)})
	return t
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// rolePlayer is a kind of nodes with a role in walks.
type rolePlayer struct{ role core.Role }

func (k rolePlayer) Name() string   { return k.role.String() }
func (k rolePlayer) Keys() []string { return nil }
func (k rolePlayer) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Role: k.role}, nil
}

func name(s string) source.Text { return source.Text{Value: s} }

// line adds a chain of n nodes that do nothing.
func line(w *core.Workflow, n int) *core.Workflow {
	handler := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	for i := range n {
		w.Nodes = append(w.Nodes, &core.Node{ID: name(NodeName(i)), Handler: handler, Flow: flowRole(w)})
		if i > 0 {
			w.Edges = append(w.Edges, &core.Edge{From: name(NodeName(i - 1)), To: name(NodeName(i))})
		}
	}
	return w
}

// flowRole returns what a node that does nothing is in a flow, nil in a walk.
func flowRole(w *core.Workflow) *core.FlowNode {
	if w.Mode == core.ModeFlow {
		return &core.FlowNode{}
	}
	return nil
}

// lineWalk is a walk of n visits.
func lineWalk(router string, n int) *core.Workflow {
	w := line(&core.Workflow{Name: name("walk"), Mode: core.ModeWalk,
		Walk: &core.Walk{Router: name(router), Entry: name(NodeName(0)), MaxSteps: &source.Int{Value: n + 2}}}, n)
	if router == core.RouterOutcomes {
		w.Walk.Entry = source.Text{}
		w.Nodes = append(w.Nodes, &core.Node{ID: name("start"), Kind: name("start")}, &core.Node{ID: name("exit"), Kind: name("exit")})
		w.Edges = append(w.Edges, &core.Edge{From: name("start"), To: name(NodeName(0))}, &core.Edge{From: name(NodeName(n - 1)), To: name("exit")})
	}
	return w
}

// lineFlow is a flow with n arrivals after the start.
func lineFlow(n int) *core.Workflow {
	w := line(&core.Workflow{Name: name("flow"), Mode: core.ModeFlow, Flow: &core.Flow{MaxArrivals: &source.Int{Value: n + 1}}}, n)
	w.Nodes = append(w.Nodes, &core.Node{ID: name("start"), Flow: &core.FlowNode{Role: core.FlowStart, Output: "x"}})
	w.Edges = append(w.Edges, &core.Edge{From: name("start"), To: name(NodeName(0))})
	return w
}

func compileWalk(tb testing.TB, w *core.Workflow) *plan.Plan {
	tb.Helper()
	p, ds := plan.Compile(w, core.NewRegistry(rolePlayer{core.RoleStart}, rolePlayer{core.RoleExit}), plan.Options{})
	if p == nil {
		tb.Fatal(ds)
	}
	return p
}

// walkCase runs a walk or a flow of n visits.
func walkCase(title string, n int, make func(n int) *core.Workflow) Case {
	return Case{Name: title, Units: n, Start: func(tb testing.TB) func() {
		p := compileWalk(tb, make(n))
		return func() {
			r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1})
			if err != nil || len(r.Path) < n {
				tb.Fatalf("%d visits, %v", len(r.Path), err)
			}
		}
	}}
}

// ringFlow runs a flow that goes around between two agents, until the limit of its arrivals ends it.
func ringFlow(n int) Case {
	return Case{Name: "wavefold", Units: n, Start: func(tb testing.TB) func() {
		w := lineFlow(2)
		w.Flow.MaxArrivals = &source.Int{Value: n}
		w.Edges = append(w.Edges, &core.Edge{From: name(NodeName(1)), To: name(NodeName(0))})
		p := compileWalk(tb, w)
		return func() {
			if r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1}); err == nil || len(r.Path) != n {
				tb.Fatalf("%d arrivals, %v", len(r.Path), err)
			}
		}
	}}
}

// manyWalks runs walks of a few visits at once.
func manyWalks(walks, visits int) Case {
	return Case{Name: "wavefold", Units: walks * visits, Start: func(tb testing.TB) func() {
		p := compileWalk(tb, lineWalk(core.RouterSteps, visits))
		return func() {
			var wg sync.WaitGroup
			for range walks {
				wg.Go(func() {
					if r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1}); err != nil || len(r.Path) != visits {
						tb.Error(err)
					}
				})
			}
			wg.Wait()
		}
	}}
}

// ring is a graph of n nodes, each of which leads to the next one by its second edge.
type ring struct {
	nodes []steps.Node
	index map[string]int32
}

func newRing(n int) *ring {
	r := &ring{nodes: make([]steps.Node, n), index: make(map[string]int32, n)}
	for i := range r.nodes {
		at := int32(i)
		r.index[NodeName(i)] = at
		r.nodes[i] = steps.Node{Index: at, Edges: []steps.Edge{{Index: 2 * at, To: steps.ToEnd, Test: steps.Output, Key: "ok", Value: true},
			{Index: 2*at + 1, To: (at + 1) % int32(n)}}}
		steps.Sort(r.nodes[i].Edges)
	}
	return r
}

func (r *ring) Lookup(name string) (int32, bool) { i, ok := r.index[name]; return i, ok }
func (r *ring) Holds(int32) bool                 { return false }

// resolveCase makes decisions in a graph of n nodes.
func resolveCase(n int) Case {
	const decisions = 10_000
	return Case{Name: "wavefold", Units: decisions, Start: func(tb testing.TB) func() {
		g := newRing(n)
		result := steps.Result{Output: value.ObjectOf("ok", false)}
		return func() {
			for range decisions {
				if c := steps.Resolve(g, &g.nodes[n/2], &result); c.Step != steps.Edges {
					tb.Fatal(c.Step)
				}
			}
		}
	}}
}

// builderCase reads and checks the document of a visual builder with n agents.
func builderCase(n int) Case {
	return Case{Name: "wavefold", Units: n, Start: func(tb testing.TB) func() {
		data := builderDocument(n)
		return func() {
			if w, ds := builder.Parse("graph.json", data); ds != nil || builder.Preflight(w) != nil {
				tb.Fatal(ds)
			}
		}
	}}
}

func builderDocument(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"nodes":[{"id":"start","type":"start"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"id":%q,"type":"agent","x":%d,"y":20,"data":{"agentName":"Agent %d","userPrompt":"{{PREVIOUS_OUTPUT}}","model":"gpt-5","tools":{"web_search":false}}}`, NodeName(i), i*10, i)
	}
	fmt.Fprintf(&b, `],"connections":[{"source":"start","target":%q}`, NodeName(0))
	for i := range n - 1 {
		fmt.Fprintf(&b, `,{"source":%q,"target":%q,"sourceHandle":"output","targetHandle":"input"}`, NodeName(i), NodeName(i+1))
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

package schedulertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// WalkGraph is a graph of mode walk together with the behaviour of its nodes, as plain
// data like [Graph]. A number that is 0 and a text that is "" is not set.
type WalkGraph struct {
	Seed   uint64
	Fields []Field
	Nodes  []*WalkNode // in declared order
	Edges  []*WalkEdge

	MaxRetries, MaxVisits, MaxJumps, RepeatLimit int
	RetryTarget, Fallback                        string
}

// WalkNode is a node and what it does.
type WalkNode struct {
	ID            string
	Role          core.Role
	Reads, Writes []string

	Preset   string // retry policy; its waits are not spread
	Attempts int    // instead of the preset's
	Waits    bool   // own waits, short ones

	AllowPartial, AutoStatus, Gate bool
	RetryTarget, Fallback          string
	MaxVisits                      int

	// Of parallel nodes. Count and Fraction hold for k_of_n and quorum, 0 included.
	Policy      string
	Count       int
	Fraction    float64
	MaxParallel int
	ErrorPolicy string

	// Chances in percent, drawn from a digest of what a visit sees: to end fail, with an
	// error, with the wish to be run again for ever, to do either in the first attempts
	// only, to be a partial success or skipped, to prefer a label, to suggest nodes, to
	// leave a declared write or a value of the context out.
	Fail, Error, Again, Flaky, Partial, Skip, Label, Suggest, Silent int
	// Transient is how many percent of its failures are transient.
	Transient int
}

// WalkEdge is an edge between two nodes.
type WalkEdge struct {
	From, To    string
	When, Label string
	Weight      int
	Restart     bool
}

// Clone returns a deep copy.
func (g *WalkGraph) Clone() *WalkGraph {
	c := *g
	c.Fields = slices.Clone(g.Fields)
	c.Nodes, c.Edges = cloneAll(g.Nodes), cloneAll(g.Edges)
	for _, n := range c.Nodes {
		n.Reads, n.Writes = slices.Clone(n.Reads), slices.Clone(n.Writes)
	}
	return &c
}

func (g *WalkGraph) node(id string) *WalkNode {
	return g.Nodes[slices.IndexFunc(g.Nodes, func(n *WalkNode) bool { return n.ID == id })]
}

func (g *WalkGraph) field(name string) Field {
	return g.Fields[slices.IndexFunc(g.Fields, func(f Field) bool { return f.Name == name })]
}

// out lists the edges that leave a node, in declared order.
func (g *WalkGraph) out(id string) []*WalkEdge {
	var list []*WalkEdge
	for _, e := range g.Edges {
		if e.From == id {
			list = append(list, e)
		}
	}
	return list
}

// String prints the graph in the manner of a DOT document.
func (g *WalkGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// seed %d\ndigraph g {\n", g.Seed)
	for _, f := range g.Fields {
		fmt.Fprintf(&b, "  // field %s %s\n", f.Name, f.Merge)
	}
	fmt.Fprintf(&b, "  graph [%s]\n", optional("default_max_retries", g.MaxRetries)+optional("max_node_visits", g.MaxVisits)+optional("max_jumps", g.MaxJumps)+
		optional("loop_restart_signature_limit", g.RepeatLimit)+named("retry_target", g.RetryTarget)+named("fallback_retry_target", g.Fallback))
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s [%s]\n", e.From, e.To, named("condition", e.When)+named("label", e.Label)+optional("weight", e.Weight)+named("loop_restart", yes(e.Restart)))
	}
	return b.String() + "}\n"
}

func yes(set bool) string {
	if set {
		return "true"
	}
	return ""
}

var roleNames = [...]string{"stage", "start", "exit", "conditional", "parallel", "human"}

// String prints the node as a statement.
func (n *WalkNode) String() string {
	s := fmt.Sprintf("%s [%s", n.ID, roleNames[n.Role])
	s += named("reads", strings.Join(n.Reads, " ")) + named("writes", strings.Join(n.Writes, " ")) + named("retry_policy", n.Preset) + optional("attempts", n.Attempts) +
		named("waits", yes(n.Waits)) + named("allow_partial", yes(n.AllowPartial)) + named("auto_status", yes(n.AutoStatus)) + named("goal_gate", yes(n.Gate)) +
		named("retry_target", n.RetryTarget) + named("fallback_retry_target", n.Fallback) + optional("max_visits", n.MaxVisits)
	if n.Role == core.RoleParallel {
		s += fmt.Sprintf(", join_policy: %s(%d %v)", n.Policy, n.Count, n.Fraction) + optional("max_parallel", n.MaxParallel) + named("error_policy", n.ErrorPolicy)
	}
	return s + optional("fail", n.Fail) + optional("error", n.Error) + optional("again", n.Again) + optional("flaky", n.Flaky) + optional("partial", n.Partial) +
		optional("skip", n.Skip) + optional("prefer", n.Label) + optional("suggest", n.Suggest) + optional("silent", n.Silent) + optional("transient", n.Transient) + "]"
}

// Workflow returns the graph as a workflow whose handlers record into rec, and the
// registry it runs with.
func (g *WalkGraph) Workflow(rec *Recorder) (*core.Workflow, *core.Registry) {
	rec.begin(g.limits())
	reg := core.NewRegistry()
	for i, name := range roleNames {
		reg.AddKind(&roleKind{name: name, role: core.Role(i), g: g, rec: rec})
	}
	w := &core.Workflow{Name: text(fmt.Sprintf("seed%d", g.Seed)), Mode: core.ModeWalk, Walk: &core.Walk{
		MaxRetries: number(g.MaxRetries), MaxVisits: number(g.MaxVisits), MaxJumps: number(g.MaxJumps), RepeatLimit: number(g.RepeatLimit),
		RetryTarget: text(g.RetryTarget), FallbackRetryTarget: text(g.Fallback), Fidelity: text(g.fidelity("default"))}}
	for _, f := range g.Fields {
		w.Fields = append(w.Fields, f.decl())
	}
	for _, n := range g.Nodes {
		w.Nodes = append(w.Nodes, n.node(g, rec))
	}
	for _, e := range g.Edges {
		w.Edges = append(w.Edges, &core.Edge{From: text(e.From), To: text(e.To), When: condition(e.When), Label: text(e.Label),
			Weight: core.Int{Value: e.Weight}, LoopRestart: e.Restart, Fidelity: text(g.fidelity("edge", e.From, e.To, e.Label))})
	}
	return w, reg
}

// briefed reports whether a stage is told what came before it, as nodes are that ask a model.
func (g *WalkGraph) briefed(n *WalkNode) bool {
	return n.Role == core.RoleStage && chance(digest(g.Seed, "briefed", n.ID), 40)
}

// fidelity is how much a part of the graph says that nodes are told, "" where it says
// nothing.
func (g *WalkGraph) fidelity(part ...string) string {
	h := digest(g.Seed, append([]string{"fidelity"}, part...)...)
	if !chance(h, 40) {
		return ""
	}
	words := append(core.Fidelities(), "nonsense")
	return words[h>>16%uint64(len(words))]
}

// limits are the branches of parallel nodes as parts that share a limit.
func (g *WalkGraph) limits() *Graph {
	out := &Graph{}
	for _, n := range g.Nodes {
		if n.Role != core.RoleParallel {
			continue
		}
		u := &Unit{ID: n.ID, Concurrency: cmp.Or(n.MaxParallel, core.DefaultMaxParallel)}
		for _, e := range g.out(n.ID) {
			if e.When == "" {
				u.Members = append(u.Members, e.To)
			}
		}
		out.Pipelines = append(out.Pipelines, u)
	}
	return out
}

// roleKind makes the nodes of a role.
type roleKind struct {
	name string
	role core.Role
	g    *WalkGraph
	rec  *Recorder
}

func (k *roleKind) Name() string { return k.name }
func (*roleKind) Keys() []string { return nil }

func (k *roleKind) Compile(n *core.Node, _ core.Env) (core.Compiled, core.Diagnostics) {
	c := core.Compiled{Role: k.role}
	if k.role == core.RoleHuman || k.role == core.RoleStage {
		c.Handler = &walkBehaviour{k.g, k.g.node(n.ID.Value), k.rec}
		c.Briefed = k.role == core.RoleStage
	}
	return c, nil
}

func (n *WalkNode) node(g *WalkGraph, rec *Recorder) *core.Node {
	out := &core.Node{ID: text(n.ID), Kind: text(roleNames[n.Role]), Reads: texts(n.Reads), Writes: texts(n.Writes), HasWrites: true,
		AllowPartial: n.AllowPartial, AutoStatus: n.AutoStatus, GoalGate: n.Gate, MaxVisits: number(n.MaxVisits),
		RetryTarget: text(n.RetryTarget), FallbackRetryTarget: text(n.Fallback)}
	switch n.Role {
	case core.RoleStage:
		out.Fidelity = text(g.fidelity("node", n.ID))
		if !g.briefed(n) { // those are made by their kind
			out.Handler = &walkBehaviour{g, n, rec}
		}
	case core.RoleParallel:
		out.Join = &core.Join{Policy: text(n.Policy)}
		switch n.Policy {
		case core.JoinKOfN:
			out.Join.Count = &core.Int{Value: n.Count}
		case core.JoinQuorum:
			out.Join.Fraction = &core.Located[float64]{Value: n.Fraction}
		}
		out.Parallel = &core.Parallel{MaxParallel: number(n.MaxParallel), ErrorPolicy: text(n.ErrorPolicy)}
	}
	if n.Preset != "" || n.Attempts > 0 {
		out.OnError = &core.OnError{Policy: text("retry"), Preset: text(n.Preset), Attempts: number(n.Attempts), Jitter: new(bool)}
		if n.Waits {
			out.OnError.Base = &core.Located[time.Duration]{Value: retryBase}
		}
	}
	return out
}

// compiles tells whether a reduced graph is still one as they are generated: a branch has
// one way to it.
func (g *WalkGraph) compiles() bool {
	ways := map[string]int{}
	for _, e := range g.Edges {
		if ways[e.To]++; ways[e.To] > 1 && slices.ContainsFunc(g.Edges, func(o *WalkEdge) bool {
			return o.To == e.To && o.When == "" && g.node(o.From).Role == core.RoleParallel
		}) {
			return false
		}
	}
	w, reg := g.Workflow(&Recorder{})
	p, _ := plan.Compile(w, reg, plan.Options{})
	return p != nil
}

package schedulertest

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

var roleNames = [...]string{"stage", "start", "exit", "conditional", "parallel", "human"}

// briefed reports whether a stage gets a briefing, like nodes that call a model.
func (g *Graph) briefed(n *Node) bool {
	return n.Role == core.RoleStage && chance(digest(g.Seed, "briefed", n.ID), 40)
}

// fidelity returns the fidelity that a part of a walk sets, "" if it sets none.
func (g *Graph) fidelity(part ...string) string {
	h := digest(g.Seed, append([]string{"fidelity"}, part...)...)
	if g.Walk == nil || !chance(h, 40) {
		return ""
	}
	words := append(core.Fidelities(), "nonsense")
	return words[h>>16%uint64(len(words))]
}

// limits returns a graph with the parts that share a limit: the branches of each parallel
// node of a walk as a pipeline. For a dag it returns the graph itself.
func (g *Graph) limits() *Graph {
	if g.Walk == nil {
		return g
	}
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

// roleKind is the kind of the nodes with a role.
type roleKind struct {
	name string
	role core.Role
	g    *Graph
	rec  *Recorder
}

func (k *roleKind) Name() string { return k.name }
func (*roleKind) Keys() []string { return nil }

func (k *roleKind) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	c := core.Compiled{Role: k.role}
	if k.role == core.RoleHuman || k.role == core.RoleStage {
		c.Handler = &behaviour{k.g, k.g.node(n.ID.Value), k.rec}
		c.Briefed = k.role == core.RoleStage
	}
	return c, nil
}

// stop sets the fields that only a node of a walk has.
func (g *Graph) stop(n *Node, out *core.Node, rec *Recorder) {
	out.Kind, out.GoalGate, out.MaxVisits = text(roleNames[n.Role]), n.Gate, number(n.MaxVisits)
	out.RetryTarget, out.FallbackRetryTarget = text(n.RetryTarget), text(n.Fallback)
	switch n.Role {
	case core.RoleStage:
		out.Fidelity = text(g.fidelity("node", n.ID))
		if !g.briefed(n) { // the kind makes the handlers of briefed nodes
			out.Handler = &behaviour{g, n, rec}
		}
	case core.RoleParallel:
		out.Parallel = &core.Parallel{MaxParallel: number(n.MaxParallel), ErrorPolicy: text(n.ErrorPolicy)}
	}
}

package plan

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
)

// fidelities determines how much the nodes of a walk by outcomes are told of what came before them.
// Unknown words are ignored, because the formats report them.
func (c *compiler) fidelities(settings *core.Walk) {
	w := c.p.Walk
	for i := range w.Nodes {
		w.Nodes[i].Fidelity = cmp.Or(core.FidelityOf(c.w.Nodes[i].Fidelity.Value), core.FidelityOf(settings.Fidelity.Value), core.FidelityCompact)
		w.Briefs = w.Briefs || c.p.Nodes[i].Briefed
	}
}

// Told returns how much a node is told of what came before it, if the walk reaches it along an
// edge, or -1 for no edge. The result is "" for a node that is told nothing, whatever the document
// says.
func (p *Plan) Told(node, edge int32) string {
	switch {
	case !p.Nodes[node].Briefed:
		return ""
	case edge >= 0 && p.Walk.Edges[edge].Fidelity != "":
		return p.Walk.Edges[edge].Fidelity
	}
	return p.Walk.Nodes[node].Fidelity
}

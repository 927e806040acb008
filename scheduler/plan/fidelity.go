package plan

import (
	"cmp"

	"github.com/wavefold/wavefold/core"
)

// fidelities determines how much the prompts of the nodes of a walk by outcomes say about earlier
// stages. Unknown words are ignored, because the formats report them.
func (c *compiler) fidelities(settings *core.Walk) {
	w := c.p.Walk
	for i := range w.Nodes {
		w.Nodes[i].Fidelity = cmp.Or(core.FidelityOf(c.w.Nodes[i].Fidelity.Value), core.FidelityOf(settings.Fidelity.Value), core.FidelityCompact)
		w.Briefs = w.Briefs || c.p.Nodes[i].Briefed
	}
}

// Told returns how much the prompt of a node says about earlier stages if the walk reaches the
// node along the given edge. edge is -1 if there is none. The result is "" for a node without such
// a description, whatever the document says.
func (p *Plan) Told(node, edge int32) string {
	switch {
	case !p.Nodes[node].Briefed:
		return ""
	case edge >= 0 && p.Walk.Edges[edge].Fidelity != "":
		return p.Walk.Edges[edge].Fidelity
	}
	return p.Walk.Nodes[node].Fidelity
}

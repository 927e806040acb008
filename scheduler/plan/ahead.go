package plan

import "github.com/wavefold/wavefold/core"

// Ahead reports for each node whether a run of a mode that visits nodes may come to it from visits of some
// nodes: by edges, after failures, or because a goal gate is not satisfied. A walk by steps may go to any of
// its nodes, because results can name them. In a flow only tokens count: a sub-agent runs inside its parent.
func (p *Plan) Ahead(from []int32) []bool {
	g := make(core.Graph, len(p.Nodes))
	lead := func(from, to int32) { g[from] = append(g[from], core.Arc{To: to}) }
	if p.Flow != nil {
		for i := range p.Flow.Nodes {
			for _, way := range p.Flow.Nodes[i].Ways {
				for _, e := range way.Edges {
					lead(int32(i), p.Edges[e].ToNode)
				}
			}
		}
		return g.Reachable(from...)
	}
	for i := range p.Edges {
		lead(p.Edges[i].FromNode, p.Edges[i].ToNode)
	}
	if w := p.Walk; w != nil {
		for i := range w.Nodes {
			for _, to := range w.Nodes[i].Targets {
				lead(int32(i), to)
				if w.Nodes[i].GoalGate && w.Exit >= 0 { // the walk is sent back from its exit
					lead(w.Exit, to)
				}
			}
		}
		for i := range p.Nodes {
			if w.Steps != nil && len(from) > 0 {
				lead(from[0], int32(i))
			}
		}
	}
	return g.Reachable(from...)
}

package plan

import "github.com/wavefold/wavefold/core/source"

// ForReplay drops the declarations of the nodes and edges of p, including nested workflows, which take most
// of the memory of a large plan. A plan without them can only be replayed: it has no fingerprint, and cannot
// be described or executed. The caller must be the only user of p. It does nothing for walks, because their
// routers use the declarations.
func (p *Plan) ForReplay() {
	if p.Walk != nil || p.positions != nil {
		return
	}
	w := *p.Workflow // it may have other users
	w.Nodes, w.Edges = nil, nil
	p.Workflow, p.edgeDecls = &w, nil
	p.positions = make([]source.Position, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		p.positions[i], n.Decl = n.Decl.Pos, nil
		if n.Frame != nil {
			n.Frame.Plan.ForReplay()
		}
	}
}

// placeOf returns the position of a node in its document.
func (p *Plan) placeOf(n *Node) source.Position {
	if n.Decl == nil {
		return p.positions[n.Index]
	}
	return n.Decl.Pos
}

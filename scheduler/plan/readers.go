package plan

import "slices"

// ReadersFrom returns the vertices on a level or later ones that read a field, or whose incoming edges have
// conditions that do, in canonical order.
func (p *Plan) ReadersFrom(field, level int32) []int32 {
	reads := make([]bool, len(p.Vertices))
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.reads(field) {
			reads[n.Vertex] = true
		}
	}
	for v := range p.Vertices {
		if u := p.Vertices[v].Unit; u != nil && readsField(u.Reads, field) {
			reads[v] = true
		}
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.InElseGroup && p.ElseGroups[p.Vertices[e.From].ElseGroup].Level < level {
			continue
		}
		if e.When != nil && slices.Contains(e.When.FieldSlots(), int(field)) {
			reads[e.To] = true
			if e.InElseGroup {
				for _, other := range p.ElseGroups[p.Vertices[e.From].ElseGroup].Edges {
					reads[p.Edges[other].To] = true
				}
			}
		}
	}
	var list []int32
	for v, ok := range reads {
		if ok && p.Vertices[v].Level >= level {
			list = append(list, int32(v))
		}
	}
	return list
}

// MayRead reports whether a node or a condition of a walk reads a field, or a model that chooses the edges
// may see it.
func (p *Plan) MayRead(field int32) bool {
	if _, routed := p.Router(); routed {
		return true
	}
	return slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.reads(field) }) ||
		slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.When != nil && slices.Contains(e.When.FieldSlots(), int(field)) })
}

func (n *Node) reads(field int32) bool { return readsField(n.Reads, field) }

func readsField(reads []Read, field int32) bool {
	return slices.ContainsFunc(reads, func(r Read) bool { return r.Field == field })
}

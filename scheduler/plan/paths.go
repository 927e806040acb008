package plan

import (
	"fmt"
	"strings"
)

// Certain reports whether a vertex comes after all of its predecessors.
func (p *Plan) Certain(v int32) bool {
	j := p.Vertices[v].Join
	return j < 0 || p.Joins[j].Certain()
}

// joined returns the vertex to which the gate of a join's branch leads.
func (p *Plan) joined(gate int32) int32 {
	return p.Joins[p.JoinBranches[gate-p.BranchGate(0)].Join].Vertex
}

// Behind returns the vertices to which a gate of OutGates leads.
func (p *Plan) Behind(gate int32) []int32 {
	n := int32(len(p.Vertices))
	switch {
	case gate < n:
		return []int32{gate}
	case gate >= p.BranchGate(0):
		return []int32{p.joined(gate)}
	}
	var targets []int32
	for _, e := range p.ElseGroups[gate-n].Edges {
		targets = append(targets, p.Edges[e].To)
	}
	return targets
}

// Follows reports whether a path along any edges leads from the earlier vertex to the later one. A
// call may visit all of the graph between the two.
func (p *Plan) Follows(later, earlier int32) bool { return p.leads(earlier, later, false) }

// Precedes reports whether the later vertex starts only when the earlier one has ended. It costs as
// much as Follows.
func (p *Plan) Precedes(earlier, later int32) bool { return p.leads(earlier, later, true) }

func (p *Plan) leads(earlier, later int32, certain bool) bool {
	seen := make([]bool, len(p.Vertices))
	stack := []int32{earlier}
	n, firstBranch := int32(len(p.Vertices)), p.BranchGate(0)
	visit := func(v int32) {
		if v <= later && !seen[v] {
			seen[v] = true
			stack = append(stack, v)
		}
	}
	enter := func(v int32) {
		if !certain || p.Certain(v) {
			visit(v)
		}
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, g := range p.OutGates(v) {
			switch {
			case g < n:
				visit(g)
			case g >= firstBranch:
				enter(p.joined(g))
			default:
				for _, e := range p.ElseGroups[g-n].Edges {
					enter(p.Edges[e].To)
				}
			}
		}
		if later < n && seen[later] {
			return true
		}
	}
	return false
}

// vertexIDs returns the ids of vertices.
func (p *Plan) vertexIDs(vertices []int32) []string {
	out := make([]string, len(vertices))
	for i, v := range vertices {
		out[i] = p.Vertices[v].ID
	}
	return out
}

// At returns the plan of the frame at a path such as "outer[3]/mid", p itself for "".
func (p *Plan) At(path string) (*Plan, error) {
	if path == "" {
		return p, nil
	}
	for step := range strings.SplitSeq(path, "/") {
		id, _, _ := strings.Cut(step, "[")
		n, ok := p.Node(id)
		if !ok || n.Frame == nil {
			return nil, fmt.Errorf("path %q leads to no nested workflow", path)
		}
		p = n.Frame.Plan
	}
	return p, nil
}

// CutPath divides the path of a node, such as "outer[3]/save", into the path of its frame and its ID.
func CutPath(path string) (frame, id string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// ReadBy returns the vertices that a reader of a field belongs to.
func (p *Plan) ReadBy(r Reader) []int32 {
	switch r.Gate {
	case GateElse:
		return p.Behind(int32(len(p.Vertices)) + r.Vertex)
	case GateBranch:
		return p.Behind(p.BranchGate(r.Vertex))
	}
	return []int32{r.Vertex}
}

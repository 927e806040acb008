package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// ToldDescription describes what the prompt of a node that asks a model says about earlier stages.
type ToldDescription struct {
	// Fidelity is core.FidelityCompact, FidelityTruncate or FidelityNone. Edges are the edges that
	// set another fidelity.
	Fidelity string       `json:"fidelity"`
	Edges    []ToldByEdge `json:"edges,omitempty"`
	// Stages are the stages that may have finished since the walk was started or restarted, in
	// declared order, if the prompt describes stages. More reports whether there may be others than
	// the nearest 20.
	Stages []string `json:"stages,omitempty"`
	More   bool     `json:"more,omitempty"`
}

// ToldByEdge describes what the prompt of a node says about earlier stages if the walk reaches it
// from a given node.
type ToldByEdge struct {
	From     string `json:"from"`
	Fidelity string `json:"fidelity"`
}

// Limits of the search for each node. They keep the description of a graph of 100,000 nodes
// affordable.
const (
	maxToldStages = 20
	maxToldSteps  = 1000
)

// describeTold adds the ToldDescriptions of the nodes that ask models.
func (p *Plan) describeTold(d *WalkDescription) {
	if !p.Walk.Briefs {
		return
	}
	b := p.whatEnds()
	in := make([][]ToldByEdge, len(p.Nodes))
	for i := range p.Edges {
		if e := &p.Walk.Edges[i]; e.Fidelity != "" && p.Nodes[p.Edges[i].ToNode].Briefed && b.visited[p.Edges[i].FromNode] {
			to := p.Edges[i].ToNode
			in[to] = append(in[to], ToldByEdge{p.Nodes[p.Edges[i].FromNode].ID, e.Fidelity})
		}
	}
	for i := range p.Nodes {
		if !p.Nodes[i].Briefed {
			continue
		}
		t := &ToldDescription{Fidelity: p.Walk.Nodes[i].Fidelity}
		for _, e := range in[i] {
			if e.Fidelity != t.Fidelity {
				t.Edges = append(t.Edges, e)
			}
		}
		if t.Fidelity == core.FidelityCompact || slices.ContainsFunc(t.Edges, func(e ToldByEdge) bool { return e.Fidelity == core.FidelityCompact }) {
			t.Stages, t.More = b.stagesBefore(int32(i))
		}
		d.Nodes[i].Told = t
	}
}

// before describes the edges by which a walk reaches each node: from a node that has ended, or, for
// a branch, from its parallel node, which has not ended. visited are the nodes that the walk can
// reach, without branches.
type before struct {
	p            *Plan
	ended, forks [][]int32
	visited      []bool
}

// whatEnds follows the token through the graph. A branch that the token never visits itself has no
// edges.
func (p *Plan) whatEnds() *before {
	w, n := p.Walk, len(p.Nodes)
	b := &before{p: p, ended: make([][]int32, n), forks: make([][]int32, n), visited: make([]bool, n)}
	var back []int32 // the targets of unsatisfied goal gates
	for i := range w.Nodes {
		if w.Nodes[i].GoalGate {
			back = append(back, w.Nodes[i].Targets...)
		}
	}
	for todo := []int32{w.Start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b.visited[at] {
			continue
		}
		b.visited[at] = true
		node := &w.Nodes[at]
		goes := func(to int32) { b.ended[to], todo = append(b.ended[to], at), append(todo, to) }
		for _, e := range node.Out {
			if w.Edges[e].LoopRestart {
				todo = append(todo, p.Edges[e].ToNode)
			} else {
				goes(p.Edges[e].ToNode)
			}
		}
		if node.runs() {
			for _, to := range node.Targets {
				goes(to)
			}
		}
		if at == w.Exit {
			for _, to := range back {
				goes(to)
			}
		}
		if f := node.Parallel; f != nil {
			if f.Meet >= 0 {
				goes(f.Meet)
			}
			for _, to := range f.Branches {
				b.forks[to] = append(b.forks[to], at)
			}
		}
	}
	return b
}

// stagesBefore lists the stages that may have ended before a node begins, and reports whether there
// may be more.
func (b *before) stagesBefore(node int32) (ids []string, more bool) {
	var stages []int32
	came, found := map[int32]bool{node: true}, map[int32]bool{}
	for todo := []int32{node}; len(todo) > 0 && !more; todo = todo[1:] {
		for _, from := range b.ended[todo[0]] {
			if b.p.Walk.Nodes[from].runs() && !found[from] {
				found[from] = true
				stages = append(stages, from)
			}
			if !came[from] {
				came[from] = true
				todo = append(todo, from)
			}
		}
		for _, from := range b.forks[todo[0]] {
			if !came[from] {
				came[from] = true
				todo = append(todo, from)
			}
		}
		more = len(stages) > maxToldStages || len(came) > maxToldSteps
	}
	stages = stages[:min(len(stages), maxToldStages)]
	slices.Sort(stages)
	return b.p.nodeIDs(stages), more
}

package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// MaxVisits limits the visits of one node of a walk in a rehearsal. Virtual time does not
// advance in a cycle that the walk never leaves, so nothing else would end it.
const MaxVisits = 1000

// maxCycle limits the number of nodes of a cycle that are named.
const maxCycle = 20

// cycle is the path from one visit of a node to the next in a walk that does not end. It is
// the error of the run.
type cycle struct {
	node  string   // the path of the node that was visited too often
	nodes []string // the cycle from that node back to it
}

// cycleOf finds the cycle that led to the visit of a node that has just begun. For a branch
// it is the cycle of its parallel node.
func (r *Record) cycleOf(began *core.Event) *cycle {
	found := &cycle{node: withoutIndexes(began.Node)}
	start := began.Node
	if began.Unit != "" {
		start = began.Unit
	}
	frame, id := start[:strings.LastIndexByte(start, '/')+1], start[strings.LastIndexByte(start, '/')+1:]
	found.nodes = []string{id}
	for i := len(r.Events) - 1; i >= 0; i-- {
		e := &r.Events[i]
		if e.Type != core.EdgeChosen || e.Node[:strings.LastIndexByte(e.Node, '/')+1] != frame || e.To != id && len(found.nodes) == 1 {
			continue
		}
		if found.nodes = append(found.nodes, e.From); e.From == id {
			break
		}
	}
	slices.Reverse(found.nodes)
	return found
}

// Error reports how often the node was visited, and the cycle.
func (g *cycle) Error() string {
	nodes := g.nodes
	if left := len(nodes) - maxCycle; left > 0 {
		nodes = slices.Concat(nodes[:maxCycle/2], []string{fmt.Sprintf("… %d more …", left)}, nodes[len(nodes)-maxCycle/2:])
	}
	return fmt.Sprintf("%s was visited %d times, in the ring %s", g.node, MaxVisits, strings.Join(nodes, " -> "))
}

// advice suggests how a mock file can end the walk.
func (g *cycle) advice() string {
	return "nothing leads out of the ring: give one of its nodes an answer that a condition, a label or a suggestion asks for, or set max_visits"
}

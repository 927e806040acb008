package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core/source"
)

// flowGraph is a flow with its nodes by id.
type flowGraph struct {
	w     *Workflow
	index map[string]int
	out   [][]*Edge // execution edges, by source
}

func newFlowGraph(w *Workflow) *flowGraph {
	g := &flowGraph{w: w, index: make(map[string]int, len(w.Nodes)), out: make([][]*Edge, len(w.Nodes))}
	for i, n := range w.Nodes {
		if _, ok := g.index[n.ID.Value]; !ok {
			g.index[n.ID.Value] = i
		}
	}
	for _, e := range w.Edges {
		if i, ok := g.index[e.From.Value]; ok && !e.Delegates() {
			g.out[i] = append(g.out[i], e)
		}
	}
	return g
}

// node returns the node with the given id, or nil if there is none.
func (g *flowGraph) node(id string) *Node {
	if i, ok := g.index[id]; ok {
		return g.w.Nodes[i]
	}
	return nil
}

// finding returns a list with one error.
func finding(code source.Code, pos source.Position, format string, args ...any) source.Diagnostics {
	var ds source.Diagnostics
	ds.Errorf(code, pos, format, args...)
	return ds
}

// Preflight checks a flow before a run, and returns the first problem in the order of the rules. The
// result is empty if there is none. FlowErrors checks only what prevents a run. The other problems
// make a branch end where it should not.
func (w *Workflow) Preflight() source.Diagnostics {
	g := newFlowGraph(w)
	for _, check := range []func(*flowGraph) source.Diagnostics{
		(*flowGraph).starts, (*flowGraph).dangling, (*flowGraph).delegations, (*flowGraph).startUnconnected,
		(*flowGraph).conditionUnconnected, (*flowGraph).approvalUnconnected,
	} {
		if ds := check(g); ds != nil {
			return ds
		}
	}
	return nil
}

// FlowErrors returns what keeps a flow from running: a missing start, several starts, and the first
// rule of delegations that does not hold.
func (w *Workflow) FlowErrors() source.Diagnostics {
	g := newFlowGraph(w)
	return slices.Concat(g.starts(), g.delegations())
}

// FlowStartOf returns the index of the start of a flow, -1 if there is not exactly one.
func (w *Workflow) FlowStartOf() int {
	isStart := func(n *Node) bool { return n.FlowRoleOf() == FlowStart }
	first := slices.IndexFunc(w.Nodes, isStart)
	if first < 0 || slices.ContainsFunc(w.Nodes[first+1:], isStart) {
		return -1
	}
	return first
}

func (g *flowGraph) starts() source.Diagnostics {
	first := -1
	for i, n := range g.w.Nodes {
		switch {
		case n.FlowRoleOf() != FlowStart:
		case first >= 0:
			return finding(source.CodeStartMany, n.ID.Pos, "node %s: a flow has one start, and node %s is one", n.ID.Value, g.w.Nodes[first].ID.Value)
		default:
			first = i
		}
	}
	if first < 0 {
		return finding(source.CodeStartMissing, g.w.Pos, "the flow has no start node")
	}
	return nil
}

func (g *flowGraph) dangling() source.Diagnostics {
	for _, e := range g.w.Edges {
		for _, end := range []source.Text{e.From, e.To} {
			if end.Value != "" && g.node(end.Value) == nil { // a missing end is reported where it is read
				return finding(source.CodeDanglingConnection, firstKnown(end.Pos, e.Pos), "connection %s -> %s: there is no node %q", e.From.Value, e.To.Value, end.Value)
			}
		}
	}
	return nil
}

// firstKnown returns the first position that is known.
func firstKnown(a, b source.Position) source.Position {
	if a.IsValid() {
		return a
	}
	return b
}

// delegations checks the edges to sub-agents, rule by rule.
func (g *flowGraph) delegations() source.Diagnostics {
	var list []*Edge
	for _, e := range g.w.Edges {
		if e.Delegates() {
			list = append(list, e)
		}
	}
	if list == nil {
		return nil
	}
	for _, rule := range delegationRules {
		for _, e := range list {
			if rule.broken(g, e) {
				return finding(rule.code, firstKnown(e.Pos, e.From.Pos), "sub-agent %s of %s: %s", e.To.Value, e.From.Value, rule.text)
			}
		}
	}
	if ds := g.parents(list); ds != nil {
		return ds
	}
	if ds := g.executes(list); ds != nil {
		return ds
	}
	return g.rings(list)
}

// delegationRules are the rules that look at one edge.
var delegationRules = []struct {
	code   source.Code
	text   string
	broken func(*flowGraph, *Edge) bool
}{
	{source.CodeSubagentSource, "the parent is not an agent", func(g *flowGraph, e *Edge) bool { return g.node(e.From.Value).agent() == nil }},
	{source.CodeSubagentTarget, "it is not an agent", func(g *flowGraph, e *Edge) bool { return g.node(e.To.Value).agent() == nil }},
	{source.CodeSubagentToolOff, "the tool subagents of the parent is off", func(g *flowGraph, e *Edge) bool { return !g.node(e.From.Value).agent().Subagents }},
	{source.CodeSubagentHandle, "the connection must enter the handle input", func(_ *flowGraph, e *Edge) bool { return e.Into.Value != "" && e.Into.Value != HandleInput }},
	{source.CodeSubagentSelf, "an agent cannot be its own sub-agent", func(_ *flowGraph, e *Edge) bool { return e.From.Value == e.To.Value }},
}

// parents finds a sub-agent with several parents. An edge that is there twice counts twice.
func (g *flowGraph) parents(list []*Edge) source.Diagnostics {
	first := map[string]*Edge{}
	for _, e := range list {
		if before := first[e.To.Value]; before != nil {
			return finding(source.CodeSubagentParents, firstKnown(e.Pos, e.To.Pos), "sub-agent %s of %s: it has another parent, %s", e.To.Value, e.From.Value, before.From.Value)
		}
		first[e.To.Value] = e
	}
	return nil
}

// executes finds a sub-agent that is also a step of the flow.
func (g *flowGraph) executes(list []*Edge) source.Diagnostics {
	steps := map[string]bool{}
	for _, e := range g.w.Edges {
		if !e.Delegates() {
			steps[e.From.Value], steps[e.To.Value] = true, true
		}
	}
	for _, e := range list {
		if steps[e.To.Value] {
			return finding(source.CodeSubagentExecutes, firstKnown(e.Pos, e.To.Pos), "sub-agent %s of %s: it takes part in execution, so it cannot be a sub-agent", e.To.Value, e.From.Value)
		}
	}
	return nil
}

// rings finds agents that delegate in a ring. Each has one parent, so a walk from child to parent
// that returns has found one.
func (g *flowGraph) rings(list []*Edge) source.Diagnostics {
	parent := make(map[string]string, len(list))
	for _, e := range list {
		parent[e.To.Value] = e.From.Value
	}
	seen := map[string]int{} // by agent: the walk that has passed it, from 1
	for walk, e := range list {
		var path []string
		at, ok := e.To.Value, true
		for ; ok && seen[at] == 0; at, ok = parent[at], parent[at] != "" {
			seen[at] = walk + 1
			path = append(path, at)
		}
		if ok && seen[at] == walk+1 {
			ring := append(path[slices.Index(path, at):], at)
			slices.Reverse(ring)
			return finding(source.CodeSubagentCycle, firstKnown(e.Pos, e.To.Pos), "sub-agents delegate in a ring: %s", strings.Join(ring, " -> "))
		}
	}
	return nil
}

func (g *flowGraph) startUnconnected() source.Diagnostics {
	i := g.w.FlowStartOf()
	if len(g.out[i]) > 0 {
		return nil
	}
	n := g.w.Nodes[i]
	return finding(source.CodeStartUnconnected, n.ID.Pos, "node %s: nothing follows the start", n.ID.Value)
}

func (g *flowGraph) conditionUnconnected() source.Diagnostics {
	return g.unconnected(FlowIf, source.CodeConditionUnconnected, "nothing follows the condition, whatever it finds", func(handle string) bool {
		number, isCondition := strings.CutPrefix(handle, HandleCondition)
		_, err := strconv.ParseUint(number, 10, 32)
		return isCondition && err == nil || handle == HandleTrue || handle == HandleFalse
	})
}

func (g *flowGraph) approvalUnconnected() source.Diagnostics {
	return g.unconnected(FlowApproval, source.CodeApprovalUnconnected, "nothing follows the approval, whatever the decision", func(handle string) bool {
		return handle == HandleApprove || handle == HandleReject
	})
}

// unconnected finds a node of a role that a token can reach and that no edge with one of the handles
// leaves.
func (g *flowGraph) unconnected(role FlowRole, code source.Code, text string, handle func(string) bool) source.Diagnostics {
	arcs := make(Graph, len(g.w.Nodes))
	for i, out := range g.out {
		for _, e := range out {
			if to, ok := g.index[e.To.Value]; ok {
				arcs[i] = append(arcs[i], Arc{To: int32(to)})
			}
		}
	}
	reached := arcs.Reachable(int32(g.w.FlowStartOf()))
	for i, n := range g.w.Nodes {
		if reached[i] && n.FlowRoleOf() == role && !slices.ContainsFunc(g.out[i], func(e *Edge) bool { return handle(e.Label.Value) }) {
			return finding(code, n.ID.Pos, "node %s: %s", n.ID.Value, text)
		}
	}
	return nil
}

// AgentCalls returns the calls of the agents of a flow, by id, with their trees of sub-agents. The
// delegations must be valid.
func (w *Workflow) AgentCalls() map[string]*AgentCall {
	calls := map[string]*AgentCall{}
	for _, n := range w.Nodes {
		if a := n.agent(); a != nil {
			calls[n.ID.Value] = &AgentCall{NodeID: n.ID.Value, AgentName: cmp.Or(a.Name.Value, DefaultAgentName),
				SystemPrompt: cmp.Or(a.System.Value, DefaultAgentSystem), UserPrompt: a.User.Value,
				Model: cmp.Or(a.Model.Value, DefaultAgentModel), DefaultModel: a.Model.Value == "", ReasoningEffort: cmp.Or(a.Effort.Value, DefaultAgentEffort),
				Tools: AgentTools{WebSearch: a.WebSearch, Subagents: a.Subagents}}
		}
	}
	for _, e := range w.Edges {
		if parent, child := calls[e.From.Value], calls[e.To.Value]; e.Delegates() && parent != nil && child != nil {
			parent.Subagents = append(parent.Subagents, child)
		}
	}
	return calls
}

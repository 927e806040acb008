package plan

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Flow holds what a plan of the mode flow has in addition to its nodes and edges. Such a plan has one
// vertex, of the shape Walking, and its edges connect nodes.
type Flow struct {
	Start       int32 // a node
	Nodes       []FlowNode
	MaxArrivals int   // limits the arrivals of a run
	Context     int32 // index of the field that holds the context
}

// FlowNode describes what a node of a flow does.
type FlowNode struct {
	Role core.FlowRole
	// Ways are the sets of edges of which a token follows one, each in declared order: an if has one
	// for each condition and then one for no match; an approval has one for approve and one for reject;
	// any other node has one with all edges that do not delegate.
	Ways       []FlowWay
	Output     any // of a start
	Conditions []core.FlowCondition
	// Agent is the call of an agent with its tree, nil for other nodes.
	Agent *core.AgentCall
}

// FlowWay is a set of edges that a token follows together.
type FlowWay struct {
	Handle string // what selects the way, "" if nothing does
	Why    string // why it is selected, "" if nothing selects it
	Edges  []int32
	Lost   []string // targets of edges that are not nodes
}

// Ways of an approval.
const (
	WayApprove = iota
	WayReject
)

// LimitsVisits reports whether machine.Options.MaxVisits limits the visits of the run, or the arrivals of
// its tokens.
func (p *Plan) LimitsVisits() bool { return p.Walk != nil || p.Flow != nil }

// TokensReach returns for each node of a flow whether a token can reach it, nil for other plans. Sub-agents and
// nodes that are not connected are not reached.
func (p *Plan) TokensReach() []bool {
	if p.Flow == nil {
		return nil
	}
	return p.Ahead([]int32{p.Flow.Start})
}

// isFlowID reports whether a string is a valid id of a node in a flow: printable characters except
// those with a meaning in paths.
func isFlowID(s string) bool {
	return s != "" && len(s) <= maxFlowID && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || strings.ContainsRune("/[]#~", r)
	})
}

const (
	maxFlowID  = 200
	flowIDRule = "at most 200 bytes of printable characters without / [ ] # ~"
)

// beginFlow prepares the compilation of the nodes of a flow.
func (c *compiler) beginFlow() {
	c.dagOnly()
	c.p.Flow = &Flow{Start: -1, Nodes: make([]FlowNode, len(c.w.Nodes)), MaxArrivals: core.DefaultMaxArrivals}
	problems := c.w.FlowErrors()
	c.ds = append(c.ds, problems...)
	if len(problems) == 0 {
		c.agents = c.w.AgentCalls()
	} else { // agents are checked nevertheless, without their sub-agents, which may delegate in a ring
		c.agents = (&core.Workflow{Nodes: c.w.Nodes}).AgentCalls()
	}
	if c.w.Walk != nil {
		c.ds.Errorf(source.CodeBadValue, c.w.Walk.Pos, "a flow has no settings of a walk")
	}
}

// flowAgent returns the call of an agent, nil for other nodes.
func (c *compiler) flowAgent(d *core.Node) *core.AgentCall { return c.agents[d.ID.Value] }

// flowSettings reports settings of a node that a flow does not have.
func (c *compiler) flowSettings(n *Node, d *core.Node, at place) (use References) {
	reject := func(there bool, key string, pos source.Position, hint string) {
		if there {
			c.ds.Errorf(source.CodeBadValue, pos, "%s: %s does not exist in flows", at, key).WithHint("%s", hint)
		}
	}
	if d.ForEach != nil {
		reject(true, "for_each", d.ForEach.Pos, "several edges run at the same time; or nest a dag (kind workflow)")
	}
	reject(d.Join != nil, "join", d.ID.Pos, "each arrival runs the node")
	reject(n.Pause != NoPause, "pause", d.Pause.Pos, "put an approval before or after the node")
	reject(n.Policy != PolicyDefault, "on_error", d.ID.Pos, "a flow knows the policy retry only: a failure ends the run")
	return use
}

// flowNode compiles a node that needs no kind. An agent needs one.
func (c *compiler) flowNode(n *Node, d *core.Node, _ place) bool {
	switch d.FlowRoleOf() {
	case core.FlowStep:
		return false
	case core.FlowApproval:
		n.Handler, n.Asks, n.Cancellable = approver{d.Flow.Prompt.Value}, true, true
	}
	return true
}

// flow compiles the rest of a flow once its nodes are compiled.
func (c *compiler) flow() {
	f := c.p.Flow
	context, _ := c.p.Schema.Index(core.ContextField)
	f.Context, f.Start = int32(context), int32(c.w.FlowStartOf())
	if c.w.Flow != nil && c.w.Flow.MaxArrivals != nil {
		f.MaxArrivals = c.atLeastOne(c.w.Flow.MaxArrivals, documentPlace("max_arrivals"))
	}
	if c.w.Runtime.Concurrency == nil {
		c.p.Concurrency = core.DefaultFlowCalls
	}
	c.walkVertex()
	for i, d := range c.w.Nodes {
		c.flowRole(&f.Nodes[i], d)
	}
	for _, e := range c.w.Edges {
		c.flowEdge(e)
	}
	c.ownReads()
}

// flowRole records what a node does, with ways that have no edges yet.
func (c *compiler) flowRole(n *FlowNode, d *core.Node) {
	n.Role, n.Agent = d.FlowRoleOf(), c.agents[d.ID.Value]
	switch n.Role {
	case core.FlowStart:
		n.Output = d.Flow.Output
	case core.FlowIf:
		n.Conditions = d.Flow.Conditions
		for i := range n.Conditions {
			n.Ways = append(n.Ways, FlowWay{Handle: core.HandleCondition + strconv.Itoa(i), Why: "condition " + strconv.Itoa(i+1) + " holds: " + n.Conditions[i].String()})
		}
		n.Ways = append(n.Ways, FlowWay{Handle: core.HandleFalse, Why: "no condition holds"})
		return
	case core.FlowApproval:
		n.Ways = []FlowWay{WayApprove: {Handle: core.HandleApprove, Why: "approved"}, WayReject: {Handle: core.HandleReject, Why: "rejected"}}
		return
	}
	n.Ways = []FlowWay{{}}
}

// flowEdge compiles an edge. An edge with an end that is not a node is left out: it is reported before
// a run, and a token that would follow it ends there with a warning.
func (c *compiler) flowEdge(e *core.Edge) {
	from, ok := c.p.nodeIndex[e.From.Value]
	if !ok {
		return
	}
	to, known := c.p.nodeIndex[e.To.Value]
	way := c.p.Flow.Nodes[from].way(e)
	if !known {
		if way != nil {
			way.Lost = append(way.Lost, e.To.Value)
		}
		return
	}
	i := int32(len(c.p.Edges))
	c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to, Delegates: e.Delegates()})
	c.p.edgeDecls = append(c.p.edgeDecls, e)
	if way != nil {
		way.Edges = append(way.Edges, i)
	}
}

// way returns the way that an edge belongs to, nil if no token follows the edge.
func (n *FlowNode) way(e *core.Edge) *FlowWay {
	handle := e.Label.Value
	switch {
	case e.Delegates():
		return nil
	case n.Role != core.FlowIf && n.Role != core.FlowApproval:
		return &n.Ways[0]
	case n.Role == core.FlowIf && handle == core.HandleTrue:
		handle = core.HandleCondition + "0"
	}
	for i := range n.Ways {
		if n.Ways[i].Handle == handle {
			return &n.Ways[i]
		}
	}
	return nil
}

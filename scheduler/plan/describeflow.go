package plan

import (
	"encoding/json"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// FlowDescription describes a flow.
type FlowDescription struct {
	Start string `json:"start"`
	// MaxArrivals limits the arrivals of a run.
	MaxArrivals int `json:"max_arrivals"`
	// Nodes describe what each node does when a token arrives, in declared order.
	Nodes []FlowNodeDescription `json:"nodes"`
}

// FlowNodeDescription describes what a node of a flow does.
type FlowNodeDescription struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"` // shown instead of the id, or "" if there is none
	Role  string `json:"role"`            // the string form of the core.FlowRole
	// Conditions are the conditions of an if, and Prompt is the question of an
	// approval.
	Conditions []string `json:"conditions,omitempty"`
	Prompt     string   `json:"prompt,omitempty"`
	// Model and Effort are the settings of an agent, and Subagents the agents to
	// which it may delegate.
	Model     string   `json:"model,omitempty"`
	Effort    string   `json:"effort,omitempty"`
	WebSearch bool     `json:"web_search,omitempty"`
	Subagents []string `json:"subagents,omitempty"`
	// Parent is the agent of which the node is a sub-agent, "" if it is a step.
	Parent string `json:"parent,omitempty"`
	// Place is where the document draws the node, nil if it does not say.
	Place *core.FlowPlace `json:"place,omitempty"`
}

// flowShape returns the role in a walk that is drawn like what a node of a flow does.
func flowShape(role string) core.Role {
	switch role {
	case core.FlowStart.String():
		return core.RoleStart
	case core.FlowIf.String():
		return core.RoleConditional
	case core.FlowApproval.String():
		return core.RoleHuman
	}
	return core.RoleStage
}

// visited describes the nodes as nodes of a walk.
func (d *FlowDescription) visited() []WalkNodeDescription {
	list := make([]WalkNodeDescription, len(d.Nodes))
	for i := range d.Nodes {
		n := &d.Nodes[i]
		list[i] = WalkNodeDescription{ID: n.ID, Label: n.Label, Role: flowShape(n.Role).String(), Place: n.Place}
	}
	return list
}

// describeFlow adds what only flows have.
func (p *Plan) describeFlow(d *Description) {
	f := p.Flow
	d.Flow = &FlowDescription{Start: p.Nodes[f.Start].ID, MaxArrivals: f.MaxArrivals, Nodes: make([]FlowNodeDescription, len(p.Nodes))}
	for i := range p.Nodes {
		n, decl := &f.Nodes[i], p.Nodes[i].Decl
		x := &d.Flow.Nodes[i]
		*x = FlowNodeDescription{ID: p.Nodes[i].ID, Label: decl.Label.Value, Role: n.Role.String()}
		for _, c := range n.Conditions {
			x.Conditions = append(x.Conditions, c.String())
		}
		if decl.Flow != nil {
			x.Prompt = decl.Flow.Prompt.Value
			x.Place = decl.Flow.Place
		}
		if a := n.Agent; a != nil {
			x.Model, x.Effort, x.WebSearch = a.Model, a.ReasoningEffort, a.Tools.WebSearch
			for _, child := range a.Subagents {
				x.Subagents = append(x.Subagents, child.NodeID)
			}
		}
	}
	for i := range p.Edges {
		if d.Edges[i].Label = ""; p.Edges[i].Delegates { // handles that select nothing are not shown
			d.Edges[i].Delegates, d.Edges[i].Label = true, core.HandleSubagent
			d.Flow.Nodes[p.Edges[i].ToNode].Parent = p.Nodes[p.Edges[i].FromNode].ID
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for k, w := range n.Ways {
			for _, e := range w.Edges {
				if d.Edges[e].Label = w.Handle; k < len(n.Conditions) {
					d.Edges[e].When = n.Conditions[k].String()
				}
			}
		}
	}
}

// flowPrint returns the canonical form of what a node of a flow does.
func flowPrint(n *FlowNode, d *core.Node) *value.Object {
	o := value.ObjectOf("role", int64(n.Role), "output", n.Output)
	conditions := make([]any, len(n.Conditions))
	for i, c := range n.Conditions {
		conditions[i] = c.String()
	}
	o.Set("conditions", conditions)
	if n.Role == core.FlowApproval {
		o.Set("prompt", d.Flow.Prompt.Value)
	}
	if n.Agent != nil {
		text, err := json.Marshal(n.Agent)
		if err != nil { // it has strings only
			panic("plan: " + err.Error())
		}
		o.Set("agent", string(text))
	}
	lost := []any{}
	for _, w := range n.Ways {
		for _, id := range w.Lost {
			lost = append(lost, w.Handle+" "+id)
		}
	}
	o.Set("lost", lost)
	return o
}

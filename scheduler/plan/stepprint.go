package plan

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// stepPrint returns the canonical form of what the steps know of a node.
func stepPrint(n *StepNode, d *core.Node) *value.Object {
	transitions := []any{}
	for _, t := range n.Transitions {
		transitions = append(transitions, []any{t.Key.Value, t.To.Value})
	}
	return value.ObjectOf("transitions", transitions, "default", n.Default, "budget", int64(n.Budget), "exit", n.Exit, "critical", n.Critical,
		"before", d.Before != nil, "after", d.After != nil)
}

// condPrint returns the canonical form of a condition that is not an expression, or nil if there is
// none. The code of a function does not count.
func condPrint(c *core.Cond) any {
	if c == nil {
		return nil
	}
	if c.Kind.Value == "" {
		return value.ObjectOf("ref", c.Ref.Value)
	}
	least := core.DefaultConfidence
	if c.Min != nil {
		least = c.Min.Value
	}
	return value.ObjectOf("kind", c.Kind.Value, "key", c.Key.Value, "value", printable(c.Value), "min", least)
}

// StepDescription describes where a walk by steps continues after a node, in addition to its edges.
type StepDescription struct {
	// Budget limits the visits of the node. Exit is where the walk continues when they are used up,
	// "" if that is not set.
	Budget int    `json:"max_visits"`
	Exit   string `json:"exit_to,omitempty"`
	// Transitions lead to nodes by members of the output, in order. Default is where the walk
	// continues if nothing else decides, "" for the end.
	Transitions []TransitionDescription `json:"transitions,omitempty"`
	Default     string                  `json:"default_next,omitempty"`
	// Next are the nodes that the configuration of the node lets its result name.
	Next     []string `json:"next,omitempty"`
	Critical bool     `json:"critical,omitempty"`
	Before   bool     `json:"before,omitempty"` // whether there is a hook
	After    bool     `json:"after,omitempty"`
	// Edges are the edges out of the node in the order in which they are tried, as indexes of
	// Description.Edges.
	Edges []int32 `json:"edges,omitempty"`
}

// TransitionDescription describes a transition.
type TransitionDescription struct {
	Key string `json:"key"`
	To  string `json:"to"`
}

// describeSteps adds what only walks by steps have.
func (p *Plan) describeSteps(d *WalkDescription) {
	d.Router, d.MaxMutations = core.RouterSteps, p.Walk.Steps.MaxMutations
	if p.Walk.Steps.Fixed {
		d.MaxMutations = 0
	}
	for i := range d.Nodes {
		n, decl := &p.Walk.Steps.Nodes[i], p.Nodes[i].Decl
		s := &StepDescription{Budget: n.Budget, Exit: n.Exit, Default: n.Default, Critical: n.Critical, Before: decl.Before != nil, After: decl.After != nil,
			Next: source.Strings(p.Walk.Nodes[i].Next)}
		for _, t := range n.Transitions {
			s.Transitions = append(s.Transitions, TransitionDescription{t.Key.Value, t.To.Value})
		}
		for k := range n.Edges {
			s.Edges = append(s.Edges, n.Edges[k].Index)
		}
		d.Nodes[i].Steps = s
	}
}

// CondText returns a condition as a document or a message names it, "" if the edge has none.
func (p *Plan) CondText(edge int32) string {
	if when := p.Edges[edge].When; when != nil {
		return when.Source()
	}
	return condText(p.edgeDecls[edge].Cond)
}

func condText(c *core.Cond) string {
	switch {
	case c == nil:
		return ""
	case c.Ref.Value != "":
		return c.Ref.Value
	case c.Kind.Value == "":
		return "a Go function"
	}
	switch t, _ := steps.TestOf(c.Kind.Value); t {
	case steps.Output:
		text, err := value.AppendJSON(nil, c.Value)
		if err != nil {
			text = []byte("?")
		}
		return "output." + c.Key.Value + " == " + string(text)
	case steps.Confidence:
		least := any(core.DefaultConfidence)
		if c.Min != nil {
			least = c.Min.Value
		}
		text, _ := value.AppendJSON(nil, least)
		return "output.confidence >= " + string(text)
	}
	return c.Kind.Value
}

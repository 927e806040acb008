package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Shared returns the part of the input of an execution that was captured. place is the item of a
// fan-out, or -1 if there is none. The driver adds the rest: the log, the folder, streams and the
// interviewer. Arguments are resolved here, which may take long; stop reports whether to stop early.
// The error is about the arguments.
func Shared(p *plan.Plan, n *plan.Node, c *Call, place int, stop func() bool) (s core.Shared, err error) {
	if c == nil {
		return s, nil
	}
	if views := len(n.View); views > 0 {
		s.View = core.NewView(n.View, c.Values[:views])
		if members := n.Members(); len(members) > 0 {
			s.View = withMembers(s.View, members)
		}
	}
	if names, at := n.Extra(); len(names) > 0 {
		s.Extra = extra(names, at, c)
	}
	if n.Args != nil {
		if s.Args, err = n.Args.Resolve(Captured{For: n, Call: c, Place: place}, stop); err != nil {
			return s, err
		}
	}
	s.Edges, s.Inputs = c.Edges, c.Inputs
	if place >= 0 {
		s.Item, s.Index = c.Items.At(place), core.Nth(place)
	} else if c.Row > 0 {
		s.Item, s.Index = c.Item, c.Row
	}
	s.Nodes = lookup(p, n, c)
	s.Visit, s.Previous, s.Briefing, s.Conversation = c.Visit, c.Previous, c.Briefing, c.Conversation
	if c.Loop != "" {
		s.Loop = c.Loop
		s.Round, _ = c.Round.Get()
	}
	return s, nil
}

// extra returns the view of the fields that the node's kind asked for.
func extra(names []string, at []int32, c *Call) core.View {
	values := make([]any, len(at))
	for i, read := range at {
		values[i] = c.Values[read]
	}
	return core.NewView(names, values)
}

// lookup returns the function that looks up $nodes.ID for the nodes that args and the kind refer
// to.
func lookup(p *plan.Plan, n *plan.Node, c *Call) core.NodeLookup {
	refs := n.NodeRefs()
	if len(refs) == 0 {
		return nil
	}
	return func(id string) (core.Status, any, bool) {
		for i, ref := range refs {
			if p.Nodes[ref].ID == id {
				v := c.Nodes[i]
				return v.Status, v.Output, v.Status != core.StatusNone
			}
		}
		return core.StatusNone, nil, false
	}
}

// withMembers returns a view of the context together with some of its members.
func withMembers(context core.View, members []string) core.View {
	v, _ := context.Get(core.ContextField)
	all, _ := v.(*value.Object)
	names, values := make([]string, 0, len(members)+1), make([]any, 0, len(members)+1)
	for _, name := range members {
		member, ok := all.Get(name)
		if !ok {
			member = value.Missing
		}
		names, values = append(names, name), append(values, member)
	}
	return core.NewView(append(names, core.ContextField), append(values, v))
}

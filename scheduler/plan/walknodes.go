package plan

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

func (c *compiler) walkNodes(settings *core.Walk) {
	common := c.count(settings.MaxVisits, 0, documentPlace("max_node_visits"))
	last := slices.Concat(c.target(settings.RetryTarget, place{what: "graph"}.at("retry_target")),
		c.target(settings.FallbackRetryTarget, place{what: "graph"}.at("fallback_retry_target")))
	for i, d := range c.w.Nodes {
		n, at := &c.p.Walk.Nodes[i], nodePlace(d.ID.Value)
		n.GoalGate, n.Random = d.GoalGate, d.Random
		n.MaxVisits = common
		if d.MaxVisits != nil {
			n.MaxVisits = c.count(d.MaxVisits, 0, at.at("max_visits"))
		}
		n.Targets = slices.Concat(c.target(d.RetryTarget, at.at("retry_target")), c.target(d.FallbackRetryTarget, at.at("fallback_retry_target")), last)
		if d.ForEach != nil {
			c.ds.Errorf(source.CodeBadValue, d.ForEach.Pos, "%s: for_each exists in dags only", at).WithHint("let a parallel node lead to the branches, or nest a dag (kind workflow)")
		}
		if word := c.p.Nodes[i].Policy; word != PolicyDefault {
			c.ds.Errorf(source.CodeBadValue, d.OnError.Pos, "%s: on_error: a walk knows the policy retry only", at).WithHint("an edge with a condition on outcome, or retry_target, says what follows a failure")
		}
		if d.Join != nil && n.Role != core.RoleParallel {
			c.ds.Errorf(source.CodeBadValue, d.Join.Pos, "%s: join belongs to parallel nodes of a walk", at)
		}
		if d.Parallel != nil && n.Role != core.RoleParallel {
			c.ds.Errorf(source.CodeBadValue, d.Pos, "%s: max_parallel and error_policy belong to parallel nodes of a walk", at)
		}
		c.walkOut(n, d, at)
	}
}

// target looks up a retry target. A target that does not exist is ignored.
func (c *compiler) target(id source.Text, at place) []int32 {
	if id.Value == "" {
		return nil
	}
	i, ok := c.p.nodeIndex[id.Value]
	if !ok {
		c.hint(c.ds.Warnf(source.CodeRetryTargetExists, id.Pos, "%s: there is no node %q, so it is passed over", at, id.Value), id.Value, c.nodeIDs)
		return nil
	}
	return []int32{i}
}

// walkType finds the handler of a node whose type is not a kind: a function that is registered
// under that name. If there is none, that is reported when the node is visited.
func (c *compiler) walkType(n *Node, d *core.Node, at place) bool {
	if _, ok := c.reg.Kind(d.Kind.Value); ok || d.Kind.Value == "" || d.Lost.Has("kind") {
		return false
	}
	if d.Asks {
		c.p.Walk.Nodes[n.Index].Role = core.RoleHuman
	}
	switch h, ok := c.reg.Tool(d.Kind.Value); {
	case ok:
		for _, k := range configKeys(d) {
			c.ds.Errorf(source.CodeUnknownKey, k.Pos, "%s: unknown key %q for the Go function %s", at, k.Value, d.Kind.Value).WithHint("its arguments are under args")
		}
		n.Handler = c.bind(h, d)
	case d.Lacks != "":
		n.Lacks = d.Lacks
	default:
		c.hint(c.ds.Warnf(source.CodeTypeKnown, d.Kind.Pos, "%s: no handler is registered for type %q, so it fails when it is visited", at, d.Kind.Value), d.Kind.Value, c.reg.KindNames)
		n.Lacks = fmt.Sprintf("no handler is registered for type %q: register a Go function of that name, or a kind", d.Kind.Value)
	}
	return true
}

// configKeys returns the keys of the configuration of a node.
func configKeys(d *core.Node) []source.Text {
	if d.Config == nil {
		return nil
	}
	return d.Config.Keys
}

// bind passes the node to a function that implements core.Binder.
func (c *compiler) bind(h core.Handler, d *core.Node) core.Handler {
	b, ok := h.(core.Binder)
	if !ok {
		return h
	}
	h, ds := b.Bind(d, c.env)
	c.ds = append(c.ds, ds...)
	return h
}

// role records the role of a node. It returns false if the mode does not have that role.
func (c *compiler) role(n *Node, made core.Compiled, at place) bool {
	if role := c.p.Mode.nodes.role; role != nil {
		return role(c, n, made, at)
	}
	if made.Role != core.RoleStage && made.Role != core.RoleHuman {
		c.ds.Errorf(source.CodeBadValue, n.Decl.Kind.Pos, "%s: kind %s exists in walks only", at, n.Kind)
		return false
	}
	return true
}

// walkRole records the role of a node of a walk.
func (c *compiler) walkRole(n *Node, made core.Compiled, at place) bool {
	if made.Stream.Value != "" {
		c.ds.Errorf(source.CodeStream, made.Stream.Pos, "%s: streams exist in dags only", at)
	}
	w := &c.p.Walk.Nodes[n.Index]
	if w.Role = made.Role; w.Role == core.RoleParallel {
		w.Parallel = &Parallel{}
	}
	w.Next = made.Next
	n.Briefed = made.Briefed && made.Role == core.RoleStage
	return true
}

// retries returns the retry settings of a node without a retry policy.
func (c *compiler) retries() *Retry {
	if retries := c.p.Mode.nodes.retries; retries != nil {
		return retries(c)
	}
	return once
}

// walkRetries returns the retry settings of the nodes of a walk.
func (c *compiler) walkRetries() *Retry {
	if c.w.Walk == nil || c.w.Walk.MaxRetries == nil || c.w.Walk.MaxRetries.Value <= 0 {
		return once
	}
	r, _ := presetOf("standard")
	r.Attempts = c.w.Walk.MaxRetries.Value + 1
	return &r
}

// walkReads adds the context, if the walk has one, to the declared reads of a node.
func (c *compiler) walkReads(reads []source.Text) []source.Text {
	if !c.p.Conventions.Context || slices.ContainsFunc(reads, func(t source.Text) bool { return t.Value == core.ContextField }) {
		return reads
	}
	return append(slices.Clip(reads), source.Text{Value: core.ContextField})
}

// edgesOf returns the outgoing edges of a node, in declared order.
func (c *compiler) edgesOf(d *core.Node) []*core.Edge {
	if c.outEdges == nil {
		c.outEdges = map[string][]*core.Edge{}
		for _, e := range c.w.Edges {
			c.outEdges[e.From.Value] = append(c.outEdges[e.From.Value], e)
		}
	}
	if list, ok := c.outEdges[d.ID.Value]; ok {
		return list
	}
	return []*core.Edge{}
}

package native

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// walk returns the graph of a walk.
func (w *writer) walk(d *core.Workflow) *source.Value {
	settings := d.Walk
	if settings == nil {
		settings = &core.Walk{}
	}
	w.checkWalk(d)
	switch settings.Router.Value {
	case core.RouterSteps:
		return w.stepsWalk(d, settings)
	case "", core.RouterOutcomes:
		return w.outcomesWalk(d, settings)
	case core.RouterModel:
		return w.modelWalk(d, settings)
	}
	w.fail("workflow %s: router %s cannot be written in this format", d.Name.Value, settings.Router.Value)
	return &source.Value{}
}

// reject records what is left out if cond is true. what is a setting that the form does not have.
func (w *writer) reject(cond bool, subject, what, form string) {
	if cond {
		w.fail("%s: %s cannot be written: it does not exist in a walk with router: %s", subject, what, form)
	}
}

// checkWalk rejects what walks of no router have.
func (w *writer) checkWalk(d *core.Workflow) {
	subject := "workflow " + d.Name.Value
	if len(d.Pipelines)+len(d.Loops) > 0 {
		w.fail("%s: pipelines and loops cannot be written: they exist in dags only", subject)
	}
	defer func(at source.Position) { w.at = at }(w.at)
	for _, n := range d.Nodes {
		w.at = n.Pos
		if n.ForEach != nil {
			w.fail("%s: for_each cannot be written: it exists in dags only", n.Subject())
		}
		if n.Priority.Value != 0 {
			w.fail("%s: priority cannot be written: it exists in dags only", n.Subject())
		}
		if n.Child != nil {
			w.fail("%s: its workflow is part of the document and cannot be written: this format names a file", n.Subject())
		}
		if n.Before != nil || n.After != nil {
			w.fail("%s: its hook is a Go function, which a document cannot hold", n.Subject())
		}
	}
	for _, e := range d.Edges {
		w.at = e.Pos
		if e.Else || e.On.Value != "" || e.Handles != nil {
			w.fail("%s: on, handles and when: else cannot be written: they exist in dags only", edgeName(e))
		}
	}
}

func edgeName(e *core.Edge) string { return "edge " + e.From.Value + " -> " + e.To.Value }

// checkForm rejects settings that only walks of other routers have.
func (w *writer) checkForm(d *core.Workflow, s *core.Walk, router string) {
	subject := "workflow " + d.Name.Value
	steps, outcomes, model := router == core.RouterSteps, router == core.RouterOutcomes, router == core.RouterModel
	w.reject(!steps && (len(s.LoopUntil) > 0 || s.MaxMutations != nil || s.FixedGraph != nil), subject, "loop_until, max_mutations or self_modification", router)
	w.reject(!outcomes && (s.MaxJumps != nil || s.RepeatLimit != nil || s.RetryTarget.Value+s.FallbackRetryTarget.Value+s.Fidelity.Value != ""), subject, "a setting of router: outcomes", router)
	w.reject(outcomes && s.Entry.Value != "", subject, "entry", router)
	w.reject(!model && s.Model.Value != "", subject, "model", router)
	w.reject(d.OpenInputs && (outcomes || len(d.Fields) > 0), subject, "an input that is not declared", router)
	defer func(at source.Position) { w.at = at }(w.at)
	for _, n := range d.Nodes {
		w.at = n.Pos
		w.reject(!steps && (len(n.Transitions) > 0 || n.DefaultNext.Value != "" || n.Critical), n.Subject(), "a setting of router: steps", router)
		w.reject(!outcomes && (n.GoalGate || n.Random || n.Join != nil || n.Parallel != nil || n.RetryTarget.Value+n.FallbackRetryTarget.Value+n.Fidelity.Value != ""),
			n.Subject(), "a setting of router: outcomes", router)
		w.reject(n.Join != nil && n.Join.Race, n.Subject(), "race", router)
		w.reject(!model && n.ViewMembers != nil, n.Subject(), "view_members", router)
	}
	for _, e := range d.Edges {
		w.at = e.Pos
		w.reject(!steps && (e.Cond != nil || e.Priority.Value != 0), edgeName(e), "on, ref or priority", router)
		w.reject(!outcomes && (e.Weight.Value != 0 || e.LoopRestart || e.Freeform || e.Fidelity.Value != ""), edgeName(e), "a setting of router: outcomes", router)
		w.reject(!model && e.MaxIterations != nil, edgeName(e), "max_iterations", router)
	}
}

func (w *writer) walkLimits(o object, s *core.Walk) {
	o.number("default_max_retries", s.MaxRetries, 0)
	if t := s.StallTimeout; t != nil && t.Value != core.DefaultStallTimeout {
		o.put("stall_timeout", stringValue(t.Value.String()))
	}
}

func (o object) attributes(a *value.Object) {
	if a.Len() > 0 {
		o.put("attributes", source.Tree(a, source.Position{}))
	}
}

// walkNodeTree adds the keys of walkNode and those after them.
func walkNodeTree(o object, n *core.Node) *source.Value {
	o.text("label", n.Label)
	o.stringList("classes", source.Strings(n.Classes), false)
	o.attributes(n.Attributes)
	nodeRunTree(o, n)
	nodeTailTree(o, n)
	return o.Value
}

// each returns the trees of a list.
func each[T any](list []*T, tree func(*T) *source.Value) []*source.Value {
	out := make([]*source.Value, len(list))
	for i, e := range list {
		out[i] = tree(e)
	}
	return out
}

func (w *writer) stepsWalk(d *core.Workflow, s *core.Walk) *source.Value {
	w.checkForm(d, s, core.RouterSteps)
	o := w.section()
	o.put("router", stringValue(core.RouterSteps))
	o.text("entry", s.Entry)
	o.number("max_visits", s.MaxSteps, core.DefaultMaxRunVisits)
	o.number("max_node_visits", s.MaxVisits, core.DefaultMaxNodeVisits)
	o.number("max_mutations", s.MaxMutations, core.DefaultMaxMutations)
	if s.FixedGraph != nil && s.FixedGraph.Value {
		o.put("self_modification", &source.Value{Kind: source.BoolValue, Scalar: false})
	}
	w.walkLimits(o, s)
	o.attributes(s.Attributes)
	o.list("nodes", each(d.Nodes, func(n *core.Node) *source.Value {
		o := w.nodeHead(n, stepsNode{})
		to := newObject()
		for _, t := range n.Transitions {
			if to.Get(t.Key.Value) != nil {
				w.fail("%s: two transitions have the key %q", n.Subject(), t.Key.Value)
			}
			to.put(t.Key.Value, stringValue(t.To.Value))
		}
		o.object("transitions", to)
		o.text("default_next", n.DefaultNext)
		o.flag("critical", n.Critical)
		inLoop := slices.ContainsFunc(s.LoopUntil, func(l *core.LoopUntil) bool { return l.Node.Value == n.ID.Value })
		if n.MaxVisits != nil && (inLoop || n.MaxVisits.Value != core.DefaultNodeBudget) {
			o.put("max_visits", intValue(n.MaxVisits.Value))
		}
		return walkNodeTree(o, n)
	}))
	o.list("edges", each(d.Edges, w.stepsEdge))
	o.list("loop_until", each(s.LoopUntil, w.loopUntil))
	return o.Value
}

func (w *writer) stepsEdge(e *core.Edge) *source.Value {
	w.at = e.Pos
	o := newObject()
	o.text("from", e.From)
	o.text("to", e.To)
	if e.When != nil {
		if e.Parsed != nil {
			w.fail("%s: its condition is not an expression", edgeName(e))
		}
		o.put("when", stringValue(e.When.Value))
	}
	w.condTree(o, e.Cond, edgeName(e))
	o.text("label", e.Label)
	o.number("priority", &e.Priority, 0)
	o.attributes(e.Attributes)
	return o.Value
}

// condTree adds the keys of a condition that is not an expression.
func (w *writer) condTree(o object, c *core.Cond, subject string) {
	switch {
	case c == nil:
		return
	case c.Kind.Value == "" && c.Ref.Value == "":
		w.fail("%s: its condition is a Go function without a name, so a document cannot refer to it", subject)
	}
	o.text("on", c.Kind)
	o.text("ref", c.Ref)
	if c.Kind.Value == core.CondOutput {
		o.text("key", c.Key)
		if c.Value != true {
			o.put("value", w.tree(c.Value, subject+": value"))
		}
	}
	if m := c.Min; m != nil && c.Kind.Value == core.CondConfidence && m.Value != core.DefaultConfidence {
		o.put("min", w.tree(m.Value, subject+": min"))
	}
}

func (w *writer) loopUntil(l *core.LoopUntil) *source.Value {
	w.at = l.Pos
	o := newObject()
	o.text("node", l.Node)
	o.text("exit_to", l.ExitTo)
	if l.Until != nil {
		o.put("until", stringValue(l.Until.Value))
	}
	w.condTree(o, l.Cond, "loop_until "+l.Node.Value)
	o.number("max_iterations", l.MaxIterations, core.DefaultLoopBudget)
	return o.Value
}

func (w *writer) outcomesWalk(d *core.Workflow, s *core.Walk) *source.Value {
	w.checkForm(d, s, core.RouterOutcomes)
	o := w.section()
	o.put("router", stringValue(core.RouterOutcomes))
	o.number("max_visits", s.MaxSteps, 0)
	o.number("max_node_visits", s.MaxVisits, 0)
	o.number("max_jumps", s.MaxJumps, core.DefaultMaxJumps)
	o.number("loop_restart_signature_limit", s.RepeatLimit, core.DefaultRepeatLimit)
	w.walkLimits(o, s)
	o.text("retry_target", s.RetryTarget)
	o.text("fallback_retry_target", s.FallbackRetryTarget)
	o.word("default_fidelity", s.Fidelity, core.FidelityCompact)
	o.attributes(s.Attributes)
	o.list("nodes", each(d.Nodes, func(n *core.Node) *source.Value {
		o := w.nodeHead(n, outcomesNode{})
		o.flag("goal_gate", n.GoalGate)
		o.number("max_visits", n.MaxVisits, -1)
		o.text("retry_target", n.RetryTarget)
		o.text("fallback_retry_target", n.FallbackRetryTarget)
		if n.Random {
			o.put("selection", stringValue("random"))
		}
		o.text("fidelity", n.Fidelity)
		joinTree(o, n.Join, core.JoinWaitAll)
		if p := n.Parallel; p != nil {
			o.number("max_parallel", p.MaxParallel, core.DefaultMaxParallel)
			o.word("error_policy", p.ErrorPolicy, "continue")
		}
		return walkNodeTree(o, n)
	}))
	o.list("edges", each(d.Edges, func(e *core.Edge) *source.Value {
		w.at = e.Pos
		o := newObject()
		o.text("from", e.From)
		o.text("to", e.To)
		if e.When != nil {
			if e.Parsed == nil {
				w.fail("%s: its condition is an expression, and this router has a language of its own", edgeName(e))
			}
			o.put("when", stringValue(e.When.Value))
		}
		o.text("label", e.Label)
		o.number("weight", &e.Weight, 0)
		o.flag("loop_restart", e.LoopRestart)
		o.flag("freeform", e.Freeform)
		o.text("fidelity", e.Fidelity)
		o.attributes(e.Attributes)
		return o.Value
	}))
	return o.Value
}

func (w *writer) modelWalk(d *core.Workflow, s *core.Walk) *source.Value {
	w.checkForm(d, s, core.RouterModel)
	o := w.section()
	o.put("router", stringValue(core.RouterModel))
	o.text("entry", s.Entry)
	o.text("model", s.Model)
	o.number("max_visits", s.MaxSteps, core.DefaultMaxSteps)
	o.number("max_node_visits", s.MaxVisits, 0)
	w.walkLimits(o, s)
	o.attributes(s.Attributes)
	o.list("nodes", each(d.Nodes, func(n *core.Node) *source.Value {
		o := w.nodeHead(n, modelNode{})
		o.number("max_visits", n.MaxVisits, -1)
		o.stringList("view_members", source.Strings(n.ViewMembers), n.ViewMembers != nil)
		return walkNodeTree(o, n)
	}))
	o.list("edges", each(d.Edges, func(e *core.Edge) *source.Value {
		w.at = e.Pos
		o := newObject()
		o.text("from", e.From)
		o.text("to", e.To)
		if e.When != nil {
			o.put("when", stringValue(e.When.Value))
		}
		o.number("max_iterations", e.MaxIterations, 0)
		o.text("label", e.Label)
		o.attributes(e.Attributes)
		return o.Value
	}))
	return o.Value
}

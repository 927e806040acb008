package native

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/internal/condition"
)

// readWalk decodes the document of a walk and converts it. graph converts its graph, and
// returns the keys that could not be read.
func readWalk[G any](p *parser, tree *source.Value, graph func(w *core.Workflow, g *G) source.Lost) (w *core.Workflow, ok bool) {
	p.form = formOf(tree)
	var doc documentOf[G]
	if w, ok = read(p, tree, &doc); !ok {
		return nil, false
	}
	w.Mode = core.ModeWalk
	w.Walk = &core.Walk{Pos: w.Pos}
	if g := tree.Get("graph"); g != nil {
		w.Walk.Pos = g.Pos
	}
	w.Lost = doc.lost(tree, doc.Graph, graph(w, &doc.Graph))
	return w, true
}

// unroutedWalk converts a walk whose router is not known, so that its graph cannot be
// read.
func (p *parser) unroutedWalk(w *core.Workflow, _ *unroutedGraph) source.Lost {
	return source.Lost{"nodes", "edges", "entry", "router"}
}

func (p *parser) stepsWalk(w *core.Workflow, g *stepsGraph) source.Lost {
	walk := w.Walk
	walk.Router, walk.Entry, walk.MaxSteps, walk.MaxVisits, walk.MaxMutations = g.Router, g.Entry, g.MaxVisits, g.MaxNodeVisits, g.MaxMutations
	walk.MaxRetries, walk.StallTimeout, walk.Attributes = g.MaxRetries, g.StallTimeout, g.Attributes.object()
	if s := g.SelfModify; s != nil {
		walk.FixedGraph = &source.Located[bool]{Value: !s.Value, Pos: s.Pos}
	}
	for i := range g.Nodes {
		d := &g.Nodes[i]
		n := p.walkNode(&d.nodeHead, &d.walkNode, &d.nodeRun, &d.nodeTail)
		n.DefaultNext, n.Critical, n.MaxVisits = d.DefaultNext, d.Critical, d.MaxVisits
		for _, t := range d.Transitions {
			n.Transitions = append(n.Transitions, core.Transition{Key: t.Key, To: t.Value})
		}
		p.checkKeys(n, d)
		w.Nodes = append(w.Nodes, n)
	}
	for i := range g.Edges {
		w.Edges = append(w.Edges, p.stepsEdge(&g.Edges[i]))
	}
	for i := range g.LoopUntil {
		d := &g.LoopUntil[i]
		l := &core.LoopUntil{Node: d.Node, ExitTo: d.ExitTo, Until: d.Until.text, MaxIterations: d.MaxIterations, Lost: d.Lost, Pos: d.Pos}
		l.Cond = p.cond(&d.resultCondition, &d.Until, place{"until", "loop_until " + d.Node.Value, d.Lost, d.Pos})
		if d.Lost.Any("on", "ref") {
			l.Lost = append(l.Lost, "until")
		}
		walk.LoopUntil = append(walk.LoopUntil, l)
	}
	return g.Lost
}

// walkNode returns a node with the keys that nodes of all walks have.
func (p *parser) walkNode(head *nodeHead, d *walkNode, run *nodeRun, tail *nodeTail) *core.Node {
	n := &core.Node{}
	p.nodeKeys(n, head, run, tail)
	n.Label, n.Classes, n.Attributes = d.Label, d.Classes, d.Attributes.object()
	return n
}

func (p *parser) stepsEdge(d *stepsEdge) *core.Edge {
	e := &core.Edge{From: d.From, To: d.To, When: d.When.text, Label: d.Label, Priority: d.Priority, Attributes: d.Attributes.object(), Lost: d.Lost, Pos: d.Pos}
	e.Cond = p.cond(&d.resultCondition, &d.When, place{"when", "edge " + d.From.Value + " -> " + d.To.Value, d.Lost, d.Pos})
	if d.Lost.Any("on", "ref") {
		e.Lost = append(e.Lost, "when")
	}
	return e
}

// place is an edge or loop with a condition: the key for expressions, its name in
// messages, the keys that could not be read, and its position.
type place struct {
	when, subject string
	lost          source.Lost
	pos           source.Position
}

// cond returns the condition that the keys on and ref describe, or nil if there is
// none.
func (p *parser) cond(d *resultCondition, expression *conditionShape, at place) *core.Cond {
	on, ref := d.On.Value != "", d.Ref.Value != ""
	switch {
	case expression.text != nil && on:
		p.ds.Errorf(source.CodeBadValue, d.On.Pos, "%s: on: there is also the key %s, and only one of them can be the condition", at.subject, at.when)
	case ref && (on || expression.text != nil):
		p.ds.Errorf(source.CodeBadValue, d.Ref.Pos, "%s: ref: there is also another condition, and only one can be given", at.subject)
	}
	c := &core.Cond{Kind: d.On, Key: d.Key, Min: d.Min, Ref: d.Ref, Pos: at.pos}
	switch {
	case on:
		c.Pos = d.On.Pos
	case ref:
		c.Pos = d.Ref.Pos
	}
	p.condKeys(d, at)
	if !on && !ref {
		return nil
	}
	if d.On.Value == core.CondOutput {
		c.Value = any(true)
		if d.Value != nil {
			c.Value = *d.Value
		}
	}
	return c
}

// condKeys checks the keys that belong to one kind of condition.
func (p *parser) condKeys(d *resultCondition, at place) {
	if at.lost.Has("on") {
		return
	}
	misplaced := func(key, kind string, pos source.Position) {
		p.ds.Errorf(source.CodeBadValue, pos, "%s: %s: this key belongs to on: %s", at.subject, key, kind)
	}
	if d.On.Value != core.CondOutput {
		if d.Key.Pos.IsValid() {
			misplaced("key", core.CondOutput, d.Key.Pos)
		}
		if d.Value != nil {
			misplaced("value", core.CondOutput, at.pos)
		}
	} else if strings.TrimSpace(d.Key.Value) == "" && !at.lost.Has("key") {
		p.ds.Errorf(source.CodeMissingKey, d.On.Pos, "%s: on: output has no key", at.subject).WithHint("name the member of the output that is compared")
	}
	if d.Min != nil && d.On.Value != core.CondConfidence {
		misplaced("min", core.CondConfidence, d.Min.Pos)
	}
}

func (p *parser) outcomesWalk(w *core.Workflow, g *outcomesGraph) source.Lost {
	walk := w.Walk
	walk.Router, walk.MaxSteps, walk.MaxVisits, walk.MaxJumps, walk.RepeatLimit = g.Router, g.MaxVisits, g.MaxNodeVisits, g.MaxJumps, g.RepeatLimit
	walk.MaxRetries, walk.StallTimeout, walk.Attributes = g.MaxRetries, g.StallTimeout, g.Attributes.object()
	walk.RetryTarget, walk.FallbackRetryTarget, walk.Fidelity = g.RetryTarget, g.FallbackRetryTarget, g.Fidelity
	for i := range g.Nodes {
		d := &g.Nodes[i]
		n := p.walkNode(&d.nodeHead, &d.walkNode, &d.nodeRun, &d.nodeTail)
		n.GoalGate, n.MaxVisits, n.RetryTarget, n.FallbackRetryTarget, n.Fidelity = d.GoalGate, d.MaxVisits, d.RetryTarget, d.FallbackRetryTarget, d.Fidelity
		n.Random, n.Asks, n.Join = d.Selection.Value == "random", d.Kind.Value == kindHuman, d.Join.join(false)
		if d.MaxParallel != nil || d.ErrorPolicy.Value != "" {
			n.Parallel = &core.Parallel{MaxParallel: d.MaxParallel, ErrorPolicy: d.ErrorPolicy}
		}
		p.checkKeys(n, d)
		w.Nodes = append(w.Nodes, n)
	}
	for i := range g.Edges {
		w.Edges = append(w.Edges, p.outcomesEdge(&g.Edges[i]))
	}
	return g.Lost
}

// kindHuman is the kind of nodes that ask a person, whether or not it is registered.
const kindHuman = "human"

func (p *parser) outcomesEdge(d *outcomesEdge) *core.Edge {
	e := &core.Edge{From: d.From, To: d.To, When: d.When.text, Label: d.Label, Weight: d.Weight, LoopRestart: d.LoopRestart, Freeform: d.Freeform,
		Fidelity: d.Fidelity, Attributes: d.Attributes.object(), Lost: d.Lost, Pos: d.Pos}
	if e.When == nil {
		return e
	}
	tree, ds := condition.Parse(*e.When)
	for _, f := range ds {
		f.Message = "edge " + d.From.Value + " -> " + d.To.Value + ": " + f.Message
		p.ds = append(p.ds, f)
	}
	if tree == nil {
		e.Lost = append(e.Lost, "when")
		return e
	}
	e.Parsed = tree
	return e
}

func (p *parser) modelWalk(w *core.Workflow, g *modelGraph) source.Lost {
	walk := w.Walk
	walk.Router, walk.Entry, walk.Model, walk.MaxSteps, walk.MaxVisits = g.Router, g.Entry, g.Model, g.MaxVisits, g.MaxNodeVisits
	walk.MaxRetries, walk.StallTimeout, walk.Attributes = g.MaxRetries, g.StallTimeout, g.Attributes.object()
	for i := range g.Nodes {
		d := &g.Nodes[i]
		n := p.walkNode(&d.nodeHead, &d.walkNode, &d.nodeRun, &d.nodeTail)
		n.MaxVisits, n.ViewMembers = d.MaxVisits, d.ViewMembers
		p.checkKeys(n, d)
		w.Nodes = append(w.Nodes, n)
	}
	for i := range g.Edges {
		d := &g.Edges[i]
		w.Edges = append(w.Edges, &core.Edge{From: d.From, To: d.To, When: d.When.text, MaxIterations: d.MaxIterations, Label: d.Label,
			Attributes: d.Attributes.object(), Lost: d.Lost, Pos: d.Pos})
	}
	return g.Lost
}

// object returns the mapping as a value, nil if it is absent or empty.
func (m *mappingShape) object() *value.Object {
	if m.tree == nil || len(m.tree.Keys) == 0 {
		return nil
	}
	o, _ := m.tree.Plain().(*value.Object)
	return o
}

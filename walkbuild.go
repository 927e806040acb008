package wavefold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/dot"
)

// walkOptions returns the options that a part of a walk takes with a router, or, for "", with every router.
type walkOptions func(r WalkRouter) []string

// walkNodeOptions are the options of nodes, and walkEdgeOptions those of edges.
func walkNodeOptions(r WalkRouter) []string {
	switch r {
	case BySteps:
		return []string{"MaxVisits", "Transition", "DefaultNext", "Critical", "Entry", "BeforeVisit", "AfterVisit"}
	case ByOutcomes:
		return []string{"MaxVisits", "GoalGate", "RandomEdge", "RetryTarget", "Fidelity", "Priority"}
	case ByModel:
		return []string{"Entry"}
	}
	return []string{"Retry", "RetryPreset", "RetryTransient", "AllowPartial", "AutoStatus", "Timeout", "Phase", "Describe", "Effects", "Version",
		"PauseBefore", "PauseAfter", "Cached", "CacheKey", "Label"}
}

func walkEdgeOptions(r WalkRouter) []string {
	switch r {
	case BySteps:
		return []string{"Priority"}
	case ByOutcomes:
		return []string{"Weight", "Restart", "Freeform", "Fidelity"}
	case ByModel:
		return []string{"MaxFollows"}
	}
	return []string{"Label"}
}

// routerWord returns a router as messages name it.
func routerWord(r WalkRouter) string {
	switch r {
	case ByOutcomes:
		return "a walk by outcomes"
	case ByModel:
		return "a walk by a model"
	}
	return "a walk by steps"
}

// walkOptionHint says which walks take an option.
func walkOptionHint(name string, table walkOptions) string {
	var in []string
	for _, r := range [...]WalkRouter{BySteps, ByOutcomes, ByModel} {
		if slices.Contains(table(r), name) {
			in = append(in, routerWord(r))
		}
	}
	switch {
	case in != nil:
		return "it is for " + strings.Join(in, " and ")
	case slices.Contains(table(""), name):
		return "it is for walks"
	case edgeOptions[name] || name == "After" || name == "From":
		return "the methods of Walk add the edges"
	case name == "OnError":
		return "an edge says what follows a failure: Walk.OnError in a walk by steps, CondExpr(\"outcome=fail\") in one by outcomes"
	}
	return ""
}

// checkWalkOptions reports options that a node or an edge of the walk does not take.
func (b *builder) checkWalkOptions(of fmt.Stringer, used []setting, extra []string, table walkOptions) {
	for _, u := range used {
		if !slices.Contains(table(""), u.name) && !slices.Contains(table(b.router), u.name) && !slices.Contains(extra, u.name) {
			b.ds.Errorf(source.CodeUnknownKey, u.pos, "%s: option %s means nothing in %s", of, u.name, routerWord(b.router)).
				WithHint("%s", walkOptionHint(u.name, table))
		}
	}
}

// walkOnly reports a setting of walks in a graph of New.
func (b *builder) walkOnly(name string, at ...source.Position) bool {
	if b.walk != nil {
		return true
	}
	b.ds.Errorf(source.CodeUnknownKey, slices.Concat(at, []source.Position{b.w.Pos})[0], "%s means nothing to New", name).WithHint("it is for NewWalk")
	return false
}

// walkSetting reports whether the graph is a walk by one of the routers, or by any if there
// are none, and reports a setting that is not for it.
func (b *builder) walkSetting(name string, at source.Position, routers ...WalkRouter) bool {
	if !b.walkOnly(name, at) {
		return false
	}
	if len(routers) == 0 || slices.Contains(routers, b.router) {
		return true
	}
	words := make([]string, len(routers))
	for i, r := range routers {
		words[i] = routerWord(r)
	}
	b.ds.Errorf(source.CodeUnknownKey, at, "%s means nothing in %s", name, routerWord(b.router)).WithHint("it is for %s", strings.Join(words, " and "))
	return false
}

// declareVisits sets what only nodes of walks have.
func (b *builder) declareVisits(d *core.Node, n *node) {
	d.Label, d.Fidelity, d.MaxVisits = n.label, n.fidelity, n.maxVisits
	d.Transitions, d.DefaultNext, d.Critical = slices.Clone(n.transitions), n.defaultNext, n.critical
	d.GoalGate, d.Random, d.RetryTarget, d.FallbackRetryTarget = n.goalGate, n.random, n.retryTarget, n.fallback
	d.Before, d.After = n.before, n.after
	if n.constructor == "Parallel" && (n.limit != nil || n.branchErrors.Value != "") {
		d.Parallel = &core.Parallel{MaxParallel: n.limit, ErrorPolicy: n.branchErrors}
	}
	if n.entry == nil || b.router == ByOutcomes {
		return
	}
	if known := b.w.Walk.Entry; known.Value != "" {
		b.ds.Errorf(source.CodeDuplicate, *n.entry, "node %s: node %s is the entry, too", n.id.Value, known.Value).
			WithHint("a walk begins at one node; the other one is at %s", known.Pos)
		return
	}
	b.w.Walk.Entry = source.At(n.id.Value, *n.entry)
}

// edgeName is the subject of findings about an edge.
type edgeName struct{ from, to string }

func (e edgeName) String() string { return "edge " + e.from + " -> " + e.to }

// walkEdges adds the edges of the walk.
func (b *builder) walkEdges() {
	b.w.Edges = make([]*core.Edge, 0, len(b.walk.edges))
	for i := range b.walk.edges {
		e := &b.walk.edges[i]
		o := &e.options
		name := edgeName{e.from.Value, e.to.Value}
		b.checkWalkOptions(name, o.applied, nil, walkEdgeOptions)
		d := &core.Edge{From: e.from, To: e.to, Label: o.label, Priority: o.priority, Weight: o.weight, LoopRestart: o.loopRestart,
			Freeform: o.freeform, Fidelity: o.fidelity, MaxIterations: o.maxFollows, Pos: e.from.Pos}
		if e.cond.isZero() && e.method == "When" {
			b.ds.Errorf(source.CodeMissingKey, d.Pos, "%s: When has no condition", name).WithHint("Always adds an edge without one")
		}
		if when, cond, ok := b.condition(name, &e.cond); ok {
			d.When, d.Cond = when, cond
		} else {
			d.Lost = source.Lost{"when"}
		}
		if d.When != nil && b.router == ByOutcomes {
			b.outcomeCondition(name, d)
		}
		b.w.Edges = append(b.w.Edges, d)
	}
}

// outcomeCondition parses the condition of an edge of a walk by outcomes.
func (b *builder) outcomeCondition(name edgeName, d *core.Edge) {
	parsed, ds := dot.ParseCondition(*d.When)
	for _, found := range ds {
		found.Message = name.String() + ": " + found.Message
		b.ds = append(b.ds, found)
	}
	if parsed == nil {
		d.Lost = source.Lost{"when"}
		if len(ds) == 0 {
			b.ds.Errorf(source.CodeMissingKey, d.When.Pos, "%s: the condition is empty", name).WithHint("Always adds an edge without one")
		}
		return
	}
	d.Parsed = parsed
}

// condition returns a condition for the walk's router. ok is false if the router does not
// have such conditions.
func (b *builder) condition(of fmt.Stringer, c *Condition) (when *source.Text, cond *core.Cond, ok bool) {
	if c.isZero() {
		return nil, nil, true
	}
	if c.err != "" {
		b.ds.Errorf(source.CodeBadValue, c.pos, "%s: %s: %s", of, c.made, c.err)
		return nil, nil, false
	}
	want := "CondExpr"
	if b.router == ByModel {
		want = "CondText"
	}
	switch {
	case c.cond == nil && c.made == want:
		text := c.text
		if strings.TrimSpace(text.Value) == "" && b.router == ByModel {
			b.ds.Errorf(source.CodeMissingKey, c.pos, "%s: the condition is empty", of).WithHint("Always adds an edge without one")
			return nil, nil, false
		}
		return &text, nil, true
	case c.cond != nil && b.router == BySteps:
		b.bindCondition(of, c)
		own := *c.cond
		return nil, &own, true
	}
	b.ds.Errorf(source.CodeBadValue, c.pos, "%s: a condition %s means nothing in %s", of, c.made, routerWord(b.router)).WithHint("use %s", want)
	return nil, nil, false
}

// bindCondition notes a function that has a name, for Engine.Bind.
func (b *builder) bindCondition(of fmt.Stringer, c *Condition) {
	name := c.cond.Ref.Value
	if c.bound == nil || name == "" {
		return
	}
	at := slices.IndexFunc(b.g.conditions, func(known Condition) bool { return known.cond.Ref.Value == name })
	switch {
	case at < 0:
		b.g.conditions = append(b.g.conditions, *c)
	case b.g.conditions[at].bound != c.bound:
		b.ds.Errorf(source.CodeDuplicateID, c.cond.Ref.Pos, "%s: another condition has the name %q, too", of, name).
			WithHint("the other one is at %s", b.g.conditions[at].cond.Ref.Pos)
	}
}

// loopName is the subject of findings about a LoopUntil.
type loopName string

func (l loopName) String() string { return "loop of " + string(l) }

// walkLoops adds the loops of the walk.
func (b *builder) walkLoops() {
	for i := range b.walk.loops {
		l := &b.walk.loops[i]
		pos := l.node.Pos
		if b.router != BySteps {
			b.ds.Errorf(source.CodeUnknownKey, pos, "LoopUntil means nothing in %s", routerWord(b.router)).WithHint("it is for %s", routerWord(BySteps))
			continue
		}
		limit := l.max
		d := &core.LoopUntil{Node: l.node, ExitTo: l.exit, MaxIterations: &limit, Pos: pos}
		var ok bool
		if d.Until, d.Cond, ok = b.condition(loopName(l.node.Value), &l.until); !ok {
			d.Lost = source.Lost{"until"}
		}
		b.w.Walk.LoopUntil = append(b.w.Walk.LoopUntil, d)
	}
}

// onlyInGo returns an error if a walk has hooks, or conditions that are functions without a
// name.
func onlyInGo(w *core.Workflow) error {
	for _, n := range w.Nodes {
		if n.Before != nil || n.After != nil {
			return fmt.Errorf("%s: a walk whose nodes have BeforeVisit or AfterVisit cannot be saved", n.Subject())
		}
	}
	const unnamed = "%s: its condition is a Go function without a name, so the walk cannot be saved: give it one with Named"
	for _, e := range w.Edges {
		if unsaved(e.Cond) {
			return fmt.Errorf(unnamed, edgeName{e.From.Value, e.To.Value})
		}
	}
	if w.Walk == nil {
		return nil
	}
	for _, l := range w.Walk.LoopUntil {
		if unsaved(l.Cond) {
			return fmt.Errorf(unnamed, loopName(l.Node.Value))
		}
	}
	return nil
}

func unsaved(c *core.Cond) bool { return c != nil && c.Func != nil && c.Ref.Value == "" }

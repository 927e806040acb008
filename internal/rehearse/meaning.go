package rehearse

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// answers checks that the node of answers exists, and that each key of them has an effect there.
func (n *names) answers(m source.Member[mock.Answers], where string) {
	before := len(n.ds)
	if n.node(m.Key, where, false); len(n.ds) > before {
		return
	}
	p, id := n.inner(m.Key.Value)
	node, known := p.Node(id)
	if !known { // the run adds it
		node = nil
	}
	for i := range m.Value {
		a := &m.Value[i]
		for _, key := range a.Keys {
			if why := meaningless(key.Value, a, p, node); why != "" {
				n.ds.Errorf(source.CodeBadValue, key.Pos, "%s.%s: %s: %s", where, m.Key.Value, key.Value, why)
			}
		}
	}
}

// meaningless returns the reason why a key of an answer has no effect, "" if it has one. n is nil for a node that
// the run adds.
func meaningless(key string, a *mock.Answer, p *plan.Plan, n *plan.Node) string {
	rules := p.Conventions
	switch key {
	case "tool_calls", "tool_loop", "guards", "next_node", "mutations":
		if !rules.Steps {
			return "only nodes of a walk by steps have it"
		}
		if key == "tool_loop" && len(a.ToolCalls) == 0 {
			return "it is about the results of tool_calls, and there are none"
		}
	case "preferred_label", "suggested_next":
		if !rules.Exit { // nothing but outcomes needs an exit
			return "only nodes of a walk by outcomes have it"
		}
	case "context_updates":
		if !rules.Context {
			return "the workflow has no context"
		}
	case "evals":
		if !rules.HasRouter {
			return "only a model that routes a walk sees checks"
		}
	case "status":
		if a.Status.Value == core.Skipped.String() && !rules.Skips {
			return "only a node of a walk can answer with skipped"
		}
	case "visit":
		if !p.Mode.Visits {
			return "only nodes of a walk or flow are visited; use item for an item, row or round"
		}
	case "item":
		if n == nil || !repeats(p, n) {
			return "the node has no items, rows or rounds"
		}
	case "human":
		if n != nil && !n.Asks {
			return "the node asks nobody; only human gates do"
		}
	}
	return ""
}

// repeats reports whether a node runs once for each item, row or round.
func repeats(p *plan.Plan, n *plan.Node) bool {
	return n.Source != nil || !p.Mode.Visits && p.Vertices[n.Vertex].Unit != nil
}

// conditions checks that edges have the conditions that the file answers for.
func (n *names) conditions(list source.Members[mock.Verdicts]) {
	var have []string
	var steps bool
	seen := map[*plan.Plan]bool{}
	var find func(p *plan.Plan)
	find = func(p *plan.Plan) {
		if seen[p] {
			return
		}
		seen[p] = true
		if p.Conventions.Steps {
			steps = true
			for i := range p.Edges {
				if p.Function(int32(i)) != nil {
					have = append(have, p.CondText(int32(i)))
				}
			}
		}
		for i := range p.Nodes {
			if f := p.Nodes[i].Frame; f != nil {
				find(f.Plan)
			}
		}
	}
	if len(list) > 0 {
		find(n.plan)
	}
	for _, m := range list {
		switch name := m.Key.Value; {
		case !steps:
			n.ds.Errorf(source.CodeBadValue, m.Key.Pos, "conditions.%s: only edges of a walk by steps have conditions that are Go functions", name)
		case !slices.Contains(have, name):
			n.ds.Errorf(source.CodeBadValue, m.Key.Pos, "conditions: no edge has the condition %q", name).WithHint("%s", source.DidYouMean(name, have))
		}
	}
}

// unused reports answers for an item or a visit that the run has not had, and answers of a node that the run
// has not added.
func (c *checker) unused() {
	r := c.rec
	if r.file == nil || r.calls == nil {
		return
	}
	for _, m := range scripted(r.file) {
		node := m.Key.Value
		if !r.exists(node) {
			c.miss(m.Key.Pos, "the answers of "+node, "a node that the run adds", "the run has not added it", "")
			continue
		}
		for i := range m.Value {
			a := &m.Value[i]
			switch {
			case a.Item != nil && r.calls.count[call{node: node, item: core.Nth(a.Item.Value)}] == 0:
				c.miss(a.Item.Pos, fmt.Sprintf("the answer for item %d of %s", a.Item.Value, node), "that it runs", ran(r.Runs[node], "execution"), r.why(node))
			case a.Visit != nil && r.calls.count[call{node: node, visit: a.Visit.Value}] == 0:
				c.miss(a.Visit.Pos, fmt.Sprintf("the answer for visit %d of %s", a.Visit.Value, node), "that visit", ran(r.Runs[node], "visit"), "")
			}
		}
	}
	if r.file.Model == nil {
		return
	}
	for _, m := range r.file.Model.Route {
		for i := range m.Value {
			if v := m.Value[i].Visit; v != nil && r.routes.count[call{node: m.Key.Value, visit: v.Value}] == 0 {
				c.miss(v.Pos, fmt.Sprintf("the decision after visit %d of %s", v.Value, m.Key.Value), "that decision", "it is never asked for", "")
			}
		}
	}
}

// exists reports whether the document has the node at a path, or the run has added it.
func (r *Record) exists(path string) bool {
	frame, id := plan.CutPath(path)
	p, err := r.plan.At(frame)
	if err != nil {
		return false
	}
	if _, ok := p.Node(id); ok {
		return true
	}
	return slices.ContainsFunc(r.Events, func(e core.Event) bool {
		if e.Type != core.GraphChanged {
			return false
		}
		in, _ := plan.CutPath(withoutIndexes(e.Node))
		config, _ := e.Values.Get("config")
		described, _ := config.(*value.Object)
		name, _ := described.Get("name")
		return in == frame && name == any(id)
	})
}

// ran describes a number of executions.
func ran(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

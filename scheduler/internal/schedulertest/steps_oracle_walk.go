package schedulertest

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// walk visits nodes until the walk ends, and returns how it ends, with the class of the failure.
func (o *stepsOracle) walk() (end, class string) {
	limit := o.g.MaxSteps
	if limit == 0 {
		limit = 50
	}
	n := o.graph.node(o.g.Nodes[0].ID)
	for {
		if len(o.path) == limit {
			return failedAt(core.ClassMaxIterations, n.id)
		}
		v := o.visit(n)
		if v.failed && n.critical {
			return failedAt(v.class, n.id)
		}
		if v.update != nil {
			for k, x := range v.update.All() {
				o.write(k, x)
			}
		}
		to, step := o.resolve(v)
		known := to == core.EndNode || o.graph.node(to) != nil
		diverted, ok := false, true
		if known {
			if to, diverted, ok = o.divert(to); diverted {
				step = core.StepBudget
			}
		}
		if step != core.StepToolLoop {
			o.log.mark("conversation left behind", len(o.talk) > 0 && to != core.EndNode)
			o.talk = nil
		} else {
			o.talk = append(o.talk, v.v.Messages...)
			o.log.mark("conversation goes on", len(o.talk) > 0)
		}
		o.transition(v, to, step)
		switch {
		case !known:
			return failedAt(core.ClassUnknownNode, n.id)
		case !ok:
			return failedAt(core.ClassNodeBudget, n.id)
		case to == core.EndNode && v.failed:
			return failedAt(v.class, n.id)
		case to == core.EndNode:
			return "success", ""
		}
		n = o.graph.node(to)
	}
}

// failedAt describes the end of a walk that has failed.
func failedAt(class, node string) (string, string) {
	switch class {
	case core.ClassMaxIterations, core.ClassUnknownNode, core.ClassNodeBudget:
		return "failed " + class, class
	}
	return "failed " + core.ClassError + " at " + node, class
}

func (o *stepsOracle) transition(v *oracleVisit, to, step string) {
	if to == core.EndNode {
		to = core.End
	}
	o.log.Walk = append(o.log.Walk, fmt.Sprintf("%s%s -> %s %s", o.prefix, v.id, to, step))
	o.log.Results = append(o.log.Results, fmt.Sprintf("%s%s#%d called %q, guards failed %q", o.prefix, v.id, v.count, v.v.Tools, v.v.Failed))
}

// visit makes a visit of a node: the hook Before, the attempts, the changes of the graph and the hook After.
// A critical node that has failed makes no changes.
func (o *stepsOracle) visit(n *oracleNode) *oracleVisit {
	o.path = append(o.path, n.id)
	o.visits[n.id]++
	v := &oracleVisit{id: n.id, n: n, count: o.visits[n.id]}
	if n.does != nil && n.does.Before > 0 {
		o.hookBefore(n.does)
	}
	o.execute(v)
	if !v.failed || !n.critical {
		o.change(v)
		if n.does != nil && n.does.After > 0 {
			o.hookAfter(v, n.does)
		}
	}
	status := core.Success
	if v.failed {
		status = core.Fail
	}
	o.log.Walk = append(o.log.Walk, fmt.Sprintf("%s%s#%d %s after %d", o.prefix, v.id, v.count, status, v.after))
	return v
}

// execute makes the attempts of a visit.
func (o *stepsOracle) execute(v *oracleVisit) {
	n, path := v.n, o.prefix+v.id
	if n.does != nil && (n.does.Sub != nil || n.does.Dag != nil) {
		v.v = o.sub(n.does, fmt.Sprintf("%s[%d]", path, v.count))
	} else {
		v.v = o.g.visit(o.g.node(n.id), path, v.count)
		var m any
		if n.does != nil || !o.g.Schema { // an added node reads no declared field, and all of an open state
			m = o.state["m"]
		}
		v.v.seen(m, len(o.talk))
	}
	v.after, v.class = v.v.Failing+1, core.ClassError
	switch {
	case v.after > n.attempts: // all attempts have failed
		v.after = n.attempts
		v.v = &StepsVisit{Err: "lost"}
	case len(v.v.Writes) == 0 || len(n.writes) > 0:
	case v.v.Err != "status": // a node that has replaced a removed one declares no writes, so nothing of the result counts
		v.v = &StepsVisit{Err: "lost"}
	default: // the failure that the result reports itself counts, with the rest of the result
		v.v.Writes = nil
	}
	if v.v.Err == "panic" { // there is no result then
		v.v = &StepsVisit{Err: "panic"}
	}
	if v.v.class != "" {
		v.class = v.v.class
	}
	v.failed = v.v.Err != ""
	for _, name := range sortedKeys(v.v.Writes) {
		o.write(name, v.v.Writes[name])
	}
	v.output = o.outputOf(n, v.v)
}

// outputOf returns the output of a visit: what it sends, or else what it writes.
func (o *stepsOracle) outputOf(n *oracleNode, v *StepsVisit) (output any) {
	switch {
	case v.Sends:
		output = v.Output
	case len(n.writes) == 1:
		output = v.Writes[n.writes[0]]
	case len(v.Writes) > 0:
		output = v.Writes
	}
	if m, ok := output.(map[string]any); ok {
		all := value.NewObject(len(m))
		for _, k := range sortedKeys(m) {
			all.Set(k, m[k])
		}
		return all
	}
	return output
}

// hookBefore calls the Before hook of a node. If it fails, or the state rejects something that it sets,
// nothing of it counts.
func (o *stepsOracle) hookBefore(n *StepsNode) {
	b := o.g.before(n, o.state["m"])
	o.log.mark("hook Before failed", b.ends != "" && len(b.set) > 0)
	if b.ends != "" || o.g.Schema && slices.ContainsFunc(b.set, func(c stepsChange) bool {
		_, integer := c.value.(int64)
		return !integer || c.name != "m" && c.name != "sum"
	}) {
		o.log.mark("hook Before rejected", b.ends == "")
		return
	}
	o.log.mark("hook Before changed the state", len(b.set) > 0)
	for _, c := range b.set {
		o.write(c.name, c.value)
	}
}

// hookAfter calls the After hook of the node of a visit, which may change the result.
func (o *stepsOracle) hookAfter(v *oracleVisit, n *StepsNode) {
	a := o.g.after(n, v.id, v.count)
	o.log.mark("hook After failed", a.ends != "")
	if a.ends != "" {
		return
	}
	r := *v.v
	o.log.mark("hook After cleared a failure", v.failed && a.clear)
	o.log.mark("hook After failed the visit", !v.failed && a.fail)
	o.log.mark("hook After changed the result", a.guards || a.polite || a.quiet || a.next != "" || a.output != nil)
	o.log.mark("hook After ended the walk", a.end)
	if a.guards {
		r.Failed = append(slices.Clone(r.Failed), fmt.Sprintf("saw %s %t %d", value.JSON(v.output), v.failed, len(r.Tools)))
	}
	if a.polite {
		r.Failed = nil
	}
	switch {
	case v.failed && a.clear:
		v.failed = false
	case !v.failed && a.fail:
		v.failed, v.class = true, core.ClassError
	}
	if a.quiet {
		r.Tools = nil
	}
	if a.next != "" {
		r.Next = a.next
	}
	if a.output != nil {
		v.output = a.output
	}
	if a.end {
		v.jump = core.EndNode
	}
	v.v = &r
}

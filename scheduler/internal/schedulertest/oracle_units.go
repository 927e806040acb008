package schedulertest

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// runPlain visits a node that runs once.
func (o *oracle) runPlain(u *unit) {
	n := u.members[0]
	a := &attempt{node: n, view: o.below[u.level], edges: o.inputs(n)}
	o.run(a)
	o.commit(a, o.state)
	r := o.record(a)
	r.Failed = 0 // it has no items that could fail
	r.Status = a.status()
	if a.failure == nil && a.result.HasEdgeOutput {
		r.Output = a.result.EdgeOutput
	}
	o.close(u)
}

// status returns the status of a single execution.
func (a *attempt) status() core.Status {
	switch {
	case a.failure != nil:
		return core.Fail
	case a.result.Status == core.PartialSuccess:
		return core.PartialSuccess
	}
	return core.Success
}

// worse combines the statuses of executions into the status of their node: any failure
// fails it, otherwise any partial success makes it one.
func worse(a, b core.Status) core.Status {
	switch {
	case a == core.Fail || b == core.Fail:
		return core.Fail
	case a == core.PartialSuccess || b == core.PartialSuccess:
		return core.PartialSuccess
	}
	return core.Success
}

// record counts an execution for its node.
func (o *oracle) record(a *attempt) *member {
	r := o.records[a.node.ID.Value]
	r.Attempts += a.attempts
	r.Items++
	r.Changed = r.Changed || a.changed
	if a.failure != nil {
		r.Failed++
		if r.Class == "" {
			r.Class = a.failure.Class
		}
	}
	return r
}

// close sets the status of a unit from its members: any failed member fails it.
func (o *oracle) close(u *unit) {
	if u.status != core.Fail {
		u.status = core.Success
	}
	for _, n := range u.members {
		r := o.records[n.ID.Value]
		switch {
		case r.Status == core.Fail:
			u.fails(n.ID.Value, r.Class)
		case r.Status == core.PartialSuccess && u.status == core.Success:
			u.status = core.PartialSuccess
		}
	}
}

// fails marks a unit as failed; id is the node where that began, unless the unit failed
// earlier.
func (u *unit) fails(id, class string) {
	u.status = core.Fail
	if u.failedFirst == "" {
		u.failedFirst, u.class = id, class
	}
}

// items returns the array that a source names in the state of the unit's level.
func (o *oracle) items(u *unit, source string) ([]any, bool) {
	list, ok := o.below[u.level].get(strings.TrimPrefix(source, "$.")).([]any)
	return list, ok
}

// runFanOut visits a node once for each item. All items see the same state; each is a
// separate transaction, committed in item order.
func (o *oracle) runFanOut(u *unit) {
	n := u.members[0]
	r := o.records[n.ID.Value]
	r.Status = core.Success
	if f := unreadable(n, o.below[u.level]); f != nil {
		r.Status, r.Class = core.Fail, f.Class
		o.close(u)
		return
	}
	list, ok := o.items(u, n.ForEach.Source.Value)
	if !ok {
		r.Status, r.Class = core.Fail, core.ClassInput
		o.close(u)
		return
	}
	allowed := len(list)
	if n.ForEach.MaxFailures != nil {
		allowed = n.ForEach.MaxFailures.Value
	}
	r.Items = len(list)
	outputs := make([]any, len(list))
	sent, collected := false, []any{}
	for i, item := range list {
		a := &attempt{node: n, view: o.below[u.level], edges: o.inputs(n), item: item, index: core.Nth(i)}
		o.run(a)
		if r.Failed > allowed {
			o.void[fmt.Sprintf("%s%s[%d]", o.path, n.ID.Value, i)] = true
			continue
		}
		result, wrote := takeOut(a)
		o.commit(a, o.state)
		if a.failure == nil && wrote {
			collected = append(collected, result)
		}
		o.record(a)
		r.Items = len(list)
		r.Status = worse(r.Status, a.status())
		if a.failure == nil && a.result.HasEdgeOutput {
			outputs[i], sent = a.result.EdgeOutput, true
		}
	}
	if sent {
		r.Output = outputs
	}
	o.collect(n, collected)
	o.close(u)
}

// collects reports whether a field gets the results of a fan-out's items as one array.
func collects(n *core.Node, field string) bool {
	return n.ForEach != nil && field != "" && n.ForEach.Collect.Value == field
}

// takeOut removes the collected value from the result of an item and returns it.
func takeOut(a *attempt) (v any, wrote bool) {
	delta := map[string]any{}
	for name, written := range a.result.Delta {
		if collects(a.node, name) {
			v, wrote = written, true
		} else {
			delta[name] = written
		}
	}
	if wrote {
		a.result.Delta = delta
	}
	return v, wrote
}

// collect writes the results of all items as one array, which is a write of the node.
func (o *oracle) collect(n *core.Node, list []any) {
	field := n.ForEach.Collect.Value
	if field == "" {
		return
	}
	delta := map[string]any{field: list}
	if rejectReason(o.fields, o.state, delta, n) == nil {
		fold(o.fields, o.state, delta)
		return
	}
	r := o.records[n.ID.Value]
	if r.Status = core.Fail; r.Class == "" {
		r.Class = core.ClassMerge
	}
}

// fault fails a unit that cannot start: its members never run.
func (o *oracle) fault(u *unit) {
	u.fails(u.id, core.ClassInput)
	u.reason = "failed"
	for _, n := range u.members {
		r := o.records[n.ID.Value]
		r.Status, r.Skip, r.Cause = core.Skipped, SkipFailure, u.id
	}
}

// runPipeline runs one row after the other through all stages. Every stage execution sees
// the state of the unit's level with all writes of the pipeline so far.
func (o *oracle) runPipeline(u *unit) {
	rows, ok := o.items(u, u.pipeline.Items.Value)
	if !ok {
		o.fault(u)
		return
	}
	view := o.below[u.level].clone()
	outputs := map[string][]any{}
	for i, row := range rows {
		o.runRow(u, i, row, view, outputs, len(rows))
	}
	u.rows, u.reason = len(rows), "rows"
	for _, n := range u.members {
		if out := outputs[n.ID.Value]; out != nil {
			o.records[n.ID.Value].Output = out
		}
		o.setMemberStatus(u, n, len(rows) == 0)
	}
	o.close(u)
}

func (o *oracle) runRow(u *unit, i int, row any, view values, outputs map[string][]any, rows int) {
	previous := value.NewObject(0)
	for _, n := range u.members {
		a := &attempt{node: n, view: view, edges: both(o.inputs(n), previous), item: row, index: core.Nth(i)}
		o.run(a)
		o.commit(a, o.state, view)
		r := o.record(a)
		r.Status = worse(r.Status, a.status())
		if a.failure != nil {
			u.fails(n.ID.Value, r.Class)
			return
		}
		previous = value.NewObject(1)
		if a.result.HasEdgeOutput {
			previous.Set(n.ID.Value, a.result.EdgeOutput)
			if outputs[n.ID.Value] == nil {
				outputs[n.ID.Value] = make([]any, rows)
			}
			outputs[n.ID.Value][i] = a.result.EdgeOutput
		}
	}
}

func both(a, b *value.Object) *value.Object {
	out := a.Copy(b.Len())
	for k, v := range b.All() {
		out.Set(k, v)
	}
	return out
}

// setMemberStatus sets the status of a member of a unit that has run.
func (o *oracle) setMemberStatus(u *unit, n *core.Node, empty bool) {
	r := o.records[n.ID.Value]
	switch {
	case r.Items > 0: // its executions have set it
	case empty:
		r.Status = core.Success
	default:
		r.Status, r.Skip, r.Cause = core.Skipped, SkipFailure, u.failedFirst
	}
}

// defaultRounds limits a loop with until and without max_iters.
const defaultRounds = 100

// runLoop repeats the body. A round is one transaction: a failing member drops the writes
// of its round and ends the loop.
func (o *oracle) runLoop(u *unit) {
	view := o.below[u.level].clone()
	rounds := defaultRounds
	if u.loop.MaxIters != nil {
		rounds = u.loop.MaxIters.Value
	}
	u.reason = "max_iters"
	for round := 0; round < rounds; round++ {
		tentative, private := o.state.clone(), view.clone()
		u.rows++
		if !o.runRound(u, round, tentative, private) {
			u.reason = "failed"
			break
		}
		o.state, view = tentative, private
		if u.loop.Until != nil && o.evaluate(u.loop.Until.Value, view) {
			u.reason = "until"
			break
		}
	}
	for _, n := range u.members {
		o.setMemberStatus(u, n, false)
	}
	if u.reason == "max_iters" && u.loop.OnExhausted.Value == "fail" {
		u.fails(u.id, core.ClassUnit)
	}
	o.close(u)
}

func (o *oracle) runRound(u *unit, round int, state, view values) bool {
	previous := value.NewObject(0)
	for _, n := range u.members {
		a := &attempt{node: n, view: view, edges: both(o.inputs(n), previous), loop: u.id, round: round}
		o.run(a)
		o.commit(a, state, view)
		r := o.record(a)
		r.Status = worse(r.Status, a.status())
		if a.failure != nil {
			u.fails(n.ID.Value, r.Class)
			return false
		}
		previous = value.NewObject(1)
		if a.result.HasEdgeOutput {
			previous.Set(n.ID.Value, a.result.EdgeOutput)
			r.Output = a.result.EdgeOutput // the last output is the output of the loop
		}
	}
	return true
}

// outcome collects the outcome of the run.
func (o *oracle) outcome() *Outcome {
	out := &Outcome{Status: core.RunSuccess, State: value.NewObject(len(o.state)), Nodes: map[string]NodeOutcome{},
		Units: map[string]UnitOutcome{}, Void: o.isVoid}
	for _, f := range o.w.Fields {
		if v, ok := o.state[f.Name.Value]; ok && !isMergeFailed(v) {
			out.State.Set(f.Name.Value, v)
		}
	}
	for id, r := range o.records {
		r.Handled = r.Status == core.Fail && (r.tolerated || r.unit.handled)
		out.Nodes[id] = r.NodeOutcome
	}
	for _, u := range o.units {
		if u.rank > 0 {
			out.Units[u.id] = UnitOutcome{Status: u.status, Rows: u.rows, Reason: u.reason, Skip: u.skip}
		}
	}
	out.Status, out.Lost = o.runStatus(), o.state.hasMergeFailure()
	return out
}

// isVoid reports whether an execution is, or lies inside, an item after a cut.
func (o *oracle) isVoid(e Execution) bool {
	for i, c := range e.Node {
		if c == '/' && o.void[e.Node[:i]] {
			return true
		}
	}
	return e.Item >= 0 && o.void[fmt.Sprintf("%s[%d]", e.Node, e.Item)]
}

// runStatus is failed if a failure was neither tolerated nor handled, or if the value of a
// field is lost.
func (o *oracle) runStatus() core.RunStatus {
	status := core.RunSuccess
	if o.state.hasMergeFailure() {
		return core.RunFailed
	}
	for _, u := range o.units {
		switch {
		case u.status == core.Fail && !o.excused(u):
			return core.RunFailed
		case u.status == core.Fail || u.status == core.PartialSuccess:
			status = core.RunPartial
		}
	}
	return status
}

// excused reports whether the run can succeed, at least partially, despite the failure of a
// unit: an edge handled the failure, or the policy of the failed node tolerates it. The
// policy of a pipeline or loop applies only to faults of the unit itself.
func (o *oracle) excused(u *unit) bool {
	if u.handled {
		return true
	}
	if u.rank > 0 && u.failedFirst == u.id {
		return u.tolerated
	}
	for _, n := range u.members {
		if r := o.records[n.ID.Value]; r.Status == core.Fail && !r.tolerated {
			return false
		}
	}
	return true
}

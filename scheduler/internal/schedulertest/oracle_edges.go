package schedulertest

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// verdict is the effect of an edge on its target.
type verdict int

const (
	neutral        verdict = iota // no effect: its source was skipped
	live                          // the target may run
	untrue                        // the target is skipped, whatever the other edges
	failedUpstream                // the source failed, or was skipped because of a failure
)

// decide returns the reason why a unit is skipped, "" if it runs, and the node where the
// skip began.
func (o *oracle) decide(u *unit) (Skip, string) {
	if to := o.choices.Lost[o.path+u.members[0].ID.Value]; to != "" {
		return SkipLost, to
	}
	if j := u.join(); j != nil {
		return o.decideJoin(u, j)
	}
	if len(u.in) == 0 || u.rank == 0 && u.members[0].Join.Word() == core.JoinAllDone {
		return "", ""
	}
	// Failures come first and need no condition.
	for _, e := range u.in {
		if o.propagatesFailure(e) {
			return SkipFailure, o.origin(e)
		}
	}
	runs := false
	for _, e := range u.in {
		switch o.effect(e, u) {
		case untrue:
			return SkipCondition, "" // the skip begins here
		case live:
			runs = true
		}
	}
	if runs {
		return "", ""
	}
	return SkipAll, o.origin(u.in[0])
}

// propagatesFailure reports whether an edge propagates a failure.
func (o *oracle) propagatesFailure(e *core.Edge) bool {
	source := o.of[e.From.Value]
	return (e.On.Value == "" || e.On.Value == "success") && (source.status == core.Fail || source.skip == SkipFailure)
}

// origin returns the node where the failure or skip of the edge's source began.
func (o *oracle) origin(e *core.Edge) string {
	source := o.of[e.From.Value]
	switch {
	case source.status == core.Fail:
		return source.failedFirst
	case source.cause == "":
		return source.id
	}
	return source.cause
}

// effect returns the effect of an edge on its target.
func (o *oracle) effect(e *core.Edge, target *unit) verdict {
	source := o.of[e.From.Value]
	on := e.On.Value
	skipped := source.status == core.Skipped
	switch {
	case o.propagatesFailure(e):
		return failedUpstream
	case on == "fail" && source.status != core.Fail:
		return untrue
	case !o.holds(e, target):
		return untrue
	case skipped && e.Else:
		return neutral
	case skipped && e.When == nil && on != "done":
		return neutral
	}
	return live
}

// holds evaluates the condition of an edge. A condition is evaluated on the state that the
// target sees. If the source has an else edge, all conditions of the source are evaluated
// together, on the state one level above the source.
func (o *oracle) holds(e *core.Edge, target *unit) bool {
	at := o.conditionLevel(e, target)
	if !e.Else {
		return e.When == nil || o.truth(e, at)
	}
	source := o.of[e.From.Value]
	for _, other := range source.out {
		if other.When != nil && o.matches(other, source) && o.truth(other, at) {
			return false
		}
	}
	return true
}

// conditionLevel returns the level on whose state a condition is evaluated.
func (o *oracle) conditionLevel(e *core.Edge, target *unit) int {
	source := o.of[e.From.Value]
	for _, other := range source.out {
		if other.Else {
			return source.level + 1
		}
	}
	return target.level
}

// matches reports whether the source has the status that the edge requires. A skipped
// source matches as well, because a condition can revive its target.
func (o *oracle) matches(e *core.Edge, source *unit) bool {
	switch e.On.Value {
	case "fail":
		return source.status == core.Fail
	case "done":
		return true
	}
	return source.status != core.Fail && source.skip != SkipFailure
}

// handle marks the failures that a live `on: fail` edge with `handles: true` into a running
// target handles.
func (o *oracle) handle(u *unit) {
	for _, e := range u.in {
		if source := o.of[e.From.Value]; e.Handles != nil && e.Handles.Value && source.status == core.Fail && o.takes(e) && o.effect(e, u) == live {
			source.handled = true
		}
	}
}

// inputs collects the edge outputs that a node receives from nodes outside its unit.
func (o *oracle) inputs(n *core.Node) *value.Object {
	in := value.NewObject(0)
	for _, e := range o.of[n.ID.Value].in {
		if e.To.Value != n.ID.Value || !o.takes(e) || !o.of[e.From.Value].status.Succeeded() {
			continue
		}
		if out := o.records[e.From.Value].Output; !value.IsMissing(out) {
			in.Set(e.From.Value, out)
		}
	}
	return in
}

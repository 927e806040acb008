package schedulertest

import "github.com/wavefold/wavefold/core"

// verdict is what an edge says about its target.
type verdict int

const (
	neutral  verdict = iota // neither for nor against: its source was skipped
	live                    // the target may run
	untrue                  // the target is skipped, whatever other edges say
	poisoned                // the source failed, or was skipped because of a failure
)

// decide says whether a unit is skipped, why, and where that began.
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
		if o.poisons(e) {
			return SkipFailure, o.origin(e)
		}
	}
	runs := false
	for _, e := range u.in {
		switch o.judge(e, u) {
		case untrue:
			return SkipCondition, "" // it begins right here
		case live:
			runs = true
		}
	}
	if runs {
		return "", ""
	}
	return SkipAll, o.origin(u.in[0])
}

// poisons reports an edge that hands a failure on.
func (o *oracle) poisons(e *core.Edge) bool {
	source := o.of[e.From.Value]
	return (e.On.Value == "" || e.On.Value == "success") && (source.status == core.Fail || source.skip == SkipFailure)
}

// origin is where the failure or skip of the edge's source began.
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

// judge says what an edge means for its target.
func (o *oracle) judge(e *core.Edge, target *unit) verdict {
	source := o.of[e.From.Value]
	on := e.On.Value
	skipped := source.status == core.Skipped
	switch {
	case o.poisons(e):
		return poisoned
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

// holds evaluates the condition of an edge. Conditions are judged on the state
// that the target sees; if the source has an else edge, all its conditions are
// judged together, on the state right above it.
func (o *oracle) holds(e *core.Edge, target *unit) bool {
	at := o.judgedAt(e, target)
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

// judgedAt is the level on whose state a condition is judged.
func (o *oracle) judgedAt(e *core.Edge, target *unit) int {
	source := o.of[e.From.Value]
	for _, other := range source.out {
		if other.Else {
			return source.level + 1
		}
	}
	return target.level
}

// matches reports whether the source ended as the edge asks; a skipped source
// does not stand against a condition that revives.
func (o *oracle) matches(e *core.Edge, source *unit) bool {
	switch e.On.Value {
	case "fail":
		return source.status == core.Fail
	case "done":
		return true
	}
	return source.status != core.Fail && source.skip != SkipFailure
}

// handle marks the failures that a live `on: fail` edge with `handles: true` into a
// running target handles.
func (o *oracle) handle(u *unit) {
	for _, e := range u.in {
		if source := o.of[e.From.Value]; e.Handles != nil && e.Handles.Value && source.status == core.Fail && o.takes(e) && o.judge(e, u) == live {
			source.handled = true
		}
	}
}

// inputs collects what the nodes outside of its unit sent to a node.
func (o *oracle) inputs(n *core.Node) *core.Object {
	in := core.NewObject(0)
	for _, e := range o.of[n.ID.Value].in {
		if e.To.Value != n.ID.Value || !o.takes(e) || !o.of[e.From.Value].status.Succeeded() {
			continue
		}
		if out := o.records[e.From.Value].Output; !core.IsMissing(out) {
			in.Set(e.From.Value, out)
		}
	}
	return in
}

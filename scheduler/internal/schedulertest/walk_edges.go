package schedulertest

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// leave chooses the next node after a visit.
func (o *walkOracle) leave(at string, e ended) string {
	edge, why := o.choose(at, e)
	switch {
	case edge != nil:
		to := o.follow(WalkChoice{at, edge.To.Value, why, edge.LoopRestart, e.status})
		o.via = edge
		if !edge.LoopRestart {
			return to
		}
		if !e.status.Succeeded() && !(e.status == core.Fail && e.category == core.TransientInfra) {
			return o.stop(at, core.ClassRestartBlocked)
		}
		o.reset()
		return to
	case e.status == core.Fail && o.role(at) != core.RoleConditional:
		if to := o.target(at, ""); to != "" {
			return o.follow(WalkChoice{From: at, To: to, Step: core.StepRetryTarget, After: e.status})
		}
	}
	return o.stop(at, core.ClassNoRoute)
}

// choose returns the edge to follow, or nil if there is none.
func (o *walkOracle) choose(at string, e ended) (*core.Edge, string) {
	var met, plain []*core.Edge
	for _, edge := range o.w.Edges {
		switch {
		case edge.From.Value != at:
		case edge.When == nil:
			plain = append(plain, edge)
		case o.holds(edge.When.Value, e):
			met = append(met, edge)
		}
	}
	if len(met) > 0 {
		return heaviest(met), core.StepCondition
	}
	if o.role(at) == core.RoleParallel || e.unanswered && o.role(at) == core.RoleHuman {
		return nil, "" // branches, or choices without an answer
	}
	if e.label != "" {
		for _, edge := range plain {
			if normalize(edge.Label.Value) == normalize(e.label) {
				return edge, core.StepPreferredLabel
			}
		}
	}
	for _, id := range e.next {
		for _, edge := range plain {
			if edge.To.Value == id {
				return edge, core.StepSuggestedNext
			}
		}
	}
	if o.role(at) == core.RoleHuman && (e.label != "" || len(e.next) > 0) {
		return nil, "" // the answer is not one of the choices
	}
	if len(plain) > 0 {
		return heaviest(plain), core.StepUnconditional
	}
	return nil, ""
}

// heaviest returns the edge with the highest weight; of several, the edge to the smallest
// id.
func heaviest(edges []*core.Edge) *core.Edge {
	return slices.MinFunc(edges, func(a, b *core.Edge) int {
		if a.Weight.Value != b.Weight.Value {
			return b.Weight.Value - a.Weight.Value
		}
		return strings.Compare(a.To.Value, b.To.Value)
	})
}

// holds evaluates a condition after a visit.
func (o *walkOracle) holds(text string, e ended) bool {
	return evaluate(text, func(name string) any {
		key, ok := strings.CutPrefix(name, core.ContextField+".")
		switch {
		case name == "outcome":
			return e.status.String()
		case name == "preferred_label":
			return e.label
		case !ok:
			return o.state.get(name)
		}
		if v, ok := o.context[key]; ok {
			return v
		}
		return value.Missing
	})
}

// normalize makes labels that differ only in their accelerators equal.
func normalize(label string) string {
	s := strings.ToLower(strings.TrimSpace(label))
	if strings.HasPrefix(s, "[") {
		if _, rest, ok := strings.Cut(s, "]"); ok {
			return strings.TrimSpace(rest)
		}
		return s
	}
	if len(s) > 1 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", rune(s[0])) {
		if rest, ok := strings.CutPrefix(s[1:], ")"); ok {
			return strings.TrimSpace(rest)
		}
		if rest, ok := strings.CutPrefix(s[1:], " - "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return s
}

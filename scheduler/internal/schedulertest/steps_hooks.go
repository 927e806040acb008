package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// stepsBefore is what a Before hook does.
type stepsBefore struct {
	set  []stepsChange
	ends string // "", error or panic: how it fails in the end
}

type stepsChange struct {
	name  string
	value any
}

// stepsAfter is what an After hook does.
type stepsAfter struct {
	end, clear, fail, quiet, polite bool
	guards                          bool // a guard fails, whose name says what the hook sees
	next                            string
	output                          any // not nil: another output
	ends                            string
}

// before returns what the Before hook of a node does when m has a value, or nil if it has
// none.
func (g *StepsGraph) before(n *StepsNode, m any) (b stepsBefore) {
	d := stepsDice{rand.New(rand.NewPCG(digest(g.Seed, "before", n.ID, fmt.Sprint(m)), 1)), g}
	if !d.chance(n.Before) {
		return b
	}
	if old, isInt := m.(int64); isInt && d.chance(50) {
		b.set = append(b.set, stepsChange{"m", old + 1})
	}
	if d.chance(60) {
		b.set = append(b.set, stepsChange{"sum", int64(1 + d.IntN(3))})
	}
	if d.chance(25) {
		b.set = append(b.set, pickOne(d, stepsChange{"m", "words"}, stepsChange{"gone", int64(1)}))
	}
	if d.chance(35) {
		b.ends = pickOne(d, "error", "panic")
	}
	return b
}

// after returns what the After hook of a node does in a visit.
func (g *StepsGraph) after(n *StepsNode, id string, visit int) (a stepsAfter) {
	d := stepsDice{rand.New(rand.NewPCG(digest(g.Seed, "after", id, fmt.Sprint(visit)), 1)), g}
	if !d.chance(n.After) {
		return a
	}
	a.end, a.clear, a.fail = d.chance(8), d.chance(50), d.chance(10)
	a.quiet, a.guards, a.polite = d.chance(15), d.chance(40), d.chance(15)
	if d.chance(15) {
		a.next = d.target()
	}
	if d.chance(20) {
		a.output = pickOne[any](d, value.ObjectOf("route", d.target()), value.ObjectOf("ok", true, "grade", int64(3)), "text")
	}
	if d.chance(20) {
		a.ends = pickOne(d, "error", "panic")
	}
	return a
}

var errHook = errors.New("the hook has failed")

// endHook ends a hook.
func endHook(how string) error {
	switch how {
	case "error":
		return errHook
	case "panic":
		panic("wanted panic")
	}
	return nil
}

// hooks sets the hooks of a node of a workflow.
func (n *StepsNode) hooks(g *StepsGraph, out *core.Node) {
	if n.Before > 0 {
		out.Before = func(_ context.Context, s *core.HookState) error {
			m, ok := s.Get("m")
			if !ok {
				m = nil
			}
			b := g.before(n, m)
			for _, c := range b.set {
				s.Set(c.name, c.value)
			}
			return endHook(b.ends)
		}
	}
	if n.After > 0 {
		out.After = func(_ context.Context, r *core.VisitResult) error {
			a := g.after(n, r.Node, r.Visit)
			a.apply(r)
			return endHook(a.ends)
		}
	}
}

// apply changes a result.
func (a *stepsAfter) apply(r *core.VisitResult) {
	if a.guards {
		r.GuardsFailed = append(slices.Clip(r.GuardsFailed), fmt.Sprintf("saw %s %t %d", value.JSON(r.Output), r.Failure != nil, len(r.ToolCalls)))
	}
	if a.polite {
		r.GuardsFailed = nil
	}
	switch {
	case r.Failure != nil && a.clear:
		r.Failure = nil
	case r.Failure == nil && a.fail:
		r.Failure = core.FailureOf(errHook) // no attempt follows, whether it is permanent or not
	}
	if a.quiet {
		r.ToolCalls = nil
	}
	if a.next != "" {
		r.Next = a.next
	}
	if a.output != nil {
		r.Output = a.output
	}
	r.End = r.End || a.end
}

// seenM returns the value of m that a node sees, or nil if there is none.
func seenM(in core.Input) any {
	view := in.Shared().View
	if v, ok := view.Get("m"); ok {
		return v
	}
	c, _ := view.Get(core.ContextField)
	o, _ := c.(*value.Object)
	v, _ := o.Get("m")
	return v
}

// seen makes the result depend on what the visit sees: m, and the number of messages of its conversation.
func (v *StepsVisit) seen(m any, messages int) {
	n, _ := m.(int64)
	if sum, ok := v.Writes["sum"]; ok {
		v.Writes["sum"] = sum.(int64) + 10*int64(messages) + 100*n
	}
	if len(v.Failed) > 0 {
		v.Failed = append(slices.Clip(v.Failed), fmt.Sprintf("saw %v, %d messages", n, messages))
	}
}

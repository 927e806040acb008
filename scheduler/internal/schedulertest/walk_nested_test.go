package schedulertest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nests puts a walk into a dag, once for each of three elements, or a dag into the node sub
// of a walk. The last node of the walk has the behaviour inside.
func nests(s *walkScript, inner, inside string) (*core.Workflow, *core.Registry) {
	w, reg := s.workflow()
	frames := map[string]*core.Frame{}
	reg.AddKind(framed(frames))
	node := func(id string, does string) *core.Node {
		s.node(id + " does " + does)
		return s.w.Nodes[len(s.w.Nodes)-1]
	}
	switch inner {
	case "walk": // in a dag
		out := &core.Workflow{Name: text("outer"), Fields: []core.FieldDecl{{Name: text("list"), Default: []any{int64(1), int64(2), int64(3)}}}}
		out.Nodes = []*core.Node{{ID: text("each"), Kind: text("framed"), ForEach: &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 2}}}}
		frames["each"] = &core.Frame{Workflow: w, Outputs: map[string]string{}}
		return out, reg
	case "dag": // in a walk
		before := len(w.Nodes)
		in := &core.Workflow{Name: text("inner"), Nodes: []*core.Node{node("p attempts=2", "retry success"), node("q", inside)},
			Edges: []*core.Edge{{From: text("p"), To: text("q")}}}
		w.Nodes = w.Nodes[:before]
		for _, n := range w.Nodes {
			if n.ID.Value == "sub" {
				n.Kind, n.Handler = text("framed"), nil
			}
		}
		frames["sub"] = &core.Frame{Workflow: in, Outputs: map[string]string{}}
	}
	return w, reg
}

// framed makes the named nodes nested runs.
type framed map[string]*core.Frame

func (framed) Name() string   { return "framed" }
func (framed) Keys() []string { return nil }

func (k framed) Compile(n *core.Node, _ core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Frame: k[n.ID.Value]}, nil
}

// TestNestedWalks checks that nested runs of walks, and nested runs in walks, have the same
// results whatever faults are injected, and that their logs violate no rule.
func TestNestedWalks(t *testing.T) {
	for _, tt := range []struct{ name, inner, inside, doc string }{
		{"walks in a dag", "walk", "", `
			a does fail | success
			f kind=parallel
			b attempts=2 does retry success
			c
			m gate target=a does fail | success
			start -> a
			a -> a [when=outcome == 'fail']
			a -> f -> b -> m -> exit
			f -> c -> m`},
		{"a dag in a walk", "dag", "success", `
			sub attempts=2
			m gate target=sub does fail | success
			start -> sub -> m -> exit`},
		{"a dag that fails in a branch", "dag", "fail", `
			f kind=parallel
			sub
			c
			m gate target=f does fail | success
			start -> f -> sub -> m -> exit
			f -> c -> m`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			compile := func() *plan.Plan {
				w, reg := nests(scripted(tt.doc), tt.inner, tt.inside)
				p, ds := plan.Compile(w, reg, plan.Options{})
				if p == nil {
					t.Fatal(ds)
				}
				return p
			}
			var want string
			synctest.Test(t, func(t *testing.T) {
				report, _ := scheduler.Run(t.Context(), compile(), nil, scheduler.Options{})
				want = ReportText(report)
			})
			for seed := range some(5) {
				for _, c := range faultModes(seed) {
					c.Events, c.Barrier = true, false
					p := compile()
					report, events, err := c.Hostile.Run(p, nil, c.Options)
					if err != nil {
						t.Fatalf("%+v: %v", c, err)
					}
					if got := ReportText(report); got != want {
						t.Fatalf("%+v\n%s\nwant\n%s", c, got, want)
					}
					if faults := violations(p, events); len(faults) > 0 {
						t.Fatalf("%+v: %v", c, faults)
					}
					if seed > 0 {
						continue
					}
					for i, e := range events {
						least := 2 // one is the gap in the sequence numbers
						if i == len(events)-1 {
							least = 1
						}
						if e.Type != core.StateWritten && len(violations(p, slices.Delete(slices.Clone(events), i, i+1))) < least {
							t.Errorf("nobody misses event %d, %s of %s visit %d", i+1, e.Type, e.Node, e.Visit)
						}
					}
				}
			}
		})
	}
}

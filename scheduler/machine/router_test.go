package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// inTurn is a router that the engine does not have: it follows the edges out of a node in turn. The
// compiler gets planInTurn and the machine its router, and no other file refers to them.
type inTurn struct {
	*walk
	plainRouter
	taken map[int32]int // by node: how often an edge out of it was followed
}

var planInTurn = &plan.Router{Name: "turns", Compile: func(b *plan.Build) {
	b.WalkEdges()
	b.Plan().Walk.Start = 0
}}

func init() {
	routers[planInTurn.Name] = func(t *walk) router { return &inTurn{walk: t, taken: map[int32]int{}} }
}

func (t *inTurn) memory() any                { return &t.taken }
func (t *inTurn) begin()                     {}
func (t *inTurn) chain() []routeStep         { return []routeStep{t.next} }
func (t *inTurn) maxVisits() int             { return t.w.MaxSteps }
func (t *inTurn) admits(int32) bool          { return true }
func (t *inTurn) noteEnd(*visit)             {}
func (t *inTurn) noRoute(*visit, *Outcome)   { t.finish() }
func (t *inTurn) ask(*visit)                 {}
func (t *inTurn) answered(*visit, *Event)    {}
func (t *inTurn) left(*visit, *Outcome) bool { return true }

func (t *inTurn) next(v *visit, _ *Outcome) (route, stepResult) {
	out := t.w.Nodes[v.Node].Out
	if len(out) == 0 {
		return route{}, notFound
	}
	t.taken[v.Node]++
	return t.along(out[(t.taken[v.Node]-1)%len(out)], core.StepUnconditional, "its turn"), found
}

func (t *inTurn) take(v *visit, r route) {
	t.f.emitChosen(t.walk, v, r)
	t.arrive(r.to, r.edge)
}

// inTurnPlan compiles a walk in which a leads to b and c, and b leads to a.
func inTurnPlan(t *testing.T, r *plan.Router) *plan.Plan {
	t.Helper()
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: text("in turn"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(r.Name), MaxSteps: &source.Int{Value: 9}}}
	for _, id := range []string{"a", "b", "c"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Handler: core.HandlerFunc(nil)})
	}
	for _, e := range []string{"ab", "ac", "ba"} {
		w.Edges = append(w.Edges, &core.Edge{From: text(e[:1]), To: text(e[1:])})
	}
	p, ds := plan.Compile(w, nil, plan.Options{Routers: []*plan.Router{r}})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// TestNewRouter runs a walk with a router that is registered by two values. The machine is restored
// from a snapshot before each answer; without what the router remembers, the walk would never leave
// its cycle.
func TestNewRouter(t *testing.T) {
	m, err := New(inTurnPlan(t, planInTurn), nil, Options{Concurrency: 1, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	listen := func(e *core.Event) {
		if e.Type == core.EdgeChosen {
			reasons = append(reasons, e.From+">"+e.To+" "+e.Reason)
		}
	}
	_, r := drive(t, m, listen, func(Command) any { return nil })
	if got := fmt.Sprintf("%s %v", r.Status, r.Path); got != "success [a b a c]" {
		t.Errorf("reported %s", got)
	}
	if got := strings.Join(reasons, ", "); got != "a>b its turn, b>a its turn, a>c its turn" {
		t.Errorf("chosen: %s", got)
	}
}

// A walk whose router the machine does not have is rejected before anything runs, and a snapshot
// without what its router remembers is not restored.
func TestWithoutRouter(t *testing.T) {
	lame := *planInTurn
	lame.Name = "lame"
	if _, err := New(inTurnPlan(t, &lame), nil, Options{}); err == nil || !strings.Contains(err.Error(), `the machine has no router "lame"`) {
		t.Errorf("got %v", err)
	}
	checkRestoreWithout(t, inTurnPlan(t, planInTurn), "router")
}

package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// router chooses the edges that a walk follows.
type router interface {
	// memory returns a pointer to what snapshots contain of the router, nil if there is nothing.
	memory() any
	// begin prepares the walk.
	begin()
	// chain returns the steps that are tried after each visit of the token, until one finds
	// where the walk continues.
	chain() []routeStep
	// maxVisits returns the limit of the visits of the walk, or 0 if there is none.
	maxVisits() int
	// admits reports whether the token may enter a node. If not, admits has sent the token to
	// another node or ended the walk.
	admits(node int32) bool
	// noteEnd is called when a visit of the token or of a branch has ended.
	noteEnd(v *visit)
	// left is called when the token leaves a node, and reports whether the walk continues.
	left(v *visit, o *Outcome) bool
	// take follows a route.
	take(v *visit, r route)
	// noRoute ends a walk for which no step has found a route.
	noRoute(v *visit, o *Outcome)
	// holdsFirst reports whether something precedes the first attempt of a visit; holdsFirst has
	// begun it. inform adds to the input of a visit what the router knows.
	holdsFirst(v *visit) bool
	inform(c *Call)
	// intercepts is called with the outcome of a visit of the token before it is recorded, and reports
	// whether the router calls settle later.
	intercepts(v *visit, o *Outcome) bool
	// restored completes a router whose memory was read from a snapshot.
	restored() error
	// ask issues the command to decide where the walk continues, and answered handles the answer.
	ask(v *visit)
	answered(v *visit, e *Event)
}

// plainRouter has the methods of a router that does nothing before a visit has been recorded.
type plainRouter struct{}

func (plainRouter) holdsFirst(*visit) bool           { return false }
func (plainRouter) inform(*Call)                     {}
func (plainRouter) intercepts(*visit, *Outcome) bool { return false }
func (plainRouter) restored() error                  { return nil }

// routeStep looks for the route after a visit.
type routeStep func(v *visit, o *Outcome) (route, stepResult)

// stepResult is the result of a step.
type stepResult uint8

const (
	notFound stepResult = iota // try the next step
	found                      // take the route
	mustAsk                    // ask the router
)

// route is where the walk continues, and the reason.
type route struct {
	edge   int32 // the edge to follow, -1 if the route has no edge
	to     int32 // the constant nowhere if the walk ends
	step   string
	reason string
	// unknown reports that the route leads to a name that is not a node. name is the name of the
	// target if it was chosen by name.
	unknown bool
	name    string
}

const nowhere = -1

// routers create the router of a walk, by the name of the plan.Router.
var routers = map[string]func(t *walk) router{
	core.RouterOutcomes: func(t *walk) router { return &byOutcomes{walk: t} },
	core.RouterModel:    func(t *walk) router { return &byModel{walk: t} },
	core.RouterSteps:    func(t *walk) router { return &bySteps{walk: t} },
}

// checkRouter returns an error if the plan is a walk and the machine does not have its router.
func checkRouter(p *plan.Plan) error {
	if p.Walk != nil && routers[p.Walk.Router.Name] == nil {
		return fmt.Errorf("workflow %s: the machine has no router %q", p.Name, p.Walk.Router.Name)
	}
	return nil
}

// leave continues or ends the walk after a visit of the token.
func (t *walk) leave(v *visit, o *Outcome) {
	t.recordStage(v, o)
	if !t.router.left(v, o) {
		return
	}
	for _, look := range t.steps {
		switch r, f := look(v, o); f {
		case found:
			t.router.take(v, r)
			return
		case mustAsk:
			v.attempt = attempt{Phase: routing}
			t.Live = append(t.Live, v)
			t.router.ask(v)
			return
		}
	}
	t.router.noRoute(v, o)
}

// along returns the route along an edge.
func (t *walk) along(e int32, step, reason string) route {
	return route{edge: e, to: t.f.p.Edges[e].ToNode, step: step, reason: reason}
}

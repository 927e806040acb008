package machine

// router is a way of choosing the edges that a walk follows. What it remembers is in the walk.
// The steps of the walk, a list of values, are part of the router.
type router interface {
	// begin prepares the walk.
	begin()
	// chain returns the steps that are tried after each visit of the token, until one finds
	// where the walk continues.
	chain() []routeStep
	// maxVisits limits the visits of the walk, 0 for any number.
	maxVisits() int
	// admits reports whether the token may come to a node. If not, it has been sent to another
	// node, or the walk has ended.
	admits(node int32) bool
	// ended notes how a visit ended, of the token or of a branch.
	noteEnd(v *visit)
	// left notes that the token leaves a node, and reports whether the walk continues.
	left(v *visit, o *Outcome) bool
	// take continues the walk; q is the question that was asked, nil if there was none.
	take(v *visit, r route, q *question)
	// stuck ends a walk for which no step has found anything.
	noRoute(v *visit, o *Outcome)
	// ask asks for a decision after a visit, and answered handles the answer.
	ask(v *visit)
	answered(v *visit, e *Event)
}

// routeStep looks for where the walk continues after a visit.
type routeStep func(v *visit, o *Outcome) (route, finding)

// finding is the result of a step.
type finding uint8

const (
	notFound finding = iota // the next step is tried
	found                   // the route is taken
	mustAsk                 // a decision is asked for
)

// route is where the walk continues, and why.
type route struct {
	edge   int32 // -1 if none is followed
	to     int32 // nowhere if the walk ends
	step   string
	reason string
}

const nowhere = -1

// newRouter returns the router of a walk.
func newRouter(t *walk) router {
	if t.w.Routed {
		return &byModel{walk: t}
	}
	return &byOutcomes{walk: t}
}

// leave continues the walk after a visit of the token, or ends it.
func (t *walk) leave(v *visit, o *Outcome) {
	if !t.router.left(v, o) {
		return
	}
	for _, look := range t.steps {
		switch r, f := look(v, o); f {
		case found:
			t.router.take(v, r, nil)
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
	return route{e, t.f.p.Edges[e].ToNode, step, reason}
}

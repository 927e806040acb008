package core

import "context"

import (
	"github.com/wavefold/wavefold/core/value"
)

// Router picks the edge that a walk follows after a node, where the workflow leaves that
// to a model (RouterModel). Route is called once for each such decision and may be called
// from many goroutines at a time. An error is no answer: it fails the run, and no edge is
// guessed.
type Router interface {
	Route(ctx context.Context, q RouteQuestion) (RouteAnswer, error)
}

// RouterFunc makes a function a Router.
type RouterFunc func(ctx context.Context, q RouteQuestion) (RouteAnswer, error)

// Route calls f.
func (f RouterFunc) Route(ctx context.Context, q RouteQuestion) (RouteAnswer, error) {
	return f(ctx, q)
}

// PricedRouter is implemented by routers that know what their models cost.
type PricedRouter interface {
	Router
	// Unpriced returns the model that is asked for a question with that Model, and whether
	// its price is not known.
	Unpriced(model string) (name string, yes bool)
}

// RouteQuestion is what a Router decides on. Its values are shared with the engine and
// must not be changed.
type RouteQuestion struct {
	// Run is the run's id, Node the path of the node that has ended, and Visit which visit
	// of it that was, from 1.
	Run   string `json:"run,omitempty"`
	Node  string `json:"node"`
	Visit int    `json:"visit"`
	// Model names the model that the workflow asks for, "" for the default.
	Model string `json:"model,omitempty"`
	// Inputs are the inputs of the run, whole.
	Inputs *value.Object `json:"inputs,omitempty"`
	// View holds what each node came to at its last visit, by id, in order of their first
	// end: of a node that says what is shown of it, these members only, null for one that is
	// not there. Checks of the result stand beside them under "evals".
	View *value.Object `json:"view"`
	// Failed are the nodes in View whose last visit failed.
	Failed []string `json:"failed,omitempty"`
	// Choices are the edges that may be followed, in declared order. Targets may repeat.
	Choices []RouteChoice `json:"choices"`
	// Fallback is the place in Choices of the edge that is followed when no condition fits,
	// NoRoute when there is none.
	Fallback int `json:"fallback"`
}

// Chosen returns the place in Choices of the edge that an answer leads to: the fallback
// where it names none of them, NoRoute where there is no fallback either.
func (q *RouteQuestion) Chosen(a RouteAnswer) int {
	if a.Choice < 0 || a.Choice >= len(q.Choices) {
		return q.Fallback
	}
	return a.Choice
}

// ShownMembers returns what a View holds of the result of a node that says what is shown of
// it: these members, in this order, null for one that is not there. A result that is no
// object has none of them.
func ShownMembers(result any, members []string) *value.Object {
	whole, _ := result.(*value.Object)
	out := value.NewObject(len(members) + 1) // evals
	for _, name := range members {
		v, _ := whole.Get(name)
		out.Set(name, v)
	}
	return out
}

// RouteChoice is an edge that may be followed.
type RouteChoice struct {
	Target string `json:"target"`         // id of the node it leads to
	Name   string `json:"name,omitempty"` // what people call that node, "" for nothing else than its id
	When   string `json:"when,omitempty"` // the condition in plain language, "" for the fallback
}

// NoRoute stands for no choice.
const NoRoute = -1

// RouteAnswer is what a Router decided.
type RouteAnswer struct {
	// Choice is a place in RouteQuestion.Choices, or NoRoute when no condition fits. Any
	// other number counts as NoRoute.
	Choice int `json:"choice"`
	// Unusable tells that NoRoute was not said but is how an answer that names no choice
	// was read.
	Unusable bool `json:"unusable,omitempty"`
	// Raw is the answer as it was given, for people.
	Raw string `json:"raw,omitempty"`
	// ViewHash identifies what the router was shown. The engine sets it when somebody
	// listens.
	ViewHash string `json:"view_hash,omitempty"`
}

type routerKey struct{}

// WithRouter returns a context in which a node that calls models finds the router of its
// run. Drivers call it.
func WithRouter(ctx context.Context, r Router) context.Context {
	return context.WithValue(ctx, routerKey{}, r)
}

// RouterOf returns the router of the run, nil for none. It is there for nodes whose
// Compiled.Models is true.
func RouterOf(ctx context.Context) Router {
	r, _ := ctx.Value(routerKey{}).(Router)
	return r
}

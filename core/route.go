package core

import "context"

import (
	"github.com/wavefold/wavefold/core/value"
)

// Router chooses the edge that a walk follows after a node if the workflow leaves that to a
// model (RouterModel). Route is called once for each such decision, possibly from many
// goroutines at a time. An error is not an answer: it fails the run, and no edge is
// guessed.
type Router interface {
	Route(ctx context.Context, q RouteQuestion) (RouteAnswer, error)
}

// RouterFunc is a function that implements Router.
type RouterFunc func(ctx context.Context, q RouteQuestion) (RouteAnswer, error)

// Route calls f.
func (f RouterFunc) Route(ctx context.Context, q RouteQuestion) (RouteAnswer, error) {
	return f(ctx, q)
}

// PricedRouter is implemented by routers that know the prices of their models.
type PricedRouter interface {
	Router
	// Unpriced returns the name of the model that is asked for a question with that Model,
	// and reports whether its price is not known.
	Unpriced(model string) (name string, yes bool)
}

// RouteQuestion is the input of a routing decision. Its values are shared with the engine
// and must not be changed.
type RouteQuestion struct {
	// Run is the run's id, Node the path of the node that has ended, and Visit the number
	// of that visit, from 1.
	Run   string `json:"run,omitempty"`
	Node  string `json:"node"`
	Visit int    `json:"visit"`
	// Model names the model that the workflow sets, or is "" for the default.
	Model string `json:"model,omitempty"`
	// Inputs are all inputs of the run.
	Inputs *value.Object `json:"inputs,omitempty"`
	// View holds the result of the last visit of each node, by id, in order of their first
	// end. If a node declares ViewMembers, View has only these, with null for
	// missing ones. The checks of the result are added under "evals".
	View *value.Object `json:"view"`
	// Failed are the nodes in View whose last visit failed.
	Failed []string `json:"failed,omitempty"`
	// Choices are the edges that may be followed, in declared order. Targets may repeat.
	Choices []RouteChoice `json:"choices"`
	// Fallback is the index in Choices of the edge that is followed if no condition holds,
	// or NoRoute if there is none.
	Fallback int `json:"fallback"`
}

// Chosen returns the index in Choices of the edge that an answer selects. If the answer
// selects none of them, it returns the fallback, or NoRoute if there is no fallback.
func (q *RouteQuestion) Chosen(a RouteAnswer) int {
	if a.Choice < 0 || a.Choice >= len(q.Choices) {
		return q.Fallback
	}
	return a.Choice
}

// ViewOf returns the part of a node's result that a View contains if the node declares its
// members (Node.ViewMembers): these members, in this order, with null for missing ones. A
// result that is not an object has none of them.
func ViewOf(result any, members []string) *value.Object {
	whole, _ := result.(*value.Object)
	out := value.NewObject(len(members) + 1) // with room for evals
	for _, name := range members {
		v, _ := whole.Get(name)
		out.Set(name, v)
	}
	return out
}

// RouteChoice is an edge that may be followed.
type RouteChoice struct {
	Target string `json:"target"`         // id of the node it leads to
	Name   string `json:"name,omitempty"` // the display name of that node, "" if it has only its id
	When   string `json:"when,omitempty"` // the condition in plain language, "" for the fallback
}

// NoRoute means that no choice was made.
const NoRoute = -1

// RouteAnswer is the decision of a Router.
type RouteAnswer struct {
	// Choice is an index in RouteQuestion.Choices, or NoRoute if no condition holds. Any
	// other number counts as NoRoute.
	Choice int `json:"choice"`
	// Unusable reports that the answer named no choice and was therefore read as NoRoute.
	Unusable bool `json:"unusable,omitempty"`
	// Raw is the unprocessed answer, for people.
	Raw string `json:"raw,omitempty"`
	// ViewHash identifies what the router was shown. The engine sets it if there is a
	// listener.
	ViewHash string `json:"view_hash,omitempty"`
}

type routerKey struct{}

// WithRouter returns a context that carries the router of the run for nodes that call
// models. Drivers call it.
func WithRouter(ctx context.Context, r Router) context.Context {
	return context.WithValue(ctx, routerKey{}, r)
}

// RouterOf returns the router of the run, or nil if there is none. It is available to nodes
// whose Compiled.Models is true.
func RouterOf(ctx context.Context) Router {
	r, _ := ctx.Value(routerKey{}).(Router)
	return r
}

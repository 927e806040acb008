package llm

import (
	"context"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// RouterOption configures a router.
type RouterOption func(*router)

// RouteEffort sets the reasoning effort of a routing decision; see Request.Effort.
func RouteEffort(effort string) RouterOption { return func(r *router) { r.effort = effort } }

// RouteView limits the data that the model sees, in bytes of JSON: the result of one node,
// and all results together. 0 means DefaultEachData and DefaultAllData.
func RouteView(node, all int) RouterOption {
	return func(r *router) { r.node, r.all = node, all }
}

type router struct {
	model     Model
	effort    string
	node, all int
}

// NewRouter returns a router that asks a model which edge to take. Each question is one
// call of the model (PurposeRoute), with the inputs of the run and the view as data.
func NewRouter(m Model, options ...RouterOption) core.Router {
	r := &router{model: m}
	for _, o := range options {
		o(r)
	}
	return r
}

// Route asks the model.
func (r *router) Route(ctx context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
	c := ChoiceRequest{
		Purpose: PurposeRoute, Node: q.Node, Visit: q.Visit, Model: q.Model, Effort: r.effort,
		Question: routeQuestion(&q), Data: routeData(&q),
		Options: make([]Option, len(q.Choices)), Fallback: q.Fallback,
		EachData: r.node, AllData: r.all,
	}
	for i, o := range q.Choices {
		c.Options[i] = Option{ID: o.Target, Name: o.Name, When: o.When}
	}
	choice, err := Choose(ctx, r.model, c)
	if err != nil {
		return core.RouteAnswer{}, err
	}
	return core.RouteAnswer{Choice: choice.Index, Unusable: choice.Unusable, Raw: choice.Raw}, nil
}

var _ core.PricedRouter = (*router)(nil)

// Unpriced names the model that a request for model goes to, and reports whether its price
// is unknown.
func (r *router) Unpriced(model string) (name string, yes bool) {
	name, _, ok := PriceOf(r.model, model)
	return name, !ok
}

func routeQuestion(q *core.RouteQuestion) string {
	var s strings.Builder
	fmt.Fprintf(&s, "The data holds the input of the workflow (%q) and what each step came to. The step %q has ended", core.InputsKey, q.Node)
	if q.Visit > 1 {
		fmt.Fprintf(&s, " (visit %d of it)", q.Visit)
	}
	s.WriteString(". ")
	if len(q.Failed) > 0 {
		fmt.Fprintf(&s, "Steps that failed: %s. ", strings.Join(q.Failed, ", "))
	}
	s.WriteString("Which condition holds?")
	return s.String()
}

func routeData(q *core.RouteQuestion) *value.Object {
	data := value.NewObject(1 + q.View.Len())
	inputs := q.Inputs
	if inputs == nil {
		inputs = value.NewObject(0)
	}
	data.Set(core.InputsKey, inputs)
	for key, v := range q.View.All() {
		if key != core.InputsKey { // an id that the formats reject
			data.Set(key, v)
		}
	}
	return data
}

package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/llm"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// errUnscripted is the failure of a run with a decision for which the file has no answer.
var errUnscripted = errors.New("the mock file has no answer to this decision")

// decisions holds the scripted answers to routing decisions, by node and visit.
type decisions struct {
	*script[mock.Route]
	pos source.Position // of the section
}

func newDecisions(f *mock.File) *decisions {
	d := &decisions{newScript[mock.Route](nil), f.Pos}
	if f.Model == nil {
		return d
	}
	d.pos = f.Model.Pos
	for _, m := range f.Model.Route {
		for i := range m.Value {
			key := call{node: m.Key.Value}
			if v := m.Value[i].Visit; v != nil {
				key.visit = v.Value
			}
			d.add(key, &m.Value[i])
		}
	}
	return d
}

// route answers a routing decision.
func (d *driver) route(c *machine.Command, node string) machine.Outcome {
	q := c.Call.Route
	d.rec.Calls[node]++
	d.rec.Calls[Total]++
	a := d.routes.next(call{node: node, visit: q.Visit})
	if a == nil {
		return d.unscripted(d.routes.pos, node, q, "")
	}
	answer, err := answerTo(a, q)
	switch {
	case errors.Is(err, errUnscripted):
		return d.unscripted(a.Pos, node, q, a.To.Value)
	case err != nil:
		return failure(*core.FailureOf(err))
	}
	return machine.Outcome{Route: &machine.Route{Answer: &answer}}
}

// answerTo converts a scripted answer to the answer of a router. An answer in the words of
// a model is parsed like a model's answer.
func answerTo(a *mock.Route, q *core.RouteQuestion) (core.RouteAnswer, error) {
	switch {
	case a.Error != nil:
		return core.RouteAnswer{}, core.Categorized(errors.New(a.Error.Message.Value), category(a.Error))
	case a.Answer != nil:
		return asModel(a.Answer.Value, q)
	case a.Number != nil:
		return asModel(strconv.Itoa(a.Number.Value), q)
	case a.To.Value == mock.None && !offers(q, mock.None):
		return core.RouteAnswer{Choice: core.NoRoute, Raw: a.To.Value}, nil
	case !offers(q, a.To.Value):
		return core.RouteAnswer{}, errUnscripted
	}
	i := slices.IndexFunc(q.Choices, func(c core.RouteChoice) bool { return c.Target == a.To.Value })
	return core.RouteAnswer{Choice: i, Raw: a.To.Value}, nil
}

// asModel parses a string as the router of a model does.
func asModel(text string, q *core.RouteQuestion) (core.RouteAnswer, error) {
	says := llm.Func(func(context.Context, *llm.Request) (*llm.Response, error) { return &llm.Response{Text: text}, nil })
	return llm.NewRouter(says).Route(context.Background(), *q)
}

func offers(q *core.RouteQuestion, target string) bool {
	return slices.ContainsFunc(q.Choices, func(c core.RouteChoice) bool { return c.Target == target })
}

// unscripted ends the run at a decision for which the file has no answer, or whose answer
// is a node that is not among the choices.
func (d *driver) unscripted(pos source.Position, node string, q *core.RouteQuestion, answer string) machine.Outcome {
	want := "one of the choices"
	if answer == "" {
		answer = "none in the file"
		want = "an answer"
	}
	d.rec.unscripted = append(d.rec.unscripted, Miss{pos, pos.String(), fmt.Sprintf("model.route.%s: the decision after visit %d", node, q.Visit),
		want, answer, "the choices are " + choices(q)})
	return failure(core.Failure{Class: core.ClassError, Message: errUnscripted.Error(), Permanent: true})
}

// choices lists the possible answers with their numbers.
func choices(q *core.RouteQuestion) string {
	var list []string
	for i, c := range q.Choices {
		if i != q.Fallback {
			list = append(list, fmt.Sprintf("%d %s (%s)", len(list)+1, c.Target, c.When))
		}
	}
	if q.Fallback == core.NoRoute {
		return strings.Join(append(list, "0 "+mock.None), ", ")
	}
	return strings.Join(append(list, "0 "+q.Choices[q.Fallback].Target+" (none of the above)"), ", ")
}

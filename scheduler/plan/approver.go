package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// approver is the handler of an approval of a flow: it asks until the answer is one of the decisions.
// The value of the token is shown with the question.
type approver struct{ prompt string }

// FlowInput is the name under which a node of a flow gets the value of the token, among its edge
// inputs.
const FlowInput = "input"

// maxShown limits the part of the value that a person is shown.
const maxShown = 4 << 10

// decisions are the choices of an approval.
var decisions = []core.Choice{{Key: "a", Label: core.HandleApprove}, {Key: "r", Label: core.HandleReject}}

// Question returns what an approval asks, without the run and the node.
func (a approver) Question(input any) core.Question {
	q := core.Question{Text: cmp.Or(a.prompt, "approve this step?"), Choices: decisions, Approval: true}
	if text := core.FlowText(input); text != "" {
		shown := core.Shown{Name: FlowInput, Text: text}
		if len(text) > maxShown {
			cut := maxShown
			for !utf8.RuneStart(text[cut]) {
				cut--
			}
			shown.Text, shown.Left = text[:cut], len(text)-cut
		}
		q.Show = []core.Shown{shown}
	}
	return q
}

// Handle asks. Nothing but one of the decisions is an answer.
func (a approver) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	ask := in.Shared().Ask
	if ask == nil {
		return core.Result{}, unapproved(fmt.Errorf("%w: the run has no person to ask", core.ErrUnanswered))
	}
	input, _ := in.Shared().Edges.Get(FlowInput)
	q := a.Question(input)
	q.Run, q.Node, q.Visit, q.Attempt = in.Run(), in.Execution(), in.Visit(), in.Attempt()
	for range maxPauses {
		answer, err := ask(ctx, q)
		switch {
		case ctx.Err() != nil:
			return core.Result{}, ctx.Err()
		case errors.Is(err, core.ErrUnanswered):
			return core.Result{}, unapproved(err)
		case err != nil:
			return core.Result{}, err
		}
		if found := q.Match(answer); len(found) == 1 {
			return core.Result{Note: value.CutText(answer.Note), Routing: &core.Routing{PreferredLabel: found[0].Label}}, nil
		}
		q.Again = fmt.Sprintf("%q is none of the choices", cmp.Or(answer.Text, answer.Choice.Label))
	}
	return core.Result{}, unapproved(fmt.Errorf("%w: asked %d times, and at last %s", core.ErrUnanswered, maxPauses, q.Again))
}

// unapproved returns the failure of an approval without a decision.
func unapproved(err error) error {
	return core.Categorized(core.Permanent(err), core.Deterministic)
}

// Question returns what the person is asked who decides at an approval of a flow, for the value of the
// token. ok is false if the node is not an approval.
func (n *Node) Question(input any) (q core.Question, ok bool) {
	a, ok := n.Handler.(approver)
	if !ok {
		return core.Question{}, false
	}
	return a.Question(input), true
}

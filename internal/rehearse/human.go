package rehearse

import (
	"context"
	"fmt"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// ask answers a human gate. The gate itself interprets the scripted answer, so that a test
// sees its effect. A gate without an answer in the file stays unanswered.
func (d *driver) ask(c *machine.Command, a *mock.Answer) (machine.Outcome, time.Duration) {
	if a.Human == nil && answers(a) {
		return outcome(a, c.Plan, c.Node), a.Sleep.Value
	}
	p := &person{answer: a, delay: a.Sleep.Value}
	ask := p.Ask
	if a.Human == nil && d.interviewer != nil {
		ask = d.interviewer.Ask
	}
	in, err := d.input(c, func(ctx context.Context, q core.Question) (core.Answer, error) {
		d.rec.questions[nodePath(c)] = questionText(&q)
		return ask(ctx, q)
	})
	if err != nil {
		return failure(*core.FailureOf(err)), 0
	}
	res, err := c.Node.Handler.Handle(context.Background(), in)
	if err != nil {
		return machine.Outcome{Failure: core.FailureOf(err)}, p.delay
	}
	return accepted(&res, c.Plan, c.Node), p.delay
}

// questionText returns everything that a person sees: the question and the content shown
// with it.
func questionText(q *core.Question) string {
	text := q.Text
	for _, s := range q.Show {
		text += "\n" + s.Name + ": " + s.Text + s.Missing
	}
	return text
}

// answers reports whether an answer specifies the outcome directly.
func answers(a *mock.Answer) bool {
	return a.Status.Value != "" || a.Error != nil || a.Panic != nil || routing(a) != nil || a.Delta != nil || a.EdgeOutput != nil || a.Output != nil
}

// person is an interviewer that gives one answer.
type person struct {
	answer   *mock.Answer
	delay    time.Duration
	answered bool
}

// Ask returns the answer once. A second call returns an error that includes why the gate
// asked again.
func (p *person) Ask(_ context.Context, q core.Question) (core.Answer, error) {
	if q.Timeout > 0 && p.delay >= q.Timeout {
		p.delay = q.Timeout
		return core.Answer{}, core.ErrLate
	}
	switch {
	case p.answer.Human == nil:
		return core.Answer{}, core.ErrUnanswered
	case p.answered:
		return core.Answer{}, fmt.Errorf("%w: %s", core.ErrUnanswered, q.Again)
	}
	p.answered = true
	return core.Answer{Text: p.answer.Human.Value}, nil
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/human"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// interviewer returns the interviewer that answers at human gates: a person at the
// terminal, an automatic approval if the caller asked for it, or one that leaves every
// question unanswered.
func (a *app) interviewer(p *plan.Plan, f *runFlags, w *watcher) core.Interviewer {
	if f.autoApprove {
		return human.AutoApprove()
	}
	_, reads := terminal(a.In)
	screen, shows := terminal(a.Err)
	switch {
	case p.Stdin:
		return noAnswer("a node reads standard input")
	case !reads:
		return noAnswer("standard input is not a terminal")
	case !shows:
		return noAnswer("standard error is not a terminal")
	}
	console := human.Console(a.In, screen)
	if w.listener() != nil {
		w.gate = &questionGate{displayed: map[question]chan struct{}{}}
	}
	return human.Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
		w.gate.wait(ctx, &q)
		q.Text = a.mask.Text(q.Text)
		q.Show = slices.Clone(q.Show)
		for i := range q.Show {
			q.Show[i].Text = a.mask.Text(q.Show[i].Text)
		}
		defer w.suspend()()
		return console.Ask(ctx, q)
	})
}

// noAnswer returns an interviewer that answers no question; why is the reason in its error.
func noAnswer(why string) core.Interviewer {
	return human.Func(func(context.Context, core.Question) (core.Answer, error) {
		return core.Answer{}, fmt.Errorf("%w: %s; --auto-approve takes the first choice of every gate", core.ErrUnanswered, why)
	})
}

// question identifies a question. A repeated question has the same identity.
type question struct {
	node           string
	visit, attempt int
}

// questionGate delays a question until the preceding events have been displayed: events are
// delivered after the state that they describe.
type questionGate struct {
	mu        sync.Mutex
	displayed map[question]chan struct{} // closed when the event of the question has arrived
}

func (a *questionGate) of(q question) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.displayed[q] == nil {
		a.displayed[q] = make(chan struct{})
	}
	return a.displayed[q]
}

// wait waits for the event of a question, and then forgets it, so that its identity can be
// reused. A nil questionGate does not wait.
func (a *questionGate) wait(ctx context.Context, q *core.Question) {
	if a == nil {
		return
	}
	name := question{q.Node, q.Visit, q.Attempt}
	select {
	case <-a.of(name):
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.displayed, name)
	case <-ctx.Done():
	}
}

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

// interviewer is who answers at human gates: a person at the terminal, or nobody, unless
// the caller approves of everything.
func (a *app) interviewer(p *plan.Plan, f *runFlags, w *watcher) core.Interviewer {
	if f.autoApprove {
		return human.AutoApprove()
	}
	_, reads := terminal(a.In)
	screen, shows := terminal(a.Err)
	switch {
	case p.Stdin:
		return refusal("a node reads standard input")
	case !reads:
		return refusal("standard input is no terminal")
	case !shows:
		return refusal("standard error is no terminal")
	}
	console := human.Console(a.In, screen)
	if w.listener() != nil {
		w.asked = &asked{shown: map[question]chan struct{}{}}
	}
	return human.Func(func(ctx context.Context, q core.Question) (core.Answer, error) {
		w.asked.wait(ctx, &q)
		q.Text = a.mask.Text(q.Text)
		q.Show = slices.Clone(q.Show)
		for i := range q.Show {
			q.Show[i].Text = a.mask.Text(q.Show[i].Text)
		}
		defer w.stepAside()()
		return console.Ask(ctx, q)
	})
}

// refusal answers nothing, and says why.
func refusal(why string) core.Interviewer {
	return human.Func(func(context.Context, core.Question) (core.Answer, error) {
		return core.Answer{}, fmt.Errorf("%w: %s; --auto-approve takes the first choice of every gate", core.ErrUnanswered, why)
	})
}

// question names what is asked. Asked once more it has the same name.
type question struct {
	node           string
	visit, attempt int
}

// asked makes a question wait until all that led to it has been shown: events come later
// than what they tell of.
type asked struct {
	mu    sync.Mutex
	shown map[question]chan struct{} // closed when the event of the question has come
}

func (a *asked) of(q question) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown[q] == nil {
		a.shown[q] = make(chan struct{})
	}
	return a.shown[q]
}

// wait waits for the event of a question, whose name may then be used once more. A nil
// asked waits for nothing.
func (a *asked) wait(ctx context.Context, q *core.Question) {
	if a == nil {
		return
	}
	name := question{q.Node, q.Visit, q.Attempt}
	select {
	case <-a.of(name):
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.shown, name)
	case <-ctx.Done():
	}
}

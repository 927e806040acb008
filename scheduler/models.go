package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// This file is what the driver does about models: it asks the router, tells of calls in
// events, and keeps the run within its budget.

// ErrBudget is the error of a call to a model that the budget of the run forbids.
var ErrBudget = errors.New("the budget of the run is used up")

// ErrNoRouter is the error of a run whose walk has a decision for a model and that has no
// router to ask.
var ErrNoRouter = errors.New("no model is configured to choose the edge")

// spending is what the models of a run have taken so far.
type spending struct {
	mu   sync.Mutex
	used core.Usage
}

// left returns an error when the budget allows no further call.
func (s *spending) left(b core.Budget) error {
	if b == (core.Budget{}) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var over string
	switch u := s.used; {
	case b.Calls > 0 && u.Calls >= b.Calls:
		over = fmt.Sprintf("%d of %d calls", u.Calls, b.Calls)
	case b.Tokens > 0 && u.Tokens() >= b.Tokens:
		over = fmt.Sprintf("%d of %d tokens", u.Tokens(), b.Tokens)
	case b.Cost > 0 && u.Cost >= b.Cost:
		over = fmt.Sprintf("a cost of %.4g of %.4g", u.Cost, b.Cost)
	default:
		return nil
	}
	return core.FailRun(core.Categorized(fmt.Errorf("%w: %s", ErrBudget, over), core.BudgetExhausted))
}

func (s *spending) add(u core.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used.Plus(u)
}

// meter accounts for the calls of one attempt, or of one question to the router.
type meter struct {
	run   *run
	event core.Event // what all its events have

	mu   sync.Mutex
	used core.Usage
}

// metered returns a context whose calls to models are accounted for, and that has the
// router of the run, and their meter.
func (x *executor) metered(ctx context.Context, index core.Ordinal) (context.Context, *meter) {
	c := x.c
	m := &meter{run: x.run, event: core.Event{V: core.EventVersion, Run: x.run.opts.Run, Node: c.Call.Name(c.Node), Kind: c.Node.Kind, Phase: c.Node.Phase,
		Item: index, Attempt: int(c.ID.Attempt)}}
	if c.Call != nil {
		m.event.Visit = c.Call.Visit
	}
	ctx = core.WithMeter(ctx, &core.Meter{Ask: m.ask, Answered: m.answered, Tool: m.tool})
	if r := x.run.opts.Router; r != nil {
		ctx = core.WithRouter(ctx, r)
	}
	return ctx, m
}

func (m *meter) ask(c core.ModelCall) error {
	if err := m.run.spent.left(m.run.opts.Budget); err != nil {
		return err
	}
	m.emit(core.ModelAsked, func(e *core.Event) { e.Purpose, e.Model, e.Turn = c.Purpose, c.Model, c.Turn })
	return nil
}

func (m *meter) answered(c core.ModelCall) {
	if c.Usage != (core.Usage{}) {
		m.run.spent.add(c.Usage)
		m.mu.Lock()
		m.used = m.used.Plus(c.Usage)
		m.mu.Unlock()
	}
	m.emit(core.ModelAnswered, func(e *core.Event) {
		e.Purpose, e.Model, e.Turn, e.Duration, e.Status = c.Purpose, c.Model, c.Turn, c.Duration, c.Finish
		if c.Usage != (core.Usage{}) {
			e.Usage = &c.Usage
		}
		if c.Err != nil {
			e.Reason = c.Err.Error()
		}
	})
}

func (m *meter) tool(c core.ToolCall) {
	m.emit(core.ToolCalled, func(e *core.Event) {
		e.Tool, e.Turn, e.Duration = c.Tool, c.Turn, c.Duration
		if c.Err != nil {
			e.Reason = c.Err.Error()
		}
	})
}

func (m *meter) emit(t core.EventType, fill func(*core.Event)) {
	m.run.signOfLife()
	if m.run.events == nil {
		return
	}
	e := m.event
	e.Type, e.Time = t, time.Now()
	fill(&e)
	m.run.events.add(e)
}

// usage is what the calls took, nil for nothing.
func (m *meter) usage() *core.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == (core.Usage{}) {
		return nil
	}
	u := m.used
	return &u
}

// route asks the router where a walk goes on.
func (x *executor) route(o *machine.Outcome) {
	q := x.c.Call.Route
	ctx, m := x.metered(x.ctx, 0)
	a, err := callRouter(ctx, x.run.opts.Router, *q)
	o.Usage = m.usage()
	if err != nil {
		o.Failure = x.failure(ctx, err)
		return
	}
	if x.run.events != nil {
		a.View = viewHash(q)
	}
	o.Route = &machine.Route{Answer: &a}
}

// viewHash identifies what a router was shown: the first 16 hexadecimal digits of the
// SHA-256 of the view as JSON.
func viewHash(q *core.RouteQuestion) string {
	text, err := core.AppendJSON(nil, q.View)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

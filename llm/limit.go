package llm

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound the calls of a model, however many runs share it. Zero means no bound.
type Limits struct {
	Concurrent int // calls under way at once
	Requests   int // in any minute
	// Tokens are those of a minute, input and output. What a call will take is not known
	// before: a low estimate of its input is waited for, and what it took beyond that delays
	// the calls after it.
	Tokens int
}

// WithLimit returns a model whose calls wait until the limits let them through, in no
// particular order. A wait that the context of the call would not survive fails at once.
// Inside of WithRetry each attempt counts, and none holds a place while it waits to be
// tried again.
func WithLimit(m Model, l Limits) Model {
	if l == (Limits{}) {
		return m
	}
	g := &gate{requests: perMinute(l.Requests), tokens: perMinute(l.Tokens)}
	if l.Concurrent > 0 {
		g.slots = make(chan struct{}, l.Concurrent)
	}
	return &wrapper{inner: m, call: func(ctx context.Context, r *Request) (*Response, error) { return g.complete(ctx, m, r) }}
}

type gate struct {
	slots            chan struct{} // as many as may be under way
	requests, tokens *rate.Limiter
}

// perMinute returns a limiter that lets at most n through in any minute: a tenth at once,
// the rest evenly.
func perMinute(n int) *rate.Limiter {
	if n <= 0 {
		return nil
	}
	burst := max(1, n/10)
	every := rate.Every(time.Minute)
	if n > burst {
		every = rate.Limit(float64(n-burst) / time.Minute.Seconds())
	}
	return rate.NewLimiter(every, burst)
}

func (g *gate) complete(ctx context.Context, m Model, r *Request) (*Response, error) {
	if g.slots != nil {
		select {
		case g.slots <- struct{}{}:
			defer func() { <-g.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := wait(ctx, g.requests, 1, "requests"); err != nil {
		return nil, err
	}
	estimate := 0
	if g.tokens != nil {
		estimate = estimated(r)
		if err := wait(ctx, g.tokens, estimate, "tokens"); err != nil {
			return nil, err
		}
	}
	res, err := m.Complete(ctx, r)
	if res != nil && g.tokens != nil {
		owe(g.tokens, int(res.Usage.Tokens())-estimate)
	}
	return res, err
}

// wait takes n from a limiter, in parts that it can give.
func wait(ctx context.Context, l *rate.Limiter, n int, what string) error {
	for l != nil && n > 0 {
		part := min(n, l.Burst())
		if err := l.WaitN(ctx, part); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("waiting for the limit of %s a minute: %w", what, context.DeadlineExceeded)
		}
		n -= part
	}
	return nil
}

// owe takes n from a limiter without waiting: those who come next wait.
func owe(l *rate.Limiter, n int) {
	for n > 0 {
		part := min(n, l.Burst())
		l.ReserveN(time.Now(), part)
		n -= part
	}
}

// estimated is about how many tokens a request has, rather fewer: texts have a token for
// four to five bytes.
func estimated(r *Request) int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	return max(1, n/5)
}

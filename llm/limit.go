package llm

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Limits limit the calls of a model, across all runs that share it. Zero means no limit.
type Limits struct {
	Concurrent int // concurrent calls
	Requests   int // requests per minute
	// Tokens limits the input and output tokens per minute. The tokens of a call are not
	// known in advance: a call waits for a low estimate of its input, and the difference to
	// its actual usage delays later calls.
	Tokens int
}

// WithLimit returns a model whose calls wait until the limits admit them, in no particular
// order. A call fails at once if the deadline of its context is earlier than the end of its
// wait. Inside WithRetry each attempt counts against the limits, and a call holds no slot
// while it waits for its next attempt.
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
	slots            chan struct{} // one per concurrent call
	requests, tokens *rate.Limiter
}

// perMinute returns a limiter that admits at most n in any minute: a tenth as a burst, the
// rest evenly spaced.
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
		reserve(g.tokens, int(res.Usage.Tokens())-estimate)
	}
	return res, err
}

// wait takes n from a limiter, in parts that are no larger than its burst.
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

// reserve takes n from a limiter without waiting; later callers wait instead.
func reserve(l *rate.Limiter, n int) {
	for n > 0 {
		part := min(n, l.Burst())
		l.ReserveN(time.Now(), part)
		n -= part
	}
}

// estimated returns a low estimate of the number of tokens in a request: one for every five
// bytes, where text usually has one for every four to five.
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

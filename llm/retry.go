package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Retry configures WithRetry. A zero field has its default.
type Retry struct {
	// Attempts is the maximum number of attempts; 0 means DefaultAttempts.
	Attempts int
	// Delay is the wait before the second attempt; it doubles with each further attempt. 0
	// means DefaultDelay. A delay that the server requests takes precedence.
	Delay time.Duration
	// MaxDelay is the longest wait; 0 means DefaultMaxDelay. If a server requests a longer
	// one, the call fails at once, and its error passes the delay on to the retry policy of
	// the node.
	MaxDelay time.Duration
}

// Defaults of Retry.
const (
	DefaultAttempts = 4
	DefaultDelay    = time.Second
	DefaultMaxDelay = time.Minute
)

// WithRetry returns a model that repeats calls after transient failures (core.CategoryOf),
// such as status 429 or 500, a timeout or a broken connection. Waits vary by up to a
// quarter, so that calls that failed together are not repeated together. The meter counts
// one call.
func WithRetry(m Model, o Retry) Model {
	o.Attempts, o.Delay, o.MaxDelay = cmp.Or(o.Attempts, DefaultAttempts), cmp.Or(o.Delay, DefaultDelay), cmp.Or(o.MaxDelay, DefaultMaxDelay)
	return &wrapper{inner: m, call: func(ctx context.Context, r *Request) (*Response, error) { return o.complete(ctx, m, r) }}
}

func (o *Retry) complete(ctx context.Context, m Model, r *Request) (*Response, error) {
	delay := o.Delay
	for attempt := 1; ; attempt++ {
		res, err := m.Complete(ctx, r)
		if err == nil || ctx.Err() != nil || !isTransient(err) {
			return res, err
		}
		wait := min(delay, o.MaxDelay)
		if s, ok := errors.AsType[*StatusError](err); ok && s.RetryAfter > 0 {
			wait = s.RetryAfter
		}
		if attempt >= o.Attempts {
			return nil, withAttempts(err, attempt)
		}
		if wait > o.MaxDelay {
			return nil, fmt.Errorf("%w (the server asks to wait for %s, more than %s)", err, wait, o.MaxDelay)
		}
		wait += time.Duration(rand.Float64() * float64(wait) / 4)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait { // the deadline passes before the next attempt
			return nil, withAttempts(err, attempt)
		}
		if m := core.MeterOf(ctx); m != nil && m.Again != nil {
			m.Again(fmt.Sprintf("%v; the model is asked again in %s (%d of %d)", err, wait.Round(100*time.Millisecond), attempt+1, o.Attempts))
		}
		if !sleep(ctx, wait) {
			return nil, withAttempts(err, attempt)
		}
		delay *= 2
	}
}

func isTransient(err error) bool {
	return core.CategoryOf(err) == core.TransientInfra && !core.FailureOf(err).Permanent
}

func withAttempts(err error, times int) error {
	if times == 1 {
		return err
	}
	return fmt.Errorf("%w (asked %d times)", err, times)
}

// sleep waits and reports whether the context is still active.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

package llm

import (
	"context"
	"fmt"
	"time"
)

// timeoutError is the end of one call's time. It is transient, as a method Timeout tells,
// and a context.DeadlineExceeded.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the model did not answer within %s", e.after)
}
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Is(t error) bool { return t == context.DeadlineExceeded }

// WithTimeout returns a model each call of which may take so long. Inside of WithRetry it
// bounds an attempt, outside of it all of them.
func WithTimeout(m Model, after time.Duration) Model {
	if after <= 0 {
		return m
	}
	late := &timeoutError{after}
	return &wrapper{inner: m, call: func(ctx context.Context, r *Request) (*Response, error) {
		inner, cancel := context.WithTimeoutCause(ctx, after, late)
		defer cancel()
		res, err := m.Complete(inner, r)
		if err != nil && context.Cause(inner) == late {
			return nil, late
		}
		return res, err
	}}
}

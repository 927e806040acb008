package llm

import (
	"context"
	"fmt"
	"time"
)

// timeoutError reports that a call exceeded its timeout. It is a context.DeadlineExceeded,
// and its method Timeout marks it as transient.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the model did not answer within %s", e.after)
}
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Is(t error) bool { return t == context.DeadlineExceeded }

// WithTimeout returns a model each of whose calls has a timeout. Inside WithRetry the
// timeout applies to each attempt, outside to all attempts together.
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

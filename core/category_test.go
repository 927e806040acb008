package core_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/wavefold/wavefold/core"
)

type statusError int

func (e statusError) Error() string   { return "the server said no" }
func (e statusError) StatusCode() int { return int(e) }

func TestCategoryOf(t *testing.T) {
	text := errors.New
	for _, tt := range []struct {
		name string
		err  error
		want core.Category
	}{
		// What the error says of itself.
		{"marked", core.Categorized(text("timeout"), core.Structural), core.Structural},
		{"marked inside", fmt.Errorf("again: %w", core.Categorized(text("x"), core.CompilationLoop)), core.CompilationLoop},
		{"marked with a word nobody knows", core.Categorized(text("timeout"), "weather"), core.Deterministic},
		{"retryable", core.Retryable(text("aborted")), core.TransientInfra},
		{"with a wait", core.RetryAfter(text("busy"), 1), core.TransientInfra},
		// Its kind.
		{"cancelled", fmt.Errorf("timeout: %w", context.Canceled), core.Canceled},
		{"deadline", context.DeadlineExceeded, core.TransientInfra},
		{"a timeout", &net.DNSError{Err: "abort", IsTimeout: true}, core.TransientInfra},
		{"429", statusError(429), core.TransientInfra},
		{"503", statusError(503), core.TransientInfra},
		{"404", statusError(404), core.Deterministic},
		{"402", statusError(402), core.BudgetExhausted},
		// Its text, in this order.
		{"abort wins over everything", text("connection reset: aborted, 503, budget"), core.Canceled},
		{"Cancel", text("Cancelled by the user"), core.Canceled},
		{"refused", text("dial tcp 127.0.0.1:1: connect: connection refused"), core.TransientInfra},
		{"cut short", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), core.TransientInfra},
		{"a host", text("lookup x: no such host"), core.TransientInfra},
		{"transient before budget", text("rate limit of the quota"), core.TransientInfra},
		{"any 500", text("row 15003 has no name"), core.TransientInfra},
		{"budget", text("the Context Length of the model"), core.BudgetExhausted},
		{"turns", text("turn limit reached"), core.BudgetExhausted},
		{"scope", text("scope_violation: it wrote outside"), core.Structural},
		{"max retries", text("max retries exceeded"), core.Deterministic},
		{"nothing known", text("boom"), core.Deterministic},
		{"no text", text(""), core.Deterministic},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := core.CategoryOf(tt.err); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			f := core.FailureOf(tt.err)
			if got := f.InCategory(); got != tt.want {
				t.Errorf("as a failure: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInCategory(t *testing.T) {
	for _, tt := range []struct {
		fail core.Failure
		want core.Category
	}{
		{core.Failure{Class: core.ClassTimeout}, core.TransientInfra},
		{core.Failure{Class: core.ClassCanceled}, core.Canceled},
		{core.Failure{Class: core.ClassMerge}, core.Deterministic},
		{core.Failure{Class: core.ClassTimeout, Category: core.Structural}, core.Structural},
		{core.Failure{Category: "weather"}, core.Deterministic},
	} {
		if got := tt.fail.InCategory(); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.fail, got, tt.want)
		}
	}
}

// The outermost of two marks counts.
func TestRetryMarks(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"none", boom, false},
		{"permanent", core.Permanent(boom), true},
		{"retryable", core.Retryable(core.Permanent(boom)), false},
		{"permanent again", core.Permanent(core.Retryable(boom)), true},
	} {
		if f := core.FailureOf(tt.err); f.Permanent != tt.want {
			t.Errorf("%s: permanent is %t", tt.name, f.Permanent)
		}
	}
	if core.Retryable(nil) != nil || core.Categorized(nil, core.Canceled) != nil {
		t.Error("a nil error got a mark")
	}
}

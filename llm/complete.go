package llm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Complete calls a model for a node or a decision of a run. It asks the meter of the
// context (core.MeterOf) before the call; an error of the meter, which means that the
// budget of the run is used up, is returned unchanged. It reports the outcome to the meter
// after the call. A panic of the model becomes an error. An error that carries a
// StatusError with RetryAfter is wrapped by core.RetryAfter, so that the retry policy of a
// node observes it.
//
// Usage.Calls of the response is at least 1. If the model does not report its name, Model of
// the response is Model of the request.
func Complete(ctx context.Context, m Model, r *Request) (*Response, error) {
	call := core.ModelCall{Purpose: r.Purpose, Model: r.Model, Turn: r.Turn}
	meter := core.MeterOf(ctx)
	if meter != nil && meter.Ask != nil {
		if err := meter.Ask(call); err != nil {
			return nil, err
		}
	}
	if meter != nil && meter.Priced {
		if name, _, ok := PriceOf(m, r.Model); !ok {
			return nil, core.FailRun(core.Permanent(noPriceError(name)))
		}
	}
	start := time.Now()
	res, err := guarded(ctx, m, r)
	if err == nil && res == nil {
		err = errors.New("the model returned neither an answer nor an error")
	}
	if err != nil {
		res, err = nil, withRetryAfter(err)
	} else {
		res.Usage.Calls = max(res.Usage.Calls, 1)
		if res.Model == "" {
			res.Model = r.Model
		}
		if meter != nil && meter.Estimate && res.Usage.Tokens() == 0 {
			estimate(m, r, res)
		}
		call.Model, call.Finish, call.Usage = res.Model, res.Finish, res.Usage
	}
	if meter != nil && meter.Answered != nil {
		call.Duration, call.Err = time.Since(start), err
		meter.Answered(call)
	}
	return res, err
}

// noPriceError returns the error of a run with a budget of money that calls a model without a
// known price.
func noPriceError(model string) error {
	what := fmt.Sprintf("model %q", model)
	if model == "" {
		what = "default model of the server"
	}
	return fmt.Errorf("the run has a budget of money, and no price is known of the %s", what)
}

// estimate sets the token counts of an answer that reports none, at four characters a
// token.
func estimate(m Model, r *Request, res *Response) {
	in, out := 0, utf8.RuneCountInString(res.Text)
	for i := range r.Messages {
		in += utf8.RuneCountInString(r.Messages[i].Text)
		for _, c := range r.Messages[i].Calls {
			in += utf8.RuneCountInString(c.Name + c.Arguments)
		}
	}
	for _, t := range r.Tools {
		in += utf8.RuneCountInString(t.Name + t.Description + value.JSON(t.Parameters))
	}
	if r.Schema != nil {
		in += utf8.RuneCountInString(value.JSON(r.Schema.Schema))
	}
	for _, c := range res.Calls {
		out += utf8.RuneCountInString(c.Name + c.Arguments)
	}
	u := &res.Usage
	u.Input, u.Output, u.Estimated = int64(in+3)/4, int64(out+3)/4, u.Calls
	for _, name := range []string{res.Model, r.Model} {
		if _, p, ok := PriceOf(m, name); ok && u.Cost == 0 {
			u.Cost = p.of(*u)
		}
	}
}

func guarded(ctx context.Context, m Model, r *Request) (res *Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, core.Panicked("the model panicked", p, debug.Stack())
		}
	}()
	return m.Complete(ctx, r)
}

// withRetryAfter passes the delay that a server requests on to the retry policy of the
// caller.
func withRetryAfter(err error) error {
	if s, ok := errors.AsType[*StatusError](err); ok && s.RetryAfter > 0 && core.CategoryOf(err) == core.TransientInfra {
		return core.RetryAfter(err, s.RetryAfter)
	}
	return err
}

// Lacks describes, for people, the features of a request that a model does not support; ""
// if it supports all of them or is not Capable. The request has no messages.
func Lacks(m Model, r *Request) string {
	if c, ok := m.(Capable); ok {
		return c.Lacks(r)
	}
	return ""
}

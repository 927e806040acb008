package core

import (
	"context"
	"time"
)

// Usage is the total usage of calls to models.
type Usage struct {
	Calls int64 `json:"calls,omitempty"` // calls that were answered
	// Input and Output are numbers of tokens. CachedInput is the part of Input that was
	// cheaper because the model had seen it before, and Reasoning the part of Output that
	// the model used for reasoning.
	Input       int64 `json:"input_tokens,omitempty"`
	CachedInput int64 `json:"cached_input_tokens,omitempty"`
	Output      int64 `json:"output_tokens,omitempty"`
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`
	// Estimated is the number of calls that reported no tokens. For these, four characters
	// are counted as one token.
	Estimated int64 `json:"estimated,omitempty"`
	// Cost is in the currency of the price list, normally US dollars. It is 0 if no price
	// is known.
	Cost float64 `json:"cost,omitempty"`
}

// Tokens returns the sum of input and output tokens.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Plus returns the sum.
func (u Usage) Plus(o Usage) Usage {
	return Usage{u.Calls + o.Calls, u.Input + o.Input, u.CachedInput + o.CachedInput, u.Output + o.Output, u.Reasoning + o.Reasoning, u.Estimated + o.Estimated, u.Cost + o.Cost}
}

// Budget limits the calls to models of one run; zero means no limit. A call that begins
// within the budget is finished; the next one fails the run. Concurrent calls never exceed
// Calls. Tokens and Cost are known only when a call has ended, so calls in flight may
// exceed them. If either of these two is limited, the tokens of an answer that reports none
// are estimated. If Cost is limited, a run that may ask a model without a known price is
// rejected.
type Budget struct {
	Calls  int64   `json:"calls,omitempty"`
	Tokens int64   `json:"tokens,omitempty"` // input and output
	Cost   float64 `json:"cost,omitempty"`   // as in Usage
}

// ModelCall describes one call to a model, for events and accounting.
type ModelCall struct {
	// Purpose is the reason for the call: "run", "route", "judge", or another word of the
	// caller.
	Purpose string
	Model   string // "" before a call to the default model
	Turn    int    // turn of a conversation, from 1; 0 if there is none
	// The fields below are known after the call.
	Usage    Usage
	Duration time.Duration
	Finish   string // why the model stopped, in the words of its provider
	Err      error
}

// ToolCall describes one call of a tool that a model requested.
type ToolCall struct {
	Tool     string
	Turn     int
	Duration time.Duration
	Err      error
}

// Meter accounts for the calls to models and tools of one attempt of a node or of one
// routing decision, and publishes them as events. It is safe for concurrent use. A nil
// *Meter accounts for nothing.
type Meter struct {
	// Ask is called before a call to a model. It returns an error if the budget of the run
	// is used up, and then the call must not be made. It may wait for calls in flight if
	// this call could exceed the budget. Answered is called after the call, and Tool after
	// the call of a tool.
	Ask      func(ModelCall) error
	Answered func(ModelCall)
	Tool     func(ToolCall)
	// Again, if it is not nil, is called if a call in flight is going to be repeated. why
	// gives the reason and the time; it becomes a log line of the run.
	Again func(why string)
	// Logged, if it is not nil, adds an entry to the log of a flow, such as the call of a sub-agent.
	// entry is one of the Log constants.
	Logged func(entry, content string)
	// Estimate requests an estimate of the tokens of answers that report none, because the
	// run has a budget of tokens or money. Priced forbids calls to models whose price is
	// not known, because the run has a budget of money.
	Estimate, Priced bool
}

type meterKey struct{}

// WithMeter returns a context whose calls to models are accounted for by m.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the meter of a context, or nil if there is none. Package llm calls it;
// code that calls a model by other means can do the same.
func MeterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

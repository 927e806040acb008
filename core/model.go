package core

import (
	"context"
	"time"
)

// Usage counts what calls to models took.
type Usage struct {
	Calls int64 `json:"calls,omitempty"` // that were answered
	// Input and Output are tokens; CachedInput is the part of Input that was cheaper
	// because the model had seen it before, Reasoning the part of Output that it thought
	// with.
	Input       int64 `json:"input_tokens,omitempty"`
	CachedInput int64 `json:"cached_input_tokens,omitempty"`
	Output      int64 `json:"output_tokens,omitempty"`
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`
	// Estimated is how many of the calls reported no tokens, so that four characters counted
	// as one.
	Estimated int64 `json:"estimated,omitempty"`
	// Cost is in the currency of the price list, US dollars as a rule; 0 when no price is known.
	Cost float64 `json:"cost,omitempty"`
}

// Tokens returns input and output together.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Plus returns the sum.
func (u Usage) Plus(o Usage) Usage {
	return Usage{u.Calls + o.Calls, u.Input + o.Input, u.CachedInput + o.CachedInput, u.Output + o.Output, u.Reasoning + o.Reasoning, u.Estimated + o.Estimated, u.Cost + o.Cost}
}

// Budget bounds what the calls to models of one run may take. Zero means no bound. A call
// that begins within the budget is finished; the next one fails the run. Where calls are
// made at the same time no more of them begin than Calls; Tokens and Cost are known only
// when a call has ended, so that those under way may go over. With a bound on either, the
// tokens of an answer that reports none are estimated; with a bound on Cost, a run that may
// ask a model without a known price is refused.
type Budget struct {
	Calls  int64
	Tokens int64   // input and output
	Cost   float64 // as in Usage
}

// ModelCall is one call to a model, as it is told in events and accounted for.
type ModelCall struct {
	// Purpose is why the model was called: "run", "route", "judge", or what else whoever
	// calls it says.
	Purpose string
	Model   string // "" before the call for the default
	Turn    int    // of a conversation, from 1; 0 for none
	// What follows is known after the call.
	Usage    Usage
	Duration time.Duration
	Finish   string // why the model stopped, in its own word
	Err      error
}

// ToolCall is one call of a tool that a model asked for.
type ToolCall struct {
	Tool     string
	Turn     int
	Duration time.Duration
	Err      error
}

// Meter accounts for the calls to models and tools of one attempt of a node or of one
// routing decision, and tells of them in events. It is safe for concurrent use. The nil
// *Meter accounts for nothing.
type Meter struct {
	// Ask is told before a call; an error forbids it, because the budget of the run is used
	// up. It may wait for calls under way, if this one could be one too many. Answered is
	// told after it, and Tool after the call of a tool.
	Ask      func(ModelCall) error
	Answered func(ModelCall)
	Tool     func(ToolCall)
	// Again, if it is not nil, is told why a call that is under way will be made once more,
	// and when: it becomes a line in the log of the run.
	Again func(why string)
	// Estimate asks for an estimate of the tokens of answers that report none, because the
	// run has a budget of tokens or money. Priced forbids calls to models whose price is
	// not known, because it has one of money.
	Estimate, Priced bool
}

type meterKey struct{}

// WithMeter returns a context whose calls to models are accounted for by m.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the meter of a context, nil for none. Package llm asks it; whoever calls
// a model by other means can do the same.
func MeterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

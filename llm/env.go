package llm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Environment variables that WithEnv reads.
const (
	EnvTimeout     = "WAVEFOLD_MODEL_TIMEOUT"     // of one attempt: 90s, 5m; 0 for no timeout
	EnvAttempts    = "WAVEFOLD_MODEL_ATTEMPTS"    // maximum number of attempts of a call
	EnvConcurrency = "WAVEFOLD_MODEL_CONCURRENCY" // maximum number of concurrent calls
	EnvRequests    = "WAVEFOLD_MODEL_RPM"         // maximum number of requests per minute
	EnvTokens      = "WAVEFOLD_MODEL_TPM"         // maximum number of tokens per minute
	EnvPrices      = "WAVEFOLD_MODEL_PRICES"      // see ParsePrices
)

// DefaultTimeout is the timeout of an attempt if EnvTimeout is not set.
const DefaultTimeout = 5 * time.Minute

// WithEnv returns a model with retries, limits, a timeout for each attempt and prices, as
// set by environment variables. The defaults are the defaults of WithRetry, and
// DefaultTimeout. lookup is os.LookupEnv or a function like it. If a variable is
// malformed, every call fails with an error that names it.
func WithEnv(m Model, lookup func(string) (string, bool)) Model {
	e := env{lookup: lookup}
	timeout := e.duration(EnvTimeout, DefaultTimeout)
	attempts := e.number(EnvAttempts, DefaultAttempts)
	limits := Limits{Concurrent: e.number(EnvConcurrency, 0), Requests: e.number(EnvRequests, 0), Tokens: e.number(EnvTokens, 0)}
	prices := e.prices(EnvPrices)
	if e.err != nil {
		return &misconfigured{m, e.err}
	}
	return WithPrices(WithRetry(WithLimit(WithTimeout(m, timeout), limits), Retry{Attempts: max(attempts, 1)}), prices)
}

// misconfigured is a model one of whose settings in the environment is malformed.
type misconfigured struct {
	inner Model
	err   error
}

// Complete fails the run.
func (m *misconfigured) Complete(context.Context, *Request) (*Response, error) {
	return nil, core.FailRun(core.Permanent(m.err))
}

// Lacks describes what the inner model does not support.
func (m *misconfigured) Lacks(r *Request) string { return Lacks(m.inner, r) }

// KeyVariables names the variables of the inner model.
func (m *misconfigured) KeyVariables() []string { return KeyVariables(m.inner) }

// Check returns the error that names the variable.
func (m *misconfigured) Check() error { return m.err }

// env reads environment variables and keeps the first error.
type env struct {
	lookup func(string) (string, bool)
	err    error
}

func (e *env) get(name string) string {
	s, ok := e.lookup(name)
	if !ok {
		return ""
	}
	return strings.TrimSpace(s)
}

func (e *env) wrong(name, value, want string) {
	if e.err == nil {
		e.err = fmt.Errorf("%s is %q; want %s", name, value, want)
	}
}

func (e *env) number(name string, def int) int {
	s := e.get(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		e.wrong(name, s, "a whole number, 0 or more")
	}
	return n
}

func (e *env) duration(name string, def time.Duration) time.Duration {
	s := e.get(name)
	if s == "" {
		return def
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		e.wrong(name, s, "a duration such as 90s or 5m")
	}
	return d
}

func (e *env) prices(name string) Prices {
	p, err := ParsePrices(e.get(name))
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("%s is %w", name, err)
	}
	return p
}

package core

import (
	"context"
	"errors"
	"strings"
)

// Category says of a failure whether trying again can help. Where it came from is its
// class. "" leaves it to the class.
type Category string

// Categories.
const (
	TransientInfra  Category = "transient_infra"  // the world around may have recovered by the next attempt
	Deterministic   Category = "deterministic"    // the next attempt would end alike
	BudgetExhausted Category = "budget_exhausted" // a limit on tokens, turns or money is used up
	CompilationLoop Category = "compilation_loop" // the same repair was tried in vain; only a handler says so
	Canceled        Category = "canceled"         // somebody wanted it to end
	Structural      Category = "structural"       // it did what it must not do
)

// hints tell the category of an error by its text, in lower case. The first list with a
// hint in the text decides, so "cancel" and "abort" win over all others, and any text with
// the digits 500 in it is transient.
var hints = []struct {
	category Category
	texts    []string
}{
	{Canceled, []string{"cancel", "abort"}},
	{TransientInfra, []string{"timeout", "timed out", "deadline exceeded", "rate limit", "too many requests", "connection refused",
		"connection reset", "broken pipe", "unexpected eof", "no route to host", "network is unreachable", "unavailable", "overloaded",
		"temporary failure", "try again", "dns", "no such host", "500", "502", "503", "504"}},
	{BudgetExhausted, []string{"turn limit", "max turns", "token limit", "max tokens", "context length", "context window", "budget", "quota"}},
	{Structural, []string{"scope violation", "scope_violation"}},
}

// CategoryOf tells the category of an error: what the error says of itself (Categorized,
// Retryable, RetryAfter, or a method Category() Category), else what its kind says (a
// context that ended, a method Timeout, a method StatusCode with an HTTP status), else what
// its text says. What nothing is known about is Deterministic.
func CategoryOf(err error) Category {
	if c, ok := errors.AsType[interface {
		error
		Category() Category
	}](err); ok {
		return known(c.Category())
	}
	if m, ok := errors.AsType[*retryMark](err); ok && m.again {
		return TransientInfra
	}
	if _, ok := errors.AsType[*retryAfterError](err); ok {
		return TransientInfra
	}
	if c := kindOf(err); c != "" {
		return c
	}
	return CategoryOfText(err.Error())
}

// CategoryOfText returns the category of a failure of which only the text is known: the
// note of a result, the reason that a model gives, or what a program printed.
func CategoryOfText(text string) Category {
	text = strings.ToLower(text)
	for i := range hints {
		for _, hint := range hints[i].texts {
			if strings.Contains(text, hint) {
				return hints[i].category
			}
		}
	}
	return Deterministic
}

// kindOf tells the category of an error by its kind, "" if that says nothing.
func kindOf(err error) Category {
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return TransientInfra
	}
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && t.Timeout() {
		return TransientInfra
	}
	if s, ok := errors.AsType[interface {
		error
		StatusCode() int
	}](err); ok {
		return ofStatus(s.StatusCode())
	}
	return ""
}

// ofStatus is the category of an HTTP status, "" of one that is no failure.
func ofStatus(code int) Category {
	switch {
	case code == 408, code == 429, code >= 500:
		return TransientInfra
	case code == 402:
		return BudgetExhausted
	case code >= 400:
		return Deterministic
	}
	return ""
}

// known takes a category that nobody knows for Deterministic.
func known(c Category) Category {
	switch c {
	case TransientInfra, BudgetExhausted, CompilationLoop, Canceled, Structural:
		return c
	}
	return Deterministic
}

type categoryError struct {
	error
	category Category
}

func (e *categoryError) Unwrap() error      { return e.error }
func (e *categoryError) Category() Category { return e.category }

// Categorized marks an error with its category. A nil error stays nil.
func Categorized(err error, c Category) error {
	if err == nil {
		return nil
	}
	return &categoryError{err, c}
}

// InCategory is the category of the failure, by its class where none is noted.
func (f *Failure) InCategory() Category {
	switch {
	case f.Category != "":
		return known(f.Category)
	case f.Class == ClassTimeout:
		return TransientInfra
	case f.Class == ClassCanceled:
		return Canceled
	}
	return Deterministic
}

package core

import (
	"context"
	"errors"
	"strings"
)

// Category says whether another attempt can help after a failure; the class of a failure
// says where it came from. If the category is "", it follows from the class.
type Category string

// Categories.
const (
	TransientInfra  Category = "transient_infra"  // a temporary condition that may be gone by the next attempt
	Deterministic   Category = "deterministic"    // the next attempt would fail in the same way
	BudgetExhausted Category = "budget_exhausted" // a limit on tokens, turns or money is used up
	CompilationLoop Category = "compilation_loop" // the same repair was tried repeatedly without success; only handlers report it
	Canceled        Category = "canceled"         // the work was cancelled
	Structural      Category = "structural"       // the node did something that it must not do
)

// hints maps lower-case substrings of error messages to categories. The first entry with a
// matching substring decides: "cancel" and "abort" take precedence over everything else,
// and any message that contains the digits 500 is transient.
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

// CategoryOf returns the category of an error. It looks at the following, in this order:
// marks on the error (Categorized, Retryable, RetryAfter, or a method Category() Category);
// its type (a context that ended, a method Timeout, a method StatusCode with an HTTP
// status); its message. If none of them says anything, the category is Deterministic.
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
// note of a result, the reason that a model gives, or the output of a program.
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

// kindOf returns the category that follows from the type of an error, or "" if there is
// none.
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

// ofStatus returns the category of an HTTP status, or "" if the status is not a failure.
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

// known returns c, or Deterministic if c is not one of the constants.
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

// InCategory returns the category of the failure. If none is set, it follows from the
// class.
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

package core

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

type wrapsMany struct{ inner []error }

func (e *wrapsMany) Error() string   { return "one of many" }
func (e *wrapsMany) Unwrap() []error { return e.inner }

type wrapsOne struct{ inner error }

func (e *wrapsOne) Error() string { return "one" }
func (e *wrapsOne) Unwrap() error { return e.inner }

// An error that wraps itself used up the stack, or never came back.
func TestFailureOfAnErrorThatWrapsItself(t *testing.T) {
	many, one := &wrapsMany{}, &wrapsOne{}
	many.inner, one.inner = []error{errors.New("x"), many, many}, one
	for _, err := range []error{many, one, Permanent(many), fmt.Errorf("outer: %w", one)} {
		f := FailureOf(err)
		if f.Class != ClassError || f.Message != err.Error() || errors.Is(f, errors.ErrUnsupported) {
			t.Errorf("%v: got %+v", err, f)
		}
	}
	if f := Panicked("panic", many, nil); f.Message != "panic: one of many" || f.Cause != nil {
		t.Errorf("got %+v", f)
	}
	var list []error
	for range 5000 {
		list = append(list, errors.New("x"))
	}
	list = append(list, Permanent(errors.ErrUnsupported))
	if f := FailureOf(errors.Join(list...)); !f.Permanent || !errors.Is(f, errors.ErrUnsupported) {
		t.Errorf("an error that wraps many others: %.100s", f.Message)
	}
}

func TestFailureOfALongText(t *testing.T) {
	long := strings.Repeat("x", value.MaxText+10)
	want := long[:value.MaxText] + "… (10 bytes are left out)"
	if f := FailureOf(errors.New(long)); f.Message != want {
		t.Errorf("got %d bytes, %s", len(f.Message), f.Message[value.MaxText:])
	}
	if f := FailureOf(&Failure{Class: ClassTimeout, Message: long}); f.Message != want || f.Class != ClassTimeout {
		t.Errorf("got %d bytes, %s", len(f.Message), f.Message[value.MaxText:])
	}
}

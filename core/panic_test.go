package core

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type stringer struct{}

func (stringer) String() string { return "I say so" }

type panicsAsText struct{}

func (panicsAsText) Error() string { panic("no text") }

type myText string

// A value that is panicked with may hold itself: printing it used up the stack, which ends
// the process.
func TestPanicText(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	type node struct{ next *node }
	ring := &node{}
	ring.next = ring
	for _, c := range []struct {
		p    any
		want string
	}{
		{"boom", "boom"}, {myText("boom"), "boom"}, {7, "7"}, {uint8(7), "7"}, {1.5, "1.5"}, {true, "true"}, {2i, "(0+2i)"}, {nil, "nil"},
		{errors.New("why"), "why"}, {stringer{}, "I say so"},
		{cycle, "a value of type map[string]interface {}"},
		{ring, "a value of type *core.node"},
		{panicsAsText{}, "a value of type core.panicsAsText, whose string cannot be printed because the method panics, too"},
		{(*NodeError)(nil), "a value of type *core.NodeError, whose string cannot be printed because the method panics, too"},
		{strings.Repeat("é", MaxText), strings.Repeat("é", MaxText/2) + fmt.Sprintf("… (%d bytes are left out)", MaxText)},
	} {
		if got := PanicText(c.p); got != c.want {
			t.Errorf("%T: got %.200s, want %.200s", c.p, got, c.want)
		}
	}
}

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
	long := strings.Repeat("x", MaxText+10)
	want := long[:MaxText] + "… (10 bytes are left out)"
	if f := FailureOf(errors.New(long)); f.Message != want {
		t.Errorf("got %d bytes, %s", len(f.Message), f.Message[MaxText:])
	}
	if f := FailureOf(&Failure{Class: ClassTimeout, Message: long}); f.Message != want || f.Class != ClassTimeout {
		t.Errorf("got %d bytes, %s", len(f.Message), f.Message[MaxText:])
	}
}

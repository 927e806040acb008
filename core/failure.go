package core

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core/value"
)

// Failure says why a node failed. It is an error and unwraps to its cause.
type Failure struct {
	// Class is one of the Class constants.
	Class string `json:"class"`
	// Message is the error text.
	Message string `json:"message"`
	// Permanent failures are not retried.
	Permanent bool `json:"permanent,omitempty"`
	// Category says whether another attempt can help if that does not follow from the
	// class; see InCategory.
	Category Category `json:"category,omitempty"`
	// Signature identifies the cause of the failure if the message holds only a part of it:
	// two failures are the same only if their signatures are equal, too. The signature of a
	// failed program is a digest of its whole output. If the signature is empty, messages
	// are compared.
	Signature string `json:"signature,omitempty"`
	// FailsRun means that the failure ends the run, whatever the policy of the node; see
	// FailRun.
	FailsRun bool `json:"fails_run,omitempty"`
	// RetryAfter, if positive, is the minimum wait before the next attempt, as the remote
	// side requested.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	// Node is the path of the innermost node of a nested run where the failure began;
	// Message begins with it. It is "" for a failure of the node itself.
	Node string `json:"node,omitempty"`
	// Stack is the stack of a panic.
	Stack string `json:"stack,omitempty"`
	// Cause is the error that the handler returned. It is not part of the JSON form.
	Cause error `json:"-"`
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// FailureOf converts an error of a handler to a Failure. It keeps a Failure that the error
// wraps, the marks set by Permanent, Retryable and RetryAfter, the category of the error,
// and its signature if it has a method FailureSignature() string. The message is truncated
// to MaxText. If an error wraps more than 10,000 others, perhaps because it wraps itself,
// only its message is kept.
func FailureOf(err error) *Failure {
	if !canUnwrap(err) {
		err = &opaqueError{err.Error()}
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		out := *f
		out.Message, out.Cause, out.Node = value.CutText(err.Error()), err, ""
		if _, ok := errors.AsType[*failRunError](err); ok {
			out.FailsRun, out.Permanent = true, true
		}
		if out.Class == ClassError && out.Category == "" {
			out.categorize(err)
		}
		if out.Signature == "" {
			out.Signature = signatureOf(err)
		}
		return &out
	}
	f := &Failure{Class: ClassError, Message: value.CutText(err.Error()), Signature: signatureOf(err), Cause: err}
	f.categorize(err)
	if m, ok := errors.AsType[*retryMark](err); ok {
		f.Permanent = !m.again
	}
	if r, ok := errors.AsType[*retryAfterError](err); ok {
		f.RetryAfter = r.after
	}
	if _, ok := errors.AsType[*failRunError](err); ok {
		f.FailsRun, f.Permanent = true, true
	}
	return f
}

// signatureOf returns the signature of an error, or "" if it has none.
func signatureOf(err error) string {
	if s, ok := errors.AsType[interface {
		error
		FailureSignature() string
	}](err); ok {
		return s.FailureSignature()
	}
	return ""
}

// maxWrapped limits the number of errors that one error may wrap. An error that is reached
// several times counts each time.
const maxWrapped = 10_000

// canUnwrap reports whether an error wraps no more than maxWrapped others. If an error
// wraps itself, errors.Is and errors.As either never return or overflow the stack.
func canUnwrap(err error) bool {
	open := []error{err}
	for n := 0; len(open) > 0; n++ {
		if n > maxWrapped {
			return false
		}
		err, open = open[len(open)-1], open[:len(open)-1]
		switch w := err.(type) {
		case interface{ Unwrap() error }:
			if inner := w.Unwrap(); inner != nil {
				open = append(open, inner)
			}
		case interface{ Unwrap() []error }:
			open = append(open, w.Unwrap()...)
		}
	}
	return true
}

// opaqueError replaces an error that cannot be unwrapped safely.
type opaqueError struct{ text string }

func (e *opaqueError) Error() string { return e.text }

// Panicked returns the failure of code that panicked with the value p and the given stack.
func Panicked(what string, p any, stack []byte) *Failure {
	return &Failure{Class: ClassPanic, Permanent: true, Message: what + ": " + value.PanicText(p), Stack: value.CutText(string(stack)), Cause: panicCause(p)}
}

// categorize sets the category of the failure to the category of the error, unless it is
// Deterministic.
func (f *Failure) categorize(err error) {
	if c := CategoryOf(err); c != Deterministic {
		f.Category = c
	}
}

// retryMark records whether an error requests another attempt. If several marks are nested,
// the outermost one is used.
type retryMark struct {
	err   error
	again bool
}

func (e *retryMark) Error() string { return e.err.Error() }
func (e *retryMark) Unwrap() error { return e.err }

// Permanent marks an error as one that another attempt cannot fix: the node fails at once,
// whatever its retry policy. A nil error stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &retryMark{err, false}
}

// Retryable marks an error as one that another attempt may fix, under any retry policy and
// whatever the type or message of the error. A nil error stays nil.
func Retryable(err error) error {
	if err == nil {
		return nil
	}
	return &retryMark{err, true}
}

type failRunError struct{ error }

func (e *failRunError) Unwrap() error { return e.error }

// FailRun marks an error that must end the run, whatever the policy of the node: for
// example, a budget is used up, or something that all nodes need is unavailable. The node
// is not retried, work in flight is cancelled and awaited, and the run fails. A nil error
// stays nil.
func FailRun(err error) error {
	if err == nil {
		return nil
	}
	return &failRunError{err}
}

type retryAfterError struct {
	err   error
	after time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// RetryAfter marks an error with the minimum wait before the next attempt. A nil error
// stays nil.
func RetryAfter(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, after}
}

// NodeError is the error of a failed run. It names the node that failed first in canonical
// order, and unwraps to its Failure.
type NodeError struct {
	Node    string
	Failure *Failure
	// Others is the number of other nodes that failed.
	Others int
}

// Error returns the name of the node and its message. For a nested run it names the
// innermost node by its path, which includes the outer nodes.
func (e *NodeError) Error() string { return "node " + e.message() }

func (e *NodeError) message() string {
	s := e.Failure.Message
	if e.Failure.Node == "" {
		s = e.Node + ": " + s
	}
	if e.Others > 0 {
		s += " (and " + strconv.Itoa(e.Others) + " more failed)"
	}
	return s
}

// Nested returns the failure of a node whose nested run ended with the error. It has the
// path and the cause of the innermost node, each only once at any depth.
func (e *NodeError) Nested() *Failure {
	f := &Failure{Class: e.Failure.Class, Message: e.message(), Permanent: e.Failure.Permanent, Category: e.Failure.Category,
		Signature: e.Failure.Signature, FailsRun: e.Failure.FailsRun, RetryAfter: e.Failure.RetryAfter, Node: e.Failure.Node, Cause: e}
	if f.Node == "" {
		f.Node = e.Node
	}
	return f
}

// Unwrap returns the failure.
func (e *NodeError) Unwrap() error { return e.Failure }

// CancelError is the error of a run that was cancelled.
type CancelError struct {
	// First is the first node that failed or was cancelled in flight, or nil if there is
	// none.
	First *NodeError
	// Cause is the reason that the caller's context ended. It is nil if a stored run was
	// cancelled from outside its process; By is then the name of the person, if it is known.
	Cause error
	By    string
}

// Error says that the run was cancelled, by whom, and which node failed or was cancelled first.
func (e *CancelError) Error() string {
	s := "the run was cancelled"
	if e.By != "" {
		s += " by " + e.By
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	if e.First != nil && e.First.Failure.Class != ClassCanceled {
		s += "; " + e.First.Error()
	}
	return s
}

// Unwrap returns the cause, so that errors.Is(err, context.Canceled) holds.
func (e *CancelError) Unwrap() error { return e.Cause }

// StrayError reports user code that did not return within the grace period and was left
// running: handlers that ignored the end of their contexts, a reducer that never returns,
// or the listener at the end of the run.
type StrayError struct {
	// Nodes are the nodes whose handlers have not returned, sorted and without duplicates.
	Nodes []string
	// Code names other functions that have not returned, such as the reducer of field "x".
	Code []string
	// Listener reports whether the listener was still busy with events, and Unheard is the
	// number of events that it had not finished. It receives the rest if it continues. The
	// status of the run does not depend on it.
	Listener bool
	Unheard  int64
	// Err is any other error of the run, or nil if there is none.
	Err error
}

// Error names the nodes and the listener.
func (e *StrayError) Error() string {
	var parts []string
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	if len(e.Nodes) > 0 {
		parts = append(parts, "still running, because the handler ignored the end of its context: "+strings.Join(e.Nodes, ", "))
	}
	if len(e.Code) > 0 {
		parts = append(parts, "still running, because it did not return: "+strings.Join(e.Code, ", "))
	}
	if e.Listener {
		parts = append(parts, "the listener is still busy with events of the run, "+strconv.Itoa(int(e.Unheard))+" are left")
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns Err.
func (e *StrayError) Unwrap() error { return e.Err }

// panicCause returns the error that was passed to panic. It returns nil if the value is not
// an error or cannot be unwrapped: its Unwrap method is user code, too.
func panicCause(p any) (cause error) {
	defer func() {
		if recover() != nil {
			cause = nil
		}
	}()
	if err, ok := p.(error); ok && canUnwrap(err) {
		return err
	}
	return nil
}

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
	// Category says whether trying again can help, where the class does not; see
	// InCategory.
	Category Category `json:"category,omitempty"`
	// Signature identifies what the failure reports where the message holds only a part of
	// it: two failures are the same only if their signatures are equal too. The signature of
	// a failed program is a digest of its whole output. If it is empty, messages are compared.
	Signature string `json:"signature,omitempty"`
	// FailsRun failures end the run, whatever the node's policy says; see FailRun.
	FailsRun bool `json:"fails_run,omitempty"`
	// RetryAfter, when positive, is the least time to wait before the next
	// attempt, as the other side asked for.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	// Node is where the failure of a nested run began, the path of its innermost
	// node, with which Message then begins; "" for a failure of the node itself.
	Node string `json:"node,omitempty"`
	// Stack is the stack of a panic.
	Stack string `json:"stack,omitempty"`
	// Cause is the error the handler returned. It is lost when a failure
	// passes through JSON.
	Cause error `json:"-"`
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// FailureOf turns an error of a handler into a Failure, keeping a Failure that
// is already inside, the marks set by Permanent, Retryable and RetryAfter, the
// category of the error, and its signature if it has a method FailureSignature() string. The message is cut to MaxText. Of an error that wraps more than
// 10,000 others, which may be because it wraps itself, only the text is kept.
func FailureOf(err error) *Failure {
	if !countable(err) {
		err = &endless{err.Error()}
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

// signatureOf returns the signature that an error brings, "" if it has none.
func signatureOf(err error) string {
	if s, ok := errors.AsType[interface {
		error
		FailureSignature() string
	}](err); ok {
		return s.FailureSignature()
	}
	return ""
}

// maxWrapped is how many errors one error may wrap, each as often as it is met.
const maxWrapped = 10_000

// countable reports whether an error wraps no more than maxWrapped others. Of one that wraps
// itself, errors.Is and errors.As would never return, or would use up the stack.
func countable(err error) bool {
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

// endless stands for an error that cannot be unwrapped.
type endless struct{ text string }

func (e *endless) Error() string { return e.text }

// Panicked is the failure of code that panicked with p; stack is where.
func Panicked(what string, p any, stack []byte) *Failure {
	return &Failure{Class: ClassPanic, Permanent: true, Message: what + ": " + value.PanicText(p), Stack: value.CutText(string(stack)), Cause: panicCause(p)}
}

// categorize notes the category of an error, if there is something to note.
func (f *Failure) categorize(err error) {
	if c := CategoryOf(err); c != Deterministic {
		f.Category = c
	}
}

// retryMark is what an error says about another attempt. The outermost one counts.
type retryMark struct {
	err   error
	again bool
}

func (e *retryMark) Error() string { return e.err.Error() }
func (e *retryMark) Unwrap() error { return e.err }

// Permanent marks an error as one that another attempt cannot cure: the node
// fails at once whatever its retry policy. A nil error stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &retryMark{err, false}
}

// Retryable marks an error as one that another attempt may cure, under any retry policy
// and whatever its kind or text says. A nil error stays nil.
func Retryable(err error) error {
	if err == nil {
		return nil
	}
	return &retryMark{err, true}
}

type failRunError struct{ error }

func (e *failRunError) Unwrap() error { return e.error }

// FailRun marks an error as one after which the run must not go on, whatever the policy of
// the node: a budget is used up, or what all nodes need is not there. The node is not tried
// again, what is under way is cancelled and awaited, and the run fails. A nil error stays
// nil.
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

// RetryAfter marks an error with the least time to wait before the next
// attempt. A nil error stays nil.
func RetryAfter(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, after}
}

// NodeError is the error of a run that failed: it names the node that failed
// first in canonical order and unwraps to its Failure.
type NodeError struct {
	Node    string
	Failure *Failure
	// Others counts further failed nodes.
	Others int
}

// Error names the node and carries its message; of a nested run the innermost
// node, whose path holds those around it.
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

// Nested returns the failure of a node whose nested run ended with the error: the
// path of the innermost node and its cause, each once however deep it lies.
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
	// First is the first node that failed or was cancelled in flight, nil for
	// none.
	First *NodeError
	// Cause is why the caller's context ended.
	Cause error
}

// Error says that the run was cancelled and what it left behind.
func (e *CancelError) Error() string {
	s := "the run was cancelled"
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	if e.First != nil && e.First.Failure.Class != ClassCanceled {
		s += "; " + e.First.Error()
	}
	return s
}

// Unwrap returns the cause, so that errors.Is finds context.Canceled.
func (e *CancelError) Unwrap() error { return e.Cause }

// StrayError says that user code did not return for the whole grace period and was
// left running: handlers that ignored the end of their contexts, a reducer that never
// returns, or the listener at the end of the run.
type StrayError struct {
	// Nodes are the nodes of the handlers, sorted, each once.
	Nodes []string
	// Code names what else was called and has not returned, such as the reducer of
	// field "x".
	Code []string
	// Listener tells that the listener was still busy with events, and Unheard how many
	// it had not done with. It gets the rest when it takes them. The status of the run does
	// not depend on it.
	Listener bool
	Unheard  int64
	// Err is the error the run has apart from that, nil for none.
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

// Unwrap returns the run's other error.
func (e *StrayError) Unwrap() error { return e.Err }

// panicCause is the error that a panic was raised with, nil for none and for one that cannot
// be unwrapped: its Unwrap is code of the user, too.
func panicCause(p any) (cause error) {
	defer func() {
		if recover() != nil {
			cause = nil
		}
	}()
	if err, ok := p.(error); ok && countable(err) {
		return err
	}
	return nil
}

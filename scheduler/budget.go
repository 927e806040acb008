package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wavefold/wavefold/core"
)

// ErrBudget is the error of a call to a model that the budget of the run does not allow.
var ErrBudget = errors.New("the budget of the run is used up")

// spending counts what calls to models have used so far, and the calls in flight.
type spending struct {
	mu        sync.Mutex
	used      core.Usage
	inFlight  int64
	callEnded chan struct{} // closed when the next call ends, if a call waits for that
}

// beginCall begins a call, or returns an error if the budget does not allow it. Calls in flight are
// never interrupted: they have to be paid for anyway, and their usage is not known before they end.
// A call that may exceed the budget waits until that is certain. It does not wait for calls of its
// own attempt (own), because these may be waiting for it.
func (s *spending) beginCall(ctx context.Context, b core.Budget, own *int64) error {
	for {
		callEnded, err := s.tryBegin(b, own)
		if callEnded == nil {
			return err
		}
		select {
		case <-callEnded:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// tryBegin begins a call. If it is already certain that the budget does not allow the call, it
// returns an error, as beginCall does. If it is not certain yet, it returns a channel that is closed
// when another call has ended.
func (s *spending) tryBegin(b core.Budget, own *int64) (callEnded <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.exhausted(b)
	switch {
	case over == "" && (b.Calls == 0 || s.used.Calls+s.inFlight < b.Calls):
		s.inFlight++
		*own++
		return nil, nil
	case s.inFlight > *own:
		if s.callEnded == nil {
			s.callEnded = make(chan struct{})
		}
		return s.callEnded, nil
	case over == "":
		over = fmt.Sprintf("%d of %d calls, %d of them in progress", s.used.Calls+s.inFlight, b.Calls, s.inFlight)
	}
	return nil, core.FailRun(core.Categorized(fmt.Errorf("%w: %s", ErrBudget, over), core.BudgetExhausted))
}

// exhausted describes which part of the budget is used up, "" if none is.
func (s *spending) exhausted(b core.Budget) string {
	switch u := s.used; {
	case b.Calls > 0 && u.Calls >= b.Calls:
		return fmt.Sprintf("%d of %d calls", u.Calls, b.Calls)
	case b.Tokens > 0 && u.Tokens() >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens", u.Tokens(), b.Tokens)
	case b.Cost > 0 && u.Cost >= b.Cost:
		return fmt.Sprintf("a cost of %.4g of %.4g", u.Cost, b.Cost)
	}
	return ""
}

// endCalls ends up to n of the calls in flight that an attempt began, and adds their usage.
func (s *spending) endCalls(n int64, own *int64, u core.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used.Plus(u)
	n = min(n, *own)
	s.inFlight -= n
	*own -= n
	if s.callEnded != nil {
		close(s.callEnded)
		s.callEnded = nil
	}
}

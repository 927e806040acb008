package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wavefold/wavefold/core"
)

// ErrBudget is the error of a call to a model that the budget of the run forbids.
var ErrBudget = errors.New("the budget of the run is used up")

// spending is what the models of a run have taken so far, and how many calls are under way.
type spending struct {
	mu     sync.Mutex
	used   core.Usage
	flying int64
	landed chan struct{} // closed when a call ends that somebody waits for
}

// take begins a call, or returns an error when the budget allows none. Calls under way are
// finished first: they are paid for, and what they take is not known before. Until then a
// call waits that may be one too many; it does not wait for those of its own attempt
// (own), which may be waiting for it.
func (s *spending) take(ctx context.Context, b core.Budget, own *int64) error {
	for {
		landed, err := s.begin(b, own)
		if landed == nil {
			return err
		}
		select {
		case <-landed:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// begin begins a call or returns an error, as take does, if that is certain by now, else a
// channel that is closed when a call has ended.
func (s *spending) begin(b core.Budget, own *int64) (landed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.over(b)
	switch {
	case over == "" && (b.Calls == 0 || s.used.Calls+s.flying < b.Calls):
		s.flying++
		*own++
		return nil, nil
	case s.flying > *own:
		if s.landed == nil {
			s.landed = make(chan struct{})
		}
		return s.landed, nil
	case over == "":
		over = fmt.Sprintf("%d of %d calls, %d of them in progress", s.used.Calls+s.flying, b.Calls, s.flying)
	}
	return nil, core.FailRun(core.Categorized(fmt.Errorf("%w: %s", ErrBudget, over), core.BudgetExhausted))
}

// over says what of the budget is used up, "" for nothing.
func (s *spending) over(b core.Budget) string {
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

// land ends n of the calls that an attempt began, as many as are under way, and adds what
// they took.
func (s *spending) land(n int64, own *int64, u core.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used.Plus(u)
	n = min(n, *own)
	s.flying -= n
	*own -= n
	if s.landed != nil {
		close(s.landed)
		s.landed = nil
	}
}

package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// guard runs code of the user that the machine needs synchronously, while mu is held, above all
// reducers. The code runs on a separate goroutine. So the machine survives code that ends its
// goroutine with runtime.Goexit, and code that never returns can be abandoned when the grace
// period after a cancellation has passed.
//
// The goroutine runs from the first call to the end of the run, so a call costs only the
// handover to the goroutine and back.
type guard struct {
	run   *run
	calls chan func() // nil if the goroutine does not run
	done  chan struct{}
	lost  chan struct{} // closed when the goroutine has ended
	stuck []string      // names of code that was left behind
}

var errGoexit = errors.New("ended its goroutine with runtime.Goexit")

// call calls f and waits until it returns. It is called with mu held. After one call was left
// behind, all others fail: the run has waited long enough.
func (g *guard) call(what string, f func()) error {
	if len(g.stuck) > 0 {
		return fmt.Errorf("%s was not begun any more: the run was cancelled", what)
	}
	if g.calls == nil {
		g.calls, g.done, g.lost = make(chan func()), make(chan struct{}, 1), make(chan struct{})
		go serve(g.calls, g.done, g.lost)
	}
	g.calls <- f
	cancelled := g.run.ctx.Done()
	var late <-chan time.Time
	for waits := true; waits; {
		select {
		case <-g.done:
			return nil
		case <-g.lost:
			g.calls = nil
			return fmt.Errorf("%s %w", what, errGoexit)
		case <-cancelled:
			cancelled = nil
			late = time.After(g.run.opts.Grace)
		case <-late:
			waits = false
		}
	}
	close(g.calls)
	g.calls = nil
	g.stuck = append(g.stuck, what)
	return fmt.Errorf("%s has not returned for %s since the run was cancelled", what, g.run.opts.Grace)
}

// serve makes calls until there are no more. If a call was left behind, serve ends when that call
// returns.
func serve(calls <-chan func(), done, lost chan<- struct{}) {
	defer close(lost)
	for f := range calls {
		f()
		done <- struct{}{}
	}
}

// close ends the goroutine and waits for it.
func (g *guard) close() {
	if g.calls != nil {
		close(g.calls)
		<-g.lost
	}
}

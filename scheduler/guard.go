package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// guard runs code of the user's that the machine asks for at once, while mu is held:
// reducers above all. It runs on a goroutine of its own, so that one that ends its
// goroutine with runtime.Goexit does not take the machine with it, and one that never
// returns can be left behind when the run has been cancelled for the grace period.
//
// The goroutine is there from the first call to the end of the run: handing a call
// over and back is all it costs.
type guard struct {
	run   *run
	calls chan func() // nil when nobody serves it
	done  chan struct{}
	lost  chan struct{} // closed when the goroutine has ended
	stuck []string      // what was left behind
}

var errGoexit = errors.New("ended its goroutine with runtime.Goexit")

// call makes a call and waits for its end. It is called with mu held. After one call
// was left behind the rest is refused: the run has waited long enough.
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

// serve makes calls until there are no more. One that was left behind ends it when it
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

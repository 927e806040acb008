package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// Execute executes one OpRun command outside Run, as a worker of a distributed engine does: it
// calls the handler, or asks the router, with the settings in Options, as Run would, and returns
// the answer for the machine. It blocks until the handler has returned and the listener has
// received all events, as Run does. Times in the answer count from the call. Files that the node
// replaces are in place when Execute returns: a distributed engine in which items replace files
// has to ensure their order itself.
//
// Options.Run is the id of the run. The budget limits the calls to models of this command: the
// caller subtracts the usage of earlier commands. The tracer is notified of the attempts, with
// ctx, but not of a run. The listener receives log records, progress, questions and calls to
// models, numbered from 1; the other events of a run come from the machine. Settings that the
// machine applies (Concurrency, MaxInFlight, Barrier, FailFast, MaxVisits) and Backpressure are
// errors, because they have no effect on a single command.
//
// If there is no answer, the error is about the settings and no handler was called; Run returns
// the same errors. A core.StrayError comes with an answer and means that the listener was too
// slow.
func Execute(ctx context.Context, c *machine.Command, o Options) (*machine.Event, error) {
	switch {
	case ctx == nil:
		return nil, errNoContext
	case c.Op != machine.OpRun:
		return nil, fmt.Errorf("the command %s is %s: Execute carries out %s", c.ID, c.Op, machine.OpRun)
	case o.Run == "":
		return nil, errors.New("the option Run is empty: Execute needs the id of the run")
	}
	if name := o.ofMachine(); name != "" {
		return nil, fmt.Errorf("the option %s has no effect on one command: it belongs to the options of the machine", name)
	}
	dry := false
	if c.Call != nil {
		v, _ := c.Call.Inputs.Get(core.InputDryRun)
		dry = v == true
	}
	if err := refused(c.Plan, &o, dry); err != nil {
		return nil, err
	}
	r := newRun(ctx, c.Plan, o)
	r.remote = true
	if c.Call != nil {
		r.baseInput.Inputs = c.Call.Inputs
	}
	r.over = true // there is no machine to which a handler that ignores its timeout could be reported
	if r.opts.Listener != nil {
		r.events = deliver(r.opts.Run, r.seqBefore, r.opts.Listener, r.opts.Drained)
	}
	stop := r.watchParent()
	answer := r.executeAlone(c)
	stop()
	r.closeSources()
	r.calls.Wait()
	if r.events != nil {
		r.undelivered = r.events.close(r.patience())
	}
	if r.undelivered > 0 {
		return answer, &core.StrayError{Listener: true, Unheard: r.undelivered}
	}
	return answer, nil
}

// executeAlone executes a command on a separate goroutine, so that a handler that ends its
// goroutine does not end the caller's.
func (r *run) executeAlone(c *machine.Command) *machine.Event {
	w := r.makeWorker()
	w.begin(c)
	done := make(chan bool, 1) // one answer
	go func() {
		returned := false
		defer func() { done <- returned }()
		r.execute(w)
		returned = true
	}()
	if !<-done {
		return w.cutShort(r.now(), exited())
	}
	return w.answer()
}

// ofMachine returns the name of a setting that has no effect on a single command, or "" if there
// is none.
func (o *Options) ofMachine() string {
	switch {
	case o.Concurrency != 0:
		return "Concurrency"
	case o.MaxInFlight != 0:
		return "MaxInFlight"
	case o.Barrier:
		return "Barrier"
	case o.FailFast:
		return "FailFast"
	case o.MaxVisits != 0:
		return "MaxVisits"
	case o.Backpressure:
		return "Backpressure"
	}
	return ""
}

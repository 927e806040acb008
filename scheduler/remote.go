package scheduler

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// Execute carries out one OpRun command outside of Run, as a worker of a distributed engine
// does: it calls the handler, or asks the router, with what Options gives to the commands of a
// run, and returns the answer for the machine. It blocks until the handler returns and the
// listener has been given all events, as Run does. Times in the answer count from the call.
// What the node replaces is in place when it returns: a distributed engine that has items
// replace files has to see to their order.
//
// Run is the id of the run. The budget bounds the calls to models of this command: the caller
// subtracts what earlier ones took. The tracer is told of the attempts, in ctx, and of no run.
// The listener receives log records, progress, questions and calls to models, numbered from 1;
// the other events of a run come from the machine. Settings that the machine applies
// (Concurrency, MaxInFlight, Barrier, FailFast, MaxVisits) and Backpressure are errors here: they
// have no effect on one command.
//
// The error is about the settings, and then nothing was called; Run has the same errors for
// them. A core.StrayError comes with an answer: the listener was too slow.
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
	r.over = true // there is no machine to tell about a handler that ignores its timeout
	if r.opts.Listener != nil {
		r.events = deliver(r.opts.Listener)
	}
	stop := r.watchParent()
	answer := r.executeAlone(c)
	stop()
	r.closeSources()
	r.calls.Wait()
	if r.events != nil {
		r.unheard = r.events.close(r.patience())
	}
	if r.unheard > 0 {
		return answer, &core.StrayError{Listener: true, Unheard: r.unheard}
	}
	return answer, nil
}

// executeAlone executes a command on a goroutine of its own: a handler that ends its goroutine
// fails, and does not take the caller with it.
func (r *run) executeAlone(c *machine.Command) *machine.Event {
	w := &worker{}
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

// ofMachine names a setting that has no effect on one command, "" if there is none.
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

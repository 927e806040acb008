package scheduler

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Running is a run in progress. Its methods are safe for concurrent use.
type Running struct {
	run    *run
	hub    *hub
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when report and err are set
	report *core.Report
	err    error
}

// Start is Run, except that it returns as soon as the run has begun. If the run cannot begin, Start
// returns the error that Run would. A run that is started emits its events whether or not there is a
// listener, so that Listen can be called at any time. It keeps its goroutines until it ends.
func Start(ctx context.Context, p *plan.Plan, inputs map[string]any, o Options) (*Running, error) {
	return start(ctx, o, func(ctx context.Context, o Options) (*run, error) { return begin(ctx, p, inputs, o) })
}

// start runs what begin returns.
func start(ctx context.Context, o Options, begin func(context.Context, Options) (*run, error)) (*Running, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	g := &Running{hub: newHub(o.Listener), done: make(chan struct{})}
	o.Listener = g.hub.tell
	ctx, g.cancel = context.WithCancelCause(ctx)
	var err error
	if g.run, err = begin(ctx, o); err != nil {
		g.cancel(nil)
		return nil, err
	}
	go func() {
		defer close(g.done)
		defer g.cancel(nil)
		g.report, g.err = g.run.finishRun()
	}()
	return g, nil
}

// ID returns the id of the run.
func (g *Running) ID() string { return g.run.opts.Run }

// Done returns a channel that is closed when the run has ended.
func (g *Running) Done() <-chan struct{} { return g.done }

// Wait waits for the end of the run and returns what Run would. It may be called several times.
func (g *Running) Wait() (*core.Report, error) {
	<-g.done
	return g.report, g.err
}

// State returns the values that the fields have so far. The value of a field includes the writers
// that precede the first one that has not ended. The values must not be changed.
func (g *Running) State() *value.Object {
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	return g.run.m.State()
}

// Listen calls f with the events of the run from now on, in order, one at a time. A slow function
// delays the other listeners, but not the run. After a panic, f gets no further events. stop ends
// the calls; one may be in progress when it returns.
func (g *Running) Listen(f func(core.Event)) (stop func()) { return g.hub.add(f) }

// Cancel ends the run as the end of its context does. The error of the run contains why.
func (g *Running) Cancel(why string) { g.cancel(errors.New(why)) }

// ErrNotStored is the error of Running.Answer for a run that is not stored.
var ErrNotStored = errors.New("the run is not stored: its interviewer answers its questions")

// Answer answers a question that the run has asked. It returns the same errors as inbox.Post.
func (g *Running) Answer(ctx context.Context, a inbox.Answer) error {
	r := g.run
	if r.rec == nil {
		return ErrNotStored
	}
	posted, err := inbox.Post(ctx, r.rec.store, r.opts.Run, a)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.receive(posted)
	return nil
}

// hub passes events to several listeners, which may come and go.
type hub struct {
	mu   sync.Mutex
	list []*func(core.Event) // copied when it changes
}

func newHub(first func(core.Event)) *hub {
	h := &hub{}
	if first != nil {
		h.list = append(h.list, &first)
	}
	return h
}

func (h *hub) add(f func(core.Event)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(slices.Clip(h.list), &f)
	return func() { h.remove(&f) }
}

func (h *hub) remove(f *func(core.Event)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = slices.DeleteFunc(slices.Clone(h.list), func(g *func(core.Event)) bool { return g == f })
}

// tell passes an event to all listeners.
func (h *hub) tell(e core.Event) {
	h.mu.Lock()
	list := h.list
	h.mu.Unlock()
	for _, f := range list {
		h.call(f, e)
	}
}

// call passes an event to a listener. A listener that panics is removed.
func (h *hub) call(f *func(core.Event), e core.Event) {
	if _, err := guarded(func() (any, error) { (*f)(e); return nil, nil }); err != nil {
		h.remove(f)
	}
}

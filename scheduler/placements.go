package scheduler

import (
	"context"
	"errors"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// prepared keeps what a handler has prepared until the machine decides. If the handler was not
// asked to defer, the result is put in place immediately. If another goroutine has answered for the
// worker, the result is dropped.
func (x *executor) prepared(ctx context.Context, res *core.Result, o *machine.Outcome) {
	p, r := res.Placement, x.run
	if !x.c.Node.Claims || r.remote {
		placed, err := place(ctx, p)
		x.outcome(ctx, &placed, err, o)
		return
	}
	o.Claim = machine.ClaimOf(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.w.abandoned {
		r.discard(p, false)
		return
	}
	if r.placements == nil {
		r.placements = map[machine.ID]*core.Placement{}
	}
	r.placements[x.id()] = p
}

// preparedFor adds what a failed attempt has prepared to the placement of its failure.
func preparedFor(p *core.Placement, fail *core.Failure) *core.Placement {
	failed, placed := *p, false
	failed.Place = func(ctx context.Context) (core.Result, error) {
		if _, err := p.Place(ctx); err != nil {
			return core.Result{}, errors.Join(fail, err)
		}
		placed = true
		return core.Result{}, fail
	}
	failed.Discard = func() {
		if !placed && p.Discard != nil {
			p.Discard()
		}
	}
	return &failed
}

// id returns the id of the current attempt.
func (x *executor) id() machine.ID {
	id := x.c.ID
	if x.item >= 0 {
		id.From, id.To = int32(x.item), int32(x.item)+1
	}
	return id
}

// place executes an OpPlace.
func (x *executor) place(e *machine.Event) {
	e.Kind, x.item = machine.Placed, -1
	x.run.mu.Lock()
	p := x.run.prepared(x.c.ID)
	x.run.mu.Unlock()
	if p == nil { // it was prepared in another process
		e.Kind = machine.Gone
		return
	}
	ctx := x.ctx
	if x.c.Node.Timeout > 0 {
		var release func()
		ctx, release = x.limit(ctx)
		defer release()
	}
	res, err := place(ctx, p)
	res.Placement = nil
	x.outcome(ctx, &res, err, &e.Outcome)
	e.Ended = x.run.now()
}

// place puts a result in place, or drops what was prepared.
func place(ctx context.Context, p *core.Placement) (res core.Result, err error) {
	if err = ctx.Err(); err == nil {
		_, err = guarded(func() (any, error) {
			res, err = p.Place(ctx)
			return nil, err
		})
	}
	if err != nil {
		drop(p)
	}
	return res, err
}

// drop removes what was prepared. It ignores errors, because nothing depends on the removal.
func drop(p *core.Placement) {
	if p.Discard == nil {
		return
	}
	_, _ = guarded(func() (any, error) {
		p.Discard()
		return nil, nil
	})
}

// prepared returns what was prepared under an id, nil if there is nothing. It is called with mu
// held.
func (r *run) prepared(id machine.ID) *core.Placement {
	p := r.placements[id]
	delete(r.placements, id)
	return p
}

// discard drops what was prepared, or puts it in place if keep is set. It does not delay its
// caller. A result that describes the outcome of the work is put in place even if the run has been
// cancelled.
func (r *run) discard(p *core.Placement, keep bool) {
	if p == nil {
		return
	}
	r.calls.Add(1)
	go func() {
		defer r.calls.Done()
		if keep {
			_, _ = place(context.WithoutCancel(r.ctx), p) // the attempt has ended without waiting for it
			return
		}
		drop(p)
	}()
}

// discardAll drops what is left at the end of the run.
func (r *run) discardAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.placements {
		r.discard(p, false)
	}
	r.placements = nil
}

package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wavefold/wavefold/store"
)

const (
	// leaseTime is the time after which a lease that is not renewed ends, and renewEvery the time
	// between two renewals.
	leaseTime  = 15 * time.Second
	renewEvery = 5 * time.Second
)

// tenure is a lease that this process has.
type tenure struct {
	store  store.Store
	holder store.Holder
	lease  store.Lease // Expires belongs to renew
}

// renew renews the lease. The error says that it is lost; any other error is left to the next call.
func (t *tenure) renew(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, t.lease.Expires) // a store may try again for longer
	defer cancel()
	lease, err := t.store.Acquire(ctx, t.lease.Run, t.holder, leaseTime)
	if err == nil && lease.Token != t.lease.Token {
		return &store.FencedError{Run: t.lease.Run, Token: t.lease.Token, Now: lease.Token}
	}
	if err == nil {
		t.lease.Expires = lease.Expires
		return nil
	}
	if _, held := errors.AsType[*store.HeldError](err); held || time.Now().After(t.lease.Expires) {
		return err
	}
	return nil
}

// release gives the lease back.
func (t *tenure) release() error {
	if t == nil {
		return nil
	}
	_, err := t.store.Acquire(context.Background(), t.lease.Run, t.holder, 0)
	return err
}

// watchInbox handles messages to the run, and renews its lease, until the returned function is
// called. It does nothing for a run that is not stored.
func (rec *recording) watchInbox() (stop func()) {
	if rec == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for m, err := range rec.store.Watch(ctx, rec.run.opts.Run) {
			if err != nil {
				return // the inbox is read again before the run is paused, and when it is resumed
			}
			rec.run.mu.Lock()
			rec.run.receiveMessage(m)
			rec.run.mu.Unlock()
		}
	})
	group.Go(func() { rec.renew(ctx) })
	return func() {
		cancel()
		group.Wait()
	}
}

// renew renews the lease until ctx ends. A lost lease ends the run.
func (rec *recording) renew(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := rec.own.renew(ctx)
		if err == nil {
			err = rec.claim.renew(ctx)
		}
		if err != nil && ctx.Err() == nil {
			rec.run.mu.Lock()
			rec.fail(err)
			rec.run.mu.Unlock()
			return
		}
	}
}

// owned returns an error if another process has taken over the run, or may have.
func (rec *recording) owned() error {
	rec.run.mu.Lock()
	defer rec.run.mu.Unlock()
	return rec.failure
}

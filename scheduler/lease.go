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
		lease, err := rec.store.Acquire(ctx, rec.run.opts.Run, rec.holder, leaseTime)
		lost := err == nil && lease.Token != rec.lease.Token
		if lost {
			err = &store.FencedError{Run: rec.run.opts.Run, Token: rec.lease.Token, Now: lease.Token}
		}
		_, held := errors.AsType[*store.HeldError](err)
		if err != nil && ctx.Err() == nil && (lost || held || time.Now().After(rec.lease.Expires)) {
			rec.run.mu.Lock()
			rec.fail(err)
			rec.run.mu.Unlock()
			return
		}
		if err == nil {
			rec.lease.Expires = lease.Expires
		}
	}
}

// owned returns an error if another process has taken over the run, or may have.
func (rec *recording) owned() error {
	rec.run.mu.Lock()
	defer rec.run.mu.Unlock()
	return rec.failure
}

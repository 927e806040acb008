package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// keyPrefix begins the name of the lease of a concurrency key.
const keyPrefix = "key:"

// claimEvery is the time between two attempts to take a concurrency key that another run has.
const claimEvery = 200 * time.Millisecond

// ClaimKey takes the concurrency key of a new run of p before it begins. It is for a caller that reads what
// the previous run has left, such as a cursor, and so must not read it before that run has ended. The
// error is a *core.OverlapError if the run is not to begin. Inputs that do not fit the plan are reported
// by the run.
func (o *Recording) ClaimKey(ctx context.Context, p *plan.Plan, run string, inputs map[string]any) error {
	if !p.HasConcurrencyKey() || p.RunsUserCode {
		return nil
	}
	_, given, err := p.Start(objectOf(inputs))
	if err != nil {
		return nil
	}
	key, err := p.ConcurrencyKey(given)
	if err == nil {
		o.claimed, err = claimKey(ctx, o, run, key, p.Overlap, nil)
	}
	return err
}

// Unclaim gives back what ClaimKey has taken, if no run has begun.
func (o *Recording) Unclaim() error {
	claim := o.claimed
	o.claimed = nil
	return claim.release()
}

// claim takes the concurrency key of a new run, unless ClaimKey has taken it.
func (o *Recording) claim(ctx context.Context, run, key string, overlap core.Overlap) (*tenure, error) {
	if claim := o.claimed; claim != nil && claim.lease.Run == keyPrefix+key {
		o.claimed = nil
		return claim, nil
	}
	if err := o.Unclaim(); err != nil {
		return nil, storeError(err)
	}
	return claimKey(ctx, o, run, key, overlap, nil)
}

// claimKey takes the concurrency key of a run. It is nil for "". While another run has the key, it does
// what overlap says, and keeps the lease of the run, own, if it is not nil. The error is a
// *core.OverlapError if the run is not to begin.
func claimKey(ctx context.Context, o *Recording, run, key string, overlap core.Overlap, own *tenure) (*tenure, error) {
	if key == "" {
		return nil, nil
	}
	began := time.Now()
	holder := store.NewHolder()
	holder.ID = fmt.Sprintf("%s %d %s", run, began.UnixNano(), holder.ID) // for the other runs, see claimantOf
	tick := time.NewTicker(claimEvery)
	defer tick.Stop()
	before, renewed := "", began
	for {
		lease, err := o.Store.Acquire(ctx, keyPrefix+key, holder, leaseTime)
		if err == nil {
			return &tenure{o.Store, holder, lease}, nil
		}
		held, ok := errors.AsType[*store.HeldError](err)
		if !ok {
			return nil, storeError(err)
		}
		if held.Lease.ID != before {
			switch err := o.overlaps(ctx, key, overlap, &held.Lease, began); {
			case err == nil:
				before = held.Lease.ID
			case !errors.Is(err, store.ErrNotFound): // else it has taken the key and not begun
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, &core.CancelError{Cause: context.Cause(ctx)}
		case <-tick.C:
		}
		if time.Since(renewed) > renewEvery {
			renewed = time.Now()
			if err := own.renew(ctx); err != nil {
				return nil, storeError(err)
			}
		}
	}
}

// claimantOf returns the run that has a concurrency key, and when it was started.
func claimantOf(l *store.Lease) (run string, began int64) {
	run, rest, _ := strings.Cut(l.ID, " ")
	nanos, _, _ := strings.Cut(rest, " ")
	began, _ = strconv.ParseInt(nanos, 10, 64) // 0 for a holder of another version
	return run, began
}

// overlaps handles another run that has the key. Without an error, the run waits.
func (o *Recording) overlaps(ctx context.Context, key string, overlap core.Overlap, other *store.Lease, began time.Time) error {
	run, otherBegan := claimantOf(other)
	taken := &core.OverlapError{Key: key, Overlap: overlap, Run: run, Holder: fmt.Sprintf("%s@%s pid %d", other.User, other.Host, other.PID)}
	switch overlap {
	case core.OverlapSkip, core.OverlapFail:
		return taken
	case core.OverlapCancelPrevious:
		if otherBegan > began.UnixNano() {
			return taken // this run is the previous one
		}
		if err := inbox.PostCancel(ctx, o.Store, run, "a later run with the concurrency key "+key); err != nil {
			return storeError(err)
		}
	}
	if o.Waiting != nil {
		o.Waiting(taken)
	}
	return nil
}

package scheduler

import (
	"cmp"
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

// claim takes the concurrency key of a run that is resumed. A run that is cancelled while it waits is marked as
// cancelled.
func (st *Stored) claim(ctx context.Context, p *plan.Plan, o *Recording) (*tenure, error) {
	overlap := p.Overlap
	if overlap == core.OverlapSkip {
		overlap = core.OverlapFail // the run is meant to continue
	}
	claim, err := claimKey(ctx, o, st.run, st.Head.ConcurrencyKey, overlap, &tenure{st.store, st.holder, st.lease})
	if canceled, ok := errors.AsType[*core.CancelError](err); ok && canceled.Cause == nil && st.End == nil { // by another process
		if failed := st.cancel(ctx, canceled.By); failed != nil {
			return nil, storeError(failed)
		}
	}
	return claim, err
}

// claimKey takes the concurrency key of a run. It is nil for "". While another run has the key, it does
// what overlap says, and keeps the lease of the run, own, if it is not nil. The error is a
// *core.OverlapError if the run is not to begin.
func claimKey(ctx context.Context, o *Recording, run, key string, overlap core.Overlap, own *tenure) (*tenure, error) {
	if key == "" {
		return nil, nil
	}
	c := newClaimant(o, run, key, overlap)
	claim, err := c.wait(ctx, own)
	if left := c.leave(); left != nil && err == nil {
		_ = claim.release() // the run does not begin
		return nil, left
	}
	return claim, err
}

// wait waits for the key.
func (c *claimant) wait(ctx context.Context, own *tenure) (*tenure, error) {
	tick := time.NewTicker(claimEvery)
	defer tick.Stop()
	for renewed := c.began; ; {
		claim, err := c.try(ctx)
		if claim != nil || err != nil {
			return claim, err
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

// claimant is a run that is to take a concurrency key.
type claimant struct {
	*Recording
	holder  store.Holder
	lease   string // the name of the lease of the key
	key     string
	overlap core.Overlap
	began   time.Time
	queue   store.Queuer // nil if the store has no queues
	queued  bool         // it may be in the queue
	other   string       // the holder that it has reacted to
}

func newClaimant(o *Recording, run, key string, overlap core.Overlap) *claimant {
	c := &claimant{Recording: o, holder: store.NewHolder(), lease: keyPrefix + key, key: key, overlap: cmp.Or(overlap, core.OverlapQueue), began: time.Now()}
	c.holder.ID = fmt.Sprintf("%s %d %s", run, c.began.UnixNano(), c.holder.ID) // for the other runs, see claimantOf
	c.queue, _ = o.Store.(store.Queuer)
	return c
}

// try takes the key if it is free and no other run waits for it before this one. Without an error, a nil result means
// that the run waits.
func (c *claimant) try(ctx context.Context) (*tenure, error) {
	holder, before, err := c.turn(ctx)
	if err != nil {
		return nil, claimError(err)
	}
	if holder == nil {
		lease, err := c.Store.Acquire(ctx, c.lease, c.holder, leaseTime)
		if err == nil {
			return &tenure{c.Store, c.holder, lease}, nil
		}
		held, ok := errors.AsType[*store.HeldError](err)
		if !ok {
			return nil, storeError(err)
		}
		holder = &held.Lease
	}
	if holder.ID == c.other {
		return nil, nil
	}
	switch err := c.overlaps(ctx, holder, before); {
	case err == nil:
		c.other = holder.ID
	case !errors.Is(err, store.ErrNotFound): // else it has taken the key and not begun
		return nil, err
	}
	return nil, nil
}

// turn waits in the queue for the key. It returns the run that has the key, or else the first run that waits
// before this one, and the number of runs that wait before it. It returns nil if the key is free for this
// run. Only runs with core.OverlapQueue wait in the queue: a run that cancels the previous run begins before
// the waiting runs, and the others do not wait.
func (c *claimant) turn(ctx context.Context) (holder *store.Lease, before int, err error) {
	if c.queue == nil || c.overlap == core.OverlapCancelPrevious {
		return nil, 0, nil
	}
	ttl := time.Duration(0)
	if c.overlap == core.OverlapQueue {
		ttl, c.queued = leaseTime, true
	}
	q, err := c.queue.Enqueue(ctx, c.lease, c.holder, ttl)
	if err != nil {
		return nil, 0, err
	}
	list := q.Before(c.holder.ID)
	switch {
	case q.Holder != nil:
		return q.Holder, len(list), nil
	case len(list) > 0:
		return &list[0], len(list) - 1, nil
	}
	return nil, 0, nil
}

// leave removes the run from the queue. If that fails, its place expires. The error is a *core.CancelError if the
// run was cancelled before it left.
func (c *claimant) leave() error {
	if !c.queued {
		return nil
	}
	_, err := c.queue.Enqueue(context.Background(), c.lease, c.holder, 0)
	if _, withdrawn := errors.AsType[*store.WithdrawnError](err); withdrawn {
		return claimError(err)
	}
	return nil
}

// claimError returns the error of a run that could not wait for its key, or was cancelled while it did.
func claimError(err error) error {
	if withdrawn, ok := errors.AsType[*store.WithdrawnError](err); ok {
		return &core.CancelError{By: withdrawn.By}
	}
	return storeError(err)
}

// claimantOf returns the run that has a concurrency key, and when it was started.
func claimantOf(l *store.Lease) (run string, began int64) {
	run, rest, _ := strings.Cut(l.ID, " ")
	nanos, _, _ := strings.Cut(rest, " ")
	began, _ = strconv.ParseInt(nanos, 10, 64) // 0 for a holder of another version
	return run, began
}

// overlaps handles another run that has the key, or takes it before this one, and a number of others that wait. Without an
// error, the run waits.
func (c *claimant) overlaps(ctx context.Context, other *store.Lease, before int) error {
	run, began := claimantOf(other)
	taken := &core.OverlapError{Key: c.key, Overlap: c.overlap, Run: run, Before: before, Holder: other.User + "@" + other.Host + " pid " + strconv.Itoa(other.PID)}
	switch c.overlap {
	case core.OverlapSkip, core.OverlapFail:
		return taken
	case core.OverlapCancelPrevious:
		if began > c.began.UnixNano() {
			return taken // this run is the previous one
		}
		if err := inbox.PostCancel(ctx, c.Store, run, "a later run with the concurrency key "+c.key); err != nil {
			return storeError(err)
		}
	}
	if c.Waiting != nil {
		c.Waiting(taken)
	}
	return nil
}

// QueuedRun is a run that waits for its concurrency key. It is not stored before it has it.
type QueuedRun struct {
	Run    string
	Key    string
	Lease  store.Lease // its process, and since when it waits
	Before int         // the number of runs that wait before it
	Other  string      // the run that has the key, "" if none has
}

// Cancel ends the waiting: the run ends as cancelled, without having begun. by is who wants it. The error is
// store.ErrNotFound if the run does not wait any longer.
func (q *QueuedRun) Cancel(ctx context.Context, s store.Store, by string) error {
	queuer, ok := s.(store.Queuer)
	if !ok {
		return store.ErrNotFound
	}
	return queuer.Withdraw(ctx, q.Lease.Run, q.Lease.ID, by)
}

// QueuedRuns returns the runs that wait for concurrency keys in a store, by key, in the order in which they begin.
func QueuedRuns(ctx context.Context, s store.Store) ([]QueuedRun, error) {
	queuer, ok := s.(store.Queuer)
	if !ok {
		return nil, nil
	}
	queues, err := queuer.Queues(ctx)
	var list []QueuedRun
	for _, q := range queues {
		key, ok := strings.CutPrefix(q.Run, keyPrefix)
		if !ok {
			continue
		}
		other := ""
		if q.Holder != nil {
			other, _ = claimantOf(q.Holder)
		}
		for i, l := range q.Waiting {
			run, _ := claimantOf(&l)
			list = append(list, QueuedRun{Run: run, Key: key, Lease: l, Before: i, Other: other})
		}
	}
	return list, err
}

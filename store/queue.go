package store

import (
	"context"
	"slices"
	"time"
)

// Queuer is implemented by stores in which holders can wait for a lease in the order in which they came. A
// queue does not change what Acquire does: callers that respect it acquire the lease only while they are the first.
// All methods are safe for concurrent use, by several processes too.
type Queuer interface {
	// Enqueue puts h at the end of the queue for the lease of a run, until ttl from now. If h is in the queue
	// already, as its Holder.ID says, it keeps its place, until ttl from now. A ttl of 0 removes it. Enqueue returns the queue
	// after that. A holder leaves the queue when its time is over, and as soon as its process is known to have ended.
	// The error is a *WithdrawnError if Withdraw was called for the holder while it was in the queue, also when it leaves.
	Enqueue(ctx context.Context, run string, h Holder, ttl time.Duration) (Queue, error)

	// Withdraw asks the holder with that Holder.ID to leave the queue for the lease of a run, which its next
	// Enqueue reports to it. by is who asks, "" if that is not known. The error is ErrNotFound if the holder is
	// not in the queue.
	Withdraw(ctx context.Context, run, id, by string) error

	// Queues returns the queues that are not empty, sorted by Run.
	Queues(ctx context.Context) ([]Queue, error)
}

// Queue is what waits for the lease of a run.
type Queue struct {
	Run     string
	Holder  *Lease  // who has the lease; nil if it is free
	Waiting []Lease // from the first to the last, with the time since when they wait. Token is 0
}

// Before returns the holders that wait before the one with that ID: all of them if it is not in the queue.
func (q *Queue) Before(id string) []Lease {
	if i := slices.IndexFunc(q.Waiting, func(l Lease) bool { return l.ID == id }); i >= 0 {
		return q.Waiting[:i]
	}
	return q.Waiting
}

package machine

import (
	"cmp"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// delay returns the delay before the next attempt: the delay of the retry policy, but at least
// retryAfter.
func (f *frame) delay(n *plan.Node, id ID, retryAfter time.Duration) time.Duration {
	spread := n.Retry.Jitter && f.m.opts.Seed != 0
	return backoff.Wait(n.Retry.Delay(int(id.Attempt)), n.Retry.Max, retryAfter, spread, f.m.draw(id))
}

// draw returns a random number in [0,1) that is derived from the seed of the run and an ID.
func (m *Machine) draw(id ID) float64 {
	return backoff.Draw(m.opts.Seed, uint32(id.Frame)^uint32(id.Frame>>32), uint32(id.Node), uint32(id.From), uint32(id.Attempt))
}

// compare orders IDs within a frame.
func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Node, o.Node), cmp.Compare(id.From, o.From), cmp.Compare(id.Attempt, o.Attempt))
}
